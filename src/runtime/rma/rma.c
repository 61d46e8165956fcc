/* SPDX-License-Identifier: Apache-2.0 */
/* One-sided requests that this process carries out at its peers' memory by itself. */
#include "runtime/rma/rma.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "runtime/runtime_state.h"
#include "runtime/fast/flow_cache.h"
#include "runtime/rma/rma_counters.h"
#include "runtime/rma/rma_short.h"
#include "runtime/rma/rma_grant_requests.h"
#include "runtime/rma/rma_state.h"
#include "net/transport/pacing.h"
#include "net/transport/requester.h"
#include "net/transport/responses.h"
#include "net/transport/retry.h"
#include "net/transport/rma/rma_bypass.h"
#include "wire/packet.h"

enum {
	/* Worth a round trip of waiting, rather than packets. */
	HELD_BYTES_MIN = 1 << 14,
	FAILURES_MAX = 3,
	STEP_BYTES = 1 << 20, /* of a piece, about */
};

/* A target that sleeps is awake by then, if it has a processor. */
#define ANSWER_NS MILLISECONDS(1)
#define LOOK_NS	  MICROSECONDS(10)

void placement_open(struct channel *channel, int exposure_file)
{
	struct placement_peer *peer = calloc(1, sizeof(*peer));

	if (peer && reach_open(&peer->reach, exposure_file))
		channel->peer = peer;
	else
		free(peer);
	close(exposure_file);
}

void placement_close(struct channel *channel)
{
	struct placement_peer *peer = channel->peer;

	if (!peer)
		return;
	for (unsigned index = 0; index < peer->index_limit; index++)
		if (peer->by_index[index])
			peer->by_index[index]->channel = NULL;
	pinned_write_close(&peer->pinned);
	reach_close(&peer->reach);
	free(peer);
	channel->peer = NULL;
}

void placement_forget(struct qp *qp)
{
	struct placement *placement = qp->owner_placement;

	if (!placement)
		return;
	if (placement->channel)
		placement->channel->peer->by_index[placement->index] = NULL;
	free(placement);
	qp->owner_placement = NULL;
	qp->requester.hold = HOLD_NONE;
}

/* Who acknowledges the request behind the question has read that too. */
static bool is_awaited(const struct qp *qp, struct placement *placement)
{
	if (unlikely(placement->is_awaited))
		placement->is_awaited =
			(int32_t)(qp->requester.queue.done - placement->asked_request) <= 0;
	return placement->is_awaited;
}

/* Reads the grant anew when it changed. */
static bool is_granted(struct placement *placement)
{
	const struct placement_grant *shared =
		&placement->channel->placed_out->grants[placement->index];
	uint32_t serial = placement_serial(placement);

	if (likely(serial == placement->serial))
		return serial % 2;
	placement->serial = 0;
	if (serial % 2 == 0)
		return false;
	placement->grant = *shared;
	__atomic_thread_fence(__ATOMIC_ACQUIRE);
	if (__atomic_load_n(&shared->serial, __ATOMIC_RELAXED) != serial ||
	    placement->grant.ask_number != placement->ask_number)
		return false;
	placement->serial = serial;
	placement->asked_pause = 0;
	placement->is_awaited = false;
	placement->is_asked_ahead = false;
	placement->view.entry = NULL;
	placement->write_window.entry = NULL;
	placement->read_window.entry = NULL;
	return true;
}

/* A long request that follows the question is over sooner if it waits for the answer: by packets it
 * fills the ring many times, for a target that is being woken. Who has read the question and says
 * nothing won't. */
static bool is_worth_waiting(const struct qp *qp, const struct placement *placement, time_ns now)
{
	const struct requester *requester = &qp->requester;
	const struct send_queue *queue = &requester->queue;
	struct ring_producer *out = &placement->channel->out;

	if (!placement->is_awaited || requester->cursor != placement->asked_request ||
	    requester->cursor != queue->started ||
	    send_queue_slot(queue, requester->cursor)->byte_count < HELD_BYTES_MIN ||
	    now > placement->asked_at + ANSWER_NS)
		return false;
	(void)ring_room(out);
	/* It may have answered since we looked. */
	return out->head_seen - placement->asked_position >= out->data_bytes ||
	       placement_serial(placement) % 2;
}

/* One piece. */
static bool carry_out_piece(struct placement *placement, const struct shortcut *shortcut)
{
	const struct reach_request request = {shortcut->remote_key, shortcut->access,
					      shortcut->remote_address, shortcut->byte_count};
	struct placement_peer *peer = placement->channel->peer;
	struct reach_target target;
	size_t byte_count;

	if (!is_granted(placement) ||
	    !reach_allows(&peer->reach, &placement->grant, &placement->view, &request, &target))
		return false;
	if (!reach_move(&peer->reach, shortcut, &target, placement->piece_offset, &byte_count)) {
		peer->failures++;
		return false;
	}
	placement->piece_offset += (uint32_t)byte_count;
	return true;
}

/* What is sent on an unreliable connection is not acknowledged, but it is seen to be read. */
static bool is_behind_packets(const struct qp *qp, struct channel *channel)
{
	if (qp->type == QP_RC)
		return true;
	(void)ring_room(&channel->out);
	return channel->out.head_seen - qp->owner_position < channel->out.data_bytes;
}

static void finish(struct qp *qp, struct flow *flow, struct placement *placement,
		   const struct shortcut *shortcut, time_ns now)
{
	placement->piece_offset = 0;
	placement->message_count++;
	placement_count(flow, qp, shortcut);
	shortcut_done(qp, now);
	placement_show(qp, placement);
}

enum step { STEP_FAILED, STEP_IS_PART, STEP_IS_LAST };

/* A piece of the request at the head of the queue, and its end if it was the last. */
static enum step take_step(struct qp *qp, struct flow *flow, struct placement *placement,
			   const struct shortcut *shortcut, time_ns now)
{
	const struct channel *channel = placement->channel;
	enum step step = STEP_FAILED;

	hazard_begin(channel);
	if (likely(carry_out_piece(placement, shortcut))) {
		step = STEP_IS_PART;
		if (placement->piece_offset == shortcut->byte_count) {
			finish(qp, flow, placement, shortcut, now);
			step = STEP_IS_LAST;
		}
	}
	hazard_end(channel);
	/* A completion that found no room ends the queue pair, and the placement. */
	if (step == STEP_IS_LAST)
		qp_settle(qp, now);
	return step;
}

/* The request at the cursor waits for others: whether it should go past the packets after them. */
static bool is_worth_holding(const struct qp *qp, struct placement *placement)
{
	const struct requester *requester = &qp->requester;
	const struct send_queue *queue = &requester->queue;
	const struct send_slot *slot = send_queue_slot(queue, requester->cursor);
	struct reach_target target;

	if (qp->type != QP_RC || requester->cursor == queue->done ||
	    requester->cursor != queue->started || slot->opcode == SEND_COMPARE_SWAP ||
	    slot->opcode == SEND_FETCH_ADD)
		return false;

	const struct send_slot *before = send_queue_slot(queue, requester->cursor - 1);
	const struct reach_request request = {
		.key = slot->remote_key,
		.access = slot->opcode == SEND_RDMA_READ ? ACCESS_REMOTE_READ : ACCESS_REMOTE_WRITE,
		.address = slot->remote_address,
		.byte_count = slot->byte_count,
	};
	bool is_one_of_many = before->opcode == SEND_RDMA_WRITE || before->opcode == SEND_RDMA_READ;

	return (is_one_of_many || slot->byte_count >= HELD_BYTES_MIN) && slot->byte_count &&
	       reach_allows(&placement->channel->peer->reach, &placement->grant, &placement->view,
			    &request, &target);
}

/* Packets that went through softibd may not have asked for the ACK that is waited for. */
static void hold(struct qp *qp)
{
	qp->requester.hold = HOLD_UNTIL_ACKNOWLEDGED;
	retry_ask(qp);
}

enum placement_outcome placement_run(struct adapter *adapter, struct qp *qp, struct flow *flow,
				     time_ns now)
{
	struct attachment *attachment = adapter->attachment;
	struct channel *channel = flow->channel;
	struct placement_peer *peer = channel->peer;

	/* The pages that a process shared outlive it. */
	if (!peer || peer->failures >= FAILURES_MAX || ring_is_closed(channel->out.shared))
		return PLACEMENT_PACKETS;

	struct placement *placement = placement_make(qp, channel);

	if (!placement)
		return PLACEMENT_PACKETS;
	placement->flow = flow;
	if (!is_granted(placement)) {
		if (!is_awaited(qp, placement) && qp->requester.cursor == qp->requester.queue.started)
			placement_ask(adapter, qp, flow, placement, now);
		if (is_worth_waiting(qp, placement, now)) {
			pacing_pause(qp, now + LOOK_NS);
			return PLACEMENT_GOES_ON;
		}
		/* One request follows the question, the others its answer. */
		if (placement->is_awaited)
			hold(qp);
		return PLACEMENT_PACKETS;
	}
	while (placement_is_next(qp)) {
		struct shortcut shortcut;

		if (is_behind_packets(qp, channel)) {
			uint32_t byte_count = placement_lane_run(placement, qp, flow, now);

			attachment->placed_bytes += byte_count;
			if (unlikely(qp->owner_placement != placement))
				return PLACEMENT_PACKETS;
			if (byte_count && attachment->placed_bytes >= ATTACHMENT_PLACED_BYTES_MAX &&
			    placement_is_next(qp))
				return PLACEMENT_GOES_ON;
			if (byte_count)
				continue;
		}
		if (!shortcut_next(qp, &shortcut)) {
			if (is_worth_holding(qp, placement))
				hold(qp);
			break;
		}
		if (!is_behind_packets(qp, channel))
			break;

		enum step step = take_step(qp, flow, placement, &shortcut, now);

		if (step == STEP_FAILED)
			break;
		attachment->placed_bytes +=
			shortcut.byte_count < STEP_BYTES ? shortcut.byte_count : STEP_BYTES;
		if (step == STEP_IS_PART)
			return PLACEMENT_GOES_ON;
		if (unlikely(qp->owner_placement != placement))
			return PLACEMENT_PACKETS;
		if (attachment->placed_bytes >= ATTACHMENT_PLACED_BYTES_MAX && placement_is_next(qp))
			return PLACEMENT_GOES_ON;
	}
	/* What follows goes by packets, from its beginning. */
	placement->piece_offset = 0;
	return PLACEMENT_PACKETS;
}

/* The flow by which the queue pair went past the packets before, if it still may; NULL: it may not.
 * A modify forgets the placement, so the queue pair still goes by this flow. */
static inline struct flow *flow_past_packets(const struct attachment *attachment,
					     const struct qp *qp)
{
	const struct placement *placement = qp->owner_placement;
	struct flow *flow = qp->owner_route;

	if (!placement || !flow || placement->flow != flow || flow->state != FLOW_DIRECT ||
	    flow->channel != placement->channel ||
	    flow->generation != attachment_generation(attachment) ||
	    !attachment_is_usable(attachment) || list_is_linked(&qp->ready_link))
		return NULL;
	return flow;
}

bool placement_post(struct adapter *adapter, struct qp *qp, const struct send_request *request)
{
	struct attachment *attachment = adapter->attachment;
	struct placed_again *again = &attachment->placed_again;
	struct flow *flow = flow_past_packets(attachment, qp);
	struct placement *placement = qp->owner_placement;

	if (unlikely(!flow) || unlikely(ring_is_closed(flow->channel->out.shared)) ||
	    !is_behind_packets(qp, flow->channel))
		return false;
	if (unlikely(!placement->serial)) {
		const bool was_asked_ahead = placement->is_asked_ahead;

		if (!is_granted(placement))
			return false;
		if (was_asked_ahead)
			placement_asked_in_time(adapter, qp, flow);
	}
	again->qp = NULL;
	if (!placement_lane_post(placement, qp, flow, request, lane_time(attachment)))
		return false;
	if (again->last == qp && likely(qp->owner_placement == placement))
		placement_lane_remember(again, placement, qp, flow, request,
					&attachment->fabric_page->generation);
	again->last = qp;
	return true;
}

bool placement_send(struct adapter *adapter, struct qp *qp)
{
	struct attachment *attachment = adapter->attachment;
	struct flow *flow = flow_past_packets(attachment, qp);

	if (!flow)
		return false;

	if (unlikely(qp->requester.hold == HOLD_UNTIL_ACKNOWLEDGED)) {
		/* What it waits for is looked for now and then. */
		if (!requester_is_ready(qp) && !responses_are_due(qp))
			return true;
		qp->requester.hold = HOLD_NONE;
	}

	struct channel *channel = flow->channel;
	time_ns now = lane_time(attachment);

	if (likely(!ring_is_closed(channel->out.shared) && is_behind_packets(qp, channel)) &&
	    placement_lane_run((struct placement *)qp->owner_placement, qp, flow, now) &&
	    qp->requester.cursor == qp->requester.queue.tail)
		return true;
	if (!placement_is_next(qp))
		return false;
	attachment->placed_bytes = 0;
	(void)placement_run(adapter, qp, flow, now);
	return qp->requester.cursor == qp->requester.queue.tail;
}
