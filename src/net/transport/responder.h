/* SPDX-License-Identifier: Apache-2.0 */
/* The responder of a reliable connection: executes request packets in PSN order; its responses
 * leave by net/transport/responses.h (vol 1, chapter 9; transport 5.2). */
#ifndef SOFTIB_NET_TRANSPORT_RESPONDER_H
#define SOFTIB_NET_TRANSPORT_RESPONDER_H

#include "base/time.h"

struct packet;
struct qp;

void responder_receive(struct qp *qp, time_ns now, const struct packet *packet);

#endif
