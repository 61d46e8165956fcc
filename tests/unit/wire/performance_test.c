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

static void test_counters_of_opcodes_and_lanes_lie_where_the_table_puts_them(void **state)
{
	(void)state;
	const struct port_op_rcv_counters by_opcode = {
		.op_code = 0x64, .port_select = 2, .op_rcv_packets = 5, .op_rcv_data = 6};
	const struct port_vl_counters_16 by_lane = {.op_code = 0x0a, .vl0 = 1, .vl15 = 0xfffe};
	const struct port_vl_counters_32 wide = {.vl0 = 3, .vl15 = 0xfffffffe};
	const struct port_vl_xmit_time_cong congested = {.vl0 = 8, .vl14 = 9};
	/* VL0 in the two highest bits, VL15 in the two lowest. */
	const struct port_vl_update_errors update_errors = {.vl0 = 3, .vl1 = 1, .vl15 = 2};
	uint8_t bytes[PORT_VL_COUNTERS_32_BYTES];

	port_op_rcv_counters_encode(&by_opcode, bytes);
	assert_int_equal(get_be32(bytes), 0x64020000);
	assert_int_equal(get_be32(bytes + 4), 5);
	assert_int_equal(get_be32(bytes + 8), 6);
	port_vl_counters_16_encode(&by_lane, bytes);
	assert_int_equal(bytes[0], 0x0a);
	assert_int_equal(get_be16(bytes + 4), 1);
	assert_int_equal(get_be16(bytes + 34), 0xfffe);
	port_vl_counters_32_encode(&wide, bytes);
	assert_int_equal(get_be32(bytes + 4), 3);
	assert_int_equal(get_be32(bytes + 64), 0xfffffffe);
	port_vl_xmit_time_cong_encode(&congested, bytes);
	assert_int_equal(get_be32(bytes + 4), 8);
	assert_int_equal(get_be32(bytes + 60), 9);
	port_vl_update_errors_encode(&update_errors, bytes);
	assert_int_equal(get_be32(bytes + 4), 0xd0000002);
}

static void test_counters_of_extended_speeds_lie_where_the_table_puts_them(void **state)
{
	(void)state;
	const struct port_extended_speeds plain = {
		.port_select = 4,
		.counter_select = 0x0102030405060708,
		.sync_header_errors = 1,
		.unknown_blocks = 2,
		.error_detection_lane0 = 3,
		.error_detection_lane11 = 4,
		.fec_correctable_lane0 = 5,
		.fec_correctable_lane11 = 6,
		.fec_uncorrectable_lane0 = 7,
		.fec_uncorrectable_lane11 = 8,
	};
	const struct port_extended_speeds_rsfec corrected = {
		.fec_correctable_symbols_lane0 = 1,
		.fec_correctable_symbols_lane11 = 2,
		.fec_correctable_blocks = 3,
		.fec_uncorrectable_blocks = 4,
		.fec_corrected_symbols = 5,
	};
	uint8_t bytes[PORT_EXTENDED_SPEEDS_RSFEC_BYTES];

	port_extended_speeds_encode(&plain, bytes);
	assert_int_equal(bytes[1], 4);
	assert_int_equal(get_be64(bytes + 8), 0x0102030405060708);
	assert_int_equal(get_be16(bytes + 16), 1);
	assert_int_equal(get_be16(bytes + 18), 2);
	assert_int_equal(get_be16(bytes + 20), 3);
	assert_int_equal(get_be16(bytes + 42), 4);
	assert_int_equal(get_be32(bytes + 44), 5);
	assert_int_equal(get_be32(bytes + 88), 6);
	assert_int_equal(get_be32(bytes + 92), 7);
	assert_int_equal(get_be32(bytes + 136), 8);
	port_extended_speeds_rsfec_encode(&corrected, bytes);
	assert_int_equal(get_be32(bytes + 44), 1);
	assert_int_equal(get_be32(bytes + 88), 2);
	assert_int_equal(get_be32(bytes + 140), 3);
	assert_int_equal(get_be32(bytes + 144), 4);
	assert_int_equal(get_be32(bytes + 148), 5);
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
		&port_op_rcv_counters_layout,	&port_flow_ctl_counters_layout,
		&port_vl_counters_16_layout,	&port_vl_counters_32_layout,
		&port_vl_update_errors_layout,	&port_vl_xmit_time_cong_layout,
		&port_rcv_con_ctrl_layout,	&port_xmit_con_ctrl_layout,
		&port_extended_speeds_layout,	&port_extended_speeds_rsfec_layout,
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
		cmocka_unit_test(test_counters_of_opcodes_and_lanes_lie_where_the_table_puts_them),
		cmocka_unit_test(test_counters_of_extended_speeds_lie_where_the_table_puts_them),
		cmocka_unit_test(test_any_bytes_round_trip),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
