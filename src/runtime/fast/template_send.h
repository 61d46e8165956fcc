/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The express lane's requests like the one before: alone in their line
 * (runtime/fast/send_template.h), and in runs (runtime/fast/burst.h). What was found about the one
 * before is not looked for again.
 */
#ifndef SOFTIB_RUNTIME_FAST_TEMPLATE_SEND_H
#define SOFTIB_RUNTIME_FAST_TEMPLATE_SEND_H

#include <stdbool.h>
#include <stdint.h>
#include "base/attributes.h"
#include "runtime/runtime_state.h"

struct fast_packet;
struct send_request;
struct sge;

/* What was posted by the lane, for those that come next: a packet, which may be a model, and a
 * datagram that was lent. */
void template_send_remember(struct process_runtime *runtime, struct qp *qp, struct flow *flow,
			    const struct send_request *request, const struct fast_packet *packet,
			    bool is_template);
void template_send_remember_zcopy(struct process_runtime *runtime, const struct qp *qp,
				  struct flow *flow, const struct send_request *request);

/* Sends a message like the one that is remembered, if nothing has changed; what that means for the
 * queue pair is left to template_send_book, which comes next. */
MUST_USE bool template_send_single(struct process_runtime *runtime, uint32_t flags,
				   const struct sge *sge);
void template_send_book(struct adapter *adapter, uint64_t wr_id, uint32_t flags,
			const struct sge *sge);

/* Whether the next SEND of the queue pair may go on with a run: the one that it is in, or had
 * before something else was done; the first finds out about the latter. */
MUST_USE bool template_send_resume_burst(struct process_runtime *runtime, struct qp *qp);
MUST_USE static inline bool template_send_is_in_burst(struct process_runtime *runtime,
						      struct qp *qp)
{
	const struct burst_out *burst = &runtime->burst;

	return likely(burst->qp == qp && burst->room) ||
	       (burst->may_go_on && burst->last == qp && template_send_resume_burst(runtime, qp));
}

/* Of a queue pair that is in a run: posts and sends what goes on with it; the first, if it is also
 * like the message that is remembered. */
MUST_USE bool template_send_payload(struct adapter *adapter, uint64_t wr_id, uint32_t flags,
				    const struct sge *sge);
MUST_USE bool template_send_payload_any(struct adapter *adapter, struct qp *qp,
					const struct send_request *request);

#endif
