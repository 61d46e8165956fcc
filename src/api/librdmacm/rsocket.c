/* SPDX-License-Identifier: Apache-2.0 */
/* rsockets from making to closing: binding, listening, connecting, accepting (rsocket(7)). */
#include "api/librdmacm/rsocket.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "api/librdmacm/identifier.h"

enum { RESOLVE_TIMEOUT_MS = 4000, CLOSE_TIMEOUT_MS = 3000, RETRIES = 7 };

#define PUBLIC __attribute__((visibility("default")))

int rsocket_fail(struct rsocket *socket, int error)
{
	socket->state = RSOCKET_FAILED;
	socket->error = error;
	errno = error;
	return -1;
}

static int make_channel(struct rsocket *socket)
{
	socket->channel = rdma_create_event_channel();
	if (!socket->channel)
		return -1;
	/* Waiting is done by poll(), for this and the completions together. */
	fcntl(socket->channel->fd, F_SETFL, O_NONBLOCK);
	socket->descriptor = socket->channel->fd;
	return 0;
}

static void destroy(struct rsocket *socket)
{
	int error = errno;

	if (socket->datagrams)
		datagrams_close(socket);
	stream_release(socket);
	if (socket->id)
		rdma_destroy_id(socket->id);
	if (socket->channel)
		rdma_destroy_event_channel(socket->channel);
	rsocket_free(socket);
	errno = error;
}

static int open_kind(struct rsocket *socket)
{
	if (socket->type == SOCK_DGRAM)
		return datagrams_open(socket);
	return rdma_create_id(socket->channel, &socket->id, socket, RDMA_PS_TCP);
}

PUBLIC int rsocket(int domain, int type, int protocol)
{
	int kind = type & ~(SOCK_NONBLOCK | SOCK_CLOEXEC);

	if ((domain != AF_INET && domain != AF_INET6 && domain != AF_IB) ||
	    (kind != SOCK_STREAM && kind != SOCK_DGRAM) ||
	    (kind == SOCK_STREAM && protocol && protocol != IPPROTO_TCP) ||
	    (kind == SOCK_DGRAM && protocol && protocol != IPPROTO_UDP)) {
		errno = EOPNOTSUPP;
		return -1;
	}

	struct rsocket *socket = rsocket_new(kind);

	if (!socket)
		return -1;
	if (type & SOCK_NONBLOCK)
		socket->file_flags = O_NONBLOCK;
	if (make_channel(socket) || open_kind(socket) || rsocket_enter(socket)) {
		destroy(socket);
		return -1;
	}
	return socket->descriptor;
}

PUBLIC int rbind(int descriptor, const struct sockaddr *address, socklen_t address_bytes)
{
	struct rsocket *socket = rsocket_find(descriptor);
	int result;

	(void)address_bytes;
	if (!socket)
		return -1;
	pthread_mutex_lock(&socket->lock);
	if (socket->state != RSOCKET_NEW) {
		errno = EINVAL;
		result = -1;
	} else if (socket->type == SOCK_DGRAM) {
		result = datagrams_bind(socket, address);
	} else {
		result = rdma_bind_addr(socket->id, (struct sockaddr *)address);
	}
	if (!result && socket->state == RSOCKET_NEW)
		socket->state = RSOCKET_BOUND;
	pthread_mutex_unlock(&socket->lock);
	return result;
}

PUBLIC int rlisten(int descriptor, int backlog)
{
	struct rsocket *socket = rsocket_find(descriptor);
	int result = -1;

	if (!socket)
		return -1;
	pthread_mutex_lock(&socket->lock);
	if (socket->type != SOCK_STREAM) {
		errno = EOPNOTSUPP;
	} else if (socket->state == RSOCKET_LISTENING) {
		result = 0;
	} else if (socket->state != RSOCKET_NEW && socket->state != RSOCKET_BOUND) {
		errno = EINVAL;
	} else {
		result = rdma_listen(socket->id,
				     backlog > RSOCKET_BACKLOG_MAX ? RSOCKET_BACKLOG_MAX : backlog);
		if (!result)
			socket->state = RSOCKET_LISTENING;
	}
	pthread_mutex_unlock(&socket->lock);
	return result;
}

/* --- connecting --- */

static const struct rdma_conn_param parameters = {
	.responder_resources = 1,
	.initiator_depth = 1,
	.flow_control = 1,
	.retry_count = RETRIES,
	.rnr_retry_count = RETRIES,
};

static int start_connecting(struct rsocket *socket)
{
	struct rsocket_greeting greeting;
	struct rdma_conn_param request = parameters;

	if (stream_prepare(socket))
		return -1;
	stream_greet(socket, &greeting);
	request.private_data = &greeting;
	request.private_data_len = sizeof(greeting);
	socket->state = RSOCKET_CONNECTING;
	return rdma_connect(socket->id, &request);
}

static int error_of(const struct rdma_cm_event *event)
{
	static const struct {
		enum rdma_cm_event_type event;
		int error;
	} errors[] = {
		{RDMA_CM_EVENT_ADDR_ERROR, ENETUNREACH},
		{RDMA_CM_EVENT_ROUTE_ERROR, EHOSTUNREACH},
		{RDMA_CM_EVENT_REJECTED, ECONNREFUSED},
		{RDMA_CM_EVENT_UNREACHABLE, ETIMEDOUT},
		{RDMA_CM_EVENT_CONNECT_ERROR, ECONNABORTED},
	};

	for (unsigned i = 0; i < sizeof(errors) / sizeof(errors[0]); i++)
		if (errors[i].event == event->event)
			return errors[i].error;
	return 0;
}

/* The next step towards a connection, or its end. 0 or -1 with errno. */
static int go_on(struct rsocket *socket, const struct rdma_cm_event *event)
{
	if (event->event == RDMA_CM_EVENT_ADDR_RESOLVED) {
		socket->state = RSOCKET_RESOLVING_ROUTE;
		return rdma_resolve_route(socket->id, RESOLVE_TIMEOUT_MS);
	}
	if (event->event == RDMA_CM_EVENT_ROUTE_RESOLVED)
		return start_connecting(socket);
	/* The passive side was ready before. */
	if (event->event == RDMA_CM_EVENT_ESTABLISHED && socket->state != RSOCKET_CONNECTED) {
		if (stream_meet(socket, event->param.conn.private_data,
				event->param.conn.private_data_len))
			return -1;
		socket->state = RSOCKET_CONNECTED;
	}
	if (event->event == RDMA_CM_EVENT_DISCONNECTED ||
	    event->event == RDMA_CM_EVENT_DEVICE_REMOVAL) {
		stream_poll(socket);
		socket->is_disconnected = true;
	}
	return 0;
}

static void take_event(struct rsocket *socket, const struct rdma_cm_event *event)
{
	int error = error_of(event);

	/* What came before is still to be read. */
	if (error && socket->state == RSOCKET_CONNECTED)
		socket->is_disconnected = true;
	else if (error)
		rsocket_fail(socket, error);
	else if (go_on(socket, event))
		rsocket_fail(socket, errno ? errno : ECONNABORTED);
}

void rsocket_take_events(struct rsocket *socket)
{
	struct rdma_cm_event *event;

	/* A listener's events are connections: raccept() takes them. */
	while (socket->state != RSOCKET_LISTENING && socket->channel && socket->id &&
	       rdma_get_cm_event(socket->channel, &event) == 0) {
		take_event(socket, event);
		rdma_ack_cm_event(event);
	}
}

int rsocket_await_connection(struct rsocket *socket)
{
	while (rsocket_is_connecting(socket)) {
		rsocket_take_events(socket);
		if (!rsocket_is_connecting(socket))
			break;
		if (socket->file_flags & O_NONBLOCK) {
			errno = EINPROGRESS;
			return -1;
		}
		if (rsocket_wait(socket, POLLOUT, 0))
			return -1;
	}
	if (socket->state == RSOCKET_CONNECTED)
		return 0;
	errno = socket->error ? socket->error : ECONNREFUSED;
	socket->error = 0;
	return -1;
}

PUBLIC int rconnect(int descriptor, const struct sockaddr *address, socklen_t address_bytes)
{
	struct rsocket *socket = rsocket_find(descriptor);
	int result = -1;

	if (!socket)
		return -1;
	pthread_mutex_lock(&socket->lock);
	if (socket->type == SOCK_DGRAM) {
		result = datagrams_connect(socket, address, address_bytes);
	} else if (rsocket_is_connecting(socket)) {
		rsocket_take_events(socket);
		if (rsocket_is_connecting(socket))
			errno = EALREADY;
		else
			result = rsocket_await_connection(socket);
	} else if (socket->state == RSOCKET_CONNECTED) {
		errno = EISCONN;
	} else if (socket->state != RSOCKET_NEW && socket->state != RSOCKET_BOUND) {
		errno = EINVAL;
	} else {
		socket->state = RSOCKET_RESOLVING_ADDRESS;
		if (rdma_resolve_addr(socket->id, NULL, (struct sockaddr *)address,
				      RESOLVE_TIMEOUT_MS))
			rsocket_fail(socket, errno);
		else
			result = rsocket_await_connection(socket);
	}
	pthread_mutex_unlock(&socket->lock);
	return result;
}

/* --- accepting --- */

/* Takes the new id over from the listener; NULL with errno. */
static struct rsocket *welcome(struct rsocket *listener, struct rdma_cm_event *event)
{
	struct rsocket *socket = rsocket_new(SOCK_STREAM);

	if (!socket)
		return NULL;
	socket->id = event->id;
	socket->id->context = socket;
	socket->send_buffer = listener->send_buffer;
	socket->receive_buffer = listener->receive_buffer;
	socket->sends_max = listener->sends_max;
	socket->receives_max = listener->receives_max;
	socket->inline_bytes = listener->inline_bytes;
	socket->mappings_max = listener->mappings_max;
	socket->no_delay = listener->no_delay;
	socket->linger = listener->linger;
	if (make_channel(socket) ||
	    stream_meet(socket, event->param.conn.private_data,
			event->param.conn.private_data_len) ||
	    stream_prepare(socket)) {
		rdma_reject(socket->id, NULL, 0);
		destroy(socket);
		return NULL;
	}
	return socket;
}

static int finish_accepting(struct rsocket *socket)
{
	struct rsocket_greeting greeting;
	struct rdma_conn_param answer = parameters;

	stream_greet(socket, &greeting);
	answer.private_data = &greeting;
	answer.private_data_len = sizeof(greeting);
	if (rdma_migrate_id(socket->id, socket->channel) || rdma_accept(socket->id, &answer) ||
	    rsocket_enter(socket))
		return -1;
	socket->state = RSOCKET_CONNECTED;
	return 0;
}

/* One connection request; NULL with errno, EAGAIN if there is none. */
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
		destroy(socket);
		return NULL;
	}
	return socket;
}

PUBLIC int raccept(int descriptor, struct sockaddr *address, socklen_t *address_bytes)
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

/* --- the end --- */

PUBLIC int rshutdown(int descriptor, int how)
{
	struct rsocket *socket = rsocket_find(descriptor);
	int result = 0;

	if (!socket)
		return -1;
	pthread_mutex_lock(&socket->lock);
	if (socket->type == SOCK_DGRAM) {
		result = 0;
	} else if (socket->state == RSOCKET_LISTENING) {
		socket->state = RSOCKET_BOUND;
	} else if (socket->state != RSOCKET_CONNECTED) {
		errno = ENOTCONN;
		result = -1;
	} else {
		if (how == SHUT_WR || how == SHUT_RDWR)
			stream_end_writing(socket);
		if (how == SHUT_RD || how == SHUT_RDWR)
			socket->stream.reading_is_shut = true;
		if (how == SHUT_RDWR)
			stream_flush(socket, CLOSE_TIMEOUT_MS);
	}
	pthread_mutex_unlock(&socket->lock);
	return result;
}

PUBLIC int rclose(int descriptor)
{
	struct rsocket *socket = rsocket_find(descriptor);

	if (!socket)
		return -1;
	pthread_mutex_lock(&socket->lock);
	rsocket_leave(socket);
	if (socket->type == SOCK_STREAM && socket->state == RSOCKET_CONNECTED) {
		bool drops = socket->linger.l_onoff && socket->linger.l_linger == 0;

		if (!drops) {
			stream_end_writing(socket);
			stream_flush(socket, CLOSE_TIMEOUT_MS);
		}
		rdma_disconnect(socket->id);
	}
	pthread_mutex_unlock(&socket->lock);
	destroy(socket);
	return 0;
}

/* --- names --- */

int rsocket_give_name(const struct sockaddr *name, struct sockaddr *ret_address,
		      socklen_t *address_bytes)
{
	socklen_t length = address_length(name);

	memcpy(ret_address, name, *address_bytes < length ? *address_bytes : length);
	*address_bytes = length;
	return 0;
}

static int get_name(int descriptor, bool is_peer, struct sockaddr *ret_address,
		    socklen_t *address_bytes)
{
	struct rsocket *socket = rsocket_find(descriptor);
	int result;

	if (!socket)
		return -1;
	pthread_mutex_lock(&socket->lock);
	if (socket->type == SOCK_DGRAM) {
		result = datagrams_name(socket, is_peer, ret_address, address_bytes);
	} else if (is_peer && socket->state != RSOCKET_CONNECTED) {
		errno = ENOTCONN;
		result = -1;
	} else {
		result = rsocket_give_name(is_peer ? rdma_get_peer_addr(socket->id)
					   : rdma_get_local_addr(socket->id),
				   ret_address, address_bytes);
	}
	pthread_mutex_unlock(&socket->lock);
	return result;
}

PUBLIC int rgetpeername(int descriptor, struct sockaddr *address, socklen_t *address_bytes)
{
	return get_name(descriptor, true, address, address_bytes);
}

PUBLIC int rgetsockname(int descriptor, struct sockaddr *address, socklen_t *address_bytes)
{
	return get_name(descriptor, false, address, address_bytes);
}
