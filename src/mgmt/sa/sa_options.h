/* SPDX-License-Identifier: Apache-2.0 */
/* Options of subnet administration and its callbacks into the manager. They stand apart from sa.h
 * so that the files behind it can use them without including it. */
#ifndef SOFTIB_MGMT_SA_SA_OPTIONS_H
#define SOFTIB_MGMT_SA_SA_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>
#include "base/time.h"
#include "wire/subnet_attributes.h"

struct multicast_groups;

/* Callbacks into the manager. Each function may be NULL. */
struct sa_owner {
	/* Members of this group came or went: its tree must be updated. */
	void (*multicast_changed)(void *context, uint16_t mlid);
	/* The SL of the policy for paths of this partition and service. */
	uint8_t (*path_sl)(void *context, uint16_t pkey, uint64_t service_id);
	/* The port GUID of the router in this subnet that leads to GIDs of this prefix. 0: none.
	 * Without the function it is the router with the lowest LID. */
	uint64_t (*router_to)(void *context, uint64_t gid_prefix);
	/* Sets ClientReregister at this port. The manager then calls sa_reregistration_asked(). */
	void (*ask_reregistration)(void *context, uint64_t port_guid);
	/* SMInfo of the manager itself. */
	void (*sm_info)(void *context, struct sm_info *ret_info);
	void *context;
};

struct sa_options {
	uint64_t port_guid;    /* of the port it runs on */
	uint32_t agent_number; /* the upper half of the transaction ids of its own requests */
	uint64_t sm_key;       /* of trusted requests; 0: no request is trusted */
	bool hides_mkeys;      /* even from trusted requests, because the SM_Key is public */
	struct sa_owner owner;
	struct multicast_groups *groups; /* the manager's */
	time_ns report_timeout;		 /* of one try; 0: the default */
	unsigned report_tries;		 /* 0: the default */
	time_ns prune_interval;		 /* between two rounds of pruning; 0: none */
};

#endif
