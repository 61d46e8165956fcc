/* SPDX-License-Identifier: Apache-2.0 */
/* A subnet as it is at one moment, for readers who can't wait until a sweep is over. */
#ifndef SOFTIB_MGMT_SUBNET_SUBNET_COPY_H
#define SOFTIB_MGMT_SUBNET_SUBNET_COPY_H

#include "mgmt/subnet/subnet.h"

/*
 * Nodes, ports, links, LIDs, P_Keys and forwarding tables of the nodes that the last sweep met,
 * with no pointer into the original. Partitions, multicast groups and remembered LIDs are left
 * empty. NULL without memory.
 */
struct subnet *subnet_copy(const struct subnet *subnet);
void subnet_copy_destroy(struct subnet *copy);

#endif
