/* SPDX-License-Identifier: Apache-2.0 */
/* Names of nodes and ports in commands: h1, h1:1, s1:4, or a GUID and a number. */
#ifndef SOFTIB_FABRIC_TOPOLOGY_PORT_NAMES_H
#define SOFTIB_FABRIC_TOPOLOGY_PORT_NAMES_H

#include <stddef.h>
#include <stdint.h>
#include "base/attributes.h"

struct fabric;
struct node;
struct port;

enum { PORT_NAME_BYTES = 96, PORTS_NAMED_MAX = 65536 };

struct port_list {
	struct port **ports;
	uint32_t port_count;
};

/* A node's name, description or GUID; "s3" is also the third switch, "r1" the first router. NULL:
 * no such node. */
struct node *port_names_find_node(const struct fabric *fabric, const char *text);

/* Adds the cabled ports that the text names: all of a host or node, one of its ports, or "*" for
 * every port. Returns 0, or -ENOENT, -EINVAL or -ENOMEM with a sentence that says why. */
MUST_USE int port_names_add(const struct fabric *fabric, const char *text, struct port_list *list,
			    char *ret_reason, size_t reason_bytes);
void port_list_release(struct port_list *list);

/* "h1:1", "h1/1:1" on the second adapter of a host, "S-...:4" */
void port_name_text(const struct port *port, char ret_text[static PORT_NAME_BYTES]);

#endif
