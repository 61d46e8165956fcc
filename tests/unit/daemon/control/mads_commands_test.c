/* SPDX-License-Identifier: Apache-2.0 */
/* Opening ports and registering agents by the control socket: bad requests. Good ones are in
 * unit/runtime/mad_port_test.c. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "ipc/control_socket.h"
#include "unit/daemon/mad_program.h"

static struct mad_program program;
static int control;

static int set_up(void **state)
{
	(void)state;
	mad_programs_start("star:2");
	mad_program_open(&program, "h2");
	control = fixture_connect();
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	close(control);
	mad_program_close(&program);
	mad_programs_stop();
	return 0;
}

static void say_hello(const char *host)
{
	fixture_order(control,
		      "{\"command\":\"hello\",\"version\":%d,\"kind\":\"program\",\"host\":\"%s\"}",
		      PROTOCOL_VERSION, host);
}

/* The errno of the reply; 0 on success. */
static int error_about(int descriptor, const char *text)
{
	json_t *answer = fixture_ask_about(control, descriptor, text);
	int error = (int)json_integer_value(json_object_get(answer, "errno"));

	json_decref(answer);
	return error;
}

static int error_of(const char *text)
{
	return error_about(-1, text);
}

static int register_with(int port, const char *fields)
{
	char text[512];

	snprintf(text, sizeof(text), "{\"command\":\"mad-register\",%s}", fields);
	return error_about(port, text);
}

static const char good[] = "\"class\":10,\"version\":1,\"oui\":0,\"kind\":\"single\","
			   "\"methods_low\":\"0x2\",\"methods_high\":\"0x0\"";

static void test_who_has_not_said_hello_has_no_ports(void **state)
{
	(void)state;
	assert_int_equal(error_of("{\"command\":\"mads\",\"adapter\":\"softib0\",\"port\":1}"),
			 ENODEV);
	assert_int_equal(register_with(program.port, good), EBADF);
}

static void test_ports_that_are_not_there_are_refused(void **state)
{
	static const char *const questions[] = {
		"{\"command\":\"mads\"}",
		"{\"command\":\"mads\",\"adapter\":7,\"port\":1}",
		"{\"command\":\"mads\",\"adapter\":\"softib0\"}",
		"{\"command\":\"mads\",\"adapter\":\"softib0\",\"port\":0}",
		"{\"command\":\"mads\",\"adapter\":\"softib0\",\"port\":-1}",
		"{\"command\":\"mads\",\"adapter\":\"softib0\",\"port\":2}",
		"{\"command\":\"mads\",\"adapter\":\"softib0\",\"port\":4294967297}",
		"{\"command\":\"mads\",\"adapter\":\"softib1\",\"port\":1}",
	};

	(void)state;
	say_hello("h2");
	for (unsigned i = 0; i < ARRAY_COUNT(questions); i++)
		assert_int_equal(error_of(questions[i]), ENODEV);
}

static void test_agents_that_make_no_sense_are_refused(void **state)
{
	static const char *const fields[] = {
		"\"class\":10",
		"\"class\":256,\"version\":1,\"oui\":0,\"kind\":\"single\",\"methods_low\":\"0\","
		"\"methods_high\":\"0\"",
		"\"class\":10,\"version\":-1,\"oui\":0,\"kind\":\"single\",\"methods_low\":\"0\","
		"\"methods_high\":\"0\"",
		"\"class\":10,\"version\":1,\"oui\":0,\"kind\":\"other\",\"methods_low\":\"0\","
		"\"methods_high\":\"0\"",
		"\"class\":10,\"version\":1,\"oui\":0,\"kind\":\"single\",\"methods_low\":\"z\","
		"\"methods_high\":\"0\"",
		"\"class\":10,\"version\":1,\"oui\":16777216,\"kind\":\"single\","
		"\"methods_low\":\"0\",\"methods_high\":\"0\"",
	};

	(void)state;
	say_hello("h2");
	for (unsigned i = 0; i < ARRAY_COUNT(fields); i++)
		assert_int_equal(register_with(program.port, fields[i]), EINVAL);
	assert_int_equal(register_with(program.port, good), 0);
	assert_int_equal(register_with(program.port, good), EBUSY);
}

static void test_a_port_of_another_host_is_none_of_its_business(void **state)
{
	(void)state;
	say_hello("h1");
	assert_int_equal(register_with(program.port, good), EBADF);
	assert_int_equal(register_with(control, good), EBADF);
}

/* The inode of a socket is easily guessed: a client unregistered OpenSM's agents. */
static void test_only_who_has_the_socket_owns_the_agents(void **state)
{
	char text[128];
	struct stat status;
	int file = open("/dev/null", O_RDONLY | O_CLOEXEC);

	(void)state;
	say_hello("h2");
	assert_int_equal(register_with(program.port, good), 0);
	assert_int_equal(fstat(program.port, &status), 0);
	snprintf(text, sizeof(text), "{\"command\":\"mad-unregister\",\"inode\":%llu,\"id\":0}",
		 (unsigned long long)status.st_ino);
	assert_int_equal(error_of(text), EBADF);
	assert_int_equal(error_about(control, text), EBADF);
	assert_int_equal(error_about(file, text), EBADF);
	assert_int_equal(error_about(program.port, text), 0);
	close(file);
}

/* A file that only looks like the socket: a socket file with its inode number, which anybody can
 * make on a tmpfs by making files until the number comes, has the same st_ino and S_ISSOCK, too. */
static void test_a_path_with_the_inode_of_the_socket_is_not_the_socket(void **state)
{
	char path[64];
	struct stat socket_status, file_status;
	int file;

	(void)state;
	say_hello("h2");
	assert_int_equal(register_with(program.port, good), 0);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", program.port);
	file = open(path, O_PATH | O_CLOEXEC);
	assert_int_equal(fstat(program.port, &socket_status), 0);
	assert_int_equal(fstat(file, &file_status), 0);
	assert_int_equal(file_status.st_ino, socket_status.st_ino);
	assert_int_equal(error_about(file, "{\"command\":\"mad-unregister\",\"id\":0}"), EBADF);
	close(file);
}

static void test_what_is_not_registered_cannot_be_unregistered(void **state)
{
	(void)state;
	say_hello("h2");
	assert_int_equal(error_about(program.port, "{\"command\":\"mad-unregister\",\"id\":3}"),
			 EINVAL);
	assert_int_equal(error_about(program.port, "{\"command\":\"mad-unregister\",\"id\":99}"),
			 EINVAL);
	assert_int_equal(error_about(program.port, "{\"command\":\"mad-unregister\"}"), EINVAL);
}

#define COMMANDS_TEST(function) cmocka_unit_test_setup_teardown(function, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		COMMANDS_TEST(test_who_has_not_said_hello_has_no_ports),
		COMMANDS_TEST(test_ports_that_are_not_there_are_refused),
		COMMANDS_TEST(test_agents_that_make_no_sense_are_refused),
		COMMANDS_TEST(test_a_port_of_another_host_is_none_of_its_business),
		COMMANDS_TEST(test_only_who_has_the_socket_owns_the_agents),
		COMMANDS_TEST(test_a_path_with_the_inode_of_the_socket_is_not_the_socket),
		COMMANDS_TEST(test_what_is_not_registered_cannot_be_unregistered),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
