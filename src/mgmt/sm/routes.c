/* SPDX-License-Identifier: Apache-2.0 */
/* Routing of the subnet: the graph for the engines, and the changes since the last routing
 * (management 3.8). */
#include "mgmt/sm/sweep.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "mgmt/routing/engines.h"
#include "wire/smp_tables.h"

enum { CHANGED_LINKS_MAX = 256 };

/* The present routes go into the graph, so that engines keep those that are still good. */
static int add_switches(struct sm *sm)
{
	uint32_t switch_index = 0;

	list_for_each (link, &sm->subnet.nodes) {
		struct subnet_node *node = sweep_node(link);

		if (!subnet_node_is_switch(node))
			continue;
		node->switch_index = switch_index;
		sm->graph.switches[switch_index].guid = node->info.node_guid;
		sm->graph.switches[switch_index].system_image_guid = node->info.system_image_guid;
		if (routing_graph_set_ports(&sm->graph, switch_index, node->port_count) != 0)
			return -ENOMEM;
		for (unsigned lid = 1; lid <= sm->subnet.lid_max; lid++) {
			if (subnet_table_block_is_known(node, lid / LINEAR_FORWARDING_PER_BLOCK))
				sm->graph.switches[switch_index].table[lid] = node->table[lid];
		}
		switch_index++;
	}
	return 0;
}

static void add_links(struct sm *sm)
{
	struct subnet_port *port;

	sweep_cursor_reset(sm);
	while ((port = sweep_next_port(sm))) {
		if (port->peer && subnet_node_is_switch(port->node) &&
		    subnet_node_is_switch(port->peer->node))
			routing_graph_link(&sm->graph, port->node->switch_index, port->number,
					   port->peer->node->switch_index, port->peer->number);
	}
}

/* false: no port has the LID, or its port is connected to no switch (two adapters on one link) and
 * needs no table. */
static bool make_destination(const struct subnet *subnet, uint16_t lid,
			     struct routing_destination *ret_destination)
{
	const struct subnet_port *port = subnet->by_lid[lid];
	struct routing_destination destination = {.lid = lid};

	if (!port)
		return false;
	if (subnet_node_is_switch(port->node)) {
		destination.switch_index = port->node->switch_index;
	} else if (port->peer && subnet_node_is_switch(port->peer->node)) {
		destination.switch_index = port->peer->node->switch_index;
		destination.port_number = port->peer->number;
	} else {
		return false;
	}
	destination.path_index = (uint8_t)(lid - port->lid);
	destination.port_guid = port->guid;
	destination.node_guid = port->node->info.node_guid;
	*ret_destination = destination;
	return true;
}

static uint32_t add_destinations(struct sm *sm)
{
	uint32_t destination_count = 0;

	for (unsigned lid = 1; lid <= sm->subnet.lid_max; lid++)
		destination_count += make_destination(&sm->subnet, (uint16_t)lid,
						      &sm->graph.destinations[destination_count]);
	return destination_count;
}

/* Entries of unused LIDs belong to no destination, so they are removed here. */
static void remove_unused_lids(struct sm *sm)
{
	for (unsigned lid = 0; lid <= sm->subnet.lid_max; lid++) {
		if (sm->subnet.by_lid[lid])
			continue;
		for (uint32_t i = 0; i < sm->graph.switch_count; i++)
			sm->graph.switches[i].table[lid] = ROUTING_NO_PORT;
	}
}

static int build_graph(struct sm *sm)
{
	uint16_t lid_max = sm->subnet.lid_max;
	int error;

	routing_graph_release(&sm->graph);
	error = routing_graph_init(&sm->graph, sm->subnet.switch_count, lid_max, lid_max);
	if (!error)
		error = add_switches(sm);
	if (error)
		return error;
	add_links(sm);
	sm->graph.destination_count = add_destinations(sm);
	remove_unused_lids(sm);
	return 0;
}

/* The number of VLs that every link between switches has, which limits the layers of an engine. An
 * adapter's link is on no cycle (management 3.8). */
static uint8_t lane_count(struct sm *sm)
{
	struct subnet_port *port;
	unsigned vls = 5;

	sweep_cursor_reset(sm);
	while ((port = sweep_next_port(sm))) {
		if (port->is_known && port->peer && subnet_node_is_switch(port->node) &&
		    subnet_node_is_switch(port->peer->node) && port->info.vl_cap &&
		    port->info.vl_cap < vls)
			vls = port->info.vl_cap;
	}
	return (uint8_t)qos_lane_count((uint8_t)vls);
}

/* By the configured engine, or by min-hop if it can't route the graph. */
static int route(struct sm *sm)
{
	const struct routing_engine *engine = routing_engine_find(sm->options.routing_engine);
	struct routing_hints hints = sm->options.routing_hints;
	int error;

	if (!hints.lane_count)
		hints.lane_count = lane_count(sm);
	error = engine->route(&sm->graph, &hints);
	if (error == -EOPNOTSUPP) {
		sm_note(sm, SM_EVENT_WARNING, "engine %s can't route this subnet; taking %s",
			engine->name, routing_engines[0].name);
		engine = &routing_engines[0];
		routing_graph_drop_lanes(&sm->graph);
		error = engine->route(&sm->graph, &hints);
	}
	sm->engine = engine;
	return error;
}

/* For the SA, which needs them when the graph has already changed. */
static int keep_service_levels(struct sm *sm)
{
	size_t byte_count = (size_t)sm->graph.switch_count * (sm->graph.lid_max + 1u);
	uint8_t *levels;

	free(sm->subnet.service_levels);
	sm->subnet.service_levels = NULL;
	if (!sm->graph.service_levels)
		return 0;
	levels = malloc(byte_count + 1);
	if (!levels)
		return -ENOMEM;
	memcpy(levels, sm->graph.service_levels, byte_count);
	sm->subnet.service_levels = levels;
	sm->subnet.service_levels_switch_count = sm->graph.switch_count;
	sm->subnet.service_levels_lid_max = sm->graph.lid_max;
	sm->subnet.policy_sl_bits = sm->graph.policy_sl_bits;
	return 0;
}

/* FNV-1a. */
static uint64_t digest_bytes(uint64_t digest, const void *bytes, size_t byte_count)
{
	const uint8_t *byte = bytes;

	for (size_t i = 0; i < byte_count; i++)
		digest = (digest ^ byte[i]) * UINT64_C(0x100000001b3);
	return digest;
}

/* SLtoVL maps are written where there is a link, so a new link needs them too. */
static uint64_t lanes_digest(const struct sm *sm, const struct subnet_node *node)
{
	const struct routing_switch *routed = &sm->graph.switches[node->switch_index];
	size_t side = routed->port_count + 1u;
	uint64_t digest = UINT64_C(0xcbf29ce484222325);

	for (unsigned i = 1; i <= node->port_count; i++) {
		uint8_t has_link = node->ports[i].peer != NULL;

		digest = digest_bytes(digest, &has_link, sizeof(has_link));
	}
	return routed->sl_to_vl
		       ? digest_bytes(digest, routed->sl_to_vl, side * side * ROUTING_SL_COUNT)
		       : digest;
}

/* Switches whose maps differ from those of the engine get them again. */
static void forget_old_lanes(struct sm *sm)
{
	list_for_each (link, &sm->subnet.nodes) {
		struct subnet_node *node = sweep_node(link);
		uint64_t digest;

		if (!subnet_node_is_switch(node))
			continue;
		digest = sm->graph.service_levels ? lanes_digest(sm, node) : 0;
		if (node->lanes_digest == digest)
			continue;
		subnet_forget_lanes(node);
		node->is_settled = false;
		node->lanes_digest = digest;
	}
}

struct changes {
	bool is_more_than_links; /* everything must be routed again */
	struct routing_link removed[CHANGED_LINKS_MAX], added[CHANGED_LINKS_MAX];
	unsigned removed_count, added_count;
};

static const struct subnet_port *switch_peer(const struct subnet_port *port)
{
	return port->peer && subnet_node_is_switch(port->peer->node) ? port->peer : NULL;
}

/* Both switches are in the graph: compare_switches() has checked that. */
static void note_new_link(struct sm *sm, const struct subnet_port *port,
			  const struct subnet_port *peer, struct changes *changes)
{
	uint32_t a = port->node->switch_index, b = peer->node->switch_index;

	if (a == b || changes->added_count == CHANGED_LINKS_MAX ||
	    sm->graph.switches[b].neighbors[peer->number] != ROUTING_NO_SWITCH) {
		changes->is_more_than_links = true;
		return;
	}
	changes->added[changes->added_count++] = (struct routing_link){
		.a = a, .a_port = port->number, .b = b, .b_port = peer->number};
	/* So that it is not found again from its other end. */
	routing_graph_link(&sm->graph, a, port->number, b, peer->number);
}

static void compare_link(struct sm *sm, const struct subnet_port *port, struct changes *changes)
{
	const struct subnet_port *peer = switch_peer(port);
	const struct routing_switch *node = &sm->graph.switches[port->node->switch_index];
	uint32_t neighbor = node->neighbors[port->number];
	uint8_t neighbor_port = node->neighbor_ports[port->number];

	if (neighbor == ROUTING_NO_SWITCH && peer)
		note_new_link(sm, port, peer, changes);
	if (neighbor == ROUTING_NO_SWITCH)
		return;
	if (peer) {
		changes->is_more_than_links |=
			peer->node->switch_index != neighbor || peer->number != neighbor_port;
		return;
	}
	if (changes->removed_count == CHANGED_LINKS_MAX) {
		changes->is_more_than_links = true;
		return;
	}
	changes->removed[changes->removed_count++] =
		(struct routing_link){.a = port->node->switch_index,
				      .a_port = port->number,
				      .b = neighbor,
				      .b_port = neighbor_port};
	/* So that it is not found again from its other end. */
	node->neighbors[port->number] = ROUTING_NO_SWITCH;
	sm->graph.switches[neighbor].neighbors[neighbor_port] = ROUTING_NO_SWITCH;
}

static bool is_same_switch(const struct sm *sm, const struct subnet_node *node)
{
	const struct routing_switch *known = &sm->graph.switches[node->switch_index];

	return node->switch_index < sm->graph.switch_count && known->guid == node->info.node_guid &&
	       known->port_count == node->port_count;
}

static void compare_switches(struct sm *sm, struct changes *changes)
{
	changes->is_more_than_links = sm->graph.switch_count != sm->subnet.switch_count ||
				      sm->graph.lid_max != sm->subnet.lid_max;
	list_for_each (link, &sm->subnet.nodes) {
		const struct subnet_node *node = sweep_node(link);

		changes->is_more_than_links |=
			subnet_node_is_switch(node) && !is_same_switch(sm, node);
	}
	list_for_each (link, &sm->subnet.nodes) {
		const struct subnet_node *node = sweep_node(link);

		if (changes->is_more_than_links)
			return;
		for (unsigned i = 1; subnet_node_is_switch(node) && i <= node->port_count; i++)
			compare_link(sm, &node->ports[i], changes);
	}
}

/* Switches drop packets to ports that went down. When the ports return, only the entry at their own
 * switch changes. */
static void update_last_hops(struct sm *sm)
{
	for (uint32_t i = 0; i < sm->graph.destination_count; i++) {
		const struct routing_destination *destination = &sm->graph.destinations[i];
		struct routing_switch *node = &sm->graph.switches[destination->switch_index];
		bool is_here = sm->subnet.by_lid[destination->lid] != NULL;
		uint8_t port = is_here ? destination->port_number : ROUTING_NO_PORT;

		if (node->table[destination->lid] == port)
			continue;
		node->table[destination->lid] = port;
		routing_switch_mark_moved(node, destination->lid);
	}
}

static void compare_destinations(const struct sm *sm, struct changes *changes)
{
	uint32_t i = 0;

	for (unsigned lid = 1; lid <= sm->subnet.lid_max && !changes->is_more_than_links; lid++) {
		struct routing_destination wanted;

		if (!make_destination(&sm->subnet, (uint16_t)lid, &wanted))
			continue;
		while (i < sm->graph.destination_count && sm->graph.destinations[i].lid < lid)
			i++;
		changes->is_more_than_links =
			i == sm->graph.destination_count || sm->graph.destinations[i].lid != lid ||
			sm->graph.destinations[i].switch_index != wanted.switch_index ||
			sm->graph.destinations[i].port_number != wanted.port_number;
	}
}

/* Any entry may have changed. */
static void mark_all_moved(struct sm *sm)
{
	size_t byte_count = (sm->graph.lid_max / ROUTING_LIDS_PER_BLOCK / 64 + 1u) *
			    sizeof(*sm->graph.switches->moved_blocks);

	for (uint32_t i = 0; i < sm->graph.switch_count; i++)
		memset(sm->graph.switches[i].moved_blocks, 0xff, byte_count);
}

static int route_everything(struct sm *sm)
{
	int error = build_graph(sm);

	if (!error)
		error = route(sm);
	mark_all_moved(sm);
	if (!error)
		forget_old_lanes(sm);
	return error ? error : keep_service_levels(sm);
}

static int route_around(struct sm *sm, const struct changes *changes)
{
	struct routing_hints hints = sm->options.routing_hints;
	const struct routing_change change = {.removed = changes->removed,
					      .removed_count = changes->removed_count,
					      .added = changes->added,
					      .added_count = changes->added_count};
	/* The new links may be those that the configured engine missed. */
	bool may_do_better = changes->added_count &&
			     sm->engine != routing_engine_find(sm->options.routing_engine);
	int error = sm->engine->reroute && !may_do_better
			    ? sm->engine->reroute(&sm->graph, &hints, &change)
			    : -EAGAIN;

	return error == -EAGAIN ? route_everything(sm) : error;
}

int routes_update(struct sm *sm)
{
	struct changes changes = {.is_more_than_links = !sm->graph.switches};
	int error = 0;

	if (!changes.is_more_than_links)
		compare_switches(sm, &changes);
	if (!changes.is_more_than_links)
		compare_destinations(sm, &changes);
	if (!changes.is_more_than_links)
		update_last_hops(sm);
	if (changes.is_more_than_links)
		error = route_everything(sm);
	else if (changes.removed_count || changes.added_count)
		error = route_around(sm, &changes);
	if (error) /* half done, so the graph is invalid */
		routing_graph_release(&sm->graph);
	if (changes.is_more_than_links || changes.removed_count || changes.added_count)
		sm->multicast.all_changed = true;
	return error;
}
