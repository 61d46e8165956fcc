/* SPDX-License-Identifier: Apache-2.0 */
/* The initiator's RMA state of a peer and of a queue pair, for runtime/rma/rma.c and rma_short.c.
 */
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

/* RMA state of one peer; the channel to that peer owns it. */
struct rma_peer {
	struct peer_memory peer_memory;
	struct pinned_write pinned;
	unsigned failures;
	uint32_t next_index;
	uint32_t index_limit; /* all indexes from here on were never used */
	uint32_t ask_count;
	struct rma *by_index[RMA_QPS_MAX];
};

/* A range of the last used region that is reached in one way only, mapped or by CMA. The access
 * checks passed for the whole range, so they pass for every part of it. Valid while the sequence of
 * the key's entry is unchanged. */
struct rma_range {
	const struct published_key *entry; /* NULL: none */
	uint32_t sequence;
	uint32_t key;
	uint64_t from, to; /* remote addresses, as the R_Key counts them */
	uint8_t *shared;   /* mapped in this process; NULL: CMA moves the bytes */
	uint64_t address;  /* in the peer's address space */
};

/* A queue pair that has asked for RMA. The fields that every request reads come first. */
struct rma {
	struct channel *channel; /* NULL: the channel is closed */
	struct flow *flow;
	uint64_t epoch;		      /* in which flow and queue pair were found fit for RMA */
	struct template_region local; /* of the last WRITE */
	uint32_t serial;	      /* of the grant in the field below; 0: no grant */
	uint32_t index;
	uint32_t ask_number;
	uint32_t message_count;
	uint32_t piece_offset; /* bytes already moved of the request in progress */
	uint32_t ask_pause;    /* requests until the next grant request */
	uint32_t asked_pause;
	bool has_asked;
	bool is_asked_ahead; /* the grant request went out before any RMA request (ask_ahead) */
	bool is_awaited; /* the target has not yet acknowledged the request that followed the grant
			    request */
	uint32_t asked_request;	 /* position of that request in the send queue */
	uint64_t asked_position; /* in the ring, behind the grant request */
	time_ns asked_at;
	struct rma_range write_range, read_range;
	struct rma_grant grant;
	struct published_view view;
};

/* hazard_begin where the peer does not execute process fences for this process. */
void hazard_begin_without_fence(const struct channel *channel);

/* Between hazard_begin and hazard_end this process may access the peer's memory. A grant or key
 * that the peer revokes before hazard_begin is seen as revoked here; if the peer revokes it later,
 * the peer waits for hazard_end, but not for ever (runtime/rma/hazard_wait.h): an access counts
 * only if hazard_stands() after its last byte. The progress word is written before hazard_end. If
 * the peer executes a process fence before it reads the hazard word, a plain store is enough here.
 */
static inline void hazard_begin(const struct channel *channel)
{
	uint64_t *hazard = &channel->rma_out->hazard;

	if (likely(channel->out.is_fenced &&
		   __atomic_load_n(&channel->out.shared->consumer_fences, __ATOMIC_RELAXED))) {
		__atomic_store_n(hazard, __atomic_load_n(hazard, __ATOMIC_RELAXED) | 1,
				 __ATOMIC_RELAXED);
		__atomic_signal_fence(__ATOMIC_SEQ_CST);
		return;
	}
	hazard_begin_without_fence(channel);
}

/* hazard_stands for a word that has one of the bits. */
bool hazard_stands_after_look(struct rma_area *area);

/* After the bytes have moved: hazard_stands, unless one has to look closer. */
static inline bool hazard_stands_clearly(const struct rma_area *area)
{
	/* The peer sets its bit, has this process pass a fence, and then takes the pages away. */
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	return likely(!(__atomic_load_n(&area->hazard, __ATOMIC_RELAXED) &
			(RMA_HAZARD_CUT_OFF | RMA_HAZARD_IS_LOCKED)));
}

/* After the bytes have moved: whether the access counts. If the peer has cut it off, the bytes may
 * have gone to pages that the peer does not use any more. */
static inline bool hazard_stands(struct rma_area *area)
{
	return hazard_stands_clearly(area) || hazard_stands_after_look(area);
}

static inline void hazard_end(struct rma_area *area)
{
	__atomic_store_n(&area->hazard, __atomic_load_n(&area->hazard, __ATOMIC_RELAXED) + 1,
			 __ATOMIC_RELEASE);
}

/* The grant's serial number as the target shows it now; odd: granted. */
static inline uint32_t rma_serial(const struct rma_area *area, const struct rma *rma)
{
	return __atomic_load_n(&area->grants[rma->index].serial, __ATOMIC_SEQ_CST);
}

/* Whether a request whose access did not stand may end as if it had: an unreliable connection loses
 * messages. */
static inline bool rma_may_be_lost(const struct qp *qp, bool is_read)
{
	return qp->type == QP_UC && !is_read;
}

/* After hazard_end of a WRITE or atomic that did not stand: fails the request, or the queue pair if
 * the request is not posted yet. The request may have acted already, and carrying it out again by
 * packets could repeat a message to a program that watches its memory. */
void rma_fail(struct qp *qp);

static inline void rma_show(struct rma_area *area, const struct qp *qp, const struct rma *rma)
{
	uint64_t word = rma_progress_word(qp->requester.next_psn.value, rma->message_count,
					  rma->ask_number);

	__atomic_store_n(&area->placed[rma->index], word, __ATOMIC_RELEASE);
}

#endif
