/* SPDX-License-Identifier: Apache-2.0 */
/* Makes nodes and links from the declarations of a topology text, after checking them. */
#include "fabric/topology/topology.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "fabric/fabric.h"
#include "fabric/topology/topology_reader.h"
#include "net/link/lane_tables.h"
#include "net/link/link.h"

int topology_fail(struct topology_error *ret_error, unsigned line, const char *format, ...)
{
	va_list arguments;

	ret_error->line = line;
	va_start(arguments, format);
	vsnprintf(ret_error->reason, sizeof(ret_error->reason), format, arguments);
	va_end(arguments);
	return -EINVAL;
}

static int compare_names(const void *a, const void *b)
{
	const struct declared_node *const *one = a, *const *other = b;
	int order = strcmp((*one)->name, (*other)->name);

	return order ? order : ((*one)->line > (*other)->line) - ((*one)->line < (*other)->line);
}

static int compare_guids(const void *a, const void *b)
{
	const struct declared_node *const *one = a, *const *other = b;

	if ((*one)->guid != (*other)->guid)
		return (*one)->guid < (*other)->guid ? -1 : 1;
	return ((*one)->line > (*other)->line) - ((*one)->line < (*other)->line);
}

static int find_name(const void *key, const void *element)
{
	const struct declared_node *const *node = element;

	return strcmp(key, (*node)->name);
}

static int check_guids(struct declared_node **sorted, uint32_t count,
		       struct topology_error *ret_error)
{
	qsort(sorted, count, sizeof(*sorted), compare_guids);
	for (uint32_t i = 1; i < count; i++)
		if (sorted[i]->guid == sorted[i - 1]->guid)
			return topology_fail(ret_error, sorted[i]->line,
					     "GUID 0x%016llx was used in line %u already",
					     (unsigned long long)sorted[i]->guid,
					     sorted[i - 1]->line);
	return 0;
}

/* Leaves the nodes sorted by name. */
static int check_names(struct declared_node **sorted, uint32_t count,
		       struct topology_error *ret_error)
{
	qsort(sorted, count, sizeof(*sorted), compare_names);
	for (uint32_t i = 1; i < count; i++)
		if (strcmp(sorted[i]->name, sorted[i - 1]->name) == 0)
			return topology_fail(ret_error, sorted[i]->line,
					     "\"%s\" was declared in line %u already",
					     sorted[i]->name, sorted[i - 1]->line);
	return 0;
}

/* Nodes without a GUID in the text get one of ours, by their position in it. */
static void give_guids(struct declarations *declarations)
{
	for (uint32_t index = 0; index < declarations->node_count; index++) {
		struct declared_node *node = &declarations->nodes[index];
		uint64_t kind = (uint64_t)node->type;

		if (!node->guid)
			node->guid = (uint64_t)NODE_VENDOR_ID << 40 | kind << 32 |
				     (uint64_t)(index + 1) << 16;
	}
}

static int resolve_alias(const struct declared_node *remote, struct declared_port *port,
			 struct topology_error *ret_error)
{
	if (!port->remote_alias[0])
		return 0;
	for (unsigned number = 1; remote->aliases && number <= remote->port_count; number++) {
		if (strcmp(remote->aliases[number], port->remote_alias) != 0)
			continue;
		port->remote_port = number;
		return 0;
	}
	return topology_fail(ret_error, port->line, "\"%s\" has no port with the alias \"%s\"",
			     remote->name, port->remote_alias);
}

/* The other end, if it is declared too, must agree; if not, it is declared from here. */
static int join_ends(struct declared_node *nodes, struct declared_node *node, unsigned number,
		     struct topology_error *ret_error)
{
	struct declared_port *port = &node->ports[number];
	struct declared_node *remote = &nodes[port->remote_index];
	struct declared_port *end = &remote->ports[port->remote_port];

	if (remote == node && port->remote_port == number)
		return topology_fail(ret_error, port->line, "port %u of \"%s\" is cabled to itself",
				     number, node->name);
	if (!end->line) {
		*end = (struct declared_port){
			.line = port->line,
			.remote_port = number,
			.remote_index = (uint32_t)(node - nodes),
			.widths = port->widths,
			.speeds = port->speeds,
			.extended_speeds = port->extended_speeds,
			.second_extended_speeds = port->second_extended_speeds,
		};
		snprintf(end->remote, sizeof(end->remote), "%s", node->name);
		return 0;
	}
	if (strcmp(end->remote, node->name) != 0 || end->remote_port != number)
		return topology_fail(
			ret_error, port->line, "port %u of \"%s\" goes to \"%s\"[%u] by line %u",
			port->remote_port, remote->name, end->remote, end->remote_port, end->line);
	return 0;
}

static int find_ends(struct declarations *declarations, struct declared_node **sorted,
		     struct topology_error *ret_error)
{
	for (uint32_t index = 0; index < declarations->node_count; index++) {
		struct declared_node *node = &declarations->nodes[index];

		for (unsigned number = 1; number <= node->port_count; number++) {
			struct declared_port *port = &node->ports[number];

			if (!port->line)
				continue;

			struct declared_node **found =
				bsearch(port->remote, sorted, declarations->node_count,
					sizeof(*sorted), find_name);

			if (!found)
				return topology_fail(ret_error, port->line,
						     "there is no node \"%s\"", port->remote);
			port->remote_index = (uint32_t)(*found - declarations->nodes);

			int error = resolve_alias(*found, port, ret_error);

			if (error)
				return error;
			if (port->remote_port < 1 || port->remote_port > (*found)->port_count)
				return topology_fail(ret_error, port->line,
						     "\"%s\" has ports 1 to %u", (*found)->name,
						     (*found)->port_count);
		}
	}
	return 0;
}

static int check(struct declarations *declarations, struct topology_error *ret_error)
{
	uint32_t count = declarations->node_count;
	struct declared_node **sorted = calloc(count ? count : 1, sizeof(struct declared_node *));
	int error;

	if (!sorted)
		return -ENOMEM;
	for (uint32_t index = 0; index < count; index++)
		sorted[index] = &declarations->nodes[index];
	give_guids(declarations);
	error = count ? check_guids(sorted, count, ret_error)
		      : topology_fail(ret_error, 0, "there is no node in this topology");
	if (!error)
		error = check_names(sorted, count, ret_error);
	if (!error)
		error = find_ends(declarations, sorted, ret_error);
	if (!error)
		error = declarations_check_addresses(declarations, ret_error);
	free(sorted);
	for (uint32_t index = 0; index < count && !error; index++) {
		struct declared_node *node = &declarations->nodes[index];

		for (unsigned number = 1; number <= node->port_count && !error; number++)
			if (node->ports[number].line)
				error = join_ends(declarations->nodes, node, number, ret_error);
	}
	return error;
}

static bool is_host_character(char character)
{
	return (character >= 'a' && character <= 'z') || (character >= 'A' && character <= 'Z') ||
	       (character >= '0' && character <= '9') || (character && strchr("._-", character));
}

/* "node-7 mlx5_0": the first word names the host. A word that cannot name a folder becomes hN. */
static void name_host(struct fabric *fabric, struct node *node, unsigned adapter_number)
{
	size_t length = 0;
	bool has_letter = false;

	for (const char *at = node->description;
	     *at && *at != ' ' && length + 1 < sizeof(node->host); at++) {
		char kept = is_host_character(*at) ? *at : '-';

		has_letter |= kept != '.' && kept != '-' && kept != '_';
		node->host[length++] = kept;
	}
	node->host[length] = '\0';
	if (!has_letter || node->host[0] == '.' || node->host[0] == '-')
		snprintf(node->host, sizeof(node->host), "h%u", adapter_number);
	/* The adapters of a host are numbered from 0 in the order of the text. */
	for (uint32_t index = 0; index < node->index; index++) {
		const struct node *other = fabric->by_index[index];

		if (node_is_adapter(other) && strcmp(other->host, node->host) == 0)
			node->adapter_index++;
	}
}

static void set_port(struct port *port, const struct declared_port *declared)
{
	struct port_info *info = &port->info;

	if (declared->guid && port->guids) {
		port->guid = declared->guid;
		port->guids[0] = declared->guid;
	}
	if (!declared->line)
		return;
	if (declared->vl_cap)
		port_set_vl_cap(port, declared->vl_cap);
	if (declared->widths) {
		info->link_width_supported = declared->widths;
		info->link_width_enabled = declared->widths;
	}
	if (declared->speeds) {
		info->link_speed_supported = declared->speeds;
		info->link_speed_enabled = declared->speeds;
	}
	if (declared->extended_speeds >= 0) {
		info->link_speed_ext_supported = (uint8_t)declared->extended_speeds;
		info->link_speed_ext_enabled = (uint8_t)declared->extended_speeds;
		info->link_speed_ext2_supported = declared->second_extended_speeds;
		info->link_speed_ext2_enabled = declared->second_extended_speeds;
		port_info_show_speeds(info);
	}
}

static int set_networks(struct node *node, const struct declared_node *declared)
{
	for (unsigned number = 1; number <= node->port_count; number++) {
		const struct port_networks *networks = &declared->ports[number].networks;

		if (!networks->ipv4.ip_version && !networks->ipv6.ip_version)
			continue;
		if (!node->networks)
			node->networks = calloc(node->port_count + 1, sizeof(*node->networks));
		if (!node->networks)
			return -ENOMEM;
		node->networks[number] = *networks;
	}
	return 0;
}

static int build_nodes(struct fabric *fabric, const struct declarations *declarations)
{
	unsigned adapter_count = 0;

	for (uint32_t index = 0; index < declarations->node_count; index++) {
		const struct declared_node *declared = &declarations->nodes[index];
		struct node *node;
		int error = fabric_add_node(fabric, declared->type, declared->port_count,
					    declared->guid, declared->name, declared->description,
					    &node);

		if (error)
			return error;
		if (declared->system_image_guid)
			node->info.system_image_guid = declared->system_image_guid;
		if (node_is_switch(node))
			node->switch_info.enhanced_port_0 = declared->has_enhanced_port_0;
		if (node_is_adapter(node))
			name_host(fabric, node, ++adapter_count);
		if (declared->is_target)
			node_make_target(node);
		for (unsigned number = 1; number <= node->port_count; number++)
			set_port(&node->ports[number], &declared->ports[number]);
		error = set_networks(node, declared);
		if (error)
			return error;
	}
	return 0;
}

static int build_links(struct fabric *fabric, const struct declarations *declarations)
{
	uint32_t first = fabric->node_count - declarations->node_count;

	for (uint32_t index = 0; index < declarations->node_count; index++) {
		struct node *node = fabric->by_index[first + index];

		for (unsigned number = 1; number <= node->port_count; number++) {
			const struct declared_port *declared =
				&declarations->nodes[index].ports[number];

			if (!declared->line || node->ports[number].peer)
				continue;

			struct node *remote = fabric->by_index[first + declared->remote_index];
			int error = fabric_connect(fabric, &node->ports[number],
						   &remote->ports[declared->remote_port]);

			if (error)
				return error;
		}
	}
	return 0;
}

int topology_parse(struct fabric *fabric, const char *text, size_t text_bytes,
		   struct topology_error *ret_error)
{
	struct declarations declarations;
	int error = declarations_read(&declarations, text, text_bytes, ret_error);

	if (!error)
		error = check(&declarations, ret_error);
	if (!error)
		error = build_nodes(fabric, &declarations);
	if (!error)
		error = build_links(fabric, &declarations);
	if (error == -ENOMEM)
		(void)!topology_fail(ret_error, 0, "not enough memory");
	declarations_release(&declarations);
	return error;
}
