/* SPDX-License-Identifier: Apache-2.0 */
/* The request for fresh counters, against a daemon of the test's own. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "api/pathshim/refresh.h"

static char folder[] = "/tmp/softib-refresh-test-XXXXXX";
static char socket_path[64];
static int listener = -1;
static char request[256];

static int listen_on_socket(void **state)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};

	(void)state;
	if (!mkdtemp(folder))
		return -1;
	snprintf(socket_path, sizeof(socket_path), "%s/control", folder);
	snprintf(address.sun_path, sizeof(address.sun_path), "%s", socket_path);
	listener = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
	if (bind(listener, (const struct sockaddr *)&address, sizeof(address)))
		return -1;
	return listen(listener, 4);
}

static int close_socket(void **state)
{
	(void)state;
	close(listener);
	unlink(socket_path);
	return rmdir(folder);
}

static void *answer_once(void *unused)
{
	int fd = accept(listener, NULL, NULL);
	ssize_t length = recv(fd, request, sizeof(request) - 1, 0);

	(void)unused;
	request[length < 0 ? 0 : length] = '\0';
	send(fd, "{}", 2, MSG_NOSIGNAL);
	close(fd);
	return NULL;
}

static void test_one_message_names_the_host_and_is_answered(void **state)
{
	pthread_t daemon;

	(void)state;
	assert_int_equal(pthread_create(&daemon, NULL, answer_once, NULL), 0);
	errno = 12345;
	refresh_counters(socket_path, "h1");
	assert_int_equal(errno, 12345);
	pthread_join(daemon, NULL);
	assert_string_equal(request, "{\"command\":\"refresh\",\"host\":\"h1\"}");
}

static void test_nobody_there_is_nobodys_problem(void **state)
{
	(void)state;
	errno = 12345;
	refresh_counters("/nonexistent/control", "h1");
	refresh_counters(NULL, "h1");
	refresh_counters(socket_path, NULL);
	assert_int_equal(errno, 12345);
}

/* A name that would end the string must not become part of the message. */
static void test_a_name_with_quotes_is_never_sent(void **state)
{
	int fd;

	(void)state;
	refresh_counters(socket_path, "h1\",\"x\":\"");
	fcntl(listener, F_SETFL, O_NONBLOCK);
	fd = accept(listener, NULL, NULL);
	assert_int_equal(fd, -1);
	assert_int_equal(errno, EAGAIN);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_one_message_names_the_host_and_is_answered),
		cmocka_unit_test(test_nobody_there_is_nobodys_problem),
		cmocka_unit_test(test_a_name_with_quotes_is_never_sent),
	};

	return cmocka_run_group_tests(tests, listen_on_socket, close_socket);
}
