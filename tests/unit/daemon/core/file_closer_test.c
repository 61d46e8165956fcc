/* SPDX-License-Identifier: Apache-2.0 */
/* Files whose close() waits for ever: softibd goes on, whichever way they come. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>
#include "ipc/control_socket.h"
#include "ipc/descriptor_message.h"
#include "unit/daemon/cm_connector.h"

enum { FILES_MAX = 20, READERS_MAX = 4, LINGER_SECONDS = 36000 };

static struct daemon *softibd;
static int readers[READERS_MAX]; /* the other ends of the TCP connections */
static unsigned reader_count;

static int set_up(void **state)
{
	(void)state;
	softibd = fixture_start("star:2");
	return 0;
}

static bool has_closed_all(void)
{
	return list_is_empty(&softibd->core.closers.closers);
}

/* A TCP socket with data that its peer does not read; the last close() of it lingers. */
static int lingering_socket(void)
{
	const struct linger linger = {.l_onoff = 1, .l_linger = LINGER_SECONDS};
	struct sockaddr_in address = {.sin_family = AF_INET,
				      .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	socklen_t length = sizeof(address);
	int listener = socket(AF_INET, SOCK_STREAM, 0), writer = socket(AF_INET, SOCK_STREAM, 0);
	static const char bytes[1 << 16];

	assert_int_equal(bind(listener, (struct sockaddr *)&address, length), 0);
	assert_int_equal(listen(listener, 1), 0);
	assert_int_equal(getsockname(listener, (struct sockaddr *)&address, &length), 0);
	assert_int_equal(connect(writer, (struct sockaddr *)&address, length), 0);
	assert_true(reader_count < READERS_MAX);
	readers[reader_count] = accept(listener, NULL, NULL);
	assert_true(readers[reader_count++] >= 0);
	close(listener);
	while (send(writer, bytes, sizeof(bytes), MSG_DONTWAIT) > 0)
		;
	assert_int_equal(setsockopt(writer, SOL_SOCKET, SO_LINGER, &linger, sizeof(linger)), 0);
	return writer;
}

/* Sends the text with so many descriptors of the file. */
static void send_files(int socket, const char *text, int file, unsigned count)
{
	_Alignas(struct cmsghdr) char room[CMSG_SPACE(sizeof(int) * FILES_MAX)];
	struct iovec piece = {(void *)(uintptr_t)text, strlen(text)};
	struct msghdr message = {.msg_iov = &piece, .msg_iovlen = 1};
	int files[FILES_MAX];

	for (unsigned i = 0; i < count; i++)
		files[i] = file;
	descriptors_attach(&message, room, files, count);
	assert_true(sendmsg(socket, &message, MSG_NOSIGNAL) >= 0);
}

/* send_files(); the test has no reference any more, so softibd's is the last. */
static void send_last_files(int socket, const char *text, int file, unsigned count)
{
	send_files(socket, text, file, count);
	close(file);
}

static void expect_softibd_to_go_on(void)
{
	int other = fixture_connect();

	fixture_order(other, "{\"command\":\"status\"}");
	assert_false(has_closed_all());
	/* Unread data: this resets the connection, and close() returns. */
	while (reader_count)
		close(readers[--reader_count]);
	fixture_await(has_closed_all);
	fixture_order(other, "{\"command\":\"status\"}");
	close(other);
	fixture_settle();
	fixture_await(has_closed_all);
	assert_int_equal(softibd->core.accounts.used[LIMIT_DESCRIPTORS], 0);
	assert_int_equal(softibd->core.accounts.by_process.count, 0);
}

static void test_file_with_a_request(void **state)
{
	int client = fixture_connect_program(), file = lingering_socket();

	(void)state;
	send_last_files(client, "{\"command\":\"status\"}", file, 1);
	close(client);
	expect_softibd_to_go_on();
}

/* The kernel closes files for which a receiver has no room. */
static void test_more_files_than_any_request_has(void **state)
{
	int client = fixture_connect_program(), file = lingering_socket();

	(void)state;
	send_last_files(client, "{\"command\":\"status\"}", file, FILES_MAX);
	close(client);
	expect_softibd_to_go_on();
}

/* softibd closes the connection at the first message; the kernel purges the others, empty ones
 * too. */
static void test_files_in_unread_requests(void **state)
{
	int client = fixture_connect_program(), file = lingering_socket();

	(void)state;
	assert_int_equal(send(client, "nonsense", 8, 0), 8);
	assert_int_equal(send(client, "", 0, 0), 0);
	send_last_files(client, "", file, 1);
	fixture_settle();
	close(client);
	expect_softibd_to_go_on();
}

static void test_files_of_a_connection_that_is_refused(void **state)
{
	int client, file = lingering_socket();

	(void)state;
	softibd->core.accounts.process_max[LIMIT_CONNECTIONS] = 0;
	client = control_connect("test");
	assert_true(client >= 0);
	send_last_files(client, "{\"command\":\"status\"}", file, 1);
	fixture_settle();
	softibd->core.accounts.process_max[LIMIT_CONNECTIONS] = 256;
	close(client);
	expect_softibd_to_go_on();
}

static void test_files_with_commands_of_connection_management(void **state)
{
	struct connector connector = connector_open(softibd, "h1");
	int file = lingering_socket();

	(void)state;
	send_files(connector.commands, "nonsense", file, 2);
	send_last_files(connector.commands, "nonsense", file, 2);
	fixture_settle();
	connector_close(&connector);
	expect_softibd_to_go_on();
}

/* softibd never reads this socket. */
static void test_files_on_an_event_channel(void **state)
{
	struct connector connector = connector_open(softibd, "h1");
	int file = lingering_socket();

	(void)state;
	send_last_files(connector.events, "nonsense", file, 1);
	fixture_settle();
	connector_close(&connector);
	expect_softibd_to_go_on();
}

static int connect_to_h1(void)
{
	int client = fixture_connect();

	fixture_order(client,
		      "{\"command\":\"hello\",\"version\":%d,\"kind\":\"program\","
		      "\"host\":\"h1\"}",
		      PROTOCOL_VERSION);
	return client;
}

/* For MADs. */
static int open_port(int client)
{
	struct control_message message;
	int port;

	assert_int_equal(control_send(client,
				      "{\"command\":\"mads\",\"adapter\":\"softib0\","
				      "\"port\":1}",
				      NULL, 0),
			 0);
	fixture_settle();
	assert_int_equal(control_receive(client, 0, &message), 0);
	port = control_message_take(&message, 0);
	control_message_release(&message);
	return port;
}

static void test_files_with_mads(void **state)
{
	int client = connect_to_h1(), file = lingering_socket(), port = open_port(client);

	(void)state;
	send_files(port, "nonsense", file, FILES_MAX);
	send_last_files(port, "nonsense", file, 1);
	fixture_settle();
	close(port);
	close(client);
	expect_softibd_to_go_on();
}

static void register_agent(int client, int port)
{
	json_t *answer = fixture_ask_about(
		client, port,
		"{\"command\":\"mad-register\",\"class\":10,\"version\":1,\"oui\":0,"
		"\"kind\":\"single\",\"methods_low\":\"0x2\",\"methods_high\":\"0x0\"}");

	assert_true(json_is_true(json_object_get(answer, "ok")));
	json_decref(answer);
}

/* The socket of a port that came with a request is closed before the next request, whatever else of
 * the process waits to be closed: a port that its program has closed holds no class. */
static void test_a_port_does_not_wait_behind_other_files(void **state)
{
	int client = connect_to_h1(), port = open_port(client);

	(void)state;
	send_last_files(client, "{\"command\":\"status\"}", lingering_socket(), 1);
	assert_false(fixture_is_cut_off(client));
	register_agent(client, port);
	close(port);
	port = open_port(client);
	register_agent(client, port);
	close(port);
	close(client);
	expect_softibd_to_go_on();
}

/* What can't be closed counts, so a process can't fill softibd's table. */
static void test_a_process_has_so_many_files_that_wait_to_be_closed(void **state)
{
	int client = fixture_connect_program();
	struct accounts *accounts = &softibd->core.accounts;
	const uint32_t process_max = accounts->process_max[LIMIT_DESCRIPTORS];
	bool is_cut_off = false;

	(void)state;
	accounts->process_max[LIMIT_DESCRIPTORS] =
		accounts->used[LIMIT_DESCRIPTORS] + READERS_MAX - 1;
	for (unsigned i = 0; i < READERS_MAX; i++)
		send_last_files(client, "{\"command\":\"status\"}", lingering_socket(), 1);
	/* After the answers. */
	for (unsigned i = 0; i <= READERS_MAX && !is_cut_off; i++)
		is_cut_off = fixture_is_cut_off(client);
	assert_true(is_cut_off);
	assert_int_equal(accounts->used[LIMIT_DESCRIPTORS], READERS_MAX - 1);
	accounts->process_max[LIMIT_DESCRIPTORS] = process_max;
	close(client);
	expect_softibd_to_go_on();
}

#define CLOSER_TEST(function) cmocka_unit_test_setup_teardown(function, set_up, fixture_tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CLOSER_TEST(test_file_with_a_request),
		CLOSER_TEST(test_more_files_than_any_request_has),
		CLOSER_TEST(test_files_in_unread_requests),
		CLOSER_TEST(test_files_of_a_connection_that_is_refused),
		CLOSER_TEST(test_files_with_commands_of_connection_management),
		CLOSER_TEST(test_files_on_an_event_channel),
		CLOSER_TEST(test_files_with_mads),
		CLOSER_TEST(test_a_port_does_not_wait_behind_other_files),
		CLOSER_TEST(test_a_process_has_so_many_files_that_wait_to_be_closed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
