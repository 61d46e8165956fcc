/* SPDX-License-Identifier: Apache-2.0 */
/*
 * With more polling programs than cores, the peer that could answer may be waiting for this
 * program's core. The duration of a yield tells. If no thread waits, the yield returns at once, and
 * the next yield comes after more polls: programs with a core each make next to no system calls. If
 * the other thread only polls too, the yield takes a few microseconds, and the next one comes
 * sooner. If the other thread computes, the yield takes a time slice, and yielding is a loss. A
 * running peer answers within 2 us, which is about 50 polls. A program that sends through softibd
 * waits for softibd as well as for the peer, and two programs and softibd seldom have three cores,
 * so it yields earlier.
 *
 * The scheduler never moves one of two threads that yield one core to each other: each has just run
 * and stays where its cache is. A thread that wakes up is placed on an idle core. So after some
 * yields in a row the program sleeps for a moment, and does so more and more seldom if that did not
 * help. The time away decides, not the number of yields: two programs that exchange short messages
 * lose little per yield, two that move full rings lose most of their time.
 *
 * Where the scheduler divides the cores between groups of programs (containers, sessions), a yield
 * only lets threads of the same group run. A program that finds itself preempted although its
 * yields let no thread run, with many programs per core, sleeps instead of yielding for a while.
 */
#include "api/libibverbs/objects/core_sharing.h"

#include <sched.h>
#include <sys/resource.h>
#include "api/libibverbs/objects/objects.h"

/* A yield takes 0.2 us if no thread waits; at least 2 us for a switch there and back, and about 100
 * us for each program that has a full queue to process; a time slice if a thread computes, times
 * the number of programs per core. */
#define YIELD_SERVED_NS MICROSECONDS(1)
#define YIELD_LOST_NS	MILLISECONDS(2)

/* Sleeping and waking up costs about the minimum. */
#define AWAY_BEFORE_SLEEP_MIN_NS MICROSECONDS(100)
#define AWAY_BEFORE_SLEEP_MAX_NS MILLISECONDS(25)

enum { CROWD = 4 }; /* programs per core; with fewer, polling costs less than sleeping */

/* A thread that is preempted after less CPU time than this shares its core with other programs: the
 * system's own threads preempt less often. */
#define SHARED_CORE_NS MILLISECONDS(10)

/* How long the program sleeps instead of yielding, and the shortest and longest sleep. The system
 * adds about 50 us to each sleep. */
#define CROWDED_NS MILLISECONDS(100)
#define NAP_MIN_NS MICROSECONDS(5)
#define NAP_MAX_NS MICROSECONDS(320)

static uint32_t get(const uint32_t *field)
{
	return __atomic_load_n(field, __ATOMIC_RELAXED);
}

static void set(uint32_t *field, uint32_t value)
{
	__atomic_store_n(field, value, __ATOMIC_RELAXED);
}

/* A yield let another thread run, which gave the core back. */
static void look_for_a_core(struct verbs_cq *cq, uint32_t away_ns)
{
	struct core_sharing *sharing = &cq->sharing;
	uint32_t limit_ns = get(&sharing->away_before_sleep_ns);

	/* The thread that ran was most likely softibd. */
	if (__atomic_load_n(&sharing->needs_softibd, __ATOMIC_RELAXED))
		return;
	if (limit_ns < AWAY_BEFORE_SLEEP_MIN_NS)
		limit_ns = AWAY_BEFORE_SLEEP_MIN_NS;
	if (__atomic_add_fetch(&sharing->away_in_turn_ns, away_ns, __ATOMIC_RELAXED) < limit_ns)
		return;
	set(&sharing->away_in_turn_ns, 0);
	if (limit_ns < AWAY_BEFORE_SLEEP_MAX_NS)
		set(&sharing->away_before_sleep_ns, limit_ns * 2);
	adapter_nap(cq->adapter, 1);
}

/* A yield let no thread run. If that has been so for long, a later search for a free core may help
 * again. */
static void has_own_core(struct core_sharing *sharing, uint32_t polls)
{
	set(&sharing->away_in_turn_ns, 0);
	if (polls == POLLS_BEFORE_YIELD_MAX)
		set(&sharing->away_before_sleep_ns, 0);
}

static time_ns used_ns(const struct rusage *usage)
{
	return SECONDS(usage->ru_utime.tv_sec + usage->ru_stime.tv_sec) +
	       MICROSECONDS(usage->ru_utime.tv_usec + usage->ru_stime.tv_usec);
}

/* After a yield with many programs per core: whether this thread was preempted again within
 * SHARED_CORE_NS although its yield let no thread run. */
static bool is_pressed(struct core_sharing *sharing, bool was_served)
{
	struct rusage usage;

	/* The kernel counts a yield that lets another thread run as a preemption. */
	if (getrusage(RUSAGE_THREAD, &usage) != 0 ||
	    __atomic_exchange_n(&sharing->preemptions, usage.ru_nivcsw, __ATOMIC_RELAXED) ==
		    usage.ru_nivcsw ||
	    was_served)
		return false;

	const time_ns used = used_ns(&usage);
	const time_ns before = __atomic_exchange_n(&sharing->preempted_at, used, __ATOMIC_RELAXED);

	return used - before < SHARED_CORE_NS;
}

/* Doubles the sleep as long as no completion comes. */
static void nap(struct verbs_cq *cq)
{
	struct core_sharing *sharing = &cq->sharing;
	const uint32_t head = get(&cq->object->ring.head);
	uint32_t nap_ns = get(&sharing->nap_ns) * 2;

	if (nap_ns < NAP_MIN_NS || head != get(&sharing->head_before_nap))
		nap_ns = NAP_MIN_NS;
	if (nap_ns > NAP_MAX_NS)
		nap_ns = NAP_MAX_NS;
	set(&sharing->head_before_nap, head);
	set(&sharing->nap_ns, nap_ns);
	adapter_nap(cq->adapter, nap_ns);
}

/* Adapts to the duration of a yield. crowd: programs per core. */
static void learn(struct verbs_cq *cq, time_ns now, time_ns away_ns, unsigned crowd)
{
	struct core_sharing *sharing = &cq->sharing;
	const time_ns lost_ns = YIELD_LOST_NS * crowd;
	uint32_t polls = get(&sharing->polls_before_yield);

	if (away_ns < YIELD_SERVED_NS)
		polls *= 2;
	else if (away_ns < lost_ns)
		polls /= 4;
	else
		polls = POLLS_BEFORE_YIELD_MAX;
	if (unlikely(crowd >= CROWD) && is_pressed(sharing, away_ns >= YIELD_SERVED_NS)) {
		__atomic_store_n(&sharing->crowded_until, now + CROWDED_NS, __ATOMIC_RELAXED);
		polls = 0;
	}
	if (polls < POLLS_BEFORE_YIELD_MIN)
		polls = POLLS_BEFORE_YIELD_MIN;
	if (polls > POLLS_BEFORE_YIELD_MAX)
		polls = POLLS_BEFORE_YIELD_MAX;
	set(&sharing->polls_before_yield, polls);
	if (away_ns < YIELD_SERVED_NS)
		has_own_core(sharing, polls);
	else if (away_ns < lost_ns)
		look_for_a_core(cq, (uint32_t)away_ns);
}

void core_sharing_yield(struct verbs_cq *cq)
{
	const unsigned crowd = adapter_programs_per_core(cq->adapter);
	const time_ns before = adapter_now(cq->adapter);

	if (unlikely(crowd >= CROWD) &&
	    before < __atomic_load_n(&cq->sharing.crowded_until, __ATOMIC_RELAXED)) {
		nap(cq);
		return;
	}
	sched_yield();

	const time_ns now = adapter_now(cq->adapter);

	learn(cq, now, now - before, crowd);
}
