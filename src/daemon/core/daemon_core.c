/* SPDX-License-Identifier: Apache-2.0 */
/* The state that every part of softibd works on, and its list of changed ports. */
#include "daemon/core/daemon_core.h"

void daemon_core_init(struct daemon_core *core)
{
	*core = (struct daemon_core){.loop.epoll = -1, .grants_due = TIME_NEVER};
	client_table_init(&core->clients);
	list_init(&core->changed_endpoints);
}

void daemon_core_port_changed(struct daemon_core *core, struct port *port)
{
	struct endpoint *endpoint = port->endpoint;

	if (endpoint && !list_is_linked(&endpoint->changed_link))
		list_append(&core->changed_endpoints, &endpoint->changed_link);
}
