/* SPDX-License-Identifier: Apache-2.0 */
/* The events that a program gets about an id. */
#ifndef SOFTIB_DAEMON_CM_CM_EVENTS_H
#define SOFTIB_DAEMON_CM_CM_EVENTS_H

#include "daemon/cm/cm_objects.h"

/* Starts an event about an id with the id's route and terms. */
void cm_id_event_init(const struct cm_id *id, enum cm_program_event kind, int status,
		      struct cm_event_message *ret_event);
void cm_id_write(struct cm_id *id, const struct cm_event_message *event);
/* Both at once, for events with nothing to add. */
void cm_id_tell(struct cm_id *id, enum cm_program_event kind, int status);
/* An event with the parameters, if any, and the private data of a message. */
void cm_id_tell_message(struct cm_id *id, enum cm_program_event kind, int status,
			const struct cm_parameters *parameters,
			struct cm_private_data private_data);

#endif
