/* SPDX-License-Identifier: Apache-2.0 */
/* A posted request as packets (vol 1, chapter 9). */
#include "net/transport/request_packet.h"

#include "net/memory/gaps.h"
#include "net/transport/addressing.h"
#include "net/transport/rd/rd_hooks.h"
#include "net/transport/requester.h"
#include "net/transport/send_queue.h"
#include "wire/packet.h"
#include "wire/pkey.h"

/* A long message asks for an ACK at least this often (transport 4.2). */
enum { PACKETS_PER_ACK = 64 };

/* The opcodes of a message, by the position of a packet or train in it. */
struct request_opcodes {
	uint8_t first, middle, last, only;
};

static const struct request_opcodes request_opcodes[] = {
	[SEND_RDMA_WRITE] = {OPCODE_WRITE_FIRST, OPCODE_WRITE_MIDDLE, OPCODE_WRITE_LAST,
			     OPCODE_WRITE_ONLY},
	[SEND_RDMA_WRITE_IMMEDIATE] = {OPCODE_WRITE_FIRST, OPCODE_WRITE_MIDDLE,
				       OPCODE_WRITE_LAST_IMMEDIATE, OPCODE_WRITE_ONLY_IMMEDIATE},
	[SEND_SEND] = {OPCODE_SEND_FIRST, OPCODE_SEND_MIDDLE, OPCODE_SEND_LAST, OPCODE_SEND_ONLY},
	[SEND_SEND_IMMEDIATE] = {OPCODE_SEND_FIRST, OPCODE_SEND_MIDDLE, OPCODE_SEND_LAST_IMMEDIATE,
				 OPCODE_SEND_ONLY_IMMEDIATE},
	[SEND_RDMA_READ] = {0, 0, 0, OPCODE_READ_REQUEST},
	[SEND_COMPARE_SWAP] = {0, 0, 0, OPCODE_COMPARE_SWAP},
	[SEND_FETCH_ADD] = {0, 0, 0, OPCODE_FETCH_ADD},
	[SEND_SEND_INVALIDATE] = {OPCODE_SEND_FIRST, OPCODE_SEND_MIDDLE,
				  OPCODE_SEND_LAST_INVALIDATE, OPCODE_SEND_ONLY_INVALIDATE},
};

uint32_t request_destination_qpn(const struct send_slot *slot)
{
	return lid_is_multicast(slot->address.dlid) ? QPN_MULTICAST : slot->remote_qpn;
}

bool request_has_pages(const struct qp *qp, struct send_slot *slot, uint32_t train_bytes_max)
{
	const struct memory *memory = qp->environment->memory;
	const uint32_t mtu = request_mtu(qp);
	uint64_t from = (uint64_t)qp->requester.cursor_packet * mtu;
	uint64_t left = train_bytes_max > mtu ? train_bytes_max : mtu;

	if (send_slot_is_read_or_atomic(slot) || slot->flags & SEND_INLINE)
		return true;
	for (uint32_t i = 0; i < slot->sge_count && left; i++) {
		const struct span *span = &send_slot_spans(slot)[i];
		uint64_t piece;

		if (from >= span->byte_count) {
			from -= span->byte_count;
			continue;
		}
		piece = span->byte_count - from < left ? span->byte_count - from : left;
		if (!memory_has_pages(memory, span->bytes + from, piece))
			return false;
		left -= piece;
		from = 0;
	}
	return true;
}

uint32_t request_next_payload_bytes(const struct qp *qp, const struct send_slot *slot)
{
	uint32_t mtu = request_mtu(qp);
	uint32_t rest = slot->byte_count - qp->requester.cursor_packet * mtu;

	if (send_slot_is_read_or_atomic(slot))
		return 0;
	return rest < mtu ? rest : mtu;
}

void request_set_payload(struct send_slot *slot, uint32_t offset, uint32_t byte_count,
			 struct packet *ret_packet)
{
	if (slot->flags & SEND_INLINE) {
		packet_set_payload(ret_packet, slot->data + offset, byte_count);
	} else if (slot->sge_count == 1) {
		packet_set_payload(ret_packet, send_slot_spans(slot)->bytes + offset, byte_count);
	} else {
		ret_packet->payload.spans = send_slot_spans(slot);
		ret_packet->payload.span_count = slot->sge_count;
		ret_packet->payload.byte_count = byte_count;
		ret_packet->payload.offset = offset;
	}
}

static bool may_be_solicited(uint8_t send_opcode)
{
	return send_opcode != SEND_RDMA_WRITE;
}

/* Builds the next train of a SEND or WRITE; returns its number of packets. */
static uint32_t build_message(const struct qp *qp, struct send_slot *slot, uint32_t train_bytes_max,
			      struct packet *ret_packet)
{
	const struct request_opcodes *opcodes = &request_opcodes[slot->opcode];
	uint32_t mtu = request_mtu(qp);
	uint32_t index = qp->requester.cursor_packet;
	uint32_t count = train_bytes_max >= 2 * mtu ? train_bytes_max / mtu : 1;
	bool starts = index == 0;

	if (count > slot->packet_count - index)
		count = slot->packet_count - index;

	bool ends = index + count == slot->packet_count;
	uint32_t offset = index * mtu;
	struct bth *bth = &ret_packet->bth;

	bth->opcode = starts ? (ends ? opcodes->only : opcodes->first)
			     : (ends ? opcodes->last : opcodes->middle);
	bth->solicited = ends && (slot->flags & SEND_SOLICITED) && may_be_solicited(slot->opcode);
	bth->ack_request =
		qp_is_reliable(qp) &&
		((ends &&
		  requester_asks(qp, slot->flags, psn_add(slot->first_psn, slot->packet_count))) ||
		 /* A paced message may pause after any packet, for longer than the ACK timeout. */
		 qp->attributes.rate_limit ||
		 index / PACKETS_PER_ACK != (index + count) / PACKETS_PER_ACK);
	ret_packet->packet_count = count;
	ret_packet->immediate = slot->immediate_or_rkey;
	ret_packet->invalidate_rkey = slot->immediate_or_rkey;
	if (qp->type != QP_UD)
		ret_packet->reth = (struct reth){
			.address = slot->remote_address,
			.rkey = slot->remote_key,
			.bytes = slot->byte_count,
		};
	request_set_payload(slot, offset, ends ? slot->byte_count - offset : count * mtu,
			    ret_packet);
	return count;
}

/* Builds a READ request for the part that is still missing. The responses use all the PSNs that the
 * READ has left (transport 4.4). */
static uint32_t build_read(const struct qp *qp, const struct send_slot *slot,
			   struct packet *ret_packet)
{
	uint32_t index = qp->requester.cursor_packet;
	uint32_t offset = index * qp->path_mtu;

	ret_packet->bth.opcode = OPCODE_READ_REQUEST;
	ret_packet->bth.ack_request = true;
	ret_packet->reth = (struct reth){
		.address = slot->remote_address + offset,
		.rkey = slot->remote_key,
		.bytes = slot->byte_count - offset,
	};
	return slot->packet_count - index;
}

static uint32_t build_atomic(const struct send_slot *slot, struct packet *ret_packet)
{
	bool is_swap = slot->opcode == SEND_COMPARE_SWAP;

	ret_packet->bth.opcode = request_opcodes[slot->opcode].only;
	ret_packet->bth.ack_request = true;
	ret_packet->atomic_eth = (struct atomic_eth){
		.address = slot->remote_address,
		.rkey = slot->remote_key,
		.swap_or_add = is_swap ? slot->swap : slot->compare_or_add,
		.compare = is_swap ? slot->compare_or_add : 0,
	};
	return 1;
}

/* FLUSH and ATOMIC WRITE: one packet, without payload or with eight bytes. */
static uint32_t build_placement(struct send_slot *slot, struct packet *ret_packet)
{
	bool is_flush = slot->opcode == SEND_FLUSH;

	ret_packet->bth.opcode = is_flush ? OPCODE_FLUSH : OPCODE_ATOMIC_WRITE;
	ret_packet->bth.ack_request = true;
	ret_packet->reth = (struct reth){
		.address = slot->remote_address,
		.rkey = slot->remote_key,
		.bytes = is_flush ? slot->flush_byte_count : slot->byte_count,
	};
	if (is_flush)
		ret_packet->feth = (struct feth){
			.selectivity = slot->flush_selectivity,
			.placement = slot->flush_placement,
		};
	else
		request_set_payload(slot, 0, slot->byte_count, ret_packet);
	return 1;
}

static uint32_t build_resync(struct packet *ret_packet)
{
	ret_packet->bth.opcode = OPCODE_RESYNC;
	ret_packet->bth.ack_request = true;
	return 1;
}

static void address_request(const struct qp *qp, const struct send_slot *slot,
			    struct packet *ret_packet)
{
	if (qp->type != QP_UD) {
		packet_address(qp, &qp->attributes.address, qp->attributes.destination_qpn,
			       ret_packet);
		ret_packet->xrc_srqn = slot->remote_srqn;
		if (unlikely(qp->type == QP_EEC))
			qp->environment->rd->address_request(qp, ret_packet);
		return;
	}
	packet_address(qp, &slot->address, request_destination_qpn(slot), ret_packet);
	ret_packet->deth = (struct deth){
		.qkey = qp_sent_qkey(qp, slot->remote_qkey),
		.source_qpn = qp->qpn,
	};
}

void request_build(const struct qp *qp, struct send_slot *slot, uint32_t train_bytes_max,
		   struct packet *ret_packet, uint32_t *ret_psn_count)
{
	if (unlikely(qp_type_is_raw(qp->type))) {
		raw_address(qp, slot, ret_packet);
		request_set_payload(slot, 0, slot->byte_count, ret_packet);
		*ret_psn_count = 1;
		return;
	}
	address_request(qp, slot, ret_packet);
	if (slot->opcode == SEND_RDMA_READ)
		*ret_psn_count = build_read(qp, slot, ret_packet);
	else if (send_slot_is_atomic(slot))
		*ret_psn_count = build_atomic(slot, ret_packet);
	else if (unlikely(send_slot_is_placement(slot)))
		*ret_psn_count = build_placement(slot, ret_packet);
	else if (unlikely(slot->opcode == SEND_RESYNC))
		*ret_psn_count = build_resync(ret_packet);
	else
		*ret_psn_count = build_message(qp, slot, train_bytes_max, ret_packet);
	ret_packet->bth.opcode |= qp_transport(qp);
	ret_packet->bth.psn = psn_add(slot->first_psn, qp->requester.cursor_packet);
}
