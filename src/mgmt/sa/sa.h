/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Subnet administration (management 4): answers queries about the subnet, keeps multicast groups,
 * services and subscriptions, and reports notices to subscribers.
 *
 * It knows MADs on QP1 of the master manager's port, and the subnet at the end of the last sweep.
 * MADs and time go in; MADs come out.
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

/* A sweep of the master ended. The SA copies the subnet and answers from the copy until the next
 * sweep; before the first one it answers nothing. Ports that came or went are reported, and lost
 * ports leave their groups. Without memory the old copy stays. */
void sa_subnet_changed(struct sa *sa, time_ns now, const struct subnet *subnet);
/* The manager is no longer the master: the SA drops the state of clients and answers nothing. */
void sa_stop_serving(struct sa *sa);

/* ClientReregister was set at this port. */
void sa_reregistration_asked(struct sa *sa, time_ns now, uint64_t port_guid);

/* Reports a trap that the manager got. */
void sa_notice(struct sa *sa, time_ns now, const struct notice *notice);

/* Takes a MAD of class SubnAdm that arrived at QP1 of the port, or a response to an SMP of the SA.
 */
void sa_receive(struct sa *sa, time_ns now, const struct mad_message *message);
unsigned sa_transmit(struct sa *sa, time_ns now, unsigned messages_max,
		     struct mad_message ret_messages[]);
time_ns sa_deadline(const struct sa *sa);

struct sa_status {
	bool is_serving;
	uint64_t request_count;
	uint64_t dropped_count; /* requests without room for their response */
	uint64_t report_count;
	uint64_t report_failed_count; /* reports that were not acknowledged */
	uint64_t pruned_count;	      /* members that did not join again */
	uint32_t group_count, service_count, subscription_count;
};
void sa_status(const struct sa *sa, struct sa_status *ret_status);

#endif
