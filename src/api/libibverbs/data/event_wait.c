/* SPDX-License-Identifier: Apache-2.0 */
/* Waiting for a completion event: first by polling the adapter, then by sleeping (see
 * event_wait.h). */
#include "api/libibverbs/data/event_wait.h"

#include <fcntl.h>
#include <sched.h>
#include "api/libibverbs/objects/objects.h"

enum { LOOKS_PER_YIELD = 32 };

/* Longer than two wake-ups in each direction. Polling for longer is not worth a core. */
#define LOOK_MAX_NS MICROSECONDS(200)
#define LOOK_MIN_NS MICROSECONDS(10)

bool event_wait_will_look(const struct verbs_channel *channel)
{
	return __atomic_load_n(&channel->finds_events_itself, __ATOMIC_RELAXED);
}

static void remember(struct verbs_channel *channel, bool has_found)
{
	if (event_wait_will_look(channel) != has_found)
		__atomic_store_n(&channel->finds_events_itself, has_found, __ATOMIC_RELAXED);
}

/* Polls the adapter, in place of the progress thread, for look_ns. 0: there is an event, and the
 * queue is locked. */
static int look(struct verbs_channel *channel, struct adapter *adapter, time_ns start)
{
	time_ns end = start + __atomic_load_n(&channel->look_ns, __ATOMIC_RELAXED);
	time_ns now = start;

	for (unsigned looks = 1; now < end; looks++) {
		adapter_lock(adapter);
		(void)adapter_poll(adapter);
		adapter_unlock(adapter);
		if (event_queue_try(&channel->events) == 0)
			return 0;
		/* The sender may be waiting for this core. */
		if (looks % LOOKS_PER_YIELD == 0)
			sched_yield();
		now = adapter_now(adapter);
	}
	return -EAGAIN;
}

/* Polls twice as long next time if a longer poll would have found the event, half as long if not. A
 * program whose events are rare stops polling. */
static void learn(struct verbs_channel *channel, time_ns waited_ns)
{
	time_ns look_ns = __atomic_load_n(&channel->look_ns, __ATOMIC_RELAXED);

	if (waited_ns > LOOK_MAX_NS)
		look_ns = look_ns > LOOK_MIN_NS ? look_ns / 2 : 0;
	else if (look_ns < LOOK_MIN_NS)
		look_ns = LOOK_MIN_NS;
	else if (waited_ns > look_ns)
		look_ns = look_ns * 2 < LOOK_MAX_NS ? look_ns * 2 : LOOK_MAX_NS;
	__atomic_store_n(&channel->look_ns, look_ns, __ATOMIC_RELAXED);
}

int event_wait(struct verbs_channel *channel)
{
	struct adapter *adapter = context_of(channel->channel.context)->adapter;
	bool has_found = false;
	int error = event_queue_try(&channel->events);

	if (error == 0) {
		remember(channel, false);
		return 0;
	}

	int flags = fcntl(channel->events.fd, F_GETFL);

	if (flags < 0 || flags & O_NONBLOCK) {
		remember(channel, false);
		return event_queue_wait(&channel->events);
	}

	time_ns start = adapter_now(adapter);

	error = look(channel, adapter, start);
	has_found = error == 0;
	remember(channel, has_found);
	if (!has_found) {
		adapter_lock(adapter);
		adapter_expect_silence(adapter);
		adapter_unlock(adapter);
		error = event_queue_wait(&channel->events);
	}
	if (error == 0)
		learn(channel, adapter_now(adapter) - start);
	return error;
}
