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

struct group_membership *group_memberships_find(const struct group_memberships *memberships,
						const struct gid *mgid)
{
	struct hash_link *link = hash_chain_first(&memberships->by_mgid, gid_hash(mgid));

	for (; link; link = link->next) {
		struct group_membership *membership =
			container_of(link, struct group_membership, mgid_link);

		if (gid_equal(&membership->mgid, mgid))
			return membership;
	}
	return NULL;
}

struct group_membership *group_memberships_add(struct group_memberships *memberships,
					       const struct gid *mgid)
{
	struct group_membership *membership = calloc(1, sizeof(*membership));

	if (!membership)
		return NULL;
	membership->mgid = *mgid;
	if (hash_chain_put(&memberships->by_mgid, gid_hash(mgid), &membership->mgid_link) != 0) {
		free(membership);
		return NULL;
	}
	list_append(&memberships->all, &membership->link);
	return membership;
}

void group_memberships_forget(struct group_memberships *memberships,
			      struct group_membership *membership)
{
	hash_chain_remove(&memberships->by_mgid, gid_hash(&membership->mgid),
			  &membership->mgid_link);
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
