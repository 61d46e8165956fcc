/* SPDX-License-Identifier: Apache-2.0 */
/* ClassPortInfo: literal bytes, and the properties of every field table (management 1.6). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "base/bytes.h"
#include "vectors/attribute_checks.h"
#include "wire/class_port_info.h"

static void test_fields_lie_where_the_table_puts_them(void **state)
{
	(void)state;
	struct class_port_info info = {
		.base_version = 1,
		.class_version = 2,
		.capability_mask = 0x0300,
		.capability_mask2 = 1,
		.resp_time_value = CLASS_PORT_INFO_RESP_TIME_USUAL,
		.redirect_traffic_class = 0x11,
		.redirect_sl = 0x2,
		.redirect_flow_label = 0x33333,
		.redirect_lid = 5,
		.redirect_qpn = 1,
		.trap_hop_limit = 0xff,
		.trap_qpn = 1,
		.trap_qkey = 0x80010000,
	};
	uint8_t bytes[CLASS_PORT_INFO_BYTES];

	class_port_info_encode(&info, bytes);
	assert_int_equal(get_be32(bytes), 0x01020300);
	assert_int_equal(get_be32(bytes + 4), 0x32);
	assert_int_equal(get_be32(bytes + 24), 0x11233333);
	assert_int_equal(get_be16(bytes + 28), 5);
	assert_int_equal(get_be32(bytes + 32), 1);
	assert_int_equal(get_be32(bytes + 64), 0xff000001);
	assert_int_equal(get_be32(bytes + 68), 0x80010000);
}

static void test_any_bytes_round_trip(void **state)
{
	(void)state;
	expect_fields_apart(&class_port_info_layout);
	expect_round_trips(&class_port_info_layout, 12);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_fields_lie_where_the_table_puts_them),
		cmocka_unit_test(test_any_bytes_round_trip),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
