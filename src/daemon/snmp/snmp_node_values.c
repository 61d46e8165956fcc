/* SPDX-License-Identifier: Apache-2.0 */
/* The state of a node as SNMP shows it: what the agents' MADs show, in one struct. */
#include "daemon/snmp/snmp_node_values.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "daemon/core/daemon_core.h"
#include "daemon/core/flow_table.h"
#include "daemon/snmp/snmp_watch.h"
#include "wire/rate.h"

void snmp_texts_init(struct snmp_texts *texts)
{
	hash_table_init(&texts->by_guid);
}

void snmp_texts_release(struct snmp_texts *texts)
{
	for (uint32_t slot = 0; slot < texts->by_guid.capacity; slot++)
		free(texts->by_guid.entries[slot].value);
	hash_table_release(&texts->by_guid);
}

/* A name that softib's commands take: the host's, or the description of any other node. */
static const char *default_name(const struct node *node)
{
	return node_is_adapter(node) && node->adapter_index == 0 && node->host[0]
		       ? node->host
		       : node->description;
}

static struct snmp_node_texts *make_texts(struct snmp_texts *texts, const struct node *node)
{
	struct snmp_node_texts *made = calloc(1, sizeof(*made));

	if (!made)
		return NULL;
	snprintf(made->texts[SNMP_TEXT_NAME], SNMP_TEXT_BYTES, "%s", default_name(node));
	if (hash_table_put(&texts->by_guid, node->info.node_guid, made) != 0) {
		free(made);
		return NULL;
	}
	return made;
}

static int set_text(struct snmp_texts *texts, const struct node *node,
		    const struct snmp_state_question *question)
{
	struct snmp_node_texts *own = hash_table_get(&texts->by_guid, node->info.node_guid);

	if (question->text >= SNMP_TEXTS)
		return -EINVAL;
	if (!own)
		own = make_texts(texts, node);
	if (!own)
		return -ENOMEM;
	snprintf(own->texts[question->text], SNMP_TEXT_BYTES, "%s", question->value);
	return 0;
}

static void fill_node(const struct snmp_texts *texts, const struct node *node,
		      struct snmp_node_state *state)
{
	const struct snmp_node_texts *own = hash_table_get(&texts->by_guid, node->info.node_guid);

	state->info = node->info;
	snprintf(state->description, sizeof(state->description), "%s", node->description);
	if (own)
		memcpy(state->texts, own->texts, sizeof(state->texts));
	else
		snprintf(state->texts[SNMP_TEXT_NAME], SNMP_TEXT_BYTES, "%s", default_name(node));
}

static void fill_counters(const struct link_counters *counters, struct snmp_port_state *state)
{
	state->transmit_words = counters->transmit_words;
	state->receive_words = counters->receive_words;
	state->transmit_packets = counters->transmit_packets;
	state->receive_packets = counters->receive_packets;
	state->unicast_transmit_packets = counters->unicast_transmit_packets;
	state->unicast_receive_packets = counters->unicast_receive_packets;
	state->multicast_transmit_packets = counters->multicast_transmit_packets;
	state->multicast_receive_packets = counters->multicast_receive_packets;
	state->symbol_errors = counters->symbol_errors;
	state->link_error_recovery = counters->link_error_recovery;
	state->link_downed = counters->link_downed;
	state->receive_errors = counters->receive_errors;
	state->receive_remote_physical_errors = counters->receive_remote_physical_errors;
	state->receive_switch_relay_errors = counters->receive_switch_relay_errors;
	state->transmit_discards = counters->transmit_discards;
	state->transmit_constraint_errors = counters->transmit_constraint_errors;
	state->receive_constraint_errors = counters->receive_constraint_errors;
	state->local_link_integrity_errors = counters->local_link_integrity_errors;
	state->excessive_buffer_overruns = counters->excessive_buffer_overruns;
	state->vl15_dropped = counters->vl15_dropped;
	state->transmit_wait = counters->transmit_wait;
}

static void fill_port(const struct port *port, struct snmp_port_state *state)
{
	const struct port_info *info = &port->info;

	*state = (struct snmp_port_state){
		.number = port->number,
		.is_end_port = port->kind != PORT_OF_SWITCH,
		.guid = port->kind == PORT_OF_SWITCH ? 0 : port->guid,
		.info = *info,
	};
	if (info->port_state != PORT_DOWN && port->kind != PORT_OF_MANAGEMENT)
		state->rate_mbps =
			link_data_mbps(info->link_width_active,
				       link_speed_from_port_info(info->link_speed_active,
								 info->link_speed_ext_active,
								 info->link_speed_ext2_active));
	fill_counters(&port->counters, state);
	/* A neighbour is known while the link is up, as a manager finds it. */
	if (!port->peer || info->port_state == PORT_DOWN)
		return;
	state->has_neighbor = 1;
	state->neighbor_port = port->peer->number;
	state->neighbor_guid = port->peer->node->info.node_guid;
	snprintf(state->neighbor_description, sizeof(state->neighbor_description), "%s",
		 port->peer->node->description);
}

static uint32_t add_pkeys(const struct port *port, uint32_t count, struct snmp_pkey_state *rows)
{
	for (unsigned index = 0; index < port->pkey_count && count < SNMP_STATE_PKEYS_MAX; index++)
		if (port->pkeys[index])
			rows[count++] = (struct snmp_pkey_state){port->number, (uint16_t)index,
								 port->pkeys[index]};
	return count;
}

/* Ports and P_Keys behind the node. */
static size_t fill_ports(struct node *node, const struct snmp_watch *watch,
			 struct snmp_node_state *state, uint8_t *ret_rows)
{
	static struct snmp_pkey_state pkeys[SNMP_STATE_PKEYS_MAX];
	unsigned first = node_is_switch(node) ? 0 : 1;
	size_t byte_count = 0;

	for (unsigned number = first; number <= node->port_count; number++) {
		const struct port *port = &node->ports[number];
		struct snmp_port_state row;

		fill_port(port, &row);
		row.last_change_ns = snmp_watch_last_change(watch, port);
		memcpy(ret_rows + byte_count, &row, sizeof(row));
		byte_count += sizeof(row);
		state->port_count++;
		if (row.is_end_port)
			state->pkey_count = add_pkeys(port, state->pkey_count, pkeys);
	}
	memcpy(ret_rows + byte_count, pkeys, state->pkey_count * sizeof(pkeys[0]));
	return byte_count + state->pkey_count * sizeof(pkeys[0]);
}

size_t snmp_node_values_answer(struct daemon_core *core, struct snmp_texts *texts,
			       const struct snmp_watch *watch, time_ns began_at,
			       const struct snmp_state_question *question, uint8_t *ret_answer)
{
	struct node *node = fabric_find_guid(&core->fabric, question->node_guid);
	struct snmp_node_state state = {.uptime_ns = core->loop.now - began_at};
	size_t row_bytes = 0;

	if (!node) {
		state.error = -ENOENT;
	} else if (question->kind == SNMP_STATE_SET_TEXT) {
		state.error = set_text(texts, node, question);
	} else if (question->kind == SNMP_STATE_CHECK_NAME) {
		if (daemon_core_find_node(core, question->value) != node)
			state.error = -ENOENT;
	} else {
		/* Offloaded packets so far are counted before the counters are read. */
		flows_fold_all(core);
		fill_node(texts, node, &state);
		row_bytes = fill_ports(node, watch, &state, ret_answer + sizeof(state));
	}
	memcpy(ret_answer, &state, sizeof(state));
	return sizeof(state) + row_bytes;
}
