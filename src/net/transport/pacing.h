/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The send rate limit of a queue pair: when its next request packet may leave.
 *
 * A bucket that is kept as a time: until when the packets that have left take up the rate. It may
 * lie ahead of the clock by as much as one burst takes. Only requests are paced; answers are at the
 * peer's pace.
 */
#ifndef SOFTIB_NET_TRANSPORT_PACING_H
#define SOFTIB_NET_TRANSPORT_PACING_H

#include <stdbool.h>
#include <stdint.h>
#include "base/time.h"

struct packet;
struct qp;

/* In kbit/s, as adapters report it; the largest is the fastest rate code of an address. */
enum { RATE_LIMIT_MIN = 1, RATE_LIMIT_MAX = 1600000000 };

/* No request leaves till then, with a limit or without: the owner's reasons. */
void pacing_pause(struct qp *qp, time_ns until);

/* Whether a packet with so many payload bytes may leave now. If not, the queue pair is silent until
 * its timer fires. Only with a limit. */
bool pacing_allows(struct qp *qp, time_ns now, uint32_t payload_bytes);

/* Of a train that large, what may leave now; at least one packet. Only with a limit. */
uint32_t pacing_train_bytes(const struct qp *qp, time_ns now, uint32_t train_bytes_max);

/* A packet or train has left. Only with a limit. */
void pacing_charge(struct qp *qp, time_ns now, const struct packet *packet);

/* The limit is another, or none: nothing that was sent before counts. */
void pacing_restart(struct qp *qp);

#endif
