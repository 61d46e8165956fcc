/* SPDX-License-Identifier: Apache-2.0 */
/* Notices and the details of the traps (management 5.1, 5.2). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "base/bytes.h"
#include "vectors/attribute_checks.h"
#include "vectors/hex.h"
#include "wire/notice.h"

static void test_a_link_state_trap_in_bytes(void **state)
{
	(void)state;
	struct notice notice = {.header = {.is_generic = 1,
					   .type = NOTICE_URGENT,
					   .producer_type = PRODUCER_SWITCH,
					   .trap_number = TRAP_LINK_STATE_CHANGE,
					   .issuer_lid = 0x0203,
					   .toggle = 1,
					   .count = 2}};
	struct link_state_details details = {.lid = 0x0203};
	uint8_t expected[NOTICE_BYTES] = {0};
	uint8_t bytes[NOTICE_BYTES];
	struct notice again;

	(void)hex_bytes("81 000002 0080 0203 8002 0203", sizeof(expected), expected);
	link_state_details_encode(&details, notice.details);
	memset(bytes, 0xff, sizeof(bytes));
	notice_encode(&notice, bytes);
	assert_memory_equal(bytes, expected, sizeof(bytes));
	notice_decode(bytes, &again);
	assert_int_equal(again.header.trap_number, TRAP_LINK_STATE_CHANGE);
	assert_int_equal(again.header.count, 2);
	assert_memory_equal(again.details, notice.details, NOTICE_DETAILS_BYTES);
}

static void test_details_lie_where_the_table_puts_them(void **state)
{
	(void)state;
	struct port_error_details port_error = {.lid = 0x0102, .port_number = 9};
	struct local_change_details change = {.lid = 0x0102,
					      .other_local_changes = 1,
					      .capability_mask = 0x03040506,
					      .change_flags = 1,
					      .capability_mask2 = 0x0708};
	struct bad_mkey_details bad_mkey = {.lid = 1,
					    .dr_slid = 0xffff,
					    .method = 2,
					    .attribute_id = 0x15,
					    .attribute_modifier = 3,
					    .mkey = 0x1122334455667788,
					    .is_directed = 1,
					    .hop_count = 5};
	uint8_t bytes[NOTICE_DETAILS_BYTES];

	port_error_details_encode(&port_error, bytes);
	assert_int_equal(get_be16(bytes + 2), 0x0102);
	assert_int_equal(bytes[4], 9);
	local_change_details_encode(&change, bytes);
	assert_int_equal(get_be16(bytes + 2), 0x0102);
	assert_int_equal(bytes[5], 1);
	assert_int_equal(get_be32(bytes + 6), 0x03040506);
	assert_int_equal(get_be16(bytes + 10), 1);
	assert_int_equal(get_be16(bytes + 12), 0x0708);
	bad_mkey_details_encode(&bad_mkey, bytes);
	assert_int_equal(get_be16(bytes + 4), 0xffff);
	assert_int_equal(bytes[6], 2);
	assert_int_equal(get_be16(bytes + 8), 0x15);
	assert_int_equal(get_be32(bytes + 10), 3);
	assert_int_equal(get_be64(bytes + 14), 0x1122334455667788);
	assert_int_equal(bytes[23], 0x85);
}

static void test_any_bytes_round_trip(void **state)
{
	(void)state;
	const struct attribute_layout *const layouts[] = {
		&notice_header_layout,	    &link_state_details_layout,
		&port_error_details_layout, &local_change_details_layout,
		&bad_mkey_details_layout,   &system_image_details_layout,
		&bad_key_details_layout,    &switch_pkey_details_layout};

	for (size_t i = 0; i < sizeof(layouts) / sizeof(layouts[0]); i++) {
		expect_fields_apart(layouts[i]);
		expect_round_trips(layouts[i], 20 + i);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_link_state_trap_in_bytes),
		cmocka_unit_test(test_details_lie_where_the_table_puts_them),
		cmocka_unit_test(test_any_bytes_round_trip),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
