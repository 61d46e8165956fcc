/* SPDX-License-Identifier: Apache-2.0 */
/* When a program that polls in vain yields its core, because more programs poll than there are
 * cores. */
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

/* What earlier yields showed, per polled CQ. No lock: two threads that poll the same CQ may count
 * each other's yields, which does no harm. All zero at first. */
struct core_sharing {
	uint32_t polls_before_yield; /* polls in a row that find nothing */
	uint32_t away_in_turn_ns;    /* time that other threads ran, over yields in a row */
	uint32_t away_before_sleep_ns;
	bool needs_softibd; /* its sends go through softibd */
	/* With many programs per core: */
	time_ns crowded_until; /* sleep instead of yielding until then */
	uint32_t nap_ns;
	uint32_t head_before_nap; /* the completion ring's head */
	long preemptions;	  /* at the last check */
	time_ns preempted_at;	  /* in CPU time of the thread */
};

/* The program has polled in vain for polls_before_yield polls: lets other threads run. The
 * adapter's lock is not held. */
void core_sharing_yield(struct verbs_cq *cq);

#endif
