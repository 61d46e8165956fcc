/* SPDX-License-Identifier: Apache-2.0 */
/* States of a connection: entering them, timeouts, and the REJ that a peer gets when a connection
 * ends (management 7.2, 7.3). */
#include <errno.h>
#include "base/bytes.h"
#include "mgmt/cm/cm_connection.h"

static const struct cm_private_data nothing;

void connection_enter(struct cm_connection *connection, enum cm_state state)
{
	struct cm *cm = connection->cm;

	cm->timewait_count -= connection->state == CM_TIMEWAIT;
	cm->timewait_count += state == CM_TIMEWAIT;
	connection->state = state;
	if (state != CM_ESTABLISHED)
		connection->lap.state = LAP_NONE;
}

/* A new connection may use the QPN before the last packets of this one have left the fabric. Only
 * the communication id stays known, so that late messages are recognized. */
void connection_enter_timewait(struct cm_connection *connection, time_ns now)
{
	connection_cancel(connection);
	connection_unindex_remote_qpn(connection);
	connection_enter(connection, CM_TIMEWAIT);
	timer_queue_arm(&connection->cm->timers, &connection->timer, now + connection->timewait);
}

void connection_enter_idle(struct cm_connection *connection)
{
	connection_cancel(connection);
	connection_unindex_remote_qpn(connection);
	connection_unindex_remote_id(connection);
	connection_enter(connection, CM_IDLE);
	if (connection->is_released)
		connection_free(connection);
}

static void connection_send_rej(struct cm_connection *connection, enum cm_answered answered,
				enum cm_reject_reason reason, struct cm_private_data info,
				struct cm_private_data private_data)
{
	/* The peer has not seen our id yet, so it means nothing to it. */
	bool is_known = connection->state != CM_REQ_RCVD && connection->state != CM_MRA_REQ_SENT;
	const struct cm_rej rej = {
		.local_comm_id = is_known ? connection->local_comm_id : 0,
		.remote_comm_id = connection->peer.comm_id,
		.answered = (uint8_t)answered,
		.info_bytes = (uint8_t)info.byte_count,
		.reason = (uint16_t)reason,
	};
	struct cm_message *message =
		outbox_start_for(connection, CM_REJ, connection->transaction_id, 0);

	if (!message)
		return;
	cm_rej_encode(&rej, outbox_data(message));
	put_private(outbox_data(message) + CM_REJ_INFO_OFFSET, info);
	put_private(outbox_data(message) + CM_REJ_PRIVATE_OFFSET, private_data);
}

void connection_send_mra(struct cm_connection *connection, enum cm_answered answered,
			 uint8_t service_timeout)
{
	const struct cm_mra mra = {
		.local_comm_id = connection->local_comm_id,
		.remote_comm_id = connection->peer.comm_id,
		.answered = (uint8_t)answered,
		.service_timeout = service_timeout,
	};
	struct cm_message *message =
		outbox_start_for(connection, CM_MRA,
				 answered == CM_ANSWERED_OTHER ? connection->lap.transaction_id
							       : connection->transaction_id,
				 0);

	if (message)
		cm_mra_encode(&mra, outbox_data(message));
}

/* The REJ carries our CA GUID. If we never saw the peer's REP, we don't know its id, and the peer
 * finds its connection by the CA GUID (management 7.4). */
static void send_timeout_rej(struct cm_connection *connection, enum cm_answered answered)
{
	uint8_t ca_guid[8];

	put_be64(ca_guid, connection->cm->ca_guids[connection->port_index]);
	connection->transaction_id = transaction_id_of(connection);
	connection_send_rej(connection, answered, CM_REJECT_TIMEOUT,
			    (struct cm_private_data){ca_guid, sizeof(ca_guid)}, nothing);
}

void connection_tell_event(struct cm_connection *connection, const struct cm_event *event)
{
	struct cm *cm = connection->cm;

	if (!connection->is_released)
		cm->options.event(cm->options.context, connection, event);
}

void connection_tell(struct cm_connection *connection, enum cm_event_kind kind,
		     const struct cm_message *message, size_t private_offset, size_t private_bytes)
{
	const uint8_t *data = message ? message->mad.bytes + CM_DATA_OFFSET : NULL;
	const struct cm_event event = {
		.kind = kind,
		.data = data,
		.private_data = {data ? data + private_offset : NULL, data ? private_bytes : 0},
		.vendor_options = message ? get_be32(message->mad.bytes + 20) : 0,
		.port_index = connection->port_index,
		.address = &connection->peer.address,
	};

	connection_tell_event(connection, &event);
}

static void tell_end(struct cm_connection *connection, enum cm_event_kind kind)
{
	if (!connection->is_released)
		connection_tell(connection, kind, NULL, 0, 0);
}

/* All tries were in vain. */
static void give_up(struct cm_connection *connection, time_ns now)
{
	bool is_owned = !connection->is_released;

	switch (connection->state) {
	case CM_REQ_SENT:
	case CM_REP_WAIT:
		send_timeout_rej(connection, CM_ANSWERED_REQ);
		connection_enter_idle(connection);
		if (is_owned)
			tell_end(connection, CM_EVENT_UNREACHABLE);
		break;
	case CM_REP_SENT:
	case CM_MRA_REP_RCVD:
		send_timeout_rej(connection, CM_ANSWERED_REP);
		connection_enter_timewait(connection, now);
		tell_end(connection, CM_EVENT_UNREACHABLE);
		break;
	case CM_DREQ_SENT:
		connection_enter_timewait(connection, now);
		tell_end(connection, CM_EVENT_DISCONNECT_DONE);
		break;
	case CM_ESTABLISHED:
		connection->lap.state = LAP_NONE;
		tell_end(connection, CM_EVENT_ALTERNATE_UNREACHABLE);
		break;
	case CM_SIDR_REQ_SENT:
		connection_enter_idle(connection);
		if (is_owned)
			tell_end(connection, CM_EVENT_SIDR_UNREACHABLE);
		break;
	case CM_IDLE:
	case CM_REP_RCVD:
	case CM_MRA_REP_SENT:
	case CM_REQ_RCVD:
	case CM_MRA_REQ_SENT:
	case CM_DREQ_RCVD:
	case CM_TIMEWAIT:
	case CM_SIDR_REQ_RCVD:
	case CM_STATES:
		break;
	}
}

void connection_expire(struct cm_connection *connection, time_ns now)
{
	if (connection->state == CM_TIMEWAIT) {
		bool is_owned = !connection->is_released;

		connection_enter_idle(connection);
		if (is_owned)
			tell_end(connection, CM_EVENT_TIMEWAIT_EXIT);
		return;
	}
	if (connection->retry.left) {
		connection->retry.left--;
		connection_resend(connection);
		timer_queue_arm(&connection->cm->timers, &connection->timer,
				now + connection->retry.timeout);
		return;
	}
	give_up(connection, now);
}

/* The message that a REJ answers in each state, and the state after it (management 7.2). */
static const struct rejection {
	bool is_possible;
	enum cm_answered answered;
	enum cm_state next; /* CM_IDLE or CM_TIMEWAIT */
} rejections[CM_STATES] = {
	[CM_REQ_RCVD] = {true, CM_ANSWERED_REQ, CM_IDLE},
	[CM_MRA_REQ_SENT] = {true, CM_ANSWERED_REQ, CM_IDLE},
	[CM_REP_RCVD] = {true, CM_ANSWERED_REP, CM_TIMEWAIT},
	[CM_MRA_REP_SENT] = {true, CM_ANSWERED_REP, CM_TIMEWAIT},
	[CM_REP_SENT] = {true, CM_ANSWERED_OTHER, CM_TIMEWAIT},
	[CM_MRA_REP_RCVD] = {true, CM_ANSWERED_OTHER, CM_TIMEWAIT},
};

int cm_reject(struct cm_connection *connection, time_ns now, enum cm_reject_reason reason,
	      struct cm_private_data info, struct cm_private_data private_data)
{
	const struct rejection *rejection = &rejections[connection->state];

	if (!rejection->is_possible || !private_fits(info, CM_REJ_INFO_BYTES) ||
	    !private_fits(private_data, CM_REJ_PRIVATE_BYTES))
		return -EINVAL;
	connection_send_rej(connection, rejection->answered, reason, info, private_data);
	if (rejection->next == CM_IDLE)
		connection_enter_idle(connection);
	else
		connection_enter_timewait(connection, now);
	return 0;
}

void cm_release(struct cm_connection *connection, time_ns now)
{
	connection->is_released = true;
	connection->cm->released_count++;
	connection->context = NULL;
	switch (connection->state) {
	case CM_REQ_SENT:
	case CM_REP_WAIT:
		send_timeout_rej(connection, CM_ANSWERED_REQ);
		connection_enter_idle(connection);
		break;
	case CM_REQ_RCVD:
	case CM_MRA_REQ_SENT:
	case CM_REP_RCVD:
	case CM_MRA_REP_SENT:
	case CM_REP_SENT:
	case CM_MRA_REP_RCVD:
		if (cm_reject(connection, now, CM_REJECT_CONSUMER, nothing, nothing) != 0)
			connection_enter_idle(connection);
		break;
	case CM_ESTABLISHED:
	case CM_DREQ_RCVD:
		if (cm_disconnect(connection, now, nothing) != 0)
			connection_enter_timewait(connection, now);
		break;
	case CM_SIDR_REQ_RCVD:
		if (cm_sidr_answer(connection, now,
				   &(struct cm_sidr_rep){.status = CM_SIDR_REJECTED}, 0,
				   nothing) != 0)
			connection_enter_idle(connection);
		break;
	case CM_IDLE:
	case CM_SIDR_REQ_SENT:
	case CM_STATES:
		connection_enter_idle(connection);
		break;
	case CM_DREQ_SENT:
	case CM_TIMEWAIT:
		break;
	}
}
