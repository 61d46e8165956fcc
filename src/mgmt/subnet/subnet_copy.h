/* SPDX-License-Identifier: Apache-2.0 */
/* A snapshot of a subnet, for readers that can't wait until a sweep ends. */
#ifndef SOFTIB_MGMT_SUBNET_SUBNET_COPY_H
#define SOFTIB_MGMT_SUBNET_SUBNET_COPY_H

#include "mgmt/subnet/subnet.h"

/* Copies nodes, ports, links, LIDs, P_Keys and forwarding tables of the nodes that the last sweep
 * found, without any pointer into the original. Partitions, multicast groups and saved LIDs are
 * left empty. NULL: no memory. */
struct subnet *subnet_copy(const struct subnet *subnet);
void subnet_copy_destroy(struct subnet *copy);

#endif
