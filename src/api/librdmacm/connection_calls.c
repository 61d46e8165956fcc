/* SPDX-License-Identifier: Apache-2.0 */
/* Calls that establish and end connections. */
#include <errno.h>
#include <string.h>

#include "api/librdmacm/identifier.h"
#include "wire/cm_connect.h"
#include "wire/cm_ip_header.h"
#include "wire/cm_sidr.h"

enum { RETRIES_MAX = 7 };

/* Linux clamps larger counts to what the CM message can carry. */
static uint8_t clamp_retries(uint8_t count)
{
	return count < RETRIES_MAX ? count : RETRIES_MAX;
}

static int put_private(struct cm_command *command, const void *bytes, size_t byte_count)
{
	if (byte_count > sizeof(command->private_data) || (byte_count && !bytes))
		return -EINVAL;
	command->private_byte_count = (uint32_t)byte_count;
	if (byte_count)
		memcpy(command->private_data, bytes, byte_count);
	return 0;
}

static bool is_datagram(const struct rdma_cm_id *id)
{
	return id->qp_type == IBV_QPT_UD;
}

/* Depths of RDMA READs and atomics: the requested ones, or the adapter's maximum. */
static int choose_depths(struct identifier *identifier, const struct rdma_conn_param *wanted)
{
	uint8_t resources_max, depth_max;
	uint8_t resources = wanted ? wanted->responder_resources : RDMA_MAX_RESP_RES;
	uint8_t depth = wanted ? wanted->initiator_depth : RDMA_MAX_INIT_DEPTH;

	devices_depths(identifier->public.verbs, &resources_max, &depth_max);
	if (resources != RDMA_MAX_RESP_RES && resources > resources_max)
		return -EINVAL;
	if (depth != RDMA_MAX_INIT_DEPTH && depth > depth_max)
		return -EINVAL;
	/* The passive side, if it names no depth, offers no more than the peer asked for. */
	if (identifier->is_passive) {
		if (identifier->responder_resources < resources_max)
			resources_max = identifier->responder_resources;
		if (identifier->initiator_depth < depth_max)
			depth_max = identifier->initiator_depth;
	}
	identifier->responder_resources =
		resources == RDMA_MAX_RESP_RES ? resources_max : resources;
	identifier->initiator_depth = depth == RDMA_MAX_INIT_DEPTH ? depth_max : depth;
	return 0;
}

static void fill_parameters(const struct identifier *identifier,
			    const struct rdma_conn_param *wanted,
			    struct cm_parameters *ret_parameters)
{
	const struct rdma_cm_id *id = &identifier->public;

	*ret_parameters = (struct cm_parameters){
		.qpn = id->qp	? id->qp->qp_num
		       : wanted ? wanted->qp_num
				: 0,
		.qkey = identifier->qkey,
		.responder_resources = identifier->responder_resources,
		.initiator_depth = identifier->initiator_depth,
		.flow_control = wanted ? wanted->flow_control & 1 : 1,
		.retry_count = clamp_retries(wanted ? wanted->retry_count : RETRIES_MAX),
		.rnr_retry_count = clamp_retries(wanted ? wanted->rnr_retry_count : RETRIES_MAX),
		.srq = id->qp ? id->srq != NULL : wanted && wanted->srq,
		.qp_type = (uint8_t)queue_pair_kind(id->qp_type),
		.vendor_id = identifier->local_ece.vendor_id,
		.vendor_options = identifier->local_ece.options,
	};
}

/* Whether the private data fit into the CM message, which may begin with the IP addresses. */
static bool private_fits(const struct identifier *identifier, const struct cm_command *command)
{
	size_t room =
		is_datagram(&identifier->public) ? CM_SIDR_REQ_PRIVATE_BYTES : CM_REQ_PRIVATE_BYTES;

	if (identifier->public.route.addr.dst_addr.sa_family != AF_IB)
		room -= CM_IP_HEADER_BYTES;
	return command->private_byte_count <= room;
}

int rdma_connect(struct rdma_cm_id *id, struct rdma_conn_param *conn_param)
{
	struct identifier *identifier = identifier_of(id);
	struct cm_command command;
	struct cm_answer answer;

	if (!id->verbs || (!id->qp && !conn_param))
		return rdma_result(-EINVAL);

	int error = is_datagram(id) ? 0 : choose_depths(identifier, conn_param);

	if (error)
		return rdma_result(error);
	identifier_command(identifier, CM_CONNECT, &command);
	fill_parameters(identifier, conn_param, &command.parameters);
	if (conn_param && conn_param->private_data_len)
		error = put_private(&command, conn_param->private_data,
				    conn_param->private_data_len);
	else
		error = put_private(&command, identifier->endpoint.connect_data,
				    identifier->endpoint.connect_byte_count);
	if (error)
		return rdma_result(error);
	if (identifier->phase == PHASE_ROUTE_FOUND && private_fits(identifier, &command)) {
		identifier->phase = PHASE_CONNECTED;
		error = identifier_post(identifier, &command);
	} else {
		error = identifier_ask(identifier, &command, &answer);
	}
	return error ? rdma_result(error) : identifier_complete(identifier);
}

/* Moves the QP to RTS before the reply, because the peer may send as soon as it gets the reply. */
static int ready_queue_pair(struct identifier *identifier)
{
	if (!identifier->public.qp || is_datagram(&identifier->public))
		return 0;

	int error = queue_pair_to_rtr(identifier, identifier->responder_resources);

	if (!error)
		error = queue_pair_to_rts(identifier, identifier->initiator_depth);
	return -error;
}

static int say_accept(struct identifier *identifier, struct cm_command *command)
{
	struct cm_answer answer;
	bool is_right = identifier->phase == PHASE_CALLED && !is_datagram(&identifier->public) &&
			command->private_byte_count <= CM_REP_PRIVATE_BYTES;

	if (!is_right)
		return identifier_ask(identifier, command, &answer);
	identifier->phase = PHASE_CONNECTED;
	return identifier_post(identifier, command);
}

int rdma_accept(struct rdma_cm_id *id, struct rdma_conn_param *conn_param)
{
	struct identifier *identifier = identifier_of(id);
	struct cm_command command;

	if (!id->verbs || !identifier->is_passive || (!id->qp && !conn_param))
		return rdma_result(-EINVAL);

	int error = is_datagram(id) ? 0 : choose_depths(identifier, conn_param);

	identifier_command(identifier, CM_ACCEPT, &command);
	if (!error && conn_param)
		error = put_private(&command, conn_param->private_data,
				    conn_param->private_data_len);
	if (!error)
		error = ready_queue_pair(identifier);
	if (!error) {
		fill_parameters(identifier, conn_param, &command.parameters);
		error = say_accept(identifier, &command);
	}
	if (error) {
		queue_pair_to_error(identifier);
		return rdma_result(error);
	}
	return is_datagram(id) ? 0 : identifier_complete(identifier);
}

int rdma_establish(struct rdma_cm_id *id)
{
	struct cm_command command;
	struct cm_answer answer;

	/* If the id has a QP, the library has established the connection itself. */
	if (id->qp)
		return rdma_result(-EINVAL);
	identifier_command(identifier_of(id), CM_ESTABLISH, &command);
	return rdma_result(identifier_ask(identifier_of(id), &command, &answer));
}

static int reject(struct rdma_cm_id *id, enum cm_reject_reason reason, const void *private_data,
		  uint8_t private_data_len)
{
	struct cm_command command;
	struct cm_answer answer;

	identifier_command(identifier_of(id), CM_REJECT, &command);
	command.value = reason;

	int error = put_private(&command, private_data, private_data_len);

	if (!error)
		error = identifier_ask(identifier_of(id), &command, &answer);
	return rdma_result(error);
}

int rdma_reject(struct rdma_cm_id *id, const void *private_data, uint8_t private_data_len)
{
	return reject(id, CM_REJECT_CONSUMER, private_data, private_data_len);
}

int rdma_reject_ece(struct rdma_cm_id *id, const void *private_data, uint8_t private_data_len)
{
	return reject(id, CM_REJECT_VENDOR_OPTION, private_data, private_data_len);
}

int rdma_disconnect(struct rdma_cm_id *id)
{
	struct identifier *identifier = identifier_of(id);
	struct cm_command command;
	struct cm_answer answer;

	identifier_command(identifier, CM_DISCONNECT, &command);
	if (!is_datagram(id))
		queue_pair_to_error(identifier);

	uint64_t quiet_until = identifier->quiet_until;
	int error = identifier->phase == PHASE_CONNECTED && !is_datagram(id)
			    ? identifier_post(identifier, &command)
			    : identifier_ask(identifier, &command, &answer);

	/* Answering a peer that disconnected first raises no event before timewait ends. */
	identifier->quiet_until = quiet_until;

	return error ? rdma_result(error) : identifier_complete(identifier);
}

int rdma_notify(struct rdma_cm_id *id, enum ibv_event_type event)
{
	struct cm_command command;
	struct cm_answer answer;

	if (event == IBV_EVENT_PATH_MIG)
		return 0;
	if (event != IBV_EVENT_COMM_EST)
		return rdma_result(-EINVAL);
	identifier_command(identifier_of(id), CM_NOTIFY, &command);
	return rdma_result(identifier_ask(identifier_of(id), &command, &answer));
}

int rdma_set_local_ece(struct rdma_cm_id *id, struct ibv_ece *ece)
{
	if (!id || !ece || id->qp_type == IBV_QPT_UD)
		return rdma_result(-EINVAL);
	identifier_of(id)->local_ece = *ece;
	return 0;
}

int rdma_get_remote_ece(struct rdma_cm_id *id, struct ibv_ece *ece)
{
	if (!id || !ece)
		return rdma_result(-EINVAL);
	*ece = identifier_of(id)->remote_ece;
	return 0;
}
