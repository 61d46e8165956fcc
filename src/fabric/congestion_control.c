/* SPDX-License-Identifier: Apache-2.0 */
/* Congestion control in the fabric: marks, and what follows from them (vol 1, annex A10). */
#include "fabric/congestion_control.h"

#include "base/bytes.h"
#include "fabric/movement.h"
#include "fabric/rate_gates.h"
#include "net/link/congestion.h"
#include "net/link/frame_crc.h"
#include "net/link/port_queues.h"
#include "wire/packet.h"
#include "wire/pkey.h"

enum {
	DLID_OFFSET = 2,
	MARKS_OFFSET = 4, /* in the BTH */
	FECN = 0x80,
	BECN = 0x40,
	CNP_PAYLOAD_BYTES = 16,
};

/* The BTH of a frame whose headers were checked; NULL: raw. */
static uint8_t *bth_of(struct frame *frame)
{
	unsigned lnh = frame->bytes[1] & 3;

	if (lnh < LNH_LOCAL)
		return NULL;
	return frame->bytes + LRH_BYTES + (lnh == LNH_GLOBAL ? GRH_BYTES : 0);
}

void congestion_mark(struct port *output, struct frame *frame)
{
	uint8_t *bth = bth_of(frame);

	if (!bth ||
	    !port_marks_congestion(output, frame->vl, frame_credit_blocks(frame->byte_count)))
		return;
	bth[MARKS_OFFSET] |= FECN;
	frame_renew_vcrc(frame);
}

void congestion_tell(struct port *port, struct frame *frame)
{
	uint8_t *bth = bth_of(frame);

	if (port->congestion->becn_count && bth &&
	    congestion_pay_becn(port->congestion, get_be16(frame->bytes + DLID_OFFSET)))
		bth[MARKS_OFFSET] |= BECN;
}

/* Services that answer nothing need a packet of its own. */
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

	/* The next marked packet tries again. */
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

bool congestion_hear(struct fabric *fabric, struct port *port, struct frame *frame, time_ns now)
{
	struct packet packet;

	if (packet_decode(frame->bytes, frame->byte_count, 1, &packet) != PACKET_OK)
		return false;
	if (packet.bth.becn)
		rate_gate_slow_down(fabric, port, packet.lrh.slid, now);
	if (packet.bth.opcode == TRANSPORT_CNP) {
		fabric_consume(fabric, port->node, frame);
		return true;
	}
	/* Nobody is told of a group's congestion. */
	if (!packet.bth.fecn || lid_is_multicast(packet.lrh.dlid))
		return false;
	if (answers(packet.bth.opcode))
		congestion_owe_becn(port->congestion, packet.lrh.slid);
	else
		send_cnp(fabric, port, &packet, now);
	return false;
}
