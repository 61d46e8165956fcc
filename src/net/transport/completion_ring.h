/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The slots where completions wait until they are polled (vol 1, chapter 11): the part of a
 * completion queue that a queue pair may fill itself while nobody waits for an event.
 */
#ifndef SOFTIB_NET_TRANSPORT_COMPLETION_RING_H
#define SOFTIB_NET_TRANSPORT_COMPLETION_RING_H

#include <stdbool.h>
#include <stdint.h>
#include "base/attributes.h"
#include "net/transport/completion.h"

struct completion_ring {
	struct completion *slots;
	uint32_t slot_count; /* power of two */
	uint32_t capacity;   /* what the consumer may rely on */
	uint32_t head, tail; /* free-running */
	uint8_t armed;	     /* not 0: an event is requested (enum cq_arming) */
	bool has_overflowed;
};

/* Whether a completion can be added directly: there is a ring, it has room, and its owner need not
 * be told of each completion. */
static inline bool completion_ring_takes(const struct completion_ring *ring)
{
	return !unlikely(!ring || ring->armed || ring->has_overflowed ||
			 ring->tail - ring->head >= ring->capacity);
}

/* The slot to fill before completion_ring_add, if completion_ring_takes. */
static inline struct completion *completion_ring_place(const struct completion_ring *ring)
{
	return &ring->slots[ring->tail & (ring->slot_count - 1)];
}

/* The same; NULL: the ring takes none. */
static inline struct completion *completion_ring_next(const struct completion_ring *ring)
{
	return completion_ring_takes(ring) ? completion_ring_place(ring) : NULL;
}

static inline void completion_ring_add(struct completion_ring *ring)
{
	ring->tail++;
}

#endif
