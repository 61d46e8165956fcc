/* SPDX-License-Identifier: Apache-2.0 */
/* Multicast groups that programs join through connection management. */
#ifndef SOFTIB_DAEMON_CM_CM_MULTICAST_H
#define SOFTIB_DAEMON_CM_CM_MULTICAST_H

#include "base/attributes.h"
#include "daemon/cm/cm_objects.h"

/* The group that an id means by an address. */
struct gid cm_group_address(const struct cm_id *id, const struct cm_address *address);

enum cm_join_kind { CM_JOIN_FULL, CM_JOIN_SEND_ONLY };

/* The event says what came of it; the token names the membership. */
MUST_USE int cm_group_join(struct cm_id *id, const struct cm_address *address,
			   enum cm_join_kind kind, uint32_t token);
/* -EADDRNOTAVAIL: no such membership. */
MUST_USE int cm_group_leave(struct cm_id *id, uint32_t token);
void cm_groups_leave_all(struct cm_id *id);

/* The SA's answer about a group of a port. */
struct cm_group;
struct sa_client_result;
void cm_group_answered(struct cm_group *group, const struct sa_client_result *result);
/* The manager asks for all memberships again. */
void cm_groups_rejoin(struct cm_port *port);
/* The port goes: its programs are gone already. */
void cm_groups_forget(struct cm_port *port);

#endif
