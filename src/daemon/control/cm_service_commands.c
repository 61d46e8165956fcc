/* SPDX-License-Identifier: Apache-2.0 */
/* What the programs of a fabric listen for, and how many connections each host has: for people. */
#include <string.h>
#include "daemon/cm/cm_address.h"
#include "daemon/cm/cm_ids.h"
#include "daemon/core/client.h"
#include "daemon/commands.h"
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
	list_for_each (link, &client->daemon->cm.hosts) {
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

const struct command cm_service_commands[] = {{"services", run_services}, {NULL, NULL}};
