/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A port's outputs: a queue per virtual lane, arbitration and lifetimes (vol 1, chapter 7). The
 * credits are in net/link/lane_credits.h.
 *
 * A switch has no buffers at its outputs: a frame that waits here occupies the receive buffer of
 * the port that it came in by, and its credits go back when it leaves. So no frame is lost for want
 * of room, and receive buffers bound the memory of a switch.
 */
#ifndef SOFTIB_NET_LINK_PORT_QUEUES_H
#define SOFTIB_NET_LINK_PORT_QUEUES_H

#include <stdbool.h>
#include <stdint.h>
#include "base/attributes.h"
#include "base/event_wheel.h"
#include "base/list.h"
#include "base/time.h"
#include "base/timer_queue.h"
#include "net/link/arbitration.h"
#include "net/link/lane_tables.h"
#include "net/link/port.h"

enum {
	ADAPTER_QUEUE_BLOCKS = 2048, /* that may wait at an adapter per data VL */
	VL15_FRAMES_MAX = 512,
	LIFETIME_CODE_MAX = 19, /* larger codes mean no limit */
};

struct rate_gate;

/* A virtual lane of the link from this port to its peer: the queue, and the credits as both ends
 * know them. The peer's side of the credits is here too, so that a packet that crosses touches one
 * cache line. */
struct vl_queue {
	_Alignas(CACHE_LINE_BYTES) struct frame *first; /* linked by frame->next */
	struct frame *last;
	time_ns first_since; /* when `first` came to the head: HOQLife */
	uint32_t frame_count;
	uint32_t block_count;
	uint16_t fctbs;		     /* blocks sent since the link came up, 12 bits */
	uint16_t fccl;		     /* the limit that the peer granted, 12 bits */
	uint16_t cable_blocks;	     /* sent and not yet at the other end; also of VL15 */
	uint16_t flying_fccl;	     /* a limit on its way to this port */
	uint16_t peer_abr;	     /* the peer's: blocks received, 12 bits */
	uint16_t peer_buffer_blocks; /* the peer's: occupied blocks of its receive buffer */
	bool credits_are_lost;	     /* a fault: all flow control packets of the peer get lost */
	uint8_t lifetime_discards; /* head-of-queue discards in a row, compared with VLStallCount */
	time_ns stalled_until;
	struct port_queues *queues; /* of the port that sends */
};

/* Kinds of events in the fabric's wheel. */
enum { WHEEL_WIRE, WHEEL_CREDITS, WHEEL_ARRIVAL };

/* Used by paced links only. */
struct port_pacer {
	time_ns free_at;	    /* when the wire has sent all bytes given to it */
	uint32_t carry;		    /* remainder of a nanosecond, in parts of data_mbps */
	uint32_t data_mbps;	    /* of the active width and speed */
	struct wheel_event wire;    /* armed while frames wait for the wire */
	struct wheel_event credits; /* when flow control packets arrive */
	uint16_t credits_due;	    /* as receiver: VLs whose new room the peer does not know */
	uint16_t credits_flying;    /* as receiver: VLs with a flow control packet on the cable */
	struct rate_gate *gates;    /* static rate control: fabric/rate_gates.h */
};

/* Fields that every packet reads come first, in two cache lines. */
struct port_queues {
	_Alignas(CACHE_LINE_BYTES) struct port *port;
	uint16_t pending; /* bit per VL that has frames */
	bool endpoint_is_full;
	bool has_waiter;	/* adapters: tell the owner when there is room to inject */
	bool is_waiting;	/* a VL has data to send and no credits */
	bool is_awake;		/* in the fabric's ring of ports with work */
	uint16_t watched_lives; /* the limits that `lifetime` was armed for; 0: not armed */
	struct port_pacer pacer;
	struct vl_arbiter arbiter;
	struct timer lifetime; /* fires no later than the first frame is too old */
	bool is_stopped;       /* while is_waiting: no VL at all can send */
	time_ns stopped_since;
	time_ns wait_ns;		 /* waited, but less than a tick of PortXmitWait */
	struct list arrivals;		 /* adapters: data for the endpoint */
	struct list management_arrivals; /* adapters: VL15, never queued behind data */
	uint32_t arrival_count;
	uint32_t management_arrival_count;
	struct vl_queue vls[VL_COUNT];
};

_Static_assert(offsetof(struct port_queues, pacer.credits) <= CACHE_LINE_BYTES,
	       "an event of the wire, and what it finds, in one cache line");
_Static_assert(offsetof(struct port_queues, arbiter) + sizeof(struct vl_arbiter) <=
		       2 * CACHE_LINE_BYTES,
	       "what sending needs in two");

MUST_USE int port_queues_create(struct port *port);
void port_queues_destroy(struct port *port); /* The queues are empty. */

/* The number of data VLs by OperationalVLs. */
static inline unsigned port_data_vl_count(const struct port *port)
{
	return data_vl_count_of(port->info.operational_vls);
}

/* Whether packets may leave by this VL. */
static inline bool port_has_lane(const struct port *port, unsigned vl)
{
	return vl < port_data_vl_count(port) || vl == VL_MANAGEMENT;
}

/* Queues on frame->vl. DROP_VL15 or DROP_HEAD_OF_QUEUE (a stalled VL): the frame is still the
 * caller's. */
MUST_USE enum drop_reason port_enqueue(struct port *port, struct frame *frame, time_ns now);

/* The first frame of the lowest VL that has any; NULL: none. */
static inline const struct frame *port_first_frame(const struct port *port)
{
	const struct port_queues *queues = port->queues;

	return queues->pending ? queues->vls[__builtin_ctz(queues->pending)].first : NULL;
}

/* Takes out the frame that arbitration and credits let go next, or returns NULL. A frame of a data
 * VL that is no longer operational comes first; the caller drops it. */
struct frame *port_next_to_send(struct port *port, time_ns now);

/* Counts the waits of the port and of its VLs that have not ended, up to now. */
void port_settle_waits(struct port *port, time_ns now);

/* port_may_pass(): whether a frame of this many blocks would be sent at once if it were queued now,
 * because no other waits and the link is up; and by which table. port_pass() then has the effect of
 * queueing and sending it. */
MUST_USE bool port_may_pass(struct port *port, unsigned vl, uint32_t blocks, time_ns now,
			    enum arbitration_table *ret_table);
void port_pass(struct port *port, unsigned vl, uint32_t blocks, enum arbitration_table table);

/* Takes out the first frame of a queue that waited too long: at the head of the queue, or
 * (switch_life; TIME_NEVER: no limit) in the whole node. */
struct frame *port_next_expired(struct port *port, time_ns switch_life, time_ns now,
				enum drop_reason *ret_reason);
time_ns port_lifetime_deadline(const struct port *port, time_ns switch_life);

/* Takes out any frame: the link goes down. */
struct frame *port_flush_next(struct port *port);

#endif
