/* SPDX-License-Identifier: Apache-2.0 */
/* An adapter at work in this process: what posting and polling do. */
#include "runtime/adapter.h"

#include <sched.h>
#include <time.h>
#include "runtime/process_runtime.h"
#include "runtime/channel_queues.h"
#include "runtime/fast/template_send.h"
#include "runtime/fast/flow_cache.h"
#include "runtime/fast/short_send.h"
#include "runtime/memory/guarded_copy.h"
#include "runtime/progress_thread.h"
#include "runtime/rma/rma.h"
#include "runtime/rma/rma_short.h"
#include "runtime/packets/receive.h"
#include "runtime/xrc/xrc_leases.h"
#include "runtime/packets/transmit.h"

enum {
	QUICK_ROUNDS = 128, /* some 5 us */
	POSTS_PER_ROUND = 32,
	COPY_ROUNDS = 16,
};

struct hca *adapter_hca(struct adapter *adapter)
{
	return &adapter->hca;
}

/* These in line where each instruction counts. */
inline void adapter_lock(struct adapter *adapter)
{
	attachment_lock(adapter->attachment);
}

inline bool adapter_try_lock(struct adapter *adapter)
{
	return biased_lock_try(&adapter->attachment->lock);
}

inline void adapter_unlock(struct adapter *adapter)
{
	attachment_unlock(adapter->attachment);
}

void adapter_unlock_unchanged(struct adapter *adapter)
{
	attachment_unlock_unchanged(adapter->attachment);
}

time_ns adapter_now(const struct adapter *adapter)
{
	(void)adapter;
	return attachment_now();
}

void adapter_prepare(struct adapter *adapter, struct qp_object *qp, time_ns now)
{
	transmit_prepare(adapter, &qp->qp, now);
}

void adapter_last_answers(struct adapter *adapter, struct qp_object *qp, time_ns now)
{
	struct attachment *attachment = adapter->attachment;

	/* What has arrived was there before the queue pair stopped: a peer that acknowledged and then
	 * disconnected is no reason to flush what it acknowledged. */
	if (attachment_is_usable(attachment)) {
		guarded_copy_begin(attachment);
		receive_all(attachment, now);
		adapter_transmit(adapter, now);
		guarded_copy_end(attachment);
	}
	transmit_last_answers(adapter, &qp->qp, now);
}

static void transmit_round(struct adapter *adapter, time_ns now)
{
	struct attachment *attachment = adapter->attachment;

	attachment->placed_bytes = 0;
	if (unlikely(!attachment_is_usable(attachment)))
		return;
	/* A program that posts much and polls little takes its acknowledgements here, or the helper
	 * would be woken for them and fight it for the lock. */
	attachment_count_polls(attachment, 1);
	attachment->is_posting = true;
	if (receive_has_more(attachment))
		receive_all(attachment, now);
	attachment->is_posting = false;
	transmit_adapter(adapter, now);
	if (unlikely(attachment_has_loans(attachment)))
		target_loans_return_idle(attachment, now);
	publish_all(attachment);
}

void adapter_transmit(struct adapter *adapter, time_ns now)
{
	transmit_round(adapter, now);
	attachment_wake_helper(adapter->attachment);
}

static bool progress(struct attachment *attachment, time_ns now)
{
	attachment_count_polls(attachment, 1);

	bool any = attachment_progress(attachment, now);

	attachment_wake_helper(attachment);
	return any;
}

/* A round of a program that posts and polls a lot. Not in line: most rounds have no use for its
 * registers. */
__attribute__((noinline)) static bool whole_round(struct attachment *attachment)
{
	time_ns now = attachment_now();

	attachment_forget_requests(attachment);
	helper_watch_polls(attachment, now);
	return progress(attachment, now);
}

/* Something was sent without the clock. A program that posts much and polls little takes its
 * acknowledgements here now and then, and looks after its timers. */
static inline void sent_quickly(struct adapter *adapter)
{
	struct attachment *attachment = adapter->attachment;

	if (likely(++attachment->quick_posts % POSTS_PER_ROUND))
		return;
	attachment_count_polls(attachment, POSTS_PER_ROUND);
	attachment->run.qp = NULL;
	attachment->placed_again.qp = NULL;
	attachment->is_posting = true;
	if (attachment->quick_posts >= QUICK_ROUNDS ||
	    express_lane_round(attachment) == EXPRESS_LONG_WAY)
		(void)whole_round(attachment);
	attachment->is_posting = false;
}

static inline bool post(struct adapter *adapter, struct qp *qp, const struct send_request *request)
{
	return (express_again_is_in_run(adapter->attachment, qp) &&
		express_again_repeat_any(adapter, qp, request)) ||
	       express_lane_post(adapter, qp, request);
}

IN_LINE bool adapter_post(struct adapter *adapter, struct qp_object *qp,
			  const struct send_request *request)
{
	attachment_lock(adapter->attachment);

	bool is_posted = post(adapter, &qp->qp, request);

	if (likely(is_posted))
		sent_quickly(adapter);
	attachment_unlock_posted(adapter->attachment);
	return is_posted;
}

/* The peer has what was sent. Not in line: what comes before it needs few registers. */
__attribute__((noinline)) static bool sent_again(struct adapter *adapter, uint64_t wr_id,
						 uint32_t flags, const struct sge *sge)
{
	express_again_sent(adapter, wr_id, flags, sge);
	sent_quickly(adapter);
	attachment_unlock_posted(adapter->attachment);
	return true;
}

bool adapter_posts_again(const struct adapter *adapter, const struct qp_object *qp)
{
	return __atomic_load_n(&adapter->attachment->sent_again.qp, __ATOMIC_RELAXED) == &qp->qp;
}

__attribute__((noinline)) bool adapter_post_again(struct adapter *adapter,
						  const struct qp_object *qp, uint64_t wr_id,
						  uint32_t flags, const struct sge *sge)
{
	struct attachment *attachment = adapter->attachment;
	bool is_posted = false;

	attachment_lock(attachment);
	if (likely(attachment->sent_again.qp == &qp->qp)) {
		if (attachment->run.qp != &qp->qp && express_again_send(attachment, flags, sge))
			return sent_again(adapter, wr_id, flags, sge);
		is_posted = express_again_is_in_run(attachment, attachment->sent_again.qp) &&
			    express_again_repeat(adapter, wr_id, flags, sge);
		if (is_posted)
			sent_quickly(adapter);
	}
	attachment_unlock_posted(attachment);
	return is_posted;
}

bool adapter_post_listed(struct adapter *adapter, struct qp_object *qp,
			 const struct send_request *request)
{
	adapter->attachment->placed_again.qp = NULL; /* as below */
	return post(adapter, &qp->qp, request);
}

/* The peer has what was placed. Not in line: what comes before it needs few registers. */
__attribute__((noinline)) static const uint8_t *
placed_again(struct adapter *adapter, uint64_t wr_id, uint32_t flags, const uint8_t *place)
{
	struct attachment *attachment = adapter->attachment;

	placement_lane_placed(&attachment->placed_again, wr_id, flags, lane_time(attachment));
	sent_quickly(adapter);
	attachment_unlock_unchanged(attachment);
	return place;
}

bool adapter_places_again(const struct adapter *adapter, const struct qp_object *qp)
{
	return __atomic_load_n(&adapter->attachment->placed_again.qp, __ATOMIC_RELAXED) == &qp->qp;
}

__attribute__((noinline)) const uint8_t *
adapter_place_again(struct adapter *adapter, const struct qp_object *qp, uint64_t wr_id,
		    uint32_t flags, const struct sge *sge, const struct remote_place *remote)
{
	struct attachment *attachment = adapter->attachment;
	const struct placed_again *again = &attachment->placed_again;
	const uint8_t *place = NULL;

	attachment_lock(attachment);
	if (likely(again->qp == &qp->qp))
		place = placement_lane_again(again, flags, sge, remote);
	if (likely(place))
		return placed_again(adapter, wr_id, flags, place);
	attachment_unlock(attachment);
	return NULL;
}

bool adapter_place(struct adapter *adapter, struct qp_object *qp,
		   const struct send_request *request)
{
	attachment_lock(adapter->attachment);

	bool is_placed = placement_post(adapter, &qp->qp, request);

	if (likely(is_placed))
		sent_quickly(adapter);
	attachment_unlock_unchanged(adapter->attachment);
	return is_placed;
}

static inline bool place_again(struct attachment *attachment, const struct qp *qp,
			       const struct send_request *request)
{
	const struct remote_place remote = {request->remote_address, request->remote_key};

	if (attachment->placed_again.qp != qp || request->opcode != SEND_RDMA_WRITE ||
	    !placement_lane_again(&attachment->placed_again, request->flags, request->sges, &remote))
		return false;
	placement_lane_placed(&attachment->placed_again, request->wr_id, request->flags,
			      lane_time(attachment));
	return true;
}

bool adapter_place_listed(struct adapter *adapter, struct qp_object *qp,
			  const struct send_request *request)
{
	struct attachment *attachment = adapter->attachment;

	/* Whoever posts much copies it, but for the others' sake not in one go. */
	if (attachment_has_more_to_place(attachment) ||
	    !(place_again(attachment, &qp->qp, request) ||
	      placement_post(adapter, &qp->qp, request)))
		return false;
	attachment->placed_bytes += request->sges[0].byte_count;
	attachment->run.qp = NULL; /* it has PSNs, which repeats would not count */
	return true;
}

void adapter_unlock_listed(struct adapter *adapter)
{
	sent_quickly(adapter);
	biased_lock_leave(&adapter->attachment->lock);
}

void adapter_send(struct adapter *adapter, struct qp_object *qp)
{
	struct attachment *attachment = adapter->attachment;

	if (likely(placement_is_next(&qp->qp) ? placement_send(adapter, &qp->qp)
					      : express_lane_send(adapter, &qp->qp))) {
		sent_quickly(adapter);
		return;
	}
	hca_ready_add(&adapter->hca, &qp->qp);

	time_ns now = attachment_now();

	helper_watch_polls(attachment, now);
	transmit_round(adapter, now);
	/* Whoever posts much copies it, but for the others' sake not in one go. */
	for (unsigned round = 0;
	     round < COPY_ROUNDS && unlikely(attachment_has_more_to_place(attachment)); round++) {
		adapter_unlock(adapter);
		adapter_lock(adapter);
		transmit_round(adapter, attachment_now());
	}
	attachment_wake_helper(attachment);
}

bool adapter_sends_through_softibd(const struct adapter *adapter)
{
	return adapter->attachment->sends_through_softibd;
}

unsigned adapter_programs_per_core(const struct adapter *adapter)
{
	static unsigned cores;
	unsigned core_count = __atomic_load_n(&cores, __ATOMIC_RELAXED);

	if (unlikely(!core_count)) {
		cpu_set_t set;

		core_count = sched_getaffinity(0, sizeof(set), &set) == 0
				     ? (unsigned)CPU_COUNT(&set)
				     : 1;
		__atomic_store_n(&cores, core_count, __ATOMIC_RELAXED);
	}

	const uint32_t programs =
		__atomic_load_n(&adapter->attachment->fabric_page->program_count, __ATOMIC_RELAXED);

	return programs > core_count ? (programs + core_count - 1) / core_count : 1;
}

bool adapter_is_paced(const struct adapter *adapter)
{
	return adapter->attachment->fabric_page->is_paced;
}

void adapter_nap(struct adapter *adapter, time_ns nap_ns)
{
	const struct timespec moment = {.tv_nsec = (long)nap_ns};

	__atomic_add_fetch(&adapter->attachment->naps, 1, __ATOMIC_RELAXED);
	nanosleep(&moment, NULL);
}

void adapter_expect_silence(struct adapter *adapter)
{
	attachment_call_helper(adapter->attachment);
}

bool adapter_progress(struct adapter *adapter, time_ns now)
{
	return progress(adapter->attachment, now);
}

/* In line, too. */
IN_LINE bool adapter_poll(struct adapter *adapter)
{
	struct attachment *attachment = adapter->attachment;

	/* Timers, full rings and peers that go are looked after now and then. */
	if (likely(++attachment->quick_polls < QUICK_ROUNDS)) {
		enum express_round round = express_lane_round(attachment);

		if (likely(round != EXPRESS_LONG_WAY)) {
			attachment_count_polls(attachment, 1);
			if (round == EXPRESS_NOTHING)
				return false;
			attachment->placed_again.qp = NULL;
			return true;
		}
	}
	return whole_round(attachment);
}

void adapter_want_time(struct adapter *adapter)
{
	adapter->attachment->wants_time = true;
}
