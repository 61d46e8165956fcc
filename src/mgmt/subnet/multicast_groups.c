/* SPDX-License-Identifier: Apache-2.0 */
/* The multicast groups of a subnet: MGIDs, MLIDs, members (management 4.7). */
#include "mgmt/subnet/multicast_groups.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

void multicast_groups_init(struct multicast_groups *groups)
{
	memset(groups, 0, sizeof(*groups));
	list_init(&groups->groups);
	hash_table_init(&groups->by_mgid);
	groups->mlid_count_max = MLID_COUNT;
	groups->unique_next = 1;
}

void multicast_groups_release(struct multicast_groups *groups)
{
	while (!list_is_empty(&groups->groups))
		multicast_groups_delete(groups, multicast_group_of(list_first(&groups->groups)));
	hash_table_release(&groups->by_mgid);
}

struct multicast_group *multicast_groups_find(const struct multicast_groups *groups,
					      const struct gid *mgid)
{
	struct hash_link *link = hash_chain_first(&groups->by_mgid, gid_hash(mgid));

	for (; link; link = link->next) {
		struct multicast_group *group =
			container_of(link, struct multicast_group, mgid_link);

		if (gid_equal(&group->mgid, mgid))
			return group;
	}
	return NULL;
}

/* Round robin, so that an MLID whose tree is still being removed is not reused at once. */
static int find_free_mlid(struct multicast_groups *groups, uint32_t *ret_index)
{
	uint32_t count = groups->mlid_count_max < MLID_COUNT ? groups->mlid_count_max : MLID_COUNT;

	for (uint32_t i = 0; i < count; i++) {
		uint32_t index = (groups->mlid_next + i) % count;

		if (groups->by_mlid[index])
			continue;
		groups->mlid_next = index + 1;
		*ret_index = index;
		return 0;
	}
	return -ENOSPC;
}

int multicast_groups_create(struct multicast_groups *groups, const struct gid *mgid,
			    const struct multicast_characteristics *characteristics,
			    struct multicast_group **ret_group)
{
	struct multicast_group *group;
	uint32_t index;
	int error;

	if (multicast_groups_find(groups, mgid))
		return -EEXIST;
	error = find_free_mlid(groups, &index);
	if (error)
		return error;
	group = calloc(1, sizeof(*group));
	if (!group)
		return -ENOMEM;
	group->mgid = *mgid;
	group->mlid = (uint16_t)(LID_MULTICAST_FIRST + index);
	group->characteristics = *characteristics;
	list_init(&group->members);
	hash_table_init(&group->by_port_guid);
	error = hash_chain_put(&groups->by_mgid, gid_hash(&group->mgid), &group->mgid_link);
	if (error) {
		free(group);
		return error;
	}
	groups->by_mlid[index] = group;
	list_append(&groups->groups, &group->link);
	groups->group_count++;
	*ret_group = group;
	return 0;
}

void multicast_groups_delete(struct multicast_groups *groups, struct multicast_group *group)
{
	for (struct list *link; (link = list_pop(&group->members));)
		free(multicast_member_of(link));
	hash_table_release(&group->by_port_guid);
	hash_chain_remove(&groups->by_mgid, gid_hash(&group->mgid), &group->mgid_link);
	groups->by_mlid[group->mlid - LID_MULTICAST_FIRST] = NULL;
	list_remove(&group->link);
	groups->group_count--;
	free(group);
}

enum { MGID_TRANSIENT_FLAG = 0x10 };

struct gid multicast_groups_choose_mgid(struct multicast_groups *groups, uint8_t scope,
					uint64_t subnet_prefix)
{
	struct gid mgid = {.bytes = {0xff, (uint8_t)(MGID_TRANSIENT_FLAG | (scope & 15))}};

	put_be16(mgid.bytes + 2, MGID_SIGNATURE_SA);
	put_be64(mgid.bytes + 4, subnet_prefix);
	/* One try more than there are groups always finds a free MGID. */
	do
		put_be32(mgid.bytes + 12, (uint32_t)groups->unique_next++);
	while (multicast_groups_find(groups, &mgid));
	return mgid;
}

struct multicast_member *multicast_group_member(const struct multicast_group *group,
						uint64_t port_guid)
{
	return hash_table_get(&group->by_port_guid, port_guid);
}

int multicast_group_join(struct multicast_group *group, uint64_t port_guid, uint8_t join_state,
			 struct multicast_member **ret_member)
{
	struct multicast_member *member = multicast_group_member(group, port_guid);

	if (!member) {
		member = calloc(1, sizeof(*member));
		if (!member)
			return -ENOMEM;
		member->port_guid = port_guid;

		int error = hash_table_put(&group->by_port_guid, port_guid, member);

		if (error) {
			free(member);
			return error;
		}
		list_append(&group->members, &member->link);
		group->member_count++;
	}
	if (!(member->join_state & JOIN_KEEPS_ALIVE) && (join_state & JOIN_KEEPS_ALIVE))
		group->keeping_count++;
	member->join_state |= join_state;
	*ret_member = member;
	return 0;
}

uint8_t multicast_group_leave(struct multicast_group *group, struct multicast_member *member,
			      uint8_t join_state)
{
	uint8_t remaining = member->join_state & (uint8_t)~join_state;

	if ((member->join_state & JOIN_KEEPS_ALIVE) && !(remaining & JOIN_KEEPS_ALIVE))
		group->keeping_count--;
	member->join_state = remaining;
	if (remaining)
		return remaining;
	hash_table_remove(&group->by_port_guid, member->port_guid);
	list_remove(&member->link);
	group->member_count--;
	free(member);
	return 0;
}

struct gid multicast_broadcast_mgid(uint8_t scope, uint16_t pkey)
{
	struct gid mgid = {.bytes = {0xff, (uint8_t)(MGID_TRANSIENT_FLAG | (scope & 15))}};

	put_be16(mgid.bytes + 2, MGID_SIGNATURE_IPV4);
	put_be16(mgid.bytes + 4, pkey | PKEY_FULL_MEMBER);
	put_be32(mgid.bytes + 12, 0xffffffff);
	return mgid;
}
