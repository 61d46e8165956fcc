/* SPDX-License-Identifier: Apache-2.0 */
/*
 * RNR hold: how long a message that nobody would retransmit may wait in its ring for a receive
 * request, with all records behind it.
 *
 * InfiniBand may lose such a message. But a peer on the same machine can be held back instead, and
 * nothing should be lost only because a program has not had its turn to post. A program that never
 * posts must not hold the ring for ever: waiting is taken from a budget, which grows while nothing
 * waits, so that in the long run half of the time is for the other messages. A program that posts
 * soon costs nothing. A program that posts late costs a quarter of the time: it may only have had
 * no core.
 *
 * A message of a reliable connection would be retransmitted after an RNR NAK and its timer, which
 * programs set to up to 655 ms. It waits for a millisecond, and only until the program has polled
 * and found no completion, because the receive requests that a program reposts are those of
 * completions.
 */
#ifndef SOFTIB_RUNTIME_PACKETS_RNR_HOLD_H
#define SOFTIB_RUNTIME_PACKETS_RNR_HOLD_H

#include <stdbool.h>
#include <stdint.h>
#include "base/attributes.h"
#include "base/time.h"

/* Less than CHANNEL_STALL_NS, so that the sender does not take the ring for unread. */
#define RNR_HOLD_MAX_NS	 MILLISECONDS(150)
#define RNR_HOLD_MIN_NS	 MILLISECONDS(5) /* with less left, no message starts to wait */
#define RNR_HOLD_FREE_NS MICROSECONDS(100)
/* For a message that would be retransmitted: less than the ACK timeouts in use. */
#define RNR_HOLD_RELIABLE_NS MILLISECONDS(1)
/* A sleeping reader checks this often whether a request was posted: no doorbell rings for that. */
#define RNR_HOLD_LOOK_NS MICROSECONDS(500)

struct rnr_hold {
	/* RNR_HOLD_MAX_NS and RNR_HOLD_RELIABLE_NS, except in tests that use the real clock */
	time_ns max_ns, reliable_max_ns;
	time_ns left_ns;
	time_ns since;	   /* while a message waits; otherwise since when none does */
	uint64_t position; /* in the ring, of the waiting message */
	bool is_waiting;
};

void rnr_hold_init(struct rnr_hold *rnr_hold);
/* Whether the message at that position of the ring may wait, or continue to wait. */
MUST_USE bool rnr_hold_waits(struct rnr_hold *rnr_hold, uint64_t position, time_ns now);
/* rnr_hold_waits for a message that would be retransmitted. */
MUST_USE bool rnr_hold_waits_reliable(struct rnr_hold *rnr_hold, uint64_t position, time_ns now);
/* No message may wait for now: the budget is spent. */
void rnr_hold_lose(struct rnr_hold *rnr_hold, time_ns now);
/* The reader has come to that position. */
void rnr_hold_came_to(struct rnr_hold *rnr_hold, uint64_t position, time_ns now);

#endif
