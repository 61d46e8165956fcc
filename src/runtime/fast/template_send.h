/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sends a SEND that matches the previous one on its queue pair without repeating its checks: as a
 * single record from the send template (send_template.h), or as a payload record of a burst
 * (burst.h).
 *
 * short_send_post does all checks and leaves the template behind. A later SEND matches if flags
 * (but SEND_SIGNALED), length and local key are equal and its buffer lies in the same region; a
 * datagram also needs the same destination.
 *
 * Why the template may be used: it is cleared whenever the lock is left after anything but fast
 * posts and polls (runtime_unlock, runtime_forget_templates), so nothing under the lock has
 * changed. Each send rechecks the generation word, which softibd changes in shared memory, and the
 * room in ring and send queue. A single record also rechecks header_cache.sends, which
 * qp_invalidate and port changes make stale. If a check fails, the caller takes short_send_post.
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

/* Remembers a request that the fast path has posted: as a packet, which may be the template of a
 * burst, or as a UD zcopy. */
void template_send_remember(struct process_runtime *runtime, struct qp *qp, struct flow *flow,
			    const struct send_request *request, const struct fast_packet *packet,
			    bool is_template);
void template_send_remember_zcopy(struct process_runtime *runtime, const struct qp *qp,
				  struct flow *flow, const struct send_request *request);

/* Sends a message that matches the send template, if nothing has changed. The caller then calls
 * template_send_book, which updates the queue pair: the peer has the message already. */
MUST_USE bool template_send_single(struct process_runtime *runtime, uint32_t flags,
				   const struct sge *sge);
void template_send_book(struct adapter *adapter, uint64_t wr_id, uint32_t flags,
			const struct sge *sge);

/* Whether the next SEND of the queue pair may continue a burst: the one that is running, or the
 * last one if something else was done since. template_send_resume_burst makes the checks of the
 * second case. */
MUST_USE bool template_send_resume_burst(struct process_runtime *runtime, struct qp *qp);
MUST_USE static inline bool template_send_is_in_burst(struct process_runtime *runtime,
						      struct qp *qp)
{
	const struct burst_out *burst = &runtime->burst;

	return likely(burst->qp == qp && burst->room) ||
	       (burst->may_go_on && burst->last == qp && template_send_resume_burst(runtime, qp));
}

/* For a queue pair in a burst: posts and sends a message as a payload record, if it matches. The
 * first function also needs a match with the send template. */
MUST_USE bool template_send_payload(struct adapter *adapter, uint64_t wr_id, uint32_t flags,
				    const struct sge *sge);
MUST_USE bool template_send_payload_any(struct adapter *adapter, struct qp *qp,
					const struct send_request *request);

#endif
