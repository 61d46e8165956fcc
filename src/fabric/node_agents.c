/* SPDX-License-Identifier: Apache-2.0 */
/* MADs that end at a node: to its agents, and their answers back out (vol 1, chapters 13 and 14).
 */
#include "fabric/movement.h"

#include <string.h>
#include "base/bytes.h"
#include "net/link/port_queues.h"
#include "net/switch/directed_route.h"
#include "net/switch/forwarding.h"
#include "wire/packet.h"
#include "wire/pkey.h"

enum {
	SMP_OFFSET = LRH_BYTES + BTH_BYTES + DETH_BYTES,
	MAD_CLASS_OFFSET = 1,
	MAD_METHOD_OFFSET = 3,
	HOP_COUNT_OFFSET = 7,
	DLID_OFFSET = 2,
	SLID_OFFSET = 6,
	HOP_LIMIT_MAX = 255,
};

/* The frame was answered in place: what goes on is the node's own packet. */
static void become_own(struct fabric *fabric, struct node *node, struct frame *frame, time_ns now)
{
	fabric_release_buffer(fabric, node, frame);
	if (frame->source && fabric->owner.gone)
		fabric->owner.gone(fabric->owner.context, frame, DROP_NONE);
	frame->source = NULL;
	frame->node_entered_at = now;
}

static void set_lids(struct frame *frame, uint16_t dlid, uint16_t slid)
{
	put_be16(frame->bytes + DLID_OFFSET, dlid);
	put_be16(frame->bytes + SLID_OFFSET, slid);
}

static void send_by_lid(struct fabric *fabric, struct port *port, struct frame *frame,
			uint16_t dlid, time_ns now)
{
	struct node *node = port->node;

	set_lids(frame, dlid, node_management_port(node, port->number)->info.lid);
	if (node_is_switch(node))
		fabric_forward(fabric, node, 0, frame, now);
	else
		fabric_send_from_adapter(fabric, port, frame, now);
}

/* Directed routes go out whatever the tables say, as long as the link is up. */
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
	return smp[HOP_COUNT_OFFSET] == 0 && get_be16(smp + SMP_DR_SLID_OFFSET) != LID_PERMISSIVE;
}

static void send_answer(struct fabric *fabric, struct port *port, struct frame *frame, time_ns now)
{
	uint8_t *smp = frame->bytes + SMP_OFFSET;

	become_own(fabric, port->node, frame, now);
	if (answer_goes_by_lid(smp)) {
		send_by_lid(fabric, port, frame, get_be16(frame->bytes + SLID_OFFSET), now);
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
		if (node_is_switch(port->node))
			fabric_drop(fabric, port, frame, DROP_NO_LISTENER);
		else
			fabric_arrive(fabric, port, frame);
		break;
	case SMP_DISCARD:
		fabric_drop(fabric, port, frame, DROP_NO_ROUTE);
		break;
	}
}

/* To the manager, if there can be one: it sits at an adapter's port. */
static bool deliver_to_manager(struct fabric *fabric, struct port *port, struct frame *frame)
{
	if (node_is_switch(port->node)) {
		fabric_drop(fabric, port, frame, DROP_NO_LISTENER);
		return true;
	}
	if (!fabric->owner.deliver(fabric->owner.context, port, frame))
		return false;
	fabric->frames_inside--;
	return true;
}

static bool smp_is_here(struct fabric *fabric, struct port *port, struct frame *frame, time_ns now)
{
	uint8_t *smp = frame->bytes + SMP_OFFSET;
	struct mad_message answer;
	struct mad_message request = {
		.address = {.lid = get_be16(frame->bytes + SLID_OFFSET),
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

	return frame->byte_count == SMP_OFFSET + MAD_BYTES && get_be24(bth + 5) == QPN_SMI &&
	       bth[0] == (TRANSPORT_UD | OPCODE_SEND_ONLY);
}

bool node_agents_smp(struct fabric *fabric, struct port *port, struct frame *frame, time_ns now)
{
	uint8_t *smp = frame->bytes + SMP_OFFSET;

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

static void send_trap(struct fabric *fabric, struct agent_trap *trap, time_ns now)
{
	struct frame *frame = frame_take(&fabric->frames);
	struct packet packet = {
		.lrh = {.vl = VL_MANAGEMENT},
		.bth = {.opcode = TRANSPORT_UD | OPCODE_SEND_ONLY, .pkey = PKEY_DEFAULT_FULL},
		.packet_count = 1,
	};

	/* The agent repeats what gets no answer. */
	if (!frame)
		return;
	packet_set_payload(&packet, trap->message.bytes, MAD_BYTES);
	frame->byte_count = (uint32_t)packet_encode(&packet, frame->bytes);
	frame->vl = VL_MANAGEMENT;
	frame->bytes[0] = VL_MANAGEMENT << 4;
	frame->input_port = trap->port->number;
	frame->entered_at = now;
	frame->node_entered_at = now;
	fabric->frames_inside++;
	send_by_lid(fabric, trap->port, frame, trap->message.address.lid, now);
}

void node_agents_send_traps(struct fabric *fabric, time_ns now)
{
	enum { TRAPS_PER_STEP = 16 };
	struct agent_trap traps[TRAPS_PER_STEP];
	unsigned trap_count = agent_take_traps(&fabric->agent_memory, now, TRAPS_PER_STEP, traps);

	for (unsigned i = 0; i < trap_count; i++)
		send_trap(fabric, &traps[i], now);
}

/* --- general services --- */

/* A reply is sent under the key of its own table that let the request in. */
static bool find_own_pkey(const struct port *port, uint16_t pkey, uint16_t *ret_pkey)
{
	for (unsigned i = 0; i < port->pkey_count; i++) {
		if (!pkey_matches(port->pkeys[i], pkey))
			continue;
		*ret_pkey = port->pkeys[i];
		return true;
	}
	return false;
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

static bool is_performance_request(const struct packet *packet, const uint8_t *mad)
{
	return packet->bth.destination_qpn == QPN_GSI &&
	       packet->bth.opcode == (TRANSPORT_UD | OPCODE_SEND_ONLY) &&
	       packet->payload.byte_count == MAD_BYTES && packet->deth.qkey == QKEY_GSI &&
	       mad[MAD_CLASS_OFFSET] == MAD_CLASS_PERFORMANCE &&
	       !(mad[MAD_METHOD_OFFSET] & MAD_RESPONSE);
}

bool node_agents_gmp(struct fabric *fabric, struct port *port, struct frame *frame, time_ns now)
{
	struct packet packet;
	uint16_t pkey;

	if (packet_decode(frame->bytes, frame->byte_count, 1, &packet) != PACKET_OK)
		return false;

	const uint8_t *mad = frame->bytes + packet_header_bytes(&packet);

	if (!is_performance_request(&packet, mad) || !find_own_pkey(port, packet.bth.pkey, &pkey))
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
	switch (pma_receive(&fabric->agents, port->node, port->number, now, &request, &answer)) {
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
