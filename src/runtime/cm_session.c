/* SPDX-License-Identifier: Apache-2.0 */
/* This process and the connection manager of its host: one command at a time, and events. */
#include "runtime/cm_session.h"

#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>
#include "base/time.h"
#include "ipc/descriptor_message.h"
#include "runtime/softibd_connection.h"
#include "runtime/session.h"

/* A command waits in the socket no longer than this. */
#define POST_TIME_MAX MILLISECONDS(250)

/* Covers the variables below. Held for one question and its answer, and never while the thread can
 * be cancelled. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int command_socket = -1;
static bool handles_fork;

static void before_fork(void)
{
	pthread_mutex_lock(&lock);
}

static void after_fork_in_parent(void)
{
	pthread_mutex_unlock(&lock);
}

/* The ids are the parent's; the child must not keep its command socket open. */
static void after_fork_in_child(void)
{
	if (command_socket >= 0)
		close(command_socket);
	command_socket = -1;
	pthread_mutex_unlock(&lock);
}

static int open_command_socket(void)
{
	struct control_message message;
	struct session *session;
	json_t *answer;
	int error = session_get(&session);

	if (!error)
		error = session_ask(session, "{\"command\":\"cm\"}", &answer, &message);
	if (error)
		return error;
	command_socket = message.descriptor_count == 2 ? control_message_take(&message, 1) : -1;
	json_decref(answer);
	control_message_release(&message);
	if (command_socket < 0)
		return -EPROTO;
	if (!handles_fork)
		handles_fork =
			pthread_atfork(before_fork, after_fork_in_parent, after_fork_in_child) == 0;
	return 0;
}

static int receive_answer(struct cm_answer *ret_answer, int *ret_descriptor)
{
	struct iovec piece = {ret_answer, sizeof(*ret_answer)};
	union descriptor_room room;
	ssize_t length;

	do {
		struct msghdr message = {.msg_iov = &piece,
					 .msg_iovlen = 1,
					 .msg_control = ret_descriptor ? &room : NULL,
					 .msg_controllen = ret_descriptor ? sizeof(room) : 0};

		length = recvmsg(command_socket, &message, MSG_CMSG_CLOEXEC);
		if (length > 0 && ret_descriptor && !descriptors_take(&message, 1, ret_descriptor))
			*ret_descriptor = -1;
	} while (length < 0 && errno == EINTR);
	return length == (ssize_t)sizeof(*ret_answer) ? 0 : -ENODEV;
}

/* descriptor: sent with the command; -1: none. */
static ssize_t send_command(const struct cm_command *command, int descriptor)
{
	struct iovec piece = {(void *)(uintptr_t)command, cm_command_bytes(command)};
	union descriptor_room room;
	struct msghdr message = {.msg_iov = &piece, .msg_iovlen = 1};

	if (descriptor < 0)
		return send(command_socket, command, piece.iov_len, MSG_NOSIGNAL);
	descriptors_attach(&message, &room, &descriptor, 1);
	return sendmsg(command_socket, &message, MSG_NOSIGNAL);
}

static int say(const struct cm_command *command, int descriptor)
{
	ssize_t length;

	if (command_socket < 0) {
		int error = open_command_socket();

		if (error)
			return error;
	}
	do {
		length = send_command(command, descriptor);
	} while (length < 0 && errno == EINTR);
	return length == (ssize_t)cm_command_bytes(command) ? 0 : -ENODEV;
}

static int say_and_hear(const struct cm_command *command, int given_descriptor,
			struct cm_answer *ret_answer, int *ret_descriptor)
{
	int error = say(command, given_descriptor);

	if (!error)
		error = receive_answer(ret_answer, ret_descriptor);
	/* softibd has ended. The next command asks for a socket of the next one. */
	if (error == -ENODEV && command_socket >= 0) {
		close(command_socket);
		command_socket = -1;
	}
	return error;
}

/* ret_descriptor: NULL if the answer brings no descriptor. */
static int exchange(const struct cm_command *command, int given_descriptor,
		    struct cm_answer *ret_answer, int *ret_descriptor)
{
	int cancel_state;

	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel_state);
	pthread_mutex_lock(&lock);

	bool may_be_old = command_socket >= 0;
	int error = say_and_hear(command, given_descriptor, ret_answer, ret_descriptor);

	/* All that a program has here begins with a channel. */
	if (error == -ENODEV && may_be_old && command->kind == CM_OPEN_CHANNEL)
		error = say_and_hear(command, given_descriptor, ret_answer, ret_descriptor);
	pthread_mutex_unlock(&lock);
	pthread_setcancelstate(cancel_state, &cancel_state);
	return error ? error : ret_answer->error;
}

int cm_session_ask(const struct cm_command *command, struct cm_answer *ret_answer)
{
	return exchange(command, -1, ret_answer, NULL);
}

int cm_session_ask_descriptor(const struct cm_command *command, struct cm_answer *ret_answer,
			      int *ret_descriptor)
{
	return exchange(command, -1, ret_answer, ret_descriptor);
}

int cm_session_give_descriptor(const struct cm_command *command, int descriptor)
{
	struct cm_answer answer;

	return exchange(command, descriptor, &answer, NULL);
}

int cm_session_post(const struct cm_command *command)
{
	int cancel_state;

	assert(command->is_posted);
	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel_state);
	pthread_mutex_lock(&lock);

	int error = say(command, -1);

	pthread_mutex_unlock(&lock);
	pthread_setcancelstate(cancel_state, &cancel_state);
	return error;
}

bool cm_session_is_before(uint64_t time)
{
	struct timespec now;

	if (time == TIME_NEVER)
		return true;
	clock_gettime(CLOCK_MONOTONIC, &now);
	return SECONDS(now.tv_sec) + (time_ns)now.tv_nsec + POST_TIME_MAX < time;
}

static int read_event(int channel, int flags, struct cm_event_message *ret_event)
{
	ssize_t length = recv(channel, ret_event, sizeof(*ret_event), flags);

	if (length < 0)
		return -errno;
	/* softibd has closed its side, or the message is not one of softibd's. */
	if ((size_t)length < offsetof(struct cm_event_message, private_data) ||
	    (size_t)length != cm_event_bytes(ret_event))
		return -ENODEV;
	return 0;
}

int cm_session_read_event(int channel, struct cm_event_message *ret_event)
{
	return read_event(channel, 0, ret_event);
}

int cm_session_try_event(int channel, struct cm_event_message *ret_event)
{
	return read_event(channel, MSG_DONTWAIT, ret_event);
}

int cm_session_peek_event(int channel, struct cm_event_message *ret_event)
{
	return read_event(channel, MSG_PEEK | MSG_DONTWAIT, ret_event);
}
