/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The send rate limit of a queue pair: when its next request packet may leave.
 *
 * A token bucket, kept as a time: until then, packets already sent use up the rate. That time may
 * be ahead of the clock by the duration of one burst. Only requests are paced; responses follow the
 * peer's pace.
 */
#ifndef SOFTIB_NET_TRANSPORT_PACING_H
#define SOFTIB_NET_TRANSPORT_PACING_H

#include <stdbool.h>
#include <stdint.h>
#include "base/time.h"

struct packet;
struct qp;

/* In kbit/s, as adapters report it; the largest value is the fastest static rate of an address
 * vector. */
enum { RATE_LIMIT_MIN = 1, RATE_LIMIT_MAX = 1600000000 };

/* No request leaves before that time, with a rate limit or without. For the owner. */
void pacing_pause(struct qp *qp, time_ns until);

/* Whether a packet with so many payload bytes may leave now. If not, the queue pair sends nothing
 * until its timer fires. Only with a rate limit. */
bool pacing_allows(struct qp *qp, time_ns now, uint32_t payload_bytes);

/* How many payload bytes of a train may leave now; at least one packet. Only with a rate limit. */
uint32_t pacing_train_bytes(const struct qp *qp, time_ns now, uint32_t train_bytes_max);

/* A packet or train has left. Only with a rate limit. */
void pacing_charge(struct qp *qp, time_ns now, const struct packet *packet);

/* The rate limit has changed: earlier packets no longer count. */
void pacing_restart(struct qp *qp);

#endif
