/* SPDX-License-Identifier: Apache-2.0 */
/* The requester's receiving side: responses complete requests or have them sent again (vol 1,
 * chapter 9; transport 4.3). */
#ifndef SOFTIB_NET_TRANSPORT_COMPLETER_H
#define SOFTIB_NET_TRANSPORT_COMPLETER_H

#include "base/time.h"
#include "wire/psn.h"

struct packet;
struct qp;

/* Handles an ACK without a credit limit, of which only the PSN is known. */
void completer_acknowledge(struct qp *qp, time_ns now, struct psn psn);
void completer_receive(struct qp *qp, time_ns now, const struct packet *packet);

#endif
