/* SPDX-License-Identifier: Apache-2.0 */
/* The session: one per process, and what it tells about the host.
 * Covers: runtime/hello.c */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>
#include "runtime/softibd_connection.h"
#include "unit/runtime/runtime_pair.h"

static void test_session_describes_the_host(void **state)
{
	struct session *again;

	(void)state;
	assert_int_equal(session_get(&again), 0);
	assert_ptr_equal(pair.session, again);
	assert_int_equal(session_adapter_count(pair.session), FAKE_ADAPTERS);

	const struct adapter_description *description = session_adapter(pair.session, 1);

	assert_string_equal(description->name, "softib1");
	assert_string_equal(description->device_name, "uverbs1");
	assert_true(description->node_guid == 0x025f1b0100010100u);
	assert_true(description->system_image_guid == 0x025f1b0100010000u);
	assert_int_equal(description->port_count, 1);
	assert_null(session_adapter(pair.session, 2));
	assert_non_null(strstr(session_tree(pair.session), "/tree"));
}

/* The session is the parent's; the child connects by itself, here to a path where nobody listens.
 */
static void test_child_of_a_fork_needs_a_session_of_its_own(void **state)
{
	pid_t child = fork();
	int status;

	(void)state;
	if (child == 0) {
		struct session *session = NULL;

		setenv("SOFTIB_SOCKET", "/nonexistent/control", 1);
		_exit(session_get(&session) == -ENOENT && !session ? 0 : 1);
	}
	assert_true(child > 0);
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
}

/* softibd has accepted the connection, but its answer finds no free file descriptor here. */
static void test_attaching_that_failed_is_tried_on_a_new_connection(void **state)
{
	struct rlimit before, tight;
	struct adapter *adapter;
	int lowest_free = dup(STDIN_FILENO);

	(void)state;
	close(lowest_free);
	__atomic_store_n(&pair.softibd.accepts_again, 1, __ATOMIC_SEQ_CST);
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
	tight = (struct rlimit){.rlim_cur = (rlim_t)lowest_free + 2, .rlim_max = before.rlim_max};
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &tight), 0);

	int error = adapter_open(pair.session, 0, &pair_owner, &adapter);

	assert_int_equal(setrlimit(RLIMIT_NOFILE, &before), 0);
	assert_int_equal(error, -EMFILE);
	assert_int_equal(adapter_open(pair.session, 0, &pair_owner, &adapter), 0);
	adapter_close(adapter);
}

/* softibd answers in order, so a late answer is not taken for the next question's. */
static void test_a_late_answer_is_not_the_next_questions(void **state)
{
	struct session session = {.asking = PTHREAD_MUTEX_INITIALIZER};
	json_t *answer = NULL;
	int ends[2];

	(void)state;
	assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends), 0);
	session.control = ends[0];
	assert_int_equal(session_ask_plain(&session, "{\"command\":\"first\"}", &answer),
			 -ETIMEDOUT);
	assert_int_equal(session_ask_plain(&session, "{\"command\":\"second\"}", &answer),
			 -ETIMEDOUT);
	assert_int_equal(control_send(ends[1], "{\"ok\":true,\"number\":1}", NULL, 0), 0);
	assert_int_equal(control_send(ends[1], "{\"ok\":true,\"number\":3}", NULL, 0), 0);
	assert_int_equal(session_ask_plain(&session, "{\"command\":\"third\"}", &answer), 0);
	assert_int_equal(json_integer_value(json_object_get(answer, "number")), 3);
	json_decref(answer);
	close(ends[0]);
	close(ends[1]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_session_describes_the_host),
		cmocka_unit_test(test_child_of_a_fork_needs_a_session_of_its_own),
		cmocka_unit_test(test_attaching_that_failed_is_tried_on_a_new_connection),
		cmocka_unit_test(test_a_late_answer_is_not_the_next_questions),
	};

	return cmocka_run_group_tests(tests, pair_start_session, pair_end_all);
}
