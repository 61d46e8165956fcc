/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The spanning tree of a multicast group over the switches that connect its members (vol 1,
 * chapters 14 and 15).
 *
 * A tree uses switches that have a multicast table with room for the group's MLID, and links that
 * carry its MTU and rate. Where links changed after members joined and no such tree connects them
 * all, it uses the other links too: packets that are small enough still arrive.
 */
#ifndef SOFTIB_MGMT_SUBNET_MULTICAST_TREE_H
#define SOFTIB_MGMT_SUBNET_MULTICAST_TREE_H

#include <stdbool.h>
#include <stdint.h>
#include "base/attributes.h"
#include "mgmt/subnet/subnet.h"

enum { MULTICAST_POSITIONS_MAX = 16 };

/* What a tree has to carry. */
struct multicast_demand {
	uint16_t mlid;
	uint8_t mtu;  /* a code; 0: any */
	uint8_t rate; /* a code; 0: any */
};

/* The room in which one tree after the other is made; all by switch index. */
struct multicast_tree {
	uint32_t switch_count;
	struct subnet_node **switches;
	uint32_t *distance;	 /* from where the last search began */
	struct subnet_port **up; /* the port towards there */
	uint32_t *queue;
	bool *is_on_tree;
	uint16_t (*masks)[MULTICAST_POSITIONS_MAX]; /* the ports of the tree that was made last */
};

/* For the switches that have their index already. -ENOMEM. */
MUST_USE int multicast_tree_init(struct multicast_tree *tree, const struct subnet *subnet);
void multicast_tree_release(struct multicast_tree *tree);

/* The tree of this group; NULL: empty masks. false: it uses links that do not carry the group's MTU
 * or rate, or there are members to whom no tree leads. */
bool multicast_tree_make(struct multicast_tree *tree, const struct subnet *subnet,
			 const struct multicast_group *group);

/* Whether a tree that meets the demand leads from this end port to every member that is there.
 * group NULL: the port would be the first. */
MUST_USE bool multicast_tree_can_include(struct multicast_tree *tree, const struct subnet *subnet,
					 const struct multicast_group *group,
					 const struct subnet_port *joiner,
					 const struct multicast_demand *demand);

#endif
