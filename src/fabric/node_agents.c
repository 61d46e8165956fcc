/* SPDX-License-Identifier: Apache-2.0 */
/* MADs that end at a node: to its agents, and their answers back out (vol 1, chapters 13 and 14).
 */
#include "fabric/node_agents.h"

#include <string.h>
#include "base/bytes.h"
#include "fabric/movement.h"
#include "fabric/tap.h"
#include "net/link/port_queues.h"
#include "net/switch/directed_route.h"
#include "net/switch/forwarding.h"
#include "wire/packet.h"
#include "wire/pkey.h"

enum {
	HOP_LIMIT_MAX = 255,
};

/* The frame was answered in place and is the node's own packet from now on. */
static void become_own(struct fabric *fabric, struct node *node, struct frame *frame, time_ns now)
{
	fabric_return_buffer(fabric, &node->ports[frame->input_port], frame->input_vl,
			     frame->credit_blocks);
	frame->credit_blocks = 0;
	if (frame->source && fabric->owner.gone)
		fabric->owner.gone(fabric->owner.context, frame, DROP_NONE);
	frame->source = NULL;
	frame->node_entered_at = now;
}

static void set_lids(struct frame *frame, uint16_t dlid, uint16_t slid)
{
	put_be16(frame->bytes + LRH_DLID_OFFSET, dlid);
	put_be16(frame->bytes + LRH_SLID_OFFSET, slid);
}

static void send_by_lid(struct fabric *fabric, struct port *port, struct frame *frame,
			uint16_t dlid, time_ns now)
{
	struct node *node = port->node;

	set_lids(frame, dlid, node_management_port(node, port->number)->info.lid);
	if (node_is_switch(node))
		fabric_send_from_port_0(fabric, &node->ports[0], frame, now);
	else
		fabric_send_from_adapter(fabric, port, frame, now);
}

/* A directed route leaves by its port whatever the tables say, as long as the link is up. */
static void send_by_port(struct fabric *fabric, struct port *output, struct frame *frame,
			 time_ns now)
{
	set_lids(frame, LID_PERMISSIVE, LID_PERMISSIVE);
	if (port_carries_management(output))
		fabric_enqueue(fabric, output, frame, VL_MANAGEMENT, now);
	else
		fabric_drop(fabric, output, frame, DROP_PORT_INACTIVE);
}

static bool answer_goes_by_lid(const uint8_t *smp)
{
	if (smp[MAD_CLASS_OFFSET] != MAD_CLASS_SUBNET_DIRECTED)
		return true;
	if (directed_route_ends_by_lid(smp))
		return true;
	return smp[MAD_HOP_COUNT_OFFSET] == 0 &&
	       get_be16(smp + SMP_DR_SLID_OFFSET) != LID_PERMISSIVE;
}

static void send_answer(struct fabric *fabric, struct port *port, struct frame *frame, time_ns now)
{
	uint8_t *smp = frame->bytes + MAD_OFFSET_IN_PACKET;

	become_own(fabric, port->node, frame, now);
	if (answer_goes_by_lid(smp)) {
		send_by_lid(fabric, port, frame, get_be16(frame->bytes + LRH_SLID_OFFSET), now);
		return;
	}

	struct smp_step step = directed_route_advance(port->node, port->number, smp);

	switch (step.action) {
	case SMP_OUT:
		send_by_port(fabric, &port->node->ports[step.output_port], frame, now);
		break;
	case SMP_BY_LID:
		send_by_lid(fabric, port, frame, step.dlid, now);
		break;
	case SMP_HERE:
		fabric_arrive(fabric, node_management_port(port->node, port->number), frame);
		break;
	case SMP_DISCARD:
		fabric_drop(fabric, port, frame, DROP_NO_ROUTE);
		break;
	}
}

/* To the manager, if this port can have one: a switch's is at port 0. */
static bool deliver_to_manager(struct fabric *fabric, struct port *port, struct frame *frame)
{
	struct port *manager = node_management_port(port->node, port->number);

	if (!node_is_adapter(port->node) && !manager->endpoint) {
		fabric_drop(fabric, port, frame, DROP_NO_LISTENER);
		return true;
	}
	if (!fabric->owner.deliver(fabric->owner.context, manager, frame))
		return false;
	fabric->frames_inside--;
	return true;
}

static bool smp_is_here(struct fabric *fabric, struct port *port, struct frame *frame, time_ns now)
{
	uint8_t *smp = frame->bytes + MAD_OFFSET_IN_PACKET;
	struct mad_message answer;
	struct mad_message request = {
		.address = {.lid = get_be16(frame->bytes + LRH_SLID_OFFSET),
			    .qpn = QPN_SMI,
			    .pkey = PKEY_DEFAULT_FULL},
	};

	memcpy(request.bytes, smp, MAD_BYTES);
	switch (sma_receive(&fabric->agents, port->node, port->number, now, &request, &answer)) {
	case AGENT_ANSWERED:
		memcpy(smp, answer.bytes, MAD_BYTES);
		send_answer(fabric, port, frame, now);
		return true;
	case AGENT_CONSUMED:
		fabric_consume(fabric, port->node, frame);
		return true;
	case AGENT_FOR_SM:
		return deliver_to_manager(fabric, port, frame);
	}
	return true;
}

static bool is_smp(const struct frame *frame)
{
	const uint8_t *bth = frame->bytes + LRH_BYTES;

	return frame->byte_count == MAD_OFFSET_IN_PACKET + MAD_BYTES &&
	       get_be24(bth + 5) == QPN_SMI && bth[0] == (TRANSPORT_UD | OPCODE_SEND_ONLY);
}

bool node_agents_smp(struct fabric *fabric, struct port *port, struct frame *frame, time_ns now)
{
	uint8_t *smp = frame->bytes + MAD_OFFSET_IN_PACKET;

	if (!is_smp(frame)) {
		fabric_drop(fabric, port, frame, DROP_MALFORMED);
		return true;
	}
	if (smp[MAD_CLASS_OFFSET] != MAD_CLASS_SUBNET_DIRECTED)
		return smp_is_here(fabric, port, frame, now);

	struct smp_step step = directed_route_advance(port->node, port->number, smp);

	switch (step.action) {
	case SMP_HERE:
		return smp_is_here(fabric, port, frame, now);
	case SMP_OUT:
		send_by_port(fabric, &port->node->ports[step.output_port], frame, now);
		return true;
	case SMP_BY_LID:
		send_by_lid(fabric, port, frame, step.dlid, now);
		return true;
	case SMP_DISCARD:
		fabric_drop(fabric, port, frame, DROP_NO_ROUTE);
		return true;
	}
	return true;
}

static struct agent_violation violation_of(const struct packet *packet)
{
	bool has_deth = opcode_info(packet->bth.opcode)->has_deth;
	struct agent_violation violation = {
		.slid = packet->lrh.slid,
		.dlid = packet->lrh.dlid,
		.sl = packet->lrh.sl,
		.key = packet->bth.pkey,
		.has_source_qpn = has_deth,
		.source_qpn = has_deth ? packet->deth.source_qpn : 0,
		.destination_qpn = packet->bth.destination_qpn,
		.has_grh = packet->has_grh,
	};

	if (packet->has_grh) {
		violation.sgid = packet->grh.sgid;
		violation.dgid = packet->grh.dgid;
	}
	return violation;
}

void node_agents_pkey_violation(struct fabric *fabric, struct port *port, const struct frame *frame)
{
	uint8_t bytes[PACKET_BYTES_MAX];
	struct packet packet;

	memcpy(bytes, frame->bytes, frame->byte_count);
	/* A raw packet has no P_Key: a filter dropped it. */
	if (packet_decode(bytes, frame->byte_count, 1, &packet) != PACKET_OK)
		return;

	struct agent_violation violation = violation_of(&packet);

	agent_pkey_violation(&fabric->agent_memory, port, fabric->now, &violation);
}

static struct grh trap_grh(const struct agent_trap *trap)
{
	const struct mad_address *to = &trap->message.address;
	const struct port *port = trap->port;

	return (struct grh){
		.traffic_class = to->traffic_class,
		.flow_label = to->flow_label,
		.hop_limit = to->hop_limit,
		.sgid = gid_from(port->info.gid_prefix, port->guid),
		.dgid = to->gid,
	};
}

static void send_trap(struct fabric *fabric, struct agent_trap *trap, time_ns now)
{
	const struct mad_address *to = &trap->message.address;
	bool is_for_manager = to->qpn == QPN_SMI;
	struct frame *frame = frame_take(&fabric->frames);
	struct packet packet = {
		.lrh = {.vl = is_for_manager ? VL_MANAGEMENT : 0,
			.sl = is_for_manager ? 0 : to->sl},
		.bth = {.opcode = TRANSPORT_UD | OPCODE_SEND_ONLY,
			.pkey = to->pkey,
			.destination_qpn = to->qpn},
		.deth = {.qkey = is_for_manager ? 0 : to->qkey,
			 .source_qpn = is_for_manager ? QPN_SMI : QPN_GSI},
		.packet_count = 1,
		.has_grh = to->has_grh,
	};

	/* The agent repeats a trap that gets no TrapRepress. */
	if (!frame)
		return;
	if (to->has_grh)
		packet.grh = trap_grh(trap);
	packet_set_payload(&packet, trap->message.bytes, MAD_BYTES);
	frame->byte_count = (uint32_t)packet_encode(&packet, frame->bytes);
	frame->vl = is_for_manager ? VL_MANAGEMENT : 0;
	frame->bytes[0] = (uint8_t)(frame->vl << 4);
	frame->input_port = trap->port->number;
	frame->node_entered_at = now;
	fabric->frames_inside++;
	send_by_lid(fabric, trap->port, frame, to->lid, now);
}

void node_agents_send_traps(struct fabric *fabric, time_ns now)
{
	enum { TRAPS_PER_STEP = 16 };
	struct agent_trap traps[TRAPS_PER_STEP];

	agent_run(&fabric->agents, now);

	unsigned trap_count = agent_take_traps(&fabric->agent_memory, now, TRAPS_PER_STEP, traps);

	for (unsigned i = 0; i < trap_count; i++)
		send_trap(fabric, &traps[i], now);
}

/* QPN_MULTICAST, which no agent uses, if the header does not say. */
static uint32_t destination_qpn(const struct frame *frame)
{
	enum { LNH_MASK = 3, DESTINATION_QPN_OFFSET = 5 };
	unsigned lnh = frame->bytes[1] & LNH_MASK;
	size_t bth = LRH_BYTES + (lnh == LNH_GLOBAL ? GRH_BYTES : 0);

	if (lnh < LNH_LOCAL || frame->byte_count < bth + BTH_BYTES)
		return QPN_MULTICAST;
	return get_be24(frame->bytes + bth + DESTINATION_QPN_OFFSET);
}

bool node_agents_is_own_gmp(const struct port *port, const struct frame *frame)
{
	return destination_qpn(frame) == QPN_GSI && port_pkey_is_own(port, frame->header.pkey) &&
	       port_owns_lid(port, get_be16(frame->bytes + LRH_SLID_OFFSET));
}

/* Finds the key of the port's own table that let the request in; the reply carries it. */
static bool find_own_pkey(const struct port *port, const struct frame *frame, uint16_t pkey,
			  uint16_t *ret_pkey)
{
	for (unsigned i = 0; i < port->pkey_count; i++) {
		if (!pkey_matches(port->pkeys[i], pkey))
			continue;
		*ret_pkey = port->pkeys[i];
		return true;
	}
	*ret_pkey = pkey;
	return node_agents_is_own_gmp(port, frame);
}

static void encode_gmp_answer(const struct port *port, const struct packet *request, uint16_t pkey,
			      struct mad_message *answer, struct frame *frame)
{
	struct packet packet = {
		.lrh = {.sl = request->lrh.sl, .dlid = request->lrh.slid, .slid = port->info.lid},
		.bth = {.opcode = request->bth.opcode,
			.pkey = pkey,
			.destination_qpn = request->deth.source_qpn},
		.deth = {.qkey = QKEY_GSI, .source_qpn = QPN_GSI},
		.packet_count = 1,
		.has_grh = request->has_grh,
		.grh = request->grh,
	};

	/* A MAD that came with a GRH is answered with one. */
	packet.grh.sgid = request->grh.dgid;
	packet.grh.dgid = request->grh.sgid;
	packet.grh.hop_limit = HOP_LIMIT_MAX;
	packet_set_payload(&packet, answer->bytes, MAD_BYTES);
	frame->byte_count = (uint32_t)packet_encode(&packet, frame->bytes);
}

/* The node answers its own classes. The endpoint of an adapter, of a router's port or of a switch's
 * port 0 may serve any other class. */
static bool is_for_agents(const struct port *port, const struct packet *packet, const uint8_t *mad)
{
	return packet->bth.destination_qpn == QPN_GSI &&
	       packet->bth.opcode == (TRANSPORT_UD | OPCODE_SEND_ONLY) &&
	       packet->payload.byte_count == MAD_BYTES && packet->deth.qkey == QKEY_GSI &&
	       !(mad[MAD_METHOD_OFFSET] & MAD_RESPONSE) &&
	       ((port->node->info.node_type != NODE_CA && !port->endpoint) || gsa_is_first(mad));
}

/* QP1 accepts only the well-known Q_Key (transport 10.4; management 1.7). */
static void check_gsi_key(struct fabric *fabric, struct port *port, const struct packet *packet)
{
	if (packet->bth.destination_qpn != QPN_GSI || !opcode_info(packet->bth.opcode)->has_deth ||
	    packet->deth.qkey == QKEY_GSI)
		return;

	struct agent_violation violation = violation_of(packet);

	violation.key = packet->deth.qkey;
	agent_qkey_violation(&fabric->agent_memory, port, fabric->now, &violation);
}

bool node_agents_gmp(struct fabric *fabric, struct port *port, struct frame *frame, time_ns now)
{
	struct packet packet;
	uint16_t pkey;

	/* Every arriving packet comes here, and nearly none is for QP0 or QP1. */
	uint32_t qpn = destination_qpn(frame);

	if (likely(qpn > QPN_GSI))
		return false;
	/* QP0 accepts VL15 only, and this frame came on a data VL (transport 10.5;
	 * management 1.7). */
	if (qpn == QPN_SMI) {
		fabric_drop(fabric, port, frame, DROP_NO_LISTENER);
		return true;
	}
	if (packet_decode(frame->bytes, frame->byte_count, 1, &packet) != PACKET_OK)
		return false;

	const uint8_t *mad = frame->bytes + packet_header_bytes(&packet);

	check_gsi_key(fabric, port, &packet);
	if (!is_for_agents(port, &packet, mad) ||
	    !find_own_pkey(port, frame, packet.bth.pkey, &pkey))
		return false;

	struct mad_message answer;
	struct mad_message request = {
		.address = {.lid = packet.lrh.slid,
			    .sl = packet.lrh.sl,
			    .qpn = packet.deth.source_qpn,
			    .qkey = packet.deth.qkey,
			    .pkey = packet.bth.pkey,
			    .has_grh = packet.has_grh,
			    .gid = packet.grh.sgid},
	};

	memcpy(request.bytes, mad, MAD_BYTES);
	switch (gsa_receive(&fabric->agents, port->node, port->number, now, &request, &answer)) {
	case AGENT_ANSWERED:
		encode_gmp_answer(port, &packet, pkey, &answer, frame);
		become_own(fabric, port->node, frame, now);
		send_by_lid(fabric, port, frame, packet.lrh.slid, now);
		return true;
	case AGENT_CONSUMED:
		fabric_consume(fabric, port->node, frame);
		return true;
	case AGENT_FOR_SM:
		return false;
	}
	return false;
}
