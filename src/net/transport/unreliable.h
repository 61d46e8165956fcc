/* SPDX-License-Identifier: Apache-2.0 */
/* Receiving on the services that send no responses: unreliable connection and unreliable datagram
 * (vol 1, chapter 9). */
#ifndef SOFTIB_NET_TRANSPORT_UNRELIABLE_H
#define SOFTIB_NET_TRANSPORT_UNRELIABLE_H

#include "base/time.h"

struct packet;
struct qp;

void unreliable_connection_receive(struct qp *qp, time_ns now, const struct packet *packet);
void datagram_receive(struct qp *qp, time_ns now, const struct packet *packet);

#endif
