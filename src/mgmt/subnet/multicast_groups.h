/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The multicast groups of a subnet: characteristics, MLIDs and members (management 4.7).
 *
 * The manager owns them and reads them when it makes trees. The SA and the manager's partitions
 * change them. Every group has its own MLID. Members are ports by GID. The prefix is always the
 * subnet's, so the GUID half identifies a member.
 */
#ifndef SOFTIB_MGMT_SUBNET_MULTICAST_GROUPS_H
#define SOFTIB_MGMT_SUBNET_MULTICAST_GROUPS_H

#include <stdbool.h>
#include <stdint.h>
#include "base/attributes.h"
#include "base/hash_chain.h"
#include "base/list.h"
#include "base/time.h"
#include "wire/gid.h"
#include "wire/pkey.h"

/* Bits of MCMemberRecord.JoinState (management 4.7). */
enum join_state {
	JOIN_FULL = 1,		 /* sends, receives, keeps the group alive */
	JOIN_NON = 2,		 /* sends and receives */
	JOIN_SEND_ONLY = 4,	 /* sends */
	JOIN_SEND_ONLY_FULL = 8, /* sends, keeps the group alive */
	JOIN_ALL = 15,
	JOIN_RECEIVES = JOIN_FULL | JOIN_NON,
	JOIN_KEEPS_ALIVE = JOIN_FULL | JOIN_SEND_ONLY_FULL,
};

struct multicast_member {
	struct list link; /* in its group */
	uint64_t port_guid;
	uint8_t join_state; /* never 0 */
	bool is_proxy;	    /* joined by another port (ProxyJoin) */
	/* Pruning, see mgmt/sa/pruning.h. */
	uint64_t registrar_guid;  /* the port that asked for the membership last */
	uint8_t confirmed_states; /* join states that were confirmed since ClientReregister */
	bool is_asked;
	time_ns answer_until; /* TIME_NEVER: ClientReregister is not sent yet */
};

/* Common to all members of a group. MTU, rate and lifetime are codes. */
struct multicast_characteristics {
	uint32_t qkey;
	uint16_t pkey;
	uint8_t mtu;
	uint8_t rate;
	uint8_t packet_life_time;
	uint8_t sl;
	uint8_t traffic_class;
	uint8_t hop_limit;
	uint8_t scope;
	uint32_t flow_label;
};

struct multicast_group {
	struct list link;	    /* in multicast_groups.groups */
	struct hash_link mgid_link; /* in multicast_groups.by_mgid */
	struct gid mgid;
	uint16_t mlid;
	bool is_kept;	       /* from the configuration: stays when its last member leaves */
	bool tree_is_unfit;    /* the tree has links that do not carry the group's MTU or rate */
	uint64_t creator_guid; /* the port that created it; 0: configuration */
	struct multicast_characteristics characteristics;
	struct list members; /* in the order in which they joined */
	uint32_t member_count;
	uint32_t keeping_count; /* members that keep the group alive */
	struct hash_table by_port_guid;
};

enum { MLID_COUNT = LID_MULTICAST_LAST - LID_MULTICAST_FIRST + 1 };

struct multicast_groups {
	struct list groups; /* in the order of their creation */
	uint32_t group_count;
	uint32_t mlid_count_max; /* what the smallest multicast forwarding table of the subnet holds
				  */
	uint32_t mlid_next;	 /* where the search for a free MLID begins, counted from 0xc000 */
	uint64_t unique_next;	 /* for MGIDs that the SA chooses */
	struct hash_table by_mgid;
	struct multicast_group *by_mlid[MLID_COUNT];
};

void multicast_groups_init(struct multicast_groups *groups);
void multicast_groups_release(struct multicast_groups *groups);

/* NULL: there is none. */
struct multicast_group *multicast_groups_find(const struct multicast_groups *groups,
					      const struct gid *mgid);
static inline struct multicast_group *
multicast_groups_by_mlid(const struct multicast_groups *groups, uint16_t mlid)
{
	return lid_is_multicast(mlid) ? groups->by_mlid[mlid - LID_MULTICAST_FIRST] : NULL;
}

/* Creates a group with a free MLID and no members. -EEXIST; -ENOSPC: all MLIDs are taken; -ENOMEM.
 */
MUST_USE int multicast_groups_create(struct multicast_groups *groups, const struct gid *mgid,
				     const struct multicast_characteristics *characteristics,
				     struct multicast_group **ret_group);
/* Deletes the group and its members. */
void multicast_groups_delete(struct multicast_groups *groups, struct multicast_group *group);

/* A transient MGID of this scope with the subnet's prefix that no group has (management 4.7). */
struct gid multicast_groups_choose_mgid(struct multicast_groups *groups, uint8_t scope,
					uint64_t subnet_prefix);

struct multicast_member *multicast_group_member(const struct multicast_group *group,
						uint64_t port_guid);

/* Adds these bits to the port's JoinState. -ENOMEM. */
MUST_USE int multicast_group_join(struct multicast_group *group, uint64_t port_guid,
				  uint8_t join_state, struct multicast_member **ret_member);

/* Clears these bits of the JoinState and returns the remaining ones. A member without any is
 * removed. The caller checks multicast_group_is_alive() and deletes the group. */
uint8_t multicast_group_leave(struct multicast_group *group, struct multicast_member *member,
			      uint8_t join_state);

static inline bool multicast_group_is_alive(const struct multicast_group *group)
{
	return group->is_kept || group->keeping_count > 0;
}

static inline bool multicast_member_receives(const struct multicast_member *member)
{
	return member->join_state & JOIN_RECEIVES;
}

static inline struct multicast_member *multicast_member_of(struct list *link)
{
	return container_of(link, struct multicast_member, link);
}

static inline struct multicast_group *multicast_group_of(struct list *link)
{
	return container_of(link, struct multicast_group, link);
}

/* The MGID of the IPv4 broadcast group of a partition: FF1s:401B:PPPP::FFFF:FFFF (management 8.1).
 */
struct gid multicast_broadcast_mgid(uint8_t scope, uint16_t pkey);

#endif
