/* SPDX-License-Identifier: Apache-2.0 */
/* Calls of rdma-core 60: events that programs write themselves, and asynchronous address resolution
 * on a channel. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "api/librdmacm/identifier.h"

/* rdma-core 44's header does not declare these. */
int rdma_write_cm_event(struct rdma_cm_id *id, enum rdma_cm_event_type event, int status,
			uint64_t arg);
int rdma_resolve_addrinfo(struct rdma_cm_id *id, const char *node, const char *service,
			  const struct rdma_addrinfo *hints);
int rdma_query_addrinfo(struct rdma_cm_id *id, struct rdma_addrinfo **info);

static int write_event(struct rdma_cm_id *id, enum cm_program_event kind, int status,
		       uint64_t argument)
{
	struct cm_command command;
	struct cm_answer answer;

	identifier_of(id)->writes_events = true;
	identifier_command(identifier_of(id), CM_WRITE_EVENT, &command);
	command.option = kind;
	command.value = (uint32_t)status;
	command.argument = argument;
	return identifier_ask(identifier_of(id), &command, &answer);
}

int rdma_write_cm_event(struct rdma_cm_id *id, enum rdma_cm_event_type event, int status,
			uint64_t arg)
{
	int kind = (int)event;

	if (!id || (kind != CM_PROGRAM_USER && kind != CM_PROGRAM_INTERNAL))
		return rdma_result(-EINVAL);
	return rdma_result(write_event(id, (enum cm_program_event)kind, status, arg));
}

int rdma_resolve_addrinfo(struct rdma_cm_id *id, const char *node, const char *service,
			  const struct rdma_addrinfo *hints)
{
	struct identifier *identifier = identifier_of(id);
	struct rdma_addrinfo *found = NULL;
	int failure = rdma_getaddrinfo(node, service, hints, &found);

	if (failure == -1)
		return -1;
	rdma_freeaddrinfo(identifier->found_addresses);
	identifier->found_addresses = found;

	int error = write_event(
		id, failure ? CM_PROGRAM_ADDRESSES_ERROR : CM_PROGRAM_ADDRESSES_RESOLVED,
		failure ? -EHOSTUNREACH : 0, 0);

	return error ? rdma_result(error) : identifier_complete(identifier);
}

/* The caller frees the list, so it gets the stored one. */
int rdma_query_addrinfo(struct rdma_cm_id *id, struct rdma_addrinfo **info)
{
	struct identifier *identifier = identifier_of(id);

	if (!info || !identifier->found_addresses)
		return rdma_result(info ? -ENODATA : -EINVAL);
	*info = identifier->found_addresses;
	identifier->found_addresses = NULL;
	return 0;
}
