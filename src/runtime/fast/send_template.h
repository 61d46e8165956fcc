/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Templates: the checked result of the last request, kept so that the next request that matches
 * skips the checks. There is one for a short SEND and one for a short RMA WRITE.
 *
 * A template is valid while its qp field is set. Everything that it rests on (state and attributes
 * of the queue pair, memory regions, flow, progress mode) changes only under the runtime's lock. A
 * thread that leaves the lock after such a change calls runtime_unlock, which clears the templates
 * through runtime_forget_templates. Posts by the fast path leave with runtime_unlock_posted or
 * adapter_unlock_listed, and polls with runtime_unlock_unchanged. These keep the SEND template,
 * since they change nothing that it rests on. A received record that needs the engine, a full round
 * of progress and a fork clear the templates, too.
 *
 * Each use rechecks only what can change without that: the generation word in shared memory, which
 * softibd changes with every table, link, capture or fault; the queue pair's header_cache.sends,
 * which qp_invalidate (modify, error, migration) and a port change make stale; and what the
 * messages themselves use up: ring, send queue and PSN space.
 *
 * No rule of the transport stands here. Steps are left out because the peer polls the ring: each
 * check that is skipped brings the message to it sooner.
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

/* Part of a memory region from which requests of one length may start. */
struct template_range {
	uint64_t from, span; /* addresses at which a request may start, as the key counts them */
	uint8_t *bytes;	     /* the memory at address `from` */
};

/* The local part of a request. */
struct template_local {
	uint32_t flags; /* SEND_SIGNALED may differ */
	uint32_t byte_count;
	uint32_t key;	   /* with SEND_INLINE any key, and any memory */
	uint32_t key_mask; /* bits of the key that are compared */
	struct template_range range;
};

/* request: has one SGE, which passed the checks. */
struct template_local template_local(const struct qp *qp, const struct send_request *request);

/* Returns the request's bytes if it matches the template; NULL: it does not. */
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
	const struct qp *last; /* the queue pair of the last WRITE; only compared */
	struct rma *rma;
	struct flow *flow;
	const struct channel *channel;
	struct template_local local;
	uint32_t remote_key;
	struct template_range remote; /* of the RMA range (struct rma_range) */
	/* Words that other processes write, and the values that they must have. */
	uint32_t generation, serial, sequence;
	const uint32_t *generation_at, *serial_at, *sequence_at;
	const uint32_t *is_off_at, *is_closed_at; /* must be 0 */
};

/* A SEND of one packet on a reliable connection, in a record of its own
 * (runtime/fast/template_send.h). */
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
