/* SPDX-License-Identifier: Apache-2.0 */
/* The program's calls that connect EE contexts: listen, connect, accept, reject (vol 1, chapter
 * 12). */
#include <stdlib.h>
#include <string.h>
#include "api/libibverbs/rd/eec_ids.h"
#include "wire/cm_ip_header.h"

enum { RESOLVE_TIMEOUT_MS = 2000, TRIES_MAX = 16, TIME_CODE_MAX = 31 };

static int port_address(struct ibv_context *context, uint8_t port_num,
			struct cm_address *ret_address)
{
	union ibv_gid gid;

	if (ibv_query_gid(context, port_num, 0, &gid))
		return -EINVAL;
	*ret_address = (struct cm_address){.family = CM_ADDRESS_IB, .service_mask = UINT64_MAX};
	memcpy(ret_address->bytes, gid.raw, sizeof(gid.raw));
	return 0;
}

/* softibd creates the id when it gets the id's first command. */
static struct cm_command first_command(const struct verbs_cm_id *id, enum cm_command_kind kind)
{
	struct cm_command command = cm_id_command(id, kind);

	command.is_new = 1;
	command.new_qp_type = CM_QP_RD;
	command.channel = cm_channel_of(id->id.channel)->number;
	command.port_space = CM_PORT_SPACE_IB;
	return command;
}

static int ask_first(struct cm_command *command)
{
	struct cm_answer answer = {0};
	int error = cm_session_ask(command, &answer);

	if (error && answer.is_id_known)
		cm_refuse(command->id, 0);
	return error;
}

static int ask(struct cm_command *command)
{
	struct cm_answer answer;

	return cm_session_ask(command, &answer);
}

struct softib_cm_id *softib_listen_eec(struct softib_cm_channel *channel, uint8_t port_num,
				       uint64_t service_id, int backlog, void *id_context)
{
	struct cm_address address;
	struct verbs_cm_id *id;
	int error = channel && service_id && backlog >= 0 ? 0 : -EINVAL;

	if (!error)
		error = port_address(channel->context, port_num, &address);
	if (!error)
		error = cm_id_make(channel, 0, id_context, &id);
	if (error)
		return verbs_null(error);
	id->is_listener = true;
	id->id.service_id = service_id;
	id->id.port_num = port_num;

	struct cm_command command = first_command(id, CM_BIND);

	command.source = address;
	command.source.service_id = service_id;
	error = ask_first(&command);
	if (!error) {
		command = cm_id_command(id, CM_LISTEN);
		command.value = (uint32_t)backlog;
		error = ask_first(&command);
	}
	if (error) {
		cm_id_forget(id);
		cm_id_free(id);
		return verbs_null(error);
	}
	return &id->id;
}

static bool has_pkey(struct ibv_context *context, const struct softib_eec_call *call)
{
	struct ibv_port_attr port;
	uint16_t pkey;

	if (!call->pkey)
		return true;
	if (ibv_query_port(context, call->port_num, &port))
		return false;
	for (int index = 0; index < port.pkey_tbl_len; index++)
		if (!ibv_query_pkey(context, call->port_num, index, &pkey) &&
		    be16toh(pkey) == call->pkey)
			return true;
	return false;
}

static bool offer_is_sound(const struct softib_eec_offer *offer, unsigned private_bytes_max)
{
	return offer && offer->private_data_len <= private_bytes_max &&
	       (offer->private_data || !offer->private_data_len) && !(offer->qp_num >> 24) &&
	       offer->retry_count <= 7 && offer->rnr_retry_count <= 7;
}

static bool call_is_sound(struct ibv_context *context, const struct softib_eec_call *call)
{
	if (!call || !call->service_id || call->response_timeout > TIME_CODE_MAX ||
	    call->ack_timeout > TIME_CODE_MAX || call->tries > TRIES_MAX ||
	    (call->response_timeout && !call->tries))
		return false;
	return has_pkey(context, call);
}

static struct cm_parameters parameters_of(const struct softib_eec *eec,
					  const struct softib_eec_offer *offer)
{
	return (struct cm_parameters){
		.qpn = offer->qp_num,
		.qkey = offer->qkey,
		.responder_resources = offer->responder_resources,
		.initiator_depth = offer->initiator_depth,
		.retry_count = offer->retry_count,
		.rnr_retry_count = offer->rnr_retry_count,
		.qp_type = CM_QP_RD,
		.eecn = eec->eec_num,
	};
}

/* A context in RTS is used as it is; one in RESET or INIT is to be connected. */
static int prepare_call(struct verbs_cm_id *id, struct softib_eec *eec,
			const struct softib_eec_call *call, const struct softib_eec_offer *offer)
{
	struct ibv_qp_attr attr;
	int error = softib_query_eec(eec, &attr, 0);

	if (error)
		return -error;

	bool is_there = attr.qp_state == IBV_QPS_RTS;

	if (!is_there && attr.qp_state != IBV_QPS_RESET && attr.qp_state != IBV_QPS_INIT)
		return -EINVAL;
	id->id.service_id = call->service_id;
	id->id.port_num = call->port_num;
	id->parameters = parameters_of(eec, offer);
	id->parameters.rdc_exists = is_there;
	id->parameters.remote_eecn = is_there ? attr.dest_qp_num : 0;
	id->parameters.response_timeout = call->response_timeout;
	id->parameters.retries = call->response_timeout ? (uint8_t)(call->tries - 1) : 0;
	id->private_byte_count = offer->private_data_len;
	if (offer->private_data_len)
		memcpy(id->private_data, offer->private_data, offer->private_data_len);
	return cm_context_hold(id, eec, is_there ? CONTEXT_AS_IT_IS : CONTEXT_TO_CONNECT);
}

static int start_call(struct verbs_cm_id *id, const struct softib_eec_call *call)
{
	struct cm_command command = first_command(id, CM_RESOLVE_ADDRESS);
	int error = port_address(id->id.channel->context, call->port_num, &command.source);

	if (error)
		return error;
	command.timeout_ms = RESOLVE_TIMEOUT_MS;
	command.destination = (struct cm_address){.family = CM_ADDRESS_IB,
						  .pkey = call->pkey,
						  .service_id = call->service_id,
						  .service_mask = UINT64_MAX};
	memcpy(command.destination.bytes, call->dgid.raw, sizeof(call->dgid.raw));
	error = ask_first(&command);
	if (error || !call->ack_timeout)
		return error;
	command = cm_id_command(id, CM_SET_OPTION);
	command.option = CM_OPTION_ACK_TIMEOUT;
	command.value = call->ack_timeout;
	return ask_first(&command);
}

struct softib_cm_id *softib_connect_eec(struct softib_cm_channel *channel, struct softib_eec *eec,
					const struct softib_eec_call *call,
					const struct softib_eec_offer *offer, void *id_context)
{
	struct verbs_cm_id *id;

	if (!channel || !eec || eec->context != channel->context ||
	    !call_is_sound(channel->context, call) || !offer_is_sound(offer, CM_REQ_PRIVATE_BYTES))
		return verbs_null(-EINVAL);

	int error = cm_id_make(channel, 0, id_context, &id);

	if (error)
		return verbs_null(error);
	error = prepare_call(id, eec, call, offer);
	if (!error)
		error = start_call(id, call);
	if (error) {
		cm_context_release(id);
		cm_id_forget(id);
		cm_id_free(id);
		return verbs_null(error);
	}
	return &id->id;
}

static uint8_t lesser(uint8_t a, uint8_t b)
{
	return a < b ? a : b;
}

/* Each side's depths are limited to what the other side can serve. */
static void agree(struct verbs_cm_id *id, const struct softib_eec_offer *offer,
		  struct cm_parameters *ret_parameters)
{
	*ret_parameters = parameters_of(id->id.eec, offer);
	ret_parameters->responder_resources =
		lesser(offer->responder_resources, id->terms.responder_resources);
	ret_parameters->initiator_depth = lesser(offer->initiator_depth, id->terms.initiator_depth);
	id->terms.responder_resources = ret_parameters->responder_resources;
	id->terms.initiator_depth = ret_parameters->initiator_depth;
}

static bool can_be_accepted(const struct verbs_cm_id *id, struct softib_eec *eec)
{
	struct ibv_qp_attr attr;

	if (!id->is_passive || id->is_accepted || !eec || eec->context != id->id.channel->context ||
	    softib_query_eec(eec, &attr, 0))
		return false;
	if (id->parameters.rdc_exists)
		return attr.qp_state == IBV_QPS_RTS && eec->eec_num == id->parameters.remote_eecn;
	return attr.qp_state == IBV_QPS_RESET || attr.qp_state == IBV_QPS_INIT;
}

int softib_accept_eec(struct softib_cm_id *public, struct softib_eec *eec,
		      const struct softib_eec_offer *offer)
{
	struct verbs_cm_id *id = cm_id_of(public);

	if (!public || !offer_is_sound(offer, CM_REP_PRIVATE_BYTES) || !can_be_accepted(id, eec))
		return verbs_result(-EINVAL);

	struct cm_command command = cm_id_command(id, CM_ACCEPT);
	int error = cm_context_hold(
		id, eec, id->parameters.rdc_exists ? CONTEXT_AS_IT_IS : CONTEXT_TO_CONNECT);

	if (error)
		return verbs_result(error);
	agree(id, offer, &command.parameters);
	command.private_byte_count = offer->private_data_len;
	if (offer->private_data_len)
		memcpy(command.private_data, offer->private_data, offer->private_data_len);
	/* Connect the context before the reply: the peer may send as soon as it gets the reply. */
	if (id->owns_context)
		error = -cm_context_connect(id);
	if (!error)
		error = ask(&command);
	id->is_accepted = !error;
	if (error) {
		cm_context_end(id);
		cm_context_release(id);
	}
	return verbs_result(error);
}

int softib_reject_eec(struct softib_cm_id *public, int reason, const void *private_data,
		      uint8_t private_data_len)
{
	struct verbs_cm_id *id = cm_id_of(public);

	if (!public || !id->is_passive || id->is_accepted || reason < 0 || reason > UINT16_MAX ||
	    private_data_len > CM_REJ_PRIVATE_BYTES || (private_data_len && !private_data))
		return verbs_result(-EINVAL);

	struct cm_command command = cm_id_command(id, CM_REJECT);

	command.value = (uint32_t)reason;
	command.private_byte_count = private_data_len;
	if (private_data_len)
		memcpy(command.private_data, private_data, private_data_len);
	return verbs_result(ask(&command));
}

int softib_disconnect_eec(struct softib_cm_id *public)
{
	struct verbs_cm_id *id = cm_id_of(public);

	if (!public || !public->eec)
		return verbs_result(-EINVAL);

	struct cm_command command = cm_id_command(id, CM_DISCONNECT);

	cm_context_end(id);
	return verbs_result(ask(&command));
}

int softib_load_alternate_eec(struct softib_cm_id *public, uint8_t port_num,
			      const union ibv_gid *dgid)
{
	struct verbs_cm_id *id = cm_id_of(public);

	if (!public || !dgid || !id->has_connected)
		return verbs_result(-EINVAL);

	struct cm_command command = cm_id_command(id, CM_FIND_ALTERNATE);
	int error = port_address(public->channel->context, port_num, &command.source);

	if (error)
		return verbs_result(error);
	command.destination.family = CM_ADDRESS_IB;
	memcpy(command.destination.bytes, dgid->raw, sizeof(dgid->raw));
	return verbs_result(ask(&command));
}

int softib_notify_eec(struct softib_cm_id *public)
{
	struct verbs_cm_id *id = cm_id_of(public);

	if (!public || !id->is_accepted)
		return verbs_result(-EINVAL);

	struct cm_command command = cm_id_command(id, CM_NOTIFY);

	return verbs_result(ask(&command));
}

int softib_destroy_cm_id(struct softib_cm_id *public)
{
	if (!public)
		return verbs_result(-EINVAL);

	struct verbs_cm_id *id = cm_id_of(public);
	struct cm_command command = cm_id_command(id, CM_DESTROY);

	/* softibd disconnects the peer and sends no more events for this id. If softibd is gone, so
	 * is the id. */
	if (ask(&command) != 0)
		errno = 0;
	cm_id_forget(id);
	cm_context_end(id);
	cm_context_release(id);
	cm_id_free(id);
	return 0;
}
