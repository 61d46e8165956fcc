/* SPDX-License-Identifier: Apache-2.0 */
/* The partitions of a subnet and their members (management 3.5), read from text in the syntax of
 * OpenSM's partitions.conf (management 9.2). */
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

/* The ports that a member definition names. */
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
	uint32_t order; /* position among the members, from 1 */
};

/* A multicast group that exists as long as its partition. */
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
	/* Of the broadcast groups. The SL is also that of the partition's paths. */
	struct multicast_characteristics characteristics;
	enum membership default_membership;
	/* A later definition overrides an earlier one. Ports named by GUID are in the hash table,
	 * so that thousands of them cost no search. */
	struct partition_member *classes;
	uint32_t class_count;
	struct hash_table ports; /* GUID to order x 4 + membership */
	uint32_t member_count;
	struct partition_group *groups;
	uint32_t group_count;
};

struct partitions {
	struct partition
		*partitions; /* in the order of the file; the default partition always exists */
	uint32_t count;
	struct partition *by_pkey[0x8000];
};

/* Default=0x7fff,ipoib:ALL=full; -ENOMEM. */
MUST_USE int partitions_init_default(struct partitions *partitions);
/* Fills new partitions; on error there is nothing to release. -EINVAL: the error is filled in.
 * -ENOMEM. */
MUST_USE int partitions_parse(struct partitions *partitions, const char *text, size_t text_bytes,
			      struct policy_error *ret_error);
void partitions_release(struct partitions *partitions);

/* NULL: there is none. The membership bit is ignored. */
static inline const struct partition *partitions_find(const struct partitions *partitions,
						      uint16_t pkey)
{
	return partitions->by_pkey[pkey & 0x7fff];
}

/* Only the default partition exists and all ports are full members: switches need not enforce
 * anything. */
bool partitions_are_trivial(const struct partitions *partitions);

/* The direction in which switches and routers check P_Keys, with the names of OpenSM's
 * part_enforce. */
enum part_enforce { PART_ENFORCE_BOTH, PART_ENFORCE_IN, PART_ENFORCE_OUT, PART_ENFORCE_OFF };

/* "both", "in", "out" or "off". */
MUST_USE bool part_enforce_named(const char *name, enum part_enforce *ret_enforce);

/* The properties of a port that determine its membership. */
struct partition_subject {
	uint64_t port_guid;
	enum node_type node_type;
	bool is_self; /* the manager's own port */
};

/* Partitions extend across routers, so a router's port is a full member of each partition, unless
 * the partition names the port or ALL_ROUTERS. */
enum membership partition_membership(const struct partition *partition,
				     const struct partition_subject *subject);

/* The keys of the port's table, that of index 0 first. Returns their number, which may exceed the
 * table. */
uint32_t partitions_keys(const struct partitions *partitions,
			 const struct partition_subject *subject, uint32_t keys_max,
			 uint16_t ret_keys[]);

/* For the reader. Returns a new partition; it owns its members and groups. NULL: no memory. */
struct partition *partitions_add(struct partitions *partitions, const char *name, uint16_t pkey);
MUST_USE int partition_add_member(struct partition *partition,
				  const struct partition_member *member);
MUST_USE int partition_add_group(struct partition *partition, const struct partition_group *group);
/* Adds what every configuration has: a default partition with the manager's port as a full member
 * (management 9.2). */
MUST_USE int partitions_complete(struct partitions *partitions);

/* Creates the multicast groups of the partitions that do not exist yet. -ENOMEM, -ENOSPC. */
MUST_USE int partitions_create_groups(const struct partitions *partitions,
				      struct multicast_groups *groups);

#endif
