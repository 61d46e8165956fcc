/* SPDX-License-Identifier: Apache-2.0 */
/* The requester's timers and retransmissions, after a timeout or a NAK (vol 1, chapter 9; transport
 * 4.4). */
#ifndef SOFTIB_NET_TRANSPORT_RETRY_H
#define SOFTIB_NET_TRANSPORT_RETRY_H

#include <stdbool.h>
#include "base/attributes.h"
#include "base/time.h"
#include "wire/psn.h"

struct qp;

/* The time for an RNR NAK timer code (transport 3.3). */
time_ns rnr_time(unsigned code);

/* A retry deadline that is set as soon as a caller knows the time. */
#define RETRY_UNDATED (TIME_NEVER - 1)

/* Requests were sent: starts the timer for their responses. */
void retry_watch(struct qp *qp, time_ns now);
/* Starts the timer if its deadline is RETRY_UNDATED. */
void retry_date(struct qp *qp, time_ns now);

/* A response made progress: reloads the retry counters, and restarts the timer if requests are
 * still outstanding (transport 4.4). */
void retry_progress(struct qp *qp, time_ns now);

/* Sends again from this PSN, if a retry is left; otherwise the oldest request fails. */
void retry_from(struct qp *qp, time_ns now, struct psn psn);

/* An RNR NAK for the request with this PSN. */
void retry_after_rnr(struct qp *qp, time_ns now, struct psn psn, unsigned rnr_code);

/* Whether an outstanding packet asks the responder for an ACK. */
MUST_USE bool retry_is_asked(const struct qp *qp);
/* Makes the responder acknowledge outstanding packets, if none of them asks for that: sends the
 * newest packet again, with AckReq. */
void retry_ask(struct qp *qp);

/* retry_expire must be called then, or earlier. */
void retry_wake_at(struct qp *qp, time_ns deadline);

/* A timer of this queue pair is due. */
void retry_expire(struct qp *qp, time_ns now);

#endif
