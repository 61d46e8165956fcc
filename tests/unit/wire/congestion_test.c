/* SPDX-License-Identifier: Apache-2.0 */
/* Attributes of congestion control: literal bytes, and the properties of every field table
 * (management 6.5). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "base/bytes.h"
#include "vectors/attribute_checks.h"
#include "wire/congestion.h"

static void test_fields_keep_apart_and_come_back(void **state)
{
	const struct attribute_layout *layouts[] = {
		&congestion_info_layout,	   &class_key_info_layout,
		&switch_congestion_log_layout,	   &switch_congestion_event_layout,
		&ca_congestion_log_layout,	   &ca_congestion_event_layout,
		&switch_congestion_setting_layout, &switch_port_congestion_layout,
		&ca_congestion_setting_layout,	   &ca_congestion_entry_layout,
		&bad_cc_key_details_layout,
	};

	(void)state;
	for (unsigned i = 0; i < sizeof(layouts) / sizeof(layouts[0]); i++) {
		expect_fields_apart(layouts[i]);
		expect_round_trips(layouts[i], 0x21 + i);
	}
}

static void test_settings_lie_where_the_annex_puts_them(void **state)
{
	const struct switch_congestion_setting setting = {.control_map = 0x15,
							  .victim_mask_0 = 1 << 1,
							  .threshold = 0xa,
							  .packet_size = 0x0b,
							  .marking_rate = 0x0c0d};
	const struct ca_congestion_entry entry = {
		.ccti_timer = 0x0102, .ccti_increase = 3, .trigger_threshold = 4, .ccti_min = 5};
	const struct switch_port_congestion port = {
		.valid = 1, .threshold = 7, .packet_size = 8, .marking_rate = 0x090a};
	uint8_t bytes[SWITCH_CONGESTION_SETTING_BYTES];

	(void)state;
	switch_congestion_setting_encode(&setting, bytes);
	assert_int_equal(get_be32(bytes), 0x15);
	assert_int_equal(bytes[4 + 31], 2); /* port 1 is the second bit of 256 from the right */
	assert_int_equal(bytes[68], 0xa0);
	assert_int_equal(bytes[69], 0x0b);
	assert_int_equal(get_be16(bytes + 74), 0x0c0d);
	ca_congestion_entry_encode(&entry, bytes);
	assert_int_equal(get_be64(bytes), 0x0102030405000000);
	switch_port_congestion_encode(&port, bytes);
	assert_int_equal(get_be32(bytes), 0x8708090a);
}

static void test_log_lies_where_the_annex_puts_it(void **state)
{
	const struct ca_congestion_log log = {.log_type = 2,
					      .threshold_event_counter = 0x0304,
					      .threshold_congestion_event_map = 0x0506,
					      .current_time_stamp = 0x0708090a};
	const struct ca_congestion_event event = {.local_qpn = 0x010203,
						  .sl = 4,
						  .service_type = 3,
						  .remote_qpn = 0x050607,
						  .local_lid = 0x0809,
						  .remote_lid = 0x0a0b,
						  .time_stamp = 0x0c0d0e0f};
	uint8_t bytes[SWITCH_CONGESTION_LOG_BYTES];

	(void)state;
	ca_congestion_log_encode(&log, bytes);
	assert_int_equal(get_be32(bytes), 0x02000304);
	assert_int_equal(get_be32(bytes + 4), 0x05060000);
	assert_int_equal(get_be32(bytes + 8), 0x0708090a);
	ca_congestion_event_encode(&event, bytes);
	assert_int_equal(get_be64(bytes), 0x0102034305060700);
	assert_int_equal(get_be64(bytes + 8), 0x08090a0b0c0d0e0f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_fields_keep_apart_and_come_back),
		cmocka_unit_test(test_settings_lie_where_the_annex_puts_them),
		cmocka_unit_test(test_log_lies_where_the_annex_puts_it),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
