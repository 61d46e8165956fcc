/* SPDX-License-Identifier: Apache-2.0 */
/* Options of subnet administration and what it calls in the manager. They stand apart from sa.h so
 * that the files behind it can use them without including it. */
#ifndef SOFTIB_MGMT_SA_SA_OPTIONS_H
#define SOFTIB_MGMT_SA_SA_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>
#include "base/time.h"
#include "wire/subnet_attributes.h"

struct multicast_groups;

/* What the SA asks of the manager. Each function may be NULL. */
struct sa_owner {
	/* Members of this group came or went: its tree has to follow. */
	void (*multicast_changed)(void *context, uint16_t mlid);
	/* The SL that policy gives to paths of this partition and service. */
	uint8_t (*path_sl)(void *context, uint16_t pkey, uint64_t service_id);
	/* The port GUID, in this subnet, of the router that leads to GIDs of this prefix; 0: none.
	 * Without the function it is the router with the lowest LID. */
	uint64_t (*router_to)(void *context, uint64_t gid_prefix);
	/* ClientReregister for this port; sa_reregistration_asked() follows when it is there. */
	void (*ask_reregistration)(void *context, uint64_t port_guid);
	/* SMInfo of the manager itself. */
	void (*sm_info)(void *context, struct sm_info *ret_info);
	void *context;
};

struct sa_options {
	uint64_t port_guid;    /* of the port it runs on */
	uint32_t agent_number; /* the upper half of the transaction ids of its own requests */
	uint64_t sm_key;       /* of trusted requests; 0: none are */
	bool hides_mkeys;      /* even in answers to trusted requests: everybody knows the SM_Key */
	struct sa_owner owner;
	struct multicast_groups *groups; /* of the manager */
	time_ns report_timeout;		 /* of one try; 0: the default */
	unsigned report_tries;		 /* 0: the default */
	time_ns prune_interval;		 /* between two questions to members of groups; 0: none */
};

#endif
