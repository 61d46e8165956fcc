/* SPDX-License-Identifier: Apache-2.0 */
/* Timers in a binary heap; a timer is embedded in the object that it wakes. */
#ifndef SOFTIB_BASE_TIMER_QUEUE_H
#define SOFTIB_BASE_TIMER_QUEUE_H

#include <stdbool.h>
#include <stdint.h>
#include "base/attributes.h"
#include "base/time.h"

struct timer {
	time_ns deadline;
	uint32_t position; /* in the heap, from 1; 0 = not armed */
	uint32_t kind;	   /* set and read by the owner */
};

struct timer_queue {
	struct timer **heap; /* indexed from 1 */
	uint32_t count;
	uint32_t capacity;
};

void timer_queue_init(struct timer_queue *queue);
void timer_queue_release(struct timer_queue *queue);

/* Makes room for this many timers in all, so that arming them later cannot fail. */
MUST_USE int timer_queue_reserve(struct timer_queue *queue, uint32_t timer_count);

void timer_queue_arm(struct timer_queue *queue, struct timer *timer, time_ns deadline);
void timer_queue_cancel(struct timer_queue *queue, struct timer *timer);

static inline bool timer_is_armed(const struct timer *timer)
{
	return timer->position != 0;
}

static inline time_ns timer_queue_deadline(const struct timer_queue *queue)
{
	return queue->count ? queue->heap[1]->deadline : TIME_NEVER;
}

/* Takes out the earliest timer that is due, or returns NULL. */
struct timer *timer_queue_pop(struct timer_queue *queue, time_ns now);

#endif
