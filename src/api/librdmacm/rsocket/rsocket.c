/* SPDX-License-Identifier: Apache-2.0 */
/* rsockets: creating, binding, listening, connecting, closing (rsocket(7)). */
#include "api/librdmacm/rsocket/rsocket.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>
#include "api/librdmacm/rsocket/rsocket_plain.h"
#include "wire/cm_message.h"

enum { RESOLVE_TIMEOUT_MS = 4000, CLOSE_TIMEOUT_MS = 3000, RETRIES = 7 };

int rsocket_fail(struct rsocket *socket, int error)
{
	socket->state = RSOCKET_FAILED;
	socket->error = error;
	errno = error;
	return -1;
}

int rsocket_make_channel(struct rsocket *socket)
{
	socket->channel = rdma_create_event_channel();
	if (!socket->channel)
		return -1;
	/* rsocket_wait() uses poll() to wait for the event channel and completions together. */
	fcntl(socket->channel->fd, F_SETFL, O_NONBLOCK);
	socket->descriptor = socket->channel->fd;
	return 0;
}

void rsocket_release_completions(struct rsocket *socket)
{
	if (socket->cq) {
		if (socket->unacknowledged)
			ibv_ack_cq_events(socket->cq, socket->unacknowledged);
		ibv_destroy_cq(socket->cq);
		socket->cq = NULL;
	}
	if (socket->completions)
		ibv_destroy_comp_channel(socket->completions);
	socket->completions = NULL;
}

void rsocket_destroy(struct rsocket *socket)
{
	int error = errno;

	if (socket->datagrams)
		datagrams_close(socket);
	stream_release(socket);
	if (socket->id)
		rdma_destroy_id(socket->id);
	if (socket->channel)
		rdma_destroy_event_channel(socket->channel);
	if (socket->state == RSOCKET_PLAIN)
		close(socket->descriptor);
	rsocket_free(socket);
	errno = error;
}

static int open_kind(struct rsocket *socket)
{
	if (socket->type == SOCK_DGRAM)
		return datagrams_open(socket);
	return rdma_create_id(socket->channel, &socket->id, socket, RDMA_PS_TCP);
}

RSOCKET_PUBLIC int rsocket(int domain, int type, int protocol)
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
	if (rsocket_make_channel(socket) || open_kind(socket) || rsocket_enter(socket)) {
		rsocket_destroy(socket);
		return -1;
	}
	return socket->descriptor;
}

RSOCKET_PUBLIC int rbind(int descriptor, const struct sockaddr *address, socklen_t address_bytes)
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

RSOCKET_PUBLIC int rlisten(int descriptor, int backlog)
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

const struct rdma_conn_param rsocket_parameters = {
	.responder_resources = 1,
	.initiator_depth = 1,
	.flow_control = 1,
	.retry_count = RETRIES,
	.rnr_retry_count = RETRIES,
};

static int start_connecting(struct rsocket *socket)
{
	uint8_t greeting[RSOCKET_GREETING_BYTES];
	struct rdma_conn_param request = rsocket_parameters;

	if (stream_prepare(socket))
		return -1;
	stream_greet(socket, greeting);
	request.private_data = greeting;
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

/* Takes the next step to a connection, or ends it. 0 or -1 with errno. */
static int go_on(struct rsocket *socket, const struct rdma_cm_event *event)
{
	if (event->event == RDMA_CM_EVENT_ADDR_RESOLVED) {
		socket->state = RSOCKET_RESOLVING_ROUTE;
		return rdma_resolve_route(socket->id, RESOLVE_TIMEOUT_MS);
	}
	if (event->event == RDMA_CM_EVENT_ROUTE_RESOLVED)
		return start_connecting(socket);
	/* The passive side is in RSOCKET_CONNECTED already. */
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

	/* Bytes received before the error can still be read. */
	if (error && socket->state == RSOCKET_CONNECTED)
		socket->is_disconnected = true;
	else if (error && event->status == CM_REJECT_INVALID_SERVICE_ID)
		socket->is_unheard = true;
	else if (error)
		rsocket_fail(socket, error);
	else if (go_on(socket, event))
		rsocket_fail(socket, errno ? errno : ECONNABORTED);
}

void rsocket_take_events(struct rsocket *socket)
{
	struct rdma_cm_event *event;

	/* raccept() takes the events of a listener. */
	while (socket->state != RSOCKET_LISTENING && socket->channel && socket->id &&
	       rdma_get_cm_event(socket->channel, &event) == 0) {
		take_event(socket, event);
		rdma_ack_cm_event(event);
		/* No rsocket listens there; an ordinary socket may. */
		if (socket->is_unheard && !plain_take_over(socket))
			rsocket_fail(socket, ECONNREFUSED);
		socket->is_unheard = false;
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
	if (socket->state == RSOCKET_CONNECTED || socket->state == RSOCKET_PLAIN)
		return 0;
	errno = socket->error ? socket->error : ECONNREFUSED;
	socket->error = 0;
	return -1;
}

RSOCKET_PUBLIC int rconnect(int descriptor, const struct sockaddr *address, socklen_t address_bytes)
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
	} else if (socket->state == RSOCKET_CONNECTED || socket->state == RSOCKET_PLAIN) {
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

RSOCKET_PUBLIC int rshutdown(int descriptor, int how)
{
	struct rsocket *socket = rsocket_find(descriptor);
	int result = 0;

	if (!socket)
		return -1;
	pthread_mutex_lock(&socket->lock);
	if (socket->type == SOCK_DGRAM) {
		result = 0;
	} else if (socket->state == RSOCKET_PLAIN) {
		result = shutdown(descriptor, how);
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

RSOCKET_PUBLIC int rclose(int descriptor)
{
	struct rsocket *socket = rsocket_find(descriptor);

	if (!socket)
		return -1;
	pthread_mutex_lock(&socket->lock);
	rsocket_leave(socket);
	if (socket->type == SOCK_STREAM && socket->state == RSOCKET_CONNECTED) {
		bool drops = socket->options.linger.l_onoff && socket->options.linger.l_linger == 0;

		if (!drops) {
			stream_end_writing(socket);
			stream_flush(socket, CLOSE_TIMEOUT_MS);
		}
		rdma_disconnect(socket->id);
	}
	pthread_mutex_unlock(&socket->lock);
	rsocket_destroy(socket);
	return 0;
}
