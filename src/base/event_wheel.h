/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Events of the near future in slots of a nanosecond each, for those who have very many of them;
 * what is further away waits in a heap. Near events of one nanosecond come in the order in which
 * they were armed.
 */
#ifndef SOFTIB_BASE_EVENT_WHEEL_H
#define SOFTIB_BASE_EVENT_WHEEL_H

#include <stdbool.h>
#include <stdint.h>
#include "base/attributes.h"
#include "base/list.h"
#include "base/time.h"
#include "base/timer_queue.h"

enum { EVENT_WHEEL_SLOTS = 8192, EVENT_WHEEL_WORDS = EVENT_WHEEL_SLOTS / 64 };

/* Lies inside the thing it wakes. */
struct wheel_event {
	struct list link; /* in a slot */
	time_ns at;
	struct timer far;
	uint8_t kind; /* the owner's */
};

struct event_wheel {
	struct list *slots;
	uint64_t occupied[EVENT_WHEEL_WORDS]; /* a bit per slot */
	uint32_t count;			      /* in slots */
	time_ns base; /* slots hold events from here on, for EVENT_WHEEL_SLOTS nanoseconds */
	struct timer_queue far;
};

MUST_USE int event_wheel_init(struct event_wheel *wheel);
void event_wheel_release(struct event_wheel *wheel);
/* Room for so many events, so that arming them can't fail. */
MUST_USE int event_wheel_reserve(struct event_wheel *wheel, uint32_t event_count);

static inline void wheel_event_init(struct wheel_event *event, uint8_t kind)
{
	*event = (struct wheel_event){.kind = kind};
	list_init(&event->link);
}

static inline bool wheel_event_is_armed(const struct wheel_event *event)
{
	return list_is_linked(&event->link) || timer_is_armed(&event->far);
}

/* Also moves one that is armed. What is past by the wheel's reckoning is due at once. */
void event_wheel_arm(struct event_wheel *wheel, struct wheel_event *event, time_ns at);
void event_wheel_cancel(struct event_wheel *wheel, struct wheel_event *event);

/* TIME_NEVER: nothing is armed. */
time_ns event_wheel_deadline(const struct event_wheel *wheel);
/* Takes out the earliest event that is due, or returns NULL. Time does not go back. */
struct wheel_event *event_wheel_pop(struct event_wheel *wheel, time_ns now);

#endif
