/* SPDX-License-Identifier: Apache-2.0 */
/* The way of a packet through the tables, told step by step. */
#include "fabric/explain.h"

#include <stdarg.h>
#include <stdio.h>
#include "fabric/fabric.h"
#include "net/switch/forwarding.h"
#include "wire/pkey.h"

struct story {
	struct fabric *fabric;
	const struct explain_packet *packet;
	const struct explain_listener *listener;
	unsigned step_count;
	unsigned delivered_count;
};

static const char *const state_names[] = {"in no state", "Down", "Init", "Armed", "Active"};

static const char *state_name(const struct port *port)
{
	return state_names[port->info.port_state % ARRAY_COUNT(state_names)];
}

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
	tell(story, (struct explain_step){
			    .depth = depth, .port = port, .is_end = true, .text = text});
}

/* --- why a packet is dropped --- */

static void no_route_text(const struct port *port, const struct explain_packet *packet,
			char *ret_text)
{
	uint16_t dlid = packet->dlid;
	const struct node *node = port->node;

	if (!node_is_switch(node))
		snprintf(ret_text, EXPLAIN_TEXT_BYTES, "LID %u is no unicast LID", dlid);
	else if (lid_is_multicast(dlid))
		snprintf(ret_text, EXPLAIN_TEXT_BYTES, "no other port is in the entry of MLID 0x%04x",
			 dlid);
	else if (dlid > node->switch_info.linear_fdb_top ||
		 dlid >= node->switch_info.linear_fdb_cap)
		snprintf(ret_text, EXPLAIN_TEXT_BYTES, "LID %u is above LinearFDBTop %u", dlid,
			 node->switch_info.linear_fdb_top);
	else
		snprintf(ret_text, EXPLAIN_TEXT_BYTES, "LFT[%u] = %u, which is no port", dlid,
			 node->lft[dlid]);
}

static void looping_text(const struct port *port, const struct explain_packet *packet,
			char *ret_text)
{
	uint16_t dlid = packet->dlid;
	const struct node *node = port->node;

	if (node_is_switch(node) && !lid_is_multicast(dlid) && node->lft[dlid] == port->number)
		snprintf(ret_text, EXPLAIN_TEXT_BYTES, "LFT[%u] = %u, the port it came in by", dlid,
			 port->number);
	else
		snprintf(ret_text, EXPLAIN_TEXT_BYTES, "the tables go round in a circle");
}

static void malformed_text(const struct port *port, const struct explain_packet *packet,
			char *ret_text)
{
	uint16_t dlid = packet->dlid;

	if (!port_owns_lid(port, dlid))
		snprintf(ret_text, EXPLAIN_TEXT_BYTES, "LID %u is not this port's, which has %u",
			 dlid, port->info.lid);
	else
		snprintf(ret_text, EXPLAIN_TEXT_BYTES, "the port is %s", state_name(port));
}

static void inactive_text(const struct port *port, const struct explain_packet *packet,
			  char *ret_text)
{
	(void)packet;
	snprintf(ret_text, EXPLAIN_TEXT_BYTES, "port %u is %s", port->number, state_name(port));
}

static void mapping_text(const struct port *port, const struct explain_packet *packet,
			 char *ret_text)
{
	(void)port;
	snprintf(ret_text, EXPLAIN_TEXT_BYTES, "SL %u has no data VL in the SL-to-VL table",
		 packet->sl);
}

static void pkey_text(const struct port *port, const struct explain_packet *packet, char *ret_text)
{
	snprintf(ret_text, EXPLAIN_TEXT_BYTES, "%sits table has no P_Key that goes with 0x%04x",
		 port->kind == PORT_OF_SWITCH ? "the port enforces partitions, and " : "",
		 packet->pkey);
}

/* Those that tables decide about. */
static void (*const reason_texts[DROP_REASON_COUNT])(const struct port *port,
						     const struct explain_packet *packet,
						     char *ret_text) = {
	[DROP_NO_ROUTE] = no_route_text,	 [DROP_LOOPING] = looping_text,
	[DROP_MALFORMED] = malformed_text,	 [DROP_PORT_INACTIVE] = inactive_text,
	[DROP_VL_MAPPING] = mapping_text,	 [DROP_PKEY_INBOUND] = pkey_text,
	[DROP_PKEY_OUTBOUND] = pkey_text,
};

static void tell_drop(struct story *story, unsigned depth, const struct port *port,
		      enum drop_reason reason)
{
	char text[EXPLAIN_TEXT_BYTES];

	if (reason_texts[reason])
		reason_texts[reason](port, story->packet, text);
	else
		snprintf(text, sizeof(text), "%s", drop_reason_name(reason));
	tell(story, (struct explain_step){.depth = depth,
					  .port = port,
					  .reason = reason,
					  .is_end = true,
					  .text = text});
}

/* --- unicast --- */

static void tell_source(struct story *story, const struct fabric_hop *hop)
{
	tell_way(story, 0, hop->output, "sends to LID %u: SL %u -> VL %u", story->packet->dlid,
		 story->packet->sl, hop->vl);
}

/* Between two cables: a switch by its table, a router by its prefixes. */
static void tell_passage(struct story *story, unsigned depth, const struct port *input,
			 const struct fabric_hop *next)
{
	uint16_t dlid = story->packet->dlid;

	if (node_is_switch(input->node))
		tell_way(story, depth, input,
			 "LFT[%u] = %u, SL %u -> VL %u (in by %u, out by %u)", dlid,
			 input->node->lft[dlid], story->packet->sl, next->vl, input->number,
			 next->output->number);
	else
		tell_way(story, depth, input, "routed to port %u, VL %u", next->output->number,
			 next->vl);
}

static void tell_unicast(struct story *story, struct port *source)
{
	const struct explain_packet *packet = story->packet;
	struct fabric_path path;

	fabric_walk(story->fabric, source, packet->dlid, packet->sl, packet->pkey, &path);
	if (path.hop_count)
		tell_source(story, &path.hops[0]);
	for (unsigned index = 1; index < path.hop_count; index++)
		tell_passage(story, index, path.hops[index - 1].input, &path.hops[index]);
	if (path.verdict != DROP_NONE)
		tell_drop(story, path.hop_count, path.destination, path.verdict);
	else if (node_is_switch(path.destination->node))
		tell_delivery(story, path.hop_count, path.destination,
			      "delivered to the switch's own port 0");
	else if (path.hop_count == 0)
		tell_delivery(story, 0, path.destination, "delivered: the LID is its own");
	else
		tell_delivery(story, path.hop_count, path.destination,
			      "delivered: the LID is this port's, and its table has the P_Key");
}

/* --- multicast --- */

static void spread(struct story *story, unsigned depth, const struct port *input);

/* A copy is at the far end of a cable. */
static void arrive(struct story *story, unsigned depth, const struct port *port)
{
	if (port->kind == PORT_OF_SWITCH)
		spread(story, depth, port);
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

/* Recursion is bounded by the depth; tables that go round in a circle end there. */
static void spread(struct story *story, unsigned depth, const struct port *input)
{
	const struct explain_packet *packet = story->packet;
	const struct forwarding_header header = {
		.dlid = packet->dlid, .sl = packet->sl, .pkey = packet->pkey};
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
	else {
		tell_way(story, 0, source, "sends to MLID 0x%04x: SL %u -> VL %u", packet->dlid,
			 packet->sl, vl);
		tell_way(story, 0, source, "a copy stays for the other queue pairs of the group here");
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
