/* SPDX-License-Identifier: Apache-2.0 */
/* The nodes, ports and links of a subnet, from tables of the SA (management 4.4). */
#include "mgmt/perf/perf_nodes.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/hash_table.h"
#include "wire/rate.h"
#include "wire/sa_records.h"
#include "wire/subnet_attributes.h"

enum { LID_COUNT = 0xc000, BITMAP_WORDS = 4, NONE = UINT32_MAX };

/* Which node a LID belongs to, and the ports of each node. Needed only while the tables are read.
 */
struct builder {
	struct perf_nodes *nodes;
	uint32_t node_of_lid[LID_COUNT]; /* index, or NONE */
	uint64_t guid_of_lid[LID_COUNT]; /* of the end port */
	uint64_t (*known)[BITMAP_WORDS]; /* per node, a bit per port number */
	uint8_t *port_count;		 /* per node, of NodeInfo */
};

static const uint8_t *record_at(const struct perf_table *table, size_t index)
{
	return table->bytes + index * table->record_bytes;
}

static bool table_is_sound(const struct perf_table *table, size_t bytes_min)
{
	return !table->record_count || (table->bytes && table->record_bytes >= bytes_min);
}

/* softib describes an adapter as "h1 softib0": the host's name and the device, as Linux does. The
 * first adapter goes by the host's name, the second is h1/1. */
static void take_name(struct perf_node *node, const uint8_t *description)
{
	static const char device[] = " softib";
	char text[NODE_DESCRIPTION_BYTES + 1] = {0};

	memcpy(text, description, NODE_DESCRIPTION_BYTES);
	for (char *c = text; *c; c++)
		if (*c < ' ' || *c > '~')
			*c = '?';

	char *found = node->type == NODE_CA ? strstr(text, device) : NULL;
	const char *index = found ? found + strlen(device) : "";

	if (!text[0])
		snprintf(text, sizeof(text), "0x%016llx", (unsigned long long)node->guid);
	if (!found || found == text || !*index || index[strspn(index, "0123456789")])
		snprintf(node->name, sizeof(node->name), "%s", text);
	else if (strcmp(index, "0") == 0)
		snprintf(node->name, sizeof(node->name), "%.*s", (int)(found - text), text);
	else
		snprintf(node->name, sizeof(node->name), "%.*s/%s", (int)(found - text), text,
			 index);
}

static int add_node(struct builder *builder, struct hash_table *by_guid, const uint8_t *record)
{
	struct record_lid id;
	struct node_info info;

	record_lid_decode(record, &id);
	node_info_decode(record + NODE_RECORD_INFO_OFFSET, &info);
	if (!id.lid || id.lid >= LID_COUNT || builder->node_of_lid[id.lid] != NONE)
		return 0;

	struct perf_node *node = hash_table_get(by_guid, info.node_guid);

	if (!node) {
		node = &builder->nodes->nodes[builder->nodes->node_count];
		*node = (struct perf_node){.guid = info.node_guid, .type = info.node_type};
		take_name(node, record + NODE_RECORD_DESCRIPTION_OFFSET);
		builder->port_count[builder->nodes->node_count] = info.port_count;

		int error = hash_table_put(by_guid, node->guid, node);

		if (error)
			return error;
		builder->nodes->node_count++;
	}
	builder->node_of_lid[id.lid] = (uint32_t)(node - builder->nodes->nodes);
	builder->guid_of_lid[id.lid] = info.port_guid;
	return 0;
}

static int add_nodes(struct builder *builder, const struct perf_table *records)
{
	struct hash_table by_guid;
	int error = 0;

	hash_table_init(&by_guid);
	for (size_t i = 0; i < records->record_count && !error; i++)
		error = add_node(builder, &by_guid, record_at(records, i));
	hash_table_release(&by_guid);
	return error;
}

static bool knows(const struct builder *builder, uint32_t node, unsigned number)
{
	return builder->known[node][number / 64] >> number % 64 & 1;
}

/* NONE: the record names no port whose counters can be read. Port 0 of a switch has no link. */
static uint32_t node_of(const struct builder *builder, uint16_t lid, uint8_t number)
{
	uint32_t node = lid < LID_COUNT ? builder->node_of_lid[lid] : NONE;

	return node != NONE && number > 0 && number <= builder->port_count[node] ? node : NONE;
}

static struct perf_port *port_at(const struct builder *builder, uint32_t node, unsigned number)
{
	uint32_t index = builder->nodes->nodes[node].first_port;

	for (unsigned word = 0; word < number / 64; word++)
		index += (uint32_t)__builtin_popcountll(builder->known[node][word]);
	index += (uint32_t)__builtin_popcountll(builder->known[node][number / 64] &
						((1ull << number % 64) - 1));
	return &builder->nodes->ports[index];
}

/* The first pass over the port records counts, the second fills in. */
static void count_ports(struct builder *builder, const struct perf_table *records)
{
	struct perf_nodes *nodes = builder->nodes;

	for (size_t i = 0; i < records->record_count; i++) {
		struct port_record_id id;

		port_record_id_decode(record_at(records, i), &id);

		uint32_t node = node_of(builder, id.lid, id.port_number);

		if (node == NONE || knows(builder, node, id.port_number))
			continue;
		builder->known[node][id.port_number / 64] |= 1ull << id.port_number % 64;
		nodes->nodes[node].port_count++;
		nodes->port_count++;
	}

	uint32_t first = 0;

	for (uint32_t i = 0; i < nodes->node_count; i++) {
		nodes->nodes[i].first_port = first;
		first += nodes->nodes[i].port_count;
	}
}

static void fill_ports(struct builder *builder, const struct perf_table *records)
{
	for (size_t i = 0; i < records->record_count; i++) {
		const uint8_t *record = record_at(records, i);
		struct port_record_id id;
		struct port_info info;

		port_record_id_decode(record, &id);

		uint32_t node = node_of(builder, id.lid, id.port_number);

		if (node == NONE)
			continue;
		port_info_decode(record + PORT_INFO_RECORD_INFO_OFFSET, &info);

		struct perf_port *port = port_at(builder, node, id.port_number);

		port->node = &builder->nodes->nodes[node];
		port->number = id.port_number;
		port->lid = id.lid;
		port->guid = builder->guid_of_lid[id.lid];
		port->state = info.port_state;
		port->rate_mbps =
			link_data_mbps(info.link_width_active,
				       link_speed_from_port_info(info.link_speed_active,
								 info.link_speed_ext_active,
								 info.link_speed_ext2_active));
	}
}

static void connect_ports(struct builder *builder, const struct perf_table *links)
{
	for (size_t i = 0; i < links->record_count; i++) {
		struct link_record link;

		link_record_decode(record_at(links, i), &link);

		uint32_t from = node_of(builder, link.from_lid, link.from_port);
		uint32_t to = node_of(builder, link.to_lid, link.to_port);

		if (from != NONE && to != NONE && knows(builder, from, link.from_port) &&
		    knows(builder, to, link.to_port))
			port_at(builder, from, link.from_port)->peer =
				port_at(builder, to, link.to_port);
	}
}

static int build(struct builder *builder, const struct perf_table *node_records,
		 const struct perf_table *port_infos, const struct perf_table *links)
{
	struct perf_nodes *nodes = builder->nodes;
	int error;

	for (unsigned lid = 0; lid < LID_COUNT; lid++)
		builder->node_of_lid[lid] = NONE;
	nodes->nodes = calloc(node_records->record_count + 1, sizeof(*nodes->nodes));
	builder->known = calloc(node_records->record_count + 1, sizeof(*builder->known));
	builder->port_count = calloc(node_records->record_count + 1, 1);
	if (!nodes->nodes || !builder->known || !builder->port_count)
		return -ENOMEM;
	error = add_nodes(builder, node_records);
	if (error)
		return error;
	count_ports(builder, port_infos);
	nodes->ports = calloc((size_t)nodes->port_count + 1, sizeof(*nodes->ports));
	if (!nodes->ports)
		return -ENOMEM;
	fill_ports(builder, port_infos);
	connect_ports(builder, links);
	return 0;
}

int perf_nodes_build(struct perf_nodes *ret_nodes, const struct perf_table *node_records,
		     const struct perf_table *port_infos, const struct perf_table *links)
{
	struct perf_nodes nodes = {0};
	struct builder *builder;
	int error;

	if (!table_is_sound(node_records, NODE_RECORD_BYTES) ||
	    !table_is_sound(port_infos, PORT_INFO_RECORD_BYTES) ||
	    !table_is_sound(links, LINK_RECORD_BYTES))
		return -EPROTO;
	builder = calloc(1, sizeof(*builder));
	if (!builder)
		return -ENOMEM;
	builder->nodes = &nodes;
	error = build(builder, node_records, port_infos, links);
	free(builder->known);
	free(builder->port_count);
	free(builder);
	if (error)
		perf_nodes_release(&nodes);
	else
		*ret_nodes = nodes;
	return error;
}

void perf_nodes_release(struct perf_nodes *nodes)
{
	free(nodes->nodes);
	free(nodes->ports);
	*nodes = (struct perf_nodes){0};
}

/* The node's port of this number; NULL: it has none. */
static struct perf_port *port_of(const struct perf_nodes *nodes, const struct perf_node *node,
				 uint8_t number)
{
	for (uint32_t i = 0; i < node->port_count; i++)
		if (nodes->ports[node->first_port + i].number == number)
			return &nodes->ports[node->first_port + i];
	return NULL;
}

static void adopt_node(struct perf_nodes *nodes, struct perf_node *node,
		       const struct perf_nodes *before, const struct perf_node *former)
{
	/* A node that had no agent is asked again. */
	node->agent = former->agent == PERF_AGENT_KNOWN ? PERF_AGENT_KNOWN : PERF_AGENT_UNKNOWN;
	node->was_silent = former->was_silent;
	node->capability_mask = former->capability_mask;
	node->capability_mask2 = former->capability_mask2;
	node->sources = former->sources;
	node->wait_tick = former->wait_tick;
	node->is_redirected = former->is_redirected;
	node->place = former->place;
	for (uint32_t i = 0; i < node->port_count; i++) {
		struct perf_port *port = &nodes->ports[node->first_port + i];
		const struct perf_port *same = port_of(before, former, port->number);

		if (same)
			port->history = same->history;
	}
}

void perf_nodes_adopt(struct perf_nodes *nodes, const struct perf_nodes *before)
{
	struct hash_table by_guid;

	hash_table_init(&by_guid);
	for (uint32_t i = 0; i < before->node_count; i++)
		if (hash_table_put(&by_guid, before->nodes[i].guid, &before->nodes[i]) == -ENOMEM)
			break; /* The others begin a new history. */
	for (uint32_t i = 0; i < nodes->node_count; i++) {
		const struct perf_node *former = hash_table_get(&by_guid, nodes->nodes[i].guid);

		if (former)
			adopt_node(nodes, &nodes->nodes[i], before, former);
	}
	hash_table_release(&by_guid);
}

const struct perf_port *perf_nodes_find(const struct perf_nodes *nodes, uint64_t node_guid,
					uint8_t port_number)
{
	for (uint32_t i = 0; i < nodes->node_count; i++)
		if (nodes->nodes[i].guid == node_guid)
			return port_of(nodes, &nodes->nodes[i], port_number);
	return NULL;
}

uint16_t perf_nodes_lid_of(const struct perf_nodes *nodes, uint64_t port_guid)
{
	for (uint32_t i = 0; i < nodes->port_count; i++)
		if (nodes->ports[i].guid == port_guid)
			return nodes->ports[i].lid;
	return 0;
}

void perf_port_name(const struct perf_port *port, char ret_text[static PERF_PORT_NAME_BYTES])
{
	snprintf(ret_text, PERF_PORT_NAME_BYTES, "%s:%u", port->node->name, port->number);
}
