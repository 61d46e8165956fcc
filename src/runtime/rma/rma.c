/* SPDX-License-Identifier: Apache-2.0 */
/* RDMA WRITE, READ and atomics that this process carries out directly in its peers' memory. */
#include "runtime/rma/rma.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "runtime/runtime_state.h"
#include "runtime/fast/send_flow.h"
#include "runtime/rma/rma_counters.h"
#include "runtime/rma/rma_short.h"
#include "runtime/rma/rma_grant_requests.h"
#include "runtime/rma/rma_state.h"
#include "net/transport/pacing.h"
#include "net/transport/qp_error.h"
#include "net/transport/requester.h"
#include "net/transport/responses.h"
#include "net/transport/retry.h"
#include "net/transport/rma/rma_bypass.h"
#include "wire/packet.h"

enum {
	/* A request of this size is worth waiting a round trip for the grant; a shorter one goes by
	 * packets. */
	HELD_BYTES_MIN = 1 << 14,
	FAILURES_MAX = 3,
	STEP_BYTES = 1 << 20, /* a piece counts as at most this much */
};

/* A target that sleeps wakes within this time, if it gets a processor. */
#define ANSWER_NS MILLISECONDS(1)
#define LOOK_NS	  MICROSECONDS(10)

void rma_open(struct channel *channel, int rkey_export_file)
{
	struct rma_peer *peer = calloc(1, sizeof(*peer));

	if (peer && peer_memory_open(&peer->peer_memory, rkey_export_file)) {
		peer->peer_memory.hazard = &channel->rma_out->hazard;
		channel->peer = peer;
	} else {
		free(peer);
	}
	close(rkey_export_file);
}

void rma_close(struct channel *channel)
{
	struct rma_peer *peer = channel->peer;

	if (!peer)
		return;
	for (unsigned index = 0; index < peer->index_limit; index++)
		if (peer->by_index[index])
			peer->by_index[index]->channel = NULL;
	pinned_write_close(&peer->pinned);
	peer_memory_close(&peer->peer_memory);
	free(peer);
	channel->peer = NULL;
}

void rma_forget(struct qp *qp)
{
	struct rma *rma = qp->owner_rma;

	if (!rma)
		return;
	if (rma->channel)
		rma->channel->peer->by_index[rma->index] = NULL;
	free(rma);
	qp->owner_rma = NULL;
	qp->requester.hold = HOLD_NONE;
}

/* The target reads the grant request before the request behind it, so an ACK of that request ends
 * the wait. */
static bool is_awaited(const struct qp *qp, struct rma *rma)
{
	if (unlikely(rma->is_awaited))
		rma->is_awaited = (int32_t)(qp->requester.queue.done - rma->asked_request) <= 0;
	return rma->is_awaited;
}

/* Rereads the grant when its serial number has changed. */
static bool is_granted(struct rma *rma)
{
	const struct rma_grant *shared = &rma->channel->rma_out->grants[rma->index];
	uint32_t serial = rma_serial(rma->channel->rma_out, rma);

	if (likely(serial == rma->serial))
		return serial % 2;
	rma->serial = 0;
	if (serial % 2 == 0)
		return false;
	rma->grant = *shared;
	__atomic_thread_fence(__ATOMIC_ACQUIRE);
	if (__atomic_load_n(&shared->serial, __ATOMIC_RELAXED) != serial ||
	    rma->grant.ask_number != rma->ask_number)
		return false;
	rma->serial = serial;
	rma->asked_pause = 0;
	rma->is_awaited = false;
	rma->is_asked_ahead = false;
	rma->view.entry = NULL;
	rma->write_range.entry = NULL;
	rma->read_range.entry = NULL;
	return true;
}

/* A long request behind the grant request ends sooner if it waits for the grant: by packets it
 * fills the ring many times while the target is still waking. A target that has read the grant
 * request and shows no grant has refused. */
static bool is_worth_waiting(const struct qp *qp, const struct rma *rma, time_ns now)
{
	const struct requester *requester = &qp->requester;
	const struct send_queue *queue = &requester->queue;
	struct ring_producer *out = &rma->channel->out;

	if (!rma->is_awaited || requester->cursor != rma->asked_request ||
	    requester->cursor != queue->started ||
	    send_queue_slot(queue, requester->cursor)->byte_count < HELD_BYTES_MIN ||
	    now > rma->asked_at + ANSWER_NS)
		return false;
	(void)ring_room(out);
	/* The target may have granted since the last look. */
	return out->head_seen - rma->asked_position >= out->data_bytes ||
	       rma_serial(rma->channel->rma_out, rma) % 2;
}

/* Moves one piece of the request. */
static bool carry_out_piece(struct rma *rma, const struct bypass *bypass)
{
	const struct peer_request request = {bypass->remote_key, bypass->access,
					     bypass->remote_address, bypass->byte_count};
	struct rma_peer *peer = rma->channel->peer;
	struct peer_target target;
	size_t byte_count;

	if (!is_granted(rma) ||
	    !peer_memory_allows(&peer->peer_memory, &rma->grant, &rma->view, &request, &target))
		return false;
	if (!peer_memory_move(&peer->peer_memory, bypass, &target, rma->piece_offset,
			      &byte_count)) {
		peer->failures++;
		return false;
	}
	rma->piece_offset += (uint32_t)byte_count;
	return true;
}

/* Nothing acknowledges a packet on an unreliable connection, so the ring's head shows whether the
 * peer has read it. */
static bool is_behind_packets(const struct qp *qp, struct channel *channel)
{
	if (qp->type == QP_RC)
		return true;
	(void)ring_room(&channel->out);
	return channel->out.head_seen - qp->owner_position < channel->out.data_bytes;
}

static void finish(struct qp *qp, struct flow *flow, struct rma *rma, const struct bypass *bypass,
		   time_ns now)
{
	rma->piece_offset = 0;
	rma->message_count++;
	rma_count(flow, qp, bypass);
	(void)rma_bypass_done(qp, now);
	rma_show(rma->channel->rma_out, qp, rma);
}

void hazard_begin_without_fence(const struct channel *channel)
{
	uint64_t *hazard = &channel->rma_out->hazard;
	const uint64_t begun = __atomic_load_n(hazard, __ATOMIC_RELAXED) | 1;

	(void)__atomic_exchange_n(hazard, begun | RMA_HAZARD_IS_LOCKED, __ATOMIC_SEQ_CST);
}

bool hazard_stands_after_look(struct rma_area *area)
{
	/* If the peer can't have us pass a fence, this is one. RMA_HAZARD_IS_LOCKED stays: the next
	 * request of this access needs a fence of its own. */
	return !(__atomic_fetch_or(&area->hazard, 0, __ATOMIC_SEQ_CST) & RMA_HAZARD_CUT_OFF);
}

void rma_fail(struct qp *qp)
{
	const time_ns now = runtime_now();

	if (qp->requester.cursor != qp->requester.queue.tail)
		qp_fail_send(qp, now, COMPLETION_RETRY_EXCEEDED);
	else
		qp_enter_error(qp, now);
	qp_settle(qp, now);
}

enum step { STEP_FAILED, STEP_IS_CUT_OFF, STEP_IS_PART, STEP_IS_LAST };

/* Moves one piece of the request at the head of the queue, and completes the request after its last
 * piece. */
static enum step take_step(struct qp *qp, struct flow *flow, struct rma *rma,
			   const struct bypass *bypass, time_ns now)
{
	const struct channel *channel = rma->channel;
	const bool is_read = bypass->opcode == SEND_RDMA_READ;
	enum step step = STEP_FAILED;

	hazard_begin(channel);
	if (likely(carry_out_piece(rma, bypass))) {
		step = STEP_IS_PART;
		if (unlikely(!hazard_stands(channel->rma_out) && !rma_may_be_lost(qp, is_read))) {
			step = is_read ? STEP_FAILED : STEP_IS_CUT_OFF;
		} else if (rma->piece_offset == bypass->byte_count) {
			finish(qp, flow, rma, bypass, now);
			step = STEP_IS_LAST;
		}
	}
	hazard_end(channel->rma_out);
	if (unlikely(step == STEP_IS_CUT_OFF))
		rma_fail(qp);
	/* A completion that finds no room in the CQ puts the queue pair into Error and ends its
	 * RMA. */
	if (step == STEP_IS_LAST)
		qp_settle(qp, now);
	return step;
}

/* The request at the cursor waits for earlier requests. Whether it should wait and then use RMA,
 * instead of going by packets now. */
static bool is_worth_holding(const struct qp *qp, struct rma *rma)
{
	const struct requester *requester = &qp->requester;
	const struct send_queue *queue = &requester->queue;
	const struct send_slot *slot = send_queue_slot(queue, requester->cursor);
	struct peer_target target;

	if (qp->type != QP_RC || requester->cursor == queue->done ||
	    requester->cursor != queue->started || slot->opcode == SEND_COMPARE_SWAP ||
	    slot->opcode == SEND_FETCH_ADD)
		return false;

	const struct send_slot *before = send_queue_slot(queue, requester->cursor - 1);
	const struct peer_request request = {
		.key = slot->remote_key,
		.access = slot->opcode == SEND_RDMA_READ ? ACCESS_REMOTE_READ : ACCESS_REMOTE_WRITE,
		.address = slot->remote_address,
		.byte_count = slot->byte_count,
	};
	bool is_one_of_many = before->opcode == SEND_RDMA_WRITE || before->opcode == SEND_RDMA_READ;

	return (is_one_of_many || slot->byte_count >= HELD_BYTES_MIN) && slot->byte_count &&
	       peer_memory_allows(&rma->channel->peer->peer_memory, &rma->grant, &rma->view,
				  &request, &target);
}

/* Packets that went through softibd may not have asked for the ACK that this hold waits for. */
static void hold(struct qp *qp)
{
	qp->requester.hold = HOLD_UNTIL_ACKNOWLEDGED;
	retry_ask(qp);
}

enum rma_outcome rma_run(struct adapter *adapter, struct qp *qp, struct flow *flow, time_ns now)
{
	struct process_runtime *runtime = adapter->runtime;
	struct channel *channel = flow->channel;
	struct rma_peer *peer = channel->peer;

	/* Shared pages outlive the process that shared them, so a closed ring must be checked here.
	 */
	if (!peer || peer->failures >= FAILURES_MAX || ring_is_closed(channel->out.shared))
		return RMA_BY_PACKETS;

	struct rma *rma = rma_make(qp, channel);

	if (!rma)
		return RMA_BY_PACKETS;
	rma->flow = flow;
	if (!is_granted(rma)) {
		if (!is_awaited(qp, rma) && qp->requester.cursor == qp->requester.queue.started)
			rma_grant_request(adapter, qp, flow, rma, now);
		if (is_worth_waiting(qp, rma, now)) {
			pacing_pause(qp, now + LOOK_NS);
			return RMA_GOES_ON;
		}
		/* One request follows the grant request; later requests wait for the grant. */
		if (rma->is_awaited)
			hold(qp);
		return RMA_BY_PACKETS;
	}
	while (rma_is_next(qp)) {
		struct bypass bypass;

		if (runtime->may_go_fast && is_behind_packets(qp, channel)) {
			uint32_t byte_count = rma_short_run(rma, qp, flow, now);

			runtime->rounds.rma_bytes += byte_count;
			if (unlikely(qp->owner_rma != rma))
				return RMA_BY_PACKETS;
			if (byte_count && runtime->rounds.rma_bytes >= RUNTIME_RMA_BYTES_MAX &&
			    rma_is_next(qp))
				return RMA_GOES_ON;
			if (byte_count)
				continue;
		}
		if (!rma_bypass_next(qp, &bypass)) {
			if (is_worth_holding(qp, rma))
				hold(qp);
			break;
		}
		if (!is_behind_packets(qp, channel))
			break;

		enum step step = take_step(qp, flow, rma, &bypass, now);

		if (unlikely(step == STEP_IS_CUT_OFF))
			return RMA_BY_PACKETS;
		if (step == STEP_FAILED)
			break;
		runtime->rounds.rma_bytes +=
			bypass.byte_count < STEP_BYTES ? bypass.byte_count : STEP_BYTES;
		if (step == STEP_IS_PART)
			return RMA_GOES_ON;
		if (unlikely(qp->owner_rma != rma))
			return RMA_BY_PACKETS;
		if (runtime->rounds.rma_bytes >= RUNTIME_RMA_BYTES_MAX && rma_is_next(qp))
			return RMA_GOES_ON;
	}
	/* The next request goes by packets, from its beginning. */
	rma->piece_offset = 0;
	return RMA_BY_PACKETS;
}

/* Whether the queue pair and the flow by which it used RMA before are fit for RMA still; rma->epoch
 * remembers that they are. A modify drops the queue pair's RMA state, so a remembered flow is still
 * the current one. */
static bool becomes_fit(const struct qp *qp, struct rma *rma)
{
	struct flow *flow = qp->owner_route;

	if (!flow || rma->flow != flow || flow->channel != rma->channel || !rma->channel ||
	    !rma_bypass_is_fit(qp))
		return false;
	rma->epoch = qp->environment->epoch;
	rma->local = (struct template_region){0};
	return true;
}

/* The RMA state of a queue pair that may go past packets now; NULL: it may not. */
static inline struct rma *rma_past_packets(const struct process_runtime *runtime,
					   const struct qp *qp)
{
	struct rma *rma = qp->owner_rma;

	if (unlikely(!rma || !runtime->may_go_fast || list_is_linked(&qp->ready_link)) ||
	    (unlikely(rma->epoch != qp->environment->epoch) && !becomes_fit(qp, rma)) ||
	    unlikely(!flow_is_direct(runtime, rma->flow) ||
		     ring_is_closed(rma->channel->out.shared)))
		return NULL;
	return is_behind_packets(qp, rma->channel) ? rma : NULL;
}

/* In line, as rma_short_post. */
IN_LINE bool rma_post(struct adapter *adapter, struct qp *qp, const struct rma_request *request,
		      const struct sge *sge)
{
	struct process_runtime *runtime = adapter->runtime;
	struct rma *rma = rma_past_packets(runtime, qp);

	/* Copies of a long list are broken off, so that other threads get the lock. */
	if (unlikely(!rma || runtime_has_more_rma(runtime)))
		return false;
	if (unlikely(!rma->serial)) {
		const bool was_asked_ahead = rma->is_asked_ahead;

		if (!is_granted(rma))
			return false;
		if (was_asked_ahead)
			rma_granted_in_time(adapter, qp, rma->flow);
	}
	if (!rma_short_post(rma, qp, request, sge, fast_path_time(runtime)))
		return false;
	runtime->rounds.rma_bytes += sge->byte_count;
	return true;
}

bool rma_send(struct adapter *adapter, struct qp *qp)
{
	struct process_runtime *runtime = adapter->runtime;
	struct rma *rma = rma_past_packets(runtime, qp);

	if (!rma)
		return false;

	if (unlikely(qp->requester.hold == HOLD_UNTIL_ACKNOWLEDGED)) {
		/* The progress calls look for the ACK that ends the hold. */
		if (!requester_is_ready(qp) && !responses_are_due(qp))
			return true;
		qp->requester.hold = HOLD_NONE;
	}

	struct flow *flow = rma->flow;
	time_ns now = fast_path_time(runtime);

	if (rma_short_run(rma, qp, flow, now) && qp->requester.cursor == qp->requester.queue.tail)
		return true;
	if (!rma_is_next(qp))
		return false;
	runtime->rounds.rma_bytes = 0;
	(void)rma_run(adapter, qp, flow, now);
	return qp->requester.cursor == qp->requester.queue.tail;
}
