/* SPDX-License-Identifier: Apache-2.0 */
/* Inside the subnet manager: its state, and the phases of a sweep. The other files of this folder
 * implement the phases and share this state. */
#ifndef SOFTIB_MGMT_SM_SWEEP_H
#define SOFTIB_MGMT_SM_SWEEP_H

#include "mgmt/mad/transactions.h"
#include "mgmt/routing/graph.h"
#include "mgmt/sm/qos.h"
#include "mgmt/sm/sm.h"
#include "mgmt/subnet/subnet.h"

/* In the order of a heavy sweep (management 3.2). Each phase begins when the one before has all its
 * responses. */
enum sweep_phase {
	PHASE_IDLE,
	PHASE_LIGHT,	/* PortStateChange of the switches */
	PHASE_DISCOVER, /* nodes, ports, links, other managers */
	PHASE_HANDOVER, /* to a higher manager */
	PHASE_SWITCHES, /* LinearFDBTop and lifetimes */
	PHASE_PARTITIONS,
	PHASE_FORWARDING, /* changed blocks of the LFTs */
	PHASE_LANES,	  /* SLtoVL and arbitration tables */
	PHASE_MULTICAST,  /* changed blocks of the MFTs */
	PHASE_PORTS,	  /* LIDs and link parameters, Init to Armed */
	PHASE_ACTIVATE,	  /* Armed to Active */
	PHASE_REREGISTER, /* ClientReregister at single ports */
	PHASE_COUNT,
};

/* The functions of a phase. The subject of its requests is a node or NULL, the detail is its own.
 */
struct phase_operations {
	const char *name;
	MUST_USE int (*begin)(struct sm *sm);
	/* false: nothing to request now; a response may change that */
	MUST_USE bool (*next)(struct sm *sm, struct mad_message *ret_request,
			      struct mad_purpose *ret_purpose);
	/* NULL: a response says nothing that was not known */
	void (*answered)(struct sm *sm, struct mad_purpose purpose, const uint8_t *data);
	/* an error response, or none after all tries */
	void (*failed)(struct sm *sm, struct mad_purpose purpose);
	/* NULL: always the one below */
	enum sweep_phase (*choose_following)(struct sm *sm);
	enum sweep_phase following;
};

/* A step that discovery still has to do. */
struct discovery_step {
	struct subnet_node *node; /* NULL: our own node, not found yet */
	uint8_t kind;
	uint8_t port_number;
};

struct discovery_queue {
	struct discovery_step *steps;
	size_t first, count, capacity;
};

/* Another manager, by its last SMInfo. */
struct sm_peer {
	struct sm_info info;
	uint16_t lid; /* of its port; 0: none yet */
	struct directed_route route;
	bool is_entitled; /* to a handover: it knows the M_Key, if there is one */
};

/* M_Key violations that ports reported. */
struct mkey_refusals {
	uint32_t count;
	uint64_t last_source_guid; /* 0: unknown */
};

/* What the next sweep covers. */
enum sweep_scope {
	SCOPE_NOTHING,
	SCOPE_TREES,   /* only multicast trees and ClientReregister */
	SCOPE_CHANGES, /* switches that reported a change, and steps without a response */
	SCOPE_ALL,
};

enum { SM_OUTBOX_MESSAGES = 64, SM_PEERS_MAX = 64, SM_CONTROLS_MAX = 8 };

/* The position of the present phase. */
struct sweep_cursor {
	struct list *node; /* in subnet.nodes */
	unsigned index;	   /* port or block there */
	unsigned part;	   /* part of that port or block */
};

/* The present sweep. */
struct sweep_progress {
	enum sweep_scope scope;
	bool is_refusal;     /* the failed request got an error response */
	bool is_look;	     /* a light sweep that polls only switches whose traps are held back */
	bool is_renewal;     /* a light sweep that renews leases */
	bool reregister_all; /* the first sweep as master */
	bool is_incomplete;  /* it could not finish something */
	bool is_nothing_new; /* it found no change */
	unsigned discovery_count; /* it is repeated if incomplete, before nodes are dropped */
	uint64_t repeated_answers_before; /* repeated_answer_count when it began */
};

/* The sweeps to come. */
struct sweep_schedule {
	enum sweep_scope wanted_scope;
	time_ns wanted_at;	 /* when the next heavy sweep begins; 0: after the present one */
	time_ns wanted_since;	 /* when the first reason for it came */
	time_ns reacts_since;	 /* the same for the first sweep since the manager was idle */
	time_ns next_sweep_at;	 /* of the light sweep */
	time_ns next_look_at;	 /* polls switches whose traps are held back; TIME_NEVER: none */
	time_ns next_renewal_at; /* sends every port its M_Key; TIME_NEVER: never */
	unsigned light_count;	 /* light sweeps so far */
	unsigned gap_count;	 /* consecutive incomplete sweeps */
	/* How many of the next sweeps use the insistent pace, for nodes that are hard to reach. */
	unsigned insistent_count;
};

struct sm_counts {
	uint32_t act; /* SMInfo.ActCount */
	uint64_t smps;
	uint32_t sweeps;
	uint32_t changes; /* sweeps that found a change */
	uint32_t duplicates;
	uint32_t silent;
};

/* Of election.c and polling.c. */
struct sm_election {
	struct sm_peer peers[SM_PEERS_MAX]; /* found in this sweep */
	unsigned peer_count;
	struct sm_peer master;	   /* the manager that a standby polls */
	struct sm_peer successor;  /* the manager to which a master hands over */
	bool other_master_is_here; /* it has to find us and hand over */
	struct mad_transactions controls;
	time_ns next_poll_at;
	unsigned missed_poll_count;
	bool is_leaving;
	uint32_t trap_sequence;
};

/* MLIDs whose trees must be made again. */
struct multicast_changes {
	uint64_t changed[MLID_COUNT / 64 + 1];
	bool all_changed;
};

struct sm {
	struct sm_options options;
	enum sm_state state;
	enum sweep_phase phase;
	struct subnet subnet;
	struct qos qos;
	const struct routing_engine *engine;
	struct routing_graph graph; /* of the last routing; see routes.c */
	struct mad_transactions transactions;
	time_ns timeout; /* of one try, unless a sweep uses a longer one */
	struct discovery_queue discovery;
	struct discovery_queue unanswered; /* steps for the next sweep */
	struct subnet_port *own_port;	   /* found in this sweep, or NULL */
	enum port_state own_port_state;	   /* as the host reported it */

	struct sweep_cursor cursor;
	struct sweep_progress sweep;
	struct sweep_schedule schedule;
	struct sm_election election;
	struct multicast_changes multicast;
	struct mkey_refusals refusals;
	struct sm_counts counts;
	bool has_work;		  /* something may be sent without time passing */
	bool is_up;		  /* see sm_status */
	bool has_reregistrations; /* sm_ask_reregistration() was called since the last sweep */
	time_ns now;		  /* of the present entry, for callbacks */

	struct mad_message outbox[SM_OUTBOX_MESSAGES]; /* responses and TrapRepress */
	unsigned outbox_count;
};

extern const struct phase_operations sweep_light, sweep_discover, sweep_handover, sweep_switches,
	sweep_partitions, sweep_forwarding, sweep_lanes, sweep_multicast, sweep_ports,
	sweep_activate, sweep_reregister;

/* Sends the requests of the phase, and enters the next phase when no response is outstanding. */
void sweep_advance(struct sm *sm, time_ns now);
void sweep_answered(struct sm *sm, struct mad_purpose purpose, const struct mad_header *header,
		    const uint8_t *data);
/* Requests a sweep of at least this scope. */
void sweep_want(struct sm *sm, enum sweep_scope scope);
/* Gives up the present sweep. */
void sweep_abandon(struct sm *sm);
/* A request to a node failed. Used by every phase that has nothing more to do then. */
void sweep_mark_incomplete(struct sm *sm, struct mad_purpose purpose);

/* This switch just sent a trap and may not send the next one for a while: polls it until then. */
void light_watch(struct sm *sm, struct subnet_node *node);

/* For the next sweep: read this port or switch, or the description of a node. */
void discovery_want_port(struct sm *sm, struct subnet_port *port);
void discovery_want_switch(struct sm *sm, struct subnet_node *node);
void discovery_want_description(struct sm *sm, struct subnet_node *node);
void discovery_release(struct sm *sm);
/* false: no memory. */
MUST_USE bool discovery_queue_add(struct discovery_queue *queue, const struct discovery_step *step);
void discovery_queue_clear(struct discovery_queue *queue);
/* The phase that follows discovery. */
enum sweep_phase findings_settle(struct sm *sm);

/* Whether trees must be made again. */
bool multicast_has_changes(const struct sm *sm);

/* Routes what changed since the last time, into sm->graph. -ENOMEM. */
MUST_USE int routes_update(struct sm *sm);

/* Answers SMInfo requests and traps. */
void sm_answer_request(struct sm *sm, const struct mad_message *message,
		       const struct mad_header *header);

/* Election (election.c). */
void election_enter(struct sm *sm, enum sm_state state);
/* Takes the SMInfo of another manager, found by discovery. */
void election_add_peer(struct sm *sm, const struct sm_info *info, struct subnet_port *port);
/* Whether this master may hand over to the manager on this port. */
bool election_is_entitled(const struct sm *sm, const struct sm_info *info,
			  const struct subnet_port *port);
/* Decides who is master, after discovery. PHASE_IDLE: another manager. */
enum sweep_phase election_decide(struct sm *sm);
/* Handles Set(SMInfo) and returns the status of the response. */
enum mad_status election_control(struct sm *sm, uint32_t control, const struct sm_info *sender,
				 const struct mad_message *message);
void election_advance(struct sm *sm, time_ns now);
void election_answered(struct sm *sm, struct mad_purpose purpose, const struct mad_header *header,
		       const uint8_t *data);
time_ns election_deadline(const struct sm *sm);
bool election_is_better(const struct sm_info *a, const struct sm_info *b);
bool election_is_better_than_us(const struct sm *sm, const struct sm_info *other);

/* Requests between managers outside of sweeps; the detail of their purpose. */
enum election_request { REQUEST_POLL, REQUEST_ACKNOWLEDGE, REQUEST_OWN_PORT };

void election_make_request(const struct sm *sm, const struct sm_peer *peer, enum mad_method method,
			   uint32_t control, struct mad_message *ret_request);
/* Makes the request LID routed, which works when the directed route no longer leads there. */
void election_make_lid_routed(uint16_t lid, struct mad_message *request);
time_ns polling_interval(const struct sm *sm);

/* NULL: too many messages wait. The sender will repeat its request. */
struct mad_message *sm_outbox_place(struct sm *sm);
void sm_note(struct sm *sm, enum sm_event event, const char *format, ...) PRINTF_LIKE(3, 4);

/* The ports of the subnet in order, for phases that visit each. NULL: the end. */
void sweep_cursor_reset(struct sm *sm);
struct subnet_port *sweep_next_port(struct sm *sm);
/* Only ports of nodes that are not settled: no others need anything. */
struct subnet_port *sweep_next_unsettled_port(struct sm *sm);

static inline struct subnet_node *sweep_node(struct list *link)
{
	return container_of(link, struct subnet_node, link);
}

/* A request to a node of the subnet by its directed route. */
static inline void sweep_request(const struct subnet_node *node, enum mad_method method,
				 uint16_t attribute_id, uint32_t attribute_modifier,
				 struct mad_message *ret_request)
{
	const struct smp_request request = {
		.method = method,
		.attribute_id = attribute_id,
		.attribute_modifier = attribute_modifier,
		.mkey = subnet_node_mkey(node),
	};

	smp_request_make(&request, &node->route, ret_request);
}

/* A request to the port itself, for attributes that an adapter reads and writes at the port of
 * arrival. */
void sweep_port_request(const struct sm *sm, const struct subnet_port *port, enum mad_method method,
			uint16_t attribute_id, uint32_t attribute_modifier,
			struct mad_message *ret_request);

#endif
