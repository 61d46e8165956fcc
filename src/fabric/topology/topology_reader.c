/* SPDX-License-Identifier: Apache-2.0 */
/* Reads a topology text line by line: the format that ibnetdiscover prints and ibsim reads
 * (management 9.1). */
#include "fabric/topology/topology_reader.h"

#include <ctype.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "fabric/topology/topology.h"
#include "fabric/topology/topology_line.h"
#include "net/node/node.h"

enum { LINE_BYTES_MAX = 1024 };

static struct declared_node *append_node(struct declarations *declarations)
{
	if (declarations->node_count == declarations->node_capacity) {
		uint32_t capacity =
			declarations->node_capacity ? declarations->node_capacity * 2 : 64;
		struct declared_node *nodes =
			realloc(declarations->nodes, capacity * sizeof(*nodes));

		if (!nodes)
			return NULL;
		declarations->nodes = nodes;
		declarations->node_capacity = capacity;
	}

	struct declared_node *node = &declarations->nodes[declarations->node_count];

	*node = (struct declared_node){0};
	return node;
}

/* Node ids as ibnetdiscover prints them end in the GUID. */
static uint64_t guid_in_name(const char *name)
{
	if ((name[0] != 'S' && name[0] != 'H' && name[0] != 'R') || name[1] != '-' ||
	    strlen(name) != 18 || strspn(name + 2, "0123456789abcdefABCDEF") != 16)
		return 0;
	return strtoull(name + 2, NULL, 16);
}

/* The first quoted text of the comment. */
static void read_description(const char *at, struct declared_node *node)
{
	const char *start = strchr(at, '#');
	const char *end;

	start = start ? strchr(start, '"') : NULL;
	end = start ? strchr(start + 1, '"') : NULL;
	if (!end || end == start + 1) {
		snprintf(node->description, sizeof(node->description), "%s", node->name);
		return;
	}
	snprintf(node->description, sizeof(node->description), "%.*s", (int)(end - start - 1),
		 start + 1);
	node->has_enhanced_port_0 = strstr(end, " enhanced port 0") != NULL;
}

static int read_node(struct topology_line *line, enum node_type type, const char *at)
{
	struct declared_node *node = append_node(line->declarations);
	char *end;

	if (!node)
		return -ENOMEM;
	at = skip_blanks(at);

	unsigned long port_count = strtoul(at, &end, 0);

	if (!isdigit((unsigned char)*at) || port_count < 1 || port_count > NODE_PORTS_MAX)
		return topology_fail(line->error, line->line, "a node has 1 to %d ports",
				     NODE_PORTS_MAX);
	at = end;

	int error = line_read_quoted(line, &at, "node", sizeof(node->name), node->name);

	if (error)
		return error;
	if (strpbrk(node->name, "#@"))
		return topology_fail(line->error, line->line, "\"%s\": no # and @ in names",
				     node->name);
	node->line = line->line;
	node->type = type;
	node->port_count = (unsigned)port_count;
	node->guid = line->next_guid[type] ? line->next_guid[type]++ : guid_in_name(node->name);
	node->system_image_guid = line->next_system_image_guid;
	line->next_system_image_guid = 0;
	read_description(at, node);
	node->ports = calloc(port_count + 1, sizeof(*node->ports));
	if (!node->ports)
		return -ENOMEM;
	line->declarations->node_count++;
	line->current = node;
	return 0;
}

static const char *after_prefix(const char *text, const char *prefix)
{
	size_t length = strlen(prefix);

	return strncmp(text, prefix, length) == 0 ? text + length : NULL;
}

static int read_setting(struct topology_line *line, const char *text)
{
	static const struct {
		const char *prefix;
		enum node_type type;
	} guids[] = {{"switchguid=", NODE_SWITCH},
		     {"caguid=", NODE_CA},
		     {"hcaguids=", NODE_CA},
		     {"rtguid=", NODE_ROUTER}};
	const char *value;

	for (unsigned i = 0; i < ARRAY_COUNT(guids); i++)
		if ((value = after_prefix(text, guids[i].prefix)))
			return line_read_guid(line, value, &line->next_guid[guids[i].type]);
	if ((value = after_prefix(text, "sysimgguid=")))
		return line_read_guid(line, value, &line->next_system_image_guid);
	if ((value = after_prefix(text, "width=")))
		line->default_widths = (uint8_t)(strtoul(value, NULL, 0) & WIDTHS_ALL);
	else if ((value = after_prefix(text, "speed=")))
		line->default_speeds = (uint8_t)(strtoul(value, NULL, 0) & SPEEDS_QDR);
	else if ((value = after_prefix(text, "extspeed=")))
		line->default_extended_speeds = (int)(strtoul(value, NULL, 0) & 31);
	else if ((value = after_prefix(text, "vls=")))
		return line_read_vls(line, value, &line->default_vl_cap);
	else if (after_prefix(text, "include ") || after_prefix(text, "module="))
		return topology_fail(line->error, line->line,
				     "include and module are not supported");
	/* vendid= and devid= are ignored: softib never claims to be another vendor's product. Other
	 * unknown lines belong to ibnetdiscover or ibsim. */
	return 0;
}

static int read_line(struct topology_line *line, const char *text)
{
	static const struct {
		const char *word;
		enum node_type type;
		bool is_target;
	} words[] = {{"Switch", NODE_SWITCH, false},
		     {"Ca", NODE_CA, false},
		     {"Hca", NODE_CA, false},
		     {"Tca", NODE_CA, true},
		     {"Rt", NODE_ROUTER, false}};

	text = skip_blanks(text);
	if (*text == '[')
		return line_read_port(line, text);
	if (*text == '@')
		return line_read_alias(line, text + 1);
	/* A comment may stand inside a record; anything else ends it. */
	if (*text == '#')
		return 0;
	line->current = NULL;
	for (unsigned i = 0; i < ARRAY_COUNT(words); i++) {
		const char *rest = after_prefix(text, words[i].word);

		if (!rest || (*rest != ' ' && *rest != '\t'))
			continue;

		int error = read_node(line, words[i].type, rest);

		if (!error)
			line->current->is_target = words[i].is_target;
		return error;
	}
	return read_setting(line, text);
}

int declarations_read(struct declarations *declarations, const char *text, size_t text_bytes,
		      struct topology_error *ret_error)
{
	struct topology_line reader = {
		.declarations = declarations,
		.error = ret_error,
		.default_extended_speeds = -1,
	};
	const char *end = text + text_bytes;

	*declarations = (struct declarations){0};
	while (text < end) {
		const char *line_end = memchr(text, '\n', (size_t)(end - text));
		size_t length = (size_t)((line_end ? line_end : end) - text);
		char line[LINE_BYTES_MAX];

		reader.line++;
		if (length >= sizeof(line) || memchr(text, '\0', length))
			return topology_fail(ret_error, reader.line, "not a line of text");
		memcpy(line, text, length);
		line[length] = '\0';
		if (length && line[length - 1] == '\r')
			line[length - 1] = '\0';

		int error = read_line(&reader, line);

		if (error)
			return error;
		text += length + 1;
	}
	return 0;
}

void declarations_release(struct declarations *declarations)
{
	for (uint32_t index = 0; index < declarations->node_count; index++) {
		free(declarations->nodes[index].ports);
		free(declarations->nodes[index].aliases);
	}
	free(declarations->nodes);
	*declarations = (struct declarations){0};
}
