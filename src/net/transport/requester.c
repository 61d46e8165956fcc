/* SPDX-License-Identifier: Apache-2.0 */
/* The requester's sending side (vol 1, chapter 9). */
#include "net/transport/requester.h"

#include "net/memory/memory.h"
#include "net/transport/addressing.h"
#include "net/transport/credits.h"
#include "net/transport/local_operation.h"
#include "net/transport/pacing.h"
#include "net/transport/port_view.h"
#include "net/transport/qp_error.h"
#include "net/transport/qp_state.h"
#include "net/transport/raw.h"
#include "net/transport/report.h"
#include "net/transport/request_packet.h"
#include "net/transport/retry.h"
#include "wire/packet.h"

/* At most one part in this of a send queue may be requests that did not ask for an ACK. */
enum { UNASKED_SHARE = 4 };

/* Whether order, fences and the peer's resources let the next request start (transport 4.5). */
static bool may_start(const struct qp *qp, const struct send_slot *slot)
{
	const struct requester *requester = &qp->requester;

	/* An EE context in SQD still sends the RESYNC for a message that it has started. */
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

	return outstanding + request_packet_count(qp, slot) <= PSNS_OUTSTANDING_MAX;
}

/* Such a request starts when all before it are acknowledged. */
static bool waits_for_acks(const struct send_slot *slot)
{
	return slot->fault || send_slot_is_local(slot);
}

static bool next_waits_for_acks(const struct requester *requester)
{
	const struct send_queue *queue = &requester->queue;
	const uint32_t next = requester->cursor + 1;

	return (int32_t)(queue->tail - next) > 0 && waits_for_acks(send_queue_slot(queue, next));
}

bool requester_asks(const struct qp *qp, uint32_t flags, struct psn end)
{
	const struct requester *requester = &qp->requester;
	bool is_resent = !psn_before(requester->next_psn, end);
	uint32_t unasked = (uint32_t)psn_distance(requester->asked_psn, end);

	return qp->signal_all || flags & (SEND_SIGNALED | SEND_BY_ADAPTER) || qp->asks_always ||
	       is_resent || qp->type == QP_EEC || !qp->attributes.timeout ||
	       requester->credits == CREDITS_COUNTED ||
	       unasked >= requester->queue.requests_max / UNASKED_SHARE ||
	       next_waits_for_acks(requester);
}

void requester_posted(struct qp *qp)
{
	const struct send_queue *queue = &qp->requester.queue;

	if (unlikely(waits_for_acks(send_queue_slot(queue, queue->tail - 1))))
		retry_ask(qp);
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

	/* A faulty request is reported after all requests that were posted before it. Local
	 * operations wait for earlier requests too: a retransmission must never repeat a local
	 * operation (transport 4.5). */
	if (unlikely(waits_for_acks(slot)) && requester->cursor != queue->done)
		return false;
	return requester->cursor != queue->started || may_start(qp, slot);
}

void requester_route(const struct qp *qp, struct qp_route *ret_route)
{
	const struct address_vector *address = &qp->attributes.address;
	uint32_t destination_qpn = qp->attributes.destination_qpn;

	if (qp_is_datagram(qp)) {
		const struct send_slot *slot =
			send_queue_slot(&qp->requester.queue, qp->requester.cursor);

		address = &slot->address;
		destination_qpn = request_destination_qpn(slot);
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

/* Checks the local keys as they are now, and leaves the addresses of the bytes in the slot's spans.
 */
static enum completion_status resolve_sges(const struct qp *qp, struct send_slot *slot)
{
	const struct sge *sges = send_slot_sges(slot);
	struct span *spans = send_slot_spans(slot);
	uint32_t access = send_slot_is_read_or_atomic(slot) ? ACCESS_LOCAL_WRITE : 0;

	for (uint32_t i = 0; i < slot->sge_count; i++) {
		spans[i].byte_count = sges[i].byte_count;
		spans[i].bytes = slot->data;
		/* Without bytes there is no key to check, and the address does not matter. */
		if (!sges[i].byte_count)
			continue;
		if (memory_resolve(qp->environment->memory, qp->pd, sges[i].lkey, sges[i].address,
				   sges[i].byte_count, access, &spans[i].bytes) != MEMORY_OK)
			return COMPLETION_LOCAL_PROTECTION;
	}
	return COMPLETION_SUCCESS;
}

/* The bytes contain the consumer's own headers. */
static enum completion_status raw_slot_fault(const struct qp *qp, struct send_slot *slot)
{
	enum completion_status status = raw_check_length(qp, slot->byte_count);
	struct packet packet;

	if (status == COMPLETION_SUCCESS)
		status = resolve_sges(qp, slot);
	if (status != COMPLETION_SUCCESS)
		return status;
	request_set_payload(slot, 0, slot->byte_count, &packet);
	return raw_check_headers(qp, &packet.payload);
}

/* Why this request can't be sent, determined before any byte of it is accessed. */
enum completion_status requester_slot_fault(const struct qp *qp, struct send_slot *slot)
{
	if (slot->fault)
		return slot->fault;
	if (unlikely(qp_type_is_raw(qp->type)))
		return raw_slot_fault(qp, slot);
	if (qp->type == QP_UD && slot->byte_count > request_mtu(qp))
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
	slot->packet_count = request_packet_count(qp, slot);
	requester->queue.started++;
	credits_use(requester, credits_takes_receive(slot));
	if (send_slot_is_answered(slot))
		requester->reads_outstanding++;
}

static void build_paced(struct qp *qp, time_ns now, struct send_slot *slot,
			uint32_t train_bytes_max, struct packet *ret_packet,
			uint32_t *ret_psn_count)
{
	if (likely(!qp->attributes.rate_limit)) {
		request_build(qp, slot, train_bytes_max, ret_packet, ret_psn_count);
		return;
	}
	request_build(qp, slot, pacing_train_bytes(qp, now, train_bytes_max), ret_packet,
		      ret_psn_count);
	pacing_charge(qp, now, ret_packet);
}

static void advance(struct qp *qp, time_ns now, const struct send_slot *slot,
		    const struct packet *packet, uint32_t psn_count)
{
	struct requester *requester = &qp->requester;
	struct psn end = psn_add(slot->first_psn, requester->cursor_packet + psn_count);

	if (packet->bth.ack_request)
		requester->asked_psn = end;
	if (psn_before(requester->next_psn, end))
		requester->next_psn = end;
	requester->cursor_packet += psn_count;
	if (requester->cursor_packet < slot->packet_count)
		return;
	requester->cursor++;
	requester->cursor_packet = 0;
	if (qp_is_reliable(qp))
		return;
	/* Nothing acknowledges it, so it is done when it is sent, but not before earlier zcopy
	 * datagrams (net/transport/fast/fast_send.h). */
	requester->oldest_psn = requester->next_psn;
	if (likely(requester->queue.started - requester->queue.done == 1))
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
		if (!slot->fault && !request_has_pages(qp, slot, train_bytes_max))
			slot->fault = COMPLETION_LOCAL_PROTECTION;
		if (unlikely(slot->fault)) {
			if (requester->cursor == requester->queue.done) {
				qp_fail_send(qp, now, slot->fault);
				break;
			}
			retry_ask(qp);
			continue;
		}
		if (unlikely(qp->attributes.rate_limit) &&
		    !pacing_allows(qp, now, request_next_payload_bytes(qp, slot)))
			break;
		if (requester->cursor == requester->queue.started)
			requester_start(qp, slot);
		build_paced(qp, now, slot, train_bytes_max, &ret_packets[count], &psn_count);
		advance(qp, now, slot, &ret_packets[count], psn_count);
		count++;
	}
	if (count && qp_is_reliable(qp))
		retry_watch(qp, now);
	return count;
}
