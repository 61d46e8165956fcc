/* SPDX-License-Identifier: Apache-2.0 */
/* How requests end: completions, returned slots, flushing (vol 1, chapter 10). The states that
 * errors lead to are qp_error.h's. */
#ifndef SOFTIB_NET_TRANSPORT_REPORT_H
#define SOFTIB_NET_TRANSPORT_REPORT_H

#include "base/time.h"
#include "net/transport/completion.h"
#include "net/transport/qp_state.h"

/* Whether this request reports no completion on success: then incrementing queue.done is all there
 * is to do. */
static inline bool report_is_silent(const struct qp *qp, const struct send_slot *slot)
{
	return !qp->signal_all && !(slot->flags & (SEND_SIGNALED | SEND_BY_ADAPTER)) &&
	       qp->type != QP_EEC;
}

/* Completes the oldest send request that is not done, with this status. byte_count counts for READ
 * and atomics. */
void report_send(struct qp *qp, time_ns now, enum completion_status status);

/* Completes a request, with success, that was posted and ended without a slot. */
void report_unqueued_send(struct qp *qp, time_ns now, enum send_opcode opcode, uint32_t flags,
			  uint64_t wr_id, uint32_t byte_count);

/* Completes the receive request that the message in progress holds, or the oldest one of an own
 * queue; fills in qpn, wr_id and time. */
void report_receive(struct qp *qp, time_ns now, struct completion *completion);
void report_receive_error(struct qp *qp, time_ns now, enum completion_status status);

/* The receive request that the next message will use; NULL when there is none. */
struct receive_slot *report_receive_slot(const struct qp *qp);
/* From now on the message in progress holds that request. There must be one. */
void report_receive_take(struct qp *qp);

/* Requests are about to end without an ACK. From here on the peer can't copy their zcopy payload
 * (net/transport/fast/fast_send.h), since the program may reuse the memory. */
void report_revoke_zcopy(struct qp *qp);

/* Completes the zcopy datagrams after take_back; they count as sent. */
void report_zcopy(struct qp *qp, time_ns now);

/* A request was posted in Error or SQE. */
void report_flush_sends(struct qp *qp, time_ns now);
void report_flush_receives(struct qp *qp, time_ns now);

/* Raises the event for a drained send queue, if it is empty (transport 4.8). */
void report_drain(struct qp *qp);

#endif
