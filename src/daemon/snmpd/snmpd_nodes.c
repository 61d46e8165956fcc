/* SPDX-License-Identifier: Apache-2.0 */
/* The nodes that softib-snmpd answers for. */
#include "daemon/snmpd/snmpd_nodes.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include "base/hash_table.h"
#include "daemon/snmpd/snmpd_link.h"

enum { NODE_IS_SWITCH = 2 };

/* A walk reads a node's counters in hundreds of messages: within this time it gets one state. */
#define FRESH_NS 100000000ull

struct snmpd_node *snmpd_current_node;
static struct hash_table nodes;

struct snmpd_node *snmpd_nodes_find(uint64_t guid)
{
	struct snmpd_node *node = hash_table_get(&nodes, guid);

	if (node)
		return node;
	node = calloc(1, sizeof(*node));
	if (!node)
		return NULL;
	node->guid = guid;
	if (hash_table_put(&nodes, guid, node) != 0) {
		free(node);
		return NULL;
	}
	return node;
}

static uint64_t clock_ns(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

/* Whether the rows that the state speaks of are there. */
static bool adopt(struct snmpd_node *node, size_t byte_count)
{
	const struct snmp_node_state *state = (const void *)node->bytes;
	const uint8_t *rows = node->bytes + sizeof(*state);

	if (byte_count < sizeof(*state) || state->error ||
	    state->port_count > SNMP_STATE_PORTS_MAX || state->pkey_count > SNMP_STATE_PKEYS_MAX ||
	    byte_count != sizeof(*state) + state->port_count * sizeof(node->ports[0]) +
				  state->pkey_count * sizeof(node->pkeys[0]))
		return false;
	node->state = state;
	node->ports = (const void *)rows;
	node->pkeys = (const void *)(rows + state->port_count * sizeof(node->ports[0]));
	return true;
}

bool snmpd_node_refresh(struct snmpd_node *node)
{
	const struct snmp_state_question question = {.kind = SNMP_STATE_GET,
						     .node_guid = node->guid};
	const size_t bytes_max = sizeof(struct snmp_node_state) +
				 SNMP_STATE_PORTS_MAX * sizeof(struct snmp_port_state) +
				 SNMP_STATE_PKEYS_MAX * sizeof(struct snmp_pkey_state);
	uint64_t now = clock_ns();
	uint8_t *bytes, *trimmed;
	size_t byte_count;

	if (node->bytes && now - node->asked_at_ns < FRESH_NS)
		return true;
	snmpd_node_forget_state(node);
	bytes = malloc(bytes_max);
	if (!bytes)
		return false;
	byte_count = snmpd_link_ask(&question, bytes, bytes_max);
	trimmed = byte_count ? realloc(bytes, byte_count) : NULL;
	node->bytes = trimmed ? trimmed : bytes;
	if (!adopt(node, byte_count)) {
		snmpd_node_forget_state(node);
		return false;
	}
	node->asked_at_ns = now;
	return true;
}

void snmpd_node_forget_state(struct snmpd_node *node)
{
	free(node->bytes);
	node->bytes = NULL;
	node->name[0] = '\0';
	node->state = NULL;
	node->ports = NULL;
	node->pkeys = NULL;
}

bool snmpd_node_set_text(struct snmpd_node *node, enum snmp_text text, const char *value,
			 size_t byte_count)
{
	struct snmp_state_question question = {
		.kind = SNMP_STATE_SET_TEXT, .text = text, .node_guid = node->guid};
	struct snmp_node_state answer;

	if (byte_count >= sizeof(question.value))
		return false;
	memcpy(question.value, value, byte_count);
	snmpd_node_forget_state(node);
	return snmpd_link_ask(&question, &answer, sizeof(answer)) == sizeof(answer) &&
	       answer.error == 0 && snmpd_node_refresh(node);
}

/* The name of a walk's messages is asked as often as the state. */
bool snmpd_node_has_name(struct snmpd_node *node, const char *name, size_t byte_count)
{
	struct snmp_state_question question = {.kind = SNMP_STATE_CHECK_NAME,
					       .node_guid = node->guid};
	struct snmp_node_state answer;

	if (byte_count == 0 || byte_count >= sizeof(question.value) ||
	    memchr(name, '\0', byte_count) || !snmpd_node_refresh(node))
		return false;
	memcpy(question.value, name, byte_count);
	if (strcmp(node->name, question.value) == 0)
		return true;
	if (snmpd_link_ask(&question, &answer, sizeof(answer)) != sizeof(answer) || answer.error)
		return false;
	memcpy(node->name, question.value, sizeof(node->name));
	return true;
}

static bool has_port_0(const struct snmpd_node *node)
{
	return node->state->info.node_type == NODE_IS_SWITCH;
}

unsigned snmpd_node_if_index(const struct snmpd_node *node, unsigned port_number)
{
	return port_number ? port_number : node->state->port_count;
}

const struct snmp_port_state *snmpd_node_interface(const struct snmpd_node *node, unsigned row)
{
	if (!has_port_0(node))
		return &node->ports[row];
	return row + 1 == node->state->port_count ? &node->ports[0] : &node->ports[row + 1];
}
