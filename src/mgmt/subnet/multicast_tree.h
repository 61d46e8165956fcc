/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The spanning tree of a multicast group over the switches that connect its members (management
 * 3.4).
 *
 * A tree uses switches that have a multicast forwarding table with room for the group's MLID, and
 * links that carry its MTU and rate. If links changed after members joined, and no such tree
 * connects all members, the tree uses other links too: small packets still arrive.
 */
#ifndef SOFTIB_MGMT_SUBNET_MULTICAST_TREE_H
#define SOFTIB_MGMT_SUBNET_MULTICAST_TREE_H

#include <stdbool.h>
#include <stdint.h>
#include "base/attributes.h"
#include "mgmt/subnet/subnet.h"

enum { MULTICAST_POSITIONS_MAX = 16 };

/* The requirements on the links of a tree. */
struct multicast_demand {
	uint16_t mlid;
	uint8_t mtu;  /* a code; 0: any */
	uint8_t rate; /* a code; 0: any */
};

/* Work space for one tree after the other. All arrays are indexed by switch. */
struct multicast_tree {
	uint32_t switch_count;
	struct subnet_node **switches;
	uint32_t *distance;	 /* from the start of the last search */
	struct subnet_port **up; /* the port towards the start */
	uint32_t *queue;
	bool *is_on_tree;
	uint16_t (*masks)[MULTICAST_POSITIONS_MAX]; /* the ports of the last tree */
};

/* The switches have their index already. -ENOMEM. */
MUST_USE int multicast_tree_init(struct multicast_tree *tree, const struct subnet *subnet);
void multicast_tree_release(struct multicast_tree *tree);

/* Makes the tree of this group. NULL: empty masks. false: the tree uses links that do not carry the
 * group's MTU or rate, or does not reach some members. */
bool multicast_tree_make(struct multicast_tree *tree, const struct subnet *subnet,
			 const struct multicast_group *group);

/* Whether a tree that meets the demand leads from this end port to every present member. group
 * NULL: the port is the first member. */
MUST_USE bool multicast_tree_can_include(struct multicast_tree *tree, const struct subnet *subnet,
					 const struct multicast_group *group,
					 const struct subnet_port *joiner,
					 const struct multicast_demand *demand);

#endif
