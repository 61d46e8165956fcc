/* SPDX-License-Identifier: Apache-2.0 */
/* Doorbells: many processes ring one, one read silences it, and no process can make another's ring
 * block. */
#include "ipc/doorbell.h"

#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

static int rings(int doorbell)
{
	struct pollfd watched = {.fd = doorbell, .events = POLLIN};

	return poll(&watched, 1, 0);
}

static void test_many_rings_are_silenced_together(void **state)
{
	int doorbell = doorbell_make(), copy = doorbell_copy(doorbell);

	(void)state;
	assert_int_equal(rings(doorbell), 0);
	for (int i = 0; i < 1000; i++)
		doorbell_ring(copy);
	assert_int_equal(rings(doorbell), 1);
	doorbell_silence(doorbell);
	assert_int_equal(rings(doorbell), 0);
	close(copy);
	close(doorbell);
}

static void test_holder_that_blocks_and_fills_it_hurts_only_itself(void **state)
{
	int doorbell = doorbell_make(), hostile = doorbell_copy(doorbell);
	uint8_t bytes[4096] = {0};

	(void)state;
	while (write(hostile, bytes, sizeof(bytes)) > 0)
		;
	assert_int_equal(fcntl(hostile, F_SETFL, 0), 0);
	/* Would never return if the flag were shared. */
	doorbell_ring(doorbell);
	doorbell_silence(doorbell);
	assert_int_equal(rings(doorbell), 0);
	close(hostile);
	doorbell_ring(doorbell);
	assert_int_equal(rings(doorbell), 1);
	close(doorbell);
}

/* A holder that rings faster than the owner reads must not keep the owner reading. A longer pipe
 * shows how much one call reads. */
static void test_silencing_ends_however_often_it_rings(void **state)
{
	enum { LONG_PIPE_BYTES = 1 << 20, CALLS_MAX = LONG_PIPE_BYTES / 65536 };
	int doorbell = doorbell_make();
	uint8_t bytes[4096] = {0};

	(void)state;
	assert_true(fcntl(doorbell, F_SETPIPE_SZ, LONG_PIPE_BYTES) >= LONG_PIPE_BYTES);
	while (write(doorbell, bytes, sizeof(bytes)) > 0)
		;
	doorbell_silence(doorbell);
	assert_int_equal(rings(doorbell), 1);
	for (unsigned i = 1; i < CALLS_MAX; i++)
		doorbell_silence(doorbell);
	assert_int_equal(rings(doorbell), 0);
	close(doorbell);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_many_rings_are_silenced_together),
		cmocka_unit_test(test_holder_that_blocks_and_fills_it_hurts_only_itself),
		cmocka_unit_test(test_silencing_ends_however_often_it_rings),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
