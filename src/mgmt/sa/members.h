/* SPDX-License-Identifier: Apache-2.0 */
/* Shared by joining groups and by reading them (management 4.7). */
#ifndef SOFTIB_MGMT_SA_MEMBERS_H
#define SOFTIB_MGMT_SA_MEMBERS_H

#include "mgmt/sa/request.h"
#include "wire/sa_records.h"

/* The record of a request and its component mask. */
struct member_request {
	uint64_t components;
	struct mc_member_record wanted;
};

static inline bool member_request_has(const struct member_request *asked, unsigned component)
{
	return asked->components & SA_COMPONENT(component);
}

/* Whether the group has the components in the mask; MTU, rate and lifetime by their selectors. */
bool member_request_accepts(const struct member_request *asked,
			    const struct multicast_characteristics *characteristics);

/* member NULL: the record of the group. */
struct mc_member_record member_record_make(const struct sa *sa, const struct multicast_group *group,
					   const struct multicast_member *member);

/* Call it after members left: deletes the group if no member keeps it alive. */
void members_left(struct sa *sa, time_ns now, struct multicast_group *group);
void members_drop_port(struct sa *sa, time_ns now, uint64_t port_guid);

#endif
