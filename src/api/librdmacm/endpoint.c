/* SPDX-License-Identifier: Apache-2.0 */
/* Endpoints: ids that one call prepares, and rdma_get_request for listening ones. */
#include <errno.h>
#include <infiniband/ib.h>
#include <stdlib.h>
#include <string.h>

#include <rdma/rdma_verbs.h>

#include "api/librdmacm/identifier.h"

enum { RESOLVE_TIMEOUT_MS = 2000 };

static int keep_request_attributes(struct identifier *identifier, struct ibv_pd *pd,
				   const struct ibv_qp_init_attr *attributes)
{
	if (pd)
		identifier->public.pd = pd;
	if (!attributes)
		return 0;
	identifier->endpoint.request_qp = malloc(sizeof(*attributes));
	if (!identifier->endpoint.request_qp)
		return rdma_result(-ENOMEM);
	*identifier->endpoint.request_qp = *attributes;
	identifier->endpoint.request_qp->qp_type = identifier->public.qp_type;
	return 0;
}

static int find_way(struct rdma_cm_id *id, const struct rdma_addrinfo *info)
{
	if (rdma_resolve_addr(id, info->ai_src_addr, info->ai_dst_addr, RESOLVE_TIMEOUT_MS) != 0)
		return -1;
	if (!info->ai_route_len)
		return rdma_resolve_route(id, RESOLVE_TIMEOUT_MS);
	if (rdma_set_option(id, RDMA_OPTION_IB, RDMA_OPTION_IB_PATH, info->ai_route,
			    info->ai_route_len) != 0)
		return -1;
	return identifier_complete(identifier_of(id));
}

static int make_ready(struct identifier *identifier, const struct rdma_addrinfo *info,
		      struct ibv_pd *pd, struct ibv_qp_init_attr *attributes)
{
	struct rdma_cm_id *id = &identifier->public;

	if (info->ai_flags & RAI_PASSIVE) {
		if (rdma_bind_addr(id, info->ai_src_addr) != 0)
			return -1;
		return keep_request_attributes(identifier, pd, attributes);
	}
	if (find_way(id, info) != 0)
		return -1;
	if (attributes) {
		attributes->qp_type = id->qp_type;
		if (rdma_create_qp(id, pd, attributes) != 0)
			return -1;
	}
	if (!info->ai_connect_len)
		return 0;
	if (info->ai_connect_len > CM_PRIVATE_BYTES_MAX)
		return rdma_result(-EINVAL);
	identifier->endpoint.connect_data = malloc(info->ai_connect_len);
	if (!identifier->endpoint.connect_data)
		return rdma_result(-ENOMEM);
	memcpy(identifier->endpoint.connect_data, info->ai_connect, info->ai_connect_len);
	identifier->endpoint.connect_byte_count = (uint8_t)info->ai_connect_len;
	return 0;
}

int rdma_create_ep(struct rdma_cm_id **id, struct rdma_addrinfo *res, struct ibv_pd *pd,
		   struct ibv_qp_init_attr *qp_init_attr)
{
	struct identifier *identifier;

	if (!id || !res)
		return rdma_result(-EINVAL);

	int error = identifier_create(NULL, NULL, (enum rdma_port_space)res->ai_port_space,
				      (enum ibv_qp_type)res->ai_qp_type, &identifier);

	if (error)
		return rdma_result(error);
	if (make_ready(identifier, res, pd, qp_init_attr) != 0) {
		error = errno;
		rdma_destroy_ep(&identifier->public);
		return rdma_result(-error);
	}
	*id = &identifier->public;
	return 0;
}

void rdma_destroy_ep(struct rdma_cm_id *id)
{
	if (id->qp)
		rdma_destroy_qp(id);
	if (id->srq)
		rdma_destroy_srq(id);
	rdma_destroy_id(id);
}

int rdma_get_request(struct rdma_cm_id *listen, struct rdma_cm_id **id)
{
	struct identifier *listener = identifier_of(listen);
	struct rdma_cm_event *event;

	if (!listener->is_synchronous)
		return rdma_result(-EINVAL);
	if (listen->event) {
		rdma_ack_cm_event(listen->event);
		listen->event = NULL;
	}
	if (rdma_get_cm_event(listen->channel, &event) != 0)
		return -1;
	if (event->status || event->event != RDMA_CM_EVENT_CONNECT_REQUEST) {
		int error = event->status < 0 ? -event->status : EINVAL;

		rdma_ack_cm_event(event);
		return rdma_result(-error);
	}
	if (listener->endpoint.request_qp) {
		struct ibv_qp_init_attr attributes = *listener->endpoint.request_qp;

		attributes.qp_context = event->id;
		attributes.qp_type = event->id->qp_type;
		if (rdma_create_qp(event->id, listen->pd, &attributes) != 0) {
			int error = errno;

			rdma_reject(event->id, NULL, 0);
			rdma_destroy_id(event->id);
			rdma_ack_cm_event(event);
			return rdma_result(-error);
		}
	}
	*id = event->id;
	(*id)->event = event;
	return 0;
}
