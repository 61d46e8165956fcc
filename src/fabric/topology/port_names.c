/* SPDX-License-Identifier: Apache-2.0 */
/* Names of ports in commands: h1, h1:1, s1:4, or a GUID and a number. */
#include "fabric/topology/port_names.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "fabric/fabric.h"
#include "net/node/node.h"

/* The number must take up all of the text. */
static bool parse_number(const char *text, int base, uint64_t *ret_number)
{
	char *end;

	if (!isxdigit((unsigned char)text[0]))
		return false;
	errno = 0;

	unsigned long long number = strtoull(text, &end, base);

	if (*end || errno)
		return false;
	*ret_number = number;
	return true;
}

static enum node_type type_of_letter(char letter)
{
	return letter == 's' ? NODE_SWITCH : NODE_ROUTER;
}

/* "s3": the third switch of the fabric. */
static struct node *find_ordinal(const struct fabric *fabric, const char *text)
{
	uint64_t ordinal, count = 0;

	if ((text[0] != 's' && text[0] != 'r') || !parse_number(text + 1, 10, &ordinal))
		return NULL;
	for (uint32_t index = 0; index < fabric->node_count; index++) {
		struct node *node = fabric->by_index[index];

		if (node->info.node_type == type_of_letter(text[0]) && ++count == ordinal)
			return node;
	}
	return NULL;
}

struct node *port_names_find_node(const struct fabric *fabric, const char *text)
{
	struct node *node = fabric_find_name(fabric, text);
	uint64_t guid;

	if (!node && parse_number(text, 16, &guid))
		node = fabric_find_guid(fabric, guid);
	for (uint32_t index = 0; !node && index < fabric->node_count; index++) {
		if (strcmp(fabric->by_index[index]->description, text) == 0)
			node = fabric->by_index[index];
	}
	return node ? node : find_ordinal(fabric, text);
}

static int add_port(struct port_list *list, struct port *port)
{
	enum { STEP = 64 };

	if (list->port_count == PORTS_NAMED_MAX)
		return -E2BIG;
	if (list->port_count % STEP == 0) {
		struct port **ports =
			realloc(list->ports, (list->port_count + STEP) * sizeof(struct port *));

		if (!ports)
			return -ENOMEM;
		list->ports = ports;
	}
	list->ports[list->port_count++] = port;
	return 0;
}

static bool has_port(const struct port_list *list, uint32_t port_count, const struct port *port)
{
	for (uint32_t index = 0; index < port_count; index++)
		if (list->ports[index] == port)
			return true;
	return false;
}

/* Port 0 stands for all ports. A port that this name has added already is not added again. */
static int add_ports(struct port_list *list, uint32_t count_before, struct node *node,
		     unsigned port_number)
{
	int error = 0;

	for (unsigned number = 1; number <= node->port_count && !error; number++) {
		struct port *port = &node->ports[number];

		if ((port_number == 0 || number == port_number) && port->peer &&
		    !has_port(list, count_before, port))
			error = add_port(list, port);
	}
	return error;
}

/* NAME or NAME:NUMBER. A description may contain colons, so only the last one counts, and only
 * before a number. */
static void split(const char *text, char ret_name[static PORT_NAME_BYTES], uint64_t *ret_number)
{
	const char *colon = strrchr(text, ':');
	size_t length = strlen(text);

	*ret_number = 0;
	if (colon && parse_number(colon + 1, 10, ret_number))
		length = (size_t)(colon - text);
	if (length >= PORT_NAME_BYTES)
		length = PORT_NAME_BYTES - 1;
	memcpy(ret_name, text, length);
	ret_name[length] = '\0';
}

/* The nodes with this name: all, the adapters of a host, or one. */
static int add_named(const struct fabric *fabric, const char *name, unsigned port_number,
		     struct port_list *list, bool *ret_is_known)
{
	uint32_t count_before = list->port_count;
	bool is_all = strcmp(name, "*") == 0;
	int error = 0;

	*ret_is_known = is_all;
	for (uint32_t index = 0; index < fabric->node_count && !error; index++) {
		struct node *node = fabric->by_index[index];
		bool is_of_host = node->info.node_type == NODE_CA && strcmp(node->host, name) == 0;

		if (!is_all && !is_of_host)
			continue;
		*ret_is_known = true;
		error = add_ports(list, count_before, node, port_number);
	}

	struct node *node = *ret_is_known ? NULL : port_names_find_node(fabric, name);

	if (!node)
		return error;
	*ret_is_known = true;
	return add_ports(list, count_before, node, port_number);
}

int port_names_add(const struct fabric *fabric, const char *text, struct port_list *list,
		   char *ret_reason, size_t reason_bytes)
{
	char name[PORT_NAME_BYTES];
	uint32_t count_before = list->port_count;
	uint64_t number;
	bool is_known;

	split(text, name, &number);
	if (strchr(text, ':') && (number < 1 || number > NODE_PORTS_MAX)) {
		snprintf(ret_reason, reason_bytes, "%.64s: a port has a number from 1 to %d", text,
			 NODE_PORTS_MAX);
		return -EINVAL;
	}

	int error = add_named(fabric, name, (unsigned)number, list, &is_known);

	if (error) {
		snprintf(ret_reason, reason_bytes, "%.64s: %s", text, strerror(-error));
		return error;
	}
	if (!is_known) {
		snprintf(ret_reason, reason_bytes, "no host, switch or GUID %.64s", name);
		return -ENOENT;
	}
	if (list->port_count == count_before) {
		snprintf(ret_reason, reason_bytes, "%.64s has no cable, or was named before", text);
		return -ENOENT;
	}
	return 0;
}

void port_list_release(struct port_list *list)
{
	free(list->ports);
	*list = (struct port_list){0};
}

void port_name_text(const struct port *port, char ret_text[static PORT_NAME_BYTES])
{
	const struct node *node = port->node;

	if (node->info.node_type == NODE_CA && node->host[0] && node->adapter_index > 0)
		snprintf(ret_text, PORT_NAME_BYTES, "%.48s/%u:%u", node->host, node->adapter_index,
			 port->number);
	else if (node->info.node_type == NODE_CA && node->host[0])
		snprintf(ret_text, PORT_NAME_BYTES, "%.64s:%u", node->host, port->number);
	else
		snprintf(ret_text, PORT_NAME_BYTES, "%.64s:%u", node->name, port->number);
}
