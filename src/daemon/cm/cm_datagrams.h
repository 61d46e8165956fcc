/* SPDX-License-Identifier: Apache-2.0 */
/* Datagram services: service id resolution (SIDR) instead of a connection. */
#ifndef SOFTIB_DAEMON_CM_CM_DATAGRAMS_H
#define SOFTIB_DAEMON_CM_CM_DATAGRAMS_H

#include "base/attributes.h"
#include "daemon/cm/cm_objects.h"

/* Sends a SIDR_REQ. */
MUST_USE int cm_id_resolve_service(struct cm_id *id, struct cm_private_data private_data);
/* Sends a SIDR_REP. NULL parameters: the service is refused. */
MUST_USE int cm_id_answer_service(struct cm_id *id, const struct cm_parameters *parameters,
				  enum cm_sidr_status status, struct cm_private_data private_data);
/* A SIDR_REP arrived. */
void cm_datagram_reply(struct cm_id *id, const struct cm_event *event);

#endif
