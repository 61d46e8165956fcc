/* SPDX-License-Identifier: Apache-2.0 */
/* Connections of programs: connect, accept, reject, disconnect (vol 1, chapter 12 and annex A11;
 * behaviour as in Linux's rdma_cm). */
#include "daemon/cm/cm_connections.h"

#include <errno.h>
#include <string.h>
#include "daemon/cm/cm_address.h"
#include "daemon/cm/cm_binding.h"
#include "daemon/cm/cm_datagrams.h"
#include "daemon/cm/cm_paths.h"
#include "daemon/cm/cm_port.h"
#include "wire/pkey.h"

enum {
	CM_RETRIES = 15,
	TIME_CODE_MAX = 31,
};

static uint8_t transport_of(enum cm_qp_type qp_type)
{
	switch (qp_type) {
	case CM_QP_UC:
		return CM_TRANSPORT_UC;
	case CM_QP_XRC_SEND:
		return CM_TRANSPORT_EXTENDED;
	case CM_QP_RD:
		return CM_TRANSPORT_RD;
	case CM_QP_RC:
	case CM_QP_UD:
	case CM_QP_XRC_RECEIVE:
		break;
	}
	return CM_TRANSPORT_RC;
}

/* Without values of the program, timeouts and retries are those of Linux's rdma_cm (management
 * 8.2). */
static void fill_req(const struct cm_id *id, const struct cm_parameters *parameters,
		     struct cm_req *ret_req)
{
	bool is_xrc = id->qp_type == CM_QP_XRC_SEND;
	uint8_t timeout = parameters->response_timeout;

	*ret_req = (struct cm_req){
		.vendor_id = parameters->vendor_id,
		.service_id = cm_address_service_id(&id->route.destination, id->port_space),
		.local_qpn = parameters->qpn,
		.responder_resources = parameters->responder_resources,
		.initiator_depth = parameters->initiator_depth,
		.remote_response_timeout = timeout ? timeout : CM_RESPONSE_TIMEOUT,
		.transport = transport_of(id->qp_type),
		.flow_control = parameters->flow_control,
		.starting_psn = id->send_psn,
		.local_response_timeout = timeout ? timeout : CM_RESPONSE_TIMEOUT,
		.retry_count = parameters->retry_count,
		.pkey = id->route.pkey,
		.path_mtu = id->route.path.mtu,
		.rnr_retry_count = parameters->rnr_retry_count,
		.max_cm_retries = timeout ? parameters->retries : CM_RETRIES,
		.srq = parameters->srq,
		.extended_transport = is_xrc ? CM_EXTENDED_TRANSPORT_XRC : 0,
	};
	if (id->qp_type != CM_QP_RD)
		return;
	ret_req->local_qkey = parameters->qkey;
	ret_req->local_eecn = parameters->eecn;
	ret_req->remote_eecn = parameters->remote_eecn;
	ret_req->rdc_exists = parameters->rdc_exists != 0;
}

/* A connection of EE contexts offers an EE context on both sides, and no other connection does. The
 * numbers must fit the fields of REQ and REP. */
static bool offer_fits(const struct cm_id *id, const struct cm_parameters *parameters)
{
	if (id->qp_type != CM_QP_RD || parameters->qp_type != CM_QP_RD)
		return id->qp_type != CM_QP_RD && parameters->qp_type != CM_QP_RD;
	return parameters->eecn &&
	       !((parameters->qpn | parameters->eecn | parameters->remote_eecn) >> 24) &&
	       parameters->response_timeout <= TIME_CODE_MAX && parameters->retries <= CM_RETRIES;
}

int cm_id_connect(struct cm_id *id, const struct cm_parameters *parameters,
		  struct cm_private_data private_data)
{
	struct cm_host *host = id->program->host;
	uint8_t bytes[CM_REQ_PRIVATE_BYTES];
	size_t byte_count;

	if (id->state != CM_ID_ROUTE_RESOLVED)
		return -EINVAL;
	if (id->qp_type == CM_QP_UD)
		return cm_id_resolve_service(id, private_data);
	if (!offer_fits(id, parameters))
		return -EINVAL;
	if (!cm_request_private(id, sizeof(bytes), private_data, bytes, &byte_count))
		return -EINVAL;

	struct cm_call call = {.port_index = id->port->index,
			       .address = cm_path_address(&id->route),
			       .packet_life_time = id->route.path.packet_life_time,
			       .vendor_options = parameters->vendor_options,
			       .private_data = {bytes, byte_count}};

	id->qp_type = (enum cm_qp_type)parameters->qp_type;
	fill_req(id, parameters, &call.request.req);
	call.request.primary = cm_path_of_req(id);

	int error = cm_connect(host->cm, cm_host_now(host), &call, id, &id->connection);

	if (error)
		return error;
	id->offered = *parameters;
	id->state = CM_ID_CONNECTING;
	cm_host_wake(host);
	return 0;
}

int cm_id_accept(struct cm_id *id, const struct cm_parameters *parameters,
		 struct cm_private_data private_data)
{
	struct cm_host *host = id->program->host;

	if (id->state != CM_ID_CONNECTING || !id->is_passive || id->is_accepted)
		return -EINVAL;
	if (id->qp_type == CM_QP_UD)
		return cm_id_answer_service(id, parameters, CM_SIDR_OK, private_data);

	bool is_xrc = id->qp_type == CM_QP_XRC_RECEIVE, is_rd = id->qp_type == CM_QP_RD;

	if (!offer_fits(id, parameters))
		return -EINVAL;

	const struct cm_rep rep = {
		.local_qkey = is_rd ? parameters->qkey : 0,
		.local_qpn = is_xrc ? 0 : parameters->qpn,
		.local_eecn = is_rd    ? parameters->eecn
			      : is_xrc ? parameters->qpn
				       : 0,
		.vendor_id_high = (uint8_t)(parameters->vendor_id >> 16),
		.vendor_id_middle = (uint8_t)(parameters->vendor_id >> 8),
		.vendor_id_low = (uint8_t)parameters->vendor_id,
		.starting_psn = id->send_psn,
		.responder_resources = parameters->responder_resources,
		.initiator_depth = parameters->initiator_depth,
		.target_ack_delay = CM_ACK_DELAY,
		.failover = CM_FAILOVER_UNSUPPORTED,
		.flow_control = parameters->flow_control,
		.rnr_retry_count = parameters->rnr_retry_count,
		.srq = is_xrc ? 1 : parameters->srq,
	};
	int error = cm_accept(id->connection, cm_host_now(host), &rep, parameters->vendor_options,
			      private_data);

	if (error)
		return error;
	cm_id_leave_backlog(id);
	id->offered = *parameters;
	id->is_accepted = true;
	cm_host_wake(host);
	return 0;
}

int cm_id_establish(struct cm_id *id)
{
	struct cm_host *host = id->program->host;
	const struct cm_private_data nothing = {0};

	if (id->state != CM_ID_CONNECTING || id->is_passive || !id->connection)
		return -EINVAL;

	int error = cm_establish(id->connection, cm_host_now(host), nothing);

	if (error)
		return error;
	id->state = CM_ID_CONNECTED;
	cm_host_wake(host);
	return 0;
}

int cm_id_reject(struct cm_id *id, uint32_t reason, struct cm_private_data private_data)
{
	struct cm_host *host = id->program->host;
	const struct cm_private_data nothing = {0};

	if (id->state != CM_ID_CONNECTING || !id->connection)
		return -EINVAL;
	cm_id_leave_backlog(id);
	if (id->qp_type == CM_QP_UD)
		return cm_id_answer_service(id, NULL, CM_SIDR_REJECTED, private_data);

	int error = cm_reject(id->connection, cm_host_now(host),
			      reason ? (enum cm_reject_reason)reason : CM_REJECT_CONSUMER, nothing,
			      private_data);

	if (error)
		return error;
	id->state = CM_ID_DISCONNECTED;
	cm_host_wake(host);
	return 0;
}

int cm_id_disconnect(struct cm_id *id)
{
	struct cm_host *host = id->program->host;
	const struct cm_private_data nothing = {0};

	if (!id->connection || id->qp_type == CM_QP_UD)
		return -EINVAL;
	/* A connection that has ended or is not established yet ends by itself. */
	if (cm_disconnect(id->connection, cm_host_now(host), nothing) == 0)
		cm_host_wake(host);
	return 0;
}

int cm_id_notify(struct cm_id *id)
{
	struct cm_host *host = id->program->host;

	if (!id->connection)
		return -EINVAL;

	int error = cm_notify_established(id->connection, cm_host_now(host));

	cm_host_wake(host);
	return error == -EISCONN ? 0 : error;
}
