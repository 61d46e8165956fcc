/* SPDX-License-Identifier: Apache-2.0 */
/* Events of the near future in slots of a nanosecond each. */
#include "base/event_wheel.h"

#include <errno.h>
#include <stdlib.h>

enum { SLOT_MASK = EVENT_WHEEL_SLOTS - 1, BITS = 64 };

int event_wheel_init(struct event_wheel *wheel)
{
	*wheel = (struct event_wheel){.slots = malloc(EVENT_WHEEL_SLOTS * sizeof(struct list))};
	timer_queue_init(&wheel->far);
	if (!wheel->slots)
		return -ENOMEM;
	for (unsigned slot = 0; slot < EVENT_WHEEL_SLOTS; slot++)
		list_init(&wheel->slots[slot]);
	return 0;
}

void event_wheel_release(struct event_wheel *wheel)
{
	free(wheel->slots);
	timer_queue_release(&wheel->far);
	*wheel = (struct event_wheel){0};
}

int event_wheel_reserve(struct event_wheel *wheel, uint32_t event_count)
{
	return timer_queue_reserve(&wheel->far, event_count);
}

static void put_in_slot(struct event_wheel *wheel, struct wheel_event *event)
{
	unsigned slot = (unsigned)(event->at & SLOT_MASK);

	list_append(&wheel->slots[slot], &event->link);
	wheel->occupied[slot / BITS] |= UINT64_C(1) << (slot % BITS);
	wheel->count++;
}

void event_wheel_arm(struct event_wheel *wheel, struct wheel_event *event, time_ns at)
{
	event_wheel_cancel(wheel, event);
	event->at = at > wheel->base ? at : wheel->base;
	if (likely(event->at - wheel->base < EVENT_WHEEL_SLOTS))
		put_in_slot(wheel, event);
	else
		timer_queue_arm(&wheel->far, &event->far, at);
}

void event_wheel_cancel(struct event_wheel *wheel, struct wheel_event *event)
{
	unsigned slot = (unsigned)(event->at & SLOT_MASK);

	if (timer_is_armed(&event->far)) {
		timer_queue_cancel(&wheel->far, &event->far);
		return;
	}
	if (!list_is_linked(&event->link))
		return;
	list_remove(&event->link);
	wheel->count--;
	if (list_is_empty(&wheel->slots[slot]))
		wheel->occupied[slot / BITS] &= ~(UINT64_C(1) << (slot % BITS));
}

/* The first event in a slot; there is one. */
static time_ns first_near(const struct event_wheel *wheel)
{
	unsigned start = (unsigned)(wheel->base & SLOT_MASK);
	unsigned word = start / BITS;
	uint64_t bits = wheel->occupied[word] >> (start % BITS) << (start % BITS);

	/* Once around, and the start's own word again for what lies before the start. */
	for (unsigned step = 0; step <= EVENT_WHEEL_WORDS; step++) {
		if (bits) {
			unsigned slot = word * BITS + (unsigned)__builtin_ctzll(bits);

			return wheel->base + ((slot - start) & SLOT_MASK);
		}
		word = (word + 1) % EVENT_WHEEL_WORDS;
		bits = wheel->occupied[word];
	}
	return TIME_NEVER;
}

/* What was far away when it was armed may be earlier than what is near now. */
time_ns event_wheel_deadline(const struct event_wheel *wheel)
{
	time_ns far = timer_queue_deadline(&wheel->far);

	return wheel->count ? time_earlier(first_near(wheel), far) : far;
}

struct wheel_event *event_wheel_pop(struct event_wheel *wheel, time_ns now)
{
	struct list *slot = &wheel->slots[wheel->base & SLOT_MASK];

	if (!list_is_empty(slot) && wheel->base <= now)
		goto take;

	time_ns next = event_wheel_deadline(wheel);

	if (next == TIME_NEVER || next > now)
		return NULL;
	wheel->base = next;

	struct timer *timer;

	while ((timer = timer_queue_pop(&wheel->far, next + EVENT_WHEEL_SLOTS - 1)))
		put_in_slot(wheel, container_of(timer, struct wheel_event, far));
	slot = &wheel->slots[next & SLOT_MASK];
take:;
	struct wheel_event *event = container_of(slot->next, struct wheel_event, link);

	event_wheel_cancel(wheel, event);
	return event;
}
