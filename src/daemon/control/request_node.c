/* SPDX-License-Identifier: Apache-2.0 */
/* The node and the port that a request on the control socket names. */
#include "daemon/control/request_node.h"

#include <errno.h>
#include "daemon/daemon.h"
#include "fabric/topology/port_names.h"
#include "mgmt/agents/node_fields.h"
#include "net/node/node.h"

enum { NAME_SHOWN = 64 };

static struct node *find_node(const struct daemon *daemon, const char *name)
{
	struct host *host = host_table_find(&daemon->core.hosts, name);

	if (host && host->adapter_count)
		return host->adapters[0]->node;
	return port_names_find_node(&daemon->core.fabric, name);
}

struct port *request_port(const struct daemon *daemon, const json_t *request,
			  struct reply *ret_reply)
{
	const char *name = json_string_value(json_object_get(request, "node"));
	const json_t *number = json_object_get(request, "port");
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
