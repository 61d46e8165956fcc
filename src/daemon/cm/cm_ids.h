/* SPDX-License-Identifier: Apache-2.0 */
/* Communication ids of programs (struct rdma_cm_id): making them, moving them, their end. */
#ifndef SOFTIB_DAEMON_CM_CM_IDS_H
#define SOFTIB_DAEMON_CM_CM_IDS_H

#include <stdint.h>
#include "base/attributes.h"
#include "daemon/cm/cm_objects.h"

/* Number 0: softibd chooses one. -EEXIST: the program has an id of this number; -ENOMEM, -EMFILE.
 */
MUST_USE int cm_id_create(struct cm_program *program, struct cm_channel *channel, uint32_t number,
			  uint32_t port_space, enum cm_qp_type qp_type, struct cm_id **ret_id);
/* Cancels the id's outstanding operations and frees it. */
void cm_id_destroy(struct cm_id *id);

/* Moves the id to another channel, with the events that the program has not read yet. read_count:
 * how many it has read; peer_socket: as for cm_channel_move_events(). */
MUST_USE int cm_id_migrate(struct cm_id *id, struct cm_channel *channel, int peer_socket,
			   uint32_t read_count);

#endif
