/* SPDX-License-Identifier: Apache-2.0 */
/* Baseboard management: literal bytes of commands and traps (management 6.2, 5.2). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>
#include "base/bytes.h"
#include "vectors/attribute_checks.h"
#include "wire/baseboard.h"
#include "wire/notice.h"

static void test_fields_keep_apart_and_come_back(void **state)
{
	const struct attribute_layout *layouts[] = {&module_status_layout, &sensor_report_layout,
						    &bad_bkey_details_layout,
						    &baseboard_trap_details_layout};

	(void)state;
	for (unsigned i = 0; i < sizeof(layouts) / sizeof(layouts[0]); i++) {
		expect_fields_apart(layouts[i]);
		expect_round_trips(layouts[i], 0x31 + i);
	}
}

static void test_command_lies_where_the_reference_puts_it(void **state)
{
	uint8_t data[MAD_BYTES - BASEBOARD_DATA_OFFSET] = {0x12, 0x34, SOURCE_DEVICE_BM, 2, 7, 8};
	uint8_t encoded[sizeof(data)];
	struct baseboard_message message;

	(void)state;
	assert_true(baseboard_message_decode(data, &message));
	assert_int_equal(message.sequence, 0x1234);
	assert_int_equal(message.source_device, 0xfe);
	assert_int_equal(message.parameter_count, 2);
	assert_int_equal(message.parameters[1], 8);
	baseboard_message_encode(&message, encoded);
	assert_memory_equal(encoded, data, sizeof(data));
}

static void test_too_many_parameters_are_refused(void **state)
{
	uint8_t data[MAD_BYTES - BASEBOARD_DATA_OFFSET] = {0};
	struct baseboard_message message;

	(void)state;
	data[3] = PARAMETERS_MAX;
	assert_true(baseboard_message_decode(data, &message));
	for (unsigned count = PARAMETERS_MAX + 1; count < 256; count++) {
		data[3] = (uint8_t)count;
		assert_false(baseboard_message_decode(data, &message));
	}
}

static void test_trap_details_lie_where_the_reference_puts_them(void **state)
{
	const struct bad_bkey_details bad = {.lid = 0x0102,
					     .method = 3,
					     .attribute_id = 0x0405,
					     .attribute_modifier = 0x06070809,
					     .qpn = 0x0a0b0c,
					     .bkey = 0x1112131415161718,
					     .gid_prefix = 0x2122232425262728,
					     .gid_guid = 0x3132333435363738};
	const struct baseboard_trap_details board = {
		.data_length = 24, .type = BASEBOARD_TRAP_OEM_MME, .modifier = 0x025f1b};
	const uint8_t expected[] = {1,	  2,	3,    0,    4,	  5,	6,    7,    8,	  9,
				    0,	  0x0a, 0x0b, 0x0c, 0x11, 0x12, 0x13, 0x14, 0x15, 0x16,
				    0x17, 0x18, 0x21, 0x22, 0x23, 0x24, 0x25, 0x26, 0x27, 0x28,
				    0x31, 0x32, 0x33, 0x34, 0x35, 0x36, 0x37, 0x38};
	uint8_t bytes[NOTICE_DETAILS_BYTES];

	(void)state;
	bad_bkey_details_encode(&bad, bytes);
	assert_memory_equal(bytes, expected, sizeof(expected));
	baseboard_trap_details_encode(&board, bytes);
	assert_int_equal(get_be32(bytes), 0x1801025f);
	assert_int_equal(bytes[4], 0x1b);
}

static void test_status_of_a_module_is_six_bytes(void **state)
{
	const struct module_status status = {.module_power = 1,
					     .unit_power = 3,
					     .attention = 2,
					     .health = 4,
					     .power_is_changing = 1,
					     .bus_is_hung = 1,
					     .sensor_count = 6};
	const uint8_t expected[MODULE_STATUS_BYTES] = {1, 3, 2, 4, 0x09, 6};
	uint8_t bytes[MODULE_STATUS_BYTES];

	(void)state;
	module_status_encode(&status, bytes);
	assert_memory_equal(bytes, expected, sizeof(expected));
}

static void test_every_code_has_a_text(void **state)
{
	char name[SENSOR_NAME_BYTES];

	(void)state;
	assert_string_equal(baseboard_status_text(0), "ok");
	assert_string_equal(baseboard_status_text(0x46), "illegal byte count");
	assert_null(baseboard_status_text(6));
	assert_null(baseboard_status_text(0x47));
	assert_string_equal(sensor_level_name(SENSOR_HIGH_CRITICAL), "high critical");
	assert_string_equal(sensor_level_name(5), "unknown");
	sensor_name(SENSOR_TEMPERATURE, 1, name);
	assert_string_equal(name, "temp1");
	sensor_name(0xff, 0xff, name);
	assert_string_equal(name, "sensor255");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_fields_keep_apart_and_come_back),
		cmocka_unit_test(test_command_lies_where_the_reference_puts_it),
		cmocka_unit_test(test_too_many_parameters_are_refused),
		cmocka_unit_test(test_trap_details_lie_where_the_reference_puts_them),
		cmocka_unit_test(test_status_of_a_module_is_six_bytes),
		cmocka_unit_test(test_every_code_has_a_text),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
