/* SPDX-License-Identifier: Apache-2.0 */
/* The multicast groups that a port has joined or should join (management 4.7). */
#include "mgmt/sa/group_memberships.h"

#include <stdlib.h>

void group_memberships_init(struct group_memberships *memberships)
{
	list_init(&memberships->all);
	hash_table_init(&memberships->by_mgid);
}

void group_memberships_release(struct group_memberships *memberships)
{
	for (struct list *link; (link = list_pop(&memberships->all));)
		free(group_membership_of(link));
	hash_table_release(&memberships->by_mgid);
}

/* 2^64 divided by the golden ratio. */
static uint64_t hash_of(const struct gid *mgid)
{
	return gid_prefix(mgid) * 0x9e3779b97f4a7c15u ^ gid_guid(mgid);
}

struct group_membership *group_memberships_find(const struct group_memberships *memberships,
						const struct gid *mgid)
{
	struct group_membership *membership = hash_table_get(&memberships->by_mgid, hash_of(mgid));

	while (membership && !gid_equal(&membership->mgid, mgid))
		membership = membership->same_hash;
	return membership;
}

static bool put_into_table(struct group_memberships *memberships,
			   struct group_membership *membership)
{
	uint64_t hash = hash_of(&membership->mgid);
	struct group_membership *first = hash_table_get(&memberships->by_mgid, hash);

	if (!first)
		return hash_table_put(&memberships->by_mgid, hash, membership) == 0;
	membership->same_hash = first->same_hash;
	first->same_hash = membership;
	return true;
}

struct group_membership *group_memberships_add(struct group_memberships *memberships,
					       const struct gid *mgid)
{
	struct group_membership *membership = calloc(1, sizeof(*membership));

	if (!membership)
		return NULL;
	membership->mgid = *mgid;
	if (!put_into_table(memberships, membership)) {
		free(membership);
		return NULL;
	}
	list_append(&memberships->all, &membership->link);
	return membership;
}

void group_memberships_forget(struct group_memberships *memberships,
			      struct group_membership *membership)
{
	uint64_t hash = hash_of(&membership->mgid);
	struct group_membership *first = hash_table_get(&memberships->by_mgid, hash);

	if (first == membership) {
		hash_table_remove(&memberships->by_mgid, hash);
		/* Into the slot that was just freed, so this needs no memory. */
		if (membership->same_hash) {
			int error =
				hash_table_put(&memberships->by_mgid, hash, membership->same_hash);

			assert(!error);
		}
	} else {
		while (first->same_hash != membership)
			first = first->same_hash;
		first->same_hash = membership->same_hash;
	}
	list_remove(&membership->link);
	free(membership);
}

uint8_t group_membership_due(const struct group_membership *membership, bool *ret_is_leaving)
{
	uint8_t wanted = membership->wanted, joined = membership->joined;

	*ret_is_leaving = !(wanted & ~joined) && !(membership->is_doubtful && wanted);
	return *ret_is_leaving ? joined & (uint8_t)~wanted : wanted;
}

void group_membership_doubt_request(struct group_membership *membership)
{
	if (membership->asked && !membership->is_leaving)
		membership->joined |= membership->asked;
	membership->asked = 0;
}
