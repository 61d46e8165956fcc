/* SPDX-License-Identifier: Apache-2.0 */
/* The virtual hosts of a fabric: the adapters of each, and the names and addresses by which
 * programs know them. */
#include "daemon/core/host_table.h"

#include <arpa/inet.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "fabric/fabric.h"
#include "fabric/topology/port_names.h"
#include "net/node/node.h"

struct host *host_table_find(const struct host_table *table, const char *name)
{
	for (uint32_t index = 0; index < table->host_count; index++) {
		if (strcmp(table->hosts[index]->name, name) == 0)
			return table->hosts[index];
	}
	return NULL;
}

struct endpoint *host_endpoint(const struct host *host, unsigned adapter_index,
			       unsigned port_number)
{
	if (adapter_index >= host->adapter_count)
		return NULL;

	struct adapter_entry *adapter = host->adapters[adapter_index];

	if (port_number < 1 || port_number > adapter->node->port_count)
		return NULL;
	return &adapter->endpoints[port_number];
}

void endpoint_address(const struct ip_network *network, char ret_text[static ADDRESS_TEXT_BYTES])
{
	const uint8_t *bytes = network->address.bytes;

	if (network->ip_version == 4)
		inet_ntop(AF_INET, bytes + 12, ret_text, ADDRESS_TEXT_BYTES);
	else
		inet_ntop(AF_INET6, bytes, ret_text, ADDRESS_TEXT_BYTES);
}

static void give_addresses(struct endpoint *endpoint, const struct port_networks *given)
{
	endpoint->ipv4 = given && given->ipv4.ip_version ? given->ipv4
							 : ip_network_of_port(4, endpoint->ordinal);
	endpoint->ipv6 = given && given->ipv6.ip_version ? given->ipv6
							 : ip_network_of_port(6, endpoint->ordinal);
}

static struct host *find_or_add_host(struct host_table *table, const char *name)
{
	struct host *host = host_table_find(table, name);

	if (host)
		return host;
	host = calloc(1, sizeof(*host));
	if (!host)
		return NULL;
	snprintf(host->name, sizeof(host->name), "%s", name);
	list_init(&host->programs);
	table->hosts[table->host_count++] = host;
	return host;
}

static int add_adapter(struct host_table *table, struct node *node, uint32_t *ordinal)
{
	struct host *host = find_or_add_host(table, node->host);
	struct adapter_entry *adapter = calloc(1, sizeof(*adapter));

	if (!host || !adapter || host->adapter_count == ADAPTERS_PER_HOST_MAX) {
		free(adapter);
		return host && adapter ? -E2BIG : -ENOMEM;
	}
	adapter->endpoints = calloc(node->port_count + 1, sizeof(adapter->endpoints[0]));
	if (!adapter->endpoints) {
		free(adapter);
		return -ENOMEM;
	}
	adapter->node = node;
	adapter->host = host;
	adapter->index = host->adapter_count;
	snprintf(adapter->name, sizeof(adapter->name), "softib%u", adapter->index);
	qpn_space_init(&adapter->qpns);
	list_init(&adapter->xrc_domains);
	hash_table_init(&adapter->xrc_blocks);
	for (unsigned number = 1; number <= node->port_count; number++) {
		struct endpoint *endpoint = &adapter->endpoints[number];

		*endpoint = (struct endpoint){.port = &node->ports[number],
					      .adapter = adapter,
					      .device = adapter,
					      .ordinal = ++*ordinal};
		give_addresses(endpoint, node->networks ? &node->networks[number] : NULL);
		list_init(&endpoint->changed_link);
		list_init(&endpoint->blocked_link);
		list_init(&endpoint->mad_clients);
		node->ports[number].endpoint = endpoint;
	}
	host->adapters[host->adapter_count++] = adapter;
	table->adapters[table->adapter_count++] = adapter;
	return 0;
}

/* The ports of a router have endpoints of their own (daemon/managers/router_ports.h); port 0 of a
 * switch gets its endpoint here. */
static void attach_device(struct adapter_entry *device)
{
	for (unsigned number = adapter_first_port(device); number <= adapter_last_port(device);
	     number++) {
		struct port *port = &device->node->ports[number];
		struct endpoint *endpoint = port->endpoint;

		if (!endpoint) {
			endpoint = &device->endpoints[number];
			endpoint->port = port;
			list_init(&endpoint->changed_link);
			list_init(&endpoint->blocked_link);
			list_init(&endpoint->mad_clients);
			port->endpoint = endpoint;
		}
		endpoint->device = device;
	}
}

static struct host *make_device(struct host_table *table, struct node *node, const char *name)
{
	struct host **devices =
		realloc(table->devices, (table->device_count + 1) * sizeof(struct host *));
	struct host *host = calloc(1, sizeof(*host));
	struct adapter_entry *device = calloc(1, sizeof(*device));
	struct endpoint *endpoints = calloc(node->port_count + 1, sizeof(*endpoints));

	if (devices)
		table->devices = devices;
	if (!devices || !host || !device || !endpoints) {
		free(host);
		free(device);
		free(endpoints);
		return NULL;
	}
	snprintf(host->name, sizeof(host->name), "%s", name);
	list_init(&host->programs);
	host->device = device;
	*device = (struct adapter_entry){
		.node = node, .host = host, .name = "softib0", .endpoints = endpoints};
	list_init(&device->xrc_domains);
	hash_table_init(&device->xrc_blocks);
	attach_device(device);
	table->devices[table->device_count++] = host;
	return host;
}

struct host *host_table_device(struct host_table *table, const struct fabric *fabric,
			       const char *name)
{
	struct node *node = port_names_find_node(fabric, name);

	if (!node || node->info.node_type == NODE_CA || strlen(name) >= HOST_NAME_BYTES ||
	    strchr(name, '/') || name[0] == '.')
		return NULL;
	for (uint32_t index = 0; index < table->device_count; index++) {
		if (table->devices[index]->device->node == node)
			return table->devices[index];
	}
	return make_device(table, node, name);
}

int host_table_build(struct host_table *table, const struct fabric *fabric)
{
	uint32_t ordinal = 0;

	*table = (struct host_table){
		.hosts = calloc(fabric->node_count + 1, sizeof(struct host *)),
		.adapters = calloc(fabric->node_count + 1, sizeof(struct adapter_entry *))};
	if (!table->hosts || !table->adapters) {
		host_table_release(table);
		return -ENOMEM;
	}
	for (uint32_t index = 0; index < fabric->node_count; index++) {
		struct node *node = fabric->by_index[index];
		int error =
			node->info.node_type == NODE_CA ? add_adapter(table, node, &ordinal) : 0;

		if (error) {
			host_table_release(table);
			return error;
		}
	}
	return 0;
}

void host_table_release(struct host_table *table)
{
	for (uint32_t index = 0; index < table->adapter_count; index++) {
		struct adapter_entry *adapter = table->adapters[index];

		qpn_space_release(&adapter->qpns);
		hash_table_release(&adapter->xrc_blocks);
		for (unsigned i = 1; i <= adapter->node->port_count; i++)
			free(adapter->endpoints[i].sysfs_shown);
		free(adapter->endpoints);
		free(table->adapters[index]);
	}
	for (uint32_t index = 0; index < table->host_count; index++) {
		free(table->hosts[index]->verb_faults);
		free(table->hosts[index]);
	}
	for (uint32_t index = 0; index < table->device_count; index++) {
		struct adapter_entry *device = table->devices[index]->device;

		for (unsigned i = 0; i <= device->node->port_count; i++)
			free(device->endpoints[i].sysfs_shown);
		free(device->endpoints);
		free(device);
		free(table->devices[index]);
	}
	free(table->devices);
	free(table->adapters);
	free(table->hosts);
	*table = (struct host_table){0};
}
