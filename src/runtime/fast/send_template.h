/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Requests like the one before, in as few steps as they need.
 *
 * What was found about a request is kept for those like it, as long as nothing that it rests on can
 * have changed here: whoever leaves the lock after anything else than such requests, and polls
 * that find what is expected, forgets it (runtime_unlock). What others can change without
 * the lock is asked each time, and what such requests themselves use up.
 *
 * There are no rules here. The peer spins on its memory: what is not asked reaches it sooner.
 */
#ifndef SOFTIB_RUNTIME_FAST_SEND_TEMPLATE_H
#define SOFTIB_RUNTIME_FAST_SEND_TEMPLATE_H

#include <stdbool.h>
#include <stdint.h>
#include "base/attributes.h"
#include "net/transport/qp.h"
#include "wire/lrh.h"

struct channel;
struct flow;
struct rma;

/* A run of memory of which requests of one length are made. */
struct template_range {
	uint64_t from, span; /* where they may begin, as keys count */
	uint8_t *bytes;	     /* where that is */
};

/* What a request says about this end. */
struct template_local {
	uint32_t flags; /* SEND_SIGNALED may differ */
	uint32_t byte_count;
	uint32_t key;	   /* with SEND_INLINE any, and all memory */
	uint32_t key_mask; /* the bits of it that count */
	struct template_range range;
};

/* Of one SGE, which was found to be right. */
struct template_local template_local(const struct qp *qp, const struct send_request *request);

/* Its bytes, if it is like that; NULL: it is not. */
static inline const uint8_t *template_bytes(const struct template_local *local, uint32_t flags,
					    const struct sge *sge)
{
	const uint64_t offset = sge->address - local->range.from;

	if (unlikely((flags ^ local->flags) & ~(uint32_t)SEND_SIGNALED ||
		     sge->byte_count != local->byte_count ||
		     ((sge->lkey ^ local->key) & local->key_mask) || offset > local->range.span))
		return NULL;
	return local->range.bytes + offset;
}

/* A WRITE by plain stores (runtime/rma/rma_short.h). */
struct rma_template {
	struct qp *qp;	       /* NULL: none */
	const struct qp *last; /* whose WRITE was the last; only to be compared */
	struct rma *rma;
	struct flow *flow;
	const struct channel *channel;
	struct template_local local;
	uint32_t remote_key;
	struct template_range remote; /* of the window (struct rma_range) */
	/* What others write, and what it has to be. */
	uint32_t generation, serial, sequence;
	const uint32_t *generation_at, *serial_at, *sequence_at;
	const uint32_t *is_off_at, *is_closed_at; /* 0 */
};

/* A SEND of one packet on a reliable connection, alone in its line (runtime/fast/short_send.h). */
struct send_template {
	struct qp *qp; /* NULL: none */
	struct flow *flow;
	struct channel *channel;
	struct template_local local;
	uint64_t sizes; /* of the record: ring_sizes */
	uint32_t generation;
	const uint32_t *generation_at;
	uint8_t headers[LRH_BYTES + BTH_PSN_OFFSET]; /* up to the PSN */
};

#endif
