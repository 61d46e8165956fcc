/* SPDX-License-Identifier: Apache-2.0 */
/* How requests end: completions, returned slots, flushing (vol 1, chapter 10). The states that
 * errors lead to are qp_error.h's. */
#ifndef SOFTIB_NET_TRANSPORT_REPORT_H
#define SOFTIB_NET_TRANSPORT_REPORT_H

#include "base/time.h"
#include "net/transport/completion.h"
#include "net/transport/qp_state.h"

/* Whether nobody is to be told that this request has succeeded: queue.done++ is all there is to do.
 */
static inline bool report_is_silent(const struct qp *qp, const struct send_slot *slot)
{
	return !qp->signal_all && !(slot->flags & (SEND_SIGNALED | SEND_BY_ADAPTER)) &&
	       qp->type != QP_EEC;
}

/* The oldest send request that is not done is done now, with this status. byte_count counts for
 * READ and atomics. */
void report_send(struct qp *qp, time_ns now, enum completion_status status);

/* The same, with success, of a request that was posted and ended without a slot. */
void report_unqueued_send(struct qp *qp, time_ns now, enum send_opcode opcode, uint32_t flags,
			  uint64_t wr_id, uint32_t byte_count);

/* The receive request that the message in progress holds, or the oldest one of an own queue, has
 * ended; qpn, wr_id and time are filled in here. */
void report_receive(struct qp *qp, time_ns now, struct completion *completion);
void report_receive_error(struct qp *qp, time_ns now, enum completion_status status);

/* The request that the next message will use; NULL when there is none. */
struct receive_slot *report_receive_slot(const struct qp *qp);
/* The message in progress holds that request from now on. There must be one. */
void report_receive_take(struct qp *qp);

/* Requests are about to end without the peer's word: from here on it can't pull what they sent
 * (net/transport/fast/fast_path.h), since the program may use their memory for something else. */
void report_revoke_zcopy(struct qp *qp);

/* Datagrams that were lent, which the owner has taken back: they have been sent. */
void report_zcopy(struct qp *qp, time_ns now);

/* A request posted in Error or SQE. */
void report_flush_sends(struct qp *qp, time_ns now);
void report_flush_receives(struct qp *qp, time_ns now);

/* Tells that a draining send queue is empty, if it is. */
void report_drain(struct qp *qp);

#endif
