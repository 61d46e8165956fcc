/* SPDX-License-Identifier: Apache-2.0 */
/* Messages on the socket of an open port: short, long, too long for the reader, and nonsense. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>
#include "ipc/mad_socket.h"

enum { LONG_BYTES = 300000 };

static int ends[2];
static uint8_t *sent, *got;

static unsigned open_descriptors(void)
{
	DIR *folder = opendir("/proc/self/fd");
	unsigned count = 0;

	while (readdir(folder))
		count++;
	closedir(folder);
	return count;
}

static int set_up(void **state)
{
	(void)state;
	sent = malloc(LONG_BYTES);
	got = malloc(LONG_BYTES);
	for (unsigned i = 0; i < LONG_BYTES; i++)
		sent[i] = (uint8_t)(i * 7 + i / 256);
	return socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, ends);
}

static int tear_down(void **state)
{
	(void)state;
	close(ends[0]);
	close(ends[1]);
	free(sent);
	free(got);
	return 0;
}

/* A message with its length, as softibd sends it. */
static void send_message(size_t byte_count)
{
	uint32_t length = (uint32_t)byte_count;

	memcpy(sent + 16, &length, sizeof(length));
	assert_int_equal(mad_socket_send(ends[0], sent, byte_count), 0);
}

static void test_messages_of_every_size_arrive_whole_and_in_order(void **state)
{
	static const size_t sizes[] = {88, 320, 321, 4096, 32768, 32832, 32833, LONG_BYTES, 320};
	unsigned before = open_descriptors();

	(void)state;
	for (unsigned i = 0; i < ARRAY_COUNT(sizes); i++) {
		size_t byte_count = 0;

		send_message(sizes[i]);
		assert_int_equal(mad_socket_read(ends[1], LONG_BYTES, got, &byte_count), 0);
		assert_int_equal(byte_count, sizes[i]);
		assert_memory_equal(got, sent, sizes[i]);
	}
	assert_int_equal(open_descriptors(), before);
}

static void test_softibd_takes_the_same_messages(void **state)
{
	static const size_t sizes[] = {100, 320, 32832, LONG_BYTES};
	static struct mad_arrival arrival;
	unsigned before = open_descriptors();

	(void)state;
	for (unsigned i = 0; i < ARRAY_COUNT(sizes); i++) {
		send_message(sizes[i]);
		assert_int_equal(mad_socket_receive(ends[1], &arrival), 0);
		assert_int_equal(arrival.total_bytes, sizes[i]);
		assert_int_equal(mad_arrival_take(&arrival, got), 0);
		assert_memory_equal(got, sent, sizes[i]);
	}
	assert_int_equal(mad_socket_receive(ends[1], &arrival), -EAGAIN);
	assert_int_equal(open_descriptors(), before);
}

/* As Linux does: the first segment is delivered, the length is reported, and the message stays. */
static void test_a_message_too_long_for_the_buffer_stays(void **state)
{
	static const size_t sizes[] = {321, 5000, LONG_BYTES};

	(void)state;
	for (unsigned i = 0; i < ARRAY_COUNT(sizes); i++) {
		size_t byte_count = 0;

		send_message(sizes[i]);
		memset(got, 0, 320);
		assert_int_equal(mad_socket_read(ends[1], 320, got, &byte_count), -ENOSPC);
		assert_int_equal(byte_count, sizes[i]);
		assert_memory_equal(got, sent, 320);
		assert_int_equal(mad_socket_read(ends[1], byte_count, got, &byte_count), 0);
		assert_memory_equal(got, sent, sizes[i]);
	}
}

static void test_a_buffer_without_room_for_one_mad_is_refused(void **state)
{
	size_t byte_count = 0;

	(void)state;
	send_message(320);
	assert_int_equal(mad_socket_read(ends[1], 319, got, &byte_count), -EINVAL);
	assert_int_equal(mad_socket_read(ends[1], 10, got, &byte_count), -EINVAL);
	assert_int_equal(mad_socket_read(ends[1], 320, got, &byte_count), 0);
	/* A report of 24 bytes asks for no more room than it has. */
	send_message(88);
	assert_int_equal(mad_socket_read(ends[1], 88, got, &byte_count), 0);
	assert_int_equal(byte_count, 88);
}

static void test_an_empty_socket_and_a_hung_up_one_say_so(void **state)
{
	size_t byte_count;

	(void)state;
	assert_int_equal(mad_socket_read(ends[1], 320, got, &byte_count), -EAGAIN);
	send_message(320);
	close(ends[0]);
	/* Messages sent before can still be read. */
	assert_int_equal(mad_socket_read(ends[1], 320, got, &byte_count), 0);
	assert_int_equal(mad_socket_read(ends[1], 320, got, &byte_count), -ECONNRESET);
	assert_int_equal(mad_socket_send(ends[1], sent, 320), -ECONNRESET);
	ends[0] = -1;
}

static void test_a_full_socket_never_blocks(void **state)
{
	int error = 0;

	(void)state;
	for (unsigned count = 0; count < 100000 && !error; count++)
		error = mad_socket_send(ends[0], sent, 320);
	assert_int_equal(error, -EAGAIN);
}

static void send_with_files(size_t byte_count, const int *files, unsigned file_count)
{
	_Alignas(struct cmsghdr) char ancillary[CMSG_SPACE(2 * sizeof(int))] = {0};
	struct iovec part = {.iov_base = sent, .iov_len = byte_count};
	struct msghdr message = {.msg_iov = &part,
				 .msg_iovlen = 1,
				 .msg_control = ancillary,
				 .msg_controllen = CMSG_SPACE(file_count * sizeof(int))};
	struct cmsghdr *header = CMSG_FIRSTHDR(&message);

	header->cmsg_level = SOL_SOCKET;
	header->cmsg_type = SCM_RIGHTS;
	header->cmsg_len = CMSG_LEN(file_count * sizeof(int));
	memcpy(CMSG_DATA(header), files, file_count * sizeof(int));
	assert_true(sendmsg(ends[0], &message, 0) >= 0);
}

/* A pipe without a writer, a file that can shrink, a file of another size, a device: none of them
 * is read. */
static void test_files_that_could_fail_the_reader_are_refused(void **state)
{
	static struct mad_arrival arrival;
	unsigned before = open_descriptors();
	uint32_t length = 5000;
	int pipes[2];
	int growing = memfd_create("test", MFD_ALLOW_SEALING);
	int sealed = memfd_create("test", MFD_ALLOW_SEALING);
	int zero = open("/dev/zero", O_RDONLY);

	(void)state;
	assert_int_equal(pipe(pipes), 0);
	assert_int_equal(ftruncate(growing, length), 0);
	assert_int_equal(ftruncate(sealed, length - 1), 0);
	assert_int_equal(fcntl(sealed, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW), 0);
	memcpy(sent + 16, &length, sizeof(length));

	const int files[] = {pipes[0], growing, sealed, zero, ends[1]};

	for (unsigned i = 0; i < ARRAY_COUNT(files); i++) {
		send_with_files(320, &files[i], 1);
		assert_int_equal(mad_socket_receive(ends[1], &arrival), -EPROTO);
	}
	/* More descriptors than a message can use. */
	send_with_files(320, files, 2);
	assert_int_equal(mad_socket_receive(ends[1], &arrival), -EPROTO);
	close(pipes[0]);
	close(pipes[1]);
	close(growing);
	close(sealed);
	close(zero);
	assert_int_equal(open_descriptors(), before);
}

/* As for a reader that has as many descriptors as it may have: the message is not taken for its
 * first segment. */
static void test_a_long_message_without_a_descriptor_for_its_file_is_refused(void **state)
{
	static struct mad_arrival arrival;
	struct rlimit before, full;
	int next;

	(void)state;
	send_message(LONG_BYTES);
	send_message(100);
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
	next = dup(ends[0]);
	close(next);
	full = before;
	full.rlim_cur = (rlim_t)next;
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &full), 0);

	int error = mad_socket_receive(ends[1], &arrival);

	assert_int_equal(setrlimit(RLIMIT_NOFILE, &before), 0);
	assert_int_equal(error, -EMFILE);
	assert_memory_equal(arrival.bytes, sent, MAD_PORT_HEADER_BYTES - 48);
	assert_int_equal(mad_socket_receive(ends[1], &arrival), 0);
	assert_int_equal(arrival.total_bytes, 100);
}

static void test_less_than_a_header_is_no_message(void **state)
{
	static struct mad_arrival arrival;

	(void)state;
	assert_int_equal(mad_socket_send(ends[0], sent, 63), -EMSGSIZE);
	assert_int_equal(send(ends[0], sent, 63, 0), 63);
	assert_int_equal(mad_socket_receive(ends[1], &arrival), -EPROTO);
	assert_int_equal(mad_socket_receive(ends[1], &arrival), -EAGAIN);
}

#define SOCKET_TEST(function) cmocka_unit_test_setup_teardown(function, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		SOCKET_TEST(test_messages_of_every_size_arrive_whole_and_in_order),
		SOCKET_TEST(test_softibd_takes_the_same_messages),
		SOCKET_TEST(test_a_message_too_long_for_the_buffer_stays),
		SOCKET_TEST(test_a_buffer_without_room_for_one_mad_is_refused),
		SOCKET_TEST(test_an_empty_socket_and_a_hung_up_one_say_so),
		SOCKET_TEST(test_a_full_socket_never_blocks),
		SOCKET_TEST(test_files_that_could_fail_the_reader_are_refused),
		SOCKET_TEST(test_a_long_message_without_a_descriptor_for_its_file_is_refused),
		SOCKET_TEST(test_less_than_a_header_is_no_message),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
