/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Events of the near future in slots of a nanosecond each, for those who have very many of them;
 * what is further away waits in a heap. Near events of one nanosecond come in the order in which
 * they were armed.
 *
 * A slot holds pointers, not links through the events: to arm one touches no other, and those of a
 * slot are known with their kinds, and can be fetched, before the first is looked at.
 */
#ifndef SOFTIB_BASE_EVENT_WHEEL_H
#define SOFTIB_BASE_EVENT_WHEEL_H

#include <stdbool.h>
#include <stdint.h>
#include "base/attributes.h"
#include "base/time.h"
#include "base/timer_queue.h"

enum { EVENT_WHEEL_SLOTS = 8192, EVENT_WHEEL_WORDS = EVENT_WHEEL_SLOTS / 64 };

/* Kinds are the owner's, below WHEEL_KINDS. */
enum { WHEEL_KINDS = 4 };

/* Lies inside the thing it wakes. */
struct wheel_event {
	struct timer timer; /* in the heap while it is far away; deadline and kind hold always */
	uintptr_t *place;   /* in a slot; NULL: in none */
};

/* An event that is due: the timer of a wheel_event, or one that was launched. */
struct wheel_due {
	struct timer *timer;
	unsigned kind;
};

struct wheel_chunk;
struct wheel_slot;

struct event_wheel {
	struct wheel_slot *slots;
	struct wheel_chunk *free; /* the last one used first */
	struct wheel_slab *slabs;
	uint64_t occupied[EVENT_WHEEL_WORDS]; /* a bit per slot */
	uint32_t count;			      /* in slots */
	time_ns base; /* slots hold events from here on, for EVENT_WHEEL_SLOTS nanoseconds */
	struct timer_queue far;
	uint32_t reserved; /* room in the heap for events that are armed */
};

MUST_USE int event_wheel_init(struct event_wheel *wheel);
void event_wheel_release(struct event_wheel *wheel);
/* Room for so many events, so that arming them can't fail. */
MUST_USE int event_wheel_reserve(struct event_wheel *wheel, uint32_t event_count);

static inline void wheel_event_init(struct wheel_event *event, uint8_t kind)
{
	*event = (struct wheel_event){.timer = {.kind = kind}};
}

static inline bool wheel_event_is_armed(const struct wheel_event *event)
{
	return event->place || timer_is_armed(&event->timer);
}

/* When it is due, or was: of one that has ever been armed. */
static inline time_ns wheel_event_at(const struct wheel_event *event)
{
	return event->timer.deadline;
}

/* Also moves one that is armed. What is past by the wheel's reckoning is due at once. */
void event_wheel_arm(struct event_wheel *wheel, struct wheel_event *event, time_ns at);
void event_wheel_cancel(struct event_wheel *wheel, struct wheel_event *event);

/* TIME_NEVER: nothing is armed. */
time_ns event_wheel_deadline(const struct event_wheel *wheel);
/* Takes out the earliest events that are due, all of one instant, and returns how many there were.
 * Time does not go back. */
unsigned event_wheel_take(struct event_wheel *wheel, time_ns now, unsigned event_count_max,
			  struct wheel_due ret_due[]);

/* The next ones of the nearest slots, in order, up to this many; none is taken. For those who fetch
 * what they will look at. */
unsigned event_wheel_peek(const struct event_wheel *wheel, unsigned event_count_max,
			  struct wheel_due ret_due[]);

/* For events that are hardly ever called back: nothing but the timer is needed, and it is not
 * touched again before it is due. False: no memory, nothing was armed. */
MUST_USE bool event_wheel_launch(struct event_wheel *wheel, struct timer *timer, unsigned kind,
				 time_ns at);
/* Takes out the earliest of those that were launched and that the caller means; NULL: none. Looks at
 * all there are. */
struct timer *event_wheel_call_back(struct event_wheel *wheel,
				    bool (*is_meant)(const struct timer *timer, const void *context),
				    const void *context);

#endif
