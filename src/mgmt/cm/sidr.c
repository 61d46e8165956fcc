/* SPDX-License-Identifier: Apache-2.0 */
/* Service id resolution: finds the datagram queue pair of a service (management 7.1, 7.2). */
#include <errno.h>
#include "base/bytes.h"
#include "mgmt/cm/cm_connection.h"

int cm_sidr_resolve(struct cm *cm, time_ns now, const struct cm_sidr_call *call, void *context,
		    struct cm_connection **ret_connection)
{
	struct cm_connection *connection;

	if (call->port_index >= cm->options.port_count ||
	    !private_fits(call->private_data, CM_SIDR_REQ_PRIVATE_BYTES))
		return -EINVAL;

	int error = connection_create(cm, call->port_index, context, &connection);

	if (error)
		return error;
	connection->peer.address = call->address;
	connection->service_id = call->request.service_id;
	connection->retry.timeout = call->timeout;
	connection->retry.max = (uint8_t)call->retries;

	struct cm_sidr_req request = call->request;
	struct cm_message *message =
		outbox_start_for(connection, CM_SIDR_REQ, transaction_id_of(connection), 0);

	if (!message) {
		connection_free(connection);
		return -ENOMEM;
	}
	request.request_id = connection->local_comm_id;
	cm_sidr_req_encode(&request, outbox_data(message));
	put_private(outbox_data(message) + CM_SIDR_REQ_PRIVATE_OFFSET, call->private_data);
	connection_enter(connection, CM_SIDR_REQ_SENT);
	connection_repeat(connection, now, call->timeout, call->retries, message);
	*ret_connection = connection;
	return 0;
}

static void refuse(struct cm *cm, const struct cm_message *request_message,
		   const struct cm_sidr_req *request, enum cm_sidr_status status)
{
	const struct cm_sidr_rep rep = {.request_id = request->request_id,
					.status = (uint8_t)status,
					.service_id = request->service_id};
	struct cm_message *message =
		outbox_start(cm, request_message->port_index, &request_message->mad.address,
			     CM_SIDR_REP, get_be64(request_message->mad.bytes + 8), 0);

	if (message)
		cm_sidr_rep_encode(&rep, outbox_data(message));
}

void sidr_req_receive(struct cm *cm, time_ns now, const struct cm_message *message)
{
	const uint8_t *data = message->mad.bytes + CM_DATA_OFFSET;
	struct cm_connection *connection;
	struct cm_sidr_req request;

	cm_sidr_req_decode(data, &request);

	/* A SIDR_REQ has no CA GUID. Port and source LID identify its sender. */
	uint64_t source = (uint64_t)message->port_index << 16 | message->mad.address.lid;

	/* A repeat of a request that is being served. */
	if (connection_find_remote_id(cm, request.request_id, source))
		return;

	struct cm_listener *listener = listener_find(cm, request.service_id);

	if (!listener) {
		if (!listeners_hold(cm, now, request.service_id, message))
			refuse(cm, message, &request, CM_SIDR_UNSUPPORTED);
		return;
	}
	if (connection_create(cm, message->port_index, NULL, &connection) != 0) {
		refuse(cm, message, &request, CM_SIDR_NO_QP);
		return;
	}
	connection->peer.address = message->mad.address;
	connection->peer.comm_id = request.request_id;
	connection->peer.ca_guid = source;
	connection->service_id = request.service_id;
	connection->transaction_id = get_be64(message->mad.bytes + 8);
	if (connection_index_remote_id(connection) != 0) {
		connection_free(connection);
		refuse(cm, message, &request, CM_SIDR_NO_QP);
		return;
	}
	connection_enter(connection, CM_SIDR_REQ_RCVD);

	const struct cm_event event = {
		.kind = CM_EVENT_SIDR_REQUEST,
		.listener = listener,
		.data = data,
		.private_data = {data + CM_SIDR_REQ_PRIVATE_OFFSET, CM_SIDR_REQ_PRIVATE_BYTES},
		.port_index = message->port_index,
		.address = &connection->peer.address,
	};

	connection_tell_event(connection, &event);
}

int cm_sidr_answer(struct cm_connection *connection, time_ns now, const struct cm_sidr_rep *rep,
		   uint32_t vendor_options, struct cm_private_data private_data)
{
	(void)now;
	if (connection->state != CM_SIDR_REQ_RCVD ||
	    !private_fits(private_data, CM_SIDR_REP_PRIVATE_BYTES))
		return -EINVAL;

	struct cm_sidr_rep filled = *rep;
	struct cm_message *message = outbox_start_for(connection, CM_SIDR_REP,
						      connection->transaction_id, vendor_options);

	if (message) {
		filled.request_id = connection->peer.comm_id;
		filled.service_id = connection->service_id;
		cm_sidr_rep_encode(&filled, outbox_data(message));
		put_private(outbox_data(message) + CM_SIDR_REP_PRIVATE_OFFSET, private_data);
	}
	connection_enter_idle(connection);
	return 0;
}

void sidr_rep_receive(struct cm *cm, time_ns now, const struct cm_message *message)
{
	struct cm_sidr_rep rep;

	(void)now;
	cm_sidr_rep_decode(message->mad.bytes + CM_DATA_OFFSET, &rep);

	struct cm_connection *connection = hash_table_get(&cm->by_local_id, rep.request_id);

	if (!connection || connection->state != CM_SIDR_REQ_SENT)
		return;

	bool is_owned = !connection->is_released;

	connection_enter_idle(connection);
	if (is_owned)
		connection_tell(connection, CM_EVENT_SIDR_REPLY, message,
				CM_SIDR_REP_PRIVATE_OFFSET, CM_SIDR_REP_PRIVATE_BYTES);
}
