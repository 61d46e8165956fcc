/* SPDX-License-Identifier: Apache-2.0 */
/* Starting the real softibd: once, by many at a time, and when it refuses. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include <dirent.h>
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "ipc/control_socket.h"
#include "ipc/protocol.h"

enum { TIMEOUT_MS = 60000, LAUNCHERS = 4 };

static char runtime[64];

static int setup(void **state)
{
	(void)state;
	snprintf(runtime, sizeof(runtime), "/tmp/softib-test-XXXXXX");
	return mkdtemp(runtime) ? setenv("SOFTIB_RUNTIME_DIR", runtime, 1) : -1;
}

static int teardown(void **state)
{
	char command[96];

	(void)state;
	snprintf(command, sizeof(command), "rm -rf %s", runtime);
	return system(command);
}

static void require_softibd(void)
{
	char path[CONTROL_PATH_BYTES];

	if (program_path("softibd", path) != 0)
		skip();
}

static unsigned entries_left(void)
{
	DIR *folder = opendir(runtime);
	unsigned count = 0;

	assert_non_null(folder);
	while (readdir(folder))
		count++;
	closedir(folder);
	return count - 2; /* . and .. */
}

/* Waits for the hang-up that ends softibd. */
static void take_down(const char *fabric)
{
	struct control_message answer;
	int control = control_connect_operator(fabric);
	char hello[64];

	assert_true(control >= 0);
	snprintf(hello, sizeof(hello), "{\"command\":\"hello\",\"version\":%d,\"kind\":\"tool\"}",
		 PROTOCOL_VERSION);
	assert_int_equal(control_ask(control, hello, TIMEOUT_MS, &answer), 0);
	control_message_release(&answer);
	assert_int_equal(control_send(control, "{\"command\":\"down\"}", NULL, 0), 0);
	while (control_receive(control, TIMEOUT_MS, &answer) == 0)
		control_message_release(&answer);
	close(control);
}

static void test_second_launch_finds_the_first(void **state)
{
	static const char *const arguments[] = {"--hosts", "2", NULL};
	struct launch_options options = {.fabric = "one",
					 .arguments = arguments,
					 .timeout_ms = TIMEOUT_MS,
					 .must_be_new = true};

	(void)state;
	require_softibd();
	assert_int_equal(fabric_launch(&options), 0);
	assert_int_equal(fabric_launch(&options), -EEXIST);
	options.must_be_new = false;
	assert_int_equal(fabric_launch(&options), 0);
	assert_int_equal(entries_left(), 1); /* the fabric's folder, no lock file */
	take_down("one");
}

static void test_refusal_comes_with_its_reason(void **state)
{
	static const char *const arguments[] = {"--topology", "/nonexistent/file", NULL};
	char reason[256] = "";
	struct launch_options options = {
		.fabric = "bad",
		.arguments = arguments,
		.timeout_ms = TIMEOUT_MS,
		.reason = reason,
		.reason_bytes = sizeof(reason),
	};

	(void)state;
	require_softibd();
	assert_int_equal(fabric_launch(&options), -EIO);
	assert_non_null(strstr(reason, "/nonexistent/file"));
	assert_int_equal(entries_left(), 0);
}

static void test_bad_name_starts_nothing(void **state)
{
	struct launch_options options = {.fabric = "../evil", .timeout_ms = TIMEOUT_MS};

	(void)state;
	assert_int_equal(fabric_launch(&options), -EINVAL);
	assert_int_equal(entries_left(), 0);
}

static void *launch_new(void *context)
{
	struct launch_options options = {
		.fabric = "race", .timeout_ms = TIMEOUT_MS, .must_be_new = true};
	int *result = context;

	*result = fabric_launch(&options);
	return NULL;
}

static void test_only_one_of_many_launchers_starts_it(void **state)
{
	pthread_t threads[LAUNCHERS];
	int results[LAUNCHERS];
	unsigned started = 0;

	(void)state;
	require_softibd();
	for (unsigned i = 0; i < LAUNCHERS; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, launch_new, &results[i]), 0);
	for (unsigned i = 0; i < LAUNCHERS; i++) {
		pthread_join(threads[i], NULL);
		started += results[i] == 0;
		assert_true(results[i] == 0 || results[i] == -EEXIST);
	}
	assert_int_equal(started, 1);
	take_down("race");
}

#define launch_test(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		launch_test(test_second_launch_finds_the_first),
		launch_test(test_refusal_comes_with_its_reason),
		launch_test(test_bad_name_starts_nothing),
		launch_test(test_only_one_of_many_launchers_starts_it),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
