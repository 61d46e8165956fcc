/* SPDX-License-Identifier: Apache-2.0 */
/* The partitions of an IPoIB port: which there are, and joining the broadcast group of each. */
#ifndef SOFTIB_DAEMON_CM_IPOIB_PARTITIONS_H
#define SOFTIB_DAEMON_CM_IPOIB_PARTITIONS_H

#include <stdbool.h>
#include <stdint.h>
#include "base/time.h"
#include "daemon/cm/cm_objects.h"

/* The port in the partition of this P_Key; NULL: it is not in it. */
struct ipoib_partition *ipoib_partition_find(struct ipoib_port *ip, uint16_t pkey);

/* Reads the P_Key table if it changed, and joins the next broadcast group that is due. */
void ipoib_partitions_run(struct ipoib_port *ip, time_ns now);
/* The SA's answer to a join. Returns whether a partition is joined now. */
bool ipoib_partitions_joined(struct ipoib_port *ip, const struct sa_client_result *result,
			     time_ns now);
/* ClientReregister: joins all groups again. */
void ipoib_partitions_restart(struct ipoib_port *ip);
/* Time of the next join; while one is outstanding there is none. Sets *ret_is_joined if the
 * port has joined any of its groups. */
time_ns ipoib_partitions_deadline(const struct ipoib_port *ip, bool *ret_is_joined);

#endif
