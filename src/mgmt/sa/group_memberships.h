/* SPDX-License-Identifier: Apache-2.0 */
/* The multicast groups that a port has joined, should join or should leave: the owner's wanted
 * states and the states known to the SA, by MGID (management 4.7). mgmt/sa/group_client.h sends the
 * requests. */
#ifndef SOFTIB_MGMT_SA_GROUP_MEMBERSHIPS_H
#define SOFTIB_MGMT_SA_GROUP_MEMBERSHIPS_H

#include <stdbool.h>
#include <stdint.h>
#include "base/hash_chain.h"
#include "base/list.h"
#include "base/time.h"
#include "wire/gid.h"
#include "wire/sa_records.h"

/* Join states: mgmt/subnet/multicast_groups.h. */
struct group_membership {
	struct list link;	       /* memberships->all */
	struct hash_link mgid_link;    /* memberships->by_mgid */
	struct mc_member_record group; /* used to create it */
	struct gid mgid;
	uint8_t wanted;
	uint8_t joined;	  /* states that the SA has, as far as we know */
	uint8_t asked;	  /* states of the request under way; 0: none */
	bool is_leaving;  /* the request is a leave */
	bool is_doubtful; /* the SA may have dropped the membership */
	uint16_t mlid;
	time_ns retry_at;
	/* For the owner. The membership is kept while the second is not 0. */
	uint64_t mark;
	uint16_t shown_mlid;
};

struct group_memberships {
	struct list all;
	struct hash_table by_mgid;
};

void group_memberships_init(struct group_memberships *memberships);
void group_memberships_release(struct group_memberships *memberships);

/* From its link in memberships->all. */
static inline struct group_membership *group_membership_of(struct list *link)
{
	return container_of(link, struct group_membership, link);
}

/* NULL: there is none. */
struct group_membership *group_memberships_find(const struct group_memberships *memberships,
						const struct gid *mgid);
/* Adds a membership of a group that has none: nothing wanted, nothing joined. NULL: no memory. */
struct group_membership *group_memberships_add(struct group_memberships *memberships,
					       const struct gid *mgid);
/* Frees it. */
void group_memberships_forget(struct group_memberships *memberships,
			      struct group_membership *membership);

/* The states to join or, if none, to leave now. 0: nothing to do. */
uint8_t group_membership_due(const struct group_membership *membership, bool *ret_is_leaving);
/* No response will come; the request may have been executed. */
void group_membership_doubt_request(struct group_membership *membership);

#endif
