/* SPDX-License-Identifier: Apache-2.0 */
/* The connection manager of one host: its engine and the QP1s of its ports. */
#include "daemon/cm/cm_host.h"

#include <errno.h>
#include <stdlib.h>
#include "daemon/cm/cm_alternates.h"
#include "daemon/cm/cm_engine_events.h"
#include "daemon/cm/cm_multicast.h"
#include "daemon/cm/cm_port.h"
#include "daemon/cm/cm_redirects.h"
#include "daemon/cm/cm_routes.h"
#include "daemon/cm/ipoib_port.h"
#include "daemon/core/daemon_core.h"
#include "net/node/node.h"

enum { MESSAGES_PER_TURN = 256, SA_WINDOW = 8 };

/* Requests to a closed service wait this long, in case the program opens it again. */
#define CLOSED_SERVICE_GRACE SECONDS(2)

static void receive(struct mad_client *client, const struct mad_message *message, time_ns now)
{
	struct cm_port *port = container_of(client, struct cm_port, client);
	const struct cm_message arrived = {.port_index = port->index, .mad = *message};

	if (message->bytes[1] == MAD_CLASS_COMMUNICATION)
		cm_receive(port->host->cm, now, &arrived);
	else
		sa_client_receive(&port->sa, now, message);
	cm_host_wake(port->host);
}

static int open_port(struct cm_port *port)
{
	struct mad_registration *registration = &port->client.registrations[0];

	port->client.port = port->endpoint->port;
	port->client.receive = receive;
	port->client.registration_count = 1;
	*registration = (struct mad_registration){.management_class = MAD_CLASS_COMMUNICATION,
						  .class_version = CM_CLASS_VERSION};
	mad_registration_add_method(registration, MAD_SEND);

	int error = mad_client_add(port->host->fabric->mads, &port->client);

	if (error) {
		port->client.agent_number = 0;
		return error;
	}

	const struct sa_client_options options = {.agent_number = port->client.agent_number,
						  .requests_max = SA_WINDOW};

	return sa_client_init(&port->sa, &options);
}

static int open_ports(struct cm_host *host)
{
	for (uint32_t adapter = 0; adapter < host->host->adapter_count; adapter++) {
		struct adapter_entry *entry = host->host->adapters[adapter];

		for (unsigned number = 1; number <= entry->node->port_count; number++) {
			if (host->port_count == CM_PORTS_MAX)
				return 0;

			struct cm_port *port = &host->ports[host->port_count];

			*port = (struct cm_port){.host = host,
						 .index = host->port_count,
						 .endpoint = &entry->endpoints[number]};

			int error = open_port(port);

			/* A program with its own connection manager has registered on the port's
			 * QP1. */
			if (error == -EBUSY)
				error = sa_client_init(&port->sa, &(struct sa_client_options){0});
			ipoib_port_init(&port->ip, port);
			list_init(&port->groups);
			host->port_count++;
			if (error)
				return error;
		}
	}
	return host->port_count ? 0 : -ENODEV;
}

static unsigned count_ports(const struct host *host)
{
	unsigned count = 0;

	for (uint32_t adapter = 0; adapter < host->adapter_count; adapter++)
		count += host->adapters[adapter]->node->port_count;
	return count;
}

static int make_engine(struct cm_host *host)
{
	uint64_t guids[CM_PORTS_MAX];

	for (uint32_t index = 0; index < host->port_count; index++)
		guids[index] = host->ports[index].endpoint->adapter->node->info.node_guid;

	const struct cm_options options = {
		.agent_number = host->ports[0].client.agent_number,
		.seed = random_next(&host->random),
		.ca_guids = guids,
		.port_count = host->port_count,
		.closed_service_grace = CLOSED_SERVICE_GRACE,
		.event = cm_connection_event,
		.context = host,
	};

	return cm_create(&options, &host->cm);
}

int cm_host_create(struct cm_fabric *fabric, struct host *host, struct cm_host **ret_host)
{
	struct cm_host *made = calloc(1, sizeof(*made));

	if (!made)
		return -ENOMEM;
	made->fabric = fabric;
	made->host = host;
	/* Different at each start, so that ids and PSNs of an earlier run are not valid. */
	made->random = random_seeded(fabric->core->loop.now ^ (uint64_t)(uintptr_t)made);
	list_init(&made->link);
	list_init(&made->ready_link);
	hash_table_init(&made->services);
	hash_table_init(&made->loading);
	made->ports = calloc(count_ports(host) + 1, sizeof(made->ports[0]));

	int error = made->ports ? open_ports(made) : -ENOMEM;

	if (!error)
		error = make_engine(made);
	if (error) {
		cm_host_destroy(made);
		return error;
	}
	list_append(&fabric->hosts, &made->link);
	*ret_host = made;
	return 0;
}

void cm_host_destroy(struct cm_host *host)
{
	for (uint32_t index = 0; index < host->port_count; index++) {
		struct cm_port *port = &host->ports[index];

		if (port->client.agent_number)
			mad_client_remove(host->fabric->mads, &port->client);
		cm_groups_forget(port);
		ipoib_port_release(&port->ip);
		sa_client_release(&port->sa);
	}
	if (host->cm)
		cm_destroy(host->cm);
	timer_queue_cancel(&host->fabric->timers, &host->timer);
	list_remove(&host->ready_link);
	list_remove(&host->link);
	hash_table_release(&host->services);
	hash_table_release(&host->loading);
	free(host->ports);
	free(host);
}

static bool send(struct cm_host *host, time_ns now)
{
	struct cm_port *port = &host->ports[host->unsent.port_index];

	/* A message for a port that another connection manager has is lost, as on a wire. */
	return !port->client.agent_number ||
	       mad_client_send(host->fabric->mads, &port->client, &host->unsent.mad, now);
}

static void take_results(struct cm_port *port, time_ns now)
{
	struct sa_client_result result;

	while (sa_client_take_result(&port->sa, &result)) {
		switch ((enum cm_sa_request)result.purpose.detail) {
		case CM_SA_REQUEST_PATH:
			cm_path_found(result.purpose.subject, &result);
			break;
		case CM_SA_REQUEST_BROADCAST:
			ipoib_port_joined(&port->ip, &result, now);
			break;
		case CM_SA_REQUEST_GROUP:
			cm_group_answered(result.purpose.subject, &result);
			break;
		case CM_SA_REQUEST_ALTERNATE:
			cm_alternate_found(result.purpose.subject, &result);
			break;
		case CM_SA_REQUEST_REDIRECT:
			cm_redirect_path_found(result.purpose.subject, &result);
			break;
		case CM_SA_REQUEST_NONE:
			break;
		}
	}
}

/* Returns whether a MAD found no room. */
static bool run_port(struct cm_port *port, time_ns now)
{
	struct mad_dispatch *dispatch = port->host->fabric->mads;

	if (!port->client.agent_number)
		return false;
	ipoib_port_run(&port->ip, now);
	cm_port_sa(port);
	for (unsigned count = 0; count < MESSAGES_PER_TURN; count++) {
		if (!port->has_unsent && sa_client_transmit(&port->sa, now, 1, &port->unsent) == 0)
			break;
		port->has_unsent = !mad_client_send(dispatch, &port->client, &port->unsent, now);
		if (port->has_unsent)
			return true;
	}
	take_results(port, now);
	return false;
}

static void set_timer(struct cm_host *host)
{
	time_ns deadline = cm_deadline(host->cm);

	for (uint32_t index = 0; index < host->port_count; index++) {
		struct cm_port *port = &host->ports[index];

		deadline = time_earlier(deadline, sa_client_deadline(&port->sa));
		deadline = time_earlier(deadline, ipoib_port_deadline(&port->ip));
	}
	if (deadline == TIME_NEVER)
		timer_queue_cancel(&host->fabric->timers, &host->timer);
	else
		timer_queue_arm(&host->fabric->timers, &host->timer, deadline);
}

bool cm_host_run(struct cm_host *host, time_ns now)
{
	bool is_stalled = false;

	for (uint32_t index = 0; index < host->port_count; index++)
		is_stalled |= run_port(&host->ports[index], now);
	for (unsigned count = 0; count < MESSAGES_PER_TURN; count++) {
		if (!host->has_unsent && cm_transmit(host->cm, now, 1, &host->unsent) == 0) {
			set_timer(host);
			return is_stalled;
		}
		host->has_unsent = !send(host, now);
		if (host->has_unsent)
			return true;
	}
	return true;
}
