/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A packet inside the fabric: wire bytes from LRH to the last pad byte, owned by exactly one queue
 * at a time.
 */
#ifndef SOFTIB_NET_LINK_FRAME_H
#define SOFTIB_NET_LINK_FRAME_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include "base/attributes.h"
#include "base/list.h"
#include "base/time.h"
#include "base/timer_queue.h"
#include "net/link/forwarding_header.h"
#include "wire/mtu.h"
#include "wire/packet.h"

struct port;
struct vl_queue;

enum { FRAME_CRC_BYTES = 6 }; /* ICRC and VCRC */

/* What a hop looks at, and the LRH and BTH of a local packet, lies in two cache lines. */
struct frame {
	union {
		struct list link;    /* held by a faulty link, among arrivals, at a rate gate */
		struct frame *next;  /* in the queue of a lane, in the pool */
		struct port *output; /* on a cable: that it left by */
	};
	struct timer flight;	 /* on a cable: until it is at the other end */
	time_ns node_entered_at; /* the node it is in: a switch's LifeTimeValue */
	void *source;		 /* whoever injected it; opaque, counted by the daemon */
	uint32_t source_generation;
	uint32_t byte_count;
	struct vl_queue *lane;	/* that it arrived on, if credit_blocks is not 0 */
	uint32_t source_qpn;	/* or EE context, at its adapter; 0: not told */
	uint16_t credit_blocks; /* of the receive buffer of (input_port, input_vl); 0: none */
	uint8_t input_port;	/* number at the node it is in */
	uint8_t input_vl;	/* VL that it arrived on */
	uint8_t vl;
	uint8_t fault_actions;	/* what is still to be done to it on a faulty link */
	uint8_t static_rate;	/* rate code for its DLID, set by whoever injects it; 0: none */
	bool has_crcs; /* it carries the CRCs that it was sent with, which need not be right:
			  frame_crc.h */
	bool has_icrc; /* among them; raw packets have none */
	uint8_t size;  /* enum frame_size */
	uint8_t crcs[FRAME_CRC_BYTES];
	struct forwarding_header header; /* frame_read_header() */
	struct header_source header_source;
	uint8_t bytes[PACKET_BYTES_MAX]; /* of a smaller frame only the first ones are there */
};

/* Most packets are short: a fabric full of them fits in an eighth of the memory, and in caches. The
 * least ones, acknowledgements and messages of 64 bytes, have a size of their own. */
enum frame_size { FRAME_TINY, FRAME_SMALL, FRAME_LARGE, FRAME_SIZES };

enum {
	FRAME_TINY_ROOM = 256,
	FRAME_TINY_BYTES = FRAME_TINY_ROOM - 128,
	FRAME_SMALL_ROOM = 512,
	FRAME_SMALL_BYTES = FRAME_SMALL_ROOM - 128,
};

/* Frames come from a pool, so that forwarding allocates nothing. */
struct frame_pool {
	struct frame *free[FRAME_SIZES]; /* by frame->next: the last one used first */
	struct frame_slab *slabs;
	uint32_t frame_counts[FRAME_SIZES]; /* made so far */
	uint32_t frame_count_max;	    /* of each: bounds the memory of the whole fabric */
};

void frame_pool_init(struct frame_pool *pool, uint32_t frame_count_max);
void frame_pool_release(struct frame_pool *pool);
/* With room for any packet. NULL when the bound is reached: back-pressure, not loss. */
MUST_USE struct frame *frame_take(struct frame_pool *pool);
/* With room for a packet of so many bytes. */
MUST_USE struct frame *frame_take_for(struct frame_pool *pool, uint32_t byte_count);
/* Of a packet whose payload nobody will look at, only the first bytes need be stored: then
 * byte_count says more than the frame has room for. */
static inline uint32_t frame_stored_bytes(const struct frame *frame)
{
	uint32_t room = frame->size == FRAME_LARGE   ? (uint32_t)PACKET_BYTES_MAX
			: frame->size == FRAME_SMALL ? (uint32_t)FRAME_SMALL_BYTES
						     : (uint32_t)FRAME_TINY_BYTES;

	return frame->byte_count < room ? frame->byte_count : room;
}
/* Everything but where it is and what it was injected by. */
void frame_copy(struct frame *copy, const struct frame *frame);
void frame_give_back(struct frame_pool *pool, struct frame *frame);

/* Its PktLen: what counters of data count. */
static inline uint32_t frame_words(const struct frame *frame)
{
	bool is_raw = (frame->bytes[1] & 3) < LNH_LOCAL;

	return (frame->byte_count + (unlikely(is_raw) ? 0 : ICRC_BYTES)) / 4;
}

/* The bytes that a header whose BTH begins there is read from. */
static inline struct header_source frame_header_source(const struct frame *frame,
						       uint16_t bth_offset)
{
	static const uint8_t lane_bits[4] = {0xf0};
	struct header_source source = {.byte_count = (uint16_t)frame->byte_count,
				       .bth_offset = bth_offset};
	uint32_t lane_mask;

	memcpy(&lane_mask, lane_bits, sizeof(lane_mask));
	memcpy(source.lrh, frame->bytes, sizeof(source.lrh));
	memcpy(&source.bth, frame->bytes + bth_offset, sizeof(source.bth));
	/* The lane changes from hop to hop; whether it is VL15 is looked at apart. */
	source.lrh[0] &= ~lane_mask;
	return source;
}

/* Reads frame->header anew. */
MUST_USE bool frame_read_header_anew(struct frame *frame);

/* Makes frame->header what its bytes say now. False if the packet is shorter than its headers. */
static inline bool frame_read_header(struct frame *frame)
{
	enum { MANAGEMENT_LANE = 15 };
	const struct header_source *known = &frame->header_source;
	struct header_source source = frame_header_source(frame, known->bth_offset);
	bool is_management = frame->bytes[0] >> 4 == MANAGEMENT_LANE;

	if (likely(known->bth_offset && source.lrh[0] == known->lrh[0] &&
		   source.lrh[1] == known->lrh[1] && source.bth == known->bth &&
		   source.byte_count == known->byte_count &&
		   is_management == frame->header.is_management))
		return true;
	return frame_read_header_anew(frame);
}

#endif
