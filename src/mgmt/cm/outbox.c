/* SPDX-License-Identifier: Apache-2.0 */
/* Messages to be sent, and the messages that are repeated until they are answered (management 7.3).
 */
#include <stdlib.h>
#include <string.h>
#include "mgmt/cm/cm_connection.h"
#include "wire/pkey.h"

enum { OUTBOX_FIRST = 64 };

static bool make_room(struct cm *cm)
{
	if (cm->outbox_count < cm->outbox_capacity)
		return true;

	uint32_t capacity = cm->outbox_capacity ? cm->outbox_capacity * 2 : OUTBOX_FIRST;
	struct cm_message *outbox =
		capacity <= OUTBOX_MESSAGES_MAX ? malloc(capacity * sizeof(*outbox)) : NULL;

	if (!outbox)
		return false;
	for (uint32_t index = 0; index < cm->outbox_count; index++)
		outbox[index] = cm->outbox[(cm->outbox_head + index) & (cm->outbox_capacity - 1)];
	free(cm->outbox);
	cm->outbox = outbox;
	cm->outbox_capacity = capacity;
	cm->outbox_head = 0;
	return true;
}

static struct cm_message *append(struct cm *cm)
{
	if (!make_room(cm))
		return NULL;
	return &cm->outbox[(cm->outbox_head + cm->outbox_count++) & (cm->outbox_capacity - 1)];
}

/* Messages go to QP1, unless the peer named another QP or sent from one. */
static void set_address(struct cm_message *message, const struct mad_address *address)
{
	message->mad.address = *address;
	if (!address->qpn)
		message->mad.address.qpn = QPN_GSI;
	if (!address->qkey)
		message->mad.address.qkey = QKEY_GSI;
}

struct cm_message *outbox_start(struct cm *cm, uint32_t port_index,
				const struct mad_address *address, enum cm_message_id id,
				uint64_t transaction_id, uint32_t attribute_modifier)
{
	struct cm_message *message = append(cm);
	const struct mad_header header = {
		.base_version = 1,
		.management_class = MAD_CLASS_COMMUNICATION,
		.class_version = CM_CLASS_VERSION,
		.method = MAD_SEND,
		.transaction_id = transaction_id,
		.attribute_id = (uint16_t)id,
		.attribute_modifier = attribute_modifier,
	};

	if (!message)
		return NULL;
	message->port_index = port_index;
	set_address(message, address);
	mad_header_encode(&header, message->mad.bytes);
	memset(message->mad.bytes + CM_DATA_OFFSET, 0, CM_DATA_BYTES);
	return message;
}

struct cm_message *outbox_start_for(const struct cm_connection *connection, enum cm_message_id id,
				    uint64_t transaction_id, uint32_t attribute_modifier)
{
	return outbox_start(connection->cm, connection->port_index, &connection->peer.address, id,
			    transaction_id, attribute_modifier);
}

void put_private(uint8_t *ret_bytes, struct cm_private_data private_data)
{
	if (private_data.byte_count)
		memcpy(ret_bytes, private_data.bytes, private_data.byte_count);
}

unsigned outbox_take(struct cm *cm, unsigned messages_max, struct cm_message ret_messages[])
{
	unsigned count = 0;

	for (; count < messages_max && cm->outbox_count; count++) {
		ret_messages[count] = cm->outbox[cm->outbox_head];
		cm->outbox_head = (cm->outbox_head + 1) & (cm->outbox_capacity - 1);
		cm->outbox_count--;
	}
	return count;
}

/* As Linux does: the agent in the upper half, the connection in the lower (management 7). */
uint64_t transaction_id_of(const struct cm_connection *connection)
{
	return (uint64_t)connection->cm->options.agent_number << 32 | connection->local_comm_id;
}

void connection_repeat(struct cm_connection *connection, time_ns now, time_ns timeout,
		       unsigned retries, const struct cm_message *message)
{
	memcpy(connection->retry.message, message->mad.bytes, MAD_BYTES);
	connection->retry.left = (uint8_t)retries;
	timer_queue_arm(&connection->cm->timers, &connection->timer, now + timeout);
}

void connection_resend(struct cm_connection *connection)
{
	struct cm_message *message = append(connection->cm);

	if (!message)
		return;
	message->port_index = connection->port_index;
	set_address(message, &connection->peer.address);
	memcpy(message->mad.bytes, connection->retry.message, MAD_BYTES);
}

void connection_cancel(struct cm_connection *connection)
{
	timer_queue_cancel(&connection->cm->timers, &connection->timer);
}
