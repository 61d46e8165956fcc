/* SPDX-License-Identifier: Apache-2.0 */
/* SL to VL maps and arbitration tables, where policy or routing wants them (vol 1, chapter 14). */
#include "mgmt/sm/sweep.h"

#include "wire/smp.h"

/* What is written to a port after its maps. */
enum { PART_ARBITRATION_LOW, PART_ARBITRATION_HIGH, PART_MAPS };

static int lanes_begin(struct sm *sm)
{
	sweep_cursor_reset(sm);
	return 0;
}

/* As its OperationalVLs will be. */
static uint8_t data_vls(const struct subnet_port *port)
{
	uint8_t own = port->info.vl_cap;
	uint8_t other = port->peer->info.vl_cap;

	return other && other < own ? other : own;
}

static uint8_t routed_lane(const struct sm *sm, const struct subnet_port *output, unsigned input,
			   uint8_t sl)
{
	const struct routing_switch *node =
		subnet_node_is_switch(output->node)
			? &sm->graph.switches[output->node->switch_index]
			: NULL;

	if (!node || !node->sl_to_vl)
		return sl;
	return node->sl_to_vl[(input * (node->port_count + 1) + output->number) * ROUTING_SL_COUNT +
			      sl];
}

static void make_map(const struct sm *sm, const struct subnet_port *output, unsigned input,
		     struct mad_message *ret_request)
{
	uint32_t modifier = subnet_node_is_switch(output->node)
				    ? sl_to_vl_modifier((uint8_t)input, output->number)
				    : 0;
	uint8_t vls[SL_COUNT];

	for (uint8_t sl = 0; sl < SL_COUNT; sl++)
		vls[sl] = sm->graph.service_levels
				  ? qos_fold(routed_lane(sm, output, input, sl), data_vls(output))
				  : qos_lane(&sm->qos, sl, data_vls(output));
	sweep_port_request(sm, output, MAD_SET, ATTRIBUTE_SL_TO_VL, modifier, ret_request);
	sl_to_vl_encode(vls, smp_data(ret_request->bytes));
}

static void make_arbitration(const struct sm *sm, const struct subnet_port *port,
			     enum vl_arbitration_section section,
			     const struct vl_arbitration_entry *entries, unsigned entry_count,
			     struct mad_message *ret_request)
{
	struct vl_arbitration_entry block[VL_ARBITRATION_PER_BLOCK] = {{0}};
	uint8_t port_number = subnet_node_is_switch(port->node) ? port->number : 0;

	for (unsigned i = 0; i < entry_count && i < VL_ARBITRATION_PER_BLOCK; i++) {
		block[i] = entries[i];
		/* A lane that the port does not have is skipped by its weight. */
		if (qos_fold(block[i].vl, data_vls(port)) != block[i].vl)
			block[i].weight = 0;
	}
	sweep_port_request(sm, port, MAD_SET, ATTRIBUTE_VL_ARBITRATION,
			   vl_arbitration_modifier(section, port_number), ret_request);
	vl_arbitration_block_encode(block, smp_data(ret_request->bytes));
}

/* The next request for this port; sm->cursor_part counts them. */
static bool next_of_port(struct sm *sm, const struct subnet_port *port,
			 struct mad_message *ret_request)
{
	bool is_switch = subnet_node_is_switch(port->node);
	unsigned input_count = is_switch ? port->node->port_count + 1 : 1;
	const struct qos *qos = &sm->qos;

	if (!port->is_known || !port->peer || port->info.vl_cap < 2)
		return false;
	while (sm->cursor_part < PART_MAPS + input_count) {
		unsigned part = sm->cursor_part++;
		unsigned input = part - PART_MAPS;

		if (part == PART_ARBITRATION_LOW && qos->sets_lanes && qos->low_count &&
		    port->info.vl_arbitration_low_cap) {
			make_arbitration(sm, port, VL_ARBITRATION_LOW_FIRST, qos->low,
					 qos->low_count, ret_request);
			return true;
		}
		if (part == PART_ARBITRATION_HIGH && qos->sets_lanes && qos->high_count &&
		    port->info.vl_arbitration_high_cap) {
			make_arbitration(sm, port, VL_ARBITRATION_HIGH_FIRST, qos->high,
					 qos->high_count, ret_request);
			return true;
		}
		if (part < PART_MAPS)
			continue;
		/* Nothing comes in where nothing is attached. */
		if (is_switch && input && (input == port->number || !port->node->ports[input].peer))
			continue;
		make_map(sm, port, input, ret_request);
		return true;
	}
	return false;
}

static bool lanes_next(struct sm *sm, struct mad_message *ret_request,
		       struct mad_purpose *ret_purpose)
{
	if (!sm->qos.sets_lanes && !sm->graph.service_levels)
		return false;
	while (sm->cursor_node != &sm->subnet.nodes) {
		struct subnet_node *node = sweep_node(sm->cursor_node);

		if (!node->lanes_are_set && sm->cursor_index <= node->port_count) {
			if (next_of_port(sm, &node->ports[sm->cursor_index], ret_request)) {
				*ret_purpose = (struct mad_purpose){.subject = node};
				return true;
			}
			sm->cursor_part = 0;
			sm->cursor_index++;
			continue;
		}
		/* Unless one of its requests fails. */
		node->lanes_are_set = true;
		sm->cursor_node = sm->cursor_node->next;
		sm->cursor_index = 0;
		sm->cursor_part = 0;
	}
	return false;
}

static void lanes_answered(struct sm *sm, struct mad_purpose purpose, const uint8_t *data)
{
	(void)sm;
	(void)purpose;
	(void)data;
}

static void lanes_failed(struct sm *sm, struct mad_purpose purpose)
{
	struct subnet_node *node = purpose.subject;

	node->lanes_are_set = false;
	sweep_mark_incomplete(sm, purpose);
}

static enum sweep_phase lanes_following(struct sm *sm)
{
	(void)sm;
	return PHASE_MULTICAST;
}

const struct phase_operations sweep_lanes = {
	.name = "lanes",
	.begin = lanes_begin,
	.next = lanes_next,
	.answered = lanes_answered,
	.failed = lanes_failed,
	.following = lanes_following,
};
