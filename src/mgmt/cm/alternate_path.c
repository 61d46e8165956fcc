/* SPDX-License-Identifier: Apache-2.0 */
/* A new alternate path for a connection: LAP and APR (management 7.5; the LAP sub-state of
 * Established in 7.2). */
#include <errno.h>
#include "base/bytes.h"
#include "mgmt/cm/cm_connection.h"

/* Each LAP has its own transaction id, so that a late answer to one is not taken for the answer to
 * the next. */
static uint64_t next_transaction_id(struct cm_connection *connection)
{
	return transaction_id_of(connection) ^ (uint64_t)++connection->lap.sent_count << 48;
}

int cm_load_alternate(struct cm_connection *connection, time_ns now, const struct cm_lap *lap,
		      struct cm_private_data private_data)
{
	if (connection->state != CM_ESTABLISHED || connection->lap.state != LAP_NONE ||
	    !private_fits(private_data, CM_LAP_PRIVATE_BYTES))
		return -EINVAL;

	struct cm_lap filled = *lap;
	struct cm_message *message =
		outbox_start_for(connection, CM_LAP, next_transaction_id(connection), 0);

	if (!message)
		return -ENOMEM;
	filled.local_comm_id = connection->local_comm_id;
	filled.remote_comm_id = connection->peer.comm_id;
	filled.remote_qpn = connection->peer.qpn;
	cm_lap_encode(&filled, outbox_data(message));
	put_private(outbox_data(message) + CM_LAP_PRIVATE_OFFSET, private_data);
	connection->lap.state = LAP_SENT;
	connection_repeat(connection, now, connection->retry.timeout, connection->retry.max,
			  message);
	return 0;
}

static void send_apr(struct cm *cm, const struct cm_message *lap_message, const struct cm_lap *lap,
		     enum cm_apr_status status)
{
	const struct cm_apr apr = {.local_comm_id = lap->remote_comm_id,
				   .remote_comm_id = lap->local_comm_id,
				   .status = (uint8_t)status};
	struct cm_message *message =
		outbox_start(cm, lap_message->port_index, &lap_message->mad.address, CM_APR,
			     get_be64(lap_message->mad.bytes + 8), 0);

	if (message)
		cm_apr_encode(&apr, outbox_data(message));
}

void lap_receive(struct cm *cm, time_ns now, const struct cm_message *message)
{
	struct cm_lap lap;

	(void)now;
	cm_lap_decode(message->mad.bytes + CM_DATA_OFFSET, &lap);

	struct cm_connection *connection =
		connection_find(cm, lap.remote_comm_id, lap.local_comm_id);

	if (!connection) {
		send_apr(cm, message, &lap, CM_APR_INVALID_COMM_ID);
		return;
	}
	if (connection->state != CM_ESTABLISHED)
		return;
	if (lap.remote_qpn != connection->local_qpn) {
		send_apr(cm, message, &lap, CM_APR_QPN_MISMATCH);
		return;
	}
	switch (connection->lap.state) {
	case LAP_NONE:
		connection->lap.state = LAP_RCVD;
		connection->lap.transaction_id = get_be64(message->mad.bytes + 8);
		if (connection->is_released) {
			send_apr(cm, message, &lap, CM_APR_REJECTED);
			connection->lap.state = LAP_NONE;
		}
		connection_tell(connection, CM_EVENT_ALTERNATE_PATH, message, CM_LAP_PRIVATE_OFFSET,
				CM_LAP_PRIVATE_BYTES);
		break;
	case LAP_DELAY_SENT:
		connection_send_mra(connection, CM_ANSWERED_OTHER, connection->delay);
		break;
	case LAP_SENT:
	case LAP_DELAYED:
	case LAP_RCVD:
		break;
	}
}

int cm_answer_alternate(struct cm_connection *connection, time_ns now, enum cm_apr_status status,
			struct cm_private_data private_data)
{
	const struct cm_apr apr = {.local_comm_id = connection->local_comm_id,
				   .remote_comm_id = connection->peer.comm_id,
				   .status = (uint8_t)status};

	(void)now;
	if (connection->state != CM_ESTABLISHED ||
	    (connection->lap.state != LAP_RCVD && connection->lap.state != LAP_DELAY_SENT) ||
	    !private_fits(private_data, CM_APR_PRIVATE_BYTES))
		return -EINVAL;

	struct cm_message *message =
		outbox_start_for(connection, CM_APR, connection->lap.transaction_id, 0);

	connection->lap.state = LAP_NONE;
	if (!message)
		return 0;
	cm_apr_encode(&apr, outbox_data(message));
	put_private(outbox_data(message) + CM_APR_PRIVATE_OFFSET, private_data);
	return 0;
}

void apr_receive(struct cm *cm, time_ns now, const struct cm_message *message)
{
	struct cm_apr apr;

	(void)now;
	cm_apr_decode(message->mad.bytes + CM_DATA_OFFSET, &apr);

	struct cm_connection *connection =
		connection_find(cm, apr.remote_comm_id, apr.local_comm_id);

	if (!connection || connection->state != CM_ESTABLISHED ||
	    (connection->lap.state != LAP_SENT && connection->lap.state != LAP_DELAYED) ||
	    get_be64(message->mad.bytes + 8) != get_be64(connection->retry.message + 8))
		return;
	connection_cancel(connection);
	connection->lap.state = LAP_NONE;
	connection_tell(connection, CM_EVENT_ALTERNATE_ANSWER, message, CM_APR_PRIVATE_OFFSET,
			CM_APR_PRIVATE_BYTES);
}
