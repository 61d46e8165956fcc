/* SPDX-License-Identifier: Apache-2.0 */
/* Binding ids to addresses and ports, and listening there (the rules of Linux's rdma_cm). */
#include "daemon/cm/cm_binding.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "daemon/cm/cm_address.h"
#include "daemon/cm/cm_paths.h"
#include "daemon/cm/cm_port.h"
#include "daemon/core/host_table.h"

enum { PORT_FIRST_FREE = 32768, PORT_LAST_FREE = 60999, RANDOM_TRIES = 64 };

/* An id bound to IPv6's "any" takes IPv4 as well, unless its program restricted it to one family.
 */
static bool overlap(const struct cm_id *a, const struct cm_id *b)
{
	const struct cm_address *x = &a->route.source;
	const struct cm_address *y = &b->route.source;

	if (x->family == y->family)
		return cm_address_is_any(x) || cm_address_is_any(y) || cm_address_equal(x, y);
	if (x->family == CM_ADDRESS_IB || y->family == CM_ADDRESS_IB)
		return true;

	const struct cm_id *six = x->family == CM_ADDRESS_IPV6 ? a : b;

	return cm_address_is_any(&six->route.source) && !six->options.is_one_family;
}

static bool conflict(const struct cm_id *a, const struct cm_id *b)
{
	bool may_share = a->options.reuses_address && b->options.reuses_address &&
			 a->state != CM_ID_LISTENING && b->state != CM_ID_LISTENING;

	return !may_share && overlap(a, b);
}

static bool is_free_for(const struct cm_service *service, const struct cm_id *id)
{
	list_for_each (link, &service->ids) {
		const struct cm_id *other = container_of(link, struct cm_id, service_link);

		if (other != id && conflict(id, other))
			return false;
	}
	return true;
}

static struct cm_service *service_get(struct cm_host *host, uint64_t service_id)
{
	struct cm_service *service = hash_table_get(&host->services, service_id);

	if (service)
		return service;
	service = calloc(1, sizeof(*service));
	if (!service)
		return NULL;
	service->service_id = service_id;
	list_init(&service->ids);
	if (hash_table_put(&host->services, service_id, service) != 0) {
		free(service);
		return NULL;
	}
	return service;
}

static void service_put(struct cm_host *host, struct cm_service *service)
{
	if (!list_is_empty(&service->ids))
		return;
	hash_table_remove(&host->services, service->service_id);
	free(service);
}

/* A free port number; 0: all are taken. */
static uint16_t choose_port(struct cm_host *host, uint32_t port_space)
{
	const uint32_t count = PORT_LAST_FREE - PORT_FIRST_FREE + 1;
	uint32_t start = (uint32_t)random_below(&host->random, count);

	for (uint32_t step = 0; step < count; step++) {
		/* Random numbers first, so that a port rests before it is used again. */
		uint32_t offset = step < RANDOM_TRIES ? (uint32_t)random_below(&host->random, count)
						      : (start + step) % count;
		uint16_t port = (uint16_t)(PORT_FIRST_FREE + offset);

		if (!hash_table_get(&host->services,
				    cm_ip_service_id((enum cm_port_space)port_space, port)))
			return port;
	}
	return 0;
}

static int take_service(struct cm_id *id)
{
	struct cm_host *host = id->program->host;
	struct cm_address *source = &id->route.source;
	bool is_ib = source->family == CM_ADDRESS_IB;

	if (is_ib ? !(source->service_id & source->service_mask) : !source->port) {
		uint16_t port = choose_port(host, id->port_space);

		if (!port)
			return -EADDRNOTAVAIL;
		if (is_ib) {
			source->service_id =
				cm_ip_service_id((enum cm_port_space)id->port_space, port);
			source->service_mask = UINT64_MAX;
		}
		source->port = port;
	}

	struct cm_service *service =
		service_get(host, cm_address_service_id(source, id->port_space));

	if (!service)
		return -ENOMEM;
	if (!is_free_for(service, id)) {
		service_put(host, service);
		return -EADDRINUSE;
	}
	id->service = service;
	list_append(&service->ids, &id->service_link);
	return 0;
}

/* Loopback and the machine's addresses belong to every host. An id that is bound to one of them
 * gets the port's own address instead, which is valid on every host: programs pass it on to their
 * peers. */
static void name_port(const struct cm_port *port, struct cm_address *address)
{
	struct cm_address own;

	if (address->family != CM_ADDRESS_IPV4 &&
	    (address->family != CM_ADDRESS_IPV6 || cm_address_ip_version(address) != 6))
		return;
	cm_address_of(port->endpoint, (enum cm_address_family)address->family, &own);
	memcpy(address->bytes, own.bytes, sizeof(own.bytes));
}

int cm_bind(struct cm_id *id, const struct cm_address *address)
{
	struct cm_port *port = NULL;

	if (id->state != CM_ID_IDLE)
		return -EINVAL;

	enum cm_scope scope = cm_address_scope(id->program->host, address, &port);

	if (scope != CM_SCOPE_ANY && scope != CM_SCOPE_LOCAL)
		return -EADDRNOTAVAIL;
	id->route.source = *address;
	if (scope == CM_SCOPE_LOCAL)
		name_port(port, &id->route.source);

	int error = take_service(id);

	if (error) {
		id->route.source = (struct cm_address){0};
		return error;
	}
	if (port)
		cm_id_use_port(id, port);
	id->state = CM_ID_BOUND;
	return 0;
}

void cm_unbind(struct cm_id *id)
{
	struct cm_host *host = id->program->host;
	struct cm_service *service = id->service;

	if (!service)
		return;
	list_remove(&id->service_link);
	id->service = NULL;
	if (id->state == CM_ID_LISTENING && --service->listening_count == 0) {
		cm_unlisten(host->cm, cm_host_now(host), service->listener);
		service->listener = NULL;
	}
	service_put(host, service);
}

/* The backlog is a hint, as for TCP: programs ask for three (rping) and get more requests at once
 * than a busy machine lets them answer. 0 means the maximum. */
static uint32_t effective_backlog(uint32_t wanted)
{
	if (!wanted || wanted > CM_BACKLOG_MAX)
		return CM_BACKLOG_MAX;
	return wanted < CM_BACKLOG_MIN ? CM_BACKLOG_MIN : wanted;
}

int cm_start_listening(struct cm_id *id, uint32_t backlog)
{
	struct cm_host *host = id->program->host;
	const struct cm_address anywhere = {.family = CM_ADDRESS_IPV4};
	int error = id->state == CM_ID_IDLE ? cm_bind(id, &anywhere) : 0;

	if (error)
		return error;
	if (id->state != CM_ID_BOUND)
		return -EINVAL;

	struct cm_service *service = id->service;
	uint64_t mask = id->route.source.family == CM_ADDRESS_IB ? id->route.source.service_mask
								 : UINT64_MAX;

	id->state = CM_ID_LISTENING;
	id->backlog.request_count_max = effective_backlog(backlog);
	error = is_free_for(service, id) ? 0 : -EADDRINUSE;
	if (error) {
		id->state = CM_ID_BOUND;
		return error;
	}
	service->listening_count++;
	if (service->listener)
		return 0;
	error = cm_listen(host->cm, cm_host_now(host), service->service_id, mask, service,
			  &service->listener);
	if (error) {
		service->listening_count--;
		id->state = CM_ID_BOUND;
	}
	cm_host_wake(host);
	return error;
}

void cm_id_leave_backlog(struct cm_id *id)
{
	if (!id->backlog.listener)
		return;
	id->backlog.listener->backlog.waiting_count--;
	id->backlog.listener = NULL;
	list_remove(&id->backlog.listener_link);
}

static bool hears(const struct cm_id *id, const struct cm_port *port,
		  const struct cm_address *destination)
{
	const struct cm_address *bound = &id->route.source;

	/* A GID belongs to one port. */
	if (bound->family == CM_ADDRESS_IB)
		return !id->port || id->port == port;
	if (!destination || cm_address_equal(bound, destination))
		return true;
	if (!cm_address_is_any(bound))
		return false;
	return bound->family == destination->family ||
	       (bound->family == CM_ADDRESS_IPV6 && !id->options.is_one_family);
}

struct cm_id *cm_service_listener(const struct cm_service *service, const struct cm_port *port,
				  const struct cm_address *destination)
{
	struct cm_id *of_any = NULL, *of_port = NULL;

	list_for_each (link, &service->ids) {
		struct cm_id *id = container_of(link, struct cm_id, service_link);

		if (id->state != CM_ID_LISTENING)
			continue;
		if (id->port == port)
			of_port = id;
		if (!hears(id, port, destination))
			continue;
		/* A listener that named the address is preferred to one that takes any. */
		if (!cm_address_is_any(&id->route.source))
			return id;
		of_any = id;
	}
	/* All addresses of a host lead to its ports: a listener on one address of a port, say the
	 * machine's, also takes requests to the port's other addresses. */
	return of_any ? of_any : of_port;
}
