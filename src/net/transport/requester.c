/* SPDX-License-Identifier: Apache-2.0 */
/* The requester's sending side (vol 1, chapter 9). */
#include "net/transport/requester.h"

#include "net/memory/memory.h"
#include "net/transport/addressing.h"
#include "net/transport/credits.h"
#include "net/transport/eec.h"
#include "net/transport/local_operation.h"
#include "net/transport/pacing.h"
#include "net/transport/port_view.h"
#include "net/transport/qp.h"
#include "net/transport/raw.h"
#include "net/transport/report.h"
#include "net/transport/retry.h"
#include "wire/mtu.h"
#include "wire/packet.h"
#include "wire/pkey.h"

enum {
	/* In a long message an ACK is asked for at least this often. */
	PACKETS_PER_ACK = 64,
	ATOMIC_BYTES = 8,
};

/* Opcodes of a message by where in it a packet or train stands. */
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

static uint32_t outbound_mtu(const struct qp *qp)
{
	if (unlikely(qp_type_is_raw(qp->type)))
		return raw_bytes_max(qp);
	return qp->type == QP_UD ? mtu_bytes(qp->port->mtu_code) : qp->path_mtu;
}

static uint32_t slot_packets(const struct send_slot *slot, uint32_t mtu)
{
	if (send_slot_is_atomic(slot) || slot->byte_count <= mtu)
		return 1;
	return (slot->byte_count + mtu - 1) / mtu;
}

uint32_t requester_slot_packets(const struct qp *qp, const struct send_slot *slot)
{
	return slot_packets(slot, outbound_mtu(qp));
}

/* Whether order, fences and the peer's resources let the next request begin. */
static bool may_start(const struct qp *qp, const struct send_slot *slot)
{
	const struct requester *requester = &qp->requester;

	/* What a context has begun, it also ends. */
	if (qp->state != QP_RTS && slot->opcode != SEND_RESYNC)
		return false;
	if (!qp_is_reliable(qp))
		return true;
	if ((slot->flags & SEND_FENCE) && requester->reads_outstanding)
		return false;
	if (send_slot_is_answered(slot) && requester->reads_outstanding &&
	    requester->reads_outstanding >= qp->attributes.initiator_depth)
		return false;
	if (!credits_allow(qp, slot))
		return false;

	uint32_t outstanding = (uint32_t)psn_distance(requester->oldest_psn, requester->next_psn);

	return outstanding + slot_packets(slot, qp->path_mtu) <= PSNS_OUTSTANDING_MAX;
}

bool requester_is_ready(const struct qp *qp)
{
	const struct requester *requester = &qp->requester;
	const struct send_queue *queue = &requester->queue;

	if (requester->cursor == queue->tail || requester->rnr_deadline != TIME_NEVER ||
	    unlikely(requester->pacing_deadline != TIME_NEVER))
		return false;
	if (qp->state != QP_RTS && qp->state != QP_SQD)
		return false;
	if (unlikely(requester->hold) && requester->cursor == queue->started &&
	    (requester->hold == HOLD_ALL || requester->cursor != queue->done))
		return false;

	const struct send_slot *slot = send_queue_slot(queue, requester->cursor);

	/* What fails here is reported only after all that was posted before it. What the adapter
	 * does itself is ordered after all that, too: resending must never do it again. */
	if (unlikely(slot->fault || send_slot_is_local(slot)) && requester->cursor != queue->done)
		return false;
	return requester->cursor != queue->started || may_start(qp, slot);
}

static uint32_t datagram_destination(const struct send_slot *slot)
{
	return lid_is_multicast(slot->address.dlid) ? QPN_MULTICAST : slot->remote_qpn;
}

void requester_route(const struct qp *qp, struct qp_route *ret_route)
{
	const struct address_vector *address = &qp->attributes.address;
	uint32_t destination_qpn = qp->attributes.destination_qpn;

	if (qp_is_datagram(qp)) {
		const struct send_slot *slot =
			send_queue_slot(&qp->requester.queue, qp->requester.cursor);

		address = &slot->address;
		destination_qpn = datagram_destination(slot);
	}
	*ret_route = (struct qp_route){
		.port_number = qp->port->number,
		.sl = address->sl,
		.static_rate = address->static_rate,
		.leaves_subnet = address_leaves_subnet(qp->port, address),
		.dlid = address->dlid,
		.pkey = qp_pkey(qp),
		.destination_qpn = destination_qpn,
	};
}

/* Checks the local keys as they are now, and leaves in the slot's spans where the bytes are. */
static enum completion_status resolve_sges(const struct qp *qp, struct send_slot *slot)
{
	const struct sge *sges = send_slot_sges(slot);
	struct span *spans = send_slot_spans(slot);
	uint32_t access = send_slot_is_read_or_atomic(slot) ? ACCESS_LOCAL_WRITE : 0;

	for (uint32_t i = 0; i < slot->sge_count; i++) {
		spans[i].byte_count = sges[i].byte_count;
		spans[i].bytes = slot->data;
		/* No bytes, so no key to check, and no place that matters. */
		if (!sges[i].byte_count)
			continue;
		if (memory_resolve(qp->environment->memory, qp->pd, sges[i].lkey, sges[i].address,
				   sges[i].byte_count, access, &spans[i].bytes) != MEMORY_OK)
			return COMPLETION_LOCAL_PROTECTION;
	}
	return COMPLETION_SUCCESS;
}

static void set_payload(struct send_slot *slot, uint32_t offset, uint32_t byte_count,
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

/* The consumer's own headers are among the bytes. */
static enum completion_status raw_slot_fault(const struct qp *qp, struct send_slot *slot)
{
	enum completion_status status = raw_check_length(qp, slot->byte_count);
	struct packet packet;

	if (status == COMPLETION_SUCCESS)
		status = resolve_sges(qp, slot);
	if (status != COMPLETION_SUCCESS)
		return status;
	set_payload(slot, 0, slot->byte_count, &packet);
	return raw_check_headers(qp, &packet.payload);
}

/* Why this request can't be sent, before any byte of it is touched. */
enum completion_status requester_slot_fault(const struct qp *qp, struct send_slot *slot)
{
	if (slot->fault)
		return slot->fault;
	if (unlikely(qp_type_is_raw(qp->type)))
		return raw_slot_fault(qp, slot);
	if (qp->type == QP_UD && slot->byte_count > outbound_mtu(qp))
		return COMPLETION_LOCAL_LENGTH;
	if (send_slot_is_answered(slot) && qp->attributes.initiator_depth == 0)
		return qp->type == QP_EEC ? COMPLETION_LOCAL_EEC_OPERATION
					  : COMPLETION_LOCAL_QP_OPERATION;
	if (slot->opcode == SEND_ATOMIC_WRITE && slot->byte_count != ATOMIC_BYTES)
		return COMPLETION_LOCAL_LENGTH;
	if (slot->opcode == SEND_FLUSH && slot->byte_count)
		return COMPLETION_LOCAL_QP_OPERATION;
	if (send_slot_is_atomic(slot) && slot->byte_count < ATOMIC_BYTES)
		return COMPLETION_LOCAL_LENGTH;
	return resolve_sges(qp, slot);
}

void requester_start(struct qp *qp, struct send_slot *slot)
{
	struct requester *requester = &qp->requester;

	slot->first_psn = requester->next_psn;
	slot->packet_count = requester_slot_packets(qp, slot);
	requester->queue.started++;
	credits_use(qp, slot);
	if (send_slot_is_answered(slot))
		requester->reads_outstanding++;
}

static bool may_be_solicited(uint8_t send_opcode)
{
	return send_opcode != SEND_RDMA_WRITE;
}

/* The next train of a SEND or WRITE; says how many packets it stands for. */
static uint32_t build_message(const struct qp *qp, struct send_slot *slot, uint32_t train_bytes_max,
			      struct packet *ret_packet)
{
	const struct request_opcodes *opcodes = &request_opcodes[slot->opcode];
	uint32_t mtu = outbound_mtu(qp);
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
	/* What is paced may stop after any packet, for longer than the peer's answer may take. */
	bth->ack_request = qp_is_reliable(qp) &&
			   (ends || qp->attributes.rate_limit ||
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
	set_payload(slot, offset, ends ? slot->byte_count - offset : count * mtu, ret_packet);
	return count;
}

/* A READ asks for what is still missing of it. Answers take up all the PSNs it has left. */
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

/* One packet, with the eight bytes or with none. */
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
		set_payload(slot, 0, slot->byte_count, ret_packet);
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
			eec_address_request(qp, ret_packet);
		return;
	}
	packet_address(qp, &slot->address, datagram_destination(slot), ret_packet);
	ret_packet->deth = (struct deth){
		.qkey = qp_sent_qkey(qp, slot->remote_qkey),
		.source_qpn = qp->qpn,
	};
}

static void build(const struct qp *qp, struct send_slot *slot, uint32_t train_bytes_max,
		  struct packet *ret_packet, uint32_t *ret_psn_count)
{
	if (unlikely(qp_type_is_raw(qp->type))) {
		raw_address(qp, slot, ret_packet);
		set_payload(slot, 0, slot->byte_count, ret_packet);
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

/* Of the packet at the cursor. */
static uint32_t next_payload_bytes(const struct qp *qp, const struct send_slot *slot)
{
	uint32_t mtu = outbound_mtu(qp);
	uint32_t rest = slot->byte_count - qp->requester.cursor_packet * mtu;

	if (send_slot_is_read_or_atomic(slot))
		return 0;
	return rest < mtu ? rest : mtu;
}

static void build_paced(struct qp *qp, time_ns now, struct send_slot *slot,
			uint32_t train_bytes_max, struct packet *ret_packet,
			uint32_t *ret_psn_count)
{
	if (likely(!qp->attributes.rate_limit)) {
		build(qp, slot, train_bytes_max, ret_packet, ret_psn_count);
		return;
	}
	build(qp, slot, pacing_train_bytes(qp, now, train_bytes_max), ret_packet, ret_psn_count);
	pacing_charge(qp, now, ret_packet);
}

static void advance(struct qp *qp, time_ns now, const struct send_slot *slot, uint32_t psn_count)
{
	struct requester *requester = &qp->requester;
	struct psn end = psn_add(slot->first_psn, requester->cursor_packet + psn_count);

	if (psn_before(requester->next_psn, end))
		requester->next_psn = end;
	requester->cursor_packet += psn_count;
	if (requester->cursor_packet < slot->packet_count)
		return;
	requester->cursor++;
	requester->cursor_packet = 0;
	if (qp_is_reliable(qp))
		return;
	/* Nobody will answer: it is done when it is on its way. */
	requester->oldest_psn = requester->next_psn;
	report_send(qp, now, COMPLETION_SUCCESS);
	report_drain(qp);
}

static bool goes_where_the_first_goes(const struct qp *qp, const struct qp_route *first)
{
	struct qp_route route;

	if (!qp_is_datagram(qp))
		return true;
	requester_route(qp, &route);
	return route.dlid == first->dlid && route.sl == first->sl &&
	       route.static_rate == first->static_rate &&
	       route.leaves_subnet == first->leaves_subnet &&
	       route.destination_qpn == first->destination_qpn;
}

unsigned requester_transmit(struct qp *qp, time_ns now, unsigned packets_max,
			    uint32_t train_bytes_max, struct packet ret_packets[])
{
	struct requester *requester = &qp->requester;
	const struct send_slot *checked = NULL;
	struct qp_route first;
	unsigned count = 0;

	while (count < packets_max && requester_is_ready(qp)) {
		struct send_slot *slot = send_queue_slot(&requester->queue, requester->cursor);
		uint32_t psn_count;

		if (!count)
			requester_route(qp, &first);
		else if (!goes_where_the_first_goes(qp, &first))
			break;
		if (unlikely(send_slot_is_local(slot))) {
			if (!local_operation_execute(qp, now, slot))
				break;
			continue;
		}
		if (slot != checked)
			slot->fault = (uint8_t)requester_slot_fault(qp, slot);
		checked = slot;
		if (unlikely(slot->fault)) {
			if (requester->cursor == requester->queue.done)
				report_send_failure(qp, now, slot->fault);
			break;
		}
		if (unlikely(qp->attributes.rate_limit) &&
		    !pacing_allows(qp, now, next_payload_bytes(qp, slot)))
			break;
		if (requester->cursor == requester->queue.started)
			requester_start(qp, slot);
		build_paced(qp, now, slot, train_bytes_max, &ret_packets[count], &psn_count);
		count++;
		advance(qp, now, slot, psn_count);
	}
	if (count && qp_is_reliable(qp))
		retry_watch(qp, now);
	return count;
}
