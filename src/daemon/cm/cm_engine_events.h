/* SPDX-License-Identifier: Apache-2.0 */
/* Events of the connection engine, passed on to programs. */
#ifndef SOFTIB_DAEMON_CM_CM_ENGINE_EVENTS_H
#define SOFTIB_DAEMON_CM_CM_ENGINE_EVENTS_H

#include "daemon/cm/cm_objects.h"

/* The engine's callback; the context is the host. */
void cm_connection_event(void *context, struct cm_connection *connection,
			 const struct cm_event *event);

#endif
