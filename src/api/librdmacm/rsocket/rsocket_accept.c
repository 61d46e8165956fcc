/* SPDX-License-Identifier: Apache-2.0 */
/* Accepting on rsockets: from a connection request to a new socket. */
#include <errno.h>
#include "api/librdmacm/rsocket/rsocket.h"

/* Makes a socket of the new id that the listener got; NULL with errno. */
static struct rsocket *welcome(struct rsocket *listener, struct rdma_cm_event *event)
{
	struct rsocket *socket = rsocket_new(SOCK_STREAM);

	if (!socket)
		return NULL;
	socket->id = event->id;
	socket->id->context = socket;
	socket->options.send_buffer = listener->options.send_buffer;
	socket->options.receive_buffer = listener->options.receive_buffer;
	socket->options.sends_max = listener->options.sends_max;
	socket->options.receives_max = listener->options.receives_max;
	socket->options.inline_bytes = listener->options.inline_bytes;
	socket->options.mappings_max = listener->options.mappings_max;
	socket->options.no_delay = listener->options.no_delay;
	socket->options.linger = listener->options.linger;
	if (rsocket_make_channel(socket) ||
	    stream_meet(socket, event->param.conn.private_data,
			event->param.conn.private_data_len) ||
	    stream_prepare(socket)) {
		rdma_reject(socket->id, NULL, 0);
		rsocket_destroy(socket);
		return NULL;
	}
	return socket;
}

static int finish_accepting(struct rsocket *socket)
{
	uint8_t greeting[RSOCKET_GREETING_BYTES];
	struct rdma_conn_param answer = rsocket_parameters;

	stream_greet(socket, greeting);
	answer.private_data = greeting;
	answer.private_data_len = sizeof(greeting);
	if (rdma_migrate_id(socket->id, socket->channel) || rdma_accept(socket->id, &answer) ||
	    rsocket_enter(socket))
		return -1;
	socket->state = RSOCKET_CONNECTED;
	return 0;
}

/* Takes one connection request; NULL with errno, EAGAIN if there is none. */
static struct rsocket *accept_next(struct rsocket *listener)
{
	struct rdma_cm_event *event;
	struct rsocket *socket;

	if (rdma_get_cm_event(listener->channel, &event))
		return NULL;
	if (event->event != RDMA_CM_EVENT_CONNECT_REQUEST) {
		rdma_ack_cm_event(event);
		errno = EAGAIN;
		return NULL;
	}
	socket = welcome(listener, event);
	rdma_ack_cm_event(event);
	if (socket && finish_accepting(socket)) {
		rsocket_destroy(socket);
		return NULL;
	}
	return socket;
}

RSOCKET_PUBLIC int raccept(int descriptor, struct sockaddr *address, socklen_t *address_bytes)
{
	struct rsocket *listener = rsocket_find(descriptor);
	struct rsocket *socket = NULL;

	if (!listener)
		return -1;
	pthread_mutex_lock(&listener->lock);
	if (listener->state != RSOCKET_LISTENING) {
		errno = EINVAL;
	} else {
		while (!(socket = accept_next(listener))) {
			if ((errno != EAGAIN && errno != EPROTO) ||
			    rsocket_wait(listener, POLLIN, 0))
				break;
		}
	}
	pthread_mutex_unlock(&listener->lock);
	if (!socket)
		return -1;
	if (address && address_bytes)
		rgetpeername(socket->descriptor, address, address_bytes);
	return socket->descriptor;
}
