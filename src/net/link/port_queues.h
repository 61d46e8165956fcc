/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A port's outputs: a queue per virtual lane, credits, arbitration and lifetimes (vol 1, chapter
 * 7).
 *
 * A switch has no buffers at its outputs: a frame that waits here occupies the receive buffer of
 * the port it came in by, and its credits go back when it leaves. So nothing is lost for want of
 * room, and the bound of a switch's memory is that of its receive buffers.
 */
#ifndef SOFTIB_NET_LINK_PORT_QUEUES_H
#define SOFTIB_NET_LINK_PORT_QUEUES_H

#include <stdbool.h>
#include <stdint.h>
#include "base/attributes.h"
#include "base/list.h"
#include "base/time.h"
#include "base/timer_queue.h"
#include "net/link/port.h"

enum {
	CREDIT_BLOCK_BYTES = 64,
	VL_BUFFER_BLOCKS = 2048,     /* receive buffer of a data VL: 128 KiB */
	ADAPTER_QUEUE_BLOCKS = 2048, /* what an adapter may have waiting per data VL */
	VL15_FRAMES_MAX = 512,
	LIFETIME_CODE_MAX = 19, /* codes above mean without limit */
};

struct vl_queue {
	struct list frames;
	uint32_t frame_count;
	uint32_t block_count;
	uint16_t fctbs;		   /* as sender: blocks sent since the link came up, 12 bits */
	uint16_t fccl;		   /* as sender: up to where the peer lets us send, 12 bits */
	uint16_t abr;		   /* as receiver: blocks received, 12 bits */
	uint16_t buffer_blocks;	   /* as receiver: occupied */
	uint8_t lifetime_discards; /* in a row, against VLStallCount */
	time_ns stalled_until;
};

struct vl_arbiter {
	uint8_t entry[2];  /* [high]: present entry of the table */
	int32_t left[2];   /* bytes that it may still send */
	int32_t high_left; /* bytes of high priority until low has its turn */
};

struct port_queues {
	struct port *port;
	uint16_t pending; /* bit per VL that has frames */
	bool endpoint_is_full;
	struct vl_arbiter arbiter;
	struct vl_queue vls[VL_COUNT];
	struct list arrivals;		 /* adapters: data for the endpoint */
	struct list management_arrivals; /* adapters: VL15, never behind data */
	uint32_t arrival_count;
	uint32_t management_arrival_count;
	struct timer lifetime;
};

MUST_USE int port_queues_create(struct port *port);
void port_queues_destroy(struct port *port); /* empty of frames */

/* Blocks that a packet takes: LRH to VCRC in units of 64 bytes. */
static inline uint32_t frame_credit_blocks(uint32_t byte_count)
{
	enum { ICRC_AND_VCRC = 6 };

	return (byte_count + ICRC_AND_VCRC + CREDIT_BLOCK_BYTES - 1) / CREDIT_BLOCK_BYTES;
}

/* The link came up: credits as flow control packets with Op = init leave them. */
void port_credits_init(struct port *port);

/* The number of data VLs that OperationalVLs names. */
unsigned port_data_vl_count(const struct port *port);

/* Queues on frame->vl. DROP_VL15 or DROP_LIFETIME (a stalled lane): the frame is still the
 * caller's. */
MUST_USE enum drop_reason port_enqueue(struct port *port, struct frame *frame, time_ns now);

/* Takes out the frame that arbitration and credits let go next, or returns NULL. */
struct frame *port_next_to_send(struct port *port, time_ns now);

/* Takes out the first frame of a queue that waited too long. */
struct frame *port_next_expired(struct port *port, time_ns now);
time_ns port_lifetime_deadline(const struct port *port);

/* Takes out any frame: the link is going down. */
struct frame *port_flush_next(struct port *port);

/* This port sends a flow control packet for a data VL: the sender's own total heals what was lost
 * on the way. */
void port_credits_refresh(struct port *port, unsigned vl);

/* The frame crossed to this port and occupies its receive buffer. */
void port_buffer_take(struct port *port, struct frame *frame);
/* It left, and frame->credit_blocks of frame->input_vl are free again. Returns true if the peer may
 * go on now. */
MUST_USE bool port_buffer_release(struct port *port, unsigned input_vl, unsigned credit_blocks);

#endif
