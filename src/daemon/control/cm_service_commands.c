/* SPDX-License-Identifier: Apache-2.0 */
/* Opening a command socket for connections; the services that programs listen for, and how many
 * connections each host has. */
#include <errno.h>
#include <string.h>
#include "daemon/cm/cm_address.h"
#include "daemon/cm/cm_command_socket.h"
#include "daemon/cm/cm_fabric.h"
#include "daemon/commands.h"
#include "daemon/daemon.h"
#include "wire/cm_ip_header.h"

enum { SERVICES_PER_ANSWER = 256 };

static const char *port_space_name(uint64_t service_id)
{
	switch (service_id >> 16) {
	case CM_PORT_SPACE_TCP:
		return "tcp";
	case CM_PORT_SPACE_UDP:
		return "udp";
	case CM_PORT_SPACE_IPOIB:
		return "ipoib";
	default:
		return "ib";
	}
}

static void add_service(const struct cm_host *host, const struct cm_service *service,
			json_t *services)
{
	if (!service->listener || json_array_size(services) >= SERVICES_PER_ANSWER)
		return;
	json_array_append_new(services,
			      json_pack("{s:s, s:o, s:s, s:i, s:i}", "host", host->host->name,
					"service_id", guid_to_json(service->service_id), "space",
					port_space_name(service->service_id), "port",
					(int)(service->service_id & 0xffff), "listeners",
					(int)service->listening_count));
}

static json_t *describe_host(const struct cm_host *host)
{
	struct cm_counts counts = cm_count(host->cm);

	return json_pack("{s:s, s:i, s:i, s:i}", "host", host->host->name, "connections",
			 (int)(counts.connections - counts.in_timewait), "timewait",
			 (int)counts.in_timewait, "listeners", (int)counts.listeners);
}

static void run_services(struct client *client, const json_t *request, struct reply *ret_reply)
{
	json_t *services = json_array();
	json_t *hosts = json_array();

	(void)request;
	list_for_each (link, &client_daemon(client)->cm.hosts) {
		const struct cm_host *host = container_of(link, struct cm_host, link);
		struct cm_counts counts = cm_count(host->cm);

		for (uint32_t index = 0; index < host->services.capacity; index++) {
			if (host->services.entries[index].value)
				add_service(host, host->services.entries[index].value, services);
		}
		if (counts.connections || counts.listeners)
			json_array_append_new(hosts, describe_host(host));
	}
	reply_ok(ret_reply, json_pack("{s:o, s:o}", "services", services, "hosts", hosts));
}

static void run_cm(struct client *client, const json_t *request, struct reply *ret_reply)
{
	struct cm_fabric *fabric = &client_daemon(client)->cm;
	struct cm_program *program;
	int socket;

	(void)request;
	if (!client->host) {
		reply_error(ret_reply, EINVAL, "send hello with a host first");
		return;
	}

	int error = cm_fabric_bring_up(fabric);

	if (!error && !client->host->cm)
		error = -ENODEV;
	if (!error)
		error = cm_program_create(client->host->cm, client->account, &program, &socket);
	if (error) {
		reply_error(ret_reply, -error, "can't start connection management for host %s: %s",
			    client->host->name, strerror(-error));
		return;
	}
	/* The first of the descriptors is never given away, so the page goes before it. */
	ret_reply->descriptors[0] = client->core->page_file;
	ret_reply->descriptors[1] = socket;
	ret_reply->descriptor_count = 2;
	ret_reply->given_from = 1;
	reply_ok(ret_reply, json_object());
}

const struct command cm_commands[] = {{"cm", run_cm}, {"services", run_services}, {NULL, NULL}};
