/* SPDX-License-Identifier: Apache-2.0 */
/* A host's ports as connection management sees them. */
#include "daemon/cm/cm_port.h"

#include "daemon/core/daemon_core.h"
#include "net/node/node.h"
#include "wire/pkey.h"

void cm_host_wake(struct cm_host *host)
{
	if (!list_is_linked(&host->ready_link))
		list_append(&host->fabric->ready, &host->ready_link);
}

time_ns cm_host_now(const struct cm_host *host)
{
	return host->fabric->core->loop.now;
}

struct cm_port *cm_host_find_port(const struct cm_host *host, const struct endpoint *endpoint)
{
	for (uint32_t index = 0; index < host->port_count; index++) {
		if (host->ports[index].endpoint == endpoint)
			return &host->ports[index];
	}
	return NULL;
}

struct cm_port *cm_host_find_gid(const struct cm_host *host, const struct gid *gid)
{
	for (uint32_t index = 0; index < host->port_count; index++) {
		struct gid own = cm_port_gid(&host->ports[index]);

		if (gid_equal(&own, gid))
			return &host->ports[index];
	}
	return NULL;
}

struct cm_port *cm_host_first_port(const struct cm_host *host)
{
	for (uint32_t index = 0; index < host->port_count; index++) {
		if (port_is_active(host->ports[index].endpoint->port))
			return &host->ports[index];
	}
	return &host->ports[0];
}

/* The SA's port is a full member of the default partition, and maybe of no other. */
static uint16_t sa_pkey(const struct cm_port *port)
{
	uint16_t index;

	return cm_port_pkey_index(port, PKEY_DEFAULT_FULL, &index)
		       ? port->endpoint->port->pkeys[index]
		       : cm_port_pkey(port);
}

struct sa_client *cm_port_sa(struct cm_port *port)
{
	const struct port_info *info = &port->endpoint->port->info;
	struct gid own = cm_port_gid(port);

	sa_client_set_sa(&port->sa, info->master_sm_lid, info->master_sm_sl, sa_pkey(port));
	sa_client_set_own_gid(&port->sa, &own);
	return &port->sa;
}

struct gid cm_port_gid(const struct cm_port *port)
{
	const struct port *net = port->endpoint->port;

	return gid_from(net->info.gid_prefix, net->guid);
}

uint16_t cm_port_pkey(const struct cm_port *port)
{
	const struct port *net = port->endpoint->port;
	uint16_t usable = 0;

	for (unsigned index = 0; index < net->pkey_count; index++) {
		uint16_t pkey = net->pkeys[index];

		if (pkey == PKEY_DEFAULT_FULL)
			return pkey;
		if (!usable || (pkey & PKEY_FULL_MEMBER))
			usable = pkey ? pkey : usable;
	}
	return usable;
}

bool cm_port_pkey_index(const struct cm_port *port, uint16_t pkey, uint16_t *ret_index)
{
	const struct port *net = port->endpoint->port;
	bool is_found = false;

	for (unsigned index = 0; (pkey & 0x7fff) && index < net->pkey_count; index++) {
		uint16_t own = net->pkeys[index];

		if (((own ^ pkey) & 0x7fff) || (is_found && !(own & PKEY_FULL_MEMBER)))
			continue;
		*ret_index = (uint16_t)index;
		is_found = true;
	}
	return is_found;
}
