/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The state of a fabric and the callbacks of its owner.
 *
 * This header has no .c of its own: fabric.c makes and releases the state, and the files of this
 * folder that move frames share it. Callers include fabric/fabric.h.
 */
#ifndef SOFTIB_FABRIC_FABRIC_STATE_H
#define SOFTIB_FABRIC_FABRIC_STATE_H

#include <stdbool.h>
#include <stdint.h>
#include "base/event_wheel.h"
#include "base/hash_table.h"
#include "base/list.h"
#include "base/time.h"
#include "base/timer_queue.h"
#include "mgmt/agents/agents.h"
#include "net/link/frame.h"
#include "net/link/port.h"
#include "net/node/node.h"

struct fault_decision;
struct known_paths;
struct link_faults;

/* The daemon or the simulator, which drives the fabric. Only deliver is required; the other
 * callbacks may be NULL. */
struct fabric_owner {
	/* A packet arrived at a CA port, or at a router port that has an endpoint. MADs that the
	 * node's agents answer do not come here; SMPs for a manager have DestQP 0. True: the owner
	 * took the frame and gives it back to fabric->frames later. False: the owner has no room;
	 * the fabric offers the frame again after fabric_endpoint_ready(). May call fabric_inject,
	 * not fabric_step. */
	bool (*deliver)(void *context, struct port *port, struct frame *frame);
	/* fabric_inject() at this port returned false before; there may be room now. May call
	 * fabric_inject. */
	void (*port_has_room)(void *context, struct port *port);
	/* PortInfo or a table of a CA port changed (state, LID, SM LID, P_Keys, GUIDs ...). */
	void (*port_changed)(void *context, struct port *port);
	/* Any change that may alter where packets go: forwarding tables, states, partitions. */
	void (*paths_changed)(void *context);
	/* A frame whose source is not NULL left the fabric in another way than by deliver: dropped
	 * for this reason, or (DROP_NONE) consumed by an agent. Exactly one of deliver and gone
	 * ends every frame with a source. */
	void (*gone)(void *context, struct frame *frame, enum drop_reason reason);
	/* The counters of this node are about to be read: add the offloaded traffic to them. */
	void (*refresh_counters)(void *context, struct node *node);
	/* A segment of an SNMP message for this port's node arrived. May not call fabric_inject. */
	void (*snmp_received)(void *context, struct port *port, const struct mad_message *message);
	void *context;
};

enum tap_event {
	TAP_RECEIVED,
	TAP_SENT,
	TAP_LOOPED, /* from a port to itself: the packet never was on the link */
	/* A received packet was shown as TAP_RECEIVED before, unless the port's own checks failed.
	 */
	TAP_DROPPED,
};

/* Sees every packet at the ports that are captured: fabric/tap.h. */
struct fabric_tap {
	/* The frame stays the fabric's. */
	void (*seen)(void *context, enum tap_event event, const struct port *port,
		     const struct frame *frame, enum drop_reason reason);
	void *context;
};

/* Records what faulty links did: fabric/link_faults.h. */
struct fault_observer {
	void (*decided)(void *context, const struct link_faults *faults,
			const struct fault_decision *decision);
	void *context;
};

/* A ring of the ports that have something to send or to deliver; no port is in it twice. */
struct fabric_work {
	struct port **ports;
	uint32_t head, tail, mask;
};

/* Used by paced fabrics only. */
struct fabric_pacing {
	struct event_wheel cables; /* a wire is free, a frame or a flow control packet arrives */
	/* Events that were taken out of the wheel and not handled yet. */
	struct wheel_due *due, *due_end;
	uint32_t fetched_count;	  /* cable events whose memory was prefetched: fetch_ahead.h */
	struct timer_queue gates; /* when static rates let the next frame go */
	uint32_t gate_count;
};

/* Owned by routers.c. */
struct fabric_routers {
	struct node **nodes;
	uint32_t count;
	bool routes_are_stale;
	bool groups_are_stale;	      /* ports changed: the daemon has to join routers to groups */
	struct hash_table guid_index; /* port GUIDs */
	uint32_t guid_index_ports;    /* port_total when guid_index was made */
};

/* Owned by link_faults.c and flow_watchdog.c. */
struct fabric_faults {
	struct list links; /* struct link_faults */
	uint32_t link_count;
	struct timer_queue arrivals, flaps, watchdogs;
	struct fault_observer observer;
};

struct fabric {
	struct list nodes;
	uint32_t node_count;
	uint32_t node_capacity;
	struct node **by_index;
	struct frame_pool frames;
	struct fabric_work work;
	struct timer_queue lifetimes; /* of the frames at the head of blocked queues */
	bool is_paced;		      /* links take time: set before anything moves. cables.h */
	struct fabric_pacing pacing;
	bool has_marks;	     /* a switch has marked a packet: congestion_control.h */
	time_ns late_ns_max; /* paced: the longest time between an event's due time and its run */
	uint32_t port_total;
	uint8_t vl_cap; /* given to the ports of nodes that are added; 0: keep node_init's */
	struct fabric_routers routers;
	struct fabric_owner owner;
	struct fabric_tap tap;
	struct fabric_faults faults;
	struct agent_environment agents;
	struct agent_memory agent_memory;
	time_ns now; /* of the present entry, for the agents' callbacks */
	uint32_t frames_inside;
	uint32_t path_changes;		 /* changes that may alter where packets go */
	struct known_paths *known_paths; /* NULL until the first use: fabric/known_paths.h */
};

/* Whether something can move without time passing. */
static inline bool fabric_has_work(const struct fabric *fabric)
{
	return fabric->work.head != fabric->work.tail;
}

#endif
