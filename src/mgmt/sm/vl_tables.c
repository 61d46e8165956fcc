/* SPDX-License-Identifier: Apache-2.0 */
/* SLtoVL and arbitration tables of both ends of every link, for the VLs of the link (management
 * 3.6). */
#include "mgmt/sm/sweep.h"

#include "wire/smp.h"

/* The tables of a port, in the order of writing. */
enum { PART_ARBITRATION_LOW, PART_ARBITRATION_HIGH, PART_MAPS };

enum { VL_CODES = 16 };

/* The port's future OperationalVLs. */
static uint8_t link_vls(const struct subnet_port *port)
{
	uint8_t own = port->info.vl_cap;
	uint8_t other = port->peer->info.vl_cap;

	return other && other < own ? other : own;
}

/* A port with one data VL has no tables. */
static bool has_lane_tables(const struct subnet_port *port)
{
	const struct port_info *end_info =
		subnet_node_is_switch(port->node) ? &port->node->ports[0].info : &port->info;

	return port->is_known && port->peer && port->info.vl_cap > 1 &&
	       (end_info->capability_mask & CAPABILITY_SL_MAPPING);
}

/* One Set writes the tables of all input ports, which are equal. */
static bool has_uniform_maps(const struct sm *sm, const struct subnet_node *node)
{
	return subnet_node_is_switch(node) && node->switch_info.optimized_sl_to_vl &&
	       !sm->graph.service_levels;
}

/* A link that came up again may lead elsewhere, and the port may have lost its tables. */
static int lanes_begin(struct sm *sm)
{
	list_for_each (link, &sm->subnet.nodes) {
		struct subnet_node *node = sweep_node(link);
		bool is_changed = false;

		for (unsigned i = 0; !node->is_settled && i <= node->port_count; i++) {
			struct subnet_port *port = &node->ports[i];

			if (!has_lane_tables(port))
				continue;
			if (port->info.port_state == PORT_INIT)
				port->maps_vls = port->arbitration_vls = 0;
			is_changed |= port->maps_vls != link_vls(port);
		}
		/* All outputs have a table for the new input. */
		if (is_changed && subnet_node_is_switch(node) && !has_uniform_maps(sm, node))
			subnet_forget_lanes(node);
	}
	sweep_cursor_reset(sm);
	return 0;
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
		     uint32_t modifier, struct mad_message *ret_request)
{
	uint8_t vls[SL_COUNT];

	for (uint8_t sl = 0; sl < SL_COUNT; sl++)
		vls[sl] = sm->graph.service_levels
				  ? qos_fold(routed_lane(sm, output, input, sl), link_vls(output))
				  : qos_lane(&sm->qos, sl, link_vls(output));
	sweep_port_request(sm, output, MAD_SET, ATTRIBUTE_SL_TO_VL, modifier, ret_request);
	sl_to_vl_encode(vls, smp_data(ret_request->bytes));
}

/* Without a policy all VLs of the port send in turn. A VL that the link does not have gives its
 * weight to the VL that replaces it in the maps. */
static void make_arbitration(const struct sm *sm, const struct subnet_port *port, bool is_high,
			     struct mad_message *ret_request)
{
	enum { WEIGHT = 64 /* 4 KiB */ };
	struct vl_arbitration_entry block[VL_ARBITRATION_PER_BLOCK] = {{0}};
	const struct vl_arbitration_entry *entries = is_high ? sm->qos.high : sm->qos.low;
	unsigned entry_count = is_high ? sm->qos.high_count : sm->qos.low_count;
	uint8_t port_number = subnet_node_is_switch(port->node) ? port->number : 0;
	uint32_t modifier = vl_arbitration_modifier(
		is_high ? VL_ARBITRATION_HIGH_FIRST : VL_ARBITRATION_LOW_FIRST, port_number);

	for (unsigned i = 0; i < entry_count && i < VL_ARBITRATION_PER_BLOCK; i++) {
		block[i] = entries[i];
		block[i].vl = qos_fold(block[i].vl, link_vls(port));
	}
	if (!qos_has_weights(&sm->qos) && !is_high)
		for (uint8_t vl = 0; vl < qos_lane_count(port->info.vl_cap); vl++)
			block[vl] = (struct vl_arbitration_entry){.vl = vl, .weight = WEIGHT};
	sweep_port_request(sm, port, MAD_SET, ATTRIBUTE_VL_ARBITRATION, modifier, ret_request);
	vl_arbitration_block_encode(block, smp_data(ret_request->bytes));
}

/* Ports in Init serve all their VLs from power-on. If another manager brought the port up, it may
 * have written the tables. */
static bool wants_arbitration(const struct sm *sm, const struct subnet_port *port, bool is_high)
{
	if (port->arbitration_vls == link_vls(port) ||
	    !(is_high ? port->info.vl_arbitration_high_cap : port->info.vl_arbitration_low_cap))
		return false;
	if (qos_has_weights(&sm->qos))
		return is_high ? sm->qos.high_count : sm->qos.low_count;
	return port->info.port_state > PORT_INIT;
}

/* One Set for a whole switch, with the map of most ports. Not while a port with fewer VLs has its
 * own map: that map would name too many VLs for a moment. */
static bool make_switch_map(struct sm *sm, struct subnet_node *node,
			    struct mad_message *ret_request)
{
	unsigned counts[VL_CODES] = {0};
	const struct subnet_port *example = NULL;

	if (!has_uniform_maps(sm, node))
		return false;
	for (unsigned i = 1; i <= node->port_count; i++) {
		const struct subnet_port *port = &node->ports[i];

		if (!has_lane_tables(port))
			continue;
		if (port->maps_vls)
			return false;
		counts[link_vls(port) % VL_CODES]++;
		if (!example ||
		    counts[link_vls(port) % VL_CODES] > counts[link_vls(example) % VL_CODES])
			example = port;
	}
	if (!example)
		return false;
	for (unsigned i = 1; i <= node->port_count; i++)
		node->ports[i].maps_vls = link_vls(example);
	make_map(sm, example, 0, SL_TO_VL_ALL_OUTPUTS | SL_TO_VL_ALL_INPUTS, ret_request);
	return true;
}

static bool next_map_of_port(struct sm *sm, const struct subnet_port *port,
			     struct mad_message *ret_request)
{
	const struct subnet_node *node = port->node;
	bool is_switch = subnet_node_is_switch(node);
	unsigned map_count = is_switch && !has_uniform_maps(sm, node) ? node->port_count + 1 : 1;

	while (sm->cursor.part < PART_MAPS + map_count) {
		unsigned input = sm->cursor.part++ - PART_MAPS;
		uint32_t modifier = is_switch ? sl_to_vl_modifier((uint8_t)input, port->number) : 0;

		if (is_switch && map_count == 1)
			modifier |= SL_TO_VL_ALL_INPUTS;
		/* No packets arrive at a port without a link. */
		if (input && (input == port->number || !node->ports[input].peer))
			continue;
		make_map(sm, port, input, modifier, ret_request);
		return true;
	}
	return false;
}

/* The next request for this port; sm->cursor.part counts them. */
static bool next_of_port(struct sm *sm, struct subnet_port *port, struct mad_message *ret_request)
{
	if (!has_lane_tables(port))
		return false;
	while (sm->cursor.part < PART_MAPS) {
		bool is_high = sm->cursor.part++ == PART_ARBITRATION_HIGH;

		if (!wants_arbitration(sm, port, is_high))
			continue;
		make_arbitration(sm, port, is_high, ret_request);
		return true;
	}
	if (port->maps_vls != link_vls(port) && next_map_of_port(sm, port, ret_request))
		return true;
	/* Until one of its requests fails. */
	port->maps_vls = port->arbitration_vls = link_vls(port);
	return false;
}

/* Port 0 has no link; its turn is used for the tables of the whole switch. */
static bool next_of_node(struct sm *sm, struct subnet_node *node, struct mad_message *ret_request)
{
	if (sm->cursor.index == 0) {
		sm->cursor.index = 1;
		if (make_switch_map(sm, node, ret_request))
			return true;
	}
	while (sm->cursor.index <= node->port_count) {
		if (next_of_port(sm, &node->ports[sm->cursor.index], ret_request))
			return true;
		sm->cursor.part = 0;
		sm->cursor.index++;
	}
	return false;
}

static bool lanes_next(struct sm *sm, struct mad_message *ret_request,
		       struct mad_purpose *ret_purpose)
{
	while (sm->cursor.node != &sm->subnet.nodes) {
		struct subnet_node *node = sweep_node(sm->cursor.node);

		if (!node->is_settled && next_of_node(sm, node, ret_request)) {
			*ret_purpose = (struct mad_purpose){.subject = node};
			return true;
		}
		sm->cursor.node = sm->cursor.node->next;
		sm->cursor.index = 0;
		sm->cursor.part = 0;
	}
	return false;
}

static void lanes_failed(struct sm *sm, struct mad_purpose purpose)
{
	struct subnet_node *node = purpose.subject;

	subnet_forget_lanes(node);
	if (!sm->sweep.is_incomplete)
		sm_note(sm, SM_EVENT_WARNING,
			"Set of an SLtoVL or arbitration table of 0x%016llx failed: lost, or it has "
			"another M_Key",
			(unsigned long long)node->info.node_guid);
	sweep_mark_incomplete(sm, purpose);
}

const struct phase_operations sweep_lanes = {
	.name = "lanes",
	.begin = lanes_begin,
	.next = lanes_next,
	.failed = lanes_failed,
	.following = PHASE_MULTICAST,
};
