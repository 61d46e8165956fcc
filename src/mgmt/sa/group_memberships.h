/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The multicast groups that a port is a member of, or is to be, or was: what its owner wants beside
 * what the SA has, by MGID (vol 1, chapter 15). Nothing is said to the SA here:
 * mgmt/sa/group_client.h does.
 */
#ifndef SOFTIB_MGMT_SA_GROUP_MEMBERSHIPS_H
#define SOFTIB_MGMT_SA_GROUP_MEMBERSHIPS_H

#include <stdbool.h>
#include <stdint.h>
#include "base/hash_table.h"
#include "base/list.h"
#include "base/time.h"
#include "wire/gid.h"
#include "wire/sa_records.h"

/* Join states: mgmt/subnet/multicast_groups.h. */
struct group_membership {
	struct list link;		    /* memberships->all */
	struct group_membership *same_hash; /* the next whose MGID has the same hash */
	struct mc_member_record group;	    /* as it is made where it is not there */
	struct gid mgid;
	uint8_t wanted;
	uint8_t joined;	  /* what the SA has of us, as far as we know */
	uint8_t asked;	  /* a request is on its way; 0: none */
	bool is_leaving;  /* ... that takes them away */
	bool is_doubtful; /* the SA may have forgotten us */
	uint16_t mlid;
	time_ns retry_at;
	/* The owner's; while the second is not 0 it is not forgotten. */
	uint64_t mark;
	uint16_t shown_mlid;
};

struct group_memberships {
	struct list all;
	struct hash_table by_mgid;
};

void group_memberships_init(struct group_memberships *memberships);
void group_memberships_release(struct group_memberships *memberships);

/* By its place in memberships->all. */
static inline struct group_membership *group_membership_of(struct list *link)
{
	return container_of(link, struct group_membership, link);
}

/* NULL: there is none. */
struct group_membership *group_memberships_find(const struct group_memberships *memberships,
						const struct gid *mgid);
/* Makes one of a group that has none: nothing wanted, nothing joined. NULL: no memory. */
struct group_membership *group_memberships_add(struct group_memberships *memberships,
					       const struct gid *mgid);
/* Frees it. */
void group_memberships_forget(struct group_memberships *memberships,
			      struct group_membership *membership);

/* What is to be joined or, if nothing is, left now; 0: nothing is due. */
uint8_t group_membership_due(const struct group_membership *membership, bool *ret_is_leaving);
/* No answer will come: what was asked for may have been done. */
void group_membership_doubt_request(struct group_membership *membership);

#endif
