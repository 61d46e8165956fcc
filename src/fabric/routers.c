/* SPDX-License-Identifier: Apache-2.0 */
/* Several subnets in one fabric: routes, and packets that follow them (vol 1, chapter 19; transport
 * 8.12). */
#include "fabric/routers.h"

#include <errno.h>
#include <stdlib.h>
#include "base/bytes.h"
#include "fabric/gateways.h"
#include "fabric/movement.h"
#include "fabric/node_agents.h"
#include "fabric/tap.h"
#include "net/router/gateway.h"
#include "net/router/routing.h"
#include "wire/grh.h"
#include "wire/pkey.h"

enum {
	HOPS_OF_A_PATH = 64, /* the hop limit of a path record to another subnet */
};

int routers_add(struct fabric *fabric, struct node *node)
{
	struct node **routers =
		realloc(fabric->routers.nodes, (fabric->routers.count + 1) * sizeof(struct node *));

	if (!routers)
		return -ENOMEM;
	fabric->routers.nodes = routers;

	int error = router_table_create(&node->router);

	if (!error)
		fabric->routers.nodes[fabric->routers.count++] = node;
	return error;
}

void routers_note_change(struct fabric *fabric)
{
	fabric->routers.routes_are_stale = true;
	fabric->routers.groups_are_stale = true;
}

static bool is_in_subnet(const struct port *port, uint64_t prefix)
{
	return port_is_active(port) && port->info.lid != 0 && port->info.gid_prefix == prefix &&
	       gid_prefix_is_routable(prefix);
}

/* A route that finds no memory is left out; its prefix is then unreachable. */
static bool add_route(struct router_table *table, const struct router_route *route)
{
	return router_table_add(table, route) == 0;
}

/* Adds the subnets of the other routers in the subnet of this route. */
static void extend(struct fabric *fabric, struct node *node, unsigned route_index)
{
	const struct router_route from = node->router->routes[route_index];

	for (uint32_t index = 0; index < fabric->routers.count; index++) {
		struct node *other = fabric->routers.nodes[index];

		for (unsigned in = 1; other != node && in <= other->port_count; in++) {
			if (!is_in_subnet(&other->ports[in], from.prefix))
				continue;
			for (unsigned out = 1; out <= other->port_count; out++) {
				const struct port *far = &other->ports[out];
				struct router_route route = {
					.prefix = far->info.gid_prefix,
					.output_port = from.output_port,
					.router_count = (uint8_t)(from.router_count + 1),
					.next_lid = from.next_lid ? from.next_lid
								  : other->ports[in].info.lid,
				};

				if (is_in_subnet(far, route.prefix) &&
				    !add_route(node->router, &route))
					return;
			}
		}
	}
}

/* Breadth first, so that the shortest path is found first; the list of routes is the queue. */
static void find_routes(struct fabric *fabric, struct node *node)
{
	router_table_clear_routes(node->router);
	for (unsigned number = 1; number <= node->port_count; number++) {
		const struct port *port = &node->ports[number];
		struct router_route route = {.prefix = port->info.gid_prefix,
					     .output_port = (uint8_t)number};

		if (is_in_subnet(port, route.prefix))
			(void)!add_route(node->router, &route);
	}
	for (unsigned index = 0; index < node->router->route_count; index++)
		if (node->router->routes[index].router_count < HOPS_OF_A_PATH - 1)
			extend(fabric, node, index);
}

void routers_refresh(struct fabric *fabric)
{
	if (likely(!fabric->routers.routes_are_stale))
		return;
	fabric->routers.routes_are_stale = false;
	for (uint32_t index = 0; index < fabric->routers.count; index++)
		find_routes(fabric, fabric->routers.nodes[index]);
}

/* Made at the first use: the topology has all its GUIDs by then. */
static void index_guids(struct fabric *fabric)
{
	if (fabric->routers.guid_index_ports == fabric->port_total)
		return;
	fabric->routers.guid_index_ports = fabric->port_total;
	hash_table_release(&fabric->routers.guid_index);
	hash_table_init(&fabric->routers.guid_index);
	for (uint32_t index = 0; index < fabric->node_count; index++) {
		struct node *node = fabric->by_index[index];

		for (unsigned number = node_is_switch(node) ? 0 : 1; number <= node->port_count;
		     number++)
			if (node->ports[number].guids)
				(void)!hash_table_put(&fabric->routers.guid_index,
						      node->ports[number].guid,
						      &node->ports[number]);
	}
}

/* GUIDs that a manager gave a port beside its own (GUIDInfo). */
static bool has_alias(const struct port *port, uint64_t guid)
{
	for (unsigned index = 1; port->guids && index < port->info.guid_cap; index++)
		if (port->guids[index] == guid)
			return true;
	return false;
}

static struct port *find_alias(struct fabric *fabric, const struct gid *gid)
{
	for (uint32_t index = 0; index < fabric->node_count; index++) {
		struct node *node = fabric->by_index[index];

		for (unsigned number = node_is_switch(node) ? 0 : 1; number <= node->port_count;
		     number++)
			if (node->ports[number].info.gid_prefix == gid_prefix(gid) &&
			    has_alias(&node->ports[number], gid_guid(gid)))
				return &node->ports[number];
	}
	return NULL;
}

struct port *fabric_find_gid(struct fabric *fabric, const struct gid *gid)
{
	index_guids(fabric);

	struct port *port = hash_table_get(&fabric->routers.guid_index, gid_guid(gid));

	if (!port || port->info.gid_prefix != gid_prefix(gid))
		port = find_alias(fabric, gid);
	return port && port->info.lid != 0 ? port : NULL;
}

/* The DLID with which the packet goes on; 0: the destination does not exist. */
static uint16_t next_lid(struct fabric *fabric, const struct router_route *route,
			 const struct gid *dgid)
{
	if (route->next_lid)
		return route->next_lid;

	const struct port *port = fabric_find_gid(fabric, dgid);

	return port ? port->info.lid : 0;
}

/* The output of a route and the LID there. */
static enum drop_reason follow(struct fabric *fabric, struct node *node,
			       const struct routing_decision *decision,
			       const struct routing_header *header, struct port **ret_port,
			       uint16_t *ret_dlid, uint8_t *ret_vl)
{
	uint16_t dlid;

	if (decision->verdict != DROP_NONE)
		return decision->verdict;
	dlid = next_lid(fabric, decision->route, &header->dgid);
	if (dlid == 0)
		return DROP_NO_ROUTE;
	*ret_port = &node->ports[decision->route->output_port];
	*ret_dlid = dlid;
	return routing_output(node, decision->route->output_port, header, ret_vl);
}

enum drop_reason routers_decide(struct fabric *fabric, struct port *input,
				const struct routing_header *header, struct port **ret_port,
				uint16_t *ret_dlid, uint8_t *ret_vl)
{
	struct routing_decision decision;

	routers_refresh(fabric);
	decision = routing_unicast(input->node, input->number, header);
	*ret_port = input;
	return follow(fabric, input->node, &decision, header, ret_port, ret_dlid, ret_vl);
}

enum drop_reason routers_decide_from_gateway(struct fabric *fabric, struct node *node,
					     const struct routing_header *header,
					     struct port **ret_port, uint16_t *ret_dlid)
{
	struct routing_decision decision = routing_from_gateway(node, header);
	uint8_t vl;

	return follow(fabric, node, &decision, header, ret_port, ret_dlid, &vl);
}

static void route_unicast(struct fabric *fabric, struct port *input, struct frame *frame,
			  const struct lrh *lrh, const struct routing_header *header, time_ns now)
{
	struct port *port;
	uint16_t dlid = 0;
	uint8_t vl = 0;
	enum drop_reason reason = routers_decide(fabric, input, header, &port, &dlid, &vl);

	if (reason == DROP_NO_ROUTE && gateway_wants(input->node, header)) {
		gateways_send(fabric, input, frame, lrh);
		return;
	}
	if (reason != DROP_NONE) {
		fabric_drop(fabric, port, frame, reason);
		return;
	}
	routing_rewrite(frame, port->info.lid, dlid);
	fabric_enqueue(fabric, port, frame, vl, now);
}

/* Sends one copy into each other subnet that has the group. */
static void route_multicast(struct fabric *fabric, struct port *input, struct frame *frame,
			    const struct routing_header *header, time_ns now)
{
	struct node *node = input->node;
	const struct router_group *group = router_table_find_group(node->router, &header->dgid);
	enum drop_reason inbound = routing_check_inbound(input, header);

	if (inbound != DROP_NONE) {
		fabric_drop(fabric, input, frame, inbound);
		return;
	}
	if (!group || !gid_multicast_is_routable(&header->dgid) || header->hop_limit <= 1) {
		fabric_drop(fabric, input, frame,
			    group && header->hop_limit <= 1 ? DROP_HOP_LIMIT : DROP_NO_ROUTE);
		return;
	}
	for (unsigned number = 1; number <= node->port_count; number++) {
		struct port *output = &node->ports[number];
		uint8_t vl = 0;

		if (number == input->number || !group->mlids[number])
			continue;

		enum drop_reason reason = routing_output(node, number, header, &vl);
		struct frame *copy = reason == DROP_NONE ? fabric_copy_frame(fabric, frame) : NULL;

		if (reason == DROP_PKEY_OUTBOUND)
			node_agents_pkey_violation(fabric, output, frame);
		if (!copy) {
			port_count_drop(output, reason != DROP_NONE ? reason : DROP_NO_FRAME);
			continue;
		}
		routing_rewrite(copy, output->info.lid, group->mlids[number]);
		fabric_enqueue(fabric, output, copy, vl, now);
	}
	fabric_consume(fabric, node, frame);
}

bool routers_take(struct fabric *fabric, struct port *input, struct frame *frame,
		  const struct lrh *lrh, time_ns now)
{
	struct routing_header header;

	if (!routing_header_read(frame, lrh, &header))
		return gateways_take(fabric, input, frame, lrh);
	if (gid_is_multicast(&header.dgid)) {
		route_multicast(fabric, input, frame, &header, now);
		return true;
	}
	if (router_owns_gid(input->node, &header.dgid))
		return false;
	route_unicast(fabric, input, frame, lrh, &header, now);
	return true;
}

static struct port *router_port_in(struct node *node, uint64_t prefix)
{
	for (unsigned number = 1; number <= node->port_count; number++)
		if (is_in_subnet(&node->ports[number], prefix))
			return &node->ports[number];
	return NULL;
}

/* Whether a port of the source's subnet with this LID is a router's. */
static bool routers_have_lid(struct fabric *fabric, const struct port *source, uint16_t lid)
{
	for (uint32_t index = 0; index < fabric->routers.count; index++) {
		const struct node *node = fabric->routers.nodes[index];

		for (unsigned number = 1; number <= node->port_count; number++)
			if (is_in_subnet(&node->ports[number], source->info.gid_prefix) &&
			    port_owns_lid(&node->ports[number], lid))
				return true;
	}
	return false;
}

/* The router port of the source's subnet with the fewest routers between it and the prefix. */
static struct port *first_router(struct fabric *fabric, const struct port *source, uint64_t prefix)
{
	struct port *best = NULL;
	unsigned fewest = HOPS_OF_A_PATH;

	for (uint32_t index = 0; index < fabric->routers.count; index++) {
		struct node *node = fabric->routers.nodes[index];
		struct port *port = router_port_in(node, source->info.gid_prefix);
		const struct router_route *route =
			port ? router_table_find(node->router, prefix) : NULL;

		if (!route || route->output_port == port->number || route->router_count >= fewest)
			continue;
		fewest = route->router_count;
		best = port;
	}
	return best;
}

struct port *routers_towards(struct fabric *fabric, const struct port *source, uint64_t prefix)
{
	routers_refresh(fabric);
	return first_router(fabric, source, prefix);
}

void routers_address(struct fabric *fabric, struct port *source, struct frame *frame,
		     const struct lrh *lrh)
{
	struct routing_header header;

	if (!routing_header_read(frame, lrh, &header))
		return;
	if (gid_is_multicast(&header.dgid)) {
		if (header.hop_limit == 0 && gid_multicast_is_routable(&header.dgid))
			frame->bytes[LRH_BYTES + GRH_HOP_LIMIT_OFFSET] = HOPS_OF_A_PATH;
		return;
	}

	uint64_t prefix = gid_prefix(&header.dgid);

	if (prefix == source->info.gid_prefix || !gid_prefix_is_routable(prefix) ||
	    routers_have_lid(fabric, source, lrh->dlid))
		return;
	routers_refresh(fabric);

	const struct port *router = first_router(fabric, source, prefix);

	if (!router)
		return;
	put_be16(frame->bytes + LRH_DLID_OFFSET, router->info.lid);
	if (header.hop_limit <= 1)
		frame->bytes[LRH_BYTES + GRH_HOP_LIMIT_OFFSET] = HOPS_OF_A_PATH;
}

int routers_set_group(struct fabric *fabric, struct port *router_port, const struct gid *mgid,
		      uint16_t mlid)
{
	(void)fabric;
	return router_table_set_group(router_port->node->router, mgid,
				      router_port->node->port_count, router_port->number, mlid);
}

void routers_release(struct fabric *fabric)
{
	for (uint32_t index = 0; index < fabric->routers.count; index++)
		router_table_destroy(fabric->routers.nodes[index]->router);
	free(fabric->routers.nodes);
	hash_table_release(&fabric->routers.guid_index);
}
