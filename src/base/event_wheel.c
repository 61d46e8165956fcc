/* SPDX-License-Identifier: Apache-2.0 */
/* Events of the near future in slots of one nanosecond each; later ones in a heap. */
#include "base/event_wheel.h"

#include <errno.h>
#include <stdlib.h>

enum {
	SLOT_MASK = EVENT_WHEEL_SLOTS - 1,
	BITS = 64,
	CHUNK_EVENTS = 31,
	CHUNKS_PER_SLAB = 64,
	/* Flag beside the kind: the event is only a timer and has no place. */
	LAUNCHED = WHEEL_KINDS,
	TAG_MASK = 2 * WHEEL_KINDS - 1,
};

_Static_assert(_Alignof(struct timer) > TAG_MASK, "a pointer has room for kind and LAUNCHED");

struct wheel_chunk {
	struct wheel_chunk *next;	/* of the slot, or in the free list */
	uintptr_t events[CHUNK_EVENTS]; /* a timer, with kind and LAUNCHED in its low bits */
};

struct wheel_slab {
	struct wheel_slab *next;
	struct wheel_chunk chunks[CHUNKS_PER_SLAB];
};

/* Events from `taken` in the first chunk to `filled` in the last; 0 stands for a cancelled
 * event. */
struct wheel_slot {
	struct wheel_chunk *first, *last; /* undefined while count is 0 */
	uint8_t taken, filled;
	uint32_t count; /* without cancelled events */
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
	int error = timer_queue_reserve(&wheel->far, event_count);

	if (!error)
		wheel->reserved = event_count;
	return error;
}

/* NULL: out of memory. */
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

static struct timer *timer_of(uintptr_t entry)
{
	return (struct timer *)(entry & ~(uintptr_t)TAG_MASK);
}

static bool was_launched(const struct timer *timer)
{
	return timer->kind & LAUNCHED;
}

/* Room for one more event in the slot; NULL: out of memory. */
static uintptr_t *add_place(struct event_wheel *wheel, unsigned index)
{
	struct wheel_slot *slot = &wheel->slots[index];

	if (slot->count == 0 || slot->filled == CHUNK_EVENTS) {
		struct wheel_chunk *chunk = take_chunk(wheel);

		if (!chunk)
			return NULL;
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
	slot->count++;
	wheel->count++;
	return &slot->last->events[slot->filled++];
}

/* False: out of memory. */
static bool put_in_slot(struct event_wheel *wheel, struct timer *timer)
{
	uintptr_t *place = add_place(wheel, (unsigned)(timer->deadline & SLOT_MASK));

	if (!place)
		return false;
	*place = (uintptr_t)timer | timer->kind;
	if (!was_launched(timer))
		container_of(timer, struct wheel_event, timer)->place = place;
	return true;
}

/* The slot has no events any more. */
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

/* Puts the event into a slot if it is near; an event in the past is due at once. False: it belongs
 * in the heap. */
static bool arm_near(struct event_wheel *wheel, struct timer *timer, time_ns at)
{
	timer->deadline = at > wheel->base ? at : wheel->base;
	return likely(timer->deadline - wheel->base < EVENT_WHEEL_SLOTS) &&
	       put_in_slot(wheel, timer);
}

void event_wheel_arm(struct event_wheel *wheel, struct wheel_event *event, time_ns at)
{
	struct timer *timer = &event->timer;

	if (unlikely(wheel_event_is_armed(event)))
		event_wheel_cancel(wheel, event);
	/* Out of memory for the slot: the heap has room for every reserved event. */
	if (unlikely(!arm_near(wheel, timer, at)))
		timer_queue_arm(&wheel->far, timer, timer->deadline);
}

bool event_wheel_launch(struct event_wheel *wheel, struct timer *timer, unsigned kind, time_ns at)
{
	timer->position = 0;
	timer->kind = kind | LAUNCHED;
	if (likely(arm_near(wheel, timer, at)))
		return true;
	if (timer_queue_reserve(&wheel->far, wheel->reserved + wheel->far.count + 1) != 0)
		return false;
	timer_queue_arm(&wheel->far, timer, timer->deadline);
	return true;
}

void event_wheel_cancel(struct event_wheel *wheel, struct wheel_event *event)
{
	struct wheel_slot *slot = &wheel->slots[event->timer.deadline & SLOT_MASK];

	if (!event->place) {
		timer_queue_cancel(&wheel->far, &event->timer);
		return;
	}
	*event->place = 0;
	/* An event that is moved often would otherwise leave many cancelled entries. */
	if (slot->filled && event->place == &slot->last->events[slot->filled - 1])
		slot->filled--;
	event->place = NULL;
	wheel->count--;
	if (--slot->count == 0)
		empty_slot(wheel, slot);
}

/* When the first event in a slot is due; there is one. */
static time_ns first_near(const struct event_wheel *wheel)
{
	unsigned start = (unsigned)(wheel->base & SLOT_MASK);
	unsigned word = start / BITS;
	uint64_t bits = wheel->occupied[word] >> (start % BITS) << (start % BITS);

	/* Once around; the word of the start comes up again, for the slots before the start. */
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

/* An event in the heap may have become earlier than the first one in a slot. */
time_ns event_wheel_deadline(const struct event_wheel *wheel)
{
	time_ns far = timer_queue_deadline(&wheel->far);

	return wheel->count ? time_earlier(first_near(wheel), far) : far;
}

/* Moves events from the heap into the slots that begin here. */
static void draw_near(struct event_wheel *wheel, time_ns base)
{
	struct timer *timer;

	wheel->base = base;
	while ((timer = timer_queue_pop(&wheel->far, base + EVENT_WHEEL_SLOTS - 1))) {
		if (unlikely(!put_in_slot(wheel, timer))) {
			timer_queue_arm(&wheel->far, timer, timer->deadline);
			return;
		}
	}
}

static uintptr_t next_in_slot(struct event_wheel *wheel, struct wheel_slot *slot)
{
	uintptr_t entry;

	do {
		if (slot->taken == CHUNK_EVENTS) {
			struct wheel_chunk *chunk = slot->first;

			slot->first = chunk->next;
			slot->taken = 0;
			give_back_chunk(wheel, chunk);
		}
		entry = slot->first->events[slot->taken++];
	} while (unlikely(!entry));
	return entry;
}

static struct wheel_due due_of(uintptr_t entry)
{
	struct timer *timer = timer_of(entry);

	if (!(entry & LAUNCHED))
		container_of(timer, struct wheel_event, timer)->place = NULL;
	return (struct wheel_due){timer, (unsigned)entry & (WHEEL_KINDS - 1)};
}

unsigned event_wheel_take(struct event_wheel *wheel, time_ns now, unsigned event_count_max,
			  struct wheel_due ret_due[])
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
		ret_due[count++] = due_of(next_in_slot(wheel, slot));
		wheel->count--;
		if (--slot->count == 0)
			empty_slot(wheel, slot);
	}
	if (unlikely(count == 0 && event_count_max)) {
		struct timer *timer = timer_queue_pop(&wheel->far, now);

		ret_due[0] = (struct wheel_due){timer, timer->kind & (WHEEL_KINDS - 1)};
		count = 1;
	}
	return count;
}

static unsigned peek_at_slot(const struct wheel_slot *slot, unsigned event_count_max,
			     struct wheel_due ret_due[])
{
	const struct wheel_chunk *chunk = slot->first;
	unsigned count = 0;

	for (unsigned at = slot->taken; chunk; at = 0, chunk = chunk->next) {
		unsigned end = chunk == slot->last ? slot->filled : (unsigned)CHUNK_EVENTS;

		for (; at < end; at++) {
			uintptr_t entry = chunk->events[at];

			if (count == event_count_max)
				return count;
			if (entry)
				ret_due[count++] = (struct wheel_due){
					timer_of(entry), (unsigned)entry & (WHEEL_KINDS - 1)};
		}
	}
	return count;
}

unsigned event_wheel_peek(const struct event_wheel *wheel, unsigned event_count_max,
			  struct wheel_due ret_due[])
{
	unsigned start = (unsigned)(wheel->base & SLOT_MASK);
	unsigned word = start / BITS;
	uint64_t bits = wheel->occupied[word] >> (start % BITS) << (start % BITS);
	unsigned count = 0;

	for (unsigned words_ahead = 0; words_ahead < 2; words_ahead++) {
		for (; bits && count < event_count_max; bits &= bits - 1)
			count += peek_at_slot(
				&wheel->slots[word * BITS + (unsigned)__builtin_ctzll(bits)],
				event_count_max - count, ret_due + count);
		word = (word + 1) % EVENT_WHEEL_WORDS;
		bits = wheel->occupied[word];
	}
	return count;
}

/* Whether the event was launched, matches, and is due before the best one so far. */
static bool is_better(const struct timer *timer, time_ns best_at,
		      bool (*is_meant)(const struct timer *timer, const void *context),
		      const void *context)
{
	return was_launched(timer) && timer->deadline < best_at && is_meant(timer, context);
}

struct timer *event_wheel_take_launched(struct event_wheel *wheel,
					bool (*is_meant)(const struct timer *timer,
							 const void *context),
					const void *context)
{
	uintptr_t *best_place = NULL;
	struct timer *best = NULL;
	time_ns best_at = TIME_NEVER;

	for (unsigned index = 0; index < EVENT_WHEEL_SLOTS; index++) {
		struct wheel_slot *slot = &wheel->slots[index];
		struct wheel_chunk *chunk = slot->count ? slot->first : NULL;

		for (unsigned at = slot->taken; chunk; at = 0, chunk = chunk->next) {
			unsigned end = chunk == slot->last ? slot->filled : (unsigned)CHUNK_EVENTS;

			for (; at < end; at++) {
				uintptr_t entry = chunk->events[at];

				if (!entry ||
				    !is_better(timer_of(entry), best_at, is_meant, context))
					continue;
				best = timer_of(entry);
				best_at = best->deadline;
				best_place = &chunk->events[at];
			}
		}
	}
	for (uint32_t position = 1; position <= wheel->far.count; position++) {
		struct timer *timer = wheel->far.heap[position];

		if (is_better(timer, best_at, is_meant, context)) {
			best = timer;
			best_at = timer->deadline;
			best_place = NULL;
		}
	}
	if (best && best_place) {
		struct wheel_slot *slot = &wheel->slots[best->deadline & SLOT_MASK];

		*best_place = 0;
		wheel->count--;
		if (--slot->count == 0)
			empty_slot(wheel, slot);
	} else if (best) {
		timer_queue_cancel(&wheel->far, best);
	}
	return best;
}
