/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Forwarding tables from text, as dump_lfts and OpenSM write them:
 *
 *   Unicast lids [0x0-0x9] of switch Lid 3 guid 0x025f1b0200010000 (switch-1):
 *   0x0001 005 : (Channel Adapter portguid ...)
 *
 * What follows the port on a line, and lines that are neither, mean nothing.
 */
#include "mgmt/routing/table_file.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "mgmt/routing/minhop.h"

enum { LINE_BYTES_MAX = 512, DIGITS_MAX = 16 };

struct reader {
	struct routing_graph *graph;
	struct routing_switch *node; /* the switch of these lines; NULL: not in the graph */
	bool has_header;
	const char *reason;
};

static struct routing_switch *find_switch(struct routing_graph *graph, uint64_t guid)
{
	for (uint32_t i = 0; i < graph->switch_count; i++)
		if (graph->switches[i].guid == guid)
			return &graph->switches[i];
	return NULL;
}

/* Advances the text past the number. */
static bool read_number(const char **text, int base, uint64_t max, uint64_t *ret_number)
{
	char *end;

	if (!isxdigit((unsigned char)**text))
		return false;
	errno = 0;

	unsigned long long number = strtoull(*text, &end, base);

	if (errno || end == *text || number > max)
		return false;
	*text = end;
	*ret_number = number;
	return true;
}

static bool read_header(struct reader *reader, const char *line)
{
	const char *guid_text = strstr(line, "guid ");
	uint64_t guid;

	if (guid_text)
		guid_text += strlen("guid ");
	if (!guid_text || !read_number(&guid_text, 16, UINT64_MAX, &guid)) {
		reader->reason = "a switch without a GUID";
		return false;
	}
	reader->node = find_switch(reader->graph, guid);
	reader->has_header = true;
	return true;
}

static bool read_route(struct reader *reader, const char *line)
{
	uint64_t lid, port;

	if (!reader->has_header) {
		reader->reason = "a route before the first switch";
		return false;
	}
	if (!read_number(&line, 16, UINT16_MAX, &lid)) {
		reader->reason = "not a LID";
		return false;
	}
	while (*line == ' ' || *line == '\t')
		line++;
	if (!read_number(&line, 10, ROUTING_NO_PORT, &port)) {
		reader->reason = "not a port number";
		return false;
	}
	if (!reader->node || lid > reader->graph->lid_max)
		return true;
	if (port > reader->node->port_count && port != ROUTING_NO_PORT) {
		reader->reason = "the switch has no such port";
		return false;
	}
	reader->node->table[lid] = (uint8_t)port;
	return true;
}

static bool read_line(struct reader *reader, const char *line)
{
	while (*line == ' ' || *line == '\t')
		line++;
	if (strncmp(line, "Unicast lids", strlen("Unicast lids")) == 0)
		return read_header(reader, line);
	if (line[0] == '0' && (line[1] == 'x' || line[1] == 'X'))
		return read_route(reader, line);
	return true;
}

int table_file_read(struct routing_graph *graph, const char *text, size_t byte_count,
		    struct table_file_error *ret_error)
{
	struct reader reader = {.graph = graph};
	unsigned line_number = 1;

	for (size_t offset = 0; offset < byte_count; line_number++) {
		const char *end = memchr(text + offset, '\n', byte_count - offset);
		size_t length = (end ? (size_t)(end - text) : byte_count) - offset;
		char line[LINE_BYTES_MAX];
		bool is_good = length < sizeof(line);

		if (!is_good) {
			reader.reason = "the line is too long";
		} else {
			memcpy(line, text + offset, length);
			line[length] = '\0';
			is_good = read_line(&reader, line);
		}
		if (!is_good) {
			*ret_error = (struct table_file_error){line_number, reader.reason};
			return -EINVAL;
		}
		offset += length + 1;
	}
	return 0;
}

static void forget_routes(struct routing_graph *graph)
{
	for (uint32_t i = 0; i < graph->switch_count; i++)
		memset(graph->switches[i].table, ROUTING_NO_PORT, graph->lid_max + 1u);
}

static bool is_mentioned(const struct routing_graph *graph, uint16_t lid)
{
	for (uint32_t i = 0; i < graph->switch_count; i++)
		if (graph->switches[i].table[lid] != ROUTING_NO_PORT)
			return true;
	return false;
}

/* LIDs that the text leaves out get the routes of min-hop. */
static void fill_in(struct routing_graph *graph, const uint8_t *minhop_tables)
{
	for (uint32_t i = 0; i < graph->destination_count; i++) {
		uint16_t lid = graph->destinations[i].lid;

		if (is_mentioned(graph, lid))
			continue;
		for (uint32_t index = 0; index < graph->switch_count; index++)
			graph->switches[index].table[lid] =
				minhop_tables[(size_t)index * (graph->lid_max + 1u) + lid];
	}
}

int table_file_route(struct routing_graph *graph, const struct routing_hints *hints)
{
	struct table_file_error file_error;
	size_t table_bytes = graph->lid_max + 1u;
	int error = minhop_route(graph);

	if (!error && !hints->tables_text)
		error = -EOPNOTSUPP;
	if (error)
		return error;

	uint8_t *minhop_tables = malloc(graph->switch_count * table_bytes + 1);

	if (!minhop_tables)
		return -ENOMEM;
	for (uint32_t i = 0; i < graph->switch_count; i++)
		memcpy(minhop_tables + i * table_bytes, graph->switches[i].table, table_bytes);
	forget_routes(graph);
	if (table_file_read(graph, hints->tables_text, hints->tables_bytes, &file_error))
		error = -EOPNOTSUPP;
	else
		fill_in(graph, minhop_tables);
	free(minhop_tables);
	return error;
}
