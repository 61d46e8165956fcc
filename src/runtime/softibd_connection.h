/* SPDX-License-Identifier: Apache-2.0 */
/* The inside of a session (runtime/session.h): the control socket, and the questions that the
 * runtime asks softibd on it (ipc/protocol.h). */
#ifndef SOFTIB_RUNTIME_SOFTIBD_CONNECTION_H
#define SOFTIB_RUNTIME_SOFTIBD_CONNECTION_H

#include <jansson.h>
#include <pthread.h>
#include <stdbool.h>
#include "base/attributes.h"
#include "ipc/control_socket.h"
#include "runtime/adapter_description.h"

struct process_runtime;

struct session {
	int control;
	pthread_mutex_t asking; /* one question at a time; covers unanswered_count */
	int ask_timeout_ms;
	unsigned unanswered_count; /* questions whose answers came too late, or not yet */
	char fabric[SESSION_NAME_BYTES];
	char host[SESSION_NAME_BYTES];
	char tree[SESSION_PATH_BYTES];
	bool is_privileged; /* may give queue pairs controlled Q_Keys */
	unsigned adapter_count;
	struct adapter_description adapters[SESSION_ADAPTERS_MAX];
	pthread_mutex_t attaching;
	bool is_spent;			 /* after session_hang_up; under attaching */
	bool is_retired;		 /* softibd has ended, and there is a later session */
	struct process_runtime *runtime; /* NULL until the first adapter is opened */
	struct session *previous;	 /* the one retired before this one */
};

/* Asks and waits. ret_answer is an object with "ok":true and belongs to the caller; descriptors are
 * in ret_message, which the caller releases. On {"ok":false} the answer's errno is returned,
 * negative. */
MUST_USE int session_ask(struct session *session, const char *text, json_t **ret_answer,
			 struct control_message *ret_message);
/* session_ask for answers without descriptors. */
MUST_USE int session_ask_plain(struct session *session, const char *text, json_t **ret_answer);
/* session_ask_plain about a descriptor of ours, which goes with the question. */
MUST_USE int session_ask_about(struct session *session, const char *text, int descriptor,
			       json_t **ret_answer);

/* Says hello as a program of its host, and reads the host's adapters from the answer. */
MUST_USE int session_say_hello(struct session *session);
/* session_say_hello without reading the answer, for a host that is known. The caller owns the
 * answer. */
MUST_USE int session_ask_hello(struct session *session, json_t **ret_answer);

/* softibd attaches a connection only once. If attaching failed half-way (out of descriptors, say),
 * this closes the connection, and the next attempt gets a new one. */
void session_hang_up(struct session *session);
/* Connects again after session_hang_up; otherwise does nothing. */
MUST_USE int session_reconnect(struct session *session);

/* A number in the answer; -EPROTO if it is missing or negative. */
MUST_USE int answer_number(const json_t *answer, const char *name, uint64_t *ret_number);

#endif
