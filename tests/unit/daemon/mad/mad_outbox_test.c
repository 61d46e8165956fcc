/* SPDX-License-Identifier: Apache-2.0 */
/* Messages that wait for a program to read: in order, bounded, gone with the program. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>
#include "daemon/core/limits.h"
#include "daemon/mad/mad_outbox.h"
#include "ipc/mad_socket.h"

static struct accounts accounts;
static struct account *account;
static struct mad_outbox outbox;
static int ends[2];

static int set_up(void **state)
{
	(void)state;
	accounts_init(&accounts);
	account = account_of(&accounts, getpid(), 0);
	assert_non_null(account);
	mad_outbox_init(&outbox, account);
	return socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, ends);
}

static int tear_down(void **state)
{
	(void)state;
	mad_outbox_release(&outbox);
	account_release(account);
	accounts_release(&accounts);
	close(ends[0]);
	close(ends[1]);
	return 0;
}

static int put(uint32_t number)
{
	uint8_t bytes[MAD_PORT_SINGLE_BYTES] = {0};

	memcpy(bytes, &number, sizeof(number));
	return mad_outbox_put(&outbox, ends[0], bytes, sizeof(bytes));
}

/* The number of the next message; UINT32_MAX when there is none. */
static uint32_t next(void)
{
	uint8_t bytes[MAD_PORT_SINGLE_BYTES];
	uint32_t number;
	size_t byte_count;

	if (mad_socket_read(ends[1], sizeof(bytes), bytes, &byte_count) != 0)
		return UINT32_MAX;
	memcpy(&number, bytes, sizeof(number));
	return number;
}

static void test_what_waited_arrives_in_order_and_before_what_came_later(void **state)
{
	uint32_t put_count = 0;
	uint32_t read_count = 0;

	(void)state;
	while (outbox.message_count < 100)
		assert_int_equal(put(put_count++), 0);
	while (read_count < put_count) {
		uint32_t number = next();

		if (number == UINT32_MAX) {
			assert_int_equal(mad_outbox_flush(&outbox, ends[0]), 0);
			continue;
		}
		assert_int_equal(number, read_count);
		/* The new message must not overtake queued ones. */
		if (read_count++ == 10)
			assert_int_equal(put(put_count++), 0);
	}
	assert_int_equal(outbox.message_count, 0);
	assert_int_equal(outbox.byte_count, 0);
	assert_int_equal(outbox.lost_count, 0);
}

static void test_no_more_than_so_many_wait(void **state)
{
	(void)state;
	for (unsigned count = 0; !outbox.lost_count; count++) {
		assert_true(count < 100000);
		assert_int_equal(put(count), 0);
	}
	assert_int_equal(outbox.message_count, MAD_OUTBOX_MESSAGES_MAX);
	assert_int_equal(outbox.byte_count,
			 (size_t)MAD_OUTBOX_MESSAGES_MAX * MAD_PORT_SINGLE_BYTES);
}

static void test_a_reader_that_has_gone_is_told(void **state)
{
	(void)state;
	while (!outbox.message_count)
		assert_int_equal(put(0), 0);
	close(ends[1]);
	ends[1] = -1;
	assert_int_equal(mad_outbox_flush(&outbox, ends[0]), -ECONNRESET);
	mad_outbox_release(&outbox);
	mad_outbox_init(&outbox, account);
	assert_int_equal(put(1), -ECONNRESET);
}

#define OUTBOX_TEST(function) cmocka_unit_test_setup_teardown(function, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		OUTBOX_TEST(test_what_waited_arrives_in_order_and_before_what_came_later),
		OUTBOX_TEST(test_no_more_than_so_many_wait),
		OUTBOX_TEST(test_a_reader_that_has_gone_is_told),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
