/* SPDX-License-Identifier: Apache-2.0 */
/* rdma_getaddrinfo: names and services to addresses. The names of the fabric's hosts work too. */
#include <arpa/inet.h>
#include <errno.h>
#include <infiniband/ib.h>
#include <netdb.h>
#include <stdlib.h>
#include <string.h>

#include "api/librdmacm/ibacm_client.h"
#include "api/librdmacm/identifier.h"

void rdma_freeaddrinfo(struct rdma_addrinfo *res)
{
	while (res) {
		struct rdma_addrinfo *next = res->ai_next;

		free(res->ai_src_addr);
		free(res->ai_dst_addr);
		free(res->ai_src_canonname);
		free(res->ai_dst_canonname);
		free(res->ai_route);
		free(res->ai_connect);
		free(res);
		res = next;
	}
}

/* A UDP port space implies UD QPs, and a QP type implies its port space. */
static int choose_kinds(const struct rdma_addrinfo *hints, struct rdma_addrinfo *ret_info)
{
	int type = hints ? hints->ai_qp_type : 0;
	int space = hints ? hints->ai_port_space : 0;

	if (!type)
		type = space == RDMA_PS_UDP || space == RDMA_PS_IPOIB ? IBV_QPT_UD : IBV_QPT_RC;
	if (!space)
		space = type == IBV_QPT_UD ? RDMA_PS_UDP : RDMA_PS_TCP;
	ret_info->ai_qp_type = type;
	ret_info->ai_port_space = space;
	return 0;
}

static struct sockaddr *copy_address(const struct sockaddr *address, socklen_t length)
{
	struct sockaddr *copy = malloc(length);

	if (copy)
		memcpy(copy, address, length);
	return copy;
}

static int set_address(const struct sockaddr *address, socklen_t length, struct sockaddr **ret_copy,
		       socklen_t *ret_length)
{
	if (!address || !length)
		return 0;
	*ret_copy = copy_address(address, length);
	if (!*ret_copy)
		return EAI_MEMORY;
	*ret_length = length;
	return 0;
}

static void set_port(struct sockaddr *address, uint16_t port)
{
	/* sin_port and sin6_port have the same offset. */
	memcpy((char *)address + offsetof(struct sockaddr_in, sin_port), &port, sizeof(port));
}

static int service_port(const char *service, uint16_t *ret_port)
{
	struct addrinfo hints = {.ai_family = AF_INET};
	struct addrinfo *found;
	struct sockaddr_in address;

	*ret_port = 0;
	if (!service)
		return 0;

	int error = getaddrinfo(NULL, service, &hints, &found);

	if (error)
		return error;
	memcpy(&address, found->ai_addr, sizeof(address));
	*ret_port = address.sin_port;
	freeaddrinfo(found);
	return 0;
}

/* Looks up a host name of the fabric (h1, h2 ...). -ENOENT: no such host. */
static int find_host(const char *node, int family, struct sockaddr_storage *ret_address)
{
	struct cm_command command = {.kind = CM_FIND_HOST};
	struct cm_answer answer;

	if (strlen(node) >= sizeof(command.name))
		return -ENOENT;
	memcpy(command.name, node, strlen(node));

	int error = cm_session_ask(&command, &answer);

	if (!error)
		address_to_socket(family == AF_INET6 ? &answer.route.destination
						     : &answer.route.source,
				  ret_address);
	return error;
}

static bool is_numeric(const char *node)
{
	struct in6_addr ipv6;
	struct in_addr ipv4;

	return inet_pton(AF_INET, node, &ipv4) == 1 || inet_pton(AF_INET6, node, &ipv6) == 1;
}

static int find_address(const char *node, const char *service, int flags, int family,
			struct sockaddr_storage *ret_address, socklen_t *ret_length)
{
	struct addrinfo hints = {
		.ai_family = family,
		.ai_socktype = SOCK_STREAM,
		.ai_flags = ((flags & RAI_PASSIVE) ? AI_PASSIVE : 0) |
			    ((flags & RAI_NUMERICHOST) ? AI_NUMERICHOST : 0),
	};
	struct addrinfo *found;
	uint16_t port;

	if (node && !(flags & RAI_NUMERICHOST) && !is_numeric(node) &&
	    find_host(node, family, ret_address) == 0) {
		int error = service_port(service, &port);

		set_port((struct sockaddr *)ret_address, port);
		*ret_length = address_length((struct sockaddr *)ret_address);
		return error;
	}
	if (!family)
		hints.ai_family = node ? AF_UNSPEC : AF_INET;

	int error = getaddrinfo(node, service, &hints, &found);

	if (error)
		return error;
	memcpy(ret_address, found->ai_addr, found->ai_addrlen);
	*ret_length = found->ai_addrlen;
	freeaddrinfo(found);
	return 0;
}

static int copy_hints(const struct rdma_addrinfo *hints, struct rdma_addrinfo *info)
{
	int error = set_address(hints->ai_src_addr, hints->ai_src_len, &info->ai_src_addr,
				&info->ai_src_len);

	if (!error && !info->ai_dst_addr)
		error = set_address(hints->ai_dst_addr, hints->ai_dst_len, &info->ai_dst_addr,
				    &info->ai_dst_len);
	return error;
}

static int wanted_family(const struct rdma_addrinfo *hints)
{
	if (!hints || !((hints->ai_flags & RAI_FAMILY) || hints->ai_family))
		return 0;
	return hints->ai_family == AF_INET6 ? AF_INET6
	       : hints->ai_family == AF_IB  ? 0
					    : hints->ai_family;
}

static int fill_info(const char *node, const char *service, const struct rdma_addrinfo *hints,
		     struct rdma_addrinfo *info)
{
	struct sockaddr_storage address = {0};
	socklen_t length = 0;
	int error = 0;

	choose_kinds(hints, info);
	info->ai_flags = hints ? hints->ai_flags : 0;
	if (node || service) {
		error = find_address(node, service, info->ai_flags, wanted_family(hints), &address,
				     &length);
		if (error)
			return error;
	}
	if (length && (info->ai_flags & RAI_PASSIVE))
		error = set_address((struct sockaddr *)&address, length, &info->ai_src_addr,
				    &info->ai_src_len);
	else if (length)
		error = set_address((struct sockaddr *)&address, length, &info->ai_dst_addr,
				    &info->ai_dst_len);
	if (!error && hints && !info->ai_src_addr)
		error = copy_hints(hints, info);
	info->ai_family = info->ai_dst_addr   ? info->ai_dst_addr->sa_family
			  : info->ai_src_addr ? info->ai_src_addr->sa_family
					      : 0;
	return error;
}

/* Where the program names no source, the host's first address is it: ibacm asks the kernel's
 * routing table, which does not know the host. */
static bool find_source(const struct rdma_addrinfo *info, struct sockaddr_storage *ret_source)
{
	const char *host = secure_getenv("SOFTIB_HOST");

	if (info->ai_src_addr && info->ai_src_len <= sizeof(*ret_source)) {
		memcpy(ret_source, info->ai_src_addr, info->ai_src_len);
		return true;
	}
	return host && find_host(host, info->ai_dst_addr->sa_family, ret_source) == 0;
}

/* Path records from ibacm, where it runs (management 6.6); else rdma_resolve_route asks subnet
 * administration. */
static void add_route(struct rdma_addrinfo *info)
{
	const char *tree = secure_getenv("SOFTIB_TREE");
	struct ibv_path_data paths[IBACM_PATHS_MAX];
	struct sockaddr_storage source = {0};

	if (!tree || !info->ai_dst_addr || (info->ai_flags & RAI_PASSIVE) ||
	    !find_source(info, &source))
		return;

	unsigned count =
		ibacm_find_paths(tree, (struct sockaddr *)&source, info->ai_dst_addr,
				 (info->ai_flags & (RAI_NUMERICHOST | RAI_NOROUTE)) != 0, paths);

	info->ai_route = count ? malloc(count * sizeof(paths[0])) : NULL;
	if (!info->ai_route)
		return;
	memcpy(info->ai_route, paths, count * sizeof(paths[0]));
	info->ai_route_len = (socklen_t)(count * sizeof(paths[0]));
}

int rdma_getaddrinfo(const char *node, const char *service, const struct rdma_addrinfo *hints,
		     struct rdma_addrinfo **res)
{
	bool has_addresses = hints && (hints->ai_src_len || hints->ai_dst_len);

	if (!res || (!node && !service && !has_addresses))
		return rdma_result(-EINVAL);

	struct rdma_addrinfo *info = calloc(1, sizeof(*info));

	if (!info)
		return rdma_result(-ENOMEM);

	int error = fill_info(node, service, hints, info);

	if (error) {
		rdma_freeaddrinfo(info);
		return error;
	}
	add_route(info);
	*res = info;
	return 0;
}
