/* SPDX-License-Identifier: Apache-2.0 */
/* Calls about addresses: binding, finding the peer, finding the way. */
#include <errno.h>
#include <infiniband/ib.h>
#include <string.h>

#include "api/librdmacm/identifier.h"

int rdma_bind_addr(struct rdma_cm_id *id, struct sockaddr *addr)
{
	struct identifier *identifier = identifier_of(id);
	struct cm_command command;
	struct cm_answer answer;

	identifier_command(identifier, CM_BIND, &command);
	if (!addr || !address_from_socket(addr, &command.source))
		return rdma_result(addr ? -EAFNOSUPPORT : -EINVAL);

	int error = cm_session_ask(&command, &answer);

	if (error)
		return rdma_result(error);
	identifier_take_route(identifier, &answer.route);
	return 0;
}

int rdma_resolve_addr(struct rdma_cm_id *id, struct sockaddr *src_addr, struct sockaddr *dst_addr,
		      int timeout_ms)
{
	struct identifier *identifier = identifier_of(id);
	struct cm_command command;
	struct cm_answer answer;

	identifier_command(identifier, CM_RESOLVE_ADDRESS, &command);
	command.timeout_ms = timeout_ms > 0 ? (uint32_t)timeout_ms : 0;
	if (!dst_addr)
		return rdma_result(-EINVAL);
	if (!address_from_socket(src_addr, &command.source) ||
	    !address_from_socket(dst_addr, &command.destination))
		return rdma_result(-EAFNOSUPPORT);

	int error = cm_session_ask(&command, &answer);

	if (error)
		return rdma_result(error);
	memcpy(&id->route.addr.dst_storage, dst_addr, address_length(dst_addr));
	return identifier_complete(identifier);
}

int rdma_resolve_route(struct rdma_cm_id *id, int timeout_ms)
{
	struct identifier *identifier = identifier_of(id);
	struct cm_command command;
	struct cm_answer answer;

	identifier_command(identifier, CM_RESOLVE_ROUTE, &command);
	command.timeout_ms = timeout_ms > 0 ? (uint32_t)timeout_ms : 0;

	int error = cm_session_ask(&command, &answer);

	return error ? rdma_result(error) : identifier_complete(identifier);
}

int rdma_listen(struct rdma_cm_id *id, int backlog)
{
	struct identifier *identifier = identifier_of(id);
	struct cm_command command;
	struct cm_answer answer;

	identifier_command(identifier, CM_LISTEN, &command);
	command.value = backlog > 0 ? (uint32_t)backlog : 0;

	int error = cm_session_ask(&command, &answer);

	if (error)
		return rdma_result(error);
	identifier_take_route(identifier, &answer.route);
	return 0;
}
