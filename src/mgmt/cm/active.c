/* SPDX-License-Identifier: Apache-2.0 */
/* The active side: sends REQ, gets REP or MRA, sends RTU (management 7.2). */
#include <errno.h>
#include <string.h>
#include "base/bytes.h"
#include "mgmt/cm/cm_connection.h"
#include "mgmt/cm/rd_channel.h"

static void remember_call(struct cm_connection *connection, const struct cm_call *call)
{
	const struct cm_request *request = &call->request;

	connection->peer.address = call->address;
	connection->service_id = request->req.service_id;
	connection_note_channel(connection, &request->req);
	connection->local_qpn = req_number(&request->req);
	if (call->is_peer_to_peer)
		list_append(&connection->cm->peer_calls, &connection->peer_link);
	connection->peer.gid =
		gid_from(request->primary.remote_gid_prefix, request->primary.remote_gid_guid);
	connection->round_trip = 2 * time_from_code(call->packet_life_time);
	connection->retry.timeout =
		connection->round_trip + time_from_code(request->req.remote_response_timeout);
	connection->timewait = time_from_code(request->primary.ack_timeout);
	connection->retry.max = request->req.max_cm_retries;
	connection->transaction_id = transaction_id_of(connection);
}

int cm_connect(struct cm *cm, time_ns now, const struct cm_call *call, void *context,
	       struct cm_connection **ret_connection)
{
	struct cm_connection *connection;

	if (call->port_index >= cm->options.port_count ||
	    !private_fits(call->private_data, CM_REQ_PRIVATE_BYTES))
		return -EINVAL;

	int error = connection_create(cm, call->port_index, context, &connection);

	if (error)
		return error;
	remember_call(connection, call);

	struct cm_request request = call->request;
	struct cm_message *message = outbox_start_for(
		connection, CM_REQ, connection->transaction_id, call->vendor_options);

	if (!message) {
		connection_free(connection);
		return -ENOMEM;
	}
	request.req.local_comm_id = connection->local_comm_id;
	request.req.local_ca_guid = cm->ca_guids[call->port_index];
	cm_request_encode(&request, outbox_data(message));
	put_private(outbox_data(message) + CM_REQ_PRIVATE_OFFSET, call->private_data);
	connection_enter(connection, CM_REQ_SENT);
	connection_repeat(connection, now, connection->retry.timeout, connection->retry.max,
			  message);
	*ret_connection = connection;
	return 0;
}

/* Rejects a REP from its own ids, also where there is no connection; its sender then drops its
 * connection. */
static void refuse_rep(struct cm *cm, const struct cm_message *message, const struct cm_rep *rep,
		       enum cm_reject_reason reason)
{
	send_rej_to(cm, message, rep->local_comm_id, rep->remote_comm_id, CM_ANSWERED_REP, reason);
}

static struct cm_message *send_rtu_again(struct cm_connection *connection)
{
	const struct cm_rtu rtu = {.local_comm_id = connection->local_comm_id,
				   .remote_comm_id = connection->peer.comm_id};
	struct cm_message *message =
		outbox_start_for(connection, CM_RTU, connection->transaction_id, 0);

	if (message)
		cm_rtu_encode(&rtu, outbox_data(message));
	return message;
}

static void send_rtu(struct cm_connection *connection, struct cm_private_data private_data)
{
	struct cm_message *message = send_rtu_again(connection);

	if (!message)
		return;
	put_private(outbox_data(message) + CM_RTU_PRIVATE_OFFSET, private_data);
	/* The RTU is kept: the peer repeats its REP if the RTU gets lost. */
	memcpy(connection->retry.message, message->mad.bytes, MAD_BYTES);
}

/* The REP was repeated: our answer got lost, or is not sent yet. */
static void repeat_answer(struct cm_connection *connection)
{
	if (connection->state == CM_ESTABLISHED) {
		/* A LAP may have replaced the RTU as the message to repeat. */
		if (get_be16(connection->retry.message + 16) == CM_RTU)
			connection_resend(connection);
		else
			send_rtu_again(connection);
		return;
	}
	if (connection->state == CM_REP_RCVD && connection->delay)
		connection_enter(connection, CM_MRA_REP_SENT);
	if (connection->state == CM_MRA_REP_SENT)
		connection_send_mra(connection, CM_ANSWERED_REP, connection->delay);
}

void rep_receive(struct cm *cm, time_ns now, const struct cm_message *message)
{
	struct cm_rep rep;

	(void)now;
	cm_rep_decode(message->mad.bytes + CM_DATA_OFFSET, &rep);

	struct cm_connection *connection = hash_table_get(&cm->by_local_id, rep.remote_comm_id);

	if (!connection ||
	    (connection->peer.comm_id && connection->peer.comm_id != rep.local_comm_id)) {
		refuse_rep(cm, message, &rep, CM_REJECT_INVALID_COMM_ID);
		return;
	}
	if (connection->state != CM_REQ_SENT && connection->state != CM_REP_WAIT) {
		repeat_answer(connection);
		return;
	}
	/* The peer's QP belongs to a connection that we still hold: one side was restarted
	 * (management 7.4). */
	if (rep_find_holder(connection, &rep)) {
		refuse_rep(cm, message, &rep, CM_REJECT_STALE_CONNECTION);
		return;
	}
	connection_cancel(connection);
	connection->peer.comm_id = rep.local_comm_id;
	connection->peer.ca_guid = rep.local_ca_guid;
	connection->peer.qpn = rep_number(connection, &rep);
	connection->transaction_id = get_be64(message->mad.bytes + 8);
	if (connection_index_remote_id(connection) != 0 ||
	    connection_index_remote_qpn(connection) != 0) {
		refuse_rep(cm, message, &rep, CM_REJECT_NO_RESOURCES);
		connection_enter_idle(connection);
		connection_tell(connection, CM_EVENT_UNREACHABLE, NULL, 0, 0);
		return;
	}
	connection_enter(connection, CM_REP_RCVD);
	connection_tell(connection, CM_EVENT_REPLY, message, CM_REP_PRIVATE_OFFSET,
			CM_REP_PRIVATE_BYTES);
}

int cm_establish(struct cm_connection *connection, time_ns now, struct cm_private_data private_data)
{
	(void)now;
	if (!private_fits(private_data, CM_RTU_PRIVATE_BYTES) ||
	    (connection->state != CM_REP_RCVD && connection->state != CM_MRA_REP_SENT))
		return -EINVAL;
	connection_enter(connection, CM_ESTABLISHED);
	send_rtu(connection, private_data);
	return 0;
}

/* After an MRA nothing is resent until the service timeout and the round trip have passed
 * (management 7.3). */
static void wait_longer(struct cm_connection *connection, time_ns now, uint8_t service_timeout)
{
	connection->retry.left = 0;
	timer_queue_arm(&connection->cm->timers, &connection->timer,
			now + time_from_code(service_timeout) + connection->round_trip +
				connection->retry.timeout);
}

void mra_receive(struct cm *cm, time_ns now, const struct cm_message *message)
{
	struct cm_mra mra;

	cm_mra_decode(message->mad.bytes + CM_DATA_OFFSET, &mra);

	struct cm_connection *connection = hash_table_get(&cm->by_local_id, mra.remote_comm_id);

	if (!connection)
		return;
	if (connection->state == CM_REQ_SENT && mra.answered == CM_ANSWERED_REQ) {
		connection_enter(connection, CM_REP_WAIT);
		wait_longer(connection, now, mra.service_timeout);
		return;
	}
	if (connection->peer.comm_id != mra.local_comm_id)
		return;
	if (connection->state == CM_REP_SENT && mra.answered == CM_ANSWERED_REP) {
		connection_enter(connection, CM_MRA_REP_RCVD);
		wait_longer(connection, now, mra.service_timeout);
	} else if (connection->state == CM_ESTABLISHED && mra.answered == CM_ANSWERED_OTHER &&
		   connection->lap.state == LAP_SENT) {
		connection->lap.state = LAP_DELAYED;
		wait_longer(connection, now, mra.service_timeout);
	}
}

/* Either side may send an MRA for the message that it has to answer. */
int cm_delay(struct cm_connection *connection, time_ns now, uint8_t service_timeout)
{
	(void)now;
	if (connection->state == CM_REQ_RCVD) {
		connection_enter(connection, CM_MRA_REQ_SENT);
		connection_send_mra(connection, CM_ANSWERED_REQ, service_timeout);
	} else if (connection->state == CM_REP_RCVD) {
		connection_enter(connection, CM_MRA_REP_SENT);
		connection_send_mra(connection, CM_ANSWERED_REP, service_timeout);
	} else if (connection->state == CM_ESTABLISHED && connection->lap.state == LAP_RCVD) {
		connection->lap.state = LAP_DELAY_SENT;
		connection_send_mra(connection, CM_ANSWERED_OTHER, service_timeout);
	} else {
		return -EINVAL;
	}
	connection->delay = service_timeout;
	return 0;
}

void cm_delay_when_asked(struct cm_connection *connection, uint8_t service_timeout)
{
	connection->delay = service_timeout;
}
