/* SPDX-License-Identifier: Apache-2.0 */
/* The port that a request on the control socket names. */
#include "daemon/control/named_port.h"

#include <errno.h>
#include "daemon/commands.h"
#include "daemon/daemon.h"
#include "fabric/topology/port_names.h"
#include "mgmt/agents/node_fields.h"
#include "net/node/node.h"

/* The first adapter of a host, or a node by its name, description or GUID. */
static struct node *find_node(const struct daemon *daemon, const char *name)
{
	struct host *host = host_table_find(&daemon->core.hosts, name);

	if (host && host->adapter_count)
		return host->adapters[0]->node;
	return port_names_find_node(&daemon->core.fabric, name);
}

struct port *named_port_find(const struct daemon *daemon, const json_t *request,
			     const char *node_key, const char *port_key, struct reply *ret_reply)
{
	const char *name = json_string_value(json_object_get(request, node_key));
	const json_t *number = json_object_get(request, port_key);
	struct node *node = name ? find_node(daemon, name) : NULL;

	if (!node) {
		reply_error(ret_reply, ENOENT, "no host, switch or GUID %.*s in fabric %s",
			    NAME_SHOWN, name ? name : "", daemon->options.fabric_name);
		return NULL;
	}

	json_int_t wanted = json_is_integer(number) ? json_integer_value(number) : -1;
	struct port *port =
		wanted <= UINT8_MAX ? node_field_port(node, wanted < 0 ? -1 : (int)wanted) : NULL;

	if (!port)
		reply_error(ret_reply, ENOENT, "%.*s has no port %d", NAME_SHOWN, name,
			    (int)wanted);
	return port;
}
