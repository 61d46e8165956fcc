/* SPDX-License-Identifier: Apache-2.0 */
/* DREQ, DREP, LAP, APR: literal bytes, and the properties of every field table (management 7.1). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "base/bytes.h"
#include "vectors/attribute_checks.h"
#include "wire/cm_established.h"

static void test_dreq_names_the_queue_pair_of_its_receiver(void **state)
{
	(void)state;
	const struct cm_dreq dreq = {
		.local_comm_id = 0x11111111, .remote_comm_id = 0x22222222, .remote_qpn = 0xabcdef};
	const uint8_t expected[CM_DREQ_PRIVATE_OFFSET] = {0x11, 0x11, 0x11, 0x11, 0x22, 0x22,
							  0x22, 0x22, 0xab, 0xcd, 0xef, 0};
	uint8_t bytes[CM_DREQ_PRIVATE_OFFSET];

	cm_dreq_encode(&dreq, bytes);
	assert_memory_equal(bytes, expected, sizeof(bytes));
}

static void test_lap_lies_where_the_table_puts_it(void **state)
{
	(void)state;
	const struct cm_lap lap = {.remote_qpn = 0x123456,
				   .remote_response_timeout = 20,
				   .local_lid = 3,
				   .remote_lid = 4,
				   .local_gid_guid = 0x0a,
				   .remote_gid_guid = 0x0b,
				   .flow_label = 0x54321,
				   .traffic_class = 0x77,
				   .hop_limit = 0x40,
				   .packet_rate = 3,
				   .sl = 5,
				   .subnet_local = 1,
				   .ack_timeout = 19};
	uint8_t bytes[CM_LAP_PRIVATE_OFFSET];

	cm_lap_encode(&lap, bytes);
	assert_int_equal(get_be32(bytes + 12), 0x123456a0);
	assert_int_equal(get_be32(bytes + 20), 0x00030004);
	assert_int_equal(bytes[39], 0x0a);
	assert_int_equal(bytes[55], 0x0b);
	assert_int_equal(get_be32(bytes + 56), 0x54321077);
	assert_int_equal(bytes[60], 0x40);
	assert_int_equal(bytes[61], 3);
	assert_int_equal(bytes[62], 0x58);
	assert_int_equal(bytes[63], 0x98);
}

static void test_apr_has_length_and_status_in_a_byte_each(void **state)
{
	(void)state;
	const struct cm_apr apr = {.info_bytes = 2, .status = CM_APR_GID_REJECTED};
	uint8_t bytes[CM_APR_INFO_OFFSET];

	cm_apr_encode(&apr, bytes);
	assert_int_equal(get_be16(bytes + 8), 0x0208);
}

static void test_any_bytes_round_trip(void **state)
{
	(void)state;
	const struct attribute_layout *const layouts[] = {&cm_dreq_layout, &cm_drep_layout,
							  &cm_lap_layout, &cm_apr_layout};

	for (unsigned index = 0; index < ARRAY_COUNT(layouts); index++) {
		expect_fields_apart(layouts[index]);
		expect_round_trips(layouts[index], 80 + index);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_dreq_names_the_queue_pair_of_its_receiver),
		cmocka_unit_test(test_lap_lies_where_the_table_puts_it),
		cmocka_unit_test(test_apr_has_length_and_status_in_a_byte_each),
		cmocka_unit_test(test_any_bytes_round_trip),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
