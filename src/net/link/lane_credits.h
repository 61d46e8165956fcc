/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The credits of a link's lanes: what a receiver has room for, in blocks of 64 bytes, and how the
 * sender learns of it by flow control packets (vol 1, chapter 7).
 */
#ifndef SOFTIB_NET_LINK_LANE_CREDITS_H
#define SOFTIB_NET_LINK_LANE_CREDITS_H

#include <stdbool.h>
#include <stdint.h>
#include "base/attributes.h"
#include "net/link/port_queues.h"

enum {
	CREDIT_BLOCK_BYTES = 64,
	CREDIT_MODULUS = 4096,	 /* FCTBS, ABR and FCCL have 12 bits */
	CREDIT_WINDOW = 2048,	 /* a limit further ahead is one that was passed */
	VL_BUFFER_BLOCKS = 2048, /* receive buffer of a data VL: 128 KiB */
};

/* Blocks that a packet takes: LRH to VCRC in units of 64 bytes. */
static inline uint32_t frame_credit_blocks(uint32_t byte_count)
{
	enum { ICRC_AND_VCRC = 6 };

	return (byte_count + ICRC_AND_VCRC + CREDIT_BLOCK_BYTES - 1) / CREDIT_BLOCK_BYTES;
}

/* Whether the peer has room for so many blocks more. */
static inline bool lane_may_send(const struct vl_queue *lane, uint32_t blocks)
{
	uint32_t room = (uint32_t)(lane->fccl - (lane->fctbs + blocks)) % CREDIT_MODULUS;

	return room <= CREDIT_WINDOW;
}

/* The lane that a port's frames of one VL arrive by: the peer's. The port has a peer. */
static inline struct vl_queue *port_arrival_lane(const struct port *port, unsigned vl)
{
	return &port->peer->queues->vls[vl];
}

/* The link came up: credits as flow control packets with Op = init leave them. */
void port_credits_init(struct port *port);

/* Whether a packet of the largest size could leave by this lane now. */
bool port_lane_has_credits(const struct port *port, unsigned vl);

/* This port sends a flow control packet for a data VL: the sender's own total heals what was lost
 * on the way. */
void port_credits_refresh(struct port *port, unsigned vl);

/* The same for all data VLs, whatever was lost before: the link was trained anew. Returns true if
 * the peer has frames that may go on now. */
MUST_USE bool port_credits_renew(struct port *port);

/* From now on none of this port's flow control packets arrives; or they do again. */
void port_flow_control_lose(struct port *port);
void port_flow_control_find(struct port *port);

/* The frame crossed to this port and occupies its receive buffer. */
void port_buffer_take(struct port *port, struct frame *frame);
/* It left, and so many blocks are free again. Returns true if the sender has frames, which may go
 * on now. */
MUST_USE bool lane_buffer_release(struct vl_queue *lane, unsigned credit_blocks);

/* The same on a link that takes time: the limit is told by flow control packets, one per lane at a
 * time, which the caller sends off and lets arrive. */
void port_buffer_release_quietly(struct port *port, unsigned input_vl, unsigned credit_blocks);
/* Returns how many flow control packets leave. */
unsigned port_credits_depart(struct port *port);
/* Returns true if the peer has frames that may go on now. */
MUST_USE bool port_credits_arrive(struct port *port);

/* The frame is on the cable, and is no longer (arrived or lost). */
void port_cable_take(struct port *output, const struct frame *frame);
void port_cable_release(struct port *output, const struct frame *frame);
bool port_cable_is_empty(const struct port *output);

#endif
