/* SPDX-License-Identifier: Apache-2.0 */
/*
 * RMA: one-sided requests that the requester's owner carries out itself in the responder's memory,
 * instead of sending packets (docs/architecture.md, "One-sided requests").
 *
 * These requests use the PSNs that their packets would have used, and complete at once. The
 * requester's owner counts them in a progress word in shared memory. The responder counts them as
 * received when the PSN of the next packet shows a gap. A request uses RMA only if everything
 * before it has been acknowledged, so that no request overtakes another.
 */
#ifndef SOFTIB_NET_TRANSPORT_RMA_RMA_BYPASS_H
#define SOFTIB_NET_TRANSPORT_RMA_RMA_BYPASS_H

#include <stdbool.h>
#include <stdint.h>
#include "base/attributes.h"
#include "base/time.h"
#include "net/transport/fast/templates.h"
#include "net/transport/qp_state.h"
#include "wire/packet.h"

/* The request at the head of the send queue. */
struct bypass {
	uint8_t opcode;	 /* enum send_opcode: a WRITE, READ or atomic */
	uint32_t access; /* the right that the R_Key must grant */
	uint32_t remote_key;
	uint64_t remote_address;
	uint32_t byte_count;
	uint32_t psn_count;
	uint64_t compare_or_add;
	uint64_t swap;
	struct payload payload; /* the local bytes; a READ or atomic writes there */
};

/* false: the next request can't use RMA, or not now. */
MUST_USE bool rma_bypass_next(struct qp *qp, struct bypass *ret_bypass);
/* The same for a WRITE or READ of one contiguous range of at most byte_count_max local bytes, in a
 * shorter form. */
struct simple_request {
	uint8_t *bytes;
	uint64_t remote_address;
	uint32_t byte_count; /* not 0 */
	uint32_t remote_key;
	bool is_read;
	uint32_t flags; /* flags and wr_id: only of a request that is not posted yet */
	uint64_t wr_id;
};
MUST_USE bool rma_bypass_simple(struct qp *qp, uint32_t byte_count_max,
				struct simple_request *ret_request);

/* rma_bypass_simple and rma_bypass_done for a request that is not posted yet, if all requests in
 * the queue are done. The request is carried out instead of being posted, and its slot is only
 * counted. rma_bypass_is_fit says what depends on state and attributes of the queue pair only, so
 * that the caller may remember it for an epoch (net/transport/fast/templates.h). */
MUST_USE bool rma_bypass_is_fit(const struct qp *qp);

/* Whether nothing is queued or under way, and nothing holds a request back. */
static inline bool rma_bypass_is_next(const struct qp *qp)
{
	const struct requester *requester = &qp->requester;
	const struct send_queue *queue = &requester->queue;

	return queue->done == queue->tail && requester->cursor == queue->tail &&
	       !send_queue_is_full(queue) && requester->rnr_deadline == TIME_NEVER &&
	       !requester->hold && requester->credits != CREDITS_COUNTED;
}

/* The local bytes of a WRITE or READ of one SGE, of 1 to byte_count_max bytes; NULL: the engine has
 * to check the request. region: of the last WRITE. */
static IN_LINE uint8_t *rma_bypass_bytes(const struct qp *qp, bool is_read, uint32_t flags,
					 const struct sge *sge, uint32_t byte_count_max,
					 struct template_region *region)
{
	if (unlikely(sge->byte_count - 1 >= byte_count_max))
		return NULL;
	if (is_read)
		return qp->type == QP_RC && qp->attributes.initiator_depth && !(flags & SEND_INLINE)
			       ? memory_place(qp->environment->memory, qp->pd, sge->lkey,
					      sge->address, sge->byte_count, ACCESS_LOCAL_WRITE)
			       : NULL;
	if (flags & SEND_INLINE)
		return sge->byte_count <= qp->requester.queue.inline_bytes_max
			       ? (uint8_t *)(uintptr_t)sge->address
			       : NULL;
	return template_place(region, qp->environment->memory, qp->pd, sge, sge->byte_count, 0);
}

uint32_t rma_bypass_posted(struct qp *qp, time_ns now, const struct simple_request *request);

/* The request that rma_bypass_next or rma_bypass_simple found was carried out: uses its PSNs and
 * completes it. Returns the number of PSNs. The caller must call qp_settle afterwards, when no peer
 * waits for this process any more. */
uint32_t rma_bypass_done(struct qp *qp, time_ns now);

/* How far the requester has come: the requester's owner writes this word and the responder's owner
 * reads it. A word with another tag belongs to another grant. */
static inline uint64_t rma_progress_word(uint32_t psn, uint32_t message_count, uint32_t tag)
{
	return (uint64_t)(tag & 0xffff) << 48 | (uint64_t)(message_count & 0xffffff) << 24 |
	       (psn & 0xffffff);
}

static inline bool rma_words_have_one_tag(uint64_t word, uint64_t other)
{
	return (word ^ other) >> 48 == 0;
}

struct rma_progress {
	const uint64_t *word; /* written by another process, so not trusted */
	uint64_t seen;	      /* its last value */
};

/* Counts the requests that RMA has carried out since the last call as received. Returns whether
 * there were any. */
bool rma_bypass_catch_up(struct qp *qp);

#endif
