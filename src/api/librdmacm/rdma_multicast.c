/* SPDX-License-Identifier: Apache-2.0 */
/* Multicast groups of ids: joining, attaching the QP, leaving. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "api/librdmacm/identifier.h"

struct membership {
	struct list link; /* in identifier->memberships, under its mutex */
	uint32_t token;
	void *context;
	bool is_send_only;
	bool is_attached;
	struct sockaddr_storage address;
	union ibv_gid mgid;
	uint16_t mlid;
};

static int join(struct rdma_cm_id *id, const struct sockaddr *address, bool is_send_only,
		void *context)
{
	struct identifier *identifier = identifier_of(id);
	struct membership *membership = calloc(1, sizeof(*membership));
	struct cm_command command;
	struct cm_answer answer;

	if (!membership)
		return rdma_result(-ENOMEM);
	identifier_command(identifier, CM_JOIN, &command);
	command.value = is_send_only;
	if (!address_from_socket(address, &command.destination)) {
		free(membership);
		return rdma_result(-EAFNOSUPPORT);
	}
	membership->context = context;
	membership->is_send_only = is_send_only;
	memcpy(&membership->address, address, address_length(address));
	pthread_mutex_lock(&identifier->mutex);
	membership->token = ++identifier->last_token;
	list_append(&identifier->memberships, &membership->link);
	pthread_mutex_unlock(&identifier->mutex);
	command.token = membership->token;

	int error = identifier_ask(identifier, &command, &answer);

	if (!error)
		return identifier_complete(identifier);
	pthread_mutex_lock(&identifier->mutex);
	list_remove(&membership->link);
	pthread_mutex_unlock(&identifier->mutex);
	free(membership);
	return rdma_result(error);
}

int rdma_join_multicast(struct rdma_cm_id *id, struct sockaddr *addr, void *context)
{
	return addr ? join(id, addr, false, context) : rdma_result(-EINVAL);
}

int rdma_join_multicast_ex(struct rdma_cm_id *id, struct rdma_cm_join_mc_attr_ex *mc_join_attr,
			   void *context)
{
	const uint32_t known = RDMA_CM_JOIN_MC_ATTR_ADDRESS | RDMA_CM_JOIN_MC_ATTR_JOIN_FLAGS;

	if (!mc_join_attr || (mc_join_attr->comp_mask & ~known))
		return rdma_result(-ENOTSUP);
	if (mc_join_attr->comp_mask != known || !mc_join_attr->addr ||
	    mc_join_attr->join_flags >= RDMA_MC_JOIN_FLAG_RESERVED)
		return rdma_result(-EINVAL);
	return join(id, mc_join_attr->addr,
		    mc_join_attr->join_flags == RDMA_MC_JOIN_FLAG_SENDONLY_FULLMEMBER, context);
}

static struct membership *find_token(struct identifier *identifier, uint32_t token)
{
	list_for_each (link, &identifier->memberships) {
		struct membership *membership = container_of(link, struct membership, link);

		if (membership->token == token)
			return membership;
	}
	return NULL;
}

void *membership_joined(struct identifier *identifier, struct rdma_cm_event *event,
			const struct cm_event_message *message)
{
	struct ibv_qp *qp = identifier->public.qp;

	pthread_mutex_lock(&identifier->mutex);

	struct membership *membership = find_token(identifier, message->token);
	void *context = membership ? membership->context : NULL;

	if (membership && message->kind == CM_PROGRAM_MULTICAST_JOIN) {
		membership->mlid = event->param.ud.ah_attr.dlid;
		membership->mgid = event->param.ud.ah_attr.grh.dgid;
		if (qp && !membership->is_send_only) {
			int error = ibv_attach_mcast(qp, &membership->mgid, membership->mlid);

			membership->is_attached = !error;
			if (error) {
				event->event = RDMA_CM_EVENT_MULTICAST_ERROR;
				event->status = -error;
			}
		}
	}
	pthread_mutex_unlock(&identifier->mutex);
	return context;
}

static void detach(struct identifier *identifier, struct membership *membership)
{
	if (membership->is_attached && identifier->public.qp)
		ibv_detach_mcast(identifier->public.qp, &membership->mgid, membership->mlid);
	free(membership);
}

int rdma_leave_multicast(struct rdma_cm_id *id, struct sockaddr *addr)
{
	struct identifier *identifier = identifier_of(id);
	struct membership *found = NULL;
	struct cm_command command;
	struct cm_answer answer;

	if (!addr || !address_length(addr))
		return rdma_result(-EINVAL);
	pthread_mutex_lock(&identifier->mutex);
	list_for_each (link, &identifier->memberships) {
		struct membership *membership = container_of(link, struct membership, link);

		if (!found && memcmp(&membership->address, addr, address_length(addr)) == 0)
			found = membership;
	}
	if (found)
		list_remove(&found->link);
	pthread_mutex_unlock(&identifier->mutex);
	if (!found)
		return rdma_result(-EADDRNOTAVAIL);
	identifier_command(identifier, CM_LEAVE, &command);
	command.token = found->token;
	detach(identifier, found);
	return rdma_result(identifier_ask(identifier, &command, &answer));
}

void memberships_forget(struct identifier *identifier)
{
	for (struct list *link; (link = list_pop(&identifier->memberships));)
		detach(identifier, container_of(link, struct membership, link));
}
