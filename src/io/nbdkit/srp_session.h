/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Commands of many threads over one SRP channel, which is opened again after it has ended.
 *
 * Of the threads that wait for responses one polls, for all of them; when its own response has
 * come, another one takes over. So a response wakes a thread only where a thread sleeps.
 */
#ifndef SOFTIB_IO_NBDKIT_SRP_SESSION_H
#define SOFTIB_IO_NBDKIT_SRP_SESSION_H

#include <pthread.h>
#include "io/nbdkit/srp_connection.h"

struct session_waiter;

struct srp_session {
	struct srp_target_text target;
	int timeout_ms; /* of a login, and of a command */
	pthread_mutex_t mutex;
	pthread_cond_t
		changed; /* room for a request, a user less, or the channel has ended or is gone */
	pthread_t watcher;
	int watcher_file; /* an eventfd: the channel has ended */
	bool has_watcher; /* to be joined */
	bool is_open;
	bool has_ended; /* is_open, but its users only leave */
	bool has_poller;
	unsigned user_count;
	uint64_t next_try_ns;
	struct srp_connection connection;
	struct srp_initiator initiator;
	struct session_waiter *waiters[SRP_INITIATOR_REQUESTS_MAX];
};

/* Data of a command, in memory of the caller. */
struct session_data {
	uint8_t *bytes;
	uint32_t byte_count;
};

void srp_session_init(struct srp_session *session, const struct srp_target_text *target,
		      int timeout_ms);
/* Nobody uses it any more. */
void srp_session_release(struct srp_session *session);

/* Connects if there is no channel. *ret_problem says why not. */
MUST_USE int srp_session_connect(struct srp_session *session, const char **ret_problem);
/* Sends a command and waits for its response. Where the channel ends meanwhile, the command is sent
 * once more by a new channel: all commands of a disk may be repeated. Returns 0 or a negative
 * errno. */
MUST_USE int srp_session_command(struct srp_session *session, const struct srp_request *request,
				 const struct session_data *data,
				 struct srp_response *ret_response);

#endif
