/* SPDX-License-Identifier: Apache-2.0 */
/* From an address to a port of the fabric, and from there to a path. */
#include "daemon/cm/cm_routes.h"

#include <errno.h>
#include <string.h>
#include "daemon/cm/cm_address.h"
#include "daemon/cm/cm_alternates.h"
#include "daemon/cm/cm_binding.h"
#include "daemon/cm/cm_events.h"
#include "daemon/cm/cm_multicast.h"
#include "daemon/cm/cm_paths.h"
#include "daemon/cm/cm_port.h"
#include "daemon/cm/ipoib_port.h"
#include "daemon/core/host_table.h"

/* An id uses the port that it is bound to; an unbound id uses the destination's own port if that is
 * on this host, or else the host's first port. */
static void choose_port(struct cm_id *id, struct cm_port *own)
{
	struct cm_host *host = id->program->host;

	if (!id->port)
		cm_id_use_port(id, own ? own : cm_host_first_port(host));
	if (!cm_address_is_any(&id->route.source))
		return;

	uint16_t port = id->route.source.port;
	uint64_t service_id = id->route.source.service_id;

	if (id->route.destination.family == CM_ADDRESS_IB) {
		id->route.source.family = CM_ADDRESS_IB;
		memcpy(id->route.source.bytes, id->route.sgid.bytes, 16);
	} else if (own && cm_address_ip_version(&id->route.destination) == 4) {
		id->route.source = id->route.destination;
	} else {
		cm_address_of(id->port->endpoint, id->route.destination.family, &id->route.source);
	}
	id->route.source.port = port;
	id->route.source.service_id = service_id;
}

/* Uses the port's own P_Key of that partition, if it has one. */
static void use_pkey(struct cm_id *id, uint16_t pkey)
{
	uint16_t index;

	if (!cm_port_pkey_index(id->port, pkey, &index))
		return;
	id->route.pkey = id->port->endpoint->port->pkeys[index];
	id->route.pkey_index = index;
}

void cm_address_found(struct cm_id *id, const struct gid *dgid, uint16_t pkey)
{
	id->route.dgid = *dgid;
	use_pkey(id, pkey);
	id->state = CM_ID_ADDRESS_RESOLVED;
	cm_id_tell(id, CM_PROGRAM_ADDRESS_RESOLVED, 0);
}

void cm_address_not_found(struct cm_id *id)
{
	id->state = CM_ID_BOUND;
	cm_id_tell(id, CM_PROGRAM_ADDRESS_ERROR, -ETIMEDOUT);
}

int cm_resolve_address(struct cm_id *id, const struct cm_address *source,
		       const struct cm_address *destination, uint32_t timeout_ms)
{
	struct cm_host *host = id->program->host;
	struct cm_address anywhere = {.family = destination->family};
	struct cm_port *own = NULL;

	if (id->state == CM_ID_IDLE) {
		int error = cm_bind(id, source->family ? source : &anywhere);

		if (error)
			return error;
	}
	if (id->state != CM_ID_BOUND)
		return -EINVAL;

	enum cm_scope scope = cm_address_scope(host, destination, &own);

	if (scope == CM_SCOPE_UNREACHABLE)
		return -ENETUNREACH;
	id->route.destination = *destination;
	/* "Any" as a destination is this host, as for TCP. */
	if (scope == CM_SCOPE_ANY)
		own = id->port ? id->port : cm_host_first_port(host);
	choose_port(id, own);
	id->state = CM_ID_RESOLVING_ADDRESS;
	id->resolve_until = cm_host_now(host) + MILLISECONDS(timeout_ms ? timeout_ms : 1);

	struct gid gid = own ? cm_port_gid(own) : (struct gid){0};
	uint16_t pkey = 0; /* 0: keep the P_Key that was chosen with the port */

	if (!own && destination->family == CM_ADDRESS_IB) {
		memcpy(gid.bytes, destination->bytes, sizeof(gid.bytes));
		pkey = destination->pkey;
	} else if (scope == CM_SCOPE_MULTICAST) {
		gid = cm_group_address(id, destination);
	} else if (!own) {
		return ipoib_port_find(&id->port->ip, destination, id, cm_host_now(host));
	}
	cm_address_found(id, &gid, pkey);
	return 0;
}

int cm_set_path(struct cm_id *id, const struct path_record *path)
{
	/* A connection has its primary path already, so this is an alternate path. */
	if (id->state == CM_ID_CONNECTED)
		return cm_id_load_alternate(id, path);
	if (id->state != CM_ID_ADDRESS_RESOLVED)
		return -EINVAL;
	id->route.path = *path;
	id->route.has_path = 1;
	id->state = CM_ID_ROUTE_RESOLVED;
	cm_id_tell(id, CM_PROGRAM_ROUTE_RESOLVED, 0);
	return 0;
}

int cm_resolve_route(struct cm_id *id, uint32_t timeout_ms)
{
	struct cm_route *route = &id->route;

	(void)timeout_ms;
	if (id->state != CM_ID_ADDRESS_RESOLVED)
		return -EINVAL;

	const struct path_record wanted = {
		.service_id = cm_address_service_id(&route->destination, id->port_space),
		.dgid_prefix = gid_prefix(&route->dgid),
		.dgid_guid = gid_guid(&route->dgid),
		.sgid_prefix = gid_prefix(&route->sgid),
		.sgid_guid = gid_guid(&route->sgid),
		.traffic_class = id->options.traffic_class,
		.qos_class = (uint16_t)(id->options.traffic_class << 4),
		.reversible = 1,
		.path_count = 1,
		.pkey = route->pkey,
	};
	bool is_ipv6 = route->destination.family == CM_ADDRESS_IPV6;
	uint64_t components = SA_COMPONENT(PR_SERVICE_ID_HIGH) | SA_COMPONENT(PR_SERVICE_ID_LOW) |
			      SA_COMPONENT(PR_DGID) | SA_COMPONENT(PR_SGID) |
			      SA_COMPONENT(PR_REVERSIBLE) | SA_COMPONENT(PR_PATH_COUNT) |
			      SA_COMPONENT(PR_PKEY) |
			      SA_COMPONENT(is_ipv6 ? PR_TRAFFIC_CLASS : PR_QOS_CLASS);
	const struct mad_purpose purpose = {id, CM_SA_REQUEST_PATH};
	int error = sa_client_query_path(cm_port_sa(id->port), &wanted, components, purpose);

	if (error)
		return error;
	id->state = CM_ID_RESOLVING_ROUTE;
	cm_host_wake(id->program->host);
	return 0;
}

void cm_path_found(struct cm_id *id, const struct sa_client_result *result)
{
	if (result->outcome != SA_CLIENT_ANSWERED) {
		id->state = CM_ID_ADDRESS_RESOLVED;
		cm_id_tell(id, CM_PROGRAM_ROUTE_ERROR,
			   result->outcome == SA_CLIENT_REFUSED ? -EINVAL : -ETIMEDOUT);
		return;
	}
	path_record_decode(result->data, &id->route.path);
	id->route.has_path = 1;
	id->state = CM_ID_ROUTE_RESOLVED;
	cm_id_tell(id, CM_PROGRAM_ROUTE_RESOLVED, 0);
}

void cm_routes_forget(struct cm_id *id)
{
	list_remove(&id->resolving_link);
	if (id->state == CM_ID_RESOLVING_ROUTE)
		sa_client_cancel(&id->port->sa, id);
}
