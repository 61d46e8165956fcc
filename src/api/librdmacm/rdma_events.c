/* SPDX-License-Identifier: Apache-2.0 */
/* Connection events: from softibd's message to the program's event, with the steps that the library
 * takes in between. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "api/librdmacm/identifier.h"
#include "base/bytes.h"

static_assert((int)CM_PROGRAM_TIMEWAIT_EXIT == (int)RDMA_CM_EVENT_TIMEWAIT_EXIT,
	      "events have one numbering");

/* Behind struct rdma_cm_event. */
struct held_event {
	struct rdma_cm_event public;
	struct identifier *identifier; /* held until the event is acknowledged */
	uint8_t private_data[CM_PRIVATE_BYTES_MAX];
};

static void fill_connection(const struct cm_event_message *message, struct held_event *ret_event)
{
	struct rdma_conn_param *connection = &ret_event->public.param.conn;

	connection->private_data = message->private_byte_count ? ret_event->private_data : NULL;
	connection->private_data_len = (uint8_t)message->private_byte_count;
	connection->responder_resources = message->parameters.responder_resources;
	connection->initiator_depth = message->parameters.initiator_depth;
	connection->flow_control = message->parameters.flow_control;
	connection->retry_count = message->parameters.retry_count;
	connection->rnr_retry_count = message->parameters.rnr_retry_count;
	connection->srq = message->parameters.srq;
	connection->qp_num = message->parameters.qpn;
}

static void fill_vector(const struct cm_vector *vector, uint8_t port_number,
			struct ibv_ah_attr *ret_attr)
{
	ret_attr->dlid = vector->dlid;
	ret_attr->sl = vector->sl;
	ret_attr->src_path_bits = vector->path_bits;
	ret_attr->static_rate = vector->rate;
	ret_attr->is_global = vector->has_grh;
	ret_attr->port_num = port_number;
	memcpy(ret_attr->grh.dgid.raw, vector->dgid.bytes, sizeof(vector->dgid.bytes));
	ret_attr->grh.flow_label = vector->flow_label;
	ret_attr->grh.hop_limit = vector->hop_limit;
	ret_attr->grh.traffic_class = vector->traffic_class;
}

static void fill_datagram(const struct cm_event_message *message, struct held_event *ret_event)
{
	struct rdma_ud_param *datagram = &ret_event->public.param.ud;

	datagram->private_data = message->private_byte_count ? ret_event->private_data : NULL;
	datagram->private_data_len = (uint8_t)message->private_byte_count;
	datagram->qp_num = message->parameters.qpn;
	datagram->qkey = message->parameters.qkey;
	fill_vector(&message->terms.vector, message->terms.port_number, &datagram->ah_attr);
}

static bool is_datagram(const struct rdma_cm_id *id)
{
	return id->qp_type == IBV_QPT_UD;
}

/* A connection request is an event of the listener, and creates a new id. */
static int take_request(struct held_event *event, const struct cm_event_message *message)
{
	struct identifier *listener = event->identifier;
	struct identifier *identifier;
	int error = identifier_adopt(
		listener->public.channel, listener->public.context, listener->public.ps,
		queue_pair_type(message->parameters.qp_type), message->id, &identifier);

	if (error)
		return error;
	identifier->is_passive = true;
	identifier->phase = PHASE_CALLED;
	identifier->terms = message->terms;
	identifier->initiator_depth = message->parameters.initiator_depth;
	identifier->responder_resources = message->parameters.responder_resources;
	identifier->remote_ece.vendor_id = message->parameters.vendor_id;
	identifier->remote_ece.options = message->parameters.vendor_options;
	identifier_take_route(identifier, &message->route);
	/* A synchronous listener gets synchronous ids. */
	if (listener->is_synchronous && rdma_migrate_id(&identifier->public, NULL) != 0) {
		error = -errno;
		rdma_destroy_id(&identifier->public);
		return error;
	}
	event->public.id = &identifier->public;
	event->public.listen_id = &listener->public;
	return 0;
}

/* If the peer has given up, the next event reports it. */
static int establish(struct identifier *identifier)
{
	struct cm_command command;

	identifier_command(identifier, CM_ESTABLISH, &command);
	return identifier_post(identifier, &command);
}

static void refuse(struct identifier *identifier)
{
	struct cm_command command;

	identifier_command(identifier, CM_REJECT, &command);
	/* If this fails, the peer times out. */
	if (identifier_post(identifier, &command) != 0)
		errno = 0;
}

/* The peer accepted: if the id has a QP, connects it and sends RTU. */
static void take_response(struct identifier *identifier, const struct cm_event_message *message,
			  struct held_event *event)
{
	identifier->terms = message->terms;
	identifier->remote_ece.vendor_id = message->parameters.vendor_id;
	identifier->remote_ece.options = message->parameters.vendor_options;
	if (!identifier->public.qp)
		return;

	int error = queue_pair_to_rtr(identifier, RDMA_MAX_RESP_RES);

	if (!error)
		error = queue_pair_to_rts(identifier, RDMA_MAX_INIT_DEPTH);
	if (!error)
		error = -establish(identifier);
	if (!error) {
		event->public.event = RDMA_CM_EVENT_ESTABLISHED;
		return;
	}
	event->public.event = RDMA_CM_EVENT_CONNECT_ERROR;
	event->public.status = -error;
	refuse(identifier);
}

static void take_event(struct held_event *event, const struct cm_event_message *message)
{
	struct identifier *identifier = event->identifier;

	switch ((enum cm_program_event)message->kind) {
	case CM_PROGRAM_ADDRESS_RESOLVED:
	case CM_PROGRAM_ROUTE_RESOLVED:
		identifier->phase = message->kind == CM_PROGRAM_ADDRESS_RESOLVED
					    ? PHASE_ADDRESS_FOUND
					    : PHASE_ROUTE_FOUND;
		identifier_take_route(identifier, &message->route);
		if (message->kind == CM_PROGRAM_ADDRESS_RESOLVED && !identifier->public.verbs) {
			event->public.event = RDMA_CM_EVENT_ADDR_ERROR;
			event->public.status = -ENODEV;
		}
		break;
	case CM_PROGRAM_CONNECT_RESPONSE:
		take_response(identifier, message, event);
		break;
	case CM_PROGRAM_ESTABLISHED:
		if (is_datagram(&identifier->public))
			identifier->terms = message->terms;
		break;
	case CM_PROGRAM_REJECTED:
	case CM_PROGRAM_UNREACHABLE:
	case CM_PROGRAM_CONNECT_ERROR:
		identifier->phase = PHASE_UNKNOWN;
		queue_pair_to_error(identifier);
		break;
	case CM_PROGRAM_MULTICAST_JOIN:
	case CM_PROGRAM_MULTICAST_ERROR:
		event->public.param.ud.private_data =
			membership_joined(identifier, &event->public, message);
		break;
	case CM_PROGRAM_ADDRESSES_RESOLVED:
	case CM_PROGRAM_ADDRESSES_ERROR:
	case CM_PROGRAM_USER:
	case CM_PROGRAM_INTERNAL:
	case CM_PROGRAM_ALTERNATE_PATH:
		/* The argument and the parameters share a union. */
		memcpy(&event->public.param, &message->argument, sizeof(message->argument));
		break;
	case CM_PROGRAM_ADDRESS_ERROR:
	case CM_PROGRAM_ROUTE_ERROR:
	case CM_PROGRAM_CONNECT_REQUEST:
	case CM_PROGRAM_DISCONNECTED:
	case CM_PROGRAM_DEVICE_REMOVAL:
	case CM_PROGRAM_ADDRESS_CHANGE:
	case CM_PROGRAM_TIMEWAIT_EXIT:
		break;
	}
}

/* Returns false for an event that the program must not see. */
static bool make_event(struct held_event *event, const struct cm_event_message *message)
{
	struct identifier *identifier = event->identifier;
	bool is_request = message->kind == CM_PROGRAM_CONNECT_REQUEST;
	bool is_of_datagrams = message->kind == CM_PROGRAM_MULTICAST_JOIN ||
			       message->kind == CM_PROGRAM_MULTICAST_ERROR ||
			       (is_request ? message->parameters.qp_type == CM_QP_UD
					   : is_datagram(&identifier->public));

	event->public.event = (enum rdma_cm_event_type)message->kind;
	event->public.status = message->status;
	event->public.id = &identifier->public;
	memcpy(event->private_data, message->private_data, message->private_byte_count);
	if (is_of_datagrams)
		fill_datagram(message, event);
	else
		fill_connection(message, event);
	if (is_request)
		return take_request(event, message) == 0;
	identifier->quiet_until = message->quiet_until;
	take_event(event, message);
	return true;
}

/* Drops an event whose id was destroyed meanwhile. A connection request to a destroyed listener is
 * rejected. */
static void drop_event(const struct cm_event_message *event)
{
	const struct cm_command command = {.kind = CM_DESTROY, .is_posted = 1, .id = event->id};

	if (event->kind == CM_PROGRAM_CONNECT_REQUEST && cm_session_post(&command) != 0)
		errno = 0;
}

int rdma_get_cm_event(struct rdma_event_channel *channel, struct rdma_cm_event **ret_event)
{
	struct cm_event_message message;

	if (!channel || !ret_event)
		return rdma_result(-EINVAL);
	for (;;) {
		int error = event_channel_read(event_channel_of(channel), &message);

		if (error)
			return rdma_result(error);

		struct identifier *identifier = identifier_hold(
			message.kind == CM_PROGRAM_CONNECT_REQUEST ? message.listener_id
								   : message.id);

		if (!identifier) {
			drop_event(&message);
			continue;
		}
		identifier->events.read_count++;

		struct held_event *event = calloc(1, sizeof(*event));

		if (!event) {
			identifier_release(identifier);
			return rdma_result(-ENOMEM);
		}
		event->identifier = identifier;
		if (make_event(event, &message)) {
			*ret_event = &event->public;
			return 0;
		}
		identifier_release(identifier);
		free(event);
	}
}

int rdma_ack_cm_event(struct rdma_cm_event *public)
{
	if (!public)
		return rdma_result(-EINVAL);

	struct held_event *event = container_of(public, struct held_event, public);
	struct identifier *identifier = event->identifier;

	free(event);
	identifier_release(identifier);
	return 0;
}
