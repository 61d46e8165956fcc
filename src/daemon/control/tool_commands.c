/* SPDX-License-Identifier: Apache-2.0 */
/* Commands of the softib tool: the state of the fabric, links up and down, ending it. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "daemon/commands.h"
#include "daemon/core/flow_table.h"
#include "daemon/core/log.h"
#include "daemon/control/request_fields.h"
#include "daemon/daemon.h"
#include "daemon/packets/packet_capture.h"
#include "daemon/sysfs/rate_text.h"
#include "daemon/sysfs/sysfs_tree.h"
#include "fabric/topology/port_names.h"
#include "mgmt/agents/identify.h"
#include "mgmt/sa/sa.h"
#include "mgmt/sm/sm.h"
#include "net/node/node.h"

/* The rows that fit one message; "next" says where the next request starts. */
enum { HOST_ROWS_MAX = 150, FLOW_ROWS_MAX = 100, WAIT_MS_MAX = 24 * 3600 * 1000 };

static const char *const state_names[] = {"-", "Down", "Init", "Armed", "Active"};

static const char *state_name(const struct port *port)
{
	return state_names[port->info.port_state % ARRAY_COUNT(state_names)];
}

static json_t *describe_endpoint(const struct endpoint *endpoint)
{
	char address[ADDRESS_TEXT_BYTES], ipv6[ADDRESS_TEXT_BYTES], rate[LINK_RATE_TEXT_BYTES];

	endpoint_address(&endpoint->ipv4, address);
	endpoint_address(&endpoint->ipv6, ipv6);
	link_rate_text(&endpoint->port->info, rate);
	return json_pack("{s:s, s:s, s:i, s:i, s:o, s:o, s:s, s:s, s:s, s:s}", "host",
			 endpoint->adapter->host->name, "adapter", endpoint->adapter->name, "port",
			 (int)endpoint->port->number, "lid", (int)endpoint->port->info.lid,
			 "port_guid", guid_to_json(endpoint->port->guid), "node_guid",
			 guid_to_json(endpoint->adapter->node->info.node_guid), "state",
			 state_name(endpoint->port), "address", address, "ipv6", ipv6, "rate",
			 rate);
}

static void run_hosts(struct client *client, const json_t *request, struct reply *ret_reply)
{
	const struct host_table *table = &client->core->hosts;
	json_int_t from = request_from(request);
	json_t *rows = json_array();
	json_int_t position = 0;
	bool is_more = false;

	for (uint32_t index = 0; index < table->host_count; index++) {
		const struct host *host = table->hosts[index];

		for (uint32_t a = 0; a < host->adapter_count; a++) {
			const struct adapter_entry *adapter = host->adapters[a];

			for (unsigned number = 1; number <= adapter->node->port_count; number++) {
				if (position++ < from)
					continue;
				is_more = json_array_size(rows) == HOST_ROWS_MAX;
				if (is_more)
					goto answer;
				json_array_append_new(
					rows, describe_endpoint(&adapter->endpoints[number]));
			}
		}
	}
answer:
	reply_ok(ret_reply, json_pack("{s:o}", "ports", rows));
	if (is_more)
		json_object_set_new(ret_reply->object, "next", json_integer(from + HOST_ROWS_MAX));
}

/* null: the manager sets no M_Keys. */
static json_t *describe_mkeys(const struct daemon *daemon, const struct sm_status *status)
{
	const struct port *source = NULL;

	if (!status->has_mkeys)
		return json_null();
	for (uint32_t i = 0; status->mkey_refusal_source && i < daemon->core.fabric.node_count;
	     i++) {
		const struct node *node = daemon->core.fabric.by_index[i];

		for (unsigned number = 0; number <= node->port_count; number++)
			if (node->ports[number].guid == status->mkey_refusal_source)
				source = &node->ports[number];
	}
	return json_pack("{s:b, s:i, s:i, s:i, s:s}", "per_port", status->has_mkey_per_port,
			 "protection_level", (int)status->mkey_protect_bits, "lease_period",
			 (int)status->mkey_lease_period, "refused", (int)status->mkey_refusal_count,
			 "last_refused", source ? source->node->host : "");
}

static json_t *describe_manager(const struct daemon *daemon, const struct sm_runner *runner)
{
	static const char *const names[] = {"not active", "discovering", "standby", "master"};
	struct sm_status status;

	if (!runner->sm)
		return json_null();
	sm_status(runner->sm, &status);
	return json_pack(
		"{s:s, s:s, s:i, s:i, s:i, s:b, s:s, s:i, s:I, s:I, s:o}", "host",
		((const struct endpoint *)runner->client.port->endpoint)->adapter->host->name,
		"state", names[status.state % ARRAY_COUNT(names)], "sweeps",
		(int)status.sweep_count, "changes", (int)sm_change_count(runner->sm), "nodes",
		(int)status.node_count, "subnet_is_up", status.subnet_is_up, "engine",
		status.engine, "priority", (int)status.priority, "smps",
		(json_int_t)status.smp_count, "last_reaction_us",
		(json_int_t)(runner->reaction / MICROSECONDS(1)), "mkeys",
		describe_mkeys(daemon, &status));
}

/* The built-in managers of the subnets beyond the first. */
static json_t *describe_other_subnets(const struct daemon *daemon)
{
	json_t *managers = json_array();

	for (uint32_t i = 0; i < daemon->managers.others.count; i++)
		json_array_append_new(
			managers, describe_manager(daemon, &daemon->managers.others.subnets[i].sm));
	return managers;
}

static const struct sm_runner *built_in_manager_at(const struct daemon *daemon,
						   const struct port *port)
{
	if (daemon->managers.sm.sm && daemon->managers.sm.client.port == port)
		return &daemon->managers.sm;
	for (uint32_t i = 0; i < daemon->managers.others.count; i++) {
		const struct sm_runner *runner = &daemon->managers.others.subnets[i].sm;

		if (runner->sm && runner->client.port == port)
			return runner;
	}
	return NULL;
}

static bool is_stranger(const struct daemon *daemon, const struct port *port)
{
	bool is_strange =
		daemon->managers.sm.sm && sm_is_stranger(daemon->managers.sm.sm, port->guid);

	for (uint32_t i = 0; i < daemon->managers.others.count; i++)
		is_strange |= daemon->managers.others.subnets[i].sm.sm &&
			      sm_is_stranger(daemon->managers.others.subnets[i].sm.sm, port->guid);
	return is_strange;
}

static json_t *describe_administration(const struct sa_runner *runner)
{
	struct sa_status status;

	if (!runner->sa)
		return json_null();
	sa_status(runner->sa, &status);
	return json_pack("{s:b, s:I, s:I, s:i, s:i, s:i, s:I, s:I}", "serves", status.is_serving,
			 "requests", (json_int_t)status.request_count, "dropped",
			 (json_int_t)status.dropped_count, "groups", (int)status.group_count,
			 "services", (int)status.service_count, "subscriptions",
			 (int)status.subscription_count, "reports", (json_int_t)status.report_count,
			 "reports_failed", (json_int_t)status.report_failed_count);
}

/* Ports of a switch or router that programs hold as subnet managers: "switch-1:0". */
static void describe_device_managers(const struct daemon *daemon,
				     const struct adapter_entry *device, json_t *names)
{
	for (unsigned number = adapter_first_port(device); number <= adapter_last_port(device);
	     number++) {
		const struct endpoint *endpoint = device->node->ports[number].endpoint;

		if (endpoint && endpoint->sm_count)
			json_array_append_new(names,
					      json_sprintf("%s:%u%s", device->host->name, number,
							   is_stranger(daemon, endpoint->port)
								   ? ", not trusted"
								   : ""));
	}
}

/* Ports that programs hold as subnet managers: "h2 softib0:1", with a note if the built-in manager
 * does not trust them. */
static json_t *describe_other_managers(const struct daemon *daemon)
{
	json_t *names = json_array();

	for (uint32_t i = 0; i < daemon->core.hosts.adapter_count; i++) {
		const struct adapter_entry *adapter = daemon->core.hosts.adapters[i];

		for (unsigned number = 1; number <= adapter->node->port_count; number++) {
			const struct endpoint *endpoint = &adapter->endpoints[number];
			uint32_t own = built_in_manager_at(daemon, endpoint->port) != NULL;

			if (endpoint->sm_count > own)
				json_array_append_new(
					names, json_sprintf("%s %s:%u%s", adapter->host->name,
							    adapter->name, number,
							    is_stranger(daemon, endpoint->port)
								    ? ", not trusted"
								    : ""));
		}
	}
	for (uint32_t i = 0; i < daemon->core.hosts.device_count; i++)
		describe_device_managers(daemon, daemon->core.hosts.devices[i]->device, names);
	return names;
}

static void count_ports(const struct fabric *fabric, int *ret_switches, int *ret_links,
			int *ret_active)
{
	int switches = 0, ports = 0, active = 0;

	for (uint32_t index = 0; index < fabric->node_count; index++) {
		const struct node *node = fabric->by_index[index];

		switches += node_is_switch(node);
		for (unsigned number = 1; number <= node->port_count; number++) {
			const struct port *port = &node->ports[number];

			ports += port->peer != NULL;
			active += port->peer && port_is_active(port) && port_is_active(port->peer);
		}
	}
	*ret_switches = switches;
	*ret_links = ports / 2;
	*ret_active = active / 2;
}

/* A paced fabric that is later than this no longer keeps its links' timing. */
enum { LATE_US_MAX = 1000 };

static int late_us(const struct daemon *daemon)
{
	time_ns late = daemon->core.fabric.late_ns_max > daemon->lateness.before_ns
			       ? daemon->core.fabric.late_ns_max
			       : daemon->lateness.before_ns;

	return (int)(late / MICROSECONDS(1));
}

static void add_flow(void *context, const struct client *client, uint16_t dlid, uint64_t packets)
{
	json_t *rows = context;

	if (json_array_size(rows) < FLOW_ROWS_MAX)
		json_array_append_new(rows,
				      json_pack("{s:s, s:i, s:i, s:I}", "host", client->host->name,
						"pid", (int)client->pid, "dlid", (int)dlid,
						"packets", (json_int_t)packets));
}

static json_t *describe_flows(const struct daemon *daemon)
{
	json_t *rows = json_array();

	flows_for_each_direct(&daemon->core, add_flow, rows);
	return rows;
}

/* The names of nodes whose LEDs are on. */
static json_t *describe_identified(const struct daemon *daemon)
{
	enum { IDENTIFIED_SHOWN = 64 };
	const struct agent_memory *memory = &daemon->core.fabric.agent_memory;
	json_t *names = json_array();

	for (const struct identification *row = identification_next(memory, NULL);
	     row && json_array_size(names) < IDENTIFIED_SHOWN;
	     row = identification_next(memory, row))
		json_array_append_new(names, json_string(row->node->description));
	return names;
}

static void run_status(struct client *client, const json_t *request, struct reply *ret_reply)
{
	struct daemon *daemon = client_daemon(client);
	int switches, links, active, programs = 0;

	(void)request;
	list_for_each (link, &daemon->core.clients.all)
		programs += container_of(link, struct client, link)->kind == CLIENT_PROGRAM;
	count_ports(&daemon->core.fabric, &switches, &links, &active);
	reply_ok(ret_reply,
		 json_pack("{s:s, s:i, s:i, s:i, s:i, s:i, s:i, s:i, s:b, s:b, s:i, s:s, s:b, s:i, "
			   "s:b, s:o}",
			   "fabric", daemon->options.fabric_name, "pid", (int)getpid(), "hosts",
			   (int)daemon->core.hosts.host_count, "switches", switches, "links", links,
			   "active_links", active, "programs", programs, "users",
			   (int)daemon->core.clients.user_count, "offload",
			   daemon->options.offloads, "ephemeral", daemon->options.is_ephemeral,
			   "generation", (int)daemon->core.page->generation, "folder",
			   daemon->folder.path, "paced", daemon->options.is_paced, "late_us",
			   late_us(daemon), "behind", late_us(daemon) > LATE_US_MAX, "sm",
			   describe_manager(daemon, &daemon->managers.sm)));
	json_object_set_new(ret_reply->object, "subnets", describe_other_subnets(daemon));
	json_object_set_new(ret_reply->object, "managers", describe_other_managers(daemon));
	json_object_set_new(ret_reply->object, "administration",
			    describe_administration(&daemon->managers.sa));
	json_object_set_new(ret_reply->object, "captures", captures_describe(&daemon->packets));
	json_object_set_new(ret_reply->object, "gateways",
			    gateway_sockets_describe(&daemon->packets.gateways));
	json_object_set_new(ret_reply->object, "faulty_links",
			    json_integer(daemon->core.fabric.faults.link_count));
	json_object_set_new(ret_reply->object, "direct_flows", describe_flows(daemon));
	json_object_set_new(ret_reply->object, "mad_ports",
			    json_integer(daemon->mad_files.file_count));
	json_object_set_new(ret_reply->object, "identified", describe_identified(daemon));
	json_object_set_new(ret_reply->object, "mad_clients",
			    json_integer(daemon->mads.clients.count));
}

/* Port 0 means all ports. Returns the number of cables. */
static unsigned set_node_cables(struct daemon *daemon, struct node *node, unsigned port_number,
				bool is_up)
{
	unsigned count = 0;

	for (unsigned number = 1; number <= node->port_count; number++) {
		struct port *port = &node->ports[number];

		if ((port_number && number != port_number) || !port->peer)
			continue;
		fabric_set_cable(&daemon->core.fabric, port, is_up, daemon->core.loop.now);
		count++;
	}
	return count;
}

static void run_link(struct client *client, const json_t *request, struct reply *ret_reply)
{
	struct daemon *daemon = client_daemon(client);
	const char *name = json_string_value(json_object_get(request, "node"));
	json_int_t port_number = json_integer_value(json_object_get(request, "port"));
	bool is_up = json_is_true(json_object_get(request, "up"));
	struct host *host = name ? host_table_find(&daemon->core.hosts, name) : NULL;
	struct node *node = name && !host ? port_names_find_node(&daemon->core.fabric, name) : NULL;
	unsigned count = 0;

	if (!host && !node) {
		reply_error(ret_reply, ENOENT, "no host, switch or GUID %.64s in fabric %s",
			    name ? name : "", daemon->options.fabric_name);
		return;
	}
	if (port_number < 0 || port_number > UINT8_MAX) {
		reply_error(ret_reply, EINVAL, "a port number is 0 to 255");
		return;
	}
	if (node)
		count = set_node_cables(daemon, node, (unsigned)port_number, is_up);
	for (uint32_t index = 0; host && index < host->adapter_count; index++)
		count += set_node_cables(daemon, host->adapters[index]->node, (unsigned)port_number,
					 is_up);
	if (!count) {
		reply_error(ret_reply, ENOENT, "%.64s has no cable at port %d", name,
			    (int)port_number);
		return;
	}
	log_line("link %s %s:%d", is_up ? "up" : "down", name, (int)port_number);
	reply_ok(ret_reply, json_pack("{s:i}", "links", (int)count));
}

static void run_refresh(struct client *client, const json_t *request, struct reply *ret_reply)
{
	struct daemon *daemon = client_daemon(client);
	const char *name = json_string_value(json_object_get(request, "host"));
	struct host *host = name ? host_table_find(&daemon->core.hosts, name) : NULL;

	flows_fold_all(&daemon->core);
	if (host)
		sysfs_tree_update_counters(&daemon->sysfs, host);
	reply_ok(ret_reply, json_object());
}

static void run_down(struct client *client, const json_t *request, struct reply *ret_reply)
{
	(void)request;
	log_line("ending on request of pid %d", (int)client->pid);
	client_daemon(client)->is_ending = true;
	reply_ok(ret_reply, json_pack("{s:i}", "pid", (int)getpid()));
}

static void run_wait_active(struct client *client, const json_t *request, struct reply *ret_reply)
{
	struct daemon *daemon = client_daemon(client);
	json_int_t timeout_ms = json_integer_value(json_object_get(request, "timeout_ms"));

	if (client->waits_for_active) {
		reply_error(ret_reply, EBUSY, "this connection is waiting already");
		return;
	}
	if (timeout_ms < 0 || timeout_ms > WAIT_MS_MAX)
		timeout_ms = WAIT_MS_MAX;
	client->waits_for_active = true;
	ret_reply->is_later = true;
	client->waits_until = daemon->core.loop.now + MILLISECONDS(timeout_ms);
	daemon->server.waiter_count++;
}

const struct command tool_commands[] = {
	{"hosts", run_hosts},
	{"status", run_status},
	{"link", run_link, FOR_OPERATORS},
	{"refresh", run_refresh},
	{"down", run_down, FOR_OPERATORS},
	{"wait-active", run_wait_active},
	{NULL, NULL},
};
