/* SPDX-License-Identifier: Apache-2.0 */
/* Binding ids to addresses and ports, and listening there. */
#ifndef SOFTIB_DAEMON_CM_CM_BINDING_H
#define SOFTIB_DAEMON_CM_CM_BINDING_H

#include "base/attributes.h"
#include "daemon/cm/cm_objects.h"

/* -EINVAL: the id is bound already; -EADDRNOTAVAIL: not an address of the host; -EADDRINUSE;
 * -ENOMEM. */
MUST_USE int cm_bind(struct cm_id *id, const struct cm_address *address);
void cm_unbind(struct cm_id *id);
/* -EINVAL, -EADDRINUSE, -ENOMEM. */
MUST_USE int cm_start_listening(struct cm_id *id, uint32_t backlog);

/* The listener for a request to this address that arrived at this port; NULL: none. A request
 * without an address is for any listener. */
struct cm_id *cm_service_listener(const struct cm_service *service, const struct cm_port *port,
				  const struct cm_address *destination);
/* A request stops counting against its listener's backlog. */
void cm_id_leave_backlog(struct cm_id *id);

#endif
