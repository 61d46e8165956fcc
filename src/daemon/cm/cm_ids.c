/* SPDX-License-Identifier: Apache-2.0 */
/* Communication ids of programs: making them, their events, their end. */
#include "daemon/cm/cm_ids.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "daemon/cm/cm_alternates.h"
#include "daemon/cm/cm_binding.h"
#include "daemon/cm/cm_multicast.h"
#include "daemon/cm/cm_routes.h"
#include "wire/cm_ip_header.h"
#include "wire/ipoib.h"

enum { IDS_MAX = 1 << 18, QKEY_DATAGRAMS = 0x01234567 };

static uint32_t next_number(struct cm_program *program)
{
	uint32_t number;

	do {
		number = ++program->last_id | CM_ID_OF_SOFTIBD;
	} while (hash_table_get(&program->ids, number));
	return number;
}

int cm_id_create(struct cm_program *program, struct cm_channel *channel, uint32_t number,
		 uint32_t port_space, enum cm_qp_type qp_type, struct cm_id **ret_id)
{
	if (number && hash_table_get(&program->ids, number))
		return -EEXIST;

	struct cm_id *id = program->ids.count < IDS_MAX ? calloc(1, sizeof(*id)) : NULL;

	if (!id)
		return program->ids.count < IDS_MAX ? -ENOMEM : -EMFILE;
	id->program = program;
	id->channel = channel;
	id->port_space = port_space;
	id->qp_type = qp_type;
	id->send_psn = (uint32_t)random_next(&program->host->random) & 0xffffff;
	id->route.qkey = port_space == CM_PORT_SPACE_IPOIB ? IPOIB_QKEY_USUAL : QKEY_DATAGRAMS;
	list_init(&id->service_link);
	list_init(&id->listener_link);
	list_init(&id->requests);
	list_init(&id->resolving_link);
	list_init(&id->groups);
	id->number = number ? number : next_number(program);
	if (hash_table_put(&program->ids, id->number, id) != 0) {
		free(id);
		return -ENOMEM;
	}
	*ret_id = id;
	return 0;
}

void cm_id_leave_backlog(struct cm_id *id)
{
	if (!id->listener)
		return;
	id->listener->waiting_count--;
	id->listener = NULL;
	list_remove(&id->listener_link);
}

/* Requests that nobody answers any more: whoever would have is gone. */
static void refuse_requests(struct cm_id *listener)
{
	for (struct list *link; (link = list_first(&listener->requests));) {
		struct cm_id *request = container_of(link, struct cm_id, listener_link);

		cm_id_leave_backlog(request);
	}
}

void cm_id_destroy(struct cm_id *id)
{
	struct cm_host *host = id->program->host;

	cm_routes_forget(id);
	cm_alternate_forget(id);
	cm_groups_leave_all(id);
	refuse_requests(id);
	cm_id_leave_backlog(id);
	if (id->connection) {
		cm_release(id->connection, cm_host_now(host));
		cm_host_wake(host);
	}
	cm_unbind(id);
	hash_table_remove(&id->program->ids, id->number);
	free(id);
}

void cm_ids_leave_channel(struct cm_channel *channel)
{
	const struct hash_table *ids = &channel->program->ids;

	for (uint32_t index = 0; index < ids->capacity; index++) {
		struct cm_id *id = ids->entries[index].value;

		if (id && id->channel == channel)
			id->channel = NULL;
	}
}

/* What is under way may end at any time, and a connection may be ended by the peer. */
static time_ns quiet_until(const struct cm_id *id)
{
	switch (id->state) {
	case CM_ID_IDLE:
	case CM_ID_BOUND:
	case CM_ID_ADDRESS_RESOLVED:
	case CM_ID_ROUTE_RESOLVED:
		return list_is_empty(&id->groups) ? TIME_NEVER : 0;
	case CM_ID_DISCONNECTED:
		/* The end of timewait is the next, and it has not begun before now. */
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

int cm_id_migrate(struct cm_id *id, struct cm_channel *channel, int peer_socket,
		  uint32_t read_count)
{
	struct cm_channel *old = id->channel;

	if (old && old != channel && id->event_count != read_count) {
		int error = cm_channel_move_events(old, peer_socket, id->number, channel);

		if (error)
			return error;
	}
	id->channel = channel;
	return 0;
}

void cm_id_tell(struct cm_id *id, enum cm_program_event kind, int status)
{
	struct cm_event_message event;

	cm_id_event_init(id, kind, status, &event);
	cm_id_write(id, &event);
}

void cm_id_use_port(struct cm_id *id, struct cm_port *port)
{
	struct cm_route *route = &id->route;

	id->port = port;
	route->sgid = cm_port_gid(port);
	route->pkey = cm_port_pkey(port);
	route->adapter_index = (uint8_t)port->endpoint->adapter->index;
	route->port_number = (uint8_t)port->endpoint->port->number;
	if (!cm_port_pkey_index(port, route->pkey, &route->pkey_index))
		route->pkey_index = 0;
}
