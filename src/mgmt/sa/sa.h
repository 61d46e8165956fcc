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
#include "mgmt/sa/sa_options.h"
#include "wire/notice.h"

struct sa;
struct subnet;

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
