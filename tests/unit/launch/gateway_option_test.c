/* SPDX-License-Identifier: Apache-2.0 */
/* Values that --gateway accepts, and values just outside. */
#include <arpa/inet.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>
#include "launch/gateway_option.h"

static void test_udp_has_two_addresses_on_loopback(void **state)
{
	struct gateway_option option;

	(void)state;
	assert_true(gateway_option_read("router-1=udp:127.0.0.1:5000,127.1.2.3:65535", &option));
	assert_string_equal(option.router, "router-1");
	assert_string_equal(option.where, "udp:127.0.0.1:5000,127.1.2.3:65535");
	assert_string_equal(option.interface, "");
	assert_int_equal(ntohs(option.own.sin_port), 5000);
	assert_int_equal(ntohl(option.own.sin_addr.s_addr), 0x7f000001);
	assert_int_equal(ntohs(option.peer.sin_port), 65535);
	assert_int_equal(ntohl(option.peer.sin_addr.s_addr), 0x7f010203);
}

static void test_tap_has_a_name(void **state)
{
	struct gateway_option option;

	(void)state;
	assert_true(gateway_option_read("r1=tap:a23456789012345", &option));
	assert_string_equal(option.router, "r1");
	assert_string_equal(option.interface, "a23456789012345");
}

static void test_others_are_refused(void **state)
{
	static const char *const bad[] = {
		"",
		"r1",
		"r1=",
		"=tap:a",
		"r1=lan:a",
		"r1=tap:",
		"r1=tap:a234567890123456",
		"r1=tap:a/b",
		"r1=tap:a%d",
		"r1=tap:a b",
		"r1=udp:",
		"r1=udp:5000",
		"r1=udp:127.0.0.1:5000",
		"r1=udp:127.0.0.1:5000,",
		"r1=udp:127.0.0.1:5000,127.0.0.1",
		"r1=udp:127.0.0.1:5000,127.0.0.1:",
		"r1=udp:127.0.0.1:5000,127.0.0.1:0",
		"r1=udp:127.0.0.1:5000,127.0.0.1:65536",
		"r1=udp:127.0.0.1:5000,127.0.0.1:-1",
		"r1=udp:127.0.0.1:5000,127.0.0.1:000001",
		"r1=udp:127.0.0.1:5000,127.0.0.1:1,127.0.0.1:2",
		"r1=udp:0.0.0.0:5000,127.0.0.1:5001",
		"r1=udp:128.0.0.1:5000,127.0.0.1:5001",
		"r1=udp:127.0.0.1:5000,10.0.0.1:5001",
		"r1=udp:localhost:5000,127.0.0.1:5001",
		"a234567890123456789012345678901234567890123456789012345678901234=tap:a",
	};
	struct gateway_option option;

	(void)state;
	for (unsigned i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		assert_false(gateway_option_read(bad[i], &option));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_udp_has_two_addresses_on_loopback),
		cmocka_unit_test(test_tap_has_a_name),
		cmocka_unit_test(test_others_are_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
