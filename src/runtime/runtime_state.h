/* SPDX-License-Identifier: Apache-2.0 */
/*
 * This process on its fabric: the rings to softibd and to other processes, the adapters that are
 * open, the flows, and one lock over all of it.
 *
 * The lock covers everything but what is marked. It is held by threads of this process only and
 * never across a call that can block.
 *
 * The units of host/ include this header; attachment.h attaches the process and drives them.
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
#include "runtime/fast/send_template.h"
#include "ipc/protocol.h"
#include "net/hca/hca.h"

struct shared_mr;
struct process_runtime;
struct rkey_export_header;
struct published_key;
struct session;

/* What this process lets its peers know (runtime/rma/rkey_export.h). */
struct rkey_export {
	struct rkey_export_header *header; /* NULL: there is none */
	struct published_key *keys;
	int file; /* for pages that are shared */
	struct shared_mr *shared_mr;
};

/* Bytes that one round of transmitting may move past the packets before others get their turn at
 * the lock. */
enum { RUNTIME_RMA_BYTES_MAX = 4 << 20 };

/* A block of queue pair numbers that softibd gave. */
struct qpn_grant {
	uint32_t first;
	uint32_t count;
};

/* runtime/adapter.h's; lives as long as the attachment, so that a reopened adapter finds its QPNs.
 */
struct adapter {
	struct process_runtime *runtime;
	const struct adapter_description *description;
	unsigned open_count;
	bool has_hca; /* hca is initialised */
	struct hca hca;
	struct memory_observer key_observer; /* of the hca's memory */
	struct qpn_grant *grants;
	unsigned grant_count;
	struct key_violation violations[HCA_PORTS_MAX][2]; /* untold, by port index and enum
							      violated_key */
};

/* One word that softibd is to be told. */
struct owed_record {
	enum record_kind kind;
	uint32_t adapter_index;
	uint32_t word;
};

/* Of an hca whose events nobody wants. */
extern const struct hca_owner adapter_nobody;

enum progress_mode {
	PROGRESS_WORKING,
	PROGRESS_LISTENING,   /* asleep; whoever needs it rings our doorbell */
	PROGRESS_STAYING_OUT, /* the program polls: nobody rings, the helper looks in now and then
			       */
};

/* How much the program polls while the helper listens: spells of many polls in a short time. */
struct poll_watch {
	uint64_t polls; /* when this one began */
	time_ns since;
	unsigned spells; /* in a row */
	unsigned spells_per_excuse;
};

struct process_runtime {
	struct biased_lock lock;
	struct session *session;
	const struct fabric_page *fabric_page;
	size_t fabric_page_bytes;
	struct channel softibd;
	int doorbell;		   /* ours; the helper sleeps on it */
	struct channel **channels; /* direct ones */
	unsigned channel_count;
	unsigned channel_capacity;
	unsigned wanted_count; /* atomic: channels to be fetched; the down ring is not read on while
				  there are any */
	struct rkey_export rkey_export;
	uint32_t pinned_bytes; /* of pages, for peers: runtime/rma/pinned_range.h */
	uint32_t pin_ring_count;
	uint64_t rma_bytes;	 /* past the packets, in this round of transmitting */
	uint64_t zcopy_bytes;	 /* in this round of receiving: runtime/zcopy/zcopy_send.h */
	struct list unpublished; /* channels with records that are not published */
	struct list lending;	 /* channels by loans.link: runtime/zcopy/ud_zcopy.h */
	struct flow_table flows;
	time_ns violations_told_at;
	time_ns violations_due;	  /* untold ones: runtime/key_violations.h; TIME_NEVER: none */
	time_ns give_back_at;	  /* of a shared XRC target that could not go yet */
	struct owed_record *owed; /* about shared XRC domains, which had no room */
	unsigned owed_count;
	struct adapter *adapters[SESSION_ADAPTERS_MAX]; /* by index; NULL until first opened */
	unsigned adapter_limit;				/* no index from here on is in use */
	bool is_fenced;	  /* a sleeper's process_fence reaches this process, and ours the others */
	bool may_go_fast; /* runtime/fast/short_send.h; not when it is failed or abandoned */
	bool wants_time;  /* some completion queue shows when its completions came */
	bool is_posting;  /* rings are read in a call that posts: the program may be about to post
			     more */
	time_ns last_now; /* the clock as read last */
	unsigned busy_next; /* of channels, for runtime/fast/short_send.h */
	unsigned idle_next;
	unsigned quick_polls; /* since a round of runtime_progress */
	unsigned quick_posts;
	struct burst_out burst; /* of what was posted last: until the lock is left otherwise */
	struct rma_template rma_template; /* these two: the same (runtime/fast/send_template.h) */
	struct send_template send_template;
	bool is_failed;		    /* softibd is gone */
	bool is_abandoned;	    /* this is a child of the process that attached */
	bool sends_through_softibd; /* the last packets went by the fabric path */
	uint64_t discarded;	    /* packets thrown away at stalled consumers or for their size */
	uint64_t malformed;	    /* records that were no packets */

	pthread_t helper;
	enum progress_mode progress_mode;
	time_ns progress_wakes_at; /* by itself */
	uint64_t poll_count; /* atomic: polls and posts that looked at the rings, and records that
				they found */
	uint64_t naps;	     /* atomic: how often we made the program sleep (adapter_nap) */
	bool progress_is_called;  /* atomic: the program is about to stop polling */
	bool progress_is_excused; /* atomic: the helper has not heard yet that it is to stay out */
	struct poll_watch watch;
};

static inline void runtime_lock(struct process_runtime *runtime)
{
	biased_lock_take(&runtime->lock);
}

/* What was found about requests (runtime/fast/send_template.h, runtime/fast/burst.h) may hold no
 * longer. */
static inline void runtime_forget_templates(struct process_runtime *runtime)
{
	runtime->burst.qp = NULL;
	runtime->burst.may_go_on = false;
	runtime->rma_template.qp = NULL;
	runtime->send_template.qp = NULL;
}

static inline void runtime_unlock(struct process_runtime *runtime)
{
	runtime_forget_templates(runtime);
	biased_lock_leave(&runtime->lock);
}

/* Nothing was done but to post by runtime/fast/short_send.h. */
static inline void runtime_unlock_posted(struct process_runtime *runtime)
{
	runtime->rma_template.qp = NULL;
	biased_lock_leave(&runtime->lock);
}

/* Of what requests to send rest on (runtime/fast/send_template.h) nothing was changed but by them.
 */
static inline void runtime_unlock_unchanged(struct process_runtime *runtime)
{
	runtime->burst.qp = NULL;
	biased_lock_leave(&runtime->lock);
}

/* Written under the lock, read by the helper without. */
static inline void runtime_count_polls(struct process_runtime *runtime, unsigned polls)
{
	__atomic_store_n(&runtime->poll_count, runtime->poll_count + polls, __ATOMIC_RELAXED);
}

static inline uint32_t runtime_generation(const struct process_runtime *runtime)
{
	return __atomic_load_n(&runtime->fabric_page->generation, __ATOMIC_ACQUIRE);
}

static inline bool runtime_is_usable(const struct process_runtime *runtime)
{
	return !runtime->is_failed && !runtime->is_abandoned;
}

/* The adapter that a record is for, as strangers name it; NULL: there is none that works. */
static inline struct adapter *runtime_adapter(const struct process_runtime *runtime, unsigned index)
{
	struct adapter *adapter = index < SESSION_ADAPTERS_MAX ? runtime->adapters[index] : NULL;

	return likely(adapter && adapter->has_hca) ? adapter : NULL;
}

static inline bool runtime_is_fast(const struct process_runtime *runtime)
{
	return runtime->may_go_fast;
}

/* While there is traffic, timers that the program starts are noticed this late at most. */
#define PROGRESS_TICK_NS MILLISECONDS(10)

/* Whether the helper will look in by itself before long, and so sees to timers that are undated. */
static inline bool runtime_is_looked_after(const struct process_runtime *runtime)
{
	return runtime->progress_mode == PROGRESS_STAYING_OUT ||
	       runtime->progress_wakes_at <= runtime->last_now + PROGRESS_TICK_NS;
}

/* Whether runtime/xrc/leased_targets.h has anything to do. */
static inline bool runtime_has_xrc_leases(const struct process_runtime *runtime)
{
	bool any = runtime->owed_count != 0 || runtime->give_back_at != TIME_NEVER;

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

/* Whether copies past the packets were broken off, so that others get their turn at the lock. */
static inline bool runtime_has_more_rma(const struct process_runtime *runtime)
{
	return runtime->rma_bytes >= RUNTIME_RMA_BYTES_MAX;
}

#endif
