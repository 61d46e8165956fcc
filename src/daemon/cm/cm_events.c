/* SPDX-License-Identifier: Apache-2.0 */
/* The events that a program gets about an id. */
#include "daemon/cm/cm_events.h"

#include <stddef.h>
#include <string.h>
#include "daemon/cm/cm_channel.h"
#include "daemon/cm/cm_port.h"

/* Until when no event about the id can come. 0: one may come at any time, because an operation is
 * outstanding or the peer may end the connection. */
static time_ns quiet_until(const struct cm_id *id)
{
	switch (id->state) {
	case CM_ID_IDLE:
	case CM_ID_BOUND:
	case CM_ID_ADDRESS_RESOLVED:
	case CM_ID_ROUTE_RESOLVED:
		return list_is_empty(&id->groups) ? TIME_NEVER : 0;
	case CM_ID_DISCONNECTED:
		/* The next event is the end of timewait, which starts now at the earliest. */
		return id->connection ? cm_host_now(id->program->host) +
						cm_connection_timewait(id->connection)
				      : TIME_NEVER;
	case CM_ID_RESOLVING_ADDRESS:
	case CM_ID_RESOLVING_ROUTE:
	case CM_ID_CONNECTING:
	case CM_ID_CONNECTED:
	case CM_ID_LISTENING:
		break;
	}
	return 0;
}

void cm_id_event_init(const struct cm_id *id, enum cm_program_event kind, int status,
		      struct cm_event_message *ret_event)
{
	memset(ret_event, 0, offsetof(struct cm_event_message, private_data));
	ret_event->kind = kind;
	ret_event->id = id->number;
	ret_event->status = status;
	ret_event->port_space = id->port_space;
	ret_event->quiet_until = quiet_until(id);
	ret_event->route = id->route;
	ret_event->terms = id->terms;
}

void cm_id_write(struct cm_id *id, const struct cm_event_message *event)
{
	if (!id->channel)
		return;
	id->event_count++;
	cm_channel_write(id->channel, event);
}

void cm_id_tell(struct cm_id *id, enum cm_program_event kind, int status)
{
	struct cm_event_message event;

	cm_id_event_init(id, kind, status, &event);
	cm_id_write(id, &event);
}

void cm_id_tell_message(struct cm_id *id, enum cm_program_event kind, int status,
			const struct cm_parameters *parameters, struct cm_private_data private_data)
{
	struct cm_event_message event;

	cm_id_event_init(id, kind, status, &event);
	if (parameters)
		event.parameters = *parameters;
	assert(private_data.byte_count <= sizeof(event.private_data));
	event.private_byte_count = (uint32_t)private_data.byte_count;
	if (private_data.byte_count)
		memcpy(event.private_data, private_data.bytes, private_data.byte_count);
	cm_id_write(id, &event);
}
