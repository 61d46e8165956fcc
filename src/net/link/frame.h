/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A packet inside the fabric: wire bytes from LRH to the last pad byte, owned by exactly one queue
 * at a time.
 */
#ifndef SOFTIB_NET_LINK_FRAME_H
#define SOFTIB_NET_LINK_FRAME_H

#include <stdbool.h>
#include <stdint.h>
#include "base/attributes.h"
#include "base/list.h"
#include "base/time.h"
#include "wire/mtu.h"

struct frame {
	struct list link;
	time_ns entered_at;	 /* the fabric */
	time_ns node_entered_at; /* the node it is in: a switch's LifeTimeValue */
	time_ns queued_at;	 /* when it became the first of its queue: head-of-queue lifetime */
	void *source;		 /* whoever injected it; opaque, counted by the daemon */
	uint32_t source_generation;
	uint32_t byte_count;
	uint8_t input_port; /* number at the node it is in */
	uint8_t vl;
	uint8_t input_vl;	/* VL that it arrived on */
	uint16_t credit_blocks; /* of the receive buffer of (input_port, input_vl); 0: none */
	bool is_corrupt;	/* a bit was flipped on the last link, so that its VCRC is wrong */
	uint8_t bytes[PACKET_BYTES_MAX];
};

/* Frames come from a pool, so that forwarding allocates nothing. */
struct frame_pool {
	struct list free;
	struct frame_slab *slabs;
	uint32_t frame_count;	  /* made so far */
	uint32_t frame_count_max; /* bounds the memory of the whole fabric */
};

void frame_pool_init(struct frame_pool *pool, uint32_t frame_count_max);
void frame_pool_release(struct frame_pool *pool);
/* NULL when the bound is reached: back-pressure, not loss. */
MUST_USE struct frame *frame_take(struct frame_pool *pool);
void frame_give_back(struct frame_pool *pool, struct frame *frame);

#endif
