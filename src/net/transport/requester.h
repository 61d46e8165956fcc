/* SPDX-License-Identifier: Apache-2.0 */
/* The requester's sending side: posted requests become request packets (vol 1, chapter 9). */
#ifndef SOFTIB_NET_TRANSPORT_REQUESTER_H
#define SOFTIB_NET_TRANSPORT_REQUESTER_H

#include <stdbool.h>
#include <stdint.h>
#include "base/time.h"
#include "wire/packet.h"

struct qp;
struct qp_route;

/* Whether requester_transmit would do something now. */
bool requester_is_ready(const struct qp *qp);

/* Where the request at the cursor goes. */
void requester_route(const struct qp *qp, struct qp_route *ret_route);

/* May return fewer packets than it could, even none: when a request fails, or the next goes
 * elsewhere. */
unsigned requester_transmit(struct qp *qp, time_ns now, unsigned packets_max,
			    uint32_t train_bytes_max, struct packet ret_packets[]);

#endif
