/* SPDX-License-Identifier: Apache-2.0 */
/* The wire records of rsockets: encoded and decoded, and invalid greetings. */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <cmocka.h>
#include "api/librdmacm/rsocket/rsocket_records.h"

static const struct rsocket_greeting usual = {
	.mapping_count = 3,
	.ring_address = 0x1122334455667788,
	.ring_key = 0xaabbccdd,
	.ring_bytes = 1 << 17,
	.control_address = 0x99,
	.control_key = 7,
	.receive_count = 384,
};

static void test_a_greeting_is_forty_bytes_in_network_order(void **state)
{
	static const uint8_t wanted[RSOCKET_GREETING_BYTES] = {
		'r',  's',  '0',  '1',	0,    0,    0, 3, 0x11, 0x22, 0x33, 0x44, 0x55, 0x66,
		0x77, 0x88, 0xaa, 0xbb, 0xcc, 0xdd, 0, 2, 0,	0,    0,    0,	  0,	0,
		0,    0,    0,	  0x99, 0,    0,    0, 7, 0,	0,    1,    0x80};
	uint8_t bytes[RSOCKET_GREETING_BYTES];
	struct rsocket_greeting read;

	(void)state;
	rsocket_greeting_encode(&usual, bytes);
	assert_memory_equal(bytes, wanted, sizeof(wanted));
	assert_true(rsocket_greeting_decode(bytes, sizeof(bytes), &read));
	assert_int_equal(read.mapping_count, usual.mapping_count);
	assert_int_equal(read.ring_address, usual.ring_address);
	assert_int_equal(read.ring_key, usual.ring_key);
	assert_int_equal(read.ring_bytes, usual.ring_bytes);
	assert_int_equal(read.control_address, usual.control_address);
	assert_int_equal(read.control_key, usual.control_key);
	assert_int_equal(read.receive_count, usual.receive_count);
}

static void test_others_are_not_taken_for_rsockets(void **state)
{
	uint8_t bytes[RSOCKET_GREETING_BYTES];
	struct rsocket_greeting greeting = usual, read = usual;

	(void)state;
	rsocket_greeting_encode(&greeting, bytes);
	assert_false(rsocket_greeting_decode(bytes, sizeof(bytes) - 1, &read));
	assert_false(rsocket_greeting_decode(NULL, 0, &read));
	bytes[0] ^= 1;
	assert_false(rsocket_greeting_decode(bytes, sizeof(bytes), &read));
	greeting.ring_bytes = 0;
	rsocket_greeting_encode(&greeting, bytes);
	assert_false(rsocket_greeting_decode(bytes, sizeof(bytes), &read));
	/* More than a notice can tell. */
	greeting.ring_bytes = RSOCKET_NOTICE_VALUE_MAX + 1;
	rsocket_greeting_encode(&greeting, bytes);
	assert_false(rsocket_greeting_decode(bytes, sizeof(bytes), &read));
	greeting = usual;
	greeting.receive_count = 2 * RSOCKET_CONTROL_RESERVE;
	rsocket_greeting_encode(&greeting, bytes);
	assert_false(rsocket_greeting_decode(bytes, sizeof(bytes), &read));
	/* A refused greeting leaves the output unchanged. */
	assert_int_equal(read.ring_bytes, usual.ring_bytes);
	assert_int_equal(read.receive_count, usual.receive_count);
}

static void test_notices_carry_thirty_bits(void **state)
{
	uint32_t value;

	(void)state;
	assert_int_equal(rsocket_notice_encode(NOTICE_END, 5), htonl(0x80000005));
	for (unsigned kind = NOTICE_DATA; kind <= NOTICE_UNKNOWN; kind++) {
		uint32_t immediate =
			rsocket_notice_encode((enum rsocket_notice)kind, RSOCKET_NOTICE_VALUE_MAX);

		assert_int_equal(rsocket_notice_decode(immediate, &value), kind);
		assert_int_equal(value, RSOCKET_NOTICE_VALUE_MAX);
	}
}

static void test_a_datagram_says_where_it_comes_from(void **state)
{
	uint8_t bytes[RSOCKET_DATAGRAM_HEADER_BYTES];
	struct sockaddr_storage source = {.ss_family = AF_INET6}, read;

	(void)state;
	rsocket_datagram_header_encode(&source, bytes);
	assert_true(rsocket_datagram_header_decode(bytes, sizeof(bytes), &read));
	assert_memory_equal(&read, &source, sizeof(read));
	assert_false(rsocket_datagram_header_decode(bytes, sizeof(bytes) - 1, &read));
	source.ss_family = AF_UNIX;
	rsocket_datagram_header_encode(&source, bytes);
	assert_false(rsocket_datagram_header_decode(bytes, sizeof(bytes), &read));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_greeting_is_forty_bytes_in_network_order),
		cmocka_unit_test(test_others_are_not_taken_for_rsockets),
		cmocka_unit_test(test_notices_carry_thirty_bits),
		cmocka_unit_test(test_a_datagram_says_where_it_comes_from),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
