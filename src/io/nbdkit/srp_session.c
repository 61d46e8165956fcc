/* SPDX-License-Identifier: Apache-2.0 */
/* The thread that uses the channel, and the callers that wait for it. */
#include "io/nbdkit/srp_session.h"

#include <errno.h>
#include <poll.h>
#include <sched.h>
#include <semaphore.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/random.h>
#include <unistd.h>

/* A target that is gone is not asked for more often than this. */
#define RETRY_NS MILLISECONDS(500)
/* The thread polls for so long after its last work before it sleeps: the next commands of a busy
 * client come sooner, and a sleep costs two wake-ups and a barrier on all processors. */
#define POLL_NS MILLISECONDS(1)
/* An event of connection management is seen at the latest after this. */
#define EVENTS_NS MILLISECONDS(10)
enum { TRIES = 2 };

enum { WAKE_FILE, EVENTS_FILE, COMPLETIONS_FILE, FILES };

/* A waiting caller looks this often whether the channel can't be closed. */
enum { LOOK_MS = 100 };

struct session_task {
	struct list link;
	struct srp_request request;
	struct srp_response response;
	uint8_t *buffer; /* NULL: no data */
	sem_t has_ended;
	/* Under the session's mutex. */
	bool is_done;
	bool is_given_up; /* its caller has gone */
	int error;
};

static void free_task(struct srp_session *session, struct session_task *task)
{
	if (task->buffer)
		transfer_buffers_return(&session->buffers, task->buffer);
	sem_destroy(&task->has_ended);
	free(task);
}

static void finish(struct srp_session *session, struct session_task *task, int error)
{
	pthread_mutex_lock(&session->mutex);

	bool is_given_up = task->is_given_up;

	task->error = error;
	task->is_done = true;
	if (!is_given_up)
		sem_post(&task->has_ended);
	pthread_mutex_unlock(&session->mutex);
	if (is_given_up)
		free_task(session, task);
}

static struct session_task *take_submitted(struct srp_session *session)
{
	pthread_mutex_lock(&session->mutex);

	struct list *link = list_pop(&session->submitted);

	pthread_mutex_unlock(&session->mutex);
	return link ? container_of(link, struct session_task, link) : NULL;
}

/* Not those that come meanwhile: callers that repeat their commands at once would keep the thread
 * here, and it would never try to open a channel again. */
static void fail_submitted(struct srp_session *session)
{
	struct list failed;
	struct list *link;

	list_init(&failed);
	pthread_mutex_lock(&session->mutex);
	while ((link = list_pop(&session->submitted)) != NULL)
		list_append(&failed, link);
	pthread_mutex_unlock(&session->mutex);
	while ((link = list_pop(&failed)) != NULL)
		finish(session, container_of(link, struct session_task, link), -ENOTCONN);
}

static int open_channel(struct srp_session *session, const char **ret_problem)
{
	int error =
		srp_connection_open(&session->connection, &session->target, session->buffers.memory,
				    (size_t)TRANSFER_BUFFERS * TRANSFER_BUFFER_BYTES,
				    session->timeout_ms, &session->initiator, ret_problem);

	session->next_try = srp_clock_now() + RETRY_NS;
	session->is_open = error == 0;
	return error;
}

static void note_closing(struct srp_session *session, time_ns since)
{
	pthread_mutex_lock(&session->mutex);
	session->closing_since = since;
	pthread_mutex_unlock(&session->mutex);
}

/* Takes the transfer buffers back from the target, then tells the callers. */
static void end_channel(struct srp_session *session)
{
	note_closing(session, srp_clock_now());
	srp_connection_close(&session->connection);
	note_closing(session, 0);
	session->is_open = false;
	for (uint32_t slot = 0; slot < SRP_INITIATOR_REQUESTS_MAX; slot++) {
		struct session_task *task = session->tasks[slot];

		session->tasks[slot] = NULL;
		if (task)
			finish(session, task, -ENOTCONN);
	}
}

static void finish_slot(struct srp_session *session, uint32_t slot, int error)
{
	struct session_task *task = session->tasks[slot];

	session->tasks[slot] = NULL;
	finish(session, task, error);
}

/* Returns 0, or a negative errno: the channel is of no use any more. */
static int take_unit(struct srp_session *session, const struct srp_received *received)
{
	struct srp_connection *connection = &session->connection;
	struct srp_arrival arrival;

	srp_initiator_receive(&session->initiator, connection->received[received->index],
			      received->byte_count, &arrival);

	int error = srp_connection_repost(connection, received->index);

	switch (arrival.kind) {
	case SRP_ARRIVAL_RESPONSE:
		session->tasks[arrival.slot]->response = arrival.response;
		finish_slot(session, arrival.slot, 0);
		return error;
	case SRP_ARRIVAL_ABORTED:
		finish_slot(session, arrival.slot, -ETIMEDOUT);
		return error;
	case SRP_ARRIVAL_NOTHING:
		return error;
	case SRP_ARRIVAL_REPLY:
		return error ? error
			     : srp_connection_send(connection, arrival.reply,
						   sizeof(arrival.reply));
	case SRP_ARRIVAL_LOGOUT:
	case SRP_ARRIVAL_BAD:
		break;
	}
	return -EPROTO;
}

/* Returns how many units it took, or a negative errno. */
static int take_arrivals(struct srp_session *session)
{
	struct srp_received received[CONNECTION_ARRIVALS];
	int count = srp_connection_poll(&session->connection, received);

	for (int index = 0; index < count; index++) {
		int error = take_unit(session, &received[index]);

		if (error)
			return error;
	}
	return count;
}

/* Returns how many commands it sent, or a negative errno. */
static int send_submitted(struct srp_session *session)
{
	uint8_t unit[SRP_CMD_BYTES_MAX];
	int count = 0;

	while (srp_initiator_may_send(&session->initiator)) {
		struct session_task *task = take_submitted(session);
		uint32_t slot;

		if (!task)
			break;
		task->request.data.rkey = session->connection.data->rkey;

		time_ns deadline = srp_clock_now() + MILLISECONDS(session->timeout_ms);
		size_t byte_count = srp_initiator_command(&session->initiator, &task->request,
							  deadline, unit, &slot);

		session->tasks[slot] = task;

		int error = srp_connection_send(&session->connection, unit, byte_count);

		if (error)
			return error;
		count++;
	}
	return count;
}

static int abort_overdue(struct srp_session *session, time_ns now)
{
	uint8_t unit[SRP_TSK_MGMT_BYTES];

	switch (srp_initiator_expire(&session->initiator, now, MILLISECONDS(session->timeout_ms),
				     unit)) {
	case SRP_EXPIRY_NONE:
		return 0;
	case SRP_EXPIRY_ABORT:
		return srp_connection_send(&session->connection, unit, sizeof(unit));
	case SRP_EXPIRY_LOST:
		break;
	}
	return -ETIMEDOUT;
}

/* False: there is something to do after all. */
static bool fall_asleep(struct srp_session *session)
{
	pthread_mutex_lock(&session->mutex);
	session->is_asleep = !session->is_ending && list_is_empty(&session->submitted);

	bool is_asleep = session->is_asleep;

	pthread_mutex_unlock(&session->mutex);
	return is_asleep;
}

static void wake_up(struct srp_session *session, bool has_rung)
{
	uint64_t count;

	pthread_mutex_lock(&session->mutex);
	session->is_asleep = false;
	pthread_mutex_unlock(&session->mutex);
	if (has_rung && read(session->wake_file, &count, sizeof(count)) < 0)
		errno = 0; /* it is not blocking, and is read again */
}

/* Sleeps until a command is submitted or, on an open channel, a unit arrives, a command is overdue
 * or connection management has an event. While the channel is open, any such event means its end.
 */
static int sleep_until_work(struct srp_session *session)
{
	struct pollfd files[FILES] = {[WAKE_FILE] = {.fd = session->wake_file, .events = POLLIN}};
	time_ns deadline = TIME_NEVER;

	if (session->is_open) {
		files[EVENTS_FILE] =
			(struct pollfd){.fd = session->connection.events->fd, .events = POLLIN};
		files[COMPLETIONS_FILE] = (struct pollfd){.fd = session->connection.completions->fd,
							  .events = POLLIN};
		deadline = srp_initiator_deadline(&session->initiator);
	}
	if (fall_asleep(session)) {
		(void)poll(files, session->is_open ? FILES : 1, srp_milliseconds_until(deadline));
		wake_up(session, files[WAKE_FILE].revents);
	}
	if (!session->is_open)
		return 0;
	if (files[COMPLETIONS_FILE].revents)
		srp_connection_disarm(&session->connection);
	return files[EVENTS_FILE].revents ? -ENOTCONN : 0;
}

/* An arrival before the queue is armed makes no event, so it is looked for once more. */
static int arm_and_sleep(struct srp_session *session)
{
	int error = srp_connection_arm(&session->connection);
	int arrived = error ? error : take_arrivals(session);

	return arrived ? arrived : sleep_until_work(session);
}

static bool has_event(const struct srp_session *session)
{
	struct pollfd file = {.fd = session->connection.events->fd, .events = POLLIN};

	return poll(&file, 1, 0) > 0;
}

static bool is_ending(const struct srp_session *session)
{
	return __atomic_load_n(&session->is_ending, __ATOMIC_RELAXED);
}

/* Works on the open channel until it ends. */
static void work_on_channel(struct srp_session *session)
{
	time_ns worked_at = srp_clock_now(), looked_at = worked_at;
	int error = 0;

	while (error >= 0 && !is_ending(session)) {
		int arrived = take_arrivals(session);
		int sent = arrived < 0 ? arrived : send_submitted(session);
		time_ns now = srp_clock_now();

		error = sent < 0 ? sent : abort_overdue(session, now);
		if (error < 0)
			break;
		if (now - looked_at > EVENTS_NS) {
			looked_at = now;
			error = has_event(session) ? -ENOTCONN : 0;
		}
		if (arrived || sent)
			worked_at = now;
		else if (now - worked_at < POLL_NS)
			sched_yield();
		else
			error = arm_and_sleep(session);
	}
}

static void log_out(struct srp_session *session)
{
	uint8_t unit[SRP_SHORT_BYTES];

	srp_short_encode(&(struct srp_short){.opcode = SRP_I_LOGOUT}, unit);
	/* If the target is gone, it needs no word. */
	if (srp_connection_send(&session->connection, unit, sizeof(unit)) != 0)
		errno = 0;
}

/* Without a channel: waits for a command, and opens one for it. */
static void wait_and_reopen(struct srp_session *session)
{
	const char *problem;

	if (sleep_until_work(session) != 0 || is_ending(session) ||
	    srp_clock_now() < session->next_try || open_channel(session, &problem) != 0)
		fail_submitted(session);
}

static void *work(void *context)
{
	struct srp_session *session = context;

	while (!is_ending(session)) {
		if (!session->is_open) {
			wait_and_reopen(session);
			continue;
		}
		work_on_channel(session);
		if (!is_ending(session))
			end_channel(session);
	}
	/* Also a channel that was opened just before the session was closed. */
	if (session->is_open) {
		log_out(session);
		end_channel(session);
	}
	fail_submitted(session);
	return NULL;
}

static void ring(struct srp_session *session)
{
	const uint64_t one = 1;

	/* It can't fail before the count overflows. */
	if (write(session->wake_file, &one, sizeof(one)) != sizeof(one))
		errno = 0;
}

/* Programs on one port need different extensions: a login ends the channel of the same name. */
static int name_initiator(struct srp_target_text *target)
{
	uint64_t *name = &target->initiator_ext;

	while (!*name)
		if (getrandom(name, sizeof(*name), 0) != sizeof(*name) && errno != EINTR)
			return -errno;
	return 0;
}

static void release(struct srp_session *session)
{
	pthread_cond_destroy(&session->callers_left);
	pthread_mutex_destroy(&session->mutex);
	transfer_buffers_close(&session->buffers);
}

int srp_session_open(struct srp_session *session, const struct srp_target_text *target,
		     int timeout_ms, const char **ret_problem)
{
	*session = (struct srp_session){.target = *target, .timeout_ms = timeout_ms};

	int error = name_initiator(&session->target);

	if (!error)
		error = transfer_buffers_open(&session->buffers);
	if (error) {
		*ret_problem = strerror(-error);
		return error;
	}
	pthread_mutex_init(&session->mutex, NULL);
	pthread_cond_init(&session->callers_left, NULL);
	list_init(&session->submitted);
	session->wake_file = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	error = session->wake_file < 0 ? -errno : 0;
	*ret_problem = strerror(-error);
	if (!error)
		error = open_channel(session, ret_problem);
	if (error)
		goto undo_buffers;
	error = -pthread_create(&session->thread, NULL, work, session);
	if (!error)
		return 0;
	*ret_problem = strerror(-error);
	end_channel(session);
undo_buffers:
	if (session->wake_file >= 0)
		close(session->wake_file);
	release(session);
	return error;
}

void srp_session_close(struct srp_session *session)
{
	pthread_mutex_lock(&session->mutex);
	__atomic_store_n(&session->is_ending, true, __ATOMIC_RELAXED);
	pthread_mutex_unlock(&session->mutex);
	ring(session);
	pthread_join(session->thread, NULL);
	pthread_mutex_lock(&session->mutex);
	while (session->caller_count)
		pthread_cond_wait(&session->callers_left, &session->mutex);
	pthread_mutex_unlock(&session->mutex);
	close(session->wake_file);
	release(session);
}

static void enter(struct srp_session *session)
{
	pthread_mutex_lock(&session->mutex);
	session->caller_count++;
	pthread_mutex_unlock(&session->mutex);
}

static void leave(struct srp_session *session)
{
	pthread_mutex_lock(&session->mutex);
	if (--session->caller_count == 0)
		pthread_cond_signal(&session->callers_left);
	pthread_mutex_unlock(&session->mutex);
}

/* False: the session is being closed, and its thread takes nothing any more. */
static bool submit(struct srp_session *session, struct session_task *task)
{
	pthread_mutex_lock(&session->mutex);

	bool is_taken = !session->is_ending;
	bool must_ring = is_taken && session->is_asleep;

	task->is_done = false;
	if (is_taken) {
		list_append(&session->submitted, &task->link);
		session->is_asleep = false; /* rung for once */
	}
	pthread_mutex_unlock(&session->mutex);
	if (must_ring)
		ring(session);
	return is_taken;
}

/* Under the mutex. */
static bool is_stuck(const struct srp_session *session)
{
	return session->closing_since &&
	       srp_clock_now() - session->closing_since >= MILLISECONDS(session->timeout_ms);
}

/* False: the task is the thread's from now on. */
static bool await_end(struct srp_session *session, struct session_task *task, int *ret_error)
{
	bool is_done, is_given_up;

	do {
		struct timespec until = transfer_time_after(LOOK_MS);

		(void)sem_clockwait(&task->has_ended, CLOCK_MONOTONIC, &until);
		pthread_mutex_lock(&session->mutex);
		is_given_up = !task->is_done && is_stuck(session);
		/* The thread has not seen it yet, so it never will. */
		if (is_given_up && list_is_linked(&task->link)) {
			list_remove(&task->link);
			task->is_done = true;
			task->error = -ETIMEDOUT;
			is_given_up = false;
		}
		is_done = task->is_done;
		task->is_given_up = is_given_up;
		*ret_error = is_given_up ? -ETIMEDOUT : task->error;
		pthread_mutex_unlock(&session->mutex);
	} while (!is_done && !is_given_up);
	return is_done;
}

static int take_buffer(struct srp_session *session, uint8_t **ret_buffer)
{
	bool has_no_chance = false;

	while ((*ret_buffer = transfer_buffers_take(&session->buffers, LOOK_MS)) == NULL) {
		pthread_mutex_lock(&session->mutex);
		has_no_chance = is_stuck(session);
		pthread_mutex_unlock(&session->mutex);
		if (has_no_chance)
			return -ETIMEDOUT;
	}
	return 0;
}

static int make_task(struct srp_session *session, const struct srp_request *request,
		     const struct session_data *data, struct session_task **ret_task)
{
	struct session_task *task = calloc(1, sizeof(*task));

	if (!task)
		return -ENOMEM;
	task->request = *request;
	list_init(&task->link);
	sem_init(&task->has_ended, 0, 0);
	if (data) {
		assert(data->byte_count <= TRANSFER_BUFFER_BYTES);

		int error = take_buffer(session, &task->buffer);

		if (error) {
			free_task(session, task);
			return error;
		}
		task->request.data = (struct srp_segment){.address = (uintptr_t)task->buffer,
							  .byte_count = data->byte_count};
		if (request->direction == SRP_DATA_OUT)
			memcpy(task->buffer, data->bytes, data->byte_count);
	}
	*ret_task = task;
	return 0;
}

/* Each try is by one channel. */
static int run_task(struct srp_session *session, struct session_task *task,
		    const struct session_data *data, struct srp_response *ret_response)
{
	int error = -ENOTCONN;

	for (int tries = 0; tries < TRIES && error == -ENOTCONN; tries++) {
		if (!submit(session, task))
			error = -ESHUTDOWN;
		else if (!await_end(session, task, &error))
			return error;
	}
	if (!error) {
		*ret_response = task->response;
		if (data && task->request.direction == SRP_DATA_IN)
			memcpy(data->bytes, task->buffer, data->byte_count);
	}
	free_task(session, task);
	return error;
}

int srp_session_command(struct srp_session *session, const struct srp_request *request,
			const struct session_data *data, struct srp_response *ret_response)
{
	struct session_task *task;

	enter(session);

	int error = make_task(session, request, data, &task);

	if (!error)
		error = run_task(session, task, data, ret_response);
	leave(session);
	return error;
}
