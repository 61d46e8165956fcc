/* SPDX-License-Identifier: Apache-2.0 */
/* An adapter in this process: posting and polling. */
#include "runtime/adapter.h"

#include <sched.h>
#include <time.h>
#include "runtime/process_runtime.h"
#include "runtime/channel_queues.h"
#include "runtime/fast/short_send.h"
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
	if (!biased_lock_try(&adapter->runtime->lock))
		return false;
	adapter->runtime->turn++;
	return true;
}

inline void adapter_unlock(struct adapter *adapter)
{
	runtime_unlock(adapter->runtime);
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
		receive_all(runtime, now);
		adapter_transmit(adapter, now);
	}
	transmit_last_answers(adapter, &qp->qp, now);
	/* The program may end before its next round. */
	publish_all(runtime);
}

static void transmit_round(struct adapter *adapter, time_ns now)
{
	struct process_runtime *runtime = adapter->runtime;

	runtime->rounds.rma_bytes = 0;
	if (unlikely(!runtime_is_usable(runtime)))
		return;
	/* A program that posts much and polls little takes its ACKs here. Otherwise they would wake
	 * the progress thread, which would compete with the program for the lock. */
	runtime_count_polls(runtime, 1);
	runtime->rounds.is_posting = true;
	if (receive_has_more(runtime))
		receive_all(runtime, now);
	runtime->rounds.is_posting = false;
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

	progress_thread_watch_polls(runtime, now);
	return progress(runtime, now);
}

/* Something was sent without reading the clock. A program that posts much and polls little takes
 * its ACKs and serves its timers here now and then. */
inline void adapter_posted(struct adapter *adapter)
{
	struct process_runtime *runtime = adapter->runtime;

	runtime->rounds.rma_bytes = 0;
	if (likely(++runtime->rounds.quick_posts % POSTS_PER_ROUND))
		return;
	runtime->turn++;
	runtime_count_polls(runtime, POSTS_PER_ROUND);
	runtime->rounds.is_posting = true;
	if (runtime->rounds.quick_posts >= QUICK_ROUNDS ||
	    poll_round_run(runtime) == POLL_ROUND_FULL)
		(void)whole_round(runtime);
	runtime->rounds.is_posting = false;
}

bool adapter_post_by_template(struct adapter *adapter, struct qp_object *qp, uint64_t wr_id,
			      uint32_t flags, const struct sge *sge)
{
	return qp->qp.type == QP_RC &&
	       short_send_post_by_template(adapter, &qp->qp, wr_id, flags, sge);
}

bool adapter_rma(struct adapter *adapter, struct qp_object *qp, const struct rma_request *request,
		 const struct sge *sge)
{
	return rma_post(adapter, &qp->qp, request, sge);
}

bool adapter_post(struct adapter *adapter, struct qp_object *qp, const struct send_request *request)
{
	return short_send_post(adapter, &qp->qp, request);
}

void adapter_send(struct adapter *adapter, struct qp_object *qp)
{
	struct process_runtime *runtime = adapter->runtime;

	runtime->turn++; /* the engine may change whatever a burst rests on */

	if (likely(rma_is_next(&qp->qp) && rma_send(adapter, &qp->qp))) {
		adapter_posted(adapter);
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

	__atomic_add_fetch(&adapter->runtime->progress.naps, 1, __ATOMIC_RELAXED);
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
	if (likely(++runtime->rounds.quick_polls < QUICK_ROUNDS)) {
		enum poll_round round = poll_round_run(runtime);

		if (likely(round != POLL_ROUND_FULL)) {
			runtime_count_polls(runtime, 1);
			return round == POLL_ROUND_DONE;
		}
	}
	return whole_round(runtime);
}

void adapter_want_time(struct adapter *adapter)
{
	adapter->runtime->wants_time = true;
}
