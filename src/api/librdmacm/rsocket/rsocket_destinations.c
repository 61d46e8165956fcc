/* SPDX-License-Identifier: Apache-2.0 */
/* Destinations of datagram rsockets: QPs by address, found by service ID resolution. */
#include <errno.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include "api/librdmacm/identifier.h"
#include "api/librdmacm/rsocket/rsocket_datagram.h"

enum { RESOLVE_TIMEOUT_MS = 4000, DESTINATIONS_MAX = 4096 };

static bool is_same(const struct sockaddr_storage *a, const struct sockaddr *b)
{
	const struct sockaddr_in *a4 = (const void *)a, *b4 = (const void *)b;
	const struct sockaddr_in6 *a6 = (const void *)a, *b6 = (const void *)b;

	if (a->ss_family != b->sa_family)
		return false;
	if (b->sa_family == AF_INET)
		return a4->sin_port == b4->sin_port && a4->sin_addr.s_addr == b4->sin_addr.s_addr;
	return b->sa_family == AF_INET6 && a6->sin6_port == b6->sin6_port &&
	       memcmp(&a6->sin6_addr, &b6->sin6_addr, sizeof(a6->sin6_addr)) == 0;
}

struct destination *destination_find(const struct rsocket_datagrams *datagrams,
				     const struct sockaddr *address)
{
	struct destination *destination = datagrams->destinations;

	while (destination && !is_same(&destination->address, address))
		destination = destination->next;
	return destination;
}

struct destination *destination_remember(struct rsocket_datagrams *datagrams,
					 const struct sockaddr *address, struct ibv_ah *ah,
					 uint32_t qpn, uint32_t qkey)
{
	struct destination *destination = ah && datagrams->destination_count < DESTINATIONS_MAX
						  ? calloc(1, sizeof(*destination))
						  : NULL;

	if (!destination) {
		if (ah)
			ibv_destroy_ah(ah);
		return NULL;
	}
	memcpy(&destination->address, address, address_length(address));
	destination->ah = ah;
	destination->qpn = qpn;
	destination->qkey = qkey;
	destination->next = datagrams->destinations;
	datagrams->destinations = destination;
	datagrams->destination_count++;
	return destination;
}

/* A socket bound to a wildcard takes the address of the route that it sends by. */
static void learn_name(struct rsocket_datagrams *datagrams, const struct sockaddr *local)
{
	struct sockaddr_in *name = (void *)&datagrams->name;
	struct sockaddr_in6 *name6 = (void *)&datagrams->name;
	in_port_t port = datagrams->name.ss_family == AF_INET6 ? name6->sin6_port : name->sin_port;

	memcpy(&datagrams->name, local, address_length(local));
	if (local->sa_family == AF_INET6)
		name6->sin6_port = port;
	else
		name->sin_port = port;
}

/* Asks the peer's connection manager for the QP of an address. */
static struct destination *resolve(struct rsocket *socket, const struct sockaddr *address)
{
	struct rsocket_datagrams *datagrams = socket->datagrams;
	struct rdma_conn_param parameters = {0};
	struct destination *destination = NULL;
	struct rdma_cm_id *id;

	/* An id without a channel is synchronous. */
	if (rdma_create_id(NULL, &id, NULL, RDMA_PS_UDP))
		return NULL;
	if (rdma_resolve_addr(id, NULL, (struct sockaddr *)address, RESOLVE_TIMEOUT_MS) == 0 &&
	    rdma_resolve_route(id, RESOLVE_TIMEOUT_MS) == 0) {
		if (rdma_connect(id, &parameters) == 0 && id->event) {
			struct rdma_ud_param *found = &id->event->param.ud;

			destination = destination_remember(
				datagrams, address, ibv_create_ah(datagrams->pd, &found->ah_attr),
				found->qp_num, found->qkey);
			learn_name(datagrams, rdma_get_local_addr(id));
		} else {
			/* rdma_connect sets errno to the SIDR status, which is no errno value. */
			errno = ECONNREFUSED;
		}
	}

	int error = errno;

	rdma_destroy_id(id);
	errno = error;
	return destination;
}

struct destination *destination_of(struct rsocket *socket, const struct sockaddr *address)
{
	struct destination *destination;

	if (datagrams_bind_anywhere(socket, address->sa_family))
		return NULL;
	destination = destination_find(socket->datagrams, address);
	return destination ? destination : resolve(socket, address);
}

void destinations_forget(struct rsocket_datagrams *datagrams)
{
	while (datagrams->destinations) {
		struct destination *destination = datagrams->destinations;

		datagrams->destinations = destination->next;
		ibv_destroy_ah(destination->ah);
		free(destination);
	}
}
