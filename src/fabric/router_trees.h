/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The router ports by which a multicast group goes from subnet to subnet. They form a tree, so that
 * every subnet gets each packet once although routers may form circles (vol 1, chapter 19 leaves
 * the protocol to routers).
 */
#ifndef SOFTIB_FABRIC_ROUTER_TREES_H
#define SOFTIB_FABRIC_ROUTER_TREES_H

#include <stdint.h>
#include "base/attributes.h"

struct fabric;
struct port;

struct router_tree {
	struct port **ports;
	uint32_t port_count;
};

/* Covers all subnets that have routers now; every group uses this tree. -ENOMEM. */
MUST_USE int router_tree_make(struct fabric *fabric, struct router_tree *ret_tree);
void router_tree_release(struct router_tree *tree);

#endif
