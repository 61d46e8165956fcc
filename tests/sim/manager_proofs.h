/* SPDX-License-Identifier: Apache-2.0 */
/* Checks of a fabric that managers have configured, beyond manager_rig.h: every pair of adapters
 * exchanges packets, and the tables of the switches have no credit loop. */
#ifndef SOFTIB_TESTS_SIM_MANAGER_PROOFS_H
#define SOFTIB_TESTS_SIM_MANAGER_PROOFS_H

#include "manager_rig.h"
#include "mgmt/routing/credit_loops.h"
#include "mgmt/routing/engines.h"
#include "mgmt/subnet/subnet.h"

/* The master of the part of this adapter. NULL: none. */
static inline const struct sm *rig_master_of(const struct rig *rig, const unsigned parts[],
					     const struct node *node)
{
	for (unsigned i = 0; i < rig->manager_count; i++) {
		const struct rig_manager *manager = &rig->managers[i];
		struct sm_status status;

		if (!manager->sm || manager->port->cable_is_down ||
		    parts[manager->port->node->index] != parts[node->index])
			continue;
		sm_status(manager->sm, &status);
		if (status.state == SM_MASTER)
			return manager->sm;
	}
	return NULL;
}

/* As the SA would return it: engines that use several VLs have an SL for each pair. */
static inline uint8_t rig_service_level(const struct sm *sm, const struct port *from, uint16_t lid)
{
	const struct subnet *subnet = sm_subnet(sm);
	const struct subnet_node *node = subnet_find(subnet, from->peer->node->info.node_guid);

	if (!subnet->service_levels || !node || !subnet_node_is_switch(node) ||
	    node->switch_index >= subnet->service_levels_switch_count ||
	    lid > subnet->service_levels_lid_max)
		return 0;
	return subnet->service_levels[(size_t)node->switch_index *
					      (subnet->service_levels_lid_max + 1u) +
				      lid];
}

static inline void rig_send_data(struct rig *rig, struct port *from, const struct port *to,
				 uint8_t sl)
{
	uint8_t payload[64] = {0};
	struct frame *frame = frame_take(&rig->fabric.frames);
	struct packet packet = {
		.lrh = {.sl = sl, .dlid = to->info.lid, .slid = from->info.lid},
		.bth = {.opcode = TRANSPORT_UD | OPCODE_SEND_ONLY,
			.pkey = PKEY_DEFAULT_FULL,
			.destination_qpn = RIG_DATA_QPN},
		.packet_count = 1,
	};

	assert_non_null(frame);
	packet_set_payload(&packet, payload, sizeof(payload));
	frame->byte_count = (uint32_t)packet_encode(&packet, frame->bytes);
	if (!fabric_inject(&rig->fabric, from, frame, rig->now))
		fail_msg("seed %llu: %s can't send", (unsigned long long)rig->seed,
			 from->node->description);
}

/* Every adapter sends a packet to every other of its part. Each arrives once, and nothing else
 * does. */
static inline void rig_exchange(struct rig *rig)
{
	unsigned parts[RIG_NODES_MAX];

	rig_find_parts(rig, parts);
	for (uint32_t i = 0; i < rig->fabric.node_count; i++) {
		struct node *from = rig->fabric.by_index[i];
		const struct sm *master = rig_master_of(rig, parts, from);

		for (uint32_t k = 0; master && k < rig->fabric.node_count; k++) {
			const struct node *to = rig->fabric.by_index[k];
			struct port *source = (struct port *)rig_end_port(from);
			const struct port *target = rig_end_port(to);

			if (i == k || parts[i] != parts[k] || node_is_switch(from) ||
			    node_is_switch(to))
				continue;
			memset(rig->arrived, 0, sizeof(rig->arrived));
			rig_send_data(rig, source, target,
				      rig_service_level(master, source, target->info.lid));
			while (rig_turn(rig))
				continue;
			for (uint32_t n = 0; n < rig->fabric.node_count; n++)
				if (rig->arrived[n] != (n == k))
					fail_msg("seed %llu: a packet from %s to %s arrives %u "
						 "times at %s",
						 (unsigned long long)rig->seed, from->description,
						 to->description, rig->arrived[n],
						 rig->fabric.by_index[n]->description);
		}
	}
}

static inline void rig_graph_links(const struct rig *rig, const uint32_t indexes[],
				   struct routing_graph *graph)
{
	for (uint32_t i = 0; i < rig->fabric.node_count; i++) {
		const struct node *node = rig->fabric.by_index[i];

		for (unsigned k = 1; node_is_switch(node) && k <= node->port_count; k++) {
			const struct port *peer = node->ports[k].peer;

			if (peer && !node->ports[k].cable_is_down && node_is_switch(peer->node))
				routing_graph_link(graph, indexes[i], (uint8_t)k,
						   indexes[peer->node->index], peer->number);
		}
	}
}

static inline void rig_graph_adapters(const struct rig *rig, const uint32_t indexes[],
				      struct routing_graph *graph)
{
	graph->destination_count = 0;
	for (uint32_t i = 0; i < rig->fabric.node_count; i++) {
		const struct node *node = rig->fabric.by_index[i];
		const struct port *port = &node->ports[1];

		if (node_is_switch(node) || !port->peer || port->cable_is_down ||
		    !node_is_switch(port->peer->node) || !port->info.lid)
			continue;
		graph->destinations[graph->destination_count++] = (struct routing_destination){
			.lid = port->info.lid,
			.switch_index = indexes[port->peer->node->index],
			.port_number = port->peer->number,
			.port_guid = port->guid,
			.node_guid = node->info.node_guid};
	}
}

static inline uint16_t rig_graph_tables(const struct rig *rig, uint32_t indexes[],
					uint32_t *ret_switch_count)
{
	uint16_t lid_max = 0;

	*ret_switch_count = 0;
	for (uint32_t i = 0; i < rig->fabric.node_count; i++) {
		const struct node *node = rig->fabric.by_index[i];

		if (node_is_switch(node))
			indexes[i] = (*ret_switch_count)++;
		if (rig_end_port(node)->info.lid > lid_max)
			lid_max = rig_end_port(node)->info.lid;
	}
	return lid_max;
}

/* The SLs of every part, by its own master. */
static inline void rig_graph_service_levels(const struct rig *rig, const uint32_t indexes[],
					    const unsigned parts[], struct routing_graph *graph)
{
	assert_int_equal(routing_graph_use_service_levels(graph), 0);
	for (uint32_t i = 0; i < rig->fabric.node_count; i++) {
		const struct node *from = rig->fabric.by_index[i];
		const struct sm *master = rig_master_of(rig, parts, from);
		const struct port *port = &from->ports[1];

		if (node_is_switch(from) || !port->peer || port->cable_is_down || !master ||
		    !node_is_switch(port->peer->node))
			continue;
		for (uint32_t d = 0; d < graph->destination_count; d++) {
			uint16_t lid = graph->destinations[d].lid;
			uint32_t source = indexes[port->peer->node->index];

			graph->service_levels[(size_t)source * (graph->lid_max + 1u) + lid] =
				rig_service_level(master, port, lid);
		}
	}
}

static inline void rig_graph_lanes(const struct node *node, uint32_t index,
				   struct routing_graph *graph)
{
	struct routing_switch *routed = &graph->switches[index];
	size_t side = node->port_count + 1u;

	assert_int_equal(routing_graph_use_lanes(graph, index), 0);
	for (unsigned input = 0; input < side; input++)
		for (unsigned output = 1; output < side; output++)
			memcpy(&routed->sl_to_vl[(input * side + output) * ROUTING_SL_COUNT],
			       node->ports[output].sl_to_vl[input], ROUTING_SL_COUNT);
}

/* From the tables in the switches, not from the manager's model. */
static inline void rig_check_credit_loops(const struct rig *rig, unsigned lanes_max)
{
	uint32_t indexes[RIG_NODES_MAX];
	unsigned parts[RIG_NODES_MAX];
	uint32_t switch_count;
	uint16_t lid_max = rig_graph_tables(rig, indexes, &switch_count);
	struct routing_graph graph;
	struct credit_loops loops;

	rig_find_parts(rig, parts);
	assert_int_equal(routing_graph_init(&graph, switch_count, rig->fabric.node_count, lid_max),
			 0);
	for (uint32_t i = 0; i < rig->fabric.node_count; i++) {
		const struct node *node = rig->fabric.by_index[i];

		if (!node_is_switch(node))
			continue;
		assert_int_equal(routing_graph_set_ports(&graph, indexes[i], node->port_count), 0);
		graph.switches[indexes[i]].guid = node->info.node_guid;
		memcpy(graph.switches[indexes[i]].table, node->lft, lid_max + 1u);
		rig_graph_lanes(node, indexes[i], &graph);
	}
	rig_graph_links(rig, indexes, &graph);
	rig_graph_adapters(rig, indexes, &graph);
	rig_graph_service_levels(rig, indexes, parts, &graph);
	assert_int_equal(credit_loops_check(&graph, &loops), 0);
	if (loops.has_loop)
		fail_msg("seed %llu: packets may wait in a circle", (unsigned long long)rig->seed);
	if (loops.lane_count > lanes_max)
		fail_msg("seed %llu: packets use %u lanes", (unsigned long long)rig->seed,
			 loops.lane_count);
	routing_graph_release(&graph);
}

/* Whether every master uses an engine that promises no credit loops. */
static inline bool rig_is_promised_no_loops(const struct rig *rig)
{
	bool is_promised = true;

	for (unsigned i = 0; i < rig->manager_count; i++) {
		struct sm_status status;

		if (!rig->managers[i].sm)
			continue;
		sm_status(rig->managers[i].sm, &status);
		is_promised &= status.state != SM_MASTER ||
			       routing_engine_find(status.engine)->promises_no_credit_loops;
	}
	return is_promised;
}

#endif
