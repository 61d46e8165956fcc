/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The process runtime: the rings to softibd and to other processes, the open adapters, the flows,
 * and one lock over all of it.
 *
 * The lock covers every field that is not marked otherwise. Only threads of this process hold it,
 * and never across a call that can block.
 *
 * All of src/runtime includes this header; process_runtime.h attaches the process to its fabric and
 * makes progress.
 */
#ifndef SOFTIB_RUNTIME_RUNTIME_STATE_H
#define SOFTIB_RUNTIME_RUNTIME_STATE_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <time.h>
#include "base/attributes.h"
#include "base/list.h"
#include "base/time.h"
#include "runtime/adapter_description.h"
#include "runtime/biased_lock.h"
#include "runtime/channel.h"
#include "runtime/flows.h"
#include "ipc/protocol.h"
#include "net/hca/hca.h"

struct shared_mr;
struct process_runtime;
struct rkey_export_header;
struct published_key;
struct session;

/* The keys and pages that this process exports to its peers (runtime/rma/rkey_export.h). */
struct rkey_export {
	struct rkey_export_header *header; /* NULL: there is none */
	struct published_key *keys;
	int file; /* of the shared pages */
	struct shared_mr *shared_mr;
};

/* Bytes that one round of transmitting may copy by RMA before other threads get their turn at the
 * lock. */
enum { RUNTIME_RMA_BYTES_MAX = 4 << 20 };

/* A block of queue pair numbers that softibd has given to this process. */
struct qpn_grant {
	uint32_t first;
	uint32_t count;
};

/* An adapter (runtime/adapter.h). Lives as long as the process runtime, so that a reopened adapter
 * finds its QPNs. */
struct adapter {
	struct process_runtime *runtime;
	const struct adapter_description *description;
	unsigned open_count;
	bool has_hca; /* hca is initialised */
	struct hca hca;
	struct memory_observer key_observer; /* of the hca's memory */
	struct qpn_grant *grants;
	unsigned grant_count;
	struct key_violation violations[HCA_PORTS_MAX][2]; /* not reported yet, by port index and
							      enum violated_key */
};

/* A record of one word that still has to be sent to softibd. */
struct owed_record {
	enum record_kind kind;
	uint32_t adapter_index;
	uint32_t word;
};

/* The owner of an hca whose events nobody wants. */
extern const struct hca_owner adapter_nobody;

enum progress_mode {
	PROGRESS_WORKING,
	PROGRESS_LISTENING,   /* asleep; producers ring our doorbell */
	PROGRESS_STAYING_OUT, /* the program polls: producers do not ring, and the progress thread
				 checks now and then */
};

/* How much the program polls while the progress thread listens: spells of many polls in a short
 * time. */
struct poll_watch {
	uint64_t polls; /* when this spell began */
	time_ns since;
	unsigned spells; /* in a row */
	unsigned spells_per_excuse;
};

/* The direct channels of the process. */
struct direct_channels {
	struct channel **channels;
	unsigned count, capacity;
	unsigned wanted_count; /* atomic: channels to be fetched; while there are any, the down ring
				  is not read */
	unsigned exposure_count; /* atomic: shared pages of peers to be fetched */
};

/* Pages that are pinned for peers: runtime/rma/pinned_range.h. */
struct pin_use {
	uint32_t byte_count;
	uint32_t ring_count;
};

/* The rounds of polling and posting that read the rings. */
struct rounds {
	unsigned busy_next; /* index of channels, for runtime/fast/poll_round.c */
	unsigned idle_next;
	unsigned quick_polls; /* since the last runtime_progress */
	unsigned quick_posts;
	bool is_posting;    /* rings are read in a call that posts: the program may be about to post
			       more */
	uint64_t rma_bytes; /* copied by RMA in this round of transmitting */
	uint64_t zcopy_bytes; /* copied in this round of receiving: runtime/zcopy/zcopy_send.h */
};

/* When violated keys are reported: runtime/key_violations.h. */
struct violation_times {
	time_ns told_at;
	time_ns due; /* unreported ones; TIME_NEVER: none */
};

/* What this process owes softibd for shared XRC domains: runtime/xrc/leased_targets.h. */
struct xrc_debts {
	time_ns give_back_at;	     /* of a shared target that could not be returned yet */
	struct owed_record *records; /* that found no room in the ring */
	unsigned count;
};

/* Records that came to nothing. */
struct drop_counts {
	uint64_t discarded;   /* packets discarded for stalled consumers or for their size */
	uint64_t malformed;   /* records that were not valid packets */
	uint64_t not_granted; /* packets that their sender may not send here */
};

/* The progress thread, and how the program polls: runtime/progress_thread.h. */
struct progress {
	pthread_t thread;
	enum progress_mode mode;
	time_ns wakes_at;    /* by its own timer */
	uint64_t poll_count; /* atomic: polls and posts that read the rings, and the records that
				they found */
	uint64_t naps;	     /* atomic: how often adapter_nap made the program sleep */
	uint64_t call_count; /* atomic: how often the program was about to stop polling */
	bool is_called;	     /* atomic: it was while the thread stayed out */
	bool is_excused;     /* atomic: the progress thread has not seen yet that it is to stay out
			      */
	bool has_ended;	     /* atomic: softibd hung up, and the progress thread is gone */
	struct poll_watch watch;
};

struct process_runtime {
	struct biased_lock lock;
	/* How often the lock was taken, or the rings were read by a call that posts. In the next
	 * turn everything is as the last one left it. */
	uint64_t turn;
	struct session *session;
	const struct fabric_page *fabric_page;
	size_t fabric_page_bytes;
	struct channel softibd;
	int doorbell; /* ours; the progress thread sleeps on it */
	struct direct_channels direct;
	struct rkey_export rkey_export;
	struct pin_use pins;
	struct list unpublished;    /* channels with unpublished records */
	struct list zcopy_channels; /* channels with UD zcopies, by zcopies.link:
				       runtime/zcopy/ud_zcopy.h */
	struct flow_table flows;
	struct adapter *adapters[SESSION_ADAPTERS_MAX]; /* by index; NULL until first opened */
	unsigned adapter_limit;				/* no index from here on is in use */
	bool is_fenced; /* a sleeper's process_fence covers this process, and ours covers the others
			 */
	bool may_go_fast;  /* runtime/fast/short_send.h; false when is_failed or is_abandoned */
	bool wants_time;   /* some completion queue shows timestamps */
	bool is_failed;	   /* softibd is gone */
	bool is_abandoned; /* this is a forked child of the process that attached */
	bool sends_through_softibd; /* the last packets were relayed by softibd */
	unsigned forms;		    /* set of enum send_form that SEND requests may take */
	time_ns last_now;	    /* the last reading of the clock */
	struct rounds rounds;
	struct violation_times violations;
	struct xrc_debts xrc_debts;
	struct drop_counts drops;
	struct progress progress;
};

static inline void runtime_lock(struct process_runtime *runtime)
{
	biased_lock_take(&runtime->lock);
	runtime->turn++;
}

static inline void runtime_unlock(struct process_runtime *runtime)
{
	biased_lock_leave(&runtime->lock);
}

/* Flows or channels are dropped: no template may lead there (net/transport/fast/templates.h). */
static inline void runtime_invalidate(struct process_runtime *runtime)
{
	for (unsigned i = 0; i < runtime->adapter_limit; i++)
		if (runtime->adapters[i] && runtime->adapters[i]->has_hca)
			invalidate(&runtime->adapters[i]->hca.environment);
}

/* Written under the lock; the progress thread reads it without the lock. */
static inline void runtime_count_polls(struct process_runtime *runtime, unsigned polls)
{
	__atomic_store_n(&runtime->progress.poll_count, runtime->progress.poll_count + polls,
			 __ATOMIC_RELAXED);
}

static inline uint32_t runtime_generation(const struct process_runtime *runtime)
{
	return __atomic_load_n(&runtime->fabric_page->generation, __ATOMIC_ACQUIRE);
}

static inline bool runtime_is_usable(const struct process_runtime *runtime)
{
	return !runtime->is_failed && !runtime->is_abandoned;
}

/* The adapter of an index that another process wrote into a record; NULL: no adapter of this index
 * works. */
static inline struct adapter *runtime_adapter(const struct process_runtime *runtime, unsigned index)
{
	struct adapter *adapter = index < SESSION_ADAPTERS_MAX ? runtime->adapters[index] : NULL;

	return likely(adapter && adapter->has_hca) ? adapter : NULL;
}

static inline bool runtime_is_fast(const struct process_runtime *runtime)
{
	return runtime->may_go_fast;
}

/* While there is traffic, a timer that the program starts is noticed at most this late. */
#define PROGRESS_TICK_NS MILLISECONDS(10)

/* Whether the progress thread wakes by itself soon, so that it sees to timers whose date is not set
 * yet. */
static inline bool runtime_is_looked_after(const struct process_runtime *runtime)
{
	return runtime->progress.mode == PROGRESS_STAYING_OUT ||
	       runtime->progress.wakes_at <= runtime->last_now + PROGRESS_TICK_NS;
}

/* Whether runtime/xrc/leased_targets.h has anything to do. */
static inline bool runtime_has_xrc_leases(const struct process_runtime *runtime)
{
	bool any = runtime->xrc_debts.count != 0 || runtime->xrc_debts.give_back_at != TIME_NEVER;

	for (unsigned i = 0; i < runtime->adapter_limit; i++)
		any |= runtime->adapters[i] && runtime->adapters[i]->has_hca &&
		       !list_is_empty(&runtime->adapters[i]->hca.borrowed);
	return any;
}

/* CLOCK_MONOTONIC; from the vdso. */
static inline time_ns runtime_now(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return SECONDS(now.tv_sec) + (time_ns)now.tv_nsec;
}

/* Whether RMA copies were broken off so that other threads get their turn at the lock. */
static inline bool runtime_has_more_rma(const struct process_runtime *runtime)
{
	return runtime->rounds.rma_bytes >= RUNTIME_RMA_BYTES_MAX;
}

#endif
