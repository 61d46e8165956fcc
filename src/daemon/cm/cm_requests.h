/* SPDX-License-Identifier: Apache-2.0 */
/* A peer calls: the listener that takes the request, and the new id that its program gets. */
#ifndef SOFTIB_DAEMON_CM_CM_REQUESTS_H
#define SOFTIB_DAEMON_CM_CM_REQUESTS_H

#include "daemon/cm/cm_objects.h"

/* A REQ. */
void cm_connection_request(struct cm_host *host, struct cm_connection *connection,
			   const struct cm_event *event);
/* A SIDR_REQ. */
void cm_datagram_request(struct cm_host *host, struct cm_connection *connection,
			 const struct cm_event *event);

#endif
