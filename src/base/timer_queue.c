/* SPDX-License-Identifier: Apache-2.0 */
/* Timers in a binary heap. */
#include "base/timer_queue.h"

#include <errno.h>
#include <stdlib.h>

void timer_queue_init(struct timer_queue *queue)
{
	*queue = (struct timer_queue){0};
}

void timer_queue_release(struct timer_queue *queue)
{
	free(queue->heap);
	*queue = (struct timer_queue){0};
}

int timer_queue_reserve(struct timer_queue *queue, uint32_t timer_count)
{
	if (timer_count < queue->capacity)
		return 0;

	uint32_t capacity = queue->capacity ? queue->capacity : 16;

	while (capacity <= timer_count)
		capacity *= 2;

	struct timer **heap = realloc(queue->heap, capacity * sizeof(*heap));

	if (!heap)
		return -ENOMEM;
	queue->heap = heap;
	queue->capacity = capacity;
	return 0;
}

static void place(struct timer_queue *queue, uint32_t position, struct timer *timer)
{
	queue->heap[position] = timer;
	timer->position = position;
}

static void sift_up(struct timer_queue *queue, uint32_t position, struct timer *timer)
{
	while (position > 1 && queue->heap[position / 2]->deadline > timer->deadline) {
		place(queue, position, queue->heap[position / 2]);
		position /= 2;
	}
	place(queue, position, timer);
}

static void sift_down(struct timer_queue *queue, uint32_t position, struct timer *timer)
{
	while (position * 2 <= queue->count) {
		uint32_t child = position * 2;

		if (child < queue->count &&
		    queue->heap[child + 1]->deadline < queue->heap[child]->deadline)
			child++;
		if (queue->heap[child]->deadline >= timer->deadline)
			break;
		place(queue, position, queue->heap[child]);
		position = child;
	}
	place(queue, position, timer);
}

void timer_queue_arm(struct timer_queue *queue, struct timer *timer, time_ns deadline)
{
	if (!timer_is_armed(timer)) {
		timer->deadline = deadline;
		assert(queue->count + 1 < queue->capacity);
		sift_up(queue, ++queue->count, timer);
		return;
	}

	time_ns before = timer->deadline;

	timer->deadline = deadline;
	if (deadline < before)
		sift_up(queue, timer->position, timer);
	else
		sift_down(queue, timer->position, timer);
}

void timer_queue_cancel(struct timer_queue *queue, struct timer *timer)
{
	if (!timer_is_armed(timer))
		return;

	uint32_t position = timer->position;
	struct timer *last = queue->heap[queue->count--];

	timer->position = 0;
	if (last == timer)
		return;
	if (position > 1 && queue->heap[position / 2]->deadline > last->deadline)
		sift_up(queue, position, last);
	else
		sift_down(queue, position, last);
}

struct timer *timer_queue_pop(struct timer_queue *queue, time_ns now)
{
	if (timer_queue_deadline(queue) > now || !queue->count)
		return NULL;

	struct timer *timer = queue->heap[1];

	timer_queue_cancel(queue, timer);
	return timer;
}
