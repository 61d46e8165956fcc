/* SPDX-License-Identifier: Apache-2.0 */
/* IP addresses of ports: text form, networks, and addresses that ports cannot have. */
#include <arpa/inet.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <cmocka.h>
#include "wire/ip_network.h"

static struct ip_network parsed(const char *text)
{
	struct ip_network network;

	if (!ip_network_parse(text, &network))
		fail_msg("%s is not understood", text);
	return network;
}

static void test_addresses_are_read_as_the_c_library_reads_them(void **state)
{
	static const char *const texts[] = {
		"10.1.2.3", "0.0.0.0",	       "255.255.255.255", "::",
		"::1",	    "fd00::5",	       "1:2:3:4:5:6:7:8", "fe80::1:2:3:4",
		"1::",	    "1:2::7:8",	       "::ffff",	  "2001:DB8::a",
		"1:2:3::8", "1:2:3:4:5:6:7::", "::2:3:4:5:6:7:8",
	};

	(void)state;
	for (unsigned index = 0; index < ARRAY_COUNT(texts); index++) {
		struct ip_network network = parsed(texts[index]);
		uint8_t wanted[16] = {0};

		if (network.ip_version == 4)
			assert_int_equal(inet_pton(AF_INET, texts[index], wanted + 12), 1);
		else
			assert_int_equal(inet_pton(AF_INET6, texts[index], wanted), 1);
		assert_memory_equal(network.address.bytes, wanted, sizeof(wanted));
		assert_int_equal(network.prefix_bits, network.ip_version == 4 ? 24 : 64);
	}
}

static void test_prefixes_are_read_and_bounded(void **state)
{
	(void)state;
	assert_int_equal(parsed("10.0.0.1/0").prefix_bits, 0);
	assert_int_equal(parsed("10.0.0.1/32").prefix_bits, 32);
	assert_int_equal(parsed("fd00::1/128").prefix_bits, 128);
}

static void test_what_is_no_address_is_refused(void **state)
{
	static const char *const texts[] = {
		"",
		"10",
		"10.1.2",
		"10.1.2.3.4",
		"10.1.2.256",
		"10.1.2.3/33",
		"10.1.2.3/",
		"10.1.2.3/x",
		"a.b.c.d",
		":",
		":1",
		"1:2:3:4:5:6:7",
		"1:2:3:4:5:6:7:8:9",
		"1::2::3",
		"12345::",
		"fd00::1/129",
		"1:",
		":::",
		"10.1.2.3 ",
		"::1%lo",
		"1000.1.1.1",
		"1:2:3:4:5:6:7:8::",
		"fd00::g",
	};
	struct ip_network network;

	(void)state;
	for (unsigned index = 0; index < ARRAY_COUNT(texts); index++) {
		if (ip_network_parse(texts[index], &network))
			fail_msg("\"%s\" is understood", texts[index]);
	}
}

static void test_networks_contain_what_shares_their_prefix(void **state)
{
	struct ip_network ten = parsed("10.1.2.3/20"), other = parsed("10.1.15.255");
	struct ip_network six = parsed("fd00::5/62"), near = parsed("fd00:0:0:3::1");

	(void)state;
	assert_true(ip_network_contains(&ten, 4, &other.address));
	other = parsed("10.1.16.0");
	assert_false(ip_network_contains(&ten, 4, &other.address));
	assert_true(ip_network_contains(&six, 6, &near.address));
	near = parsed("fd00:0:0:4::1");
	assert_false(ip_network_contains(&six, 6, &near.address));
	assert_false(ip_network_contains(&six, 4, &other.address));
}

static void test_the_rule_counts_ports(void **state)
{
	struct ip_network wanted = parsed("127.100.3.232");

	(void)state;
	assert_memory_equal(ip_network_of_port(4, 1000).address.bytes, wanted.address.bytes, 16);
	wanted = parsed("fd5f:1b00::3e8");
	assert_memory_equal(ip_network_of_port(6, 1000).address.bytes, wanted.address.bytes, 16);
}

static void test_addresses_with_a_meaning_of_their_own_are_no_ports(void **state)
{
	static const struct {
		const char *text;
		bool is_for_ports;
	} cases[] = {
		{"10.0.0.1", true},   {"127.100.0.1", true}, {"0.0.0.0", false},
		{"127.0.0.1", false}, {"224.0.0.1", false},  {"255.255.255.255", false},
		{"fd00::1", true},    {"::", false},	     {"::1", false},
		{"ff02::1", false},
	};

	(void)state;
	for (unsigned index = 0; index < ARRAY_COUNT(cases); index++) {
		struct ip_network network = parsed(cases[index].text);

		assert_int_equal(ip_address_is_for_ports(network.ip_version, &network.address),
				 cases[index].is_for_ports);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_addresses_are_read_as_the_c_library_reads_them),
		cmocka_unit_test(test_prefixes_are_read_and_bounded),
		cmocka_unit_test(test_what_is_no_address_is_refused),
		cmocka_unit_test(test_networks_contain_what_shares_their_prefix),
		cmocka_unit_test(test_the_rule_counts_ports),
		cmocka_unit_test(test_addresses_with_a_meaning_of_their_own_are_no_ports),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
