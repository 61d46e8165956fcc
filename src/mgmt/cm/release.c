/* SPDX-License-Identifier: Apache-2.0 */
/* The end of connections: REJ, DREQ, DREP (management 7.2, 7.4). */
#include <errno.h>
#include "base/bytes.h"
#include "mgmt/cm/cm_connection.h"

/* A peer that gave up on its REQ never learned our id. Its REJ names the connection by its own id
 * and CA GUID (management 7.4). */
static struct cm_connection *find_rejected(const struct cm *cm, const struct cm_rej *rej,
					   const uint8_t *info)
{
	if (!rej->remote_comm_id)
		return rej->reason == CM_REJECT_TIMEOUT && rej->info_bytes >= 8
			       ? connection_find_remote_id(cm, rej->local_comm_id, get_be64(info))
			       : NULL;

	struct cm_connection *connection = hash_table_get(&cm->by_local_id, rej->remote_comm_id);

	/* A REJ of our REQ comes from a peer whose id we do not know yet, or that has none. A REJ
	 * that comes after the REP answers another copy of the REQ. */
	if (connection && connection->peer.comm_id &&
	    connection->peer.comm_id != rej->local_comm_id)
		return NULL;
	return connection;
}

static void tell_rejection(struct cm_connection *connection, const struct cm_message *message,
			   const struct cm_rej *rej)
{
	const uint8_t *data = message->mad.bytes + CM_DATA_OFFSET;
	const struct cm_event event = {
		.kind = CM_EVENT_REJECTED,
		.data = data,
		.private_data = {data + CM_REJ_PRIVATE_OFFSET, CM_REJ_PRIVATE_BYTES},
		.reason = rej->reason,
		.port_index = connection->port_index,
		.address = &connection->peer.address,
	};

	connection_tell_event(connection, &event);
}

/* After REJ 10 (stale connection) the QPN waits in TIMEWAIT before its next use (management 7.2).
 * Otherwise there was no connection. */
static void end_rejected(struct cm_connection *connection, time_ns now, const struct cm_rej *rej)
{
	if (rej->reason == CM_REJECT_STALE_CONNECTION)
		connection_enter_timewait(connection, now);
	else
		connection_enter_idle(connection);
}

void rej_receive(struct cm *cm, time_ns now, const struct cm_message *message)
{
	const uint8_t *data = message->mad.bytes + CM_DATA_OFFSET;
	struct cm_rej rej;

	cm_rej_decode(data, &rej);

	struct cm_connection *connection = find_rejected(cm, &rej, data + CM_REJ_INFO_OFFSET);

	if (!connection)
		return;

	bool is_owned = !connection->is_released;

	switch (connection->state) {
	case CM_REQ_SENT:
	case CM_REP_WAIT:
	case CM_REQ_RCVD:
	case CM_MRA_REQ_SENT:
	case CM_REP_SENT:
	case CM_MRA_REP_RCVD:
		end_rejected(connection, now, &rej);
		break;
	case CM_REP_RCVD:
	case CM_MRA_REP_SENT:
	case CM_ESTABLISHED:
		connection_enter_timewait(connection, now);
		break;
	case CM_DREQ_SENT:
		connection_enter_timewait(connection, now);
		connection_tell(connection, CM_EVENT_DISCONNECT_DONE, NULL, 0, 0);
		return;
	case CM_IDLE:
	case CM_DREQ_RCVD:
	case CM_TIMEWAIT:
	case CM_SIDR_REQ_SENT:
	case CM_SIDR_REQ_RCVD:
	case CM_STATES:
		return;
	}
	if (is_owned)
		tell_rejection(connection, message, &rej);
}

static int send_dreq(struct cm_connection *connection, time_ns now,
		     struct cm_private_data private_data)
{
	const struct cm_dreq dreq = {.local_comm_id = connection->local_comm_id,
				     .remote_comm_id = connection->peer.comm_id,
				     .remote_qpn = connection->peer.qpn};

	if (!private_fits(private_data, CM_DREQ_PRIVATE_BYTES))
		return -EINVAL;

	struct cm_message *message =
		outbox_start_for(connection, CM_DREQ, transaction_id_of(connection), 0);

	if (!message)
		return -ENOMEM;
	cm_dreq_encode(&dreq, outbox_data(message));
	put_private(outbox_data(message) + CM_DREQ_PRIVATE_OFFSET, private_data);
	connection_cancel(connection);
	connection_enter(connection, CM_DREQ_SENT);
	connection_repeat(connection, now, connection->retry.timeout, connection->retry.max,
			  message);
	return 0;
}

static void send_drep(struct cm *cm, const struct cm_message *dreq_message,
		      const struct cm_dreq *dreq)
{
	const struct cm_drep drep = {.local_comm_id = dreq->remote_comm_id,
				     .remote_comm_id = dreq->local_comm_id};
	struct cm_message *message =
		outbox_start(cm, dreq_message->port_index, &dreq_message->mad.address, CM_DREP,
			     get_be64(dreq_message->mad.bytes + 8), 0);

	if (message)
		cm_drep_encode(&drep, outbox_data(message));
}

static int answer_dreq(struct cm_connection *connection, time_ns now,
		       struct cm_private_data private_data)
{
	const struct cm_drep drep = {.local_comm_id = connection->local_comm_id,
				     .remote_comm_id = connection->peer.comm_id};

	if (!private_fits(private_data, CM_DREP_PRIVATE_BYTES))
		return -EINVAL;

	struct cm_message *message =
		outbox_start_for(connection, CM_DREP, connection->transaction_id, 0);

	/* If the DREP is lost or could not be made, the peer repeats its DREQ and finds the
	 * connection in TIMEWAIT. */
	if (message) {
		cm_drep_encode(&drep, outbox_data(message));
		put_private(outbox_data(message) + CM_DREP_PRIVATE_OFFSET, private_data);
	}
	connection_enter_timewait(connection, now);
	return 0;
}

int cm_disconnect(struct cm_connection *connection, time_ns now,
		  struct cm_private_data private_data)
{
	if (connection->state == CM_ESTABLISHED)
		return send_dreq(connection, now, private_data);
	if (connection->state == CM_DREQ_RCVD)
		return answer_dreq(connection, now, private_data);
	return -EINVAL;
}

static void accept_dreq(struct cm_connection *connection, time_ns now,
			const struct cm_message *message)
{
	connection_cancel(connection);
	connection->transaction_id = get_be64(message->mad.bytes + 8);

	bool was_ours = connection->state == CM_DREQ_SENT;

	connection_enter(connection, CM_DREQ_RCVD);
	/* Both sides sent a DREQ: the owner has disconnected already. */
	if (connection->is_released || was_ours) {
		const struct cm_private_data nothing = {0};

		if (answer_dreq(connection, now, nothing) != 0)
			connection_enter_timewait(connection, now);
	}
	connection_tell(connection, was_ours ? CM_EVENT_DISCONNECT_DONE : CM_EVENT_DISCONNECTED,
			message, CM_DREQ_PRIVATE_OFFSET, CM_DREQ_PRIVATE_BYTES);
}

/* The states in which a DREQ is accepted (management 7.2). */
static bool may_be_disconnected(enum cm_state state)
{
	return state == CM_REP_SENT || state == CM_MRA_REP_RCVD || state == CM_ESTABLISHED ||
	       state == CM_DREQ_SENT;
}

void dreq_receive(struct cm *cm, time_ns now, const struct cm_message *message)
{
	struct cm_dreq dreq;

	cm_dreq_decode(message->mad.bytes + CM_DATA_OFFSET, &dreq);

	struct cm_connection *connection =
		connection_find(cm, dreq.remote_comm_id, dreq.local_comm_id);

	/* A DREQ for an unknown connection gets a DREP, so that the peer can finish (management
	 * 7.2). */
	if (!connection || connection->state == CM_TIMEWAIT) {
		send_drep(cm, message, &dreq);
		return;
	}
	if (may_be_disconnected(connection->state) && dreq.remote_qpn == connection->local_qpn)
		accept_dreq(connection, now, message);
}

void drep_receive(struct cm *cm, time_ns now, const struct cm_message *message)
{
	struct cm_drep drep;

	cm_drep_decode(message->mad.bytes + CM_DATA_OFFSET, &drep);

	struct cm_connection *connection =
		connection_find(cm, drep.remote_comm_id, drep.local_comm_id);

	if (!connection || connection->state != CM_DREQ_SENT)
		return;
	connection_enter_timewait(connection, now);
	connection_tell(connection, CM_EVENT_DISCONNECT_DONE, message, CM_DREP_PRIVATE_OFFSET,
			CM_DREP_PRIVATE_BYTES);
}
