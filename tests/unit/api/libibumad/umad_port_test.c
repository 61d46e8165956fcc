/* SPDX-License-Identifier: Apache-2.0 */
/* Sending and receiving on a port whose other end is in the test. clients/umad_api.c does it with
 * softibd. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <arpa/inet.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <infiniband/umad.h>

#include "ipc/mad_socket.h"

enum { MAD = 256, LONG_BYTES = 100000, BEYOND_TABLE = 4200 };

static int ends[2]; /* softibd's, the program's */
static uint8_t *umad;

static int set_up(void **state)
{
	(void)state;
	umad = calloc(1, umad_size() + LONG_BYTES);
	return socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, ends);
}

static int tear_down(void **state)
{
	(void)state;
	if (ends[0] >= 0)
		close(ends[0]);
	umad_close_port(ends[1]);
	free(umad);
	return 0;
}

static void tell(uint32_t agent, uint32_t status, size_t mad_bytes)
{
	uint8_t *bytes = calloc(1, MAD_PORT_HEADER_BYTES + mad_bytes);
	const struct mad_port_header header = {
		.agent_id = agent,
		.status = status,
		.byte_count = (uint32_t)(MAD_PORT_HEADER_BYTES + mad_bytes),
		.address = {.lid = 7, .qpn = 1}};

	mad_port_header_encode(&header, bytes);
	for (size_t i = 0; i < mad_bytes; i++)
		bytes[MAD_PORT_HEADER_BYTES + i] = (uint8_t)i;
	assert_int_equal(mad_socket_send(ends[0], bytes, MAD_PORT_HEADER_BYTES + mad_bytes), 0);
	free(bytes);
}

static void test_a_mad_is_received_with_its_agent_and_length(void **state)
{
	int length = MAD;

	(void)state;
	tell(5, 0, MAD);
	assert_int_equal(umad_recv(ends[1], umad, &length, -1), 5);
	assert_int_equal(length, MAD);
	assert_int_equal(umad_status(umad), 0);
	assert_int_equal(umad_get_mad_addr(umad)->lid, htons(7));
	assert_int_equal(((uint8_t *)umad_get_mad(umad))[200], 200);
}

static void test_a_timeout_comes_with_24_bytes(void **state)
{
	int length = MAD;

	(void)state;
	tell(1, ETIMEDOUT, 24);
	assert_int_equal(umad_recv(ends[1], umad, &length, 0), 1);
	assert_int_equal(length, 24);
	assert_int_equal(umad_status(umad), ETIMEDOUT);
}

static void test_a_long_message_waits_for_a_long_buffer(void **state)
{
	int length = MAD;

	(void)state;
	tell(2, 0, LONG_BYTES);
	assert_int_equal(umad_recv(ends[1], umad, &length, 0), -ENOSPC);
	assert_int_equal(errno, ENOSPC);
	assert_int_equal(length, LONG_BYTES);
	assert_int_equal(umad_poll(ends[1], 0), 0);
	assert_int_equal(umad_recv(ends[1], umad, &length, 0), 2);
	assert_int_equal(((uint8_t *)umad_get_mad(umad))[LONG_BYTES - 1],
			 (uint8_t)(LONG_BYTES - 1));
}

static void test_no_message_is_no_error_to_be_confused_with_one(void **state)
{
	int length = MAD;

	(void)state;
	assert_int_equal(umad_recv(ends[1], umad, &length, 0), -EWOULDBLOCK);
	assert_int_equal(errno, EWOULDBLOCK);
	assert_int_equal(umad_recv(ends[1], umad, &length, 1), -ETIMEDOUT);
	assert_int_equal(umad_poll(ends[1], 1), -ETIMEDOUT);
	assert_int_equal(umad_recv(ends[1], NULL, &length, 0), -EINVAL);
	assert_int_equal(umad_recv(ends[1], umad, NULL, 0), -EINVAL);
	length = -1;
	assert_int_equal(umad_recv(ends[1], umad, &length, 0), -EINVAL);
}

static void test_softibds_end_is_an_error_and_not_a_message(void **state)
{
	int length = MAD;

	(void)state;
	tell(3, 0, MAD);
	close(ends[0]);
	ends[0] = -1;
	/* Messages from before the end can be read. */
	assert_int_equal(umad_recv(ends[1], umad, &length, -1), 3);
	assert_int_equal(umad_recv(ends[1], umad, &length, -1), -EIO);
}

static void test_an_agent_that_is_not_registered_sends_nothing(void **state)
{
	(void)state;
	assert_int_equal(umad_send(ends[1], 0, umad, MAD, 0, 0), -EIO);
	assert_int_equal(errno, EINVAL);
	assert_int_equal(umad_send(ends[1], -1, umad, MAD, 0, 0), -EIO);
	assert_int_equal(umad_send(ends[1], 32, umad, MAD, 0, 0), -EIO);
}

/* softibd checks the agent of a port beyond the library's table. */
static void test_what_is_sent_is_what_softibd_reads(void **state)
{
	static struct mad_arrival arrival;
	struct mad_port_header header;
	struct rlimit limit;

	(void)state;
	getrlimit(RLIMIT_NOFILE, &limit);
	if (limit.rlim_max <= BEYOND_TABLE)
		skip();
	limit.rlim_cur = limit.rlim_max;
	setrlimit(RLIMIT_NOFILE, &limit);

	int port = dup2(ends[1], BEYOND_TABLE);

	assert_int_equal(port, BEYOND_TABLE);
	umad_set_addr(umad, 9, 1, 3, (int)0x80010000);
	assert_int_equal(umad_send(port, 6, umad, MAD, 1500, 4), 0);
	assert_int_equal(mad_socket_receive(ends[0], &arrival), 0);
	assert_int_equal(arrival.byte_count, MAD_PORT_SINGLE_BYTES);
	assert_true(mad_port_header_decode(arrival.bytes, arrival.byte_count, &header));
	assert_int_equal(header.agent_id, 6);
	assert_int_equal(header.timeout_ms, 1500);
	assert_int_equal(header.retries, 4);
	assert_int_equal(header.address.lid, 9);
	assert_int_equal(header.address.sl, 3);
	assert_int_equal(header.address.qkey, 0x80010000);
	/* Less than an RMPP header reaches to is no MAD. */
	assert_int_equal(umad_send(port, 6, umad, 35, 0, 0), -EIO);
	assert_int_equal(errno, EINVAL);
	umad_close_port(port);
}

#define PORT_TEST(function) cmocka_unit_test_setup_teardown(function, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		PORT_TEST(test_a_mad_is_received_with_its_agent_and_length),
		PORT_TEST(test_a_timeout_comes_with_24_bytes),
		PORT_TEST(test_a_long_message_waits_for_a_long_buffer),
		PORT_TEST(test_no_message_is_no_error_to_be_confused_with_one),
		PORT_TEST(test_softibds_end_is_an_error_and_not_a_message),
		PORT_TEST(test_an_agent_that_is_not_registered_sends_nothing),
		PORT_TEST(test_what_is_sent_is_what_softibd_reads),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
