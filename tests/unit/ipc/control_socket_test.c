/* SPDX-License-Identifier: Apache-2.0 */
/* The control socket: runtime folders, names, messages with descriptors, and malformed messages. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include <errno.h>
#include <fcntl.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>
#include "ipc/control_socket.h"
#include "ipc/protocol.h"

static char runtime[64];
static int ends[2];

static int setup(void **state)
{
	(void)state;
	snprintf(runtime, sizeof(runtime), "/tmp/softib-test-XXXXXX");
	if (!mkdtemp(runtime) || setenv("SOFTIB_RUNTIME_DIR", runtime, 1) != 0)
		return -1;
	return socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends);
}

static int teardown(void **state)
{
	char command[96];

	(void)state;
	close(ends[0]);
	close(ends[1]);
	snprintf(command, sizeof(command), "rm -rf %s", runtime);
	return system(command);
}

static void test_runtime_directory_is_private(void **state)
{
	char path[CONTROL_PATH_BYTES], inner[96];
	struct stat status;

	(void)state;
	snprintf(inner, sizeof(inner), "%s/new", runtime);
	setenv("SOFTIB_RUNTIME_DIR", inner, 1);
	assert_int_equal(runtime_directory(path), 0);
	assert_string_equal(path, inner);
	assert_int_equal(stat(path, &status), 0);
	assert_int_equal(status.st_mode & 0777, 0700);
}

static void test_runtime_directory_of_somebody_else_is_refused(void **state)
{
	char path[CONTROL_PATH_BYTES];

	(void)state;
	if (geteuid() != 0)
		skip();
	assert_int_equal(chown(runtime, 12345, 12345), 0);
	assert_int_equal(runtime_directory(path), -EPERM);
}

static void test_fabric_names_are_checked(void **state)
{
	static const char *const bad[] = {
		"",    ".",   "..",   ".hidden",
		"a/b", "a b", "a\nb", "123456789012345678901234567890123"};
	static const char *const good[] = {"default", "a", "A-b_c.9",
					   "12345678901234567890123456789012"};
	char path[CONTROL_PATH_BYTES];

	(void)state;
	for (unsigned i = 0; i < ARRAY_COUNT(bad); i++)
		assert_int_equal(fabric_directory(bad[i], path), -EINVAL);
	for (unsigned i = 0; i < ARRAY_COUNT(good); i++)
		assert_int_equal(fabric_directory(good[i], path), 0);
}

static void test_missing_fabric_and_stale_socket_differ(void **state)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	char folder[CONTROL_PATH_BYTES];

	(void)state;
	assert_int_equal(control_connect("nobody"), -ENOENT);
	assert_int_equal(fabric_directory("stale", folder), 0);
	assert_int_equal(mkdir(folder, 0700), 0);
	assert_int_equal(control_connect("stale"), -ENOENT);

	int dead = socket(AF_UNIX, SOCK_SEQPACKET, 0);

	snprintf(address.sun_path, sizeof(address.sun_path), "%.80s/control", folder);
	assert_int_equal(bind(dead, (struct sockaddr *)&address, sizeof(address)), 0);
	close(dead);
	assert_int_equal(control_connect("stale"), -ECONNREFUSED);
	assert_int_equal(control_connect_path(address.sun_path), -ECONNREFUSED);
	assert_int_equal(control_connect_path("control"), -EINVAL);
}

static void test_message_brings_its_descriptors(void **state)
{
	struct control_message message;
	struct stat sent, received;

	(void)state;
	assert_int_equal(control_send(ends[0], "{\"a\":1}", ends, 2), 0);
	assert_int_equal(control_receive(ends[1], 0, &message), 0);
	assert_string_equal(message.text, "{\"a\":1}");
	assert_int_equal(message.byte_count, 7);
	assert_int_equal(message.descriptor_count, 2);
	assert_int_equal(fstat(ends[1], &sent), 0);
	assert_int_equal(fstat(message.descriptors[1], &received), 0);
	assert_int_equal(sent.st_ino, received.st_ino);
	assert_true(fcntl(message.descriptors[0], F_GETFD) & FD_CLOEXEC);

	int closed = message.descriptors[0], kept = message.descriptors[1];

	message.descriptors[1] = -1;
	control_message_release(&message);
	assert_int_equal(fcntl(closed, F_GETFD), -1);
	assert_int_not_equal(fcntl(kept, F_GETFD), -1);
	close(kept);
}

static void test_too_many_descriptors_are_refused_and_closed(void **state)
{
	enum { COUNT = CONTROL_DESCRIPTORS_MAX + 8 };
	_Alignas(struct cmsghdr) char ancillary[CMSG_SPACE(sizeof(int) * COUNT)] = {0};
	struct iovec part = {.iov_base = "x", .iov_len = 1};
	struct msghdr header = {.msg_iov = &part,
				.msg_iovlen = 1,
				.msg_control = ancillary,
				.msg_controllen = sizeof(ancillary)};
	struct cmsghdr *rights = CMSG_FIRSTHDR(&header);
	struct control_message message;
	int next_before = dup(0), next_after;

	(void)state;
	close(next_before);
	rights->cmsg_level = SOL_SOCKET;
	rights->cmsg_type = SCM_RIGHTS;
	rights->cmsg_len = CMSG_LEN(sizeof(int) * COUNT);
	for (unsigned i = 0; i < COUNT; i++)
		memcpy(CMSG_DATA(rights) + i * sizeof(int), &ends[0], sizeof(int));
	assert_int_equal(sendmsg(ends[0], &header, 0), 1);
	assert_int_equal(control_receive(ends[1], 0, &message), -EMSGSIZE);
	next_after = dup(0);
	close(next_after);
	assert_int_equal(next_after, next_before);
}

static void test_oversized_message_is_refused(void **state)
{
	char *text = malloc(CONTROL_MESSAGE_BYTES + 2);
	struct control_message message;

	(void)state;
	memset(text, 'x', CONTROL_MESSAGE_BYTES + 1);
	text[CONTROL_MESSAGE_BYTES + 1] = '\0';
	assert_int_equal(control_send(ends[0], text, NULL, 0), -EMSGSIZE);
	assert_int_equal(send(ends[0], text, CONTROL_MESSAGE_BYTES + 1, 0),
			 CONTROL_MESSAGE_BYTES + 1);
	assert_int_equal(control_receive(ends[1], 0, &message), -EMSGSIZE);
	/* The next message is read as if nothing had happened. */
	text[CONTROL_MESSAGE_BYTES] = '\0';
	assert_int_equal(control_send(ends[0], text, NULL, 0), 0);
	assert_int_equal(control_receive(ends[1], 0, &message), 0);
	assert_int_equal(message.byte_count, CONTROL_MESSAGE_BYTES);
	control_message_release(&message);
	free(text);
}

/* softibd answers short requests when it has hardly any memory left. */
static void test_a_short_message_takes_little_memory(void **state)
{
	struct control_message message;

	(void)state;
	assert_int_equal(control_send(ends[0], "{\"command\":\"status\"}", NULL, 0), 0);
	assert_int_equal(control_receive(ends[1], 0, &message), 0);
	assert_true(malloc_usable_size(message.text) < 256);
	control_message_release(&message);
}

/* The reader has as many descriptors as it may have: it loses this message, and no other. */
static void test_a_message_without_room_for_its_descriptor_is_lost(void **state)
{
	struct control_message message;
	struct rlimit before, full;
	int next = dup(0);

	(void)state;
	close(next);
	assert_int_equal(control_send(ends[0], "{\"a\":1}", ends, 1), 0);
	assert_int_equal(control_send(ends[0], "{\"b\":2}", NULL, 0), 0);
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
	full = before;
	full.rlim_cur = (rlim_t)next;
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &full), 0);

	int error = control_receive(ends[1], 0, &message);

	assert_int_equal(setrlimit(RLIMIT_NOFILE, &before), 0);
	assert_int_equal(error, -EMFILE);
	assert_int_equal(control_receive(ends[1], 0, &message), 0);
	assert_string_equal(message.text, "{\"b\":2}");
	control_message_release(&message);
}

static void test_silence_and_hang_up_are_told_apart(void **state)
{
	struct control_message message;

	(void)state;
	assert_int_equal(control_receive(ends[1], 0, &message), -ETIMEDOUT);
	assert_int_equal(shutdown(ends[0], SHUT_RDWR), 0);
	assert_int_equal(control_receive(ends[1], -1, &message), -ECONNRESET);
	assert_int_equal(control_send(ends[1], "x", NULL, 0), -ECONNRESET);
}

#define control_test(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		control_test(test_runtime_directory_is_private),
		control_test(test_runtime_directory_of_somebody_else_is_refused),
		control_test(test_fabric_names_are_checked),
		control_test(test_missing_fabric_and_stale_socket_differ),
		control_test(test_message_brings_its_descriptors),
		control_test(test_too_many_descriptors_are_refused_and_closed),
		control_test(test_oversized_message_is_refused),
		control_test(test_a_short_message_takes_little_memory),
		control_test(test_a_message_without_room_for_its_descriptor_is_lost),
		control_test(test_silence_and_hang_up_are_told_apart),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
