/* SPDX-License-Identifier: Apache-2.0 */
/* The port that a request on the control socket names. */
#include "daemon/control/named_port.h"

#include <errno.h>
#include "daemon/commands.h"
#include "daemon/daemon.h"
#include "mgmt/agents/node_fields.h"
#include "net/node/node.h"

struct port *named_port_find(const struct daemon *daemon, const json_t *request,
			     const char *node_key, const char *port_key, struct reply *ret_reply)
{
	const char *name = json_string_value(json_object_get(request, node_key));
	const json_t *number = json_object_get(request, port_key);
	struct node *node = name ? daemon_core_find_node(&daemon->core, name) : NULL;

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
