/* SPDX-License-Identifier: Apache-2.0 */
/* Port lines of a topology text: cables, widths and speeds, aliases. */
#include "fabric/topology/topology_line.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "fabric/topology/topology.h"
#include "net/link/lane_tables.h"

enum { ADDRESS_BYTES_MAX = 64 };

/* "4xEDR" in the comment, outside quotes: the active width and speed, which the port must be
 * capable of. */
static void read_rate(const char *at, struct declared_port *port)
{
	static const struct {
		const char *name;
		uint8_t speeds, extended_speeds, second_extended_speeds;
	} speeds[] = {
		{"SDR", 1, 0, 0},   {"DDR", 3, 0, 0},  {"QDR", 7, 0, 0},
		{"FDR10", 7, 0, 0}, {"FDR", 7, 1, 0},  {"EDR", 7, 3, 0},
		{"HDR", 7, 7, 0},   {"NDR", 7, 15, 0}, {"XDR", 7, 15, 1},
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
			port->second_extended_speeds = speeds[s].second_extended_speeds;
		}
	}
}

/* ip=address or ip=address/prefix at the cursor, once for each IP version. */
static int read_address(struct topology_line *line, const char **at, struct declared_port *port)
{
	char text[ADDRESS_BYTES_MAX];
	size_t length = strcspn(*at + 3, " \t#");
	struct ip_network network;

	snprintf(text, sizeof(text), "%.*s", (int)(length < sizeof(text) ? length : 0), *at + 3);
	*at += 3 + length;
	if (!ip_network_parse(text, &network))
		return topology_fail(line->error, line->line, "\"%s\" is no IP address", text);
	if (line->current->type != NODE_CA)
		return topology_fail(line->error, line->line,
				     "\"%s\": only ports of adapters have IP addresses",
				     line->current->name);
	if (!ip_address_is_for_ports(network.ip_version, &network.address))
		return topology_fail(line->error, line->line, "%s is not an address for a port",
				     text);

	struct ip_network *place =
		network.ip_version == 4 ? &port->networks.ipv4 : &port->networks.ipv6;

	if (place->ip_version)
		return topology_fail(line->error, line->line, "%s: the port has an IPv%u address",
				     text, network.ip_version);
	*place = network;
	return 0;
}

int line_read_vls(struct topology_line *line, const char *text, uint8_t *ret_vl_cap)
{
	char *end;
	unsigned long count = strtoul(text, &end, 10);
	bool is_number = isdigit((unsigned char)*text) && (*end == '\0' || strchr(" \t#", *end));
	uint8_t code = is_number && count <= DATA_VLS_MAX ? vl_code_of((unsigned)count) : 0;

	if (!code)
		return topology_fail(line->error, line->line,
				     "\"vls=%.8s\": a port has 1, 2, 4, 8 or 15 data VLs", text);
	*ret_vl_cap = code;
	return 0;
}

/* w=, s=, e=, vls= and ip= up to the comment. In e, 16 means XDR; the other bits are those of
 * LinkSpeedExtSupported. */
static int read_options(struct topology_line *line, const char *at, struct declared_port *port)
{
	for (at = skip_blanks(at); *at && *at != '#'; at = skip_blanks(at)) {
		char *end;
		char option = *at;

		if (strncmp(at, "ip=", 3) == 0) {
			int error = read_address(line, &at, port);

			if (error)
				return error;
			continue;
		}

		if (strncmp(at, "vls=", 4) == 0) {
			int error = line_read_vls(line, at + 4, &port->vl_cap);

			if (error)
				return error;
			at += strcspn(at, " \t#");
			continue;
		}
		if (!strchr("wse", option) || at[1] != '=' || !isdigit((unsigned char)at[2]))
			return topology_fail(line->error, line->line, "unknown option \"%.16s\"",
					     at);

		unsigned long value = strtoul(at + 2, &end, 0);

		if (option == 'w' && value >= 1 && value <= WIDTHS_ALL)
			port->widths = (uint8_t)value;
		else if (option == 's' && value <= 7)
			port->speeds = value ? (uint8_t)value : SPEEDS_QDR;
		else if (option == 'e' && value <= 31) {
			port->extended_speeds = (int)value & 15;
			port->second_extended_speeds = (uint8_t)(value >> 4);
		} else
			return topology_fail(line->error, line->line,
					     "option \"%c=%lu\" is out of range", option, value);
		at = end;
	}
	return 0;
}

/* (guid) at the cursor, if there is one. */
static int read_port_guid(struct topology_line *line, const char **at, uint64_t *ret_guid)
{
	if (**at != '(')
		return 0;

	const char *end = strchr(*at, ')');

	if (!end)
		return topology_fail(line->error, line->line, "\"(\" without \")\"");

	int error = line_read_guid(line, *at + 1, ret_guid);

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
static int read_remote(struct topology_line *line, const char **at, struct declared_port *port)
{
	char remote[2 * TOPOLOGY_NAME_BYTES];
	uint64_t ignored_guid;
	int error = line_read_quoted(line, at, "cable", sizeof(remote), remote);

	if (error)
		return error;

	char *alias = strchr(remote, '@');

	if (alias)
		*alias++ = '\0';
	if (!copy_name(remote, port->remote) || !copy_name(alias ? alias : "", port->remote_alias))
		return topology_fail(line->error, line->line,
				     "cable: a name has 1 to %d characters",
				     TOPOLOGY_NAME_BYTES - 1);
	port->remote_port = 1;
	if (**at == '[' && !read_bracketed(at, &port->remote_port))
		return topology_fail(line->error, line->line,
				     "the remote port is not a number in brackets");
	return read_port_guid(line, at, &ignored_guid);
}

int line_read_port(struct topology_line *line, const char *at)
{
	struct declared_node *node = line->current;
	struct declared_port port = {
		.line = line->line,
		.widths = line->default_widths,
		.speeds = line->default_speeds,
		.extended_speeds =
			line->default_extended_speeds < 0 ? -1 : line->default_extended_speeds & 15,
		.second_extended_speeds = line->default_extended_speeds > 15,
		.vl_cap = line->default_vl_cap,
	};
	unsigned number;

	if (!node)
		return topology_fail(line->error, line->line, "a port line outside a node");
	if (!read_bracketed(&at, &number))
		return topology_fail(line->error, line->line,
				     "the port is not a number in brackets");
	if (number < 1 || number > node->port_count)
		return topology_fail(line->error, line->line, "port %u: \"%s\" has ports 1 to %u",
				     number, node->name, node->port_count);
	if (node->ports[number].line)
		return topology_fail(line->error, line->line,
				     "port %u of \"%s\" was used in line %u already", number,
				     node->name, node->ports[number].line);

	int error = read_port_guid(line, &at, &port.guid);

	if (!error)
		error = read_remote(line, &at, &port);
	if (error)
		return error;

	const char *comment = strchr(at, '#');

	if (comment)
		read_rate(comment, &port);
	error = read_options(line, at, &port);
	if (!error)
		node->ports[number] = port;
	return error;
}

/* @[p] "alias" */
int line_read_alias(struct topology_line *line, const char *at)
{
	struct declared_node *node = line->current;
	unsigned number;

	if (!node || !read_bracketed(&at, &number) || number < 1 || number > node->port_count)
		return topology_fail(line->error, line->line,
				     "an alias for a port that does not exist");
	if (!node->aliases)
		node->aliases = calloc(node->port_count + 1, sizeof(*node->aliases));
	if (!node->aliases)
		return -ENOMEM;
	return line_read_quoted(line, &at, "alias", TOPOLOGY_NAME_BYTES, node->aliases[number]);
}
