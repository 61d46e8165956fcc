/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Commands of many threads over one SRP channel, which is opened again after it has ended.
 *
 * One thread of the session's own uses the channel: it sends what the callers submit, polls, and
 * wakes each caller when its response has come. The callers copy data to and from a transfer
 * buffer, so the copies run beside the channel's work.
 *
 * All channels of a session have the same initiator port. The target ends the earlier channel
 * before it answers the login of the next one (T10 SRP r16a, 6.2), so it executes nothing of the
 * earlier one behind a command of the next one: a write that was given up does not overwrite a
 * later one.
 */
#ifndef SOFTIB_IO_NBDKIT_SRP_SESSION_H
#define SOFTIB_IO_NBDKIT_SRP_SESSION_H

#include <pthread.h>
#include "base/list.h"
#include "io/nbdkit/srp_connection.h"
#include "io/nbdkit/transfer_buffers.h"

struct session_task;

struct srp_session {
	struct srp_target_text target;
	int timeout_ms; /* of a login, and of a command */
	struct transfer_buffers buffers;
	pthread_t thread;
	int wake_file; /* an eventfd */
	pthread_mutex_t mutex;
	/* Under the mutex. */
	struct list submitted; /* tasks, oldest first */
	bool is_asleep;	       /* the thread waits for wake_file */
	bool is_ending;
	uint32_t caller_count; /* threads in srp_session_command() */
	pthread_cond_t callers_left;
	time_ns closing_since; /* the thread closes a channel; 0: it does not */
	/* The thread's own. */
	bool is_open;
	time_ns next_try; /* to open a channel */
	struct srp_connection connection;
	struct srp_initiator initiator;
	struct session_task *tasks[SRP_INITIATOR_REQUESTS_MAX];
};

/* Data of a command, in memory of the caller: at most TRANSFER_BUFFER_BYTES. */
struct session_data {
	uint8_t *bytes;
	uint32_t byte_count;
};

/* Connects, and starts the thread. Returns 0 or a negative errno; *ret_problem says why. */
MUST_USE int srp_session_open(struct srp_session *session, const struct srp_target_text *target,
			      int timeout_ms, const char **ret_problem);
/* Commands under way fail. Nobody begins another one. */
void srp_session_close(struct srp_session *session);

/* Sends a command and waits for its response. If the channel ends meanwhile, the command is sent
 * once more by a new channel: all commands of a disk may be repeated. A command that has no
 * response within the timeout is aborted. Returns 0 or a negative errno.
 *
 * A target that stops in the middle of an access to the buffers keeps the channel from closing
 * until it goes on. Callers then return after the timeout; the session keeps their buffers
 * meanwhile. */
MUST_USE int srp_session_command(struct srp_session *session, const struct srp_request *request,
				 const struct session_data *data,
				 struct srp_response *ret_response);

#endif
