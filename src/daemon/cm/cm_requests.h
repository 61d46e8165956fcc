/* SPDX-License-Identifier: Apache-2.0 */
/* Requests of peers: finding the listener, and making the new id that its program gets. */
#ifndef SOFTIB_DAEMON_CM_CM_REQUESTS_H
#define SOFTIB_DAEMON_CM_CM_REQUESTS_H

#include "daemon/cm/cm_objects.h"

/* A REQ arrived. */
void cm_connection_request(struct cm_host *host, struct cm_connection *connection,
			   const struct cm_event *event);
/* A SIDR_REQ arrived. */
void cm_datagram_request(struct cm_host *host, struct cm_connection *connection,
			 const struct cm_event *event);

#endif
