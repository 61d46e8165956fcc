/* SPDX-License-Identifier: Apache-2.0 */
/* The requester's receiving side: responses end requests, or have them sent again (vol 1, chapter
 * 9). */
#ifndef SOFTIB_NET_TRANSPORT_COMPLETER_H
#define SOFTIB_NET_TRANSPORT_COMPLETER_H

#include "base/time.h"

struct packet;
struct qp;

void completer_receive(struct qp *qp, time_ns now, const struct packet *packet);

#endif
