/* SPDX-License-Identifier: Apache-2.0 */
/* Multicast groups that programs join through connection management. */
#ifndef SOFTIB_DAEMON_CM_CM_MULTICAST_H
#define SOFTIB_DAEMON_CM_CM_MULTICAST_H

#include "base/attributes.h"
#include "daemon/cm/cm_objects.h"

/* The MGID of an address, for this id. */
struct gid cm_group_address(const struct cm_id *id, const struct cm_address *address);

enum cm_join_kind { CM_JOIN_FULL, CM_JOIN_SEND_ONLY };

/* An event reports the outcome; the token names the membership. */
MUST_USE int cm_group_join(struct cm_id *id, const struct cm_address *address,
			   enum cm_join_kind kind, uint32_t token);
/* -EADDRNOTAVAIL: no such membership. */
MUST_USE int cm_group_leave(struct cm_id *id, uint32_t token);
void cm_groups_leave_all(struct cm_id *id);

/* The SA's answer to a port's join. */
struct cm_group;
struct sa_client_result;
void cm_group_answered(struct cm_group *group, const struct sa_client_result *result);
/* ClientReregister: joins all groups again. */
void cm_groups_rejoin(struct cm_port *port);
/* Frees the groups of a port that is released. Its programs are gone already. */
void cm_groups_forget(struct cm_port *port);

#endif
