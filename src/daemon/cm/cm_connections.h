/* SPDX-License-Identifier: Apache-2.0 */
/* Connections of programs: connect, accept, reject, disconnect. */
#ifndef SOFTIB_DAEMON_CM_CM_CONNECTIONS_H
#define SOFTIB_DAEMON_CM_CM_CONNECTIONS_H

#include "base/attributes.h"
#include "daemon/cm/cm_objects.h"

/* -EINVAL: wrong state of the id, or too much private data. */
MUST_USE int cm_id_connect(struct cm_id *id, const struct cm_parameters *parameters,
			   struct cm_private_data private_data);
MUST_USE int cm_id_accept(struct cm_id *id, const struct cm_parameters *parameters,
			  struct cm_private_data private_data);
MUST_USE int cm_id_establish(struct cm_id *id);
/* Reason 0 means "consumer reject". */
MUST_USE int cm_id_reject(struct cm_id *id, uint32_t reason, struct cm_private_data private_data);
MUST_USE int cm_id_disconnect(struct cm_id *id);
MUST_USE int cm_id_notify(struct cm_id *id);

#endif
