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

/* All that a hop reads, and the LRH and BTH of a local packet, lies in two cache lines. */
struct frame {
	union {
		struct list link;    /* on a faulty link, among arrivals, or at a rate gate */
		struct frame *next;  /* in the queue of a VL, or in the pool */
		struct port *output; /* on a cable: the port that it left by */
	};
	struct timer flight;	 /* on a cable: until it arrives at the other end */
	time_ns node_entered_at; /* when it entered its present node: a switch's LifeTimeValue */
	void *source;		 /* set by the injector; opaque, counted by the daemon */
	uint32_t source_generation;
	uint32_t byte_count;
	struct vl_queue *lane;	/* the lane that it arrived on, if credit_blocks is not 0 */
	uint32_t source_qpn;	/* or EE context, at its adapter; 0: not known */
	uint16_t credit_blocks; /* in the receive buffer of (input_port, input_vl); 0: none */
	uint8_t input_port;	/* port number at its present node */
	uint8_t input_vl;	/* the VL that it arrived on */
	uint8_t vl;
	uint8_t fault_actions; /* faults that still have to be applied to it */
	uint8_t static_rate;   /* rate code for its DLID, set by the injector; 0: none */
	bool has_crcs; /* it carries the CRCs that it was sent with, right or wrong: frame_crc.h */
	bool has_icrc; /* one of them is an ICRC; raw packets have none */
	uint8_t size;  /* enum frame_size */
	uint8_t crcs[FRAME_CRC_BYTES];
	struct forwarding_header header; /* frame_read_header() */
	struct header_source header_source;
	uint8_t bytes[PACKET_BYTES_MAX]; /* smaller frames have only the first bytes */
};

/* Most packets are short: a fabric full of them fits in an eighth of the memory, and in caches.
 * Acknowledgements and messages of up to 64 bytes have the smallest size. */
enum frame_size { FRAME_TINY, FRAME_SMALL, FRAME_LARGE, FRAME_SIZES };

enum {
	FRAME_TINY_ROOM = 256,
	FRAME_TINY_BYTES = FRAME_TINY_ROOM - 128,
	FRAME_SMALL_ROOM = 512,
	FRAME_SMALL_BYTES = FRAME_SMALL_ROOM - 128,
};

/* Frames come from a pool, so that forwarding allocates nothing. */
struct frame_pool {
	struct frame *free[FRAME_SIZES]; /* linked by frame->next, the last one used first */
	struct frame_slab *slabs;
	uint32_t frame_counts[FRAME_SIZES]; /* allocated so far */
	uint32_t frame_count_max; /* of each size: bounds the memory of the whole fabric */
};

void frame_pool_init(struct frame_pool *pool, uint32_t frame_count_max);
void frame_pool_release(struct frame_pool *pool);
/* A frame for any packet. NULL when the bound is reached: back-pressure, not loss. */
MUST_USE struct frame *frame_take(struct frame_pool *pool);
/* A frame for a packet of this many bytes. */
MUST_USE struct frame *frame_take_for(struct frame_pool *pool, uint32_t byte_count);
/* A packet whose payload nothing reads stores only its first bytes: then byte_count is larger than
 * the frame. */
static inline uint32_t frame_stored_bytes(const struct frame *frame)
{
	uint32_t room = frame->size == FRAME_LARGE   ? (uint32_t)PACKET_BYTES_MAX
			: frame->size == FRAME_SMALL ? (uint32_t)FRAME_SMALL_BYTES
						     : (uint32_t)FRAME_TINY_BYTES;

	return frame->byte_count < room ? frame->byte_count : room;
}
/* Copies everything but the queue that the frame is in and its source. */
void frame_copy(struct frame *copy, const struct frame *frame);
void frame_give_back(struct frame_pool *pool, struct frame *frame);

/* Its PktLen, the unit of data counters. */
static inline uint32_t frame_words(const struct frame *frame)
{
	bool is_raw = (frame->bytes[1] & 3) < LNH_LOCAL;

	return (frame->byte_count + (unlikely(is_raw) ? 0 : ICRC_BYTES)) / 4;
}

/* The bytes that the header is decoded from, when the BTH begins at this offset. */
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
	/* The VL changes from hop to hop; whether it is VL15 is tested apart. */
	source.lrh[0] &= ~lane_mask;
	return source;
}

/* Decodes frame->header anew. */
MUST_USE bool frame_read_header_anew(struct frame *frame);

/* Makes frame->header agree with the bytes. False if the packet is shorter than its headers. */
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
