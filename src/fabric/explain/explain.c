/* SPDX-License-Identifier: Apache-2.0 */
/* Explains step by step how a packet goes through the tables. */
#include "fabric/explain/explain.h"

#include <stdarg.h>
#include <stdio.h>
#include "fabric/explain/explain_reason.h"
#include "fabric/fabric.h"
#include "fabric/routers.h"
#include "net/router/routing.h"
#include "net/switch/forwarding.h"
#include "wire/mtu.h"
#include "wire/pkey.h"

struct story {
	struct fabric *fabric;
	const struct explain_packet *packet; /* with the header that it has at the present port */
	const struct explain_listener *listener;
	unsigned step_count;
	unsigned delivered_count;
};

static void tell(struct story *story, struct explain_step step)
{
	if (story->step_count++ < EXPLAIN_STEPS_MAX)
		story->listener->step(story->listener->context, &step);
}

static void PRINTF_LIKE(4, 5) tell_way(struct story *story, unsigned depth, const struct port *port,
				       const char *format, ...)
{
	char text[EXPLAIN_TEXT_BYTES];
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(text, sizeof(text), format, arguments);
	va_end(arguments);
	tell(story, (struct explain_step){.depth = depth, .port = port, .text = text});
}

static void tell_delivery(struct story *story, unsigned depth, const struct port *port,
			  const char *text)
{
	story->delivered_count++;
	tell(story,
	     (struct explain_step){.depth = depth, .port = port, .is_end = true, .text = text});
}

static void tell_drop(struct story *story, unsigned depth, const struct port *port,
		      enum drop_reason reason)
{
	char text[EXPLAIN_TEXT_BYTES];

	explain_reason(reason, port, story->packet, text);
	tell(story,
	     (struct explain_step){
		     .depth = depth, .port = port, .reason = reason, .is_end = true, .text = text});
}

static void tell_source(struct story *story, unsigned depth, const struct fabric_hop *hop)
{
	const struct explain_packet *packet = story->packet;

	if (depth)
		tell_way(story, depth, hop->output,
			 "routed to LID %u, hop limit %u: SL %u -> VL %u", packet->dlid,
			 packet->hop_limit, packet->sl, hop->vl);
	else
		tell_way(story, 0, hop->output, "sends to LID %u%s: SL %u -> VL %u", packet->dlid,
			 packet->has_grh ? ", a router" : "", packet->sl, hop->vl);
}

static void tell_passage(struct story *story, unsigned depth, const struct port *input,
			 const struct fabric_hop *next)
{
	uint16_t dlid = story->packet->dlid;

	tell_way(story, depth, input, "LFT[%u] = %u, SL %u -> VL %u (in by %u, out by %u)", dlid,
		 input->node->lft[dlid], story->packet->sl, next->vl, input->number,
		 next->output->number);
}

/* The packet came to a router that is not its destination: routers_decide() says whether its P_Key
 * is checked. */
static bool is_passed_on(const struct story *story, const struct fabric_path *path)
{
	const struct explain_packet *packet = story->packet;

	return packet->has_grh && node_is_router(path->destination->node) &&
	       (path->verdict == DROP_NONE || path->verdict == DROP_PKEY_INBOUND) &&
	       !router_owns_gid(path->destination->node, &packet->dgid);
}

static void tell_end(struct story *story, unsigned depth, const struct fabric_path *path)
{
	if (path->verdict != DROP_NONE)
		tell_drop(story, depth, path->destination, path->verdict);
	else if (node_is_switch(path->destination->node))
		tell_delivery(story, depth, path->destination,
			      "delivered to the switch's own port 0");
	else if (depth == 0)
		tell_delivery(story, 0, path->destination, "delivered: the LID is its own");
	else
		tell_delivery(story, depth, path->destination,
			      "delivered: the LID is this port's, and its table has the P_Key");
}

/* Through switches, to the end or to a router. False: the packet is too long for a link on the
 * path. */
static bool tell_segment(struct story *story, unsigned depth, const struct fabric_path *path)
{
	for (unsigned index = 0; index < path->hop_count; index++) {
		const struct fabric_hop *hop = &path->hops[index];

		if (story->packet->payload_bytes > mtu_bytes(hop->output->info.neighbor_mtu)) {
			tell_drop(story, depth + index, hop->output, DROP_MTU);
			return false;
		}
		if (index == 0)
			tell_source(story, depth, hop);
		else
			tell_passage(story, depth + index, path->hops[index - 1].input, hop);
	}
	return true;
}

/* At a router: the next segment's path, and the packet as it leaves the router. False: dropped. */
static bool pass_router(struct story *story, unsigned depth, struct explain_packet *packet,
			struct fabric_path *path)
{
	const struct routing_header header = {
		.dgid = packet->dgid,
		.hop_limit = packet->hop_limit,
		.sl = packet->sl,
		.pkey = packet->pkey,
		.payload_bytes = packet->payload_bytes,
	};
	struct port *port;
	uint8_t vl = 0;
	enum drop_reason reason = routers_decide(story->fabric, path->destination, &header, &port,
						 &packet->dlid, &vl);

	if (reason != DROP_NONE) {
		tell_drop(story, depth, port, reason);
		return false;
	}
	packet->hop_limit--;
	fabric_walk_on(story->fabric, port, vl, packet->dlid, packet->sl, packet->pkey, path);
	return true;
}

static void tell_unicast(struct story *story, struct port *source)
{
	struct explain_packet packet = *story->packet;
	struct fabric_path path;
	unsigned depth = 0;

	story->packet = &packet;
	if (packet.has_grh && gid_prefix(&packet.dgid) != source->info.gid_prefix) {
		const struct port *router =
			routers_towards(story->fabric, source, gid_prefix(&packet.dgid));

		if (!router) {
			tell_drop(story, 0, source, DROP_NO_ROUTE);
			return;
		}
		packet.dlid = router->info.lid;
	}
	fabric_walk(story->fabric, source, packet.dlid, packet.sl, packet.pkey, &path);
	for (;;) {
		if (!tell_segment(story, depth, &path))
			return;
		depth += path.hop_count;
		if (!is_passed_on(story, &path)) {
			tell_end(story, depth, &path);
			return;
		}
		if (!pass_router(story, depth, &packet, &path))
			return;
	}
}

static void spread(struct story *story, unsigned depth, const struct port *input);

static void arrive(struct story *story, unsigned depth, const struct port *port);

/* Into each other subnet in which the router has the group. */
static void tell_router(struct story *story, unsigned depth, const struct port *input)
{
	const struct explain_packet *before = story->packet;
	struct node *node = input->node;
	const struct router_group *group =
		before->has_grh ? router_table_find_group(node->router, &before->dgid) : NULL;
	struct explain_packet packet = *before;
	const struct routing_header header = {
		.sl = packet.sl, .pkey = packet.pkey, .payload_bytes = packet.payload_bytes};

	if (routing_check_inbound(input, &header) != DROP_NONE) {
		tell_drop(story, depth, input, DROP_PKEY_INBOUND);
		return;
	}
	if (!group || packet.hop_limit <= 1) {
		tell_drop(story, depth, input, group ? DROP_HOP_LIMIT : DROP_NO_ROUTE);
		return;
	}
	packet.hop_limit--;
	story->packet = &packet;
	for (unsigned number = 1; number <= node->port_count; number++) {
		uint8_t vl = 0;
		enum drop_reason reason;

		if (number == input->number || !group->mlids[number])
			continue;
		packet.dlid = group->mlids[number];
		reason = routing_output(node, number, &header, &vl);
		if (reason != DROP_NONE) {
			tell_drop(story, depth, &node->ports[number], reason);
			continue;
		}
		tell_way(story, depth, &node->ports[number],
			 "a copy, routed to MLID 0x%04x, hop limit %u: SL %u -> VL %u", packet.dlid,
			 packet.hop_limit, packet.sl, vl);
		arrive(story, depth + 1, node->ports[number].peer);
	}
	story->packet = before;
}

/* A copy arrives at the far end of a cable. */
static void arrive(struct story *story, unsigned depth, const struct port *port)
{
	if (depth >= FABRIC_HOPS_MAX)
		tell_drop(story, depth, port, DROP_LOOPING);
	else if (port->kind == PORT_OF_SWITCH)
		spread(story, depth, port);
	else if (node_is_router(port->node))
		tell_router(story, depth, port);
	else if (!port_pkey_matches(port, story->packet->pkey))
		tell_drop(story, depth, port, DROP_PKEY_INBOUND);
	else
		tell_delivery(story, depth, port, "delivered to the queue pairs in the group");
}

static void tell_copy(struct story *story, unsigned depth, const struct port *input,
		      unsigned output_port, const struct forwarding_header *header)
{
	struct node *node = input->node;
	struct forwarding_decision decision =
		forwarding_output(node, input->number, output_port, header);

	if (decision.verdict != DROP_NONE) {
		tell_drop(story, depth, &node->ports[decision.blamed_port], decision.verdict);
	} else if (output_port == 0) {
		tell_delivery(story, depth, &node->ports[0], "a copy for the switch's own port 0");
	} else {
		tell_way(story, depth, &node->ports[output_port],
			 "a copy: SL %u -> VL %u (in by %u, out by %u)", story->packet->sl,
			 decision.vl, input->number, output_port);
		arrive(story, depth + 1, node->ports[output_port].peer);
	}
}

/* The depth bounds the recursion, also where the tables form a loop. */
static void spread(struct story *story, unsigned depth, const struct port *input)
{
	const struct explain_packet *packet = story->packet;
	const struct forwarding_header header = {
		.dlid = packet->dlid,
		.sl = packet->sl,
		.pkey = packet->pkey,
		.payload_bytes = (uint16_t)packet->payload_bytes,
	};
	struct port_set outputs;
	enum drop_reason reason =
		forwarding_multicast(input->node, input->number, &header, &outputs);

	if (reason == DROP_NONE && depth >= FABRIC_HOPS_MAX)
		reason = DROP_LOOPING;
	if (reason != DROP_NONE || story->step_count >= EXPLAIN_STEPS_MAX) {
		tell_drop(story, depth, input, reason == DROP_NONE ? DROP_LOOPING : reason);
		return;
	}
	tell_way(story, depth, input, "the table of MLID 0x%04x", packet->dlid);
	for (unsigned number = 0; number <= input->node->port_count; number++)
		if (port_set_has(&outputs, number))
			tell_copy(story, depth, input, number, &header);
}

static void tell_multicast(struct story *story, struct port *source)
{
	const struct explain_packet *packet = story->packet;
	uint8_t vl = port_output_vl(source, 0, packet->sl);

	if (!port_is_active(source))
		tell_drop(story, 0, source, DROP_PORT_INACTIVE);
	else if (!port_pkey_is_own(source, packet->pkey))
		tell_drop(story, 0, source, DROP_PKEY_OUTBOUND);
	else if (vl == VL_MANAGEMENT)
		tell_drop(story, 0, source, DROP_VL_MAPPING);
	else if (packet->payload_bytes > mtu_bytes(source->info.neighbor_mtu))
		tell_drop(story, 0, source, DROP_MTU);
	else {
		tell_way(story, 0, source, "sends to MLID 0x%04x: SL %u -> VL %u", packet->dlid,
			 packet->sl, vl);
		tell_way(story, 0, source,
			 "a copy stays for the other queue pairs of the group here");
		arrive(story, 1, source->peer);
	}
}

unsigned explain(struct fabric *fabric, struct port *source, const struct explain_packet *packet,
		 const struct explain_listener *listener)
{
	struct story story = {.fabric = fabric, .packet = packet, .listener = listener};

	if (lid_is_multicast(packet->dlid))
		tell_multicast(&story, source);
	else
		tell_unicast(&story, source);
	return story.delivered_count;
}
