/* SPDX-License-Identifier: Apache-2.0 */
/* The commonest case, in as few steps as it needs: see express.h. */
#include "net/transport/express_headers.h"

#include <string.h>
#include "base/bytes.h"
#include "net/memory/memory.h"
#include "net/transport/addressing.h"
#include "net/transport/port_view.h"
#include "net/transport/report.h"
#include "net/transport/requester.h"
#include "net/transport/retry.h"
#include "wire/mtu.h"
#include "wire/packet.h"
#include "wire/pkey.h"

enum { BTH_ACK_REQUEST = 0x80 };

static_assert(OPCODE_SEND_ONLY_IMMEDIATE == (OPCODE_SEND_ONLY | 1),
	      "the lowest bit of the opcode says whether there is immediate data");

static inline bool sends_plainly(struct qp *qp)
{
	return likely(qp->express.sends == qp->environment->port_changes + 1) ||
	       express_work_out_sends(qp);
}

static inline bool has_psns(const struct requester *requester, uint32_t packet_count)
{
	return (uint32_t)psn_distance(requester->oldest_psn, requester->next_psn) + packet_count <=
	       PSNS_OUTSTANDING_MAX;
}

/* Of a message that is not empty. */
static inline uint32_t packets_of(const struct qp *qp, uint32_t byte_count)
{
	return (byte_count + qp->path_mtu - 1) / qp->path_mtu;
}

/* The request at the cursor has not been begun, and nothing but the program made it wait. */
static bool may_begin(const struct qp *qp, const struct send_slot *slot, uint32_t packet_count)
{
	const struct requester *requester = &qp->requester;

	if (qp->state != QP_RTS || requester->cursor != requester->queue.started ||
	    requester->rnr_deadline != TIME_NEVER || requester->hold != HOLD_NONE ||
	    qp->attributes.rate_limit || slot->fault ||
	    (slot->opcode != SEND_SEND && slot->opcode != SEND_SEND_IMMEDIATE))
		return false;
	if (qp->type != QP_RC)
		return true;
	if (requester->credits == CREDITS_COUNTED ||
	    ((slot->flags & SEND_FENCE) && requester->reads_outstanding))
		return false;
	return has_psns(requester, packet_count);
}

static bool find_payload(const struct qp *qp, struct send_slot *slot, const uint8_t **ret_payload)
{
	const struct sge *sge = send_slot_sges(slot);
	uint8_t *bytes = slot->data;

	*ret_payload = slot->data;
	if (slot->flags & SEND_INLINE || !slot->byte_count)
		return true;
	if (slot->sge_count != 1 ||
	    memory_resolve(qp->environment->memory, qp->pd, sge->lkey, sge->address,
			   sge->byte_count, 0, &bytes) != MEMORY_OK)
		return false;
	*ret_payload = bytes;
	return true;
}

static uint32_t largest_packet(const struct qp *qp)
{
	return qp->type == QP_UD ? mtu_bytes(qp->port->mtu_code) : qp->path_mtu;
}

/* The request at the cursor, if it is a SEND of so many bytes at most. */
static bool find_next(struct qp *qp, uint32_t byte_count_max, uint32_t packet_count,
		      struct express_packet *ret_packet)
{
	const struct requester *requester = &qp->requester;
	struct send_slot *slot = send_queue_slot(&requester->queue, requester->cursor);
	bool is_datagram = qp->type == QP_UD;

	if (!may_begin(qp, slot, packet_count) || slot->byte_count > byte_count_max)
		return false;
	if (is_datagram ? slot->address.is_global || !lid_is_unicast(slot->address.dlid)
			: !express_headers_are_known(qp))
		return false;
	if (!find_payload(qp, slot, &ret_packet->payload))
		return false;
	ret_packet->payload_bytes = slot->byte_count;
	ret_packet->header_bytes = EXPRESS_HEADER_BYTES + (is_datagram ? DETH_BYTES : 0) +
				   (slot->opcode == SEND_SEND_IMMEDIATE ? IMMEDIATE_BYTES : 0);
	ret_packet->byte_count = ret_packet->header_bytes + ((slot->byte_count + 3) & ~3u);
	ret_packet->packet_count = packet_count;
	ret_packet->is_pulled = false;
	return true;
}

bool express_next(struct qp *qp, struct express_packet *ret_packet)
{
	const struct requester *requester = &qp->requester;

	return requester->cursor != requester->queue.tail && express_is_plain_type(qp) &&
	       find_next(qp, largest_packet(qp), 1, ret_packet);
}

bool express_next_pulled(struct qp *qp, struct express_packet *ret_packet)
{
	const struct requester *requester = &qp->requester;
	const struct send_slot *slot;

	if (qp->type != QP_RC || qp->state != QP_RTS || requester->cursor == requester->queue.tail)
		return false;
	slot = send_queue_slot(&requester->queue, requester->cursor);
	if (!slot->byte_count || slot->flags & SEND_INLINE ||
	    !find_next(qp, EXPRESS_PULLED_BYTES_MAX, packets_of(qp, slot->byte_count), ret_packet))
		return false;
	ret_packet->is_pulled = true;
	return true;
}

/* What differs between the SENDs of a queue pair: the length, and opcode, solicited event and pad
 * count, which are 0 in what they have in common. */
static uint64_t lrh_length(uint32_t byte_count)
{
	return (uint64_t)((byte_count + ICRC_BYTES) / 4 & 0x7ff) << 16;
}

/* The same of one SEND, as its slot or the request says it; the last three: of a datagram. */
struct express_message {
	uint32_t opcode;
	uint32_t flags;
	uint32_t immediate;
	const struct address_vector *address;
	uint32_t qpn;
	uint32_t qkey;
};

static uint64_t bth_flags(const struct express_message *message, uint32_t payload_bytes)
{
	uint64_t has_immediate = message->opcode == SEND_SEND_IMMEDIATE;
	uint64_t is_solicited = (message->flags & SEND_SOLICITED) != 0;

	return has_immediate << 56 | is_solicited << 55 | (uint64_t)(-payload_bytes & 3) << 52;
}

/* And its pad bytes. */
static inline void write_payload(const struct express_packet *packet, uint8_t *ret_bytes)
{
	if (packet->payload_bytes == sizeof(uint64_t)) {
		memcpy(ret_bytes, packet->payload, sizeof(uint64_t));
		return;
	}
	if (packet->payload_bytes & 3)
		put_be32(ret_bytes + (packet->payload_bytes & ~3u), 0);
	memcpy(ret_bytes, packet->payload, packet->payload_bytes);
}

/* Of a request of a reliable connection: the last word of its BTH. */
static inline uint32_t rc_psn_word(const struct qp *qp)
{
	return (uint32_t)BTH_ACK_REQUEST << 24 | qp->requester.next_psn.value;
}

/* What follows the BTH, up to the last pad byte. */
static IN_LINE void write_rest(const struct qp *qp, const struct express_packet *packet,
			      const struct express_message *message, bool is_datagram,
			      uint8_t *ret_bytes)
{
	uint8_t *payload = ret_bytes + packet->header_bytes - EXPRESS_HEADER_BYTES;

	if (is_datagram) {
		put_be32(ret_bytes, qp_sent_qkey(qp, message->qkey));
		put_be32(ret_bytes + 4, qp->qpn & 0xffffff);
		ret_bytes += DETH_BYTES;
	}
	if (message->opcode == SEND_SEND_IMMEDIATE)
		memcpy(ret_bytes, &message->immediate, IMMEDIATE_BYTES);
	if (!packet->is_pulled)
		write_payload(packet, payload);
}

/* The packet with the next PSN. */
static IN_LINE void write_packet(const struct qp *qp, const struct express_packet *packet,
				const struct express_message *message, bool is_datagram,
				uint8_t *ret_bytes)
{
	uint64_t lrh = is_datagram ? express_lrh(qp, message->address) : qp->express.lrh;
	uint64_t bth = is_datagram ? express_bth(qp, message->qpn) : qp->express.bth;

	/* Trains say no length. */
	put_be64(ret_bytes, packet->packet_count > 1 ? lrh : lrh | lrh_length(packet->byte_count));
	put_be64(ret_bytes + LRH_BYTES, bth | bth_flags(message, packet->payload_bytes));
	put_be32(ret_bytes + LRH_BYTES + 8,
		 qp->type == QP_RC ? rc_psn_word(qp) : qp->requester.next_psn.value);
	write_rest(qp, packet, message, is_datagram, ret_bytes + EXPRESS_HEADER_BYTES);
}

/* The packet of the slot at the cursor has been written: it is sent. */
static inline void advance(struct qp *qp, time_ns now, struct send_slot *slot,
			   const struct express_packet *packet)
{
	struct requester *requester = &qp->requester;

	slot->first_psn = requester->next_psn;
	slot->packet_count = packet->packet_count;
	if (packet->is_pulled)
		requester->has_lent = true;
	requester->queue.started++;
	requester->cursor++;
	requester->next_psn = psn_add(requester->next_psn, packet->packet_count);
	/* A SEND takes one of the peer's requests, whether those are counted or not. */
	requester->messages_started = psn_add(requester->messages_started, 1);
	if (qp->type == QP_RC) {
		if (requester->retry_deadline == TIME_NEVER && qp->attributes.timeout)
			requester->retry_deadline = RETRY_UNDATED;
		return;
	}
	requester->oldest_psn = requester->next_psn;
	if (unlikely(packet->is_pulled))
		slot->flags |= SEND_LENT;
	else if (likely(requester->queue.started - requester->queue.done == 1))
		report_send(qp, now, COMPLETION_SUCCESS);
	qp_settle(qp, now);
}

void express_loan_returned(struct qp *qp, time_ns now)
{
	const struct send_queue *queue = &qp->requester.queue;

	/* The oldest that is not done is lent, or it would be done; others waited behind it. */
	do
		report_send(qp, now, COMPLETION_SUCCESS);
	while (queue->done != queue->started &&
	       !(send_queue_slot(queue, queue->done)->flags & SEND_LENT));
	report_drain(qp);
	qp_settle(qp, now);
}

void express_write(struct qp *qp, time_ns now, const struct express_packet *packet,
		   uint8_t *ret_bytes)
{
	struct send_slot *slot = send_queue_slot(&qp->requester.queue, qp->requester.cursor);
	const struct express_message message = {
		.opcode = slot->opcode,
		.flags = slot->flags,
		.immediate = slot->immediate_or_rkey,
		.address = &slot->address,
		.qpn = slot->remote_qpn,
		.qkey = slot->remote_qkey,
	};

	write_packet(qp, packet, &message, qp->type == QP_UD, ret_bytes);
	advance(qp, now, slot, packet);
}

/* Whether it is the next thing to transmit, as far as what changes with each request goes. */
static inline bool is_next(const struct qp *qp, const struct send_request *request)
{
	const struct requester *requester = &qp->requester;
	const struct send_queue *queue = &requester->queue;

	return queue->started == queue->tail && requester->cursor == queue->tail &&
	       queue->tail - queue->head < queue->requests_max &&
	       requester->rnr_deadline == TIME_NEVER && requester->hold == HOLD_NONE &&
	       !(request->flags & SEND_FENCE) &&
	       (!(request->flags & SEND_INLINE) ||
		request->sges[0].byte_count <= queue->inline_bytes_max);
}

/* These two: sufficient for qp_post_send to take it, and for it to be the next thing to transmit. */
static inline bool may_post_datagram(const struct qp *qp, const struct send_request *request)
{
	return qp->state == QP_RTS && !qp->attributes.rate_limit && qp->requester.queue.sges_max &&
	       is_next(qp, request) && request->address && request->address_pd == qp->pd &&
	       !request->address->is_global && lid_is_unicast(request->address->dlid);
}

static inline bool may_post_connected(struct qp *qp, const struct send_request *request,
				      uint32_t packet_count)
{
	return sends_plainly(qp) && is_next(qp, request) &&
	       (qp->type != QP_RC || (qp->requester.credits != CREDITS_COUNTED &&
				      has_psns(&qp->requester, packet_count)));
}

static IN_LINE bool find_posted(struct qp *qp, const struct send_request *request,
				bool is_datagram, uint32_t byte_count_max,
				uint32_t packet_count, struct express_packet *ret_packet)
{
	const struct sge *sge = request->sges;
	bool has_immediate = request->opcode == SEND_SEND_IMMEDIATE;

	if (unlikely((request->opcode != SEND_SEND && !has_immediate) || request->sge_count != 1 ||
		     sge->byte_count > byte_count_max))
		return false;
	if (unlikely(is_datagram ? !may_post_datagram(qp, request)
				 : !may_post_connected(qp, request, packet_count)))
		return false;
	ret_packet->payload = (const uint8_t *)(uintptr_t)sge->address;
	if (!(request->flags & SEND_INLINE) && likely(sge->byte_count)) {
		ret_packet->payload = memory_place(qp->environment->memory, qp->pd, sge->lkey,
						   sge->address, sge->byte_count, 0);
		if (unlikely(!ret_packet->payload))
			return false;
	}
	ret_packet->payload_bytes = sge->byte_count;
	ret_packet->header_bytes = EXPRESS_HEADER_BYTES + (is_datagram ? DETH_BYTES : 0) +
				   (has_immediate ? IMMEDIATE_BYTES : 0);
	ret_packet->byte_count = ret_packet->header_bytes + ((sge->byte_count + 3) & ~3u);
	ret_packet->packet_count = packet_count;
	ret_packet->is_pulled = false;
	return true;
}

bool express_may_post(struct qp *qp, const struct send_request *request,
		      struct express_packet *ret_packet)
{
	if (qp->type == QP_UD)
		return find_posted(qp, request, true, largest_packet(qp), 1, ret_packet);
	return find_posted(qp, request, false, qp->path_mtu, 1, ret_packet);
}

bool express_may_post_pulled(struct qp *qp, const struct send_request *request,
			     struct express_packet *ret_packet)
{
	uint32_t byte_count = request->sges[0].byte_count;

	if (qp->type != QP_RC || qp->state != QP_RTS || !byte_count ||
	    request->flags & SEND_INLINE ||
	    !find_posted(qp, request, false, EXPRESS_PULLED_BYTES_MAX,
			 packets_of(qp, byte_count), ret_packet))
		return false;
	ret_packet->is_pulled = true;
	return true;
}

/* Of a connection; without immediate data. */
static void remember_headers(const struct qp *qp, const struct send_request *request,
			     const struct express_packet *packet, const uint8_t *headers)
{
	struct express_sent *sent = express_sent(qp);

	*sent = (struct express_sent){
		.qp = qp,
		.payload_bytes = packet->payload_bytes,
		.flags = request->flags,
	};
	memcpy(sent->bytes, headers, sizeof(sent->bytes));
}

static void post_packet(const struct qp *qp, const struct send_request *request,
			const struct express_packet *packet, uint8_t *ret_bytes)
{
	const struct express_message message = {
		.opcode = request->opcode,
		.flags = request->flags,
		.immediate = request->immediate_or_rkey,
		.address = request->address,
		.qpn = request->remote_qpn,
		.qkey = request->remote_qkey,
	};

	write_packet(qp, packet, &message, qp->type == QP_UD, ret_bytes);
	if (qp->type == QP_RC && request->opcode == SEND_SEND && !packet->is_pulled)
		remember_headers(qp, request, packet, ret_bytes);
}

void express_post_packet(const struct qp *qp, const struct send_request *request,
			 const struct express_packet *packet, uint8_t *ret_bytes)
{
	const struct express_sent *sent = express_sent(qp);

	if (unlikely(sent->qp != qp || sent->payload_bytes != packet->payload_bytes ||
		     sent->flags != request->flags || request->opcode != SEND_SEND ||
		     packet->is_pulled)) {
		post_packet(qp, request, packet, ret_bytes);
		return;
	}
	memcpy(ret_bytes, sent->bytes, sizeof(sent->bytes));
	put_be32(ret_bytes + sizeof(sent->bytes), rc_psn_word(qp));
	write_payload(packet, ret_bytes + EXPRESS_HEADER_BYTES);
}

/* The slot has what a retransmission or the completion needs; of a datagram, only the latter. */
void express_post_request(struct qp *qp, time_ns now, const struct send_request *request,
			  const struct express_packet *packet)
{
	struct send_queue *queue = &qp->requester.queue;
	struct send_slot *slot = send_queue_slot(queue, queue->tail);

	slot->wr_id = request->wr_id;
	slot->immediate_or_rkey = request->immediate_or_rkey;
	slot->byte_count = packet->payload_bytes;
	slot->opcode = (uint8_t)request->opcode;
	slot->flags = (uint8_t)(request->flags & SEND_FLAGS);
	slot->fault = COMPLETION_SUCCESS;
	slot->sge_count = !(request->flags & SEND_INLINE);
	if (slot->sge_count)
		*send_slot_sges(slot) = request->sges[0];
	else if (qp->type == QP_RC)
		express_copy(slot->data, packet->payload, packet->payload_bytes);
	queue->tail++;
	advance(qp, now, slot, packet);
}
