/* SPDX-License-Identifier: Apache-2.0 */
/* Which subnet each port is in. Cables and switches join ports to a subnet, routers do not. */
#ifndef SOFTIB_FABRIC_TOPOLOGY_SUBNETS_H
#define SOFTIB_FABRIC_TOPOLOGY_SUBNETS_H

#include <stdint.h>
#include "base/attributes.h"

struct fabric;
struct port;

/* The prefix of the subnet with this index when there are several; a single subnet is
 * link-local. */
#define SUBNET_PREFIX(index) (UINT64_C(0xfec0000000000000) + 1 + (index))

struct subnet_map {
	uint32_t subnet_count;
	struct port **first_ports; /* by subnet: the first adapter port with a cable, where a
				      manager can run; NULL: a subnet without adapters */
	uint32_t *node_subnets;	   /* by node index: switches and adapters. An adapter in several
				      subnets has the subnet of its first port with a cable. */
};

/* Subnets are numbered in the order of their first nodes in the fabric. -ENOMEM. */
MUST_USE int subnet_map_make(const struct fabric *fabric, struct subnet_map *ret_map);
void subnet_map_release(struct subnet_map *map);

#endif
