/* SPDX-License-Identifier: Apache-2.0 */
/* Connection events of EE contexts: from softibd's message to the program's event, with the steps
 * that the library takes in between. */
#include <string.h>
#include "api/libibverbs/rd/eec_ids.h"

static void fill_offer(const struct cm_event_message *message, struct softib_cm_event *ret_event)
{
	ret_event->remote_eec_num = message->parameters.eecn;
	ret_event->remote_qpn = message->parameters.qpn;
	ret_event->remote_qkey = message->parameters.qkey;
	ret_event->responder_resources = message->parameters.responder_resources;
	ret_event->initiator_depth = message->parameters.initiator_depth;
	memcpy(ret_event->remote_gid.raw, message->route.dgid.bytes,
	       sizeof(ret_event->remote_gid.raw));
}

static void fill_private(const struct cm_event_message *message, struct softib_cm_event *ret_event)
{
	uint32_t byte_count = message->private_byte_count;

	static_assert(sizeof(ret_event->private_data) == CM_PRIVATE_BYTES_MAX,
		      "all of any message's fit");
	ret_event->private_data_len = (uint8_t)byte_count;
	memcpy(ret_event->private_data, message->private_data, byte_count);
}

static struct softib_eec *find_context(struct ibv_context *public, uint32_t eecn)
{
	struct context_object *context = context_of(public);
	struct softib_eec *found = NULL;

	adapter_lock(context->adapter);
	list_for_each (link, &context->eecs) {
		struct verbs_eec *eec = container_of(link, struct verbs_eec, context_link);

		if (eec->object->qp.qpn == eecn)
			found = &eec->eec;
	}
	adapter_unlock(context->adapter);
	return found;
}

/* The listener is held. False: the program gets no event. */
static bool take_request(struct verbs_cm_id *listener, const struct cm_event_message *message,
			 struct softib_cm_event *ret_event)
{
	struct softib_cm_channel *channel = listener->id.channel;
	struct verbs_cm_id *id;

	/* softibd knows this RD channel, but its EE context may belong to another process. */
	if (message->parameters.rdc_exists) {
		ret_event->eec = find_context(channel->context, message->parameters.remote_eecn);
		if (!ret_event->eec) {
			cm_refuse(message->id, CM_REJECT_RDC_NOT_EXIST);
			return false;
		}
	}
	if (cm_id_make(channel, message->id, listener->id.id_context, &id) != 0) {
		cm_refuse(message->id, CM_REJECT_NO_RESOURCES);
		return false;
	}
	id->is_passive = true;
	id->id.service_id = listener->id.service_id;
	id->id.port_num = message->route.port_number;
	id->terms = message->terms;
	id->parameters = message->parameters;
	ret_event->type = SOFTIB_CM_REQUEST;
	ret_event->id = &id->id;
	ret_event->listener = &listener->id;
	fill_offer(message, ret_event);
	return true;
}

static void ask_for_route(const struct verbs_cm_id *id)
{
	struct cm_command command = cm_id_command(id, CM_RESOLVE_ROUTE);

	cm_post(&command);
}

static void call(const struct verbs_cm_id *id)
{
	struct cm_command command = cm_id_command(id, CM_CONNECT);

	command.parameters = id->parameters;
	command.private_byte_count = id->private_byte_count;
	memcpy(command.private_data, id->private_data, id->private_byte_count);
	cm_post(&command);
}

/* The peer accepted: connects the context and sends the peer RTU, or REJ if that fails. */
static void take_response(struct verbs_cm_id *id, const struct cm_event_message *message,
			  struct softib_cm_event *ret_event)
{
	int error = 0;

	id->terms = message->terms;
	if (id->owns_context)
		error = cm_context_connect(id);
	else if (message->parameters.eecn != id->parameters.remote_eecn)
		error = EPROTO;

	struct cm_command command = cm_id_command(id, error ? CM_REJECT : CM_ESTABLISH);

	cm_post(&command);
	ret_event->type = error ? SOFTIB_CM_ERROR : SOFTIB_CM_ESTABLISHED;
	ret_event->status = error;
	fill_offer(message, ret_event);
}

static void tell_failure(struct verbs_cm_id *id, enum softib_cm_event_type type, int status,
			 struct softib_cm_event *ret_event)
{
	cm_context_end(id);
	ret_event->type = type;
	ret_event->status = status;
}

/* Answers the peer's DREQ. If this side disconnected first, there is nothing to answer. */
static void take_end(struct verbs_cm_id *id, struct softib_cm_event *ret_event)
{
	struct cm_command command = cm_id_command(id, CM_DISCONNECT);

	cm_context_end(id);
	cm_post(&command);
	ret_event->type = SOFTIB_CM_DISCONNECTED;
}

/* False: an intermediate step that programs do not see. */
static bool take_event(struct verbs_cm_id *id, const struct cm_event_message *message,
		       struct softib_cm_event *ret_event)
{
	ret_event->id = &id->id;
	switch ((enum cm_program_event)message->kind) {
	case CM_PROGRAM_ADDRESS_RESOLVED:
		ask_for_route(id);
		return false;
	case CM_PROGRAM_ROUTE_RESOLVED:
		call(id);
		return false;
	case CM_PROGRAM_CONNECT_RESPONSE:
		take_response(id, message, ret_event);
		return true;
	case CM_PROGRAM_ESTABLISHED:
		ret_event->type = SOFTIB_CM_ESTABLISHED;
		return true;
	case CM_PROGRAM_REJECTED:
		tell_failure(id, SOFTIB_CM_REJECTED, message->status, ret_event);
		return true;
	case CM_PROGRAM_ADDRESS_ERROR:
	case CM_PROGRAM_ROUTE_ERROR:
		tell_failure(id, SOFTIB_CM_UNREACHABLE, EHOSTUNREACH, ret_event);
		return true;
	case CM_PROGRAM_UNREACHABLE:
		tell_failure(id, SOFTIB_CM_UNREACHABLE, ETIMEDOUT, ret_event);
		return true;
	case CM_PROGRAM_CONNECT_ERROR:
		tell_failure(id, SOFTIB_CM_ERROR, -message->status, ret_event);
		return true;
	case CM_PROGRAM_DISCONNECTED:
		take_end(id, ret_event);
		return true;
	case CM_PROGRAM_TIMEWAIT_EXIT:
		ret_event->type = SOFTIB_CM_TIMEWAIT_EXIT;
		return true;
	case CM_PROGRAM_ALTERNATE_PATH:
		ret_event->type = SOFTIB_CM_ALTERNATE_PATH;
		ret_event->status = -message->status;
		return true;
	case CM_PROGRAM_CONNECT_REQUEST:
	case CM_PROGRAM_DEVICE_REMOVAL:
	case CM_PROGRAM_MULTICAST_JOIN:
	case CM_PROGRAM_MULTICAST_ERROR:
	case CM_PROGRAM_ADDRESS_CHANGE:
	case CM_PROGRAM_ADDRESSES_RESOLVED:
	case CM_PROGRAM_ADDRESSES_ERROR:
	case CM_PROGRAM_USER:
	case CM_PROGRAM_INTERNAL:
		break;
	}
	return false;
}

/* Whether the program gets the event. If so, the id stays held until the program acknowledges
 * it. */
static bool show(struct verbs_cm_channel *channel, const struct cm_event_message *message,
		 struct softib_cm_event *ret_event)
{
	bool is_request = message->kind == CM_PROGRAM_CONNECT_REQUEST;
	struct verbs_cm_id *id =
		cm_id_hold(channel, is_request ? message->listener_id : message->id);

	if (!id) {
		if (is_request)
			cm_refuse(message->id, 0);
		return false;
	}
	*ret_event = (struct softib_cm_event){0};
	fill_private(message, ret_event);

	bool is_shown = is_request ? take_request(id, message, ret_event)
				   : take_event(id, message, ret_event);

	if (!is_shown)
		cm_id_acknowledge(id);
	return is_shown;
}

int softib_get_cm_event(struct softib_cm_channel *channel, struct softib_cm_event *event)
{
	struct cm_event_message message;
	struct softib_cm_event shown;

	if (!channel || !event)
		return verbs_result(-EINVAL);
	do {
		int error = cm_session_read_event(channel->fd, &message);

		if (error)
			return verbs_result(error);
	} while (!show(cm_channel_of(channel), &message, &shown));
	*event = shown;
	return 0;
}

void softib_ack_cm_event(struct softib_cm_event *event)
{
	if (event)
		cm_id_acknowledge(cm_id_of(event->listener ? event->listener : event->id));
}

const char *softib_cm_event_str(enum softib_cm_event_type type)
{
	switch (type) {
	case SOFTIB_CM_REQUEST:
		return "connection request";
	case SOFTIB_CM_ESTABLISHED:
		return "connection established";
	case SOFTIB_CM_REJECTED:
		return "connection rejected";
	case SOFTIB_CM_UNREACHABLE:
		return "peer unreachable";
	case SOFTIB_CM_ERROR:
		return "connection error";
	case SOFTIB_CM_DISCONNECTED:
		return "connection ended";
	case SOFTIB_CM_TIMEWAIT_EXIT:
		return "end of time wait";
	case SOFTIB_CM_ALTERNATE_PATH:
		return "alternate path";
	}
	return "unknown";
}
