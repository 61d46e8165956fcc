/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The subnet manager (management 3): discovers the subnet by directed routes, takes part in the
 * election of a master, assigns LIDs, partitions and routes, brings ports up, and sweeps.
 *
 * It knows only SMPs on one port's QP0. SMPs and time go in; SMPs come out.
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
	SM_EVENT_NOTE,	  /* for the log */
	SM_EVENT_WARNING, /* something is wrong in the subnet */
};

/* Callbacks to the manager's owner. Each may be NULL. They may call only functions of the manager
 * that read. */
struct sm_owner {
	/* The master got and repressed a trap; the SA forwards it to subscribers. */
	void (*trap)(void *context, time_ns now, const struct notice *notice, uint16_t source_lid);
	/* An end port with a LID came into service, or went out of service (traps 64 and 65). */
	void (*port_came)(void *context, time_ns now, const struct subnet_port *port);
	void (*port_went)(void *context, time_ns now, const struct subnet_port *port);
	/* ClientReregister was set at this port: see sm_ask_reregistration(). */
	void (*reregistration_asked)(void *context, time_ns now, const struct subnet_port *port);
	/* A heavy sweep of the master ended: sm_subnet() may have changed. */
	void (*sweep_finished)(void *context, time_ns now);
	void (*state_changed)(void *context, time_ns now, enum sm_state state);
	/* One line, no newline. */
	void (*log)(void *context, enum sm_event event, const char *line);
	void *context;
};

/* OpenSM's default. OpenSM ignores managers with another SM_Key. */
#define SM_KEY_DEFAULT 1u

struct sm_options {
	uint64_t port_guid; /* of the port it runs on */
	uint8_t port_number;
	uint8_t priority;
	time_ns sweep_interval; /* of light sweeps; 0: only on traps and requests */
	unsigned smps_max;	/* SMPs under way at once; 0: the default */
	time_ns timeout;	/* of one try of an SMP; 0: the default */
	unsigned tries;		/* 0: the default */
	uint32_t agent_number;	/* the upper half of its transaction ids */
	struct sm_owner owner;

	/* Election: how often a standby polls the master, and after how many polls without a
	 * response the master is dead. 0: the defaults. */
	time_ns poll_interval;
	unsigned polls_max;
	uint64_t sm_key; /* shown to managers; others with a different key that is not 0 are left
			    alone. 0: SM_KEY_DEFAULT */

	/* M_Keys: one for all ports, or one per port from a secret that all managers of the subnet
	 * share. The SM_Key is derived from the secret too, unless one is given. */
	uint64_t mkey; /* 0: none */
	bool has_mkey_secret;
	uint8_t mkey_secret[SIPHASH_KEY_BYTES];
	uint16_t mkey_lease_period; /* s; 0: never ends */
	uint8_t mkey_protect_bits;  /* 0 to 3 */

	uint64_t gid_prefix; /* 0: link local */
	uint8_t lmc;
	const char *routing_engine; /* NULL: the first of routing_engines */
	struct routing_hints routing_hints;
	struct partitions
		*partitions;   /* ownership passes to the manager; NULL: the default partition */
	uint8_t part_enforce;  /* enum part_enforce; 0: both directions */
	const struct qos *qos; /* copied; NULL: tables stay as the hardware has them */
};

MUST_USE int sm_create(const struct sm_options *options, struct sm **ret_sm);
void sm_destroy(struct sm *sm);

/* Takes an SMP for the manager: responses to its requests, traps, SMInfo requests. */
void sm_receive(struct sm *sm, time_ns now, const struct mad_message *message);
unsigned sm_transmit(struct sm *sm, time_ns now, unsigned messages_max,
		     struct mad_message ret_messages[]);
time_ns sm_deadline(const struct sm *sm);

/* Requests a sweep now: the operator or the host knows that something changed. */
void sm_request_sweep(struct sm *sm, time_ns now);
/* The state of the manager's own port, from a host that knows it. If this port goes down, its traps
 * do not arrive. */
void sm_see_own_port(struct sm *sm, time_ns now, enum port_state state);

/* Ends a master: hands over to the best standby. Call sm_is_leaving_done() until nothing is left to
 * send; then the owner clears IsSM. A standby is done at once. */
void sm_leave(struct sm *sm, time_ns now);
bool sm_is_leaving_done(const struct sm *sm);

void sm_set_priority(struct sm *sm, time_ns now, uint8_t priority);

/* For the SA: nodes, ports, LIDs, partitions, tables. Stable until the next sm_receive() or
 * sm_transmit(). */
const struct subnet *sm_subnet(const struct sm *sm);
/* The SA changes the groups and then reports the MLID, whose tree is made again. */
struct multicast_groups *sm_multicast_groups(struct sm *sm);
void sm_multicast_changed(struct sm *sm, uint16_t mlid);
/* Sets ClientReregister at this end port: its clients repeat joins, subscriptions and services.
 * Does nothing if the port is unknown or does not support it. */
void sm_ask_reregistration(struct sm *sm, uint64_t port_guid);
/* The SL for paths of this partition and service (0: any) by the QoS policy. */
uint8_t sm_path_sl(const struct sm *sm, uint16_t pkey, uint64_t service_id);
uint64_t sm_key(const struct sm *sm);

/* The saved LIDs: see subnet_lids_text(). */
char *sm_lids_text(const struct sm *sm);
uint32_t sm_lids_remember(struct sm *sm, const char *text, size_t text_bytes);

/* The neighbors of ports, for keys per port at protection levels 2 and 3: see
 * mgmt/subnet/neighbors.h. The caller frees the text. NULL: nothing new since the last call, or no
 * memory. */
char *sm_neighbors_text(struct sm *sm);
uint32_t sm_neighbors_remember(struct sm *sm, const char *text);

struct sm_status {
	enum sm_state state;
	bool subnet_is_up; /* the last sweep finished and every port found is Active */
	uint32_t sweep_count;
	uint32_t node_count, switch_count;
	uint32_t port_count;	  /* end ports: those with a LID */
	uint32_t duplicate_count; /* nodes ignored by the last sweep, because another node has their
				     GUID */
	uint32_t silent_count; /* requests of the last sweep without a response, or with an error */
	uint16_t lid;	       /* the manager's own; 0 before it has one */
	uint8_t priority;
	uint64_t master_guid; /* the port GUID of the known master; its own if it is master */
	uint64_t smp_count;   /* sent */
	const char *engine;   /* the engine that routed last */
	/* M_Keys. */
	bool has_mkeys, has_mkey_per_port;
	uint8_t mkey_protect_bits;
	uint16_t mkey_lease_period;
	uint32_t mkey_refusal_count;  /* violations that ports reported */
	uint64_t mkey_refusal_source; /* the port GUID of the last sender; 0: unknown */
};
void sm_status(const struct sm *sm, struct sm_status *ret_status);
/* The SMInfo that other managers get. */
void sm_info_now(const struct sm *sm, struct sm_info *ret_info);
/* Whether the port with this GUID has a manager that has not shown the M_Key, so that it gets no
 * handover. */
bool sm_is_stranger(const struct sm *sm, uint64_t port_guid);

/* When the event came that the manager is handling, for example a trap. TIME_NEVER: it has handled
 * all. */
time_ns sm_reacts_since(const struct sm *sm);
/* Heavy sweeps that found a change. */
uint32_t sm_change_count(const struct sm *sm);

#endif
