/* SPDX-License-Identifier: Apache-2.0 */
/* Programs that spin on more queues than there are cores: when to let others run. */
#ifndef SOFTIB_API_LIBIBVERBS_OBJECTS_CORE_SHARING_H
#define SOFTIB_API_LIBIBVERBS_OBJECTS_CORE_SHARING_H

#include <stdbool.h>
#include <stdint.h>
#include "base/time.h"

struct verbs_cq;

enum {
	POLLS_BEFORE_YIELD_MIN = 64,
	POLLS_BEFORE_YIELD_MAX = 8192,
	SHARE_OF_SOFTIBD = 32,
};

/* What was learnt about a CQ that is polled. Without a lock: two threads that poll the same CQ may
 * count each other's yields, which does no harm. All zero at first. */
struct core_sharing {
	uint32_t polls_before_yield; /* in a row and in vain */
	uint32_t away_in_turn_ns;    /* yielded to somebody else, in a row */
	uint32_t away_before_sleep_ns;
	bool needs_softibd; /* what it sends goes that way */
	/* Among many programs for each core. */
	time_ns crowded_until; /* yields are no use till then */
	uint32_t nap_ns;
	uint32_t head_before_nap; /* of the completions */
	long preemptions;	  /* as they were counted last */
	time_ns preempted_at;	  /* by the time that the thread had used */
};

/* A program has polled in vain for so long that somebody else should have a turn. The lock is not
 * held. */
void core_sharing_yield(struct verbs_cq *cq);

#endif
