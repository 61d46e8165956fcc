/* SPDX-License-Identifier: Apache-2.0 */
/* Bad packets against thresholds: what is tolerated, what the link recovers from, and what takes it
 * down. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "net/link/port.h"

static void test_threshold_is_what_is_tolerated(void **state)
{
	(void)state;
	for (uint8_t threshold = 0; threshold < 16; threshold++) {
		struct port port = {.info = {.local_phy_errors = threshold}};

		for (unsigned i = 0; i < threshold; i++)
			assert_int_equal(port_note_bad_packet(&port), LINK_ERROR_NONE);
		assert_int_equal(port_note_bad_packet(&port), LINK_ERROR_RECOVER);
		assert_int_equal(port.counters.symbol_errors, threshold + 1);
		assert_int_equal(port.counters.local_link_integrity_errors, 1);
		assert_int_equal(port.counters.link_error_recovery, 1);
	}
}

static void test_link_that_recovery_does_not_help_falls(void **state)
{
	struct port port = {.info = {.local_phy_errors = 2}};
	unsigned recoveries = 0;

	(void)state;
	for (unsigned i = 0; i < 11; i++)
		recoveries += port_note_bad_packet(&port) == LINK_ERROR_RECOVER;
	assert_int_equal(recoveries, 3);
	assert_int_equal(port_note_bad_packet(&port), LINK_ERROR_FALL);
	assert_int_equal(port.counters.link_error_recovery, 3);
	/* Then the count starts at 0 again. */
	assert_int_equal(port_note_bad_packet(&port), LINK_ERROR_NONE);
}

/* One bad packet in ten never reaches the threshold. */
static void test_errors_far_apart_are_tolerated_for_ever(void **state)
{
	struct port port = {.info = {.local_phy_errors = 2}};

	(void)state;
	for (unsigned i = 0; i < 10000; i++) {
		if (i % 10 == 0)
			assert_int_equal(port_note_bad_packet(&port), LINK_ERROR_NONE);
		else
			port_note_good_packet(&port);
	}
	assert_int_equal(port.counters.symbol_errors, 1000);
}

static void test_overruns_count_in_a_row(void **state)
{
	struct port port = {.info = {.overrun_errors = 2}};

	(void)state;
	for (unsigned round = 0; round < 5; round++) {
		assert_int_equal(port_note_overrun(&port), LINK_ERROR_NONE);
		assert_int_equal(port_note_overrun(&port), LINK_ERROR_NONE);
		port_note_good_packet(&port);
	}
	assert_int_equal(port.counters.excessive_buffer_overruns, 0);
	assert_int_equal(port_note_overrun(&port), LINK_ERROR_NONE);
	assert_int_equal(port_note_overrun(&port), LINK_ERROR_NONE);
	assert_int_equal(port_note_overrun(&port), LINK_ERROR_OVERRUN);
	assert_int_equal(port.counters.excessive_buffer_overruns, 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_threshold_is_what_is_tolerated),
		cmocka_unit_test(test_link_that_recovery_does_not_help_falls),
		cmocka_unit_test(test_errors_far_apart_are_tolerated_for_ever),
		cmocka_unit_test(test_overruns_count_in_a_row),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
