/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Nodes and links as one machine with a step function: packets and time go in, packets for attached
 * adapters come out.
 */
#ifndef SOFTIB_FABRIC_FABRIC_H
#define SOFTIB_FABRIC_FABRIC_H

#include <stdbool.h>
#include <stdint.h>
#include "base/attributes.h"
#include "base/event_wheel.h"
#include "base/hash_table.h"
#include "base/list.h"
#include "base/time.h"
#include "base/timer_queue.h"
#include "fabric/link_faults.h"
#include "fabric/tap.h"
#include "mgmt/agents/agents.h"
#include "net/link/frame.h"
#include "net/link/port.h"
#include "net/node/node.h"

enum { FABRIC_FRAMES_MAX = 32768, FABRIC_HOPS_MAX = 64 };

/* Whoever drives the fabric (daemon, simulator). Callbacks that it does not need are NULL; all but
 * deliver may be. */
struct fabric_owner {
	/* A packet arrived at a CA port, or at a router's with an endpoint (not a MAD that the node's agents answer; SMPs for a
	 * manager have DestQP 0). Takes the frame, which then goes back to fabric->frames, and
	 * returns true; or returns false: no room now, it is offered again after
	 * fabric_endpoint_ready(). May call fabric_inject, not fabric_step. */
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
	/* Offloaded traffic is to be added to the counters of this node: they are about to be read.
	 */
	void (*refresh_counters)(void *context, struct node *node);
	void *context;
};

struct known_paths;

struct fabric {
	struct list nodes;
	uint32_t node_count;
	uint32_t node_capacity;
	struct node **by_index;
	struct frame_pool frames;
	struct port **work;	      /* ports with something to send or to deliver: a ring */
	uint32_t work_head, work_tail, work_mask;
	struct timer_queue lifetimes; /* of the frames at the head of blocked queues */
	bool is_paced;		      /* links take time: set before anything moves. cables.h */
	struct event_wheel cables; /* paced: wires free, frames and flow control packets there */
	/* Of those, the ones that are out of the wheel and have not had their turn. */
	struct wheel_due *due, *due_end;
	uint32_t fetched_count; /* events of the cables for which memory was fetched: fetch_ahead.h */
	struct timer_queue gates;     /* paced: static rates that let the next frame go */
	uint32_t gate_count;
	bool has_marks;	     /* a switch has marked a packet: congestion_control.h */
	time_ns late_ns_max; /* paced: how long after its time something was done, at worst */
	uint32_t port_total;
	uint8_t vl_cap; /* of nodes that are added; 0: as they are made */
	struct node **routers;
	uint32_t router_count;
	bool routes_are_stale;	      /* of routers: fabric/routers.h */
	bool groups_are_stale;	      /* whoever joins routers to groups has to look at ports */
	struct hash_table guid_index; /* port GUIDs */
	uint32_t guid_index_ports;    /* port_total when it was made */
	struct fabric_owner owner;
	struct fabric_tap tap;
	struct list faulty_links; /* struct link_faults */
	uint32_t faulty_link_count;
	struct timer_queue fault_arrivals;
	struct timer_queue fault_flaps;
	struct timer_queue fault_watchdogs;
	struct fault_observer fault_observer;
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
	return fabric->work_head != fabric->work_tail;
}

MUST_USE int fabric_init(struct fabric *fabric, const struct fabric_owner *owner);
void fabric_release(struct fabric *fabric);

/* Names and GUIDs are the caller's to keep unique. */
MUST_USE int fabric_add_node(struct fabric *fabric, enum node_type type, unsigned port_count,
			     uint64_t node_guid, const char *name, const char *description,
			     struct node **ret_node);
/* Cables two ports: physical LinkUp, PortState Init on both sides, width and speed negotiated down
 * to the lesser end. */
MUST_USE int fabric_connect(struct fabric *fabric, struct port *a, struct port *b);
/* Pulls the cable or puts it back. */
void fabric_set_cable(struct fabric *fabric, struct port *port, bool is_up, time_ns now);

struct node *fabric_find_guid(const struct fabric *fabric, uint64_t node_guid);
struct node *fabric_find_name(const struct fabric *fabric, const char *name);
/* The adapter with this index (from 0) of a host; NULL if there is none. */
struct node *fabric_find_adapter(const struct fabric *fabric, const char *host,
				 uint32_t adapter_index);

/* A packet from whoever is attached to a CA port; the frame is from fabric->frames and becomes the
 * fabric's. LRH.VL 15 makes it an SMP: the caller decides who may send those. Others get their VL
 * here and must carry the port's own LID and P_Key. A drop is counted at the port. false: the
 * port's queue is full, keep the frame and try again later. */
MUST_USE bool fabric_inject(struct fabric *fabric, struct port *port, struct frame *frame,
			    time_ns now);

/* Moves packets until nothing can move or the budget is used up. Returns whether work is left that
 * can go on at once. */
bool fabric_step(struct fabric *fabric, time_ns now, unsigned frame_budget);
/* When time alone lets something move (lifetimes, pacing); TIME_NEVER otherwise. */
time_ns fabric_deadline(const struct fabric *fabric);
/* The endpoint of this port has room again. */
void fabric_endpoint_ready(struct fabric *fabric, struct port *port);
/* No packet is inside. */
bool fabric_is_idle(const struct fabric *fabric);

/* One hop of a path that the forwarding code itself walked. */
struct fabric_hop {
	struct port *output;
	struct port *input; /* at the other end of the cable */
	uint8_t vl;
};

struct fabric_path {
	enum drop_reason verdict; /* DROP_NONE: arrives */
	struct port *destination; /* where it arrives, or where it was dropped */
	unsigned hop_count;	  /* 0: source and destination are one port */
	struct fabric_hop hops[FABRIC_HOPS_MAX];
	uint8_t mtu_code; /* least on the way */
	bool is_watched;  /* a port on the way is captured or faulty: packets have to go there */
};

/* Walks a unicast packet with these header fields from a CA port, with the same functions that
 * forward packets. */
void fabric_walk(struct fabric *fabric, struct port *source, uint16_t dlid, uint8_t sl,
		 uint16_t pkey, struct fabric_path *ret_path);
/* The same from an output that has decided to send it: an adapter's, or a router's. */
void fabric_walk_on(struct fabric *fabric, struct port *output, uint8_t vl, uint16_t dlid,
		    uint8_t sl, uint16_t pkey, struct fabric_path *ret_path);

#endif
