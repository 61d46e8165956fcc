/* SPDX-License-Identifier: Apache-2.0 */
/* The self-test of an I/O controller: every state with every request (management 6.3). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "mgmt/agents/io_diagnostics.h"
#include "wire/device_management.h"

static struct io_diagnostics test_in(enum io_test_state wanted)
{
	struct io_diagnostics test;

	io_diagnostics_init(&test);
	if (wanted == IO_TEST_IDLE)
		return test;
	assert_int_equal(io_diagnostics_prepare(&test, 0), MAD_STATUS_OK);
	if (wanted == IO_TEST_PREPARING)
		return test;
	assert_true(io_diagnostics_run(&test, IO_TEST_PREPARE_TIME));
	if (wanted != IO_TEST_READY)
		assert_int_equal(io_diagnostics_start(&test, IO_TEST_PREPARE_TIME, wanted),
				 MAD_STATUS_OK);
	return test;
}

static void test_every_request_in_every_state(void **state)
{
	enum { OK = MAD_STATUS_OK, BUSY = MAD_STATUS_BUSY, BAD = MAD_STATUS_BAD_FIELD };
	static const struct {
		int prepare, once, loop, is_prepared, code;
	} expected[] = {
		[IO_TEST_IDLE] = {OK, BAD, BAD, BUSY, OK},
		[IO_TEST_PREPARING] = {OK, BUSY, BUSY, BUSY, OK},
		[IO_TEST_READY] = {OK, OK, OK, OK, OK},
		[IO_TEST_ONCE] = {BUSY, OK, BUSY, BUSY, BUSY},
		[IO_TEST_LOOP] = {OK, BUSY, OK, BUSY, OK},
	};

	(void)state;
	for (unsigned from = IO_TEST_IDLE; from <= IO_TEST_LOOP; from++) {
		struct io_diagnostics test = test_in((enum io_test_state)from);
		uint16_t code;

		assert_int_equal(test.state, from);
		assert_int_equal(io_diagnostics_is_prepared(&test), expected[from].is_prepared);
		assert_int_equal(io_diagnostics_code(&test, &code), expected[from].code);
		assert_int_equal(io_diagnostics_prepare(&test, 0), expected[from].prepare);
		test = test_in((enum io_test_state)from);
		assert_int_equal(io_diagnostics_start(&test, 0, IO_TEST_ONCE), expected[from].once);
		test = test_in((enum io_test_state)from);
		assert_int_equal(io_diagnostics_start(&test, 0, IO_TEST_LOOP), expected[from].loop);
	}
}

static void test_a_test_takes_its_time_and_ends_with_its_code(void **state)
{
	struct io_diagnostics test = test_in(IO_TEST_ONCE);
	time_ns end = IO_TEST_PREPARE_TIME + IO_TEST_RUN_TIME;
	uint16_t code = 1;

	(void)state;
	assert_true(MILLISECONDS(IO_TEST_TIME_MAX_MS) >= end);
	test.next_outcome = 0x17;
	assert_int_equal(test.due_at, end);
	assert_false(io_diagnostics_run(&test, end - 1));
	assert_int_equal(io_diagnostics_code(&test, &code), MAD_STATUS_BUSY);
	assert_false(io_diagnostics_run(&test, end));
	assert_int_equal(io_diagnostics_code(&test, &code), MAD_STATUS_OK);
	assert_int_equal(code, 0x17);
	assert_int_equal(test.due_at, TIME_NEVER);
	assert_int_equal(test.state, IO_TEST_IDLE);
}

static void test_a_loop_goes_on_until_it_fails_or_is_prepared_anew(void **state)
{
	struct io_diagnostics test = test_in(IO_TEST_LOOP);
	uint16_t code;

	(void)state;
	for (unsigned round = 0; round < 5; round++) {
		assert_false(io_diagnostics_run(&test, test.due_at));
		assert_int_equal(test.state, IO_TEST_LOOP);
	}
	test.next_outcome = 3;
	assert_false(io_diagnostics_run(&test, test.due_at));
	assert_int_equal(test.state, IO_TEST_IDLE);
	assert_int_equal(io_diagnostics_code(&test, &code), MAD_STATUS_OK);
	assert_int_equal(code, 3);
	test = test_in(IO_TEST_LOOP);
	assert_int_equal(io_diagnostics_prepare(&test, 0), MAD_STATUS_OK);
	assert_int_equal(test.state, IO_TEST_PREPARING);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_every_request_in_every_state),
		cmocka_unit_test(test_a_test_takes_its_time_and_ends_with_its_code),
		cmocka_unit_test(test_a_loop_goes_on_until_it_fails_or_is_prepared_anew),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
