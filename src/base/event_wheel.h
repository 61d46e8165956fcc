/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A timer wheel for very many events: events of the near future in slots of one nanosecond each,
 * later events in a heap. Near events of one nanosecond come in the order in which they were armed.
 *
 * A slot holds pointers instead of links through the events. So arming an event touches no other
 * event, and the events of a slot can be prefetched, with their kinds, before the first is handled.
 */
#ifndef SOFTIB_BASE_EVENT_WHEEL_H
#define SOFTIB_BASE_EVENT_WHEEL_H

#include <stdbool.h>
#include <stdint.h>
#include "base/attributes.h"
#include "base/time.h"
#include "base/timer_queue.h"

enum { EVENT_WHEEL_SLOTS = 8192, EVENT_WHEEL_WORDS = EVENT_WHEEL_SLOTS / 64 };

/* The owner defines the kinds, which are below WHEEL_KINDS. */
enum { WHEEL_KINDS = 4 };

/* Embedded in the object that it wakes. */
struct wheel_event {
	/* In the heap while it is far away; deadline and kind are always valid. */
	struct timer timer;
	uintptr_t *place; /* in a slot; NULL: not in a slot */
};

/* An event that is due: the timer of a wheel_event, or a launched timer. */
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
	uint32_t count;			      /* of events in slots */
	time_ns base; /* slots hold the events of EVENT_WHEEL_SLOTS nanoseconds from here on */
	struct timer_queue far;
	uint32_t reserved; /* events that the heap has room for */
};

MUST_USE int event_wheel_init(struct event_wheel *wheel);
void event_wheel_release(struct event_wheel *wheel);
/* Makes room for this many events, so that arming them cannot fail. */
MUST_USE int event_wheel_reserve(struct event_wheel *wheel, uint32_t event_count);

static inline void wheel_event_init(struct wheel_event *event, uint8_t kind)
{
	*event = (struct wheel_event){.timer = {.kind = kind}};
}

static inline bool wheel_event_is_armed(const struct wheel_event *event)
{
	return event->place || timer_is_armed(&event->timer);
}

/* When it is due, or was due. The event has been armed before. */
static inline time_ns wheel_event_at(const struct wheel_event *event)
{
	return event->timer.deadline;
}

/* Arms the event, or moves it if it is armed. An event before the wheel's base is due at once. */
void event_wheel_arm(struct event_wheel *wheel, struct wheel_event *event, time_ns at);
void event_wheel_cancel(struct event_wheel *wheel, struct wheel_event *event);

/* TIME_NEVER: nothing is armed. */
time_ns event_wheel_deadline(const struct event_wheel *wheel);
/* Takes out the earliest events that are due, all of one instant, and returns how many there were.
 * Time does not go back. */
unsigned event_wheel_take(struct event_wheel *wheel, time_ns now, unsigned event_count_max,
			  struct wheel_due ret_due[]);

/* Copies the next events of the nearest slots in order, up to this many, without taking them. For
 * prefetching. */
unsigned event_wheel_peek(const struct event_wheel *wheel, unsigned event_count_max,
			  struct wheel_due ret_due[]);

/* Arms a bare timer, for events that are hardly ever cancelled. The timer is not touched again
 * before it is due. False: out of memory, nothing was armed. */
MUST_USE bool event_wheel_launch(struct event_wheel *wheel, struct timer *timer, unsigned kind,
				 time_ns at);
/* Takes out the earliest launched timer that the caller's function accepts; NULL: none. Searches
 * all events. */
struct timer *event_wheel_take_launched(struct event_wheel *wheel,
					bool (*is_meant)(const struct timer *timer,
							 const void *context),
					const void *context);

#endif
