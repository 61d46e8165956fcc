/* SPDX-License-Identifier: Apache-2.0 */
/* Port counters: literal bytes, and the properties of every field table (management 6.1). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "base/bytes.h"
#include "vectors/attribute_checks.h"
#include "wire/performance.h"

static void test_port_counters_lie_where_the_table_puts_them(void **state)
{
	(void)state;
	struct port_counters counters = {
		.port_select = 3,
		.counter_select = 0xf000,
		.symbol_error = 0x0102,
		.link_downed = 0x07,
		.local_link_integrity_errors = 0xa,
		.excessive_buffer_overrun_errors = 0x5,
		.qp1_dropped = 0x1415,
		.vl15_dropped = 0x1617,
		.xmit_data = 0x18191a1b,
		.rcv_packets = 0x24252627,
		.xmit_wait = 0x28292a2b,
	};
	uint8_t bytes[PORT_COUNTERS_BYTES];

	port_counters_encode(&counters, bytes);
	assert_int_equal(bytes[0], 0);
	assert_int_equal(bytes[1], 3);
	assert_int_equal(get_be16(bytes + 2), 0xf000);
	assert_int_equal(get_be16(bytes + 4), 0x0102);
	assert_int_equal(bytes[7], 0x07);
	assert_int_equal(bytes[19], 0xa5);
	assert_int_equal(get_be16(bytes + 20), 0x1415);
	assert_int_equal(get_be16(bytes + 22), 0x1617);
	assert_int_equal(get_be32(bytes + 24), 0x18191a1b);
	assert_int_equal(get_be32(bytes + 36), 0x24252627);
	assert_int_equal(get_be32(bytes + 40), 0x28292a2b);
}

static void test_extended_counters_are_consecutive(void **state)
{
	(void)state;
	struct port_counters_extended counters = {.port_select = 9,
						  .counter_select2 = 0x01020304,
						  .xmit_data = 1,
						  .multicast_rcv_packets = 8,
						  .symbol_error = 9,
						  .qp1_dropped = 22};
	uint8_t bytes[PORT_COUNTERS_EXTENDED_BYTES];

	port_counters_extended_encode(&counters, bytes);
	assert_int_equal(bytes[1], 9);
	assert_int_equal(get_be32(bytes + 4), 0x01020304);
	assert_int_equal(get_be64(bytes + 8), 1);
	assert_int_equal(get_be64(bytes + 64), 8);
	assert_int_equal(get_be64(bytes + 72), 9);
	assert_int_equal(get_be64(bytes + 176), 22);
}

static void test_any_bytes_round_trip(void **state)
{
	(void)state;
	expect_fields_apart(&port_counters_layout);
	expect_fields_apart(&port_counters_extended_layout);
	expect_round_trips(&port_counters_layout, 10);
	expect_round_trips(&port_counters_extended_layout, 11);

	static const struct attribute_layout *const layouts[] = {
		&port_rcv_error_details_layout, &port_xmit_discard_details_layout,
		&port_data_by_sl_layout,	&port_samples_control_layout,
		&port_samples_result_layout,	&port_samples_result_extended_layout,
	};

	for (size_t i = 0; i < sizeof(layouts) / sizeof(layouts[0]); i++) {
		expect_fields_apart(layouts[i]);
		expect_round_trips(layouts[i], 12 + i);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_port_counters_lie_where_the_table_puts_them),
		cmocka_unit_test(test_extended_counters_are_consecutive),
		cmocka_unit_test(test_any_bytes_round_trip),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
