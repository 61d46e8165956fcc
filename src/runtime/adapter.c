/* SPDX-License-Identifier: Apache-2.0 */
/* An adapter in this process: posting and polling. */
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
#include "runtime/xrc/leased_targets.h"
#include "runtime/packets/transmit.h"

enum {
	QUICK_ROUNDS = 128, /* about 5 us */
	POSTS_PER_ROUND = 32,
	COPY_ROUNDS = 16,
};

struct hca *adapter_hca(struct adapter *adapter)
{
	return &adapter->hca;
}

/* Inlined by the callers for which each instruction counts. */
inline void adapter_lock(struct adapter *adapter)
{
	runtime_lock(adapter->runtime);
}

inline bool adapter_try_lock(struct adapter *adapter)
{
	return biased_lock_try(&adapter->runtime->lock);
}

inline void adapter_unlock(struct adapter *adapter)
{
	runtime_unlock(adapter->runtime);
}

void adapter_unlock_unchanged(struct adapter *adapter)
{
	runtime_unlock_unchanged(adapter->runtime);
}

time_ns adapter_now(const struct adapter *adapter)
{
	(void)adapter;
	return runtime_now();
}

void adapter_prepare(struct adapter *adapter, struct qp_object *qp, time_ns now)
{
	transmit_prepare(adapter, &qp->qp, now);
}

void adapter_last_answers(struct adapter *adapter, struct qp_object *qp, time_ns now)
{
	struct process_runtime *runtime = adapter->runtime;

	/* Receive first: if the peer acknowledged and then disconnected, the acknowledged requests
	 * must not be flushed. */
	if (runtime_is_usable(runtime)) {
		guarded_copy_begin(runtime);
		receive_all(runtime, now);
		adapter_transmit(adapter, now);
		guarded_copy_end(runtime);
	}
	transmit_last_answers(adapter, &qp->qp, now);
}

static void transmit_round(struct adapter *adapter, time_ns now)
{
	struct process_runtime *runtime = adapter->runtime;

	runtime->rma_bytes = 0;
	if (unlikely(!runtime_is_usable(runtime)))
		return;
	/* A program that posts much and polls little takes its ACKs here. Otherwise they would wake
	 * the progress thread, which would compete with the program for the lock. */
	runtime_count_polls(runtime, 1);
	runtime->is_posting = true;
	if (receive_has_more(runtime))
		receive_all(runtime, now);
	runtime->is_posting = false;
	transmit_adapter(adapter, now);
	if (unlikely(runtime_has_xrc_leases(runtime)))
		xrc_leases_return_idle(runtime, now);
	publish_all(runtime);
}

void adapter_transmit(struct adapter *adapter, time_ns now)
{
	transmit_round(adapter, now);
	runtime_wake_progress_thread(adapter->runtime);
}

static bool progress(struct process_runtime *runtime, time_ns now)
{
	runtime_count_polls(runtime, 1);

	bool any = runtime_progress(runtime, now);

	runtime_wake_progress_thread(runtime);
	return any;
}

/* A full round, for a program that posts and polls a lot. Not inlined: most rounds would save
 * registers that they do not use. */
__attribute__((noinline)) static bool whole_round(struct process_runtime *runtime)
{
	time_ns now = runtime_now();

	runtime_forget_templates(runtime);
	progress_thread_watch_polls(runtime, now);
	return progress(runtime, now);
}

/* Something was sent without reading the clock. A program that posts much and polls little takes
 * its ACKs and serves its timers here now and then. */
static inline void sent_quickly(struct adapter *adapter)
{
	struct process_runtime *runtime = adapter->runtime;

	if (likely(++runtime->quick_posts % POSTS_PER_ROUND))
		return;
	runtime_count_polls(runtime, POSTS_PER_ROUND);
	runtime->burst.qp = NULL;
	runtime->rma_template.qp = NULL;
	runtime->is_posting = true;
	if (runtime->quick_posts >= QUICK_ROUNDS || poll_round_run(runtime) == POLL_ROUND_FULL)
		(void)whole_round(runtime);
	runtime->is_posting = false;
}

static inline bool post(struct adapter *adapter, struct qp *qp, const struct send_request *request)
{
	return (template_send_is_in_burst(adapter->runtime, qp) &&
		template_send_payload_any(adapter, qp, request)) ||
	       short_send_post(adapter, qp, request);
}

IN_LINE bool adapter_post(struct adapter *adapter, struct qp_object *qp,
			  const struct send_request *request)
{
	runtime_lock(adapter->runtime);

	bool is_posted = post(adapter, &qp->qp, request);

	if (likely(is_posted))
		sent_quickly(adapter);
	runtime_unlock_posted(adapter->runtime);
	return is_posted;
}

/* The peer has the message already. Not inlined: the code before it needs few registers. */
__attribute__((noinline)) static bool send_template(struct adapter *adapter, uint64_t wr_id,
						    uint32_t flags, const struct sge *sge)
{
	template_send_book(adapter, wr_id, flags, sge);
	sent_quickly(adapter);
	runtime_unlock_posted(adapter->runtime);
	return true;
}

bool adapter_has_send_template(const struct adapter *adapter, const struct qp_object *qp)
{
	return __atomic_load_n(&adapter->runtime->send_template.qp, __ATOMIC_RELAXED) == &qp->qp;
}

__attribute__((noinline)) bool adapter_post_by_template(struct adapter *adapter,
							const struct qp_object *qp, uint64_t wr_id,
							uint32_t flags, const struct sge *sge)
{
	struct process_runtime *runtime = adapter->runtime;
	bool is_posted = false;

	runtime_lock(runtime);
	if (likely(runtime->send_template.qp == &qp->qp)) {
		if (runtime->burst.qp != &qp->qp && template_send_single(runtime, flags, sge))
			return send_template(adapter, wr_id, flags, sge);
		is_posted = template_send_is_in_burst(runtime, runtime->send_template.qp) &&
			    template_send_payload(adapter, wr_id, flags, sge);
		if (is_posted)
			sent_quickly(adapter);
	}
	runtime_unlock_posted(runtime);
	return is_posted;
}

bool adapter_post_listed(struct adapter *adapter, struct qp_object *qp,
			 const struct send_request *request)
{
	adapter->runtime->rma_template.qp = NULL; /* see runtime_unlock_posted */
	return post(adapter, &qp->qp, request);
}

/* The peer's memory has the bytes already. Not inlined: the code before it needs few registers. */
__attribute__((noinline)) static const uint8_t *
rma_template(struct adapter *adapter, uint64_t wr_id, uint32_t flags, const uint8_t *place)
{
	struct process_runtime *runtime = adapter->runtime;

	rma_short_book(&runtime->rma_template, wr_id, flags, fast_path_time(runtime));
	sent_quickly(adapter);
	runtime_unlock_unchanged(runtime);
	return place;
}

bool adapter_has_rma_template(const struct adapter *adapter, const struct qp_object *qp)
{
	return __atomic_load_n(&adapter->runtime->rma_template.qp, __ATOMIC_RELAXED) == &qp->qp;
}

__attribute__((noinline)) const uint8_t *
adapter_rma_by_template(struct adapter *adapter, const struct qp_object *qp, uint64_t wr_id,
			uint32_t flags, const struct sge *sge, const struct remote_place *remote)
{
	struct process_runtime *runtime = adapter->runtime;
	const struct rma_template *template = &runtime->rma_template;
	const uint8_t *place = NULL;

	runtime_lock(runtime);
	if (likely(template->qp == &qp->qp))
		place = rma_short_by_template(template, flags, sge, remote);
	if (likely(place))
		return rma_template(adapter, wr_id, flags, place);
	runtime_unlock(runtime);
	return NULL;
}

bool adapter_rma(struct adapter *adapter, struct qp_object *qp, const struct send_request *request)
{
	runtime_lock(adapter->runtime);

	bool is_placed = rma_post(adapter, &qp->qp, request);

	if (likely(is_placed))
		sent_quickly(adapter);
	runtime_unlock_unchanged(adapter->runtime);
	return is_placed;
}

static inline bool place_again(struct process_runtime *runtime, const struct qp *qp,
			       const struct send_request *request)
{
	const struct remote_place remote = {request->remote_address, request->remote_key};

	if (runtime->rma_template.qp != qp || request->opcode != SEND_RDMA_WRITE ||
	    !rma_short_by_template(&runtime->rma_template, request->flags, request->sges, &remote))
		return false;
	rma_short_book(&runtime->rma_template, request->wr_id, request->flags,
		       fast_path_time(runtime));
	return true;
}

bool adapter_rma_listed(struct adapter *adapter, struct qp_object *qp,
			const struct send_request *request)
{
	struct process_runtime *runtime = adapter->runtime;

	/* Copies of a long list are broken off, so that other threads get the lock. */
	if (runtime_has_more_rma(runtime) ||
	    !(place_again(runtime, &qp->qp, request) || rma_post(adapter, &qp->qp, request)))
		return false;
	runtime->rma_bytes += request->sges[0].byte_count;
	runtime->burst.qp = NULL; /* the WRITE takes PSNs that payload records would not count */
	return true;
}

void adapter_unlock_listed(struct adapter *adapter)
{
	sent_quickly(adapter);
	biased_lock_leave(&adapter->runtime->lock);
}

void adapter_send(struct adapter *adapter, struct qp_object *qp)
{
	struct process_runtime *runtime = adapter->runtime;

	if (likely(rma_is_next(&qp->qp) ? rma_send(adapter, &qp->qp)
					: short_send_queued(adapter, &qp->qp))) {
		sent_quickly(adapter);
		return;
	}
	hca_ready_add(&adapter->hca, &qp->qp);

	time_ns now = runtime_now();

	progress_thread_watch_polls(runtime, now);
	transmit_round(adapter, now);
	/* Copies of a long list are broken off, so that other threads get the lock. */
	for (unsigned round = 0; round < COPY_ROUNDS && unlikely(runtime_has_more_rma(runtime));
	     round++) {
		adapter_unlock(adapter);
		adapter_lock(adapter);
		transmit_round(adapter, runtime_now());
	}
	runtime_wake_progress_thread(runtime);
}

bool adapter_sends_through_softibd(const struct adapter *adapter)
{
	return adapter->runtime->sends_through_softibd;
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
		__atomic_load_n(&adapter->runtime->fabric_page->program_count, __ATOMIC_RELAXED);

	return programs > core_count ? (programs + core_count - 1) / core_count : 1;
}

bool adapter_is_paced(const struct adapter *adapter)
{
	return adapter->runtime->fabric_page->is_paced;
}

void adapter_nap(struct adapter *adapter, time_ns nap_ns)
{
	const struct timespec moment = {.tv_nsec = (long)nap_ns};

	__atomic_add_fetch(&adapter->runtime->naps, 1, __ATOMIC_RELAXED);
	nanosleep(&moment, NULL);
}

void adapter_expect_silence(struct adapter *adapter)
{
	runtime_call_progress_thread(adapter->runtime);
}

bool adapter_progress(struct adapter *adapter, time_ns now)
{
	return progress(adapter->runtime, now);
}

/* As adapter_lock: inlined where each instruction counts. */
IN_LINE bool adapter_poll(struct adapter *adapter)
{
	struct process_runtime *runtime = adapter->runtime;

	/* Timers, full rings and peers that leave are served in a full round now and then. */
	if (likely(++runtime->quick_polls < QUICK_ROUNDS)) {
		enum poll_round round = poll_round_run(runtime);

		if (likely(round != POLL_ROUND_FULL)) {
			runtime_count_polls(runtime, 1);
			if (round == POLL_ROUND_IDLE)
				return false;
			runtime->rma_template.qp = NULL;
			return true;
		}
	}
	return whole_round(runtime);
}

void adapter_want_time(struct adapter *adapter)
{
	adapter->runtime->wants_time = true;
}
