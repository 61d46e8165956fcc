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
 * Two that hand one core to and fro never look to the scheduler as if one had better go elsewhere:
 * each has just run, and is kept where its cache is. One that wakes up is put on a core that is
 * idle; so after some such yields in a row the program sleeps for a moment, and seldom again if
 * that was no use. The time away counts, not how often: two that exchange words lose little with
 * each yield, two that move rings full of bytes most of the time that they have.
 *
 * Where programs belong to groups between which the scheduler divides the cores (containers,
 * sessions), a yield reaches only those of the same group. Who finds that a core is taken from it
 * though nobody wanted it, while there are many programs for each core, sleeps instead of yielding,
 * for a while.
 */
#include "api/libibverbs/objects/core_sharing.h"

#include <sched.h>
#include <sys/resource.h>
#include "api/libibverbs/objects/objects.h"

/* Nobody to switch to: 0.2 us. There and back: 2 us at least, and some 100 us for each program that
 * has a queue full of work to do. A time slice of somebody who computes: more; with many programs
 * for each core, of which one or the other computes, that many times more. */
#define YIELD_SERVED_NS MICROSECONDS(1)
#define YIELD_LOST_NS	MILLISECONDS(2)

/* Going to sleep and waking up costs about as much as the least of these. */
#define AWAY_BEFORE_SLEEP_MIN_NS MICROSECONDS(100)
#define AWAY_BEFORE_SLEEP_MAX_NS MILLISECONDS(25)

enum { CROWD = 4 }; /* programs for each core: among fewer, spinning is the lesser evil */

/* Who uses no more than that of a core before it is taken away again shares it: the system's own
 * threads come more seldom. */
#define SHARED_CORE_NS MILLISECONDS(10)

/* How long yields are done without, and how long a nap is: the first, and one of many in vain. The
 * system adds some 50 us to each. */
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

/* A yield let somebody else run who gave the core back. */
static void look_for_a_core(struct verbs_cq *cq, uint32_t away_ns)
{
	struct core_sharing *sharing = &cq->sharing;
	uint32_t limit_ns = get(&sharing->away_before_sleep_ns);

	/* It is softibd's turn, most likely. */
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

/* It let nobody run; and if that was so for long, a new search would be worth it. */
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

/* After a yield among many programs: whether cores are taken from this thread time and again,
 * though nobody wanted this one. */
static bool is_pressed(struct core_sharing *sharing, bool was_served)
{
	struct rusage usage;

	/* Yields that let somebody run count as preemptions, too. */
	if (getrusage(RUSAGE_THREAD, &usage) != 0 ||
	    __atomic_exchange_n(&sharing->preemptions, usage.ru_nivcsw, __ATOMIC_RELAXED) ==
		    usage.ru_nivcsw ||
	    was_served)
		return false;

	const time_ns used = used_ns(&usage);
	const time_ns before = __atomic_exchange_n(&sharing->preempted_at, used, __ATOMIC_RELAXED);

	return used - before < SHARED_CORE_NS;
}

/* The longer, the more often it was in vain. */
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

/* What a yield was good for; crowd: programs for each core. */
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
