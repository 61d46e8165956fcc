/* SPDX-License-Identifier: Apache-2.0 */
/* Reads a topology text line by line: the format that ibnetdiscover prints and ibsim reads. */
#include "fabric/topology_reader.h"

#include <ctype.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "fabric/topology.h"
#include "net/node/node.h"

enum { LINE_BYTES_MAX = 1024, KIND_COUNT = NODE_ROUTER + 1, SPEEDS_QDR = 7, WIDTHS_ALL = 31 };

struct reader {
	struct declarations *declarations;
	struct topology_error *error;
	unsigned line;
	struct declared_node *current;	/* whose port lines follow; NULL: none */
	uint64_t next_guid[KIND_COUNT]; /* of the next node of that kind; 0: none given */
	uint64_t next_system_image_guid;
	uint8_t default_widths;
	uint8_t default_speeds;
	int default_extended_speeds;
};

static const char *skip_blanks(const char *at)
{
	while (*at == ' ' || *at == '\t')
		at++;
	return at;
}

/* "name" at the cursor. */
static int read_quoted(struct reader *reader, const char **at, const char *what, size_t room,
		       char *ret_name)
{
	const char *start = skip_blanks(*at);
	const char *end = *start == '"' ? strchr(start + 1, '"') : NULL;

	if (!end)
		return topology_fail(reader->error, reader->line,
				     "%s: a name in double quotes is missing", what);

	size_t length = (size_t)(end - start - 1);

	if (length == 0 || length >= room)
		return topology_fail(reader->error, reader->line,
				     "%s: a name has 1 to %zu characters", what, room - 1);
	memcpy(ret_name, start + 1, length);
	ret_name[length] = '\0';
	*at = end + 1;
	return 0;
}

static int read_guid(struct reader *reader, const char *text, uint64_t *ret_guid)
{
	char *end;

	errno = 0;

	unsigned long long guid = strtoull(text, &end, 16);

	if (!isxdigit((unsigned char)*text) || errno || guid == 0)
		return topology_fail(reader->error, reader->line, "bad GUID \"%.24s\"", text);
	if (*end != '\0' && !strchr(" \t()#", *end))
		return topology_fail(reader->error, reader->line, "bad GUID \"%.24s\"", text);
	*ret_guid = guid;
	return 0;
}

/* [number] at the cursor. */
static bool read_bracketed(const char **at, unsigned *ret_number)
{
	char *end;

	if (**at != '[' || !isdigit((unsigned char)(*at)[1]))
		return false;

	unsigned long number = strtoul(*at + 1, &end, 0);

	if (*end != ']')
		return false;
	*ret_number = number > 255 ? 256 : (unsigned)number;
	*at = end + 1;
	return true;
}

/* --- nodes --- */

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

/* ids as ibnetdiscover prints them end in the GUID. */
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
}

static int read_node(struct reader *reader, enum node_type type, const char *at)
{
	struct declared_node *node = append_node(reader->declarations);
	char *end;

	if (!node)
		return -ENOMEM;
	at = skip_blanks(at);

	unsigned long port_count = strtoul(at, &end, 0);

	if (!isdigit((unsigned char)*at) || port_count < 1 || port_count > NODE_PORTS_MAX)
		return topology_fail(reader->error, reader->line, "a node has 1 to %d ports",
				     NODE_PORTS_MAX);
	at = end;

	int error = read_quoted(reader, &at, "node", sizeof(node->name), node->name);

	if (error)
		return error;
	if (strpbrk(node->name, "#@"))
		return topology_fail(reader->error, reader->line, "\"%s\": no # and @ in names",
				     node->name);
	node->line = reader->line;
	node->type = type;
	node->port_count = (unsigned)port_count;
	node->guid = reader->next_guid[type] ? reader->next_guid[type]++ : guid_in_name(node->name);
	node->system_image_guid = reader->next_system_image_guid;
	reader->next_system_image_guid = 0;
	read_description(at, node);
	node->ports = calloc(port_count + 1, sizeof(*node->ports));
	if (!node->ports)
		return -ENOMEM;
	reader->declarations->node_count++;
	reader->current = node;
	return 0;
}

/* --- ports --- */

/* "4xEDR" somewhere in the comment, outside quotes: what the link runs at, so what the port is
 * capable of. */
static void read_rate(const char *at, struct declared_port *port)
{
	static const struct {
		const char *name;
		uint8_t speeds, extended_speeds;
	} speeds[] = {
		{"SDR", 1, 0}, {"DDR", 3, 0}, {"QDR", 7, 0}, {"FDR10", 7, 0},
		{"FDR", 7, 1}, {"EDR", 7, 3}, {"HDR", 7, 7}, {"NDR", 7, 15},
	};
	static const struct {
		const char *name;
		uint8_t widths;
	} widths[] = {{"1x", 1}, {"2x", 17}, {"4x", 3}, {"8x", 7}, {"12x", 15}};

	for (unsigned w = 0; w < ARRAY_COUNT(widths); w++) {
		for (unsigned s = 0; s < ARRAY_COUNT(speeds); s++) {
			char rate[16];
			const char *found;
			size_t length = (size_t)snprintf(rate, sizeof(rate), " %s%s",
							 widths[w].name, speeds[s].name);

			found = strstr(at, rate);
			if (!found ||
			    (found[length] != '\0' && !isspace((unsigned char)found[length])))
				continue;
			port->widths = widths[w].widths;
			port->speeds = speeds[s].speeds;
			port->extended_speeds = speeds[s].extended_speeds;
		}
	}
}

/* w=, s= and e= up to the comment. */
static int read_options(struct reader *reader, const char *at, struct declared_port *port)
{
	for (at = skip_blanks(at); *at && *at != '#'; at = skip_blanks(at)) {
		char *end;
		char option = *at;

		if (!strchr("wse", option) || at[1] != '=' || !isdigit((unsigned char)at[2]))
			return topology_fail(reader->error, reader->line,
					     "unknown option \"%.16s\"", at);

		unsigned long value = strtoul(at + 2, &end, 0);

		if (option == 'w' && value >= 1 && value <= WIDTHS_ALL)
			port->widths = (uint8_t)value;
		else if (option == 's' && value <= 7)
			port->speeds = value ? (uint8_t)value : SPEEDS_QDR;
		else if (option == 'e' && value <= 15)
			port->extended_speeds = (int)value;
		else
			return topology_fail(reader->error, reader->line,
					     "option \"%c=%lu\" is out of range", option, value);
		at = end;
	}
	return 0;
}

/* (guid) at the cursor, if there is one. */
static int read_port_guid(struct reader *reader, const char **at, uint64_t *ret_guid)
{
	if (**at != '(')
		return 0;

	const char *end = strchr(*at, ')');

	if (!end)
		return topology_fail(reader->error, reader->line, "\"(\" without \")\"");

	int error = read_guid(reader, *at + 1, ret_guid);

	*at = end + 1;
	return error;
}

static bool copy_name(const char *name, char ret_name[static TOPOLOGY_NAME_BYTES])
{
	size_t length = strlen(name);

	if (length >= TOPOLOGY_NAME_BYTES)
		return false;
	memcpy(ret_name, name, length + 1);
	return true;
}

/* "remoteid"[r](guid), or "remoteid@alias". */
static int read_remote(struct reader *reader, const char **at, struct declared_port *port)
{
	char remote[2 * TOPOLOGY_NAME_BYTES];
	uint64_t ignored_guid;
	int error = read_quoted(reader, at, "cable", sizeof(remote), remote);

	if (error)
		return error;

	char *alias = strchr(remote, '@');

	if (alias)
		*alias++ = '\0';
	if (!copy_name(remote, port->remote) || !copy_name(alias ? alias : "", port->remote_alias))
		return topology_fail(reader->error, reader->line,
				     "cable: a name has 1 to %d characters",
				     TOPOLOGY_NAME_BYTES - 1);
	port->remote_port = 1;
	if (**at == '[' && !read_bracketed(at, &port->remote_port))
		return topology_fail(reader->error, reader->line,
				     "the remote port is not a number in brackets");
	return read_port_guid(reader, at, &ignored_guid);
}

static int read_port(struct reader *reader, const char *at)
{
	struct declared_node *node = reader->current;
	struct declared_port port = {
		.line = reader->line,
		.widths = reader->default_widths,
		.speeds = reader->default_speeds,
		.extended_speeds = reader->default_extended_speeds,
	};
	unsigned number;

	if (!node)
		return topology_fail(reader->error, reader->line, "a port that belongs to no node");
	if (!read_bracketed(&at, &number))
		return topology_fail(reader->error, reader->line,
				     "the port is not a number in brackets");
	if (number < 1 || number > node->port_count)
		return topology_fail(reader->error, reader->line,
				     "port %u: \"%s\" has ports 1 to %u", number, node->name,
				     node->port_count);
	if (node->ports[number].line)
		return topology_fail(reader->error, reader->line,
				     "port %u of \"%s\" was used in line %u already", number,
				     node->name, node->ports[number].line);

	int error = read_port_guid(reader, &at, &port.guid);

	if (!error)
		error = read_remote(reader, &at, &port);
	if (error)
		return error;

	const char *comment = strchr(at, '#');

	if (comment)
		read_rate(comment, &port);
	error = read_options(reader, at, &port);
	if (!error)
		node->ports[number] = port;
	return error;
}

/* @[p] "alias" */
static int read_alias(struct reader *reader, const char *at)
{
	struct declared_node *node = reader->current;
	unsigned number;

	if (!node || !read_bracketed(&at, &number) || number < 1 || number > node->port_count)
		return topology_fail(reader->error, reader->line,
				     "an alias for a port that is not there");
	if (!node->aliases)
		node->aliases = calloc(node->port_count + 1, sizeof(*node->aliases));
	if (!node->aliases)
		return -ENOMEM;
	return read_quoted(reader, &at, "alias", TOPOLOGY_NAME_BYTES, node->aliases[number]);
}

/* --- lines --- */

static const char *after_prefix(const char *line, const char *prefix)
{
	size_t length = strlen(prefix);

	return strncmp(line, prefix, length) == 0 ? line + length : NULL;
}

static int read_setting(struct reader *reader, const char *line)
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
		if ((value = after_prefix(line, guids[i].prefix)))
			return read_guid(reader, value, &reader->next_guid[guids[i].type]);
	if ((value = after_prefix(line, "sysimgguid=")))
		return read_guid(reader, value, &reader->next_system_image_guid);
	if ((value = after_prefix(line, "width=")))
		reader->default_widths = (uint8_t)(strtoul(value, NULL, 0) & WIDTHS_ALL);
	else if ((value = after_prefix(line, "speed=")))
		reader->default_speeds = (uint8_t)(strtoul(value, NULL, 0) & SPEEDS_QDR);
	else if ((value = after_prefix(line, "extspeed=")))
		reader->default_extended_speeds = (int)(strtoul(value, NULL, 0) & 15);
	else if (after_prefix(line, "include ") || after_prefix(line, "module="))
		return topology_fail(reader->error, reader->line,
				     "include and module are not supported");
	/* vendid= and devid= are read past: softib never passes for somebody else's product. Lines
	 * that nobody knows are ibnetdiscover's or ibsim's own. */
	return 0;
}

static int read_line(struct reader *reader, const char *line)
{
	static const struct {
		const char *word;
		enum node_type type;
	} words[] = {
		{"Switch", NODE_SWITCH}, {"Ca", NODE_CA}, {"Hca", NODE_CA}, {"Rt", NODE_ROUTER}};

	line = skip_blanks(line);
	if (*line == '[')
		return read_port(reader, line);
	if (*line == '@')
		return read_alias(reader, line + 1);
	/* A comment may stand inside a record; anything else ends it. */
	if (*line == '#')
		return 0;
	reader->current = NULL;
	for (unsigned i = 0; i < ARRAY_COUNT(words); i++) {
		const char *rest = after_prefix(line, words[i].word);

		if (rest && (*rest == ' ' || *rest == '\t'))
			return read_node(reader, words[i].type, rest);
	}
	return read_setting(reader, line);
}

int declarations_read(struct declarations *declarations, const char *text, size_t text_bytes,
		      struct topology_error *ret_error)
{
	struct reader reader = {
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
