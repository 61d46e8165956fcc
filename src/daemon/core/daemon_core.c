/* SPDX-License-Identifier: Apache-2.0 */
/* The state that every part of softibd works on, and its list of changed ports. */
#include "daemon/core/daemon_core.h"

#include "fabric/topology/port_names.h"

void daemon_core_init(struct daemon_core *core)
{
	*core = (struct daemon_core){.loop.epoll = -1, .grants_due = TIME_NEVER};
	client_table_init(&core->clients);
	accounts_init(&core->accounts);
	fair_shares_init(&core->shares);
	file_closers_init(&core->closers);
	list_init(&core->changed_endpoints);
}

struct node *daemon_core_find_node(const struct daemon_core *core, const char *name)
{
	struct host *host = host_table_find(&core->hosts, name);

	if (host && host->adapter_count)
		return host->adapters[0]->node;
	return port_names_find_node(&core->fabric, name);
}

void daemon_core_port_changed(struct daemon_core *core, struct port *port)
{
	struct endpoint *endpoint = port->endpoint;

	if (endpoint && !list_is_linked(&endpoint->changed_link))
		list_append(&core->changed_endpoints, &endpoint->changed_link);
}
