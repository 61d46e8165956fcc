/* SPDX-License-Identifier: Apache-2.0 */
/* What joining a group and looking at groups have in common (vol 1, chapter 15). */
#ifndef SOFTIB_MGMT_SA_MEMBERS_H
#define SOFTIB_MGMT_SA_MEMBERS_H

#include "mgmt/sa/request.h"
#include "wire/sa_records.h"

/* A request's record and its mask. */
struct member_request {
	uint64_t components;
	struct mc_member_record wanted;
};

static inline bool member_request_has(const struct member_request *asked, unsigned component)
{
	return asked->components & SA_COMPONENT(component);
}

/* The group has what the mask names, MTU, rate and lifetime by their selectors. */
bool member_request_accepts(const struct member_request *asked,
			    const struct multicast_characteristics *characteristics);

/* member NULL: of the group as a whole. */
struct mc_member_record member_record_make(const struct sa *sa, const struct multicast_group *group,
					   const struct multicast_member *member);

/* A member's port is gone, or leaves: the group goes when nobody keeps it. */
void members_left(struct sa *sa, time_ns now, struct multicast_group *group);
void members_drop_port(struct sa *sa, time_ns now, uint64_t port_guid);

#endif
