/* SPDX-License-Identifier: Apache-2.0 */
/* The header of SNMP tunnelling: literal bytes, and the properties of every field table
 * (management 6.4). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "base/bytes.h"
#include "vectors/attribute_checks.h"
#include "wire/snmp_tunnel.h"

static void test_fields_lie_where_the_table_puts_them(void **state)
{
	const struct snmp_header header = {.raddress = 0x01020304,
					   .payload_length = 192,
					   .segment_number = 255,
					   .source_lid = 0xbeef};
	uint8_t mad[256] = {0};

	(void)state;
	snmp_header_encode(&header, mad + SNMP_HEADER_OFFSET);
	assert_int_equal(get_be32(mad + 56), 0x01020304);
	assert_int_equal(mad[60], 192);
	assert_int_equal(mad[61], 255);
	assert_int_equal(get_be16(mad + 62), 0xbeef);
	assert_int_equal(SNMP_HEADER_OFFSET + SNMP_HEADER_BYTES, SNMP_DATA_OFFSET);
	for (unsigned i = SNMP_HEADER_OFFSET; i < 56; i++)
		assert_int_equal(mad[i], 0);
}

static void test_any_bytes_round_trip(void **state)
{
	(void)state;
	expect_fields_apart(&snmp_header_layout);
	expect_round_trips(&snmp_header_layout, 12);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_fields_lie_where_the_table_puts_them),
		cmocka_unit_test(test_any_bytes_round_trip),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
