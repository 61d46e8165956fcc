/* SPDX-License-Identifier: Apache-2.0 */
/* QP1 of the routers' ports, as clients of their subnets' SAs. */
#include "daemon/managers/router_ports.h"

#include <errno.h>
#include <stdlib.h>
#include "fabric/fabric.h"
#include "net/router/routing.h"
#include "wire/sa_mad.h"

enum { MADS_PER_TURN = 64 };

static void receive(struct mad_client *client, const struct mad_message *message, time_ns now)
{
	group_client_receive(&container_of(client, struct router_port, client)->groups, now,
			     message);
}

static int open_port(struct router_ports *ports, struct port *port)
{
	struct router_port *made = &ports->ports[ports->count];
	struct mad_registration *registration = &made->client.registrations[0];
	int error;

	*made = (struct router_port){
		.port = port, .endpoint.port = port, .client = {.port = port, .receive = receive}};
	list_init(&made->endpoint.changed_link);
	list_init(&made->endpoint.blocked_link);
	list_init(&made->endpoint.mad_clients);
	registration->management_class = MAD_CLASS_SUBNET_ADMINISTRATION;
	registration->class_version = SA_CLASS_VERSION;
	mad_registration_add_method(registration, MAD_REPORT);
	made->client.registration_count = 1;
	port->endpoint = &made->endpoint;
	error = mad_client_add(ports->dispatch, &made->client);
	if (!error) {
		error = group_client_init(&made->groups, made->client.agent_number);
		if (error)
			mad_client_remove(ports->dispatch, &made->client);
	}
	if (error)
		port->endpoint = NULL;
	else
		ports->count++;
	return error;
}

int router_ports_open(struct router_ports *ports, struct mad_dispatch *dispatch)
{
	const struct fabric *fabric = dispatch->fabric;
	size_t count = 0;
	int error = 0;

	*ports = (struct router_ports){.dispatch = dispatch};
	for (uint32_t index = 0; index < fabric->routers.count; index++)
		count += fabric->routers.nodes[index]->port_count;
	if (!count)
		return 0;
	ports->ports = calloc(count, sizeof(*ports->ports));
	if (!ports->ports)
		return -ENOMEM;
	for (uint32_t index = 0; index < fabric->routers.count; index++) {
		struct node *router = fabric->routers.nodes[index];

		for (unsigned number = 1; number <= router->port_count && !error; number++)
			error = open_port(ports, &router->ports[number]);
	}
	if (error)
		router_ports_close(ports);
	return error;
}

void router_ports_close(struct router_ports *ports)
{
	for (uint32_t index = 0; index < ports->count; index++) {
		struct router_port *port = &ports->ports[index];

		mad_client_remove(ports->dispatch, &port->client);
		group_client_release(&port->groups);
		port->port->endpoint = NULL;
	}
	free(ports->ports);
	*ports = (struct router_ports){0};
}

static void refresh(struct router_port *port)
{
	struct port_info *info = &port->port->info;
	const struct group_port now = {
		.is_active = port_is_active(port->port) && gid_prefix_is_routable(info->gid_prefix),
		.gid = gid_from(info->gid_prefix, port->port->guid),
		.lid = info->lid,
		.sm_lid = info->master_sm_lid,
		.sm_sl = info->master_sm_sl,
		.pkey = mad_port_pkey(port->port),
	};

	group_client_set_port(&port->groups, &now);
	/* ClientReregister is a request, not a state. */
	if (info->client_reregister)
		group_client_restart(&port->groups);
	info->client_reregister = 0;
}

void router_ports_refresh(struct router_ports *ports)
{
	for (uint32_t index = 0; index < ports->count; index++)
		refresh(&ports->ports[index]);
}

static bool run(struct router_ports *ports, struct router_port *port, time_ns now)
{
	unsigned sent_count = 0;

	while (sent_count < MADS_PER_TURN) {
		if (!port->has_unsent &&
		    group_client_transmit(&port->groups, now, 1, &port->unsent) == 0)
			break;
		port->has_unsent =
			!mad_client_send(ports->dispatch, &port->client, &port->unsent, now);
		if (port->has_unsent)
			break;
		sent_count++;
	}
	return sent_count > 0;
}

bool router_ports_run(struct router_ports *ports, time_ns now)
{
	bool is_busy = false;

	for (uint32_t index = 0; index < ports->count; index++)
		is_busy |= run(ports, &ports->ports[index], now);
	return is_busy;
}

time_ns router_ports_deadline(const struct router_ports *ports)
{
	time_ns deadline = TIME_NEVER;

	for (uint32_t index = 0; index < ports->count; index++) {
		const struct router_port *port = &ports->ports[index];

		deadline = time_earlier(
			deadline, port->has_unsent ? 0 : group_client_deadline(&port->groups));
	}
	return deadline;
}
