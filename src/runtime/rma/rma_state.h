/* SPDX-License-Identifier: Apache-2.0 */
/* What runtime/rma/rma.c and its lane keep of peers and queue pairs. */
#ifndef SOFTIB_RUNTIME_RMA_RMA_STATE_H
#define SOFTIB_RUNTIME_RMA_RMA_STATE_H

#include <stdbool.h>
#include <stdint.h>
#include "runtime/channel.h"
#include "runtime/rma/pinned_write.h"
#include "ipc/rma_area.h"
#include "runtime/rma/peer_memory.h"
#include "net/transport/qp.h"
#include "net/transport/rma/rma_bypass.h"

struct flow;

/* A peer, as its channel has it. */
struct rma_peer {
	struct peer_memory peer_memory;
	struct pinned_write pinned;
	unsigned failures;
	uint32_t next_index;
	uint32_t index_limit; /* no index from here on was ever taken */
	uint32_t ask_count;
	struct rma *by_index[RMA_QPS_MAX];
};

/* The part of the region that was used last which is reached in one way: what the rule allows for
 * all of it, it allows for each part. Holds while the entry that it was made from is current. */
struct rma_range {
	const struct published_key *entry; /* NULL: none */
	uint32_t sequence;
	uint32_t key;
	uint64_t from, to; /* as keys count */
	uint8_t *shared;   /* here; NULL: the system moves the bytes */
	uint64_t address;  /* in the peer */
};

/* A queue pair that has asked to go past the packets. What each request needs comes first. */
struct rma {
	struct channel *channel; /* NULL: it has gone */
	const struct flow *flow;
	uint32_t serial; /* of the grant that was read; 0: none */
	uint32_t index;
	uint32_t ask_number;
	uint32_t message_count;
	uint32_t piece_offset; /* of a request that is half done */
	uint32_t ask_pause;    /* requests until the next question */
	uint32_t asked_pause;
	bool has_asked;
	bool is_asked_ahead; /* the question went out before any request (ask_ahead) */
	bool is_awaited;     /* the answer; the request behind the question was not acknowledged */
	uint32_t asked_request;	 /* where that one is in the queue */
	uint64_t asked_position; /* of the ring, behind the question */
	time_ns asked_at;
	struct rma_range write_range, read_range;
	struct rma_grant grant;
	struct published_view view;
};

/* Between these two this process may be at the peer's memory: what the peer takes back after the
 * first is seen here, and what it takes back later it waits for. What was done is shown before the
 * second. A peer that has us pass a barrier before it looks (rkey_export_wait) spares us our own.
 */
static inline void hazard_begin(const struct channel *channel)
{
	uint64_t *hazard = &channel->rma_out->hazard;
	const uint64_t begun = __atomic_load_n(hazard, __ATOMIC_RELAXED) | 1;

	if (likely(channel->out.is_fenced &&
		   __atomic_load_n(&channel->out.shared->consumer_fences, __ATOMIC_RELAXED))) {
		__atomic_store_n(hazard, begun, __ATOMIC_RELAXED);
		__atomic_signal_fence(__ATOMIC_SEQ_CST);
		return;
	}
	(void)__atomic_exchange_n(hazard, begun, __ATOMIC_SEQ_CST);
}

static inline void hazard_end(const struct channel *channel)
{
	uint64_t *hazard = &channel->rma_out->hazard;

	__atomic_store_n(hazard, (__atomic_load_n(hazard, __ATOMIC_RELAXED) | 1) + 1,
			 __ATOMIC_RELEASE);
}

/* The grant's serial as the peer shows it now. */
static inline uint32_t rma_serial(const struct rma *rma)
{
	return __atomic_load_n(&rma->channel->rma_out->grants[rma->index].serial, __ATOMIC_SEQ_CST);
}

static inline void rma_show(const struct qp *qp, const struct rma *rma)
{
	uint64_t word = rma_progress_word(qp->requester.next_psn.value, rma->message_count,
					  rma->ask_number);

	__atomic_store_n(&rma->channel->rma_out->placed[rma->index], word, __ATOMIC_RELEASE);
}

#endif
