/* SPDX-License-Identifier: Apache-2.0 */
/* The connection manager of one host: its engine and the QP1s of its ports. */
#ifndef SOFTIB_DAEMON_CM_CM_HOST_H
#define SOFTIB_DAEMON_CM_CM_HOST_H

#include <stdbool.h>
#include "base/attributes.h"
#include "daemon/cm/cm_objects.h"

MUST_USE int cm_host_create(struct cm_fabric *fabric, struct host *host, struct cm_host **ret_host);
void cm_host_destroy(struct cm_host *host);

/* Sends the MADs that are due. Returns whether there is more to do at once. */
bool cm_host_run(struct cm_host *host, time_ns now);

#endif
