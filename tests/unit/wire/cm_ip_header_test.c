/* SPDX-License-Identifier: Apache-2.0 */
/* IP addresses in connection requests: literal bytes, and malformed headers (management 7.6). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>
#include "wire/cm_ip_header.h"

static const struct cm_ip_header sample = {
	.ip_version = 4,
	.source_port = 0x1234,
	.source = {{[12] = 127, 100, 0, 2}},
	.destination = {{[12] = 127, 100, 0, 1}},
};

static void test_service_ids_name_port_space_and_port(void **state)
{
	(void)state;
	assert_true(cm_ip_service_id(CM_PORT_SPACE_TCP, 7471) == 0x0000000001061d2f);
	assert_true(cm_ip_service_id(CM_PORT_SPACE_UDP, 1) == 0x0000000001110001);
	assert_true(cm_ip_service_id(CM_PORT_SPACE_IPOIB, 2) == 0x0000000000020002);
}

static void test_header_of_ipv4_has_the_address_in_the_last_four_bytes(void **state)
{
	(void)state;
	uint8_t bytes[CM_IP_HEADER_BYTES];
	const uint8_t expected[CM_IP_HEADER_BYTES] = {
		[1] = 0x40, 0x12, 0x34, [16] = 127, 100, 0, 2, [32] = 127, 100, 0, 1};
	struct cm_ip_header again;

	cm_ip_header_encode(&sample, bytes);
	assert_memory_equal(bytes, expected, sizeof(bytes));
	assert_true(cm_ip_header_decode(bytes, sizeof(bytes), &again));
	assert_memory_equal(&again.source, &sample.source, sizeof(sample.source));
	assert_memory_equal(&again.destination, &sample.destination, sizeof(sample.destination));
	assert_int_equal(again.source_port, 0x1234);
	assert_int_equal(again.ip_version, 4);
}

static void test_other_versions_and_short_ones_are_refused(void **state)
{
	(void)state;
	uint8_t bytes[CM_IP_HEADER_BYTES];
	struct cm_ip_header again;

	cm_ip_header_encode(&sample, bytes);
	assert_false(cm_ip_header_decode(bytes, CM_IP_HEADER_BYTES - 1, &again));
	bytes[0] = 1;
	assert_false(cm_ip_header_decode(bytes, sizeof(bytes), &again));
	bytes[0] = 0;
	for (unsigned version = 0; version < 16; version++) {
		bytes[1] = (uint8_t)(version << 4);
		assert_int_equal(cm_ip_header_decode(bytes, sizeof(bytes), &again),
				 version == 4 || version == 6);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_service_ids_name_port_space_and_port),
		cmocka_unit_test(test_header_of_ipv4_has_the_address_in_the_last_four_bytes),
		cmocka_unit_test(test_other_versions_and_short_ones_are_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
