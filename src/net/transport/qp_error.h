/* SPDX-License-Identifier: Apache-2.0 */
/* The states that errors lead to, and how every call on a queue pair ends (vol 1, chapter 10). */
#ifndef SOFTIB_NET_TRANSPORT_QP_ERROR_H
#define SOFTIB_NET_TRANSPORT_QP_ERROR_H

#include "base/time.h"
#include "net/transport/completion.h"

struct qp;

/* Flushes everything. A NAK that the responder still has to send stays due (answers_last_nak). */
void qp_enter_error(struct qp *qp, time_ns now);

/* Completes the oldest send request with an error and moves the queue pair to Error, or to SQE on a
 * service that has that state (transport 4.8). */
void qp_fail_send(struct qp *qp, time_ns now, enum completion_status status);

/* Must end every call: a queue pair that could not report a completion goes to Error (fault class
 * G, transport 5.5), and an EE context starts the next message. */
void qp_settle(struct qp *qp, time_ns now);

#endif
