/* SPDX-License-Identifier: Apache-2.0 */
/* Calls about addresses: binding, resolving the peer's address, resolving the route. */
#include <errno.h>
#include <infiniband/ib.h>
#include <string.h>

#include "api/librdmacm/identifier.h"

/* Sends the command and takes the addresses from softibd's answer into the identifier. */
static int ask_for_route(struct identifier *identifier, struct cm_command *command)
{
	struct cm_answer answer;

	identifier->phase = PHASE_UNKNOWN;

	int error = identifier_ask(identifier, command, &answer);

	if (error)
		return rdma_result(error);
	identifier_take_route(identifier, &answer.route);
	return 0;
}

int rdma_bind_addr(struct rdma_cm_id *id, struct sockaddr *addr)
{
	struct identifier *identifier = identifier_of(id);
	struct cm_command command;

	identifier_command(identifier, CM_BIND, &command);
	if (!addr || !address_from_socket(addr, &command.source))
		return rdma_result(addr ? -EAFNOSUPPORT : -EINVAL);
	return ask_for_route(identifier, &command);
}

/* The last destination that softibd accepted for address resolution. softibd refuses a bad address
 * at once, so for this one the command can be posted without waiting for the answer. */
static pthread_mutex_t taken_mutex = PTHREAD_MUTEX_INITIALIZER;
static struct cm_address taken;

static bool was_taken(const struct cm_address *address)
{
	pthread_mutex_lock(&taken_mutex);

	bool result = taken.family == address->family &&
		      memcmp(taken.bytes, address->bytes, sizeof(taken.bytes)) == 0;

	pthread_mutex_unlock(&taken_mutex);
	return result;
}

static void remember_taken(const struct cm_address *address)
{
	pthread_mutex_lock(&taken_mutex);
	taken = *address;
	pthread_mutex_unlock(&taken_mutex);
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

	int error;

	if (identifier->phase == PHASE_NEW && !src_addr && was_taken(&command.destination)) {
		identifier->phase = PHASE_UNKNOWN;
		error = identifier_post(identifier, &command);
	} else {
		error = identifier_ask(identifier, &command, &answer);
		if (!error && !src_addr)
			remember_taken(&command.destination);
	}
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

	bool is_right = identifier->phase == PHASE_ADDRESS_FOUND;

	if (is_right)
		identifier->phase = PHASE_UNKNOWN;

	int error = is_right ? identifier_post(identifier, &command)
			     : identifier_ask(identifier, &command, &answer);

	return error ? rdma_result(error) : identifier_complete(identifier);
}

int rdma_listen(struct rdma_cm_id *id, int backlog)
{
	struct identifier *identifier = identifier_of(id);
	struct cm_command command;

	identifier_command(identifier, CM_LISTEN, &command);
	command.value = backlog > 0 ? (uint32_t)backlog : 0;
	return ask_for_route(identifier, &command);
}
