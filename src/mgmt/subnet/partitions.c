/* SPDX-License-Identifier: Apache-2.0 */
/* The partitions of a subnet and their members (management 3.5). */
#include "mgmt/subnet/partitions.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "wire/mtu.h"

enum {
	DEFAULT_PKEY = PKEY_DEFAULT_LIMITED,
	QKEY_IPOIB = 0x0b1b,
	RATE_10_GBPS = 3,
	PACKET_LIFE_TIME = 0x12,
	PARTITIONS_GROWTH = 8,
};

/* by_pkey points into the array, so it is rebuilt when the array moves. */
static bool make_room(struct partitions *partitions)
{
	struct partition *larger;

	if (partitions->count % PARTITIONS_GROWTH)
		return true;
	larger = realloc(partitions->partitions,
			 (partitions->count + PARTITIONS_GROWTH) * sizeof(*larger));
	if (!larger)
		return false;
	partitions->partitions = larger;
	for (uint32_t i = 0; i < partitions->count; i++)
		partitions->by_pkey[larger[i].pkey] = &larger[i];
	return true;
}

struct partition *partitions_add(struct partitions *partitions, const char *name, uint16_t pkey)
{
	if (!make_room(partitions))
		return NULL;

	struct partition *partition = &partitions->partitions[partitions->count++];

	*partition = (struct partition){
		.pkey = pkey & 0x7fff,
		.default_membership = MEMBER_LIMITED,
		.characteristics = {.qkey = QKEY_IPOIB,
				    .pkey = pkey | PKEY_FULL_MEMBER,
				    .mtu = MTU_2048,
				    .rate = RATE_10_GBPS,
				    .packet_life_time = PACKET_LIFE_TIME,
				    .scope = MGID_SCOPE_LINK_LOCAL},
	};
	snprintf(partition->name, sizeof(partition->name), "%s", name);
	hash_table_init(&partition->ports);
	partitions->by_pkey[partition->pkey] = partition;
	return partition;
}

static int add_port(struct partition *partition, const struct partition_member *member)
{
	uintptr_t value = (uintptr_t)partition->member_count << 2 | member->membership;

	hash_table_remove(&partition->ports, member->guid);
	return hash_table_put(&partition->ports, member->guid, (void *)value);
}

int partition_add_member(struct partition *partition, const struct partition_member *member)
{
	struct partition_member *classes;

	partition->member_count++;
	if (member->kind == MEMBER_PORT)
		return add_port(partition, member);
	classes = realloc(partition->classes, (partition->class_count + 1) * sizeof(*classes));
	if (!classes)
		return -ENOMEM;
	classes[partition->class_count] = *member;
	classes[partition->class_count++].order = partition->member_count;
	partition->classes = classes;
	return 0;
}

int partition_add_group(struct partition *partition, const struct partition_group *group)
{
	struct partition_group *groups =
		realloc(partition->groups, (partition->group_count + 1) * sizeof(*groups));

	if (!groups)
		return -ENOMEM;
	groups[partition->group_count++] = *group;
	partition->groups = groups;
	return 0;
}

void partitions_release(struct partitions *partitions)
{
	for (uint32_t i = 0; i < partitions->count; i++) {
		free(partitions->partitions[i].classes);
		free(partitions->partitions[i].groups);
		hash_table_release(&partitions->partitions[i].ports);
	}
	free(partitions->partitions);
	memset(partitions, 0, sizeof(*partitions));
}

/* As OpenSM does for a file without a default partition: all ports are limited members, so that
 * each can exchange MADs with the manager but not with another port. Switches are full members, so
 * that their counters can be read. Its broadcast group exists, so that addresses can
 * be resolved. */
static int add_default(struct partitions *partitions)
{
	static const struct partition_member members[] = {
		{.kind = MEMBER_ALL, .membership = MEMBER_LIMITED},
		{.kind = MEMBER_SWITCHES, .membership = MEMBER_FULL},
	};
	struct partition *partition = partitions_add(partitions, "Default", DEFAULT_PKEY);
	int error = partition ? 0 : -ENOMEM;

	for (unsigned i = 0; !error && i < ARRAY_COUNT(members); i++)
		error = partition_add_member(partition, &members[i]);
	if (error)
		return error;
	partition->has_ipoib = true;
	partition->scopes = 1u << MGID_SCOPE_LINK_LOCAL;
	return 0;
}

int partitions_complete(struct partitions *partitions)
{
	static const struct partition_member self = {.kind = MEMBER_SELF,
						     .membership = MEMBER_FULL};
	int error = partitions->by_pkey[DEFAULT_PKEY] ? 0 : add_default(partitions);

	return error ? error : partition_add_member(partitions->by_pkey[DEFAULT_PKEY], &self);
}

int partitions_init_default(struct partitions *partitions)
{
	static const struct partition_member everybody = {.kind = MEMBER_ALL,
							  .membership = MEMBER_FULL};
	struct partition *partition;
	int error;

	memset(partitions, 0, sizeof(*partitions));
	partition = partitions_add(partitions, "Default", DEFAULT_PKEY);
	error = partition ? partition_add_member(partition, &everybody) : -ENOMEM;
	if (!error)
		error = partitions_complete(partitions);
	if (error) {
		partitions_release(partitions);
		return error;
	}
	partition->has_ipoib = true;
	partition->scopes = 1u << MGID_SCOPE_LINK_LOCAL;
	return 0;
}

bool part_enforce_named(const char *name, enum part_enforce *ret_enforce)
{
	static const char *const names[] = {[PART_ENFORCE_BOTH] = "both",
					    [PART_ENFORCE_IN] = "in",
					    [PART_ENFORCE_OUT] = "out",
					    [PART_ENFORCE_OFF] = "off"};

	for (unsigned i = 0; i < ARRAY_COUNT(names); i++) {
		if (strcmp(names[i], name) != 0)
			continue;
		*ret_enforce = (enum part_enforce)i;
		return true;
	}
	return false;
}

static bool kind_means(enum member_kind kind, const struct partition_subject *subject)
{
	switch (kind) {
	case MEMBER_PORT:
		return false; /* is in the table by GUID */
	case MEMBER_ALL:
		return subject->node_type != NODE_ROUTER;
	case MEMBER_CAS:
		return subject->node_type == NODE_CA;
	case MEMBER_SWITCHES:
		return subject->node_type == NODE_SWITCH;
	case MEMBER_ROUTERS:
		return subject->node_type == NODE_ROUTER;
	case MEMBER_SELF:
		return subject->is_self;
	}
	return false;
}

enum membership partition_membership(const struct partition *partition,
				     const struct partition_subject *subject)
{
	uintptr_t named = (uintptr_t)hash_table_get(&partition->ports, subject->port_guid);
	uint32_t order = (uint32_t)(named >> 2);
	enum membership membership = (enum membership)(named & 3);

	/* The manager's own port is always a full member of the default partition (management 3.5).
	 */
	if (subject->is_self && partition->pkey == DEFAULT_PKEY)
		return MEMBER_FULL;
	for (uint32_t i = 0; i < partition->class_count; i++) {
		const struct partition_member *class = &partition->classes[i];

		if (class->order > order && kind_means(class->kind, subject)) {
			order = class->order;
			membership = class->membership;
		}
	}
	return membership == MEMBER_NONE && subject->node_type == NODE_ROUTER ? MEMBER_FULL
									      : membership;
}

bool partitions_are_trivial(const struct partitions *partitions)
{
	const struct partition *partition = &partitions->partitions[0];

	if (partitions->count != 1 || partition->ports.count || !partition->class_count)
		return false;
	for (uint32_t i = 0; i < partition->class_count; i++) {
		if (partition->classes[i].membership != MEMBER_FULL)
			return false;
	}
	return partition->classes[0].kind == MEMBER_ALL;
}

static uint32_t add_keys(const struct partition *partition, enum membership membership,
			 uint32_t key_count, uint32_t keys_max, uint16_t ret_keys[])
{
	uint16_t keys[2];
	uint32_t new_count = 0;

	if (membership == MEMBER_FULL || membership == MEMBER_BOTH)
		keys[new_count++] = partition->pkey | PKEY_FULL_MEMBER;
	if (membership == MEMBER_LIMITED || membership == MEMBER_BOTH)
		keys[new_count++] = partition->pkey;
	for (uint32_t i = 0; i < new_count && key_count + i < keys_max; i++)
		ret_keys[key_count + i] = keys[i];
	return key_count + new_count;
}

/* The partition whose key has index 0: the default partition, unless the port is in one with indx0.
 */
static const struct partition *first_partition(const struct partitions *partitions,
					       const struct partition_subject *subject)
{
	for (uint32_t i = 0; i < partitions->count && !subject->is_self; i++) {
		if (partitions->partitions[i].is_index_0 &&
		    partition_membership(&partitions->partitions[i], subject) != MEMBER_NONE)
			return &partitions->partitions[i];
	}
	return partitions->by_pkey[DEFAULT_PKEY];
}

uint32_t partitions_keys(const struct partitions *partitions,
			 const struct partition_subject *subject, uint32_t keys_max,
			 uint16_t ret_keys[])
{
	const struct partition *first = first_partition(partitions, subject);
	uint32_t key_count =
		add_keys(first, partition_membership(first, subject), 0, keys_max, ret_keys);

	for (uint32_t i = 0; i < partitions->count; i++) {
		const struct partition *partition = &partitions->partitions[i];

		if (partition != first)
			key_count = add_keys(partition, partition_membership(partition, subject),
					     key_count, keys_max, ret_keys);
	}
	return key_count;
}

static int create_group(struct multicast_groups *groups, const struct gid *mgid,
			const struct multicast_characteristics *characteristics)
{
	struct multicast_group *group = multicast_groups_find(groups, mgid);
	int error = 0;

	if (!group)
		error = multicast_groups_create(groups, mgid, characteristics, &group);
	if (!error)
		group->is_kept = true;
	return error;
}

int partitions_create_groups(const struct partitions *partitions, struct multicast_groups *groups)
{
	int error = 0;

	for (uint32_t i = 0; !error && i < partitions->count; i++) {
		const struct partition *partition = &partitions->partitions[i];
		struct multicast_characteristics characteristics = partition->characteristics;

		for (uint8_t scope = 0; !error && scope < PARTITION_GROUP_SCOPES_MAX; scope++) {
			if (!partition->has_ipoib || !(partition->scopes >> scope & 1))
				continue;

			struct gid mgid =
				multicast_broadcast_mgid(scope, partition->pkey | PKEY_FULL_MEMBER);

			characteristics.scope = scope;
			error = create_group(groups, &mgid, &characteristics);
		}
		for (uint32_t k = 0; !error && k < partition->group_count; k++)
			error = create_group(groups, &partition->groups[k].mgid,
					     &partition->groups[k].characteristics);
	}
	return error;
}
