/* SPDX-License-Identifier: Apache-2.0 */
/* Events of the near future in slots of a nanosecond each. */
#include "base/event_wheel.h"

#include <errno.h>
#include <stdlib.h>

enum { SLOT_MASK = EVENT_WHEEL_SLOTS - 1, BITS = 64, CHUNK_EVENTS = 31, CHUNKS_PER_SLAB = 64 };

struct wheel_chunk {
	struct wheel_chunk *next; /* of the slot, or free */
	struct wheel_event *events[CHUNK_EVENTS];
};

struct wheel_slab {
	struct wheel_slab *next;
	struct wheel_chunk chunks[CHUNKS_PER_SLAB];
};

/* Events from `taken` in the first chunk to `filled` in the last; NULL stands for a cancelled one. */
struct wheel_slot {
	struct wheel_chunk *first, *last; /* not set while count is 0 */
	uint8_t taken, filled;
	uint32_t count; /* without those that were cancelled */
};

int event_wheel_init(struct event_wheel *wheel)
{
	*wheel = (struct event_wheel){.slots = calloc(EVENT_WHEEL_SLOTS, sizeof(*wheel->slots))};
	timer_queue_init(&wheel->far);
	return wheel->slots ? 0 : -ENOMEM;
}

void event_wheel_release(struct event_wheel *wheel)
{
	while (wheel->slabs) {
		struct wheel_slab *slab = wheel->slabs;

		wheel->slabs = slab->next;
		free(slab);
	}
	free(wheel->slots);
	timer_queue_release(&wheel->far);
	*wheel = (struct event_wheel){0};
}

int event_wheel_reserve(struct event_wheel *wheel, uint32_t event_count)
{
	return timer_queue_reserve(&wheel->far, event_count);
}

/* NULL without memory. */
static struct wheel_chunk *take_chunk(struct event_wheel *wheel)
{
	if (unlikely(!wheel->free)) {
		struct wheel_slab *slab = malloc(sizeof(*slab));

		if (!slab)
			return NULL;
		slab->next = wheel->slabs;
		wheel->slabs = slab;
		for (unsigned i = 0; i < CHUNKS_PER_SLAB; i++) {
			slab->chunks[i].next = wheel->free;
			wheel->free = &slab->chunks[i];
		}
	}

	struct wheel_chunk *chunk = wheel->free;

	wheel->free = chunk->next;
	chunk->next = NULL;
	return chunk;
}

static void give_back_chunk(struct event_wheel *wheel, struct wheel_chunk *chunk)
{
	chunk->next = wheel->free;
	wheel->free = chunk;
}

/* False without memory for it. */
static bool put_in_slot(struct event_wheel *wheel, struct wheel_event *event)
{
	unsigned index = (unsigned)(event->at & SLOT_MASK);
	struct wheel_slot *slot = &wheel->slots[index];

	if (slot->count == 0 || slot->filled == CHUNK_EVENTS) {
		struct wheel_chunk *chunk = take_chunk(wheel);

		if (!chunk)
			return false;
		if (slot->count == 0) {
			slot->first = chunk;
			slot->taken = 0;
			wheel->occupied[index / BITS] |= UINT64_C(1) << (index % BITS);
		} else {
			slot->last->next = chunk;
		}
		slot->last = chunk;
		slot->filled = 0;
	}
	event->place = &slot->last->events[slot->filled++];
	*event->place = event;
	slot->count++;
	wheel->count++;
	return true;
}

/* Nothing is in the slot any more. */
static void empty_slot(struct event_wheel *wheel, struct wheel_slot *slot)
{
	size_t index = (size_t)(slot - wheel->slots);

	while (slot->first) {
		struct wheel_chunk *chunk = slot->first;

		slot->first = chunk->next;
		give_back_chunk(wheel, chunk);
	}
	wheel->occupied[index / BITS] &= ~(UINT64_C(1) << (index % BITS));
}

void event_wheel_arm(struct event_wheel *wheel, struct wheel_event *event, time_ns at)
{
	if (unlikely(wheel_event_is_armed(event)))
		event_wheel_cancel(wheel, event);
	event->at = at > wheel->base ? at : wheel->base;
	/* Without memory for the slot, the heap will do. */
	if (unlikely(event->at - wheel->base >= EVENT_WHEEL_SLOTS || !put_in_slot(wheel, event)))
		timer_queue_arm(&wheel->far, &event->far, event->at);
}

void event_wheel_cancel(struct event_wheel *wheel, struct wheel_event *event)
{
	struct wheel_slot *slot = &wheel->slots[event->at & SLOT_MASK];

	if (!event->place) {
		timer_queue_cancel(&wheel->far, &event->far);
		return;
	}
	*event->place = NULL;
	/* Whoever is moved back and forth leaves no trail. */
	if (slot->filled && event->place == &slot->last->events[slot->filled - 1])
		slot->filled--;
	event->place = NULL;
	wheel->count--;
	if (--slot->count == 0)
		empty_slot(wheel, slot);
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

/* What the heap has for the slots from here on. */
static void draw_near(struct event_wheel *wheel, time_ns base)
{
	struct timer *timer;

	wheel->base = base;
	while ((timer = timer_queue_pop(&wheel->far, base + EVENT_WHEEL_SLOTS - 1))) {
		struct wheel_event *event = container_of(timer, struct wheel_event, far);

		if (unlikely(!put_in_slot(wheel, event))) {
			timer_queue_arm(&wheel->far, timer, event->at);
			return;
		}
	}
}

static struct wheel_event *next_in_slot(struct event_wheel *wheel, struct wheel_slot *slot)
{
	struct wheel_event *event;

	do {
		if (slot->taken == CHUNK_EVENTS) {
			struct wheel_chunk *chunk = slot->first;

			slot->first = chunk->next;
			slot->taken = 0;
			give_back_chunk(wheel, chunk);
		}
		event = slot->first->events[slot->taken++];
	} while (unlikely(!event));
	return event;
}

unsigned event_wheel_take(struct event_wheel *wheel, time_ns now, unsigned event_count_max,
			  struct wheel_event *ret_events[])
{
	struct wheel_slot *slot = &wheel->slots[wheel->base & SLOT_MASK];
	unsigned count = 0;

	if (slot->count == 0 || wheel->base > now) {
		time_ns next = event_wheel_deadline(wheel);

		if (next == TIME_NEVER || next > now)
			return 0;
		draw_near(wheel, next);
		slot = &wheel->slots[next & SLOT_MASK];
	}
	while (count < event_count_max && slot->count) {
		struct wheel_event *event = next_in_slot(wheel, slot);

		event->place = NULL;
		wheel->count--;
		if (--slot->count == 0)
			empty_slot(wheel, slot);
		ret_events[count++] = event;
	}
	if (unlikely(count == 0 && event_count_max)) {
		ret_events[0] = container_of(timer_queue_pop(&wheel->far, now), struct wheel_event,
					     far);
		count = 1;
	}
	return count;
}
