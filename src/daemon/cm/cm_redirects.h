/* SPDX-License-Identifier: Apache-2.0 */
/* Calls of programs that a peer redirects to another port or connection manager (management 7.1).
 */
#ifndef SOFTIB_DAEMON_CM_CM_REDIRECTS_H
#define SOFTIB_DAEMON_CM_CM_REDIRECTS_H

#include "base/attributes.h"
#include "daemon/cm/cm_objects.h"

/* Asks the SA for a path to the place that a REJ or SIDR_REP names. false: it names none, or none
 * that this port can reach; the program gets the rejection. */
MUST_USE bool cm_redirect_follow(struct cm_id *id, const struct cm_event *event);
void cm_redirect_path_found(struct cm_id *id, const struct sa_client_result *result);
/* Cancels an outstanding request. */
void cm_redirect_forget(struct cm_id *id);

#endif
