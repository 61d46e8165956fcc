/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The fast path of RMA: WRITEs and READs of one contiguous range of local bytes, up to a limit.
 *
 * This file has no rules of its own. A request that fails one of the quick checks is left unchanged
 * to runtime/rma/rma.c. SOFTIB_FAST=0 turns this path off too.
 */
#ifndef SOFTIB_RUNTIME_RMA_RMA_SHORT_H
#define SOFTIB_RUNTIME_RMA_RMA_SHORT_H

#include <stdbool.h>
#include <stdint.h>
#include "base/attributes.h"
#include "base/time.h"
#include "runtime/fast/send_template.h"
#include "runtime/memory/memory_guard.h"
#include "runtime/rma/rma_state.h"
#include "net/transport/payload_scatter.h"

struct flow;
struct qp;
struct send_request;

/* Returns the number of bytes of the requests that it carried out; 0: none. Reporting their
 * completions may have put the queue pair into Error and ended its RMA. */
uint32_t rma_short_run(struct rma *rma, struct qp *qp, struct flow *flow, time_ns now);

/* Carries out a request instead of posting it. The send queues of many queue pairs are larger than
 * the processor's caches, and a request that never waits needs no slot. false: nothing was done. */
MUST_USE bool rma_short_post(struct rma *rma, struct qp *qp, struct flow *flow,
			     const struct send_request *request, time_ns now);

/* Keeps the checked result of the WRITE that was just carried out as a template, after two in a row
 * on one queue pair. The next WRITE that matches the template skips the checks. */
void rma_short_remember(struct rma_template *template, struct rma *rma, struct qp *qp,
			struct flow *flow, const struct send_request *request,
			const uint32_t *generation_at);

/* Carries out a WRITE that matches the template, if nothing has changed since. The caller then
 * calls rma_short_book, which updates the queue pair. Returns where the bytes were written; NULL:
 * the WRITE was not carried out. */
MUST_USE static inline const uint8_t *rma_short_by_template(const struct rma_template *template,
							    uint32_t flags, const struct sge *sge,
							    const struct remote_place *remote)
{
	const uint8_t *bytes = template_bytes(&template->local, flags, sge);
	const uint64_t offset = remote->address - template->remote.from;

	if (unlikely(!bytes || remote->key != template->remote_key ||
		     offset > template->remote.span ||
		     __atomic_load_n(template->generation_at, __ATOMIC_ACQUIRE) !=
			     template->generation ||
		     __atomic_load_n(template->is_closed_at, __ATOMIC_ACQUIRE) ||
		     send_queue_is_full(&template->qp->requester.queue)))
		return NULL;
	hazard_begin(template->channel);
	if (unlikely(__atomic_load_n(template->serial_at, __ATOMIC_SEQ_CST) != template->serial ||
		     __atomic_load_n(template->sequence_at, __ATOMIC_SEQ_CST) !=
			     template->sequence ||
		     __atomic_load_n(template->is_off_at, __ATOMIC_SEQ_CST))) {
		hazard_end(template->channel);
		return NULL;
	}

	uint8_t *place = template->remote.bytes + offset;

	bytes_write(bytes, sge->byte_count, place);
	if (memory_guard_has_gaps()) {
		hazard_end(template->channel);
		return NULL;
	}
	return place;
}

void rma_short_book(struct rma_template *template, uint64_t wr_id, uint32_t flags, time_ns now);

#endif
