/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Subnet administration (vol 1, chapter 15): answers questions about the subnet, keeps multicast
 * groups, services and subscriptions, reports notices to those who subscribed.
 *
 * Knows MADs on QP1 of the master manager's port, and the subnet as it was at the end of the last
 * sweep. MADs and time go in; MADs come out.
 */
#ifndef SOFTIB_MGMT_SA_SA_H
#define SOFTIB_MGMT_SA_SA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/attributes.h"
#include "base/time.h"
#include "mgmt/mad/mad_message.h"
#include "wire/notice.h"
#include "wire/subnet_attributes.h"

struct multicast_groups;
struct sa;
struct subnet;

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

MUST_USE int sa_create(const struct sa_options *options, struct sa **ret_sa);
void sa_destroy(struct sa *sa);

/*
 * A sweep of the master ended. The SA takes a copy of the subnet and answers from it until the next
 * one; before the first it answers nothing. Ports that came or went are reported, and the latter
 * leave their groups. Without memory the old copy stays.
 */
void sa_subnet_changed(struct sa *sa, time_ns now, const struct subnet *subnet);
/* The manager is not the master any more: what clients told is forgotten, nothing is answered. */
void sa_stop_serving(struct sa *sa);

/* The clients of this port were asked to register anew. */
void sa_reregistration_asked(struct sa *sa, time_ns now, uint64_t port_guid);

/* A notice to report: a trap that the manager got. */
void sa_notice(struct sa *sa, time_ns now, const struct notice *notice);

/* A MAD of class SubnAdm that arrived at QP1 of the port, or an SMP that answers one of the SA's:
 * some tables it has to ask for. */
void sa_receive(struct sa *sa, time_ns now, const struct mad_message *message);
unsigned sa_transmit(struct sa *sa, time_ns now, unsigned messages_max,
		     struct mad_message ret_messages[]);
time_ns sa_deadline(const struct sa *sa);

struct sa_status {
	bool is_serving;
	uint64_t request_count; /* so far */
	uint64_t dropped_count; /* requests for whose answers there was no room */
	uint64_t report_count;
	uint64_t report_failed_count; /* that no subscriber acknowledged */
	uint64_t pruned_count;	      /* members of groups that did not answer */
	uint32_t group_count, service_count, subscription_count;
};
void sa_status(const struct sa *sa, struct sa_status *ret_status);

#endif
