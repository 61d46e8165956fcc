/* SPDX-License-Identifier: Apache-2.0 */
/* From an address to a port of the fabric, and from there to a path. */
#ifndef SOFTIB_DAEMON_CM_CM_ROUTES_H
#define SOFTIB_DAEMON_CM_CM_ROUTES_H

#include "base/attributes.h"
#include "daemon/cm/cm_objects.h"

/* An event reports the outcome. -EINVAL: wrong state of the id; -ENETUNREACH: no such network. */
MUST_USE int cm_resolve_address(struct cm_id *id, const struct cm_address *source,
				const struct cm_address *destination, uint32_t timeout_ms);
MUST_USE int cm_resolve_route(struct cm_id *id, uint32_t timeout_ms);
/* Uses a path that the program found itself. */
MUST_USE int cm_set_path(struct cm_id *id, const struct path_record *path);
/* Outcomes of the requests above. */
void cm_address_found(struct cm_id *id, const struct gid *dgid, uint16_t pkey);
void cm_address_not_found(struct cm_id *id);
void cm_path_found(struct cm_id *id, const struct sa_client_result *result);
/* Cancels outstanding requests. */
void cm_routes_forget(struct cm_id *id);

#endif
