/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The subnet manager (vol 1, chapter 14): discovers by directed routes, elects a master among
 * managers, gives LIDs, partitions and routes, brings ports up, sweeps.
 *
 * Knows only MADs on one port's QP0. MADs and time go in; MADs come out.
 */
#ifndef SOFTIB_MGMT_SM_SM_H
#define SOFTIB_MGMT_SM_SM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/attributes.h"
#include "base/siphash.h"
#include "base/time.h"
#include "mgmt/mad/mad_message.h"
#include "mgmt/routing/engine.h"
#include "wire/notice.h"
#include "wire/subnet_attributes.h"

struct multicast_groups;
struct partitions;
struct qos;
struct sm;
struct subnet;
struct subnet_port;

enum sm_event {
	SM_EVENT_NOTE,	  /* something worth a line in a log */
	SM_EVENT_WARNING, /* something is wrong in the subnet */
};

/* Whom a manager tells what. Each function may be NULL; none may call back into the manager but
 * those that read. */
struct sm_owner {
	/* A trap that the master got and repressed: the SA forwards it to its subscribers. */
	void (*trap)(void *context, time_ns now, const struct notice *notice, uint16_t source_lid);
	/* An end port has a LID and is reachable now, or no longer is (traps 64 and 65). */
	void (*port_came)(void *context, time_ns now, const struct subnet_port *port);
	void (*port_went)(void *context, time_ns now, const struct subnet_port *port);
	/* The clients of this port have been asked to register anew: sm_ask_reregistration(). */
	void (*reregistration_asked)(void *context, time_ns now, const struct subnet_port *port);
	/* A heavy sweep of the master ended: what is in sm_subnet() may have changed. */
	void (*sweep_finished)(void *context, time_ns now);
	void (*state_changed)(void *context, time_ns now, enum sm_state state);
	/* One line, no newline. */
	void (*log)(void *context, enum sm_event event, const char *line);
	void *context;
};

/* As of OpenSM. */
#define SM_KEY_DEFAULT 1u

struct sm_options {
	uint64_t port_guid; /* of the port it runs on */
	uint8_t port_number;
	uint8_t priority;
	time_ns sweep_interval; /* light sweeps; 0: only on traps and requests */
	unsigned window;	/* SMPs on the wire at once; 0: the default */
	time_ns timeout;	/* of one try of an SMP; 0: the default */
	unsigned tries;		/* 0: the default */
	uint32_t agent_number;	/* the upper half of its transaction ids */
	struct sm_owner owner;

	/* Election: how often a standby asks the master, and how many unanswered questions mean
	 * that it is dead. 0: the defaults. */
	time_ns poll_interval;
	unsigned polls_max;
	uint64_t sm_key; /* shown to managers; others whose key differs and is not 0 are left
			    alone. 0: SM_KEY_DEFAULT */

	/* M_Keys: one for all ports, or one per port from a secret that all managers of the subnet
	 * have, which is also what their SM_Key comes from if none is given. */
	uint64_t mkey; /* 0: none */
	bool has_mkey_secret;
	uint8_t mkey_secret[SIPHASH_KEY_BYTES];
	uint16_t mkey_lease_period; /* s; 0: never ends */
	uint8_t mkey_protect_bits;  /* 0 to 3 */

	uint64_t gid_prefix; /* 0: link local */
	uint8_t lmc;
	const char *routing_engine; /* NULL: the first of routing_engines */
	struct routing_hints routing_hints;
	struct partitions *partitions; /* taken over; NULL: the default ones */
	uint8_t part_enforce;	       /* enum part_enforce: 0 is both ways */
	const struct qos *qos;	       /* copied; NULL: tables stay as the hardware has them */
};

MUST_USE int sm_create(const struct sm_options *options, struct sm **ret_sm);
void sm_destroy(struct sm *sm);

/* An SMP that arrived at the port for the SM: responses to its own, traps, SMInfo requests. */
void sm_receive(struct sm *sm, time_ns now, const struct mad_message *message);
unsigned sm_transmit(struct sm *sm, time_ns now, unsigned messages_max,
		     struct mad_message ret_messages[]);
time_ns sm_deadline(const struct sm *sm);

/* Look again now: the operator, or the host, knows that something changed. */
void sm_request_sweep(struct sm *sm, time_ns now);
/* The state of its own port, for a manager whose host knows it without asking: the traps of a link
 * that falls go to nobody when it is this one. */
void sm_see_own_port(struct sm *sm, time_ns now, enum port_state state);

/*
 * The end of a master: hands over to the best standby there is. Afterwards sm_is_leaving_done()
 * says when nothing is left to be sent, and whoever runs it clears IsSM. A standby is done at once.
 */
void sm_leave(struct sm *sm, time_ns now);
bool sm_is_leaving_done(const struct sm *sm);

void sm_set_priority(struct sm *sm, time_ns now, uint8_t priority);

/* For the SA. Nodes, ports, LIDs, partitions, tables; stable until the next sm_receive() or
 * sm_transmit(). */
const struct subnet *sm_subnet(const struct sm *sm);
/* The SA changes groups there, then says so; the tree of that MLID follows. */
struct multicast_groups *sm_multicast_groups(struct sm *sm);
void sm_multicast_changed(struct sm *sm, uint16_t mlid);
/* ClientReregister for this end port: its clients are to join, subscribe and register services
 * anew. Nothing happens if the port is unknown or can't be asked. */
void sm_ask_reregistration(struct sm *sm, uint64_t port_guid);
/* Which SL paths of this partition and service (0: any) get: QoS policy. */
uint8_t sm_path_sl(const struct sm *sm, uint16_t pkey, uint64_t service_id);
uint64_t sm_key(const struct sm *sm);

/* LIDs that outlive the manager: see subnet_lids_text(). */
char *sm_lids_text(const struct sm *sm);
uint32_t sm_lids_remember(struct sm *sm, const char *text, size_t text_bytes);

/* Which port GUID is behind which port, for keys per port that also guard reading: see
 * mgmt/subnet/neighbors.h. The text is the caller's to free; NULL: nothing new since the last call,
 * or no memory. */
char *sm_neighbors_text(struct sm *sm);
uint32_t sm_neighbors_remember(struct sm *sm, const char *text);

struct sm_status {
	enum sm_state state;
	bool subnet_is_up; /* the last sweep finished and every port found is Active */
	uint32_t sweep_count;
	uint32_t node_count, switch_count;
	uint32_t port_count;	  /* end ports: those with a LID */
	uint32_t duplicate_count; /* nodes left out of the last sweep, because their GUID was
				     already there */
	uint32_t silent_count;	  /* requests of the last sweep that nobody answered, or that were
				     refused */
	uint16_t lid;		  /* the manager's own; 0 before it has one */
	uint8_t priority;
	uint64_t master_guid; /* the port GUID of the master it knows of; its own when it is one */
	uint64_t smp_count;   /* sent */
	const char *engine;   /* that routed last */
	/* M_Keys. */
	bool has_mkeys, has_mkey_per_port;
	uint8_t mkey_protect_bits;
	uint16_t mkey_lease_period;
	uint32_t mkey_refusal_count;  /* requests with a wrong key that ports told of */
	uint64_t mkey_refusal_source; /* the port GUID of the last who sent one; 0: none known */
};
void sm_status(const struct sm *sm, struct sm_status *ret_status);
/* Whether a manager runs on the port with this GUID that has not shown the M_Key, so that it is
 * handed nothing. */
bool sm_is_stranger(const struct sm *sm, uint64_t port_guid);

/* When the trap, or whatever else it is busy with, came; TIME_NEVER: all that is known of is done.
 */
time_ns sm_reacts_since(const struct sm *sm);
/* Heavy sweeps that found something other than it was. */
uint32_t sm_change_count(const struct sm *sm);

#endif
