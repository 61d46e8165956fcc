/* SPDX-License-Identifier: Apache-2.0 */
/* Conversion between socket addresses and struct cm_address. */
#include "api/librdmacm/identifier.h"

#include <arpa/inet.h>
#include <infiniband/ib.h>
#include <string.h>
#include "base/bytes.h"

enum { IPV4_PLACE = 12 };

socklen_t address_length(const struct sockaddr *socket)
{
	switch (socket->sa_family) {
	case AF_INET:
		return sizeof(struct sockaddr_in);
	case AF_INET6:
		return sizeof(struct sockaddr_in6);
	case AF_IB:
		return sizeof(struct sockaddr_ib);
	default:
		return 0;
	}
}

static void from_ib(const struct sockaddr_ib *ib, struct cm_address *ret_address)
{
	ret_address->family = CM_ADDRESS_IB;
	ret_address->pkey = ntohs(ib->sib_pkey);
	ret_address->flow_label = ntohl(ib->sib_flowinfo) & 0xfffff;
	memcpy(ret_address->bytes, &ib->sib_addr, sizeof(ret_address->bytes));
	ret_address->service_id = be64toh(ib->sib_sid);
	ret_address->service_mask = be64toh(ib->sib_sid_mask);
}

bool address_from_socket(const struct sockaddr *socket, struct cm_address *ret_address)
{
	struct sockaddr_in ipv4;
	struct sockaddr_in6 ipv6;
	struct sockaddr_ib ib;

	*ret_address = (struct cm_address){0};
	if (!socket)
		return true;
	switch (socket->sa_family) {
	case AF_INET:
		memcpy(&ipv4, socket, sizeof(ipv4));
		ret_address->family = CM_ADDRESS_IPV4;
		ret_address->port = ntohs(ipv4.sin_port);
		memcpy(ret_address->bytes + IPV4_PLACE, &ipv4.sin_addr, sizeof(ipv4.sin_addr));
		return true;
	case AF_INET6:
		memcpy(&ipv6, socket, sizeof(ipv6));
		ret_address->family = CM_ADDRESS_IPV6;
		ret_address->port = ntohs(ipv6.sin6_port);
		ret_address->scope = ipv6.sin6_scope_id;
		memcpy(ret_address->bytes, &ipv6.sin6_addr, sizeof(ret_address->bytes));
		return true;
	case AF_IB:
		memcpy(&ib, socket, sizeof(ib));
		from_ib(&ib, ret_address);
		return true;
	default:
		return false;
	}
}

void address_to_socket(const struct cm_address *address, struct sockaddr_storage *ret_socket)
{
	struct sockaddr_in ipv4 = {.sin_family = AF_INET, .sin_port = htons(address->port)};
	struct sockaddr_in6 ipv6 = {.sin6_family = AF_INET6,
				    .sin6_port = htons(address->port),
				    .sin6_scope_id = address->scope};
	struct sockaddr_ib ib = {.sib_family = AF_IB,
				 .sib_pkey = htons(address->pkey),
				 .sib_flowinfo = htonl(address->flow_label),
				 .sib_sid = htobe64(address->service_id),
				 .sib_sid_mask = htobe64(address->service_mask)};

	memset(ret_socket, 0, sizeof(*ret_socket));
	switch ((enum cm_address_family)address->family) {
	case CM_ADDRESS_IPV4:
		memcpy(&ipv4.sin_addr, address->bytes + IPV4_PLACE, sizeof(ipv4.sin_addr));
		memcpy(ret_socket, &ipv4, sizeof(ipv4));
		break;
	case CM_ADDRESS_IPV6:
		memcpy(&ipv6.sin6_addr, address->bytes, sizeof(address->bytes));
		memcpy(ret_socket, &ipv6, sizeof(ipv6));
		break;
	case CM_ADDRESS_IB:
		memcpy(&ib.sib_addr, address->bytes, sizeof(address->bytes));
		memcpy(ret_socket, &ib, sizeof(ib));
		break;
	case CM_ADDRESS_NONE:
		break;
	}
}

static __be16 port_of(const struct sockaddr_storage *storage)
{
	struct cm_address address;

	if (!address_from_socket((const struct sockaddr *)storage, &address))
		return 0;
	if (address.family == CM_ADDRESS_IB)
		return htons((uint16_t)address.service_id);
	return htons(address.port);
}

__be16 rdma_get_src_port(struct rdma_cm_id *id)
{
	return port_of(&id->route.addr.src_storage);
}

__be16 rdma_get_dst_port(struct rdma_cm_id *id)
{
	return port_of(&id->route.addr.dst_storage);
}
