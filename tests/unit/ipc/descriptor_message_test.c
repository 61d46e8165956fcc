/* SPDX-License-Identifier: Apache-2.0 */
/* Descriptors with messages: they arrive as the same file, and none is left open. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <fcntl.h>
#include <unistd.h>
#include "ipc/descriptor_message.h"

enum { SENT_MAX = 2 };

static int sockets[2], files[2];

static int begin(void **state)
{
	(void)state;
	assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET, 0, sockets), 0);
	assert_int_equal(pipe(files), 0);
	return 0;
}

static int end(void **state)
{
	(void)state;
	for (unsigned i = 0; i < 2; i++) {
		close(sockets[i]);
		close(files[i]);
	}
	return 0;
}

/* The lowest number that a new descriptor would get. */
static int next_descriptor(void)
{
	int descriptor = dup(files[0]);

	close(descriptor);
	return descriptor;
}

static void send_files(unsigned count)
{
	_Alignas(struct cmsghdr) char room[CMSG_SPACE(sizeof(int) * SENT_MAX)];
	char byte = 'x';
	struct iovec piece = {&byte, 1};
	struct msghdr message = {.msg_iov = &piece, .msg_iovlen = 1};

	if (count)
		descriptors_attach(&message, room, files, count);
	assert_int_equal(sendmsg(sockets[0], &message, 0), 1);
}

/* Into a room for one descriptor. */
static unsigned receive(int *ret_descriptor)
{
	union descriptor_room room;
	char byte;
	struct iovec piece = {&byte, 1};
	struct msghdr message = {.msg_iov = &piece,
				 .msg_iovlen = 1,
				 .msg_control = &room,
				 .msg_controllen = sizeof(room)};

	assert_int_equal(recvmsg(sockets[1], &message, MSG_CMSG_CLOEXEC), 1);
	return descriptors_take(&message, 1, ret_descriptor);
}

static void test_descriptor_arrives_as_the_same_file(void **state)
{
	char byte = 0;
	int descriptor;

	(void)state;
	send_files(1);
	assert_int_equal(receive(&descriptor), 1);
	assert_int_equal(write(files[1], "y", 1), 1);
	assert_int_equal(read(descriptor, &byte, 1), 1);
	assert_int_equal(byte, 'y');
	close(descriptor);
}

static void test_message_without_one_has_none(void **state)
{
	int descriptor = -1;

	(void)state;
	send_files(0);
	assert_int_equal(receive(&descriptor), 0);
	assert_int_equal(descriptor, -1);
}

/* Two fit into the padded room of one. */
static void test_descriptor_too_many_is_closed(void **state)
{
	int next = next_descriptor(), descriptor;

	(void)state;
	send_files(2);
	assert_int_equal(receive(&descriptor), 1);
	close(descriptor);
	assert_int_equal(next_descriptor(), next);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_descriptor_arrives_as_the_same_file, begin,
						end),
		cmocka_unit_test_setup_teardown(test_message_without_one_has_none, begin, end),
		cmocka_unit_test_setup_teardown(test_descriptor_too_many_is_closed, begin, end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
