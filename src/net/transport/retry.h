/* SPDX-License-Identifier: Apache-2.0 */
/* The requester's timers and what happens when they or a NAK say "again" (vol 1, chapter 9). */
#ifndef SOFTIB_NET_TRANSPORT_RETRY_H
#define SOFTIB_NET_TRANSPORT_RETRY_H

#include <stdbool.h>
#include "base/attributes.h"
#include "base/time.h"
#include "wire/psn.h"

struct qp;

/* The time that an RNR NAK's code means. */
time_ns rnr_time(unsigned code);

/* A retry deadline that is to be set as soon as somebody knows the time. */
#define RETRY_UNDATED (TIME_NEVER - 1)

/* Requests are on the wire: something must come back in time. */
void retry_watch(struct qp *qp, time_ns now);
/* If its deadline is undated, this is the time. */
void retry_date(struct qp *qp, time_ns now);

/* A response brought the requester forward: full counts again, and the time begins anew for what is
 * still outstanding. */
void retry_progress(struct qp *qp, time_ns now);

/* Again from this PSN, if there is a retry left; otherwise the oldest request fails. */
void retry_from(struct qp *qp, time_ns now, struct psn psn);

/* The responder was not ready for the request with this PSN. */
void retry_after_rnr(struct qp *qp, time_ns now, struct psn psn, unsigned rnr_code);

/* Whether a packet under way asks the responder for an ACK. */
MUST_USE bool retry_is_asked(const struct qp *qp);
/* Has the responder acknowledge what is outstanding, if no packet under way asks for that: the
 * newest packet is sent once more, with AckReq. */
void retry_ask(struct qp *qp);

/* retry_expire is wanted then, or earlier. */
void retry_wake_at(struct qp *qp, time_ns deadline);

/* A timer of this queue pair is due. */
void retry_expire(struct qp *qp, time_ns now);

#endif
