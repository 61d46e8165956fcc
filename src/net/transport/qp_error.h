/* SPDX-License-Identifier: Apache-2.0 */
/* The states that errors lead to, and how every call on a queue pair ends (vol 1, chapter 10). */
#ifndef SOFTIB_NET_TRANSPORT_QP_ERROR_H
#define SOFTIB_NET_TRANSPORT_QP_ERROR_H

#include "base/time.h"
#include "net/transport/completion.h"

struct qp;

/* Flushes everything. What the responder still has to say (answers_last_nak) stays to be said. */
void qp_enter_error(struct qp *qp, time_ns now);

/* Ends the oldest send request with an error and goes to Error, or SQE on a service that goes on.
 */
void qp_fail_send(struct qp *qp, time_ns now, enum completion_status status);

/* Ends every call: a queue pair that could not report a completion is broken (fault class G), and
 * an EE context gives the next its turn. */
void qp_settle(struct qp *qp, time_ns now);

#endif
