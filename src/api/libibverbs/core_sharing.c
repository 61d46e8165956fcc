/* SPDX-License-Identifier: Apache-2.0 */
/*
 * With more spinning programs than cores, the one that could answer may be waiting for this one's
 * core. Yielding shows whether that is so. It takes no time when nobody waits, and then the next
 * yield comes after more polls in vain: programs that have a core each make next to no system
 * calls. It takes a few microseconds when the other one only polls too, and then the next comes
 * sooner. It takes a time slice when somebody computes, and then yielding is a loss. A peer that
 * runs answers within 2 us, which is some 50 polls. Whoever sends through softibd waits for it as
 * well as for the peer, and two programs and softibd seldom have three cores: it yields earlier.
 *
 * Two that hand one core to and fro never look to the scheduler as if one had better go elsewhere: each
 * has just run, and is kept where its cache is. One that wakes up is put on a core that is idle; so
 * after some such yields in a row the program sleeps for a moment, and seldom again if that was no
 * use. The time away counts, not how often: two that exchange words lose little with each yield, two
 * that move rings full of bytes most of the time that they have.
 */
#include "api/libibverbs/core_sharing.h"

#include <sched.h>
#include "api/libibverbs/objects.h"

/* Nobody to switch to: 0.2 us. There and back: 2 us at least, and some 100 us for each program that
 * has a queue full of work to do. A time slice of somebody who computes: more; with many programs
 * for each core, of which one or the other computes, that many times more. */
#define YIELD_SERVED_NS MICROSECONDS(1)
#define YIELD_LOST_NS	MILLISECONDS(2)

/* Going to sleep and waking up costs about as much as the least of these. */
#define AWAY_BEFORE_SLEEP_MIN_NS MICROSECONDS(100)
#define AWAY_BEFORE_SLEEP_MAX_NS MILLISECONDS(25)

/* A yield let somebody else run who gave the core back. */
static void look_for_a_core(struct verbs_cq *cq, uint32_t away_ns)
{
	uint32_t limit_ns = __atomic_load_n(&cq->away_before_sleep_ns, __ATOMIC_RELAXED);

	/* It is softibd's turn, most likely. */
	if (__atomic_load_n(&cq->needs_softibd, __ATOMIC_RELAXED))
		return;
	if (limit_ns < AWAY_BEFORE_SLEEP_MIN_NS)
		limit_ns = AWAY_BEFORE_SLEEP_MIN_NS;
	if (__atomic_add_fetch(&cq->away_in_turn_ns, away_ns, __ATOMIC_RELAXED) < limit_ns)
		return;
	__atomic_store_n(&cq->away_in_turn_ns, 0, __ATOMIC_RELAXED);
	if (limit_ns < AWAY_BEFORE_SLEEP_MAX_NS)
		__atomic_store_n(&cq->away_before_sleep_ns, limit_ns * 2, __ATOMIC_RELAXED);
	adapter_nap(cq->adapter);
}

/* It let nobody run; and if that was so for long, a new search would be worth it. */
static void has_own_core(struct verbs_cq *cq, uint32_t polls)
{
	__atomic_store_n(&cq->away_in_turn_ns, 0, __ATOMIC_RELAXED);
	if (polls == POLLS_BEFORE_YIELD_MAX)
		__atomic_store_n(&cq->away_before_sleep_ns, 0, __ATOMIC_RELAXED);
}

/* Without the lock: two threads that poll the same CQ may count each other's yields, which does no
 * harm. */
void core_sharing_yield(struct verbs_cq *cq)
{
	time_ns before = adapter_now(cq->adapter);

	sched_yield();

	time_ns away_ns = adapter_now(cq->adapter) - before;
	time_ns lost_ns = YIELD_LOST_NS * adapter_programs_per_core(cq->adapter);
	uint32_t polls = __atomic_load_n(&cq->polls_before_yield, __ATOMIC_RELAXED);

	if (away_ns < YIELD_SERVED_NS)
		polls *= 2;
	else if (away_ns < lost_ns)
		polls /= 4;
	else
		polls = POLLS_BEFORE_YIELD_MAX;
	if (polls < POLLS_BEFORE_YIELD_MIN)
		polls = POLLS_BEFORE_YIELD_MIN;
	if (polls > POLLS_BEFORE_YIELD_MAX)
		polls = POLLS_BEFORE_YIELD_MAX;
	__atomic_store_n(&cq->polls_before_yield, polls, __ATOMIC_RELAXED);
	if (away_ns < YIELD_SERVED_NS)
		has_own_core(cq, polls);
	else if (away_ns < lost_ns)
		look_for_a_core(cq, (uint32_t)away_ns);
}
