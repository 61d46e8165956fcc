/* SPDX-License-Identifier: Apache-2.0 */
/* The connection of this process to its fabric. */
#include "runtime/session.h"

#include <errno.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "runtime/process_runtime.h"
#include "runtime/softibd_connection.h"
#include "ipc/protocol.h"
#include "runtime/rma/rkey_export.h"

enum {
	ASK_TIMEOUT_MS = 30000,
	LAUNCH_TIMEOUT_MS = 30000,
	ACTIVE_TIMEOUT_MS = 10000,
	CONNECT_ATTEMPTS = 3,
};

static const char *const embedded_default[] = {"--ephemeral", "--hosts", "2", NULL};

static pthread_mutex_t current_mutex = PTHREAD_MUTEX_INITIALIZER;
/* Under current_mutex. */
static struct session *current;
static struct session *retired; /* those of softibds that have ended */
static bool handles_fork;

__attribute__((format(printf, 1, 2))) static void complain(const char *format, ...)
{
	va_list arguments;

	if (!getenv("SOFTIB_LOG"))
		return;
	va_start(arguments, format);
	fputs("softib: ", stderr);
	vfprintf(stderr, format, arguments);
	fputc('\n', stderr);
	va_end(arguments);
}

/* softibd answers in order: what comes first is for those who have given up waiting. */
static int skip_late_answers(struct session *session)
{
	struct control_message late;

	while (session->unanswered_count) {
		int error = control_receive(session->control, session->ask_timeout_ms, &late);

		if (error)
			return error;
		control_message_release(&late);
		session->unanswered_count--;
	}
	return 0;
}

static int exchange(struct session *session, const char *text, int descriptor,
		    struct control_message *ret_message)
{
	int error = session->control < 0 ? -ENODEV : skip_late_answers(session);

	if (error)
		return error;
	error = control_ask_about(session->control, text, descriptor, session->ask_timeout_ms,
				  ret_message);
	if (error == -ETIMEDOUT)
		session->unanswered_count++;
	return error;
}

static int ask(struct session *session, const char *text, int descriptor, json_t **ret_answer,
	       struct control_message *ret_message)
{
	json_error_t place;

	pthread_mutex_lock(&session->asking);

	int error = exchange(session, text, descriptor, ret_message);

	pthread_mutex_unlock(&session->asking);
	if (error)
		return error;

	json_t *answer = json_loadb(ret_message->text, ret_message->byte_count, 0, &place);

	if (answer && json_is_true(json_object_get(answer, "ok"))) {
		*ret_answer = answer;
		return 0;
	}

	json_int_t number = json_integer_value(json_object_get(answer, "errno"));
	const char *reason = json_string_value(json_object_get(answer, "error"));

	error = !answer || number <= 0 || number > 4095 ? -EPROTO : -(int)number;
	complain("softibd refuses %s: %s", text, reason ? reason : "no reason given");
	json_decref(answer);
	control_message_release(ret_message);
	return error;
}

int session_ask(struct session *session, const char *text, json_t **ret_answer,
		struct control_message *ret_message)
{
	return ask(session, text, -1, ret_answer, ret_message);
}

int session_ask_plain(struct session *session, const char *text, json_t **ret_answer)
{
	return session_ask_about(session, text, -1, ret_answer);
}

int session_ask_about(struct session *session, const char *text, int descriptor,
		      json_t **ret_answer)
{
	struct control_message message;
	int error = ask(session, text, descriptor, ret_answer, &message);

	if (!error)
		control_message_release(&message);
	return error;
}

int answer_number(const json_t *answer, const char *name, uint64_t *ret_number)
{
	const json_t *value = json_object_get(answer, name);

	if (!json_is_integer(value) || json_integer_value(value) < 0)
		return -EPROTO;
	*ret_number = (uint64_t)json_integer_value(value);
	return 0;
}

static int launch_default(const char *fabric)
{
	char reason[256];
	const struct launch_options options = {
		.fabric = fabric,
		.arguments = embedded_default,
		.timeout_ms = LAUNCH_TIMEOUT_MS,
		.reason = reason,
		.reason_bytes = sizeof(reason),
	};
	int error = fabric_launch(&options);

	if (error)
		complain("no fabric \"%s\", and none could be started: %s", fabric,
			 *reason ? reason : strerror(-error));
	return error;
}

static int connect_to(const char *fabric, bool *ret_was_launched)
{
	const char *socket = getenv("SOFTIB_SOCKET");

	*ret_was_launched = false;
	/* A launcher that names the socket means a fabric that runs. */
	if (socket && *socket)
		return control_connect_path(socket);

	int control = control_connect(fabric);

	if (control != -ENOENT && control != -ECONNREFUSED)
		return control;

	int error = launch_default(fabric);

	if (error)
		return error;
	*ret_was_launched = true;
	control = control_connect(fabric);
	/* The fabric came and went: treat it as one that no longer listens. */
	return control == -ENOENT ? -ECONNREFUSED : control;
}

/* A program that starts a fabric by using it expects its ports to work. A fabric that takes too
 * long is used as it is. */
static void wait_until_active(struct session *session)
{
	json_t *answer;
	char text[64];

	snprintf(text, sizeof(text), "{\"command\":\"wait-active\",\"timeout_ms\":%d}",
		 ACTIVE_TIMEOUT_MS);
	if (session_ask_plain(session, text, &answer) == 0)
		json_decref(answer);
}

static void session_destroy(struct session *session)
{
	if (session->control >= 0)
		close(session->control);
	pthread_mutex_destroy(&session->asking);
	pthread_mutex_destroy(&session->attaching);
	free(session);
}

static int session_create(struct session **ret_session)
{
	const char *fabric = getenv("SOFTIB_FABRIC");
	struct session *session = calloc(1, sizeof(*session));
	bool was_launched;

	if (!session)
		return -ENOMEM;
	if (!fabric || !*fabric)
		fabric = "default";
	pthread_mutex_init(&session->asking, NULL);
	pthread_mutex_init(&session->attaching, NULL);
	session->ask_timeout_ms = ASK_TIMEOUT_MS;
	session->control = connect_to(fabric, &was_launched);

	int error = session->control < 0 ? session->control : session_say_hello(session);

	if (error) {
		session_destroy(session);
		return error;
	}
	if (was_launched)
		wait_until_active(session);
	snprintf(session->fabric, sizeof(session->fabric), "%s", fabric);
	*ret_session = session;
	return 0;
}

static void replace_control(struct session *session, int control)
{
	pthread_mutex_lock(&session->asking);
	if (session->control >= 0)
		close(session->control);
	session->control = control;
	session->unanswered_count = 0;
	pthread_mutex_unlock(&session->asking);
}

void session_hang_up(struct session *session)
{
	/* The child of a fork has nothing to give up, and nothing to come back to. */
	if (session->control < 0)
		return;
	replace_control(session, -1);
	session->is_spent = true;
}

int session_reconnect(struct session *session)
{
	bool was_launched;
	json_t *answer;

	if (!session->is_spent)
		return 0;

	int control = connect_to(session->fabric, &was_launched);

	if (control < 0)
		return control;
	replace_control(session, control);

	int error = session_ask_hello(session, &answer);

	if (error) {
		replace_control(session, -1);
		return error;
	}
	/* The host and its adapters are the same as before. */
	json_decref(answer);
	session->is_spent = false;
	if (was_launched)
		wait_until_active(session);
	return 0;
}

/* Another thread may attach between the two handlers, so the handlers remember which runtime they
 * locked. Under current_mutex. */
static struct process_runtime *locked_for_fork;

static void before_fork(void)
{
	pthread_mutex_lock(&current_mutex);
	locked_for_fork = current ? __atomic_load_n(&current->runtime, __ATOMIC_ACQUIRE) : NULL;
	if (locked_for_fork)
		runtime_lock(locked_for_fork);
	/* The child gets copies of the shared pages, as of all memory. */
	if (locked_for_fork)
		rkey_export_end_sharing(locked_for_fork);
}

static void after_fork_in_parent(void)
{
	if (locked_for_fork)
		runtime_unlock(locked_for_fork);
	pthread_mutex_unlock(&current_mutex);
}

/* The queue pairs are the parent's. The child closes its copy of the socket, so that softibd
 * notices when the parent dies; the child may connect for itself. The memory stays, since the child
 * may hold pointers into it. */
static void after_fork_in_child(void)
{
	if (current) {
		if (current->runtime)
			runtime_abandon(current->runtime);
		close(current->control);
		current->control = -1;
		pthread_mutex_init(&current->asking, NULL);
		pthread_mutex_init(&current->attaching, NULL);
	}
	current = NULL;
	pthread_mutex_unlock(&current_mutex);
}

static bool is_hung_up(int control)
{
	struct pollfd ready = {.fd = control, .events = POLLRDHUP};

	return control >= 0 && poll(&ready, 1, 0) > 0;
}

/* softibd has ended, and the program has closed all adapters: it may attach to the next softibd. A
 * kernel's adapter that comes back is used in the same way: close, list, open. */
static bool is_over(struct session *session)
{
	bool is_over;

	if (!is_hung_up(session->control))
		return false;
	pthread_mutex_lock(&session->attaching);
	is_over = !session->runtime || !runtime_has_open_adapters(session->runtime);
	pthread_mutex_unlock(&session->attaching);
	return is_over;
}

/* Its memory stays, since other threads may be on their way into it; they find nothing there that
 * works. */
static void retire(struct session *session)
{
	pthread_mutex_lock(&session->attaching);
	replace_control(session, -1);
	if (session->runtime)
		runtime_retire(session->runtime);
	session->is_retired = true;
	pthread_mutex_unlock(&session->attaching);
	session->previous = retired;
	retired = session;
}

int session_get(struct session **ret_session)
{
	int error = 0;

	pthread_mutex_lock(&current_mutex);
	if (current && is_over(current)) {
		retire(current);
		current = NULL;
	}
	/* The first softibd may have been about to exit when we connected. */
	for (int attempt = 0; !current && attempt < CONNECT_ATTEMPTS; attempt++) {
		error = session_create(&current);
		if (error != -ECONNRESET && error != -ECONNREFUSED)
			break;
	}
	if (!error && !handles_fork)
		handles_fork =
			pthread_atfork(before_fork, after_fork_in_parent, after_fork_in_child) == 0;
	if (!error)
		*ret_session = current;
	pthread_mutex_unlock(&current_mutex);
	return error;
}

bool session_has_ended(void)
{
	pthread_mutex_lock(&current_mutex);

	bool has_ended = current && is_hung_up(current->control);

	pthread_mutex_unlock(&current_mutex);
	return has_ended;
}

unsigned session_adapter_count(const struct session *session)
{
	return session->adapter_count;
}

const struct adapter_description *session_adapter(const struct session *session, unsigned index)
{
	return index < session->adapter_count ? &session->adapters[index] : NULL;
}

const char *session_tree(const struct session *session)
{
	return session->tree;
}
