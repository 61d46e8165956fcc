/* SPDX-License-Identifier: Apache-2.0 */
/* The steps that discovery still has to do, first in, first out. */
#include "mgmt/sm/sweep.h"

#include <stdlib.h>
#include <string.h>

bool discovery_queue_add(struct discovery_queue *queue, const struct discovery_step *step)
{
	if (queue->first + queue->count == queue->capacity && queue->first > queue->count) {
		memmove(queue->steps, queue->steps + queue->first,
			queue->count * sizeof(*queue->steps));
		queue->first = 0;
	}
	if (queue->first + queue->count == queue->capacity) {
		size_t capacity = queue->capacity ? queue->capacity * 2 : 256;
		struct discovery_step *steps = realloc(queue->steps, capacity * sizeof(*steps));

		if (!steps)
			return false;
		queue->steps = steps;
		queue->capacity = capacity;
	}
	queue->steps[queue->first + queue->count++] = *step;
	return true;
}

void discovery_queue_clear(struct discovery_queue *queue)
{
	queue->first = 0;
	queue->count = 0;
}
