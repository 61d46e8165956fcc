/* SPDX-License-Identifier: Apache-2.0 */
/* The commands of a program's command socket: one function per command. */
#include "daemon/cm/cm_commands.h"

#include <errno.h>
#include <string.h>
#include "daemon/cm/cm_address.h"
#include "daemon/cm/cm_alternates.h"
#include "daemon/cm/cm_binding.h"
#include "daemon/cm/cm_channel.h"
#include "daemon/cm/cm_connections.h"
#include "daemon/cm/cm_events.h"
#include "daemon/cm/cm_ids.h"
#include "daemon/cm/cm_multicast.h"
#include "daemon/cm/cm_routes.h"
#include "daemon/core/daemon_core.h"

static int run_open_channel(struct cm_program *program, struct cm_answer *ret_answer,
			    int *ret_descriptor)
{
	struct cm_channel *channel;
	int error = cm_channel_create(program, &channel, ret_descriptor);

	if (!error)
		ret_answer->number = channel->number;
	return error;
}

static int run_close_channel(struct cm_program *program, const struct cm_command *command)
{
	struct cm_channel *channel = cm_channel_find(program, command->channel);

	if (!channel)
		return -ENOENT;
	cm_channel_destroy(channel);
	return 0;
}

static int run_migrate(struct cm_program *program, const struct cm_command *command,
		       int given_descriptor)
{
	struct cm_id *id = cm_program_find_id(program, command->id);
	struct cm_channel *channel = cm_channel_find(program, command->channel);

	if (!id)
		return -ENOENT;
	if (!channel)
		return -EINVAL;
	return cm_id_migrate(id, channel, given_descriptor, command->value);
}

static int run_drop_events(struct cm_program *program, const struct cm_command *command,
			   int given_descriptor)
{
	struct cm_channel *channel = cm_channel_find(program, command->channel);

	if (!channel)
		return -EINVAL;
	/* Only for a destroyed id: dropping events of a live one would break its event count. */
	if (cm_program_find_id(program, command->id))
		return -EBUSY;
	return cm_channel_drop_events(channel, given_descriptor, command->id, cm_id_destroy);
}

static bool port_space_is_known(uint32_t port_space)
{
	return port_space == CM_PORT_SPACE_IPOIB || port_space == CM_PORT_SPACE_TCP ||
	       port_space == CM_PORT_SPACE_UDP || port_space == CM_PORT_SPACE_IB;
}

static int create_id(struct cm_program *program, const struct cm_command *command)
{
	struct cm_channel *channel = cm_channel_find(program, command->channel);
	struct cm_id *id;

	if (!channel || !command->id || command->id >= CM_ID_OF_SOFTIBD ||
	    !port_space_is_known(command->port_space) || command->new_qp_type > CM_QP_RD)
		return -EINVAL;
	return cm_id_create(program, channel, command->id, command->port_space,
			    (enum cm_qp_type)command->new_qp_type, &id);
}

static int run_find_host(struct cm_program *program, const struct cm_command *command,
			 struct cm_answer *ret_answer)
{
	const struct daemon_core *core = program->host->fabric->core;
	char name[CM_NAME_BYTES + 1] = {0};

	memcpy(name, command->name, CM_NAME_BYTES);

	const struct host *host = host_table_find(&core->hosts, name);

	if (!host || !host->adapter_count)
		return -ENOENT;

	const struct endpoint *endpoint = &host->adapters[0]->endpoints[1];

	cm_address_of(endpoint, CM_ADDRESS_IPV4, &ret_answer->route.source);
	cm_address_of(endpoint, CM_ADDRESS_IPV6, &ret_answer->route.destination);
	return 0;
}

static struct cm_private_data private_of(const struct cm_command *command)
{
	return (struct cm_private_data){command->private_data, command->private_byte_count};
}

static int run_destroy(struct cm_id *id, const struct cm_command *command,
		       struct cm_answer *ret_answer)
{
	(void)command;
	ret_answer->number = id->event_count;
	cm_id_destroy(id);
	return 0;
}

static int run_bind(struct cm_id *id, const struct cm_command *command,
		    struct cm_answer *ret_answer)
{
	int error = cm_bind(id, &command->source);

	ret_answer->route = id->route;
	return error;
}

static int run_resolve_address(struct cm_id *id, const struct cm_command *command,
			       struct cm_answer *ret_answer)
{
	int error = cm_resolve_address(id, &command->source, &command->destination,
				       command->timeout_ms);

	ret_answer->route = id->route;
	return error;
}

static int run_resolve_route(struct cm_id *id, const struct cm_command *command,
			     struct cm_answer *ret_answer)
{
	(void)ret_answer;
	return cm_resolve_route(id, command->timeout_ms);
}

static int run_set_path(struct cm_id *id, const struct cm_command *command,
			struct cm_answer *ret_answer)
{
	(void)ret_answer;
	return cm_set_path(id, &command->path);
}

static int run_connect(struct cm_id *id, const struct cm_command *command,
		       struct cm_answer *ret_answer)
{
	(void)ret_answer;
	if (command->parameters.qp_type > CM_QP_RD)
		return -EINVAL;
	return cm_id_connect(id, &command->parameters, private_of(command));
}

static int run_listen(struct cm_id *id, const struct cm_command *command,
		      struct cm_answer *ret_answer)
{
	int error = cm_start_listening(id, command->value);

	ret_answer->route = id->route;
	return error;
}

static int run_accept(struct cm_id *id, const struct cm_command *command,
		      struct cm_answer *ret_answer)
{
	(void)ret_answer;
	return cm_id_accept(id, &command->parameters, private_of(command));
}

static int run_establish(struct cm_id *id, const struct cm_command *command,
			 struct cm_answer *ret_answer)
{
	(void)command;
	(void)ret_answer;
	return cm_id_establish(id);
}

static int run_reject(struct cm_id *id, const struct cm_command *command,
		      struct cm_answer *ret_answer)
{
	(void)ret_answer;
	return cm_id_reject(id, command->value, private_of(command));
}

static int run_disconnect(struct cm_id *id, const struct cm_command *command,
			  struct cm_answer *ret_answer)
{
	(void)command;
	(void)ret_answer;
	return cm_id_disconnect(id);
}

static int run_notify(struct cm_id *id, const struct cm_command *command,
		      struct cm_answer *ret_answer)
{
	(void)command;
	(void)ret_answer;
	return cm_id_notify(id);
}

static int run_set_option(struct cm_id *id, const struct cm_command *command,
			  struct cm_answer *ret_answer)
{
	(void)ret_answer;
	switch ((enum cm_option)command->option) {
	case CM_OPTION_REUSE_ADDRESS:
		id->options.reuses_address = command->value != 0;
		return 0;
	case CM_OPTION_ONE_FAMILY:
		if (id->state != CM_ID_IDLE && id->state != CM_ID_BOUND)
			return -EINVAL;
		id->options.is_one_family = command->value != 0;
		return 0;
	case CM_OPTION_ACK_TIMEOUT:
		if (command->value > 31)
			return -EINVAL;
		id->options.ack_timeout = (uint8_t)command->value;
		return 0;
	case CM_OPTION_TOS:
		id->options.traffic_class = (uint8_t)command->value;
		return 0;
	}
	return -EINVAL;
}

static int run_join(struct cm_id *id, const struct cm_command *command,
		    struct cm_answer *ret_answer)
{
	(void)ret_answer;
	if (command->value > CM_JOIN_SEND_ONLY)
		return -EINVAL;
	return cm_group_join(id, &command->destination, (enum cm_join_kind)command->value,
			     command->token);
}

static int run_leave(struct cm_id *id, const struct cm_command *command,
		     struct cm_answer *ret_answer)
{
	(void)ret_answer;
	return cm_group_leave(id, command->token);
}

/* The program sends itself an event, which keeps its order among the others. */
static int run_write_event(struct cm_id *id, const struct cm_command *command,
			   struct cm_answer *ret_answer)
{
	struct cm_event_message event;

	(void)ret_answer;
	if (command->option < CM_PROGRAM_ADDRESSES_RESOLVED ||
	    command->option > CM_PROGRAM_INTERNAL)
		return -EINVAL;
	cm_id_event_init(id, (enum cm_program_event)command->option, (int)command->value, &event);
	event.argument = command->argument;
	cm_id_write(id, &event);
	return 0;
}

static int run_query(struct cm_id *id, const struct cm_command *command,
		     struct cm_answer *ret_answer)
{
	(void)command;
	ret_answer->route = id->route;
	return 0;
}

static struct gid gid_of(const struct cm_address *address)
{
	struct gid gid;

	memcpy(gid.bytes, address->bytes, sizeof(gid.bytes));
	return gid;
}

static int run_find_alternate(struct cm_id *id, const struct cm_command *command,
			      struct cm_answer *ret_answer)
{
	const struct gid sgid = gid_of(&command->source);
	const struct gid dgid = gid_of(&command->destination);

	(void)ret_answer;
	return cm_id_find_alternate(id, &sgid, &dgid);
}

static const struct id_command {
	enum cm_command_kind kind;
	int (*run)(struct cm_id *id, const struct cm_command *command,
		   struct cm_answer *ret_answer);
	enum cm_program_event failure; /* the event that reports failure of a posted command;
					  CM_PROGRAM_INTERNAL: none */
} id_commands[] = {
	{CM_DESTROY, run_destroy, CM_PROGRAM_INTERNAL},
	{CM_BIND, run_bind, CM_PROGRAM_INTERNAL},
	{CM_RESOLVE_ADDRESS, run_resolve_address, CM_PROGRAM_ADDRESS_ERROR},
	{CM_RESOLVE_ROUTE, run_resolve_route, CM_PROGRAM_ROUTE_ERROR},
	{CM_SET_PATH, run_set_path, CM_PROGRAM_ROUTE_ERROR},
	{CM_CONNECT, run_connect, CM_PROGRAM_CONNECT_ERROR},
	{CM_LISTEN, run_listen, CM_PROGRAM_INTERNAL},
	{CM_ACCEPT, run_accept, CM_PROGRAM_CONNECT_ERROR},
	{CM_ESTABLISH, run_establish, CM_PROGRAM_INTERNAL},
	{CM_REJECT, run_reject, CM_PROGRAM_INTERNAL},
	{CM_DISCONNECT, run_disconnect, CM_PROGRAM_INTERNAL},
	{CM_NOTIFY, run_notify, CM_PROGRAM_INTERNAL},
	{CM_SET_OPTION, run_set_option, CM_PROGRAM_INTERNAL},
	{CM_JOIN, run_join, CM_PROGRAM_MULTICAST_ERROR},
	{CM_LEAVE, run_leave, CM_PROGRAM_INTERNAL},
	{CM_QUERY, run_query, CM_PROGRAM_INTERNAL},
	{CM_WRITE_EVENT, run_write_event, CM_PROGRAM_INTERNAL},
	{CM_FIND_ALTERNATE, run_find_alternate, CM_PROGRAM_ALTERNATE_PATH},
};

static const struct id_command *find_command(uint32_t kind)
{
	for (unsigned index = 0; index < ARRAY_COUNT(id_commands); index++) {
		if (id_commands[index].kind == kind)
			return &id_commands[index];
	}
	return NULL;
}

int cm_command_run(struct cm_program *program, const struct cm_command *command,
		   int given_descriptor, struct cm_answer *ret_answer, int *ret_descriptor)
{
	if (command->kind == CM_OPEN_CHANNEL)
		return run_open_channel(program, ret_answer, ret_descriptor);
	if (command->kind == CM_CLOSE_CHANNEL)
		return run_close_channel(program, command);
	if (command->kind == CM_FIND_HOST)
		return run_find_host(program, command, ret_answer);
	if (command->kind == CM_MIGRATE)
		return run_migrate(program, command, given_descriptor);
	if (command->kind == CM_DROP_EVENTS)
		return run_drop_events(program, command, given_descriptor);

	const struct id_command *known = find_command(command->kind);
	int error = known ? 0 : -EINVAL;

	if (!error && command->is_new)
		error = create_id(program, command);
	if (error)
		return error;

	struct cm_id *id = cm_program_find_id(program, command->id);

	if (!id)
		return -ENOENT;
	ret_answer->is_id_known = 1;
	return known->run(id, command, ret_answer);
}

void cm_command_failed(struct cm_program *program, const struct cm_command *command, int error)
{
	const struct id_command *known = find_command(command->kind);
	struct cm_id *id = cm_program_find_id(program, command->id);
	struct cm_channel *channel = cm_channel_find(program, command->channel);

	if (!known || known->failure == CM_PROGRAM_INTERNAL)
		return;
	if (id) {
		cm_id_tell(id, known->failure, error);
	} else if (command->is_new && channel) {
		/* The id could not be created, but the program knows its number. */
		const struct cm_event_message event = {.kind = known->failure,
						       .id = command->id,
						       .status = error,
						       .port_space = command->port_space,
						       .quiet_until = TIME_NEVER};

		cm_channel_write(channel, &event);
	}
}
