/* SPDX-License-Identifier: Apache-2.0 */
/* The passive side: gets REQ, sends REP, gets RTU; duplicates, stale connections and peer-to-peer
 * calls (management 7.2, 7.4). */
#include <errno.h>
#include "base/bytes.h"
#include "mgmt/cm/cm_connection.h"
#include "mgmt/cm/rd_channel.h"

void send_rej_to(struct cm *cm, const struct cm_message *request, uint32_t remote_comm_id,
		 uint32_t local_comm_id, enum cm_answered answered, enum cm_reject_reason reason)
{
	const struct cm_rej rej = {.local_comm_id = local_comm_id,
				   .remote_comm_id = remote_comm_id,
				   .answered = (uint8_t)answered,
				   .reason = (uint16_t)reason};
	struct cm_message *message = outbox_start(cm, request->port_index, &request->mad.address,
						  CM_REJ, get_be64(request->mad.bytes + 8), 0);

	if (message)
		cm_rej_encode(&rej, outbox_data(message));
}

void req_refuse(struct cm *cm, const struct cm_message *message, enum cm_reject_reason reason)
{
	send_rej_to(cm, message, get_be32(message->mad.bytes + CM_DATA_OFFSET), 0, CM_ANSWERED_REQ,
		    reason);
}

/* A connection with this communication id exists: the REQ is a duplicate, or its sender reused the
 * id. */
static void receive_again(struct cm_connection *connection, const struct cm_message *message,
			  const struct cm_request *request)
{
	if (connection->state == CM_TIMEWAIT) {
		req_refuse(connection->cm, message, CM_REJECT_STALE_CONNECTION);
		return;
	}
	if (connection->service_id != request->req.service_id ||
	    connection->peer.qpn != req_number(&request->req)) {
		req_refuse(connection->cm, message, CM_REJECT_DUPLICATE_COMM_ID);
		return;
	}
	if (connection->state == CM_REQ_RCVD && connection->delay)
		connection_enter(connection, CM_MRA_REQ_SENT);
	if (connection->state == CM_MRA_REQ_SENT)
		connection_send_mra(connection, CM_ANSWERED_REQ, connection->delay);
	/* In the other states the timer repeats the answer. */
}

/* The peer uses the QP of a connection that we hold for another one: the peer was restarted
 * (management 7.4). */
static void end_stale(struct cm_connection *connection, time_ns now,
		      const struct cm_message *message)
{
	const struct cm_private_data nothing = {0};

	req_refuse(connection->cm, message, CM_REJECT_STALE_CONNECTION);
	if (connection->state == CM_ESTABLISHED && cm_disconnect(connection, now, nothing) != 0)
		connection_enter_timewait(connection, now);
}

static void remember_request(struct cm_connection *connection, const struct cm_message *message,
			     const struct cm_request *request)
{
	connection->peer.address = message->mad.address;
	connection->peer.comm_id = request->req.local_comm_id;
	connection->peer.ca_guid = request->req.local_ca_guid;
	connection_note_channel(connection, &request->req);
	connection->peer.qpn = req_number(&request->req);
	connection->peer.gid =
		gid_from(request->primary.local_gid_prefix, request->primary.local_gid_guid);
	connection->service_id = request->req.service_id;
	connection->retry.timeout = time_from_code(request->req.local_response_timeout);
	connection->round_trip = time_from_code(request->primary.ack_timeout);
	connection->timewait = time_from_code(request->primary.ack_timeout);
	connection->retry.max = request->req.max_cm_retries;
	connection->transaction_id = get_be64(message->mad.bytes + 8);
}

static void announce(struct cm_connection *connection, struct cm_listener *listener,
		     const struct cm_message *message)
{
	const uint8_t *data = message->mad.bytes + CM_DATA_OFFSET;
	const struct cm_event event = {
		.kind = CM_EVENT_REQUEST,
		.listener = listener,
		.data = data,
		.private_data = {data + CM_REQ_PRIVATE_OFFSET, CM_REQ_PRIVATE_BYTES},
		.vendor_options = get_be32(message->mad.bytes + 20),
		.port_index = message->port_index,
		.address = &connection->peer.address,
	};

	connection_tell_event(connection, &event);
}

static struct cm_connection *find_crossing_call(const struct cm *cm,
						const struct cm_request *request)
{
	struct gid caller =
		gid_from(request->primary.local_gid_prefix, request->primary.local_gid_guid);

	list_for_each (link, &cm->peer_calls) {
		struct cm_connection *connection =
			container_of(link, struct cm_connection, peer_link);

		if ((connection->state == CM_REQ_SENT || connection->state == CM_REP_WAIT) &&
		    connection->service_id == request->req.service_id &&
		    gid_equal(&connection->peer.gid, &caller))
			return connection;
	}
	return NULL;
}

/* Both sides called each other. The one with the larger CA GUID, then the larger QPN, stays active
 * (management 7.4). Returns whether the REQ is handled. */
static bool receive_crossing(struct cm *cm, const struct cm_message *message,
			     const struct cm_request *request)
{
	struct cm_connection *connection = find_crossing_call(cm, request);

	if (!connection)
		return false;

	uint64_t own_guid = cm->ca_guids[connection->port_index];
	uint64_t guid = request->req.local_ca_guid;

	if (own_guid > guid ||
	    (own_guid == guid && connection->local_qpn > req_number(&request->req)))
		return true;
	connection_cancel(connection);
	remember_request(connection, message, request);
	if (connection_index_remote_id(connection) != 0 ||
	    connection_index_remote_qpn(connection) != 0) {
		req_refuse(cm, message, CM_REJECT_NO_RESOURCES);
		connection_enter_idle(connection);
		connection_tell(connection, CM_EVENT_UNREACHABLE, NULL, 0, 0);
		return true;
	}
	connection_enter(connection, CM_REQ_RCVD);
	announce(connection, NULL, message);
	return true;
}

static void receive_new(struct cm *cm, const struct cm_message *message,
			const struct cm_request *request, struct cm_listener *listener)
{
	struct cm_connection *connection;

	if (connection_create(cm, message->port_index, NULL, &connection) != 0) {
		req_refuse(cm, message, CM_REJECT_NO_RESOURCES);
		return;
	}
	remember_request(connection, message, request);
	if (connection_index_remote_id(connection) != 0 ||
	    connection_index_remote_qpn(connection) != 0) {
		req_refuse(cm, message, CM_REJECT_NO_RESOURCES);
		connection_free(connection);
		return;
	}
	connection_enter(connection, CM_REQ_RCVD);
	announce(connection, listener, message);
}

void req_receive(struct cm *cm, time_ns now, const struct cm_message *message)
{
	struct cm_request request;
	struct cm_connection *connection;

	cm_request_decode(message->mad.bytes + CM_DATA_OFFSET, &request);
	connection =
		connection_find_remote_id(cm, request.req.local_comm_id, request.req.local_ca_guid);
	if (connection) {
		receive_again(connection, message, &request);
		return;
	}

	unsigned fault = req_transport_fault(cm, &request.req);

	if (fault) {
		req_refuse(cm, message, (enum cm_reject_reason)fault);
		return;
	}
	connection = req_find_holder(cm, &request.req);
	if (connection) {
		end_stale(connection, now, message);
		return;
	}
	if (receive_crossing(cm, message, &request))
		return;

	struct cm_listener *listener = listener_find(cm, request.req.service_id);

	if (listener)
		receive_new(cm, message, &request, listener);
	else if (!listeners_hold(cm, now, request.req.service_id, message))
		req_refuse(cm, message, CM_REJECT_INVALID_SERVICE_ID);
}

int cm_accept(struct cm_connection *connection, time_ns now, const struct cm_rep *rep,
	      uint32_t vendor_options, struct cm_private_data private_data)
{
	if (!private_fits(private_data, CM_REP_PRIVATE_BYTES) ||
	    (connection->state != CM_REQ_RCVD && connection->state != CM_MRA_REQ_SENT))
		return -EINVAL;

	struct cm_rep filled = *rep;
	struct cm_message *message =
		outbox_start_for(connection, CM_REP, connection->transaction_id, vendor_options);

	if (!message)
		return -ENOMEM;
	filled.local_comm_id = connection->local_comm_id;
	filled.remote_comm_id = connection->peer.comm_id;
	filled.local_ca_guid = connection->cm->ca_guids[connection->port_index];
	cm_rep_encode(&filled, outbox_data(message));
	put_private(outbox_data(message) + CM_REP_PRIVATE_OFFSET, private_data);
	connection->local_qpn = rep_number(connection, rep);
	connection_enter(connection, CM_REP_SENT);
	connection_repeat(connection, now, connection->retry.timeout, connection->retry.max,
			  message);
	return 0;
}

void rtu_receive(struct cm *cm, time_ns now, const struct cm_message *message)
{
	struct cm_rtu rtu;

	(void)now;
	cm_rtu_decode(message->mad.bytes + CM_DATA_OFFSET, &rtu);

	struct cm_connection *connection =
		connection_find(cm, rtu.remote_comm_id, rtu.local_comm_id);

	if (!connection ||
	    (connection->state != CM_REP_SENT && connection->state != CM_MRA_REP_RCVD))
		return;
	connection_cancel(connection);
	connection_enter(connection, CM_ESTABLISHED);
	connection_tell(connection, CM_EVENT_ESTABLISHED, message, CM_RTU_PRIVATE_OFFSET,
			CM_RTU_PRIVATE_BYTES);
}

int cm_notify_established(struct cm_connection *connection, time_ns now)
{
	(void)now;
	if (connection->state == CM_ESTABLISHED)
		return -EISCONN;
	if (connection->state != CM_REP_SENT && connection->state != CM_MRA_REP_RCVD)
		return -EINVAL;
	connection_cancel(connection);
	connection_enter(connection, CM_ESTABLISHED);
	connection_tell(connection, CM_EVENT_ESTABLISHED, NULL, 0, 0);
	return 0;
}
