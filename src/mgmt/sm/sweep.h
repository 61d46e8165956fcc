/* SPDX-License-Identifier: Apache-2.0 */
/* Inside the subnet manager: its state, and the phases of a sweep. */
#ifndef SOFTIB_MGMT_SM_SWEEP_H
#define SOFTIB_MGMT_SM_SWEEP_H

#include "mgmt/mad/transactions.h"
#include "mgmt/routing/graph.h"
#include "mgmt/sm/qos.h"
#include "mgmt/sm/sm.h"
#include "mgmt/subnet/subnet.h"

/* In the order of a heavy sweep; each begins when the one before has every answer it will get. */
enum sweep_phase {
	PHASE_IDLE,
	PHASE_LIGHT,	  /* has any switch seen a port change? */
	PHASE_DISCOVER,	  /* nodes, ports, links, other managers */
	PHASE_HANDOVER,	  /* to a better manager */
	PHASE_SWITCHES,	  /* LinearFDBTop and lifetimes */
	PHASE_PARTITIONS, /* P_Key tables */
	PHASE_FORWARDING, /* blocks of the forwarding tables that changed */
	PHASE_LANES,	  /* SL to VL maps, arbitration */
	PHASE_MULTICAST,  /* blocks of the multicast tables that changed */
	PHASE_PORTS,	  /* LIDs and link parameters, Init to Armed */
	PHASE_ACTIVATE,	  /* Armed to Active */
	PHASE_REREGISTER, /* clients of single ports are asked to register anew */
	PHASE_COUNT,
};

/* What a phase needs of each answer; the subject of its requests is a node or NULL, the detail its
 * own. */
struct phase_operations {
	const char *name;
	MUST_USE int (*begin)(struct sm *sm);
	/* false: nothing more to ask now; an answer may change that */
	MUST_USE bool (*next)(struct sm *sm, struct mad_message *ret_request,
			      struct mad_purpose *ret_purpose);
	void (*answered)(struct sm *sm, struct mad_purpose purpose, const uint8_t *data);
	/* refused, or no answer after all tries */
	void (*failed)(struct sm *sm, struct mad_purpose purpose);
	enum sweep_phase (*following)(struct sm *sm);
};

/* A question that discovery has still to ask. */
struct discovery_step {
	struct subnet_node *node; /* NULL: the manager's own, not yet met */
	uint8_t kind;
	uint8_t port_number;
};

struct discovery_queue {
	struct discovery_step *steps;
	size_t first, count, capacity;
};

/* Another manager, as it last said itself. */
struct sm_peer {
	struct sm_info info;
	uint16_t lid; /* of its port; 0: none yet */
	struct directed_route route;
	bool is_entitled; /* to be handed the subnet: it knows the M_Key, if there is one */
};

/* Requests with a wrong M_Key that ports told of. */
struct mkey_refusals {
	uint32_t count;
	uint64_t last_source_guid; /* 0: not known */
};

/* How much the next sweep looks at again. */
enum sweep_scope {
	SCOPE_NOTHING,
	SCOPE_TREES,   /* only multicast trees are made anew, and clients asked to register */
	SCOPE_CHANGES, /* switches that saw a change, and what did not answer */
	SCOPE_ALL,
};

enum { SM_OUTBOX_MESSAGES = 64, SM_PEERS_MAX = 64, SM_CONTROLS_MAX = 8 };

struct sm {
	struct sm_options options;
	enum sm_state state;
	enum sweep_phase phase;
	struct subnet subnet;
	struct mad_transactions transactions;
	struct discovery_queue discovery;
	struct discovery_queue unanswered; /* to be asked again by the next sweep */
	const struct routing_engine *engine;
	struct routing_graph graph;	/* of the last routing; see routes.c */
	struct subnet_port *own_port;	/* met in this sweep, or NULL */
	enum port_state own_port_state; /* as its host last saw it */
	struct qos qos;

	struct list *cursor_node; /* where the present phase is in subnet.nodes */
	unsigned cursor_index;	  /* port or block there */
	unsigned cursor_part;	  /* of what is there */

	time_ns timeout;	       /* of one try, unless a sweep has more patience */
	bool is_refusal;	       /* what is told as failed was answered with an error */
	bool has_work;		       /* something may be sent without time passing */
	enum sweep_scope scope;	       /* of the present sweep */
	enum sweep_scope wanted_scope; /* of the next */
	bool other_master_is_here;     /* which has yet to find us and hand over */
	time_ns wanted_at;	       /* which begins then; 0: as soon as this one is over */
	time_ns wanted_since;	       /* when the first reason for it came */
	time_ns reacts_since;	       /* the same of the first sweep since it was idle */
	time_ns next_sweep_at;	       /* the light one */
	unsigned light_count;	       /* light sweeps so far */
	time_ns next_look_at;	       /* at switches that may not send traps; TIME_NEVER: none */
	bool is_look;		       /* the present light sweep is only that */
	time_ns next_renewal_at;       /* when every port is shown its M_Key; TIME_NEVER: not */
	bool is_renewal;	       /* the present light sweep does that */
	struct mkey_refusals refusals;
	unsigned gap_count;	  /* sweeps in a row that left something undone */
	unsigned insistent_count; /* of the next ones, which ask all the time: somebody who is
				     there may be hard to reach */
	uint64_t repeated_answers_before; /* the present sweep: mad_transactions */
	unsigned discovery_count; /* of this sweep: one with gaps is repeated before anybody is
				     dropped */
	bool reregister_all;	  /* this is the first sweep as master */
	bool is_up;		  /* see sm_status */
	bool is_incomplete;	  /* the present sweep could not finish something */
	bool is_nothing_new;	  /* it found everything as it was */
	time_ns now;		  /* of the present entry, for what is told to the owner */
	uint32_t act_count;
	uint64_t smp_count;
	uint32_t sweep_count;
	uint32_t change_count; /* of those, which found something new */
	uint32_t duplicate_count;
	uint32_t silent_count;

	/* Election. */
	struct sm_peer peers[SM_PEERS_MAX]; /* found in this sweep */
	unsigned peer_count;
	struct sm_peer master;	  /* whom a standby polls */
	struct sm_peer successor; /* to whom a master hands over */
	struct mad_transactions controls;
	time_ns next_poll_at;
	unsigned missed_poll_count;
	bool is_leaving;
	uint32_t trap_sequence;

	/* Multicast. */
	uint64_t changed_mlids[MLID_COUNT / 64 + 1];
	bool all_mlids_changed;
	bool has_reregistrations; /* sm_ask_reregistration() was called since the last sweep */

	struct mad_message outbox[SM_OUTBOX_MESSAGES]; /* answers and TrapRepress */
	unsigned outbox_count;
};

extern const struct phase_operations sweep_light, sweep_discover, sweep_handover, sweep_switches,
	sweep_partitions, sweep_forwarding, sweep_lanes, sweep_multicast, sweep_ports,
	sweep_activate, sweep_reregister;

/* Asks what there is to ask, and goes from phase to phase where nothing is left to wait for. */
void sweep_advance(struct sm *sm, time_ns now);
void sweep_answered(struct sm *sm, struct mad_purpose purpose, const struct mad_header *header,
		    const uint8_t *data);
/* A sweep that looks at this much; never less than what was asked for before. */
void sweep_want(struct sm *sm, enum sweep_scope scope);
/* Gives the present one up. */
void sweep_abandon(struct sm *sm);
/* A request about a node that failed; the same for every phase that has no more to say. */
void sweep_mark_incomplete(struct sm *sm, struct mad_purpose purpose);

/* This switch has just told of a change, and may not tell of the next for a while: looks there
 * until it may. */
void light_watch(struct sm *sm, struct subnet_node *node);

/* For the next sweep: look at this port or switch again, or ask a node for its name. */
void discovery_want_port(struct sm *sm, struct subnet_port *port);
void discovery_want_switch(struct sm *sm, struct subnet_node *node);
void discovery_want_description(struct sm *sm, struct subnet_node *node);
void discovery_release(struct sm *sm);
/* false: no memory. */
MUST_USE bool discovery_queue_add(struct discovery_queue *queue, const struct discovery_step *step);
void discovery_queue_clear(struct discovery_queue *queue);
/* Which phase follows when discovery has every answer it will get. */
enum sweep_phase findings_settle(struct sm *sm);

/* Trees that are to be made anew. */
bool multicast_has_changes(const struct sm *sm);

/* Routes for what changed since the last time, into sm->graph. -ENOMEM. */
MUST_USE int routes_update(struct sm *sm);

/* SMInfo requests and traps. */
void sm_answer_request(struct sm *sm, const struct mad_message *message,
		       const struct mad_header *header);

/* Election (election.c). */
void sm_info_now(const struct sm *sm, struct sm_info *ret_info);
void election_enter(struct sm *sm, enum sm_state state);
/* A manager that answered in discovery. */
void election_meet(struct sm *sm, const struct sm_info *info, struct subnet_port *port);
/* Whether this master may hand the subnet to the manager on this port. */
bool election_is_entitled(const struct sm *sm, const struct sm_info *info,
			  const struct subnet_port *port);
/* Who is master, when discovery is over? PHASE_IDLE: somebody else. */
enum sweep_phase election_decide(struct sm *sm);
/* A Set(SMInfo): the status of its answer. */
enum mad_status election_control(struct sm *sm, uint32_t control, const struct sm_info *sender,
				 const struct mad_message *message);
void election_advance(struct sm *sm, time_ns now);
void election_answered(struct sm *sm, struct mad_purpose purpose, const struct mad_header *header,
		       const uint8_t *data);
time_ns election_deadline(const struct sm *sm);
bool election_is_better(const struct sm_info *a, const struct sm_info *b);
bool election_is_better_than_us(const struct sm *sm, const struct sm_info *other);

/* Requests between managers, which need no sweep; the detail of their purpose. */
enum election_request { REQUEST_POLL, REQUEST_ACKNOWLEDGE, REQUEST_OWN_PORT };

void election_make_request(const struct sm *sm, const struct sm_peer *peer, enum mad_method method,
			   uint32_t control, struct mad_message *ret_request);
/* The same by LID, which finds its way when the route does not lead there any more. */
void election_make_lid_routed(uint16_t lid, struct mad_message *request);
time_ns polling_interval(const struct sm *sm);

/* NULL when too much waits already: who asked will ask again. */
struct mad_message *sm_outbox_place(struct sm *sm);
void sm_note(struct sm *sm, enum sm_event event, const char *format, ...) PRINTF_LIKE(3, 4);

/* The ports of the subnet in order, for phases that visit each; NULL at the end. */
void sweep_cursor_reset(struct sm *sm);
struct subnet_port *sweep_next_port(struct sm *sm);
/* The same of nodes that are not settled: no others can need anything. */
struct subnet_port *sweep_next_unsettled_port(struct sm *sm);

static inline struct subnet_node *sweep_node(struct list *link)
{
	return container_of(link, struct subnet_node, link);
}

/* A request to a node of the subnet, by its directed route. */
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

/* The same to the port itself, for attributes that an adapter has for the port of arrival. */
void sweep_port_request(const struct sm *sm, const struct subnet_port *port, enum mad_method method,
			uint16_t attribute_id, uint32_t attribute_modifier,
			struct mad_message *ret_request);

#endif
