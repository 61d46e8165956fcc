/* SPDX-License-Identifier: Apache-2.0 */
/* Congestion control in the fabric: FECN marks, BECNs, CNPs and slower sources (vol 1, annex A10;
 * transport 8.13). */
#include "fabric/congestion_control.h"

#include "base/bytes.h"
#include "fabric/inject.h"
#include "fabric/movement.h"
#include "fabric/rate_gates.h"
#include "net/link/congestion_state.h"
#include "net/link/detail_counters.h"
#include "net/link/frame_crc.h"
#include "net/link/lane_credits.h"
#include "wire/congestion.h"
#include "wire/packet.h"
#include "wire/pkey.h"

enum {
	MARKS_OFFSET = 4, /* in the BTH */
	FECN = 0x80,
	BECN = 0x40,
	CNP_PAYLOAD_BYTES = 16,
};

/* The BTH of a frame whose headers were checked; NULL: a raw packet. */
static uint8_t *bth_of(struct frame *frame)
{
	unsigned lnh = frame->bytes[1] & 3;

	if (lnh < LNH_LOCAL)
		return NULL;
	return frame->bytes + LRH_BYTES + (lnh == LNH_GLOBAL ? GRH_BYTES : 0);
}

int congestion_control_set(struct fabric *fabric, enum congestion_switch to)
{
	int error = 0;

	for (uint32_t index = 0; index < fabric->node_count && !error; index++)
		error = agent_control_congestion(&fabric->agents, fabric->by_index[index], to);
	return error;
}

/* A switch's log is at its port 0. */
static void log_mark(struct port *output, const struct frame *frame, time_ns now)
{
	struct port *port = &output->node->ports[0];
	const struct congestion_event event = {
		.slid = get_be16(frame->bytes + LRH_SLID_OFFSET),
		.dlid = get_be16(frame->bytes + LRH_DLID_OFFSET),
		.sl = frame->bytes[1] >> 4,
		.time_stamp = congestion_time_stamp(now),
	};

	if (port_obtain_congestion(port) != 0)
		return;
	port_log_congestion(port, &event);
	if (port->congestion->log)
		port->congestion->log->port_map[output->number / 64] |= 1ull << output->number % 64;
}

void congestion_mark(struct fabric *fabric, struct port *output, struct frame *frame, time_ns now)
{
	uint8_t *bth = bth_of(frame);

	if (!bth ||
	    !port_marks_congestion(output, frame->vl, frame_credit_blocks(frame->byte_count), now))
		return;
	bth[MARKS_OFFSET] |= FECN;
	if (unlikely(frame->has_crcs))
		frame_renew_vcrc(frame);
	fabric->has_marks = true;
	log_mark(output, frame, now);
}

void congestion_count_marks(struct port *port, struct frame *frame)
{
	const uint8_t *bth = bth_of(frame);

	if (bth && bth[MARKS_OFFSET] & (FECN | BECN))
		port_count_marks(port, frame->header.sl, bth[MARKS_OFFSET] & FECN,
				 bth[MARKS_OFFSET] & BECN);
}

void congestion_set_becn(struct port *port, struct frame *frame)
{
	uint8_t *bth = bth_of(frame);

	if (port->congestion->becn_count && bth &&
	    congestion_take_becn(port->congestion, get_be16(frame->bytes + LRH_DLID_OFFSET),
				 frame->source_qpn))
		bth[MARKS_OFFSET] |= BECN;
}

/* UC and UD send no acknowledgements that could carry the BECN, so it gets a packet of its own. */
static void send_cnp(struct fabric *fabric, struct port *port, const struct packet *marked,
		     time_ns now)
{
	static uint8_t payload[CNP_PAYLOAD_BYTES];
	struct frame *frame = frame_take_for(&fabric->frames, FRAME_SMALL_BYTES);
	struct packet packet = {
		.lrh = {.sl = marked->lrh.sl, .dlid = marked->lrh.slid, .slid = port->info.lid},
		.bth = {.opcode = TRANSPORT_CNP, .pkey = marked->bth.pkey, .becn = true},
		.packet_count = 1,
		.has_grh = marked->has_grh,
		.grh = marked->grh,
	};

	/* No memory: the next marked packet brings another CNP. */
	if (!frame)
		return;
	packet.bth.destination_qpn = marked->deth.source_qpn;
	packet.grh.sgid = marked->grh.dgid;
	packet.grh.dgid = marked->grh.sgid;
	packet_set_payload(&packet, payload, sizeof(payload));
	frame->byte_count = (uint32_t)packet_encode(&packet, frame->bytes);
	if (!fabric_inject(fabric, port, frame, now))
		frame_give_back(&fabric->frames, frame);
}

static bool answers(uint8_t opcode)
{
	enum transport transport = opcode_transport(opcode);

	return transport == TRANSPORT_RC || transport == TRANSPORT_RD || transport == TRANSPORT_XRC;
}

/* The QP or EE context at this port that received the packet. It also sends the answers to it. */
static uint32_t receiver_of(const struct packet *packet)
{
	return opcode_transport(packet->bth.opcode) == TRANSPORT_RD ? packet->rdeth_eecn
								    : packet->bth.destination_qpn;
}

/* A BECN arrived: slows down the flow that met congestion. */
static void receive_becn(struct fabric *fabric, struct port *port, const struct packet *packet,
			 time_ns now)
{
	bool is_cnp = packet->bth.opcode == TRANSPORT_CNP;
	struct congestion_event event = {
		.slid = packet->lrh.slid,
		.dlid = packet->lrh.dlid,
		.sl = packet->lrh.sl,
		.local_qpn = receiver_of(packet),
		.time_stamp = congestion_time_stamp(now),
	};

	/* A CNP has a destination QP only for UD. */
	if (is_cnp)
		event.service_type =
			event.local_qpn ? CONGESTION_SERVICE_UD : CONGESTION_SERVICE_UC;
	if (port->congestion && rate_gate_slow_down(fabric, port, packet->lrh.slid, event.local_qpn,
						    packet->lrh.sl, now))
		port_log_congestion(port, &event);
}

static bool carries_congestion_bits(struct frame *frame)
{
	const uint8_t *bth = bth_of(frame);

	return bth && (bth[MARKS_OFFSET] & (FECN | BECN) || bth[0] == TRANSPORT_CNP);
}

bool congestion_receive(struct fabric *fabric, struct port *port, struct frame *frame, time_ns now)
{
	struct packet packet;

	if (!carries_congestion_bits(frame) ||
	    packet_decode(frame->bytes, frame->byte_count, 1, &packet) != PACKET_OK)
		return false;
	if (packet.bth.becn)
		receive_becn(fabric, port, &packet, now);
	if (packet.bth.opcode == TRANSPORT_CNP) {
		fabric_consume(fabric, port->node, frame);
		return true;
	}
	/* Multicast senders get no BECN (transport 8.13). */
	if (!packet.bth.fecn || lid_is_multicast(packet.lrh.dlid))
		return false;
	if (!answers(packet.bth.opcode))
		send_cnp(fabric, port, &packet, now);
	else if (port_obtain_congestion(port) == 0)
		congestion_queue_becn(port->congestion, packet.lrh.slid, receiver_of(&packet));
	return false;
}
