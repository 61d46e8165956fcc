/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The credits of a link's virtual lanes: the room of the receiver in blocks of 64 bytes, and the
 * flow control packets that tell the sender (vol 1, chapter 7; transport 8.4, 8.5).
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
	CREDIT_WINDOW = 2048,	 /* a limit that is further ahead is older than FCTBS */
	VL_BUFFER_BLOCKS = 2048, /* receive buffer of a data VL: 128 KiB */
};

/* Blocks that a packet takes: LRH to VCRC in units of 64 bytes. */
static inline uint32_t frame_credit_blocks(uint32_t byte_count)
{
	enum { ICRC_AND_VCRC = 6 };

	return (byte_count + ICRC_AND_VCRC + CREDIT_BLOCK_BYTES - 1) / CREDIT_BLOCK_BYTES;
}

/* Whether the peer has room for this many more blocks. */
static inline bool lane_may_send(const struct vl_queue *lane, uint32_t blocks)
{
	uint32_t room = (uint32_t)(lane->fccl - (lane->fctbs + blocks)) % CREDIT_MODULUS;

	return room <= CREDIT_WINDOW;
}

/* The virtual lane on which a port's frames of one VL arrive: its peer's. The port has a peer. */
static inline struct vl_queue *port_arrival_lane(const struct port *port, unsigned vl)
{
	return &port->peer->queues->vls[vl];
}

/* The link came up: the credits after flow control packets with Op = init (transport 8.4). */
void port_credits_init(struct port *port);

/* Whether a packet of the largest size could leave on this VL now. */
bool port_lane_has_credits(const struct port *port, unsigned vl);

/* This port sends a flow control packet for a data VL. The sender's FCTBS corrects for lost
 * packets. */
void port_credits_refresh(struct port *port, unsigned vl);

/* port_credits_refresh() for all data VLs when the link was trained anew, also after lost flow
 * control packets. Returns true if the peer has frames that may go on now. */
MUST_USE bool port_credits_renew(struct port *port);

/* All flow control packets of this port get lost from now on; or they arrive again. */
void port_flow_control_lose(struct port *port);
void port_flow_control_find(struct port *port);

/* The frame arrived at this port and occupies its receive buffer. */
void port_buffer_take(struct port *port, struct frame *frame);
/* The frame left, and its blocks are free again. Returns true if the sender has frames that may go
 * on now. */
MUST_USE bool lane_buffer_release(struct vl_queue *lane, unsigned credit_blocks);

/* lane_buffer_release() for a paced link: flow control packets bring the limit, one per VL at a
 * time. The caller sends them off and lets them arrive. */
void port_buffer_release_paced(struct port *port, unsigned input_vl, unsigned credit_blocks);
/* Returns how many flow control packets leave. */
unsigned port_credits_depart(struct port *port);
/* Returns true if the peer has frames that may go on now. */
MUST_USE bool port_credits_arrive(struct port *port);

/* The frame is on the cable; or it is no longer (arrived or lost). */
void port_cable_take(struct port *output, const struct frame *frame);
void port_cable_release(struct port *output, const struct frame *frame);
bool port_cable_is_empty(const struct port *output);

#endif
