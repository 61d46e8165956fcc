/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The partitions of a subnet: who is a member of which, and how (vol 1, chapter 10). Read from text
 * in the syntax of OpenSM's partitions.conf.
 */
#ifndef SOFTIB_MGMT_SUBNET_PARTITIONS_H
#define SOFTIB_MGMT_SUBNET_PARTITIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/attributes.h"
#include "base/hash_table.h"
#include "mgmt/subnet/multicast_groups.h"
#include "mgmt/subnet/policy_text.h"
#include "wire/gid.h"
#include "wire/subnet_attributes.h"

enum { PARTITION_NAME_BYTES = 64, PARTITION_GROUP_SCOPES_MAX = 16 };

enum membership { MEMBER_NONE, MEMBER_LIMITED, MEMBER_FULL, MEMBER_BOTH };

/* Which ports a line of members means. */
enum member_kind {
	MEMBER_PORT,
	MEMBER_ALL,
	MEMBER_CAS,
	MEMBER_SWITCHES,
	MEMBER_ROUTERS,
	MEMBER_SELF
};

struct partition_member {
	enum member_kind kind;
	uint64_t guid; /* MEMBER_PORT */
	enum membership membership;
	uint32_t order; /* among the members, from 1 */
};

/* A multicast group that exists as long as the partition does. */
struct partition_group {
	struct gid mgid;
	struct multicast_characteristics characteristics;
};

struct partition {
	char name[PARTITION_NAME_BYTES];
	uint16_t pkey; /* 15 bits */
	bool is_index_0;
	bool has_ipoib;
	uint16_t scopes; /* of the broadcast groups: bit n for scope n */
	/* Of the broadcast groups; sl is also that of the partition's paths. */
	struct multicast_characteristics characteristics;
	enum membership default_membership;
	/* A later member overrules an earlier one; ports with a line of their own are in the table,
	 * so that thousands of them cost nothing. */
	struct partition_member *classes;
	uint32_t class_count;
	struct hash_table ports; /* GUID to order x 4 + membership */
	uint32_t member_count;
	struct partition_group *groups;
	uint32_t group_count;
};

struct partitions {
	struct partition
		*partitions; /* in the order of the file; the default one is always there */
	uint32_t count;
	struct partition *by_pkey[0x8000];
};

/* Default=0x7fff,ipoib:ALL=full; -ENOMEM. */
MUST_USE int partitions_init_default(struct partitions *partitions);
/* All or nothing. -EINVAL with the error filled in, -ENOMEM. */
MUST_USE int partitions_parse(struct partitions *partitions, const char *text, size_t text_bytes,
			      struct policy_error *ret_error);
void partitions_release(struct partitions *partitions);

/* NULL when there is none; the membership bit does not matter. */
static inline const struct partition *partitions_find(const struct partitions *partitions,
						      uint16_t pkey)
{
	return partitions->by_pkey[pkey & 0x7fff];
}

/* Only the default partition, with everybody a full member: nothing for switches to enforce. */
bool partitions_are_trivial(const struct partitions *partitions);

/* What switches and routers check, by the names of OpenSM's part_enforce. */
enum part_enforce { PART_ENFORCE_BOTH, PART_ENFORCE_IN, PART_ENFORCE_OUT, PART_ENFORCE_OFF };

/* "both", "in", "out" or "off". */
MUST_USE bool part_enforce_named(const char *name, enum part_enforce *ret_enforce);

/* A port as its membership sees it. */
struct partition_subject {
	uint64_t port_guid;
	enum node_type node_type;
	bool is_self; /* the manager's own port */
};

/* Partitions end at no router (vol 1, chapter 3), so a router's port is a full member of each,
 * unless the partition names the port or ALL_ROUTERS. */
enum membership partition_membership(const struct partition *partition,
				     const struct partition_subject *subject);

/* The keys the port is to have, that for index 0 first. Returns how many there are, which may be
 * more than fit. */
uint32_t partitions_keys(const struct partitions *partitions,
			 const struct partition_subject *subject, uint32_t keys_max,
			 uint16_t ret_keys[]);

/* For the reader. Members and groups are the partition's own, with room that is made here. NULL
 * when there is no memory. */
struct partition *partitions_add(struct partitions *partitions, const char *name, uint16_t pkey);
MUST_USE int partition_add_member(struct partition *partition,
				  const struct partition_member *member);
MUST_USE int partition_add_group(struct partition *partition, const struct partition_group *group);
/* Adds what every set of partitions has: a default one, with the manager's port a full member. */
MUST_USE int partitions_complete(struct partitions *partitions);

/* The multicast groups that the partitions ask for, where they do not exist yet. -ENOMEM, -ENOSPC.
 */
MUST_USE int partitions_create_groups(const struct partitions *partitions,
				      struct multicast_groups *groups);

#endif
