/* SPDX-License-Identifier: Apache-2.0 */
/* Frames of a console session: bytes in, values out, and what is no frame. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <string.h>
#include "io/console/console_frame.h"

static const uint8_t good[CONSOLE_FRAME_BYTES_MAX] = {
	1, 0x03, 0, 5, 0x11, 0x22, 0x33, 0x44, 0, 0, 0, 7, 0, 0, 1, 0, 'h', 'e', 'l', 'l', 'o'};

static void test_a_frame_has_its_fields(void **state)
{
	uint8_t bytes[CONSOLE_HEADER_BYTES];
	struct console_frame frame;

	(void)state;
	assert_true(console_frame_read(good, 21, &frame));
	assert_int_equal(frame.version, 1);
	assert_int_equal(frame.ends, 1);
	assert_int_equal(frame.is_sequenced, 1);
	assert_int_equal(frame.text_bytes, 5);
	assert_int_equal(frame.session, 0x11223344);
	assert_int_equal(frame.sequence, 7);
	assert_int_equal(frame.expected, 256);
	console_frame_encode(&frame, bytes);
	assert_memory_equal(bytes, good, sizeof(bytes));
}

static void test_other_bytes_are_no_frame(void **state)
{
	uint8_t bytes[CONSOLE_FRAME_BYTES_MAX + 1];
	struct console_frame frame;

	(void)state;
	memcpy(bytes, good, sizeof(good));
	for (size_t count = 0; count <= sizeof(bytes); count++)
		assert_int_equal(console_frame_read(bytes, count, &frame), count == 21);
	bytes[0] = 2;
	assert_false(console_frame_read(bytes, 21, &frame));
	bytes[0] = 1;
	bytes[1] = 0x02; /* ends without a number */
	assert_false(console_frame_read(bytes, 21, &frame));
	bytes[1] = 0; /* text without a number */
	assert_false(console_frame_read(bytes, 21, &frame));
	bytes[3] = 0;
	assert_true(console_frame_read(bytes, 16, &frame));
	bytes[2] = 0xff;
	assert_false(console_frame_read(bytes, 16, &frame));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_frame_has_its_fields),
		cmocka_unit_test(test_other_bytes_are_no_frame),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
