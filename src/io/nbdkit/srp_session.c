/* SPDX-License-Identifier: Apache-2.0 */
/* Threads, one channel: who sends, who polls, who is woken. */
#include "io/nbdkit/srp_session.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

/* A target that is gone is not asked for more often than this. */
#define RETRY_NS 500000000u
enum { TRIES = 2, WATCH_MS = 500 };

struct session_waiter {
	pthread_cond_t turn;
	bool is_done;
	uint64_t until_ns;
	struct srp_response *response;
};

static void init_condition(pthread_cond_t *condition)
{
	pthread_condattr_t attributes;

	pthread_condattr_init(&attributes);
	pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
	pthread_cond_init(condition, &attributes);
	pthread_condattr_destroy(&attributes);
}

/* False: time is up. */
static bool wait_for(struct srp_session *session, pthread_cond_t *condition, uint64_t until_ns)
{
	const struct timespec until = {.tv_sec = (time_t)(until_ns / 1000000000u),
				       .tv_nsec = (long)(until_ns % 1000000000u)};

	return pthread_cond_timedwait(condition, &session->mutex, &until) != ETIMEDOUT;
}

void srp_session_init(struct srp_session *session, const struct srp_target_text *target,
		      int timeout_ms)
{
	*session = (struct srp_session){.target = *target,
					.timeout_ms = timeout_ms,
					.watcher_file = eventfd(0, EFD_CLOEXEC)};
	pthread_mutex_init(&session->mutex, NULL);
	init_condition(&session->changed);
}

static void wake_next_poller(struct srp_session *session)
{
	for (uint32_t slot = 0; slot < SRP_INITIATOR_REQUESTS_MAX; slot++) {
		struct session_waiter *waiter = session->waiters[slot];

		if (!waiter || waiter->is_done)
			continue;
		pthread_cond_signal(&waiter->turn);
		return;
	}
	pthread_cond_signal(&session->changed);
}

/* Every user leaves now, and the watcher closes the channel. */
static void end_channel(struct srp_session *session)
{
	const uint64_t one = 1;

	if (session->has_ended)
		return;
	session->has_ended = true;
	srp_connection_break(&session->connection);
	for (uint32_t slot = 0; slot < SRP_INITIATOR_REQUESTS_MAX; slot++)
		if (session->waiters[slot])
			pthread_cond_signal(&session->waiters[slot]->turn);
	pthread_cond_broadcast(&session->changed);
	if (write(session->watcher_file, &one, sizeof(one)) != sizeof(one))
		errno = 0; /* it looks every WATCH_MS anyway */
}

static bool is_overdue(const struct srp_session *session)
{
	uint64_t now = srp_clock_ns();

	for (uint32_t slot = 0; slot < SRP_INITIATOR_REQUESTS_MAX; slot++)
		if (session->waiters[slot] && session->waiters[slot]->until_ns < now)
			return true;
	return false;
}

/* A command that takes too long ends the channel, so that the target touches its memory no more. */
static void *watch(void *context)
{
	struct srp_session *session = context;
	struct pollfd files[] = {{.fd = session->watcher_file, .events = POLLIN},
				 {.fd = session->connection.events->fd, .events = POLLIN}};
	uint64_t count;

	pthread_mutex_lock(&session->mutex);
	while (!session->has_ended) {
		pthread_mutex_unlock(&session->mutex);

		/* While it is connected, any event of connection management means the end. */
		bool is_over = poll(files, ARRAY_COUNT(files), WATCH_MS) > 0 && files[1].revents;

		pthread_mutex_lock(&session->mutex);
		if (is_over || is_overdue(session))
			end_channel(session);
	}
	while (session->user_count)
		pthread_cond_wait(&session->changed, &session->mutex);
	if (read(session->watcher_file, &count, sizeof(count)) < 0)
		errno = 0;
	srp_connection_close(&session->connection);
	session->is_open = false;
	session->has_ended = false;
	pthread_cond_broadcast(&session->changed);
	pthread_mutex_unlock(&session->mutex);
	return NULL;
}

void srp_session_release(struct srp_session *session)
{
	uint8_t unit[SRP_SHORT_BYTES];

	pthread_mutex_lock(&session->mutex);
	if (session->is_open && !session->has_ended) {
		srp_short_encode(&(struct srp_short){.opcode = SRP_I_LOGOUT}, unit);
		/* If the target is gone, it needs no word. */
		if (srp_connection_send(&session->connection, unit, sizeof(unit)) != 0)
			errno = 0;
		end_channel(session);
	}
	pthread_mutex_unlock(&session->mutex);
	if (session->has_watcher)
		pthread_join(session->watcher, NULL);
	close(session->watcher_file);
	pthread_cond_destroy(&session->changed);
	pthread_mutex_destroy(&session->mutex);
}

static void leave(struct srp_session *session)
{
	if (--session->user_count == 0 && session->has_ended)
		pthread_cond_broadcast(&session->changed);
}

/* Opens a channel. The mutex is held: nobody can do anything without a channel. */
static int open_channel(struct srp_session *session, const char **ret_problem)
{
	int error;

	if (srp_clock_ns() < session->next_try_ns)
		return -ENOTCONN;
	if (session->has_watcher)
		pthread_join(session->watcher, NULL); /* of the channel before */
	session->has_watcher = false;
	error = srp_connection_open(&session->connection, &session->target, session->timeout_ms,
				    &session->initiator, ret_problem);
	session->next_try_ns = srp_clock_ns() + RETRY_NS;
	if (error)
		return error;
	memset(session->waiters, 0, sizeof(session->waiters));
	error = -pthread_create(&session->watcher, NULL, watch, session);
	if (error) {
		srp_connection_close(&session->connection);
		return error;
	}
	session->has_watcher = true;
	session->is_open = true;
	return 0;
}

/* Becomes a user of an open channel. The mutex is held. */
static int enter(struct srp_session *session, const char **ret_problem)
{
	uint64_t until_ns = srp_clock_ns() + (uint64_t)session->timeout_ms * 1000000;
	int error;

	*ret_problem = "the target does not answer";
	while (session->has_ended)
		if (!wait_for(session, &session->changed, until_ns))
			return -ETIMEDOUT;
	error = session->is_open ? 0 : open_channel(session, ret_problem);
	if (!error)
		session->user_count++;
	return error;
}

int srp_session_connect(struct srp_session *session, const char **ret_problem)
{
	pthread_mutex_lock(&session->mutex);

	int error = enter(session, ret_problem);

	if (!error)
		leave(session);
	pthread_mutex_unlock(&session->mutex);
	return error;
}

static void take_unit(struct srp_session *session, const struct srp_received *received)
{
	struct srp_connection *connection = &session->connection;
	struct srp_arrival arrival;

	srp_initiator_receive(&session->initiator, connection->received[received->index],
			      received->byte_count, &arrival);

	int error = srp_connection_repost(connection, received->index);

	switch (arrival.kind) {
	case SRP_ARRIVAL_RESPONSE: {
		struct session_waiter *waiter = session->waiters[arrival.slot];

		session->waiters[arrival.slot] = NULL;
		if (waiter) {
			*waiter->response = arrival.response;
			waiter->is_done = true;
			pthread_cond_signal(&waiter->turn);
		}
		pthread_cond_signal(&session->changed);
		break;
	}
	case SRP_ARRIVAL_REPLY:
		if (!error)
			error = srp_connection_send(connection, arrival.reply,
						    sizeof(arrival.reply));
		break;
	case SRP_ARRIVAL_LOGOUT:
	case SRP_ARRIVAL_BAD:
		error = -EPROTO;
		break;
	}
	if (error)
		end_channel(session);
}

/* Polls once for all. The mutex is held, but not while it waits. */
static void poll_for_all(struct srp_session *session)
{
	struct srp_received received[CONNECTION_ARRIVALS];

	session->has_poller = true;
	pthread_mutex_unlock(&session->mutex);

	int count = srp_connection_wait(&session->connection, received);

	pthread_mutex_lock(&session->mutex);
	session->has_poller = false;
	for (int index = 0; index < count && !session->has_ended; index++)
		take_unit(session, &received[index]);
	if (count < 0)
		end_channel(session);
}

static int await_response(struct srp_session *session, struct session_waiter *waiter)
{
	while (!waiter->is_done && !session->has_ended) {
		if (!session->has_poller)
			poll_for_all(session);
		else
			pthread_cond_wait(&waiter->turn, &session->mutex);
	}
	if (!session->has_poller)
		wake_next_poller(session);
	return waiter->is_done ? 0 : -ENOTCONN;
}

static int await_room(struct srp_session *session, uint64_t until_ns)
{
	while (!session->has_ended && !srp_initiator_may_send(&session->initiator))
		if (!wait_for(session, &session->changed, until_ns))
			return -ETIMEDOUT;
	return session->has_ended ? -ENOTCONN : 0;
}

/* The mutex is held, and the caller is a user. */
static int exchange(struct srp_session *session, const struct srp_request *request,
		    struct srp_response *ret_response)
{
	uint64_t until_ns = srp_clock_ns() + (uint64_t)session->timeout_ms * 1000000;
	struct session_waiter waiter = {.response = ret_response, .until_ns = until_ns};
	uint8_t unit[SRP_CMD_BYTES_MAX];
	uint32_t slot;
	int error = await_room(session, until_ns);

	if (error)
		return error;
	pthread_cond_init(&waiter.turn, NULL);

	size_t byte_count = srp_initiator_command(&session->initiator, request, unit, &slot);

	session->waiters[slot] = &waiter;
	error = srp_connection_send(&session->connection, unit, byte_count);
	if (error)
		end_channel(session);
	else
		error = await_response(session, &waiter);
	if (session->waiters[slot] == &waiter)
		session->waiters[slot] = NULL;
	pthread_cond_destroy(&waiter.turn);
	return error;
}

/* One try by one channel. The memory is registered for this command alone, so that a target can't
 * use the key afterwards. */
static int try_command(struct srp_session *session, struct srp_request *request,
		       const struct session_data *data, struct srp_response *ret_response)
{
	struct ibv_mr *region = NULL;
	const char *problem;
	int error;

	pthread_mutex_lock(&session->mutex);
	error = enter(session, &problem);
	pthread_mutex_unlock(&session->mutex);
	if (error)
		return error;
	if (data) {
		region = ibv_reg_mr(session->connection.id->pd, data->bytes, data->byte_count,
				    request->direction == SRP_DATA_IN
					    ? IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE
					    : IBV_ACCESS_REMOTE_READ);
		error = region ? 0 : -errno;
		if (region)
			request->data = (struct srp_segment){.address = (uintptr_t)data->bytes,
							     .rkey = region->rkey,
							     .byte_count = data->byte_count};
	}
	pthread_mutex_lock(&session->mutex);
	if (!error)
		error = exchange(session, request, ret_response);
	pthread_mutex_unlock(&session->mutex);
	if (region)
		ibv_dereg_mr(region);
	pthread_mutex_lock(&session->mutex);
	leave(session);
	pthread_mutex_unlock(&session->mutex);
	return error;
}

int srp_session_command(struct srp_session *session, const struct srp_request *request,
			const struct session_data *data, struct srp_response *ret_response)
{
	struct srp_request copy = *request;
	int error = -ENOTCONN;

	for (int tries = 0; tries < TRIES && error == -ENOTCONN; tries++)
		error = try_command(session, &copy, data, ret_response);
	return error;
}
