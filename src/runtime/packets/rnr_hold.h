/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How long a message that nobody would repeat may wait in its ring for a receive request, and all
 * that lies behind it in the ring with it.
 *
 * InfiniBand may lose it. But a peer on the same machine can be held back instead, and a program
 * that has not had its turn to post is no reason to lose anything. One that never posts is: waiting
 * takes from what is left, which grows again as long as nothing waits, so that in the long run half
 * of the time is for the others. A program that posts soon is waited for at no price, and one that
 * posts late at a quarter: it may only have had no processor.
 *
 * A message of a reliable connection would be repeated, after an RNR NAK and its timer, which
 * programs set to up to 655 ms. It waits for a millisecond, and only until the program has polled
 * and found no completion: the receive requests that it posts again are those of completions.
 */
#ifndef SOFTIB_RUNTIME_PACKETS_RNR_HOLD_H
#define SOFTIB_RUNTIME_PACKETS_RNR_HOLD_H

#include <stdbool.h>
#include <stdint.h>
#include "base/attributes.h"
#include "base/time.h"

/* Less than CHANNEL_STALL_NS: the sender need not think that nobody reads. */
#define RNR_HOLD_MAX_NS	 MILLISECONDS(150)
#define RNR_HOLD_MIN_NS	 MILLISECONDS(5) /* with less left, nothing begins to wait */
#define RNR_HOLD_FREE_NS MICROSECONDS(100)
/* Of a message that would be repeated: less than the ACK timeouts in use. */
#define RNR_HOLD_RELIABLE_NS MILLISECONDS(1)
/* A sleeping reader looks this often whether there is a request now: nobody rings for that. */
#define RNR_HOLD_LOOK_NS MICROSECONDS(500)

struct rnr_hold {
	/* RNR_HOLD_MAX_NS and RNR_HOLD_RELIABLE_NS, but for tests whose clock is the real one */
	time_ns max_ns, reliable_max_ns;
	time_ns left_ns;
	time_ns since;	   /* while something waits; otherwise since when nothing does */
	uint64_t position; /* in the ring, of what waits */
	bool is_waiting;
};

void rnr_hold_init(struct rnr_hold *rnr_hold);
/* Whether what was found at that position of the ring may wait, or wait on. */
MUST_USE bool rnr_hold_waits(struct rnr_hold *rnr_hold, uint64_t position, time_ns now);
/* The same of a message that would be repeated. */
MUST_USE bool rnr_hold_waits_reliable(struct rnr_hold *rnr_hold, uint64_t position, time_ns now);
/* Nothing may wait for now. */
void rnr_hold_lose(struct rnr_hold *rnr_hold, time_ns now);
/* The reader has come to that position. */
void rnr_hold_came_to(struct rnr_hold *rnr_hold, uint64_t position, time_ns now);

#endif
