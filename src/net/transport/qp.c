/* SPDX-License-Identifier: Apache-2.0 */
/* A queue pair: the calls of its owner (vol 1, chapters 9 to 11). */
#include "net/transport/qp.h"

#include <errno.h>
#include <stdlib.h>
#include "net/memory/memory.h"
#include "net/transport/addressing.h"
#include "net/transport/admission.h"
#include "net/transport/completer.h"
#include "net/transport/fast/templates.h"
#include "net/transport/rd/ee_context.h"
#include "net/transport/port_view.h"
#include "net/transport/rd/rd_queue.h"
#include "net/transport/rd/rd_responder.h"
#include "net/transport/report.h"
#include "net/transport/requester.h"
#include "net/transport/responder.h"
#include "net/transport/responses.h"
#include "net/transport/retry.h"
#include "net/transport/rma/rma_bypass.h"
#include "net/transport/unreliable.h"
#include "wire/packet.h"
#include "wire/pkey.h"

/* A request that is taken from a shared queue is copied, so it needs a place of its own. */
static int init_receives(struct qp *qp, struct receive_queue *shared_queue)
{
	if (qp->type == QP_XRC_TGT || qp->type == QP_EEC) {
		/* Each message names its XRC SRQ. */
		qp->receive_queue = NULL;
		qp->responder.taken = malloc(receive_slot_bytes(qp->environment->xrc_sges_max));
		return qp->responder.taken ? 0 : -ENOMEM;
	}
	if (!shared_queue) {
		qp->receive_queue = &qp->own_receives;
		return receive_queue_init(&qp->own_receives, qp->pd,
					  qp->capabilities.receive_requests_max,
					  qp->capabilities.receive_sges_max);
	}
	qp->receive_queue = shared_queue;
	qp->responder.taken = malloc(shared_queue->slot_bytes);
	return qp->responder.taken ? 0 : -ENOMEM;
}

int qp_init(struct qp *qp, struct qp_environment *environment, enum qp_type type, uint32_t qpn,
	    struct protection_domain *pd, const struct qp_capabilities *capabilities,
	    struct receive_queue *shared_queue, bool signal_all)
{
	*qp = (struct qp){
		.environment = environment,
		.templates = &qp_templates_none,
		.pd = pd,
		.type = type,
		.state = QP_RESET,
		.qpn = qpn,
		.signal_all = signal_all,
		.capabilities = *capabilities,
		.requester = {.retry_deadline = TIME_NEVER,
			      .rnr_deadline = TIME_NEVER,
			      .pacing_deadline = TIME_NEVER},
	};
	list_init(&qp->ready_link);
	list_init(&qp->undated_link);

	int error = send_queue_init(&qp->requester.queue, capabilities->send_requests_max,
				    capabilities->send_sges_max, capabilities->inline_bytes_max);

	if (!error)
		error = init_receives(qp, shared_queue);
	if (!error && qp->type == QP_RD)
		error = rd_queue_init(qp);
	else if (!error && qp->type == QP_EEC)
		error = eec_init(qp);
	if (error)
		qp_release(qp);
	return error;
}

void qp_release(struct qp *qp)
{
	invalidate(qp->environment); /* owners keep pointers to queue pairs for an epoch */
	qp_templates_release(qp);
	qp_end_rma(qp);
	report_revoke_zcopy(qp);
	timer_queue_cancel(qp->environment->timers, &qp->timer);
	send_queue_release(&qp->requester.queue);
	receive_queue_release(&qp->own_receives);
	responses_release(qp);
	free(qp->responder.taken);
	qp->responder.taken = NULL;
	if (qp->type == QP_RD)
		rd_queue_release(qp);
	else if (qp->type == QP_EEC)
		eec_release(qp);
}

void qp_forget_receive_queue(struct qp *qp, const struct receive_queue *queue)
{
	if (qp->receive_queue != queue)
		return;
	qp->receive_queue = NULL;
	qp->responder.has_receive = false;
}

void qp_query(const struct qp *qp, struct qp_attributes *ret_attributes)
{
	*ret_attributes = qp->attributes;
	ret_attributes->state = qp->state;
	ret_attributes->current_state = qp->state;
}

enum { ETHERTYPE_MAX = 0xffff };

/* Which requests each service accepts (transport 2.4). */
static bool type_accepts(enum qp_type type, enum send_opcode opcode)
{
	enum { SENDS = 1 << SEND_SEND | 1 << SEND_SEND_IMMEDIATE };
	enum { WRITES = 1 << SEND_RDMA_WRITE | 1 << SEND_RDMA_WRITE_IMMEDIATE };
	enum { READS = 1 << SEND_RDMA_READ | 1 << SEND_COMPARE_SWAP | 1 << SEND_FETCH_ADD };
	enum { PLACEMENTS = 1 << SEND_FLUSH | 1 << SEND_ATOMIC_WRITE };
	enum { LOCAL = 1 << SEND_BIND_WINDOW | 1 << SEND_LOCAL_INVALIDATE };
	static const uint32_t accepted[] = {
		[QP_RC] = SENDS | WRITES | READS | PLACEMENTS | LOCAL | 1 << SEND_SEND_INVALIDATE,
		[QP_UC] = SENDS | WRITES | LOCAL,
		[QP_UD] = SENDS,
		[QP_RAW_IPV6] = 1 << SEND_SEND,
		[QP_RAW_ETHERTYPE] = 1 << SEND_SEND,
		[QP_XRC_INI] =
			SENDS | WRITES | READS | PLACEMENTS | LOCAL | 1 << SEND_SEND_INVALIDATE,
		[QP_XRC_TGT] = 0,
		[QP_RD] = SENDS | WRITES | READS | PLACEMENTS | 1 << SEND_BIND_WINDOW,
		[QP_EEC] = 0,
	};

	return (unsigned)opcode < 32 && accepted[type] >> opcode & 1;
}

static bool request_is_valid(const struct qp *qp, const struct send_request *request)
{
	enum {
		CARRIES_NO_DATA = 1 << SEND_RDMA_READ | 1 << SEND_COMPARE_SWAP | 1 << SEND_FETCH_ADD
	};

	if (!type_accepts(qp->type, request->opcode))
		return false;
	if ((request->flags & SEND_INLINE) && (CARRIES_NO_DATA >> request->opcode & 1))
		return false;
	if (qp->type == QP_XRC_INI)
		return request->remote_srqn <= QPN_MAX;
	if (qp->type == QP_RD)
		return request->remote_qpn <= QPN_MAX && request->eecn <= QPN_MAX;
	if (qp->type == QP_RAW_ETHERTYPE && request->remote_qpn > ETHERTYPE_MAX)
		return false;
	/* The address handle must be of the queue pair's domain (transport 7.4). */
	return !qp_is_datagram(qp) || (request->address && request->address_pd == qp->pd);
}

static enum send_addressing addressing_of(const struct qp *qp)
{
	if (unlikely(qp->type == QP_RD))
		return SEND_BY_EEC;
	return qp_is_datagram(qp) ? SEND_DATAGRAM : SEND_CONNECTED;
}

int qp_post_send(struct qp *qp, time_ns now, const struct send_request *request)
{
	if (unlikely(qp->state < QP_RTS || !request_is_valid(qp, request)))
		return -EINVAL;

	int error = send_queue_post(&qp->requester.queue, request, addressing_of(qp));

	if (unlikely(error))
		return error;
	requester_posted(qp);
	if (unlikely(qp->state == QP_SQE || qp->state == QP_ERROR)) {
		report_flush_sends(qp, now);
		qp_settle(qp, now);
	} else if (unlikely(qp->type == QP_RD)) {
		rd_queue_advance(qp, now);
		qp_settle(qp, now);
	}
	return 0;
}

void qp_retract_sends(struct qp *qp, uint32_t request_count)
{
	struct send_queue *queue = &qp->requester.queue;
	uint32_t waiting_count = queue->tail - queue->started;

	queue->tail -= request_count < waiting_count ? request_count : waiting_count;
}

/* Not inline, so that the common case saves no registers for it. */
__attribute__((noinline)) static void flush_receives(struct qp *qp, time_ns now)
{
	report_flush_receives(qp, now);
	qp_settle(qp, now);
}

int qp_post_receive(struct qp *qp, time_ns now, const struct receive_request *request)
{
	enum qp_state state = qp->state;

	if (unlikely(state == QP_RESET || qp_is_shared(qp) || qp->type == QP_XRC_INI))
		return -EINVAL;

	int error = receive_queue_post(&qp->own_receives, request);

	if (unlikely(error))
		return error;
	if (unlikely(state == QP_ERROR))
		flush_receives(qp, now);
	return 0;
}

/* The first packet arrived while the queue pair is still in RTR (transport 5.8). */
static void note_established(struct qp *qp)
{
	if (likely(qp->state != QP_RTR || qp->is_established))
		return;
	qp->is_established = true;
	qp->environment->event(qp, QP_EVENT_ESTABLISHED);
}

/* A response must be for the RD queue pair whose request is in progress (transport 9.1). */
static void receive_by_eec(struct qp *channel, time_ns now, const struct packet *packet)
{
	if (!opcode_info(packet->bth.opcode)->is_response)
		rd_responder_receive(channel, now, packet);
	else if (packet->bth.destination_qpn == channel->eec->source_qpn)
		completer_receive(channel, now, packet);
}

void qp_receive(struct qp *qp, time_ns now, const struct packet *packet)
{
	if (unlikely(!packet->packet_count || admission_check(qp, packet) != ADMITTED))
		return;
	note_established(qp);
	if (unlikely(qp->type == QP_EEC))
		receive_by_eec(qp, now, packet);
	else if (opcode_info(packet->bth.opcode)->is_response)
		completer_receive(qp, now, packet);
	else if (qp_is_reliable(qp))
		responder_receive(qp, now, packet);
	else if (qp->type == QP_UC)
		unreliable_connection_receive(qp, now, packet);
	else
		datagram_receive(qp, now, packet);
	qp_settle(qp, now);
}

bool qp_next_route(const struct qp *qp, time_ns now, struct qp_route *ret_route)
{
	(void)now;
	/* EE contexts send for it. */
	if (unlikely(qp->type == QP_RD))
		return false;
	/* Only connections send responses, and the responses take the same route as the requests.
	 */
	if (!responses_are_due(qp) && !requester_is_ready(qp))
		return false;
	requester_route(qp, ret_route);
	return true;
}

/* Neither half may starve the other: if both have packets, they share packets_max and take turns in
 * going first. */
unsigned qp_transmit(struct qp *qp, time_ns now, unsigned packets_max, uint32_t train_bytes_max,
		     struct packet ret_packets[])
{
	bool both = responses_are_due(qp) && requester_is_ready(qp);
	unsigned share = both ? (packets_max + 1) / 2 : packets_max;
	unsigned count;

	if (qp->requests_go_first) {
		count = requester_transmit(qp, now, share, train_bytes_max, ret_packets);
		count += responses_transmit(qp, now, packets_max - count, train_bytes_max,
					    ret_packets + count);
	} else {
		count = responses_transmit(qp, now, share, train_bytes_max, ret_packets);
		count += requester_transmit(qp, now, packets_max - count, train_bytes_max,
					    ret_packets + count);
	}
	qp->requests_go_first = both && !qp->requests_go_first;
	qp_settle(qp, now);
	return count;
}

time_ns qp_deadline(const struct qp *qp)
{
	return timer_is_armed(&qp->timer) ? qp->timer.deadline : TIME_NEVER;
}

void qp_expire(struct qp *qp, time_ns now)
{
	retry_expire(qp, now);
	if (unlikely(qp->type == QP_RD))
		rd_queue_advance(qp, now);
	qp_settle(qp, now);
}
