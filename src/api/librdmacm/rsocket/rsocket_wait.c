/* SPDX-License-Identifier: Apache-2.0 */
/* Waiting for rsockets: readiness, rpoll and rselect, beside ordinary descriptors. */
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include "api/librdmacm/rsocket/rsocket_plain.h"

enum {
	SPIN_US = 100,	   /* about the time of a large message; sleeping and waking takes longer */
	WAKE_UP_MS = 5000, /* checks again without an event, as rdma-core does */
	DESCRIPTORS_PER_SOCKET = 2,
	LOOKS_PER_EVENT = 32,
	SPINS_PER_YIELD = 64, /* about 10 us */
};

static int64_t now_us(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * INT64_C(1000000) + now.tv_nsec / 1000;
}

static bool listener_is_ready(const struct rsocket *socket)
{
	struct pollfd watched = {.fd = socket->channel->fd, .events = POLLIN};

	return poll(&watched, 1, 0) > 0;
}

/* A connection reports data by completions. Its end is an event, which may be noticed a little
 * later, so the event channel is checked only now and then, and before and after sleeping. */
static bool events_are_due(struct rsocket *socket)
{
	if (socket->state != RSOCKET_CONNECTED)
		return true;
	if (socket->looks_due) {
		socket->looks_due--;
		return true;
	}
	return socket->looks++ % LOOKS_PER_EVENT == 0;
}

/* Lock held. */
static short stream_ready(struct rsocket *socket, short events)
{
	short ready = 0;

	if (socket->state == RSOCKET_LISTENING)
		return listener_is_ready(socket) ? POLLIN & events : 0;
	if (events_are_due(socket))
		rsocket_take_events(socket);
	if (rsocket_is_connecting(socket))
		return 0;
	if (socket->state == RSOCKET_PLAIN)
		return plain_ready(socket, events);
	if (socket->state == RSOCKET_FAILED)
		return (short)(POLLERR | POLLHUP | (events & (POLLIN | POLLOUT)));
	if (socket->state != RSOCKET_CONNECTED)
		return POLLHUP | (events & POLLOUT);
	stream_poll(socket);
	if (stream_is_readable(socket))
		ready |= POLLIN & events;
	if (stream_is_writable(socket))
		ready |= POLLOUT & events;
	/* Only after all received bytes are read, because programs take POLLHUP for the end. */
	if (socket->stream.received_bytes == socket->stream.read_bytes &&
	    (socket->is_disconnected ||
	     (socket->stream.peer_has_ended && socket->stream.has_ended)))
		ready |= POLLHUP;
	return ready;
}

static short ready_now(struct rsocket *socket, short events)
{
	return socket->type == SOCK_DGRAM ? (short)(datagrams_ready(socket) & (events | POLLERR))
					  : stream_ready(socket, events);
}

/* The subset of events (POLLIN, POLLOUT) that the socket is ready for, with POLLERR and POLLHUP.
 * Takes the lock. */
static short rsocket_ready(struct rsocket *socket, short events)
{
	pthread_mutex_lock(&socket->lock);

	short ready = ready_now(socket, events);

	pthread_mutex_unlock(&socket->lock);
	return ready;
}

/* Reads the waiting CQ events. Lock held. */
static void hear(struct rsocket *socket)
{
	struct pollfd watched = {.events = POLLIN};
	struct ibv_cq *cq;
	void *context;

	if (!socket->completions)
		return;
	watched.fd = socket->completions->fd;
	while (poll(&watched, 1, 0) > 0 &&
	       ibv_get_cq_event(socket->completions, &cq, &context) == 0) {
		socket->unacknowledged++;
		socket->is_armed = false;
	}
}

/* Arms the CQ for the next completion. Lock held. */
static void arm(struct rsocket *socket)
{
	if (socket->cq && !socket->is_armed) {
		ibv_req_notify_cq(socket->cq, 0);
		socket->is_armed = true;
	}
}

/* Fills in the descriptors to poll and returns their number. Lock held. */
static unsigned watch(struct rsocket *socket, short events,
		      struct pollfd ret_watched[DESCRIPTORS_PER_SOCKET])
{
	unsigned count = 0;

	if (socket->state == RSOCKET_PLAIN) {
		ret_watched[0] = (struct pollfd){.fd = socket->descriptor, .events = events};
		return 1;
	}
	hear(socket);
	arm(socket);
	socket->looks_due = 2;
	if (socket->completions)
		ret_watched[count++] =
			(struct pollfd){.fd = socket->completions->fd, .events = POLLIN};
	if (socket->channel)
		ret_watched[count++] = (struct pollfd){.fd = socket->channel->fd, .events = POLLIN};
	return count;
}

/* With more programs than cores, the peer may be waiting for this core. */
static void let_others_run(unsigned spins)
{
	if (spins % SPINS_PER_YIELD == 0)
		sched_yield();
}

int rsocket_wait(struct rsocket *socket, short events, int flags)
{
	int64_t spins_until = now_us() + SPIN_US;
	unsigned spins = 0;

	for (;;) {
		struct pollfd watched[DESCRIPTORS_PER_SOCKET];

		if (ready_now(socket, events))
			return 0;
		if ((socket->file_flags & O_NONBLOCK) || (flags & MSG_DONTWAIT)) {
			errno = EAGAIN;
			return -1;
		}
		if (now_us() < spins_until) {
			let_others_run(++spins);
			continue;
		}

		unsigned count = watch(socket, events, watched);

		/* Completions from before the arming raise no event. */
		if (ready_now(socket, events))
			return 0;
		pthread_mutex_unlock(&socket->lock);

		int result = poll(watched, count, WAKE_UP_MS);
		int error = errno;

		pthread_mutex_lock(&socket->lock);
		hear(socket);
		if (result < 0) {
			errno = error;
			return -1;
		}
	}
}

/* Checks all descriptors; returns how many are ready. */
static int look(struct pollfd *descriptors, nfds_t count)
{
	int ready_count = 0;

	for (nfds_t i = 0; i < count; i++) {
		struct pollfd *one = &descriptors[i];
		struct rsocket *socket = one->fd >= 0 ? rsocket_find(one->fd) : NULL;

		one->revents = 0;
		if (socket) {
			one->revents = rsocket_ready(socket, one->events);
		} else if (one->fd >= 0) {
			struct pollfd plain = *one;

			if (poll(&plain, 1, 0) > 0)
				one->revents = plain.revents;
		}
		ready_count += one->revents != 0;
	}
	return ready_count;
}

static unsigned watch_all(const struct pollfd *descriptors, nfds_t count, struct pollfd *watched)
{
	unsigned watched_count = 0;

	for (nfds_t i = 0; i < count; i++) {
		struct rsocket *socket =
			descriptors[i].fd >= 0 ? rsocket_find(descriptors[i].fd) : NULL;

		if (!socket) {
			watched[watched_count++] = descriptors[i];
			continue;
		}
		pthread_mutex_lock(&socket->lock);
		watched_count += watch(socket, descriptors[i].events, watched + watched_count);
		pthread_mutex_unlock(&socket->lock);
	}
	return watched_count;
}

/* Milliseconds left of a timeout, at most WAKE_UP_MS. */
static int time_left(int64_t ends_at, int timeout)
{
	if (timeout < 0)
		return WAKE_UP_MS;

	int64_t left = (ends_at - now_us() + 999) / 1000;

	return left < 0 ? 0 : left < WAKE_UP_MS ? (int)left : WAKE_UP_MS;
}

RSOCKET_PUBLIC int rpoll(struct pollfd *descriptors, nfds_t count, int timeout)
{
	int64_t began_at = now_us();
	int64_t ends_at = began_at + (int64_t)timeout * 1000;
	struct pollfd *watched;
	unsigned spins = 0;
	int result;

	do {
		result = look(descriptors, count);
		let_others_run(++spins);
	} while (result == 0 && timeout && now_us() < began_at + SPIN_US);
	if (result || timeout == 0)
		return result;
	watched = malloc((count * DESCRIPTORS_PER_SOCKET + 1) * sizeof(*watched));
	if (!watched)
		return -1;
	for (;;) {
		unsigned watched_count = watch_all(descriptors, count, watched);

		result = look(descriptors, count);
		if (result)
			break;
		if (poll(watched, watched_count, time_left(ends_at, timeout)) < 0) {
			result = -1;
			break;
		}
		result = look(descriptors, count);
		if (result || (timeout >= 0 && now_us() >= ends_at))
			break;
	}
	free(watched);
	return result;
}

static nfds_t collect(int limit, const fd_set *reads, const fd_set *writes, const fd_set *excepts,
		      struct pollfd *ret_descriptors)
{
	nfds_t count = 0;

	for (int fd = 0; fd < limit; fd++) {
		short events = 0;

		if (reads && FD_ISSET(fd, reads))
			events |= POLLIN;
		if (writes && FD_ISSET(fd, writes))
			events |= POLLOUT;
		if (events || (excepts && FD_ISSET(fd, excepts)))
			ret_descriptors[count++] = (struct pollfd){.fd = fd, .events = events};
	}
	return count;
}

static int spread(const struct pollfd *descriptors, nfds_t count, fd_set *reads, fd_set *writes,
		  fd_set *excepts)
{
	int set_count = 0;

	for (nfds_t i = 0; i < count; i++) {
		int fd = descriptors[i].fd;
		short revents = descriptors[i].revents;

		if (reads && FD_ISSET(fd, reads)) {
			if (revents & (POLLIN | POLLHUP | POLLERR))
				set_count++;
			else
				FD_CLR(fd, reads);
		}
		if (writes && FD_ISSET(fd, writes)) {
			if (revents & (POLLOUT | POLLHUP | POLLERR))
				set_count++;
			else
				FD_CLR(fd, writes);
		}
		if (excepts && FD_ISSET(fd, excepts)) {
			if (revents & POLLPRI)
				set_count++;
			else
				FD_CLR(fd, excepts);
		}
	}
	return set_count;
}

RSOCKET_PUBLIC int rselect(int limit, fd_set *reads, fd_set *writes, fd_set *excepts,
			   struct timeval *timeout)
{
	int timeout_ms = timeout ? (int)(timeout->tv_sec * 1000 + timeout->tv_usec / 1000) : -1;
	struct pollfd *descriptors;
	int result;

	if (limit < 0 || limit > FD_SETSIZE) {
		errno = EINVAL;
		return -1;
	}
	descriptors = calloc((size_t)limit + 1, sizeof(*descriptors));
	if (!descriptors)
		return -1;

	nfds_t count = collect(limit, reads, writes, excepts, descriptors);

	result = rpoll(descriptors, count, timeout_ms);
	if (result >= 0)
		result = spread(descriptors, count, reads, writes, excepts);
	free(descriptors);
	return result;
}
