/* SPDX-License-Identifier: Apache-2.0 */
/* Raw packets: literal bytes both ways, and bytes that are no raw packet (transport 1.1, 9.4). */
#include "wire/raw_packet.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>
#include <cmocka.h>

/* LRH with PktLen 5, RWH, 8 bytes. */
static const uint8_t ethertype_bytes[] = {
	0x00, 0x50, 0x00, 0x07, 0x00, 0x05, 0x00, 0x03, 0x00, 0x00,
	0x88, 0xb5, 1,	  2,	3,    4,    5,	  6,	7,    8,
};

/* LRH with PktLen 13, an IPv6 header with payload length 2, two bytes, and 2 pad bytes. */
static const uint8_t ipv6_bytes[52] = {
	0x00,	  0x51,	       0x00,	    0x07,     0x00,	   0x0d,
	0x00,	  0x03,	       0x60,	    0,	      0,	   0,
	0x00,	  0x02,	       59,	    64,	      [16] = 0xfe, [17] = 0x80,
	[31] = 1, [32] = 0xfe, [33] = 0x80, [47] = 2, [48] = 0xaa, [49] = 0xbb,
};

static void test_ethertype_packet_has_a_raw_header_and_no_icrc(void **state)
{
	uint8_t payload[8] = {1, 2, 3, 4, 5, 6, 7, 8};
	uint8_t bytes[sizeof(ethertype_bytes)];
	struct packet packet = {.kind = PACKET_RAW_ETHERTYPE,
				.lrh = {.sl = 5, .dlid = 7, .slid = 3},
				.ethertype = 0x88b5,
				.packet_count = 1};

	(void)state;
	packet_set_payload(&packet, payload, sizeof(payload));
	assert_int_equal(packet_bytes(&packet), sizeof(bytes));
	assert_int_equal(packet_header_bytes(&packet), LRH_BYTES + RWH_BYTES);
	assert_int_equal(packet_encode(&packet, bytes), sizeof(bytes));
	assert_memory_equal(bytes, ethertype_bytes, sizeof(bytes));
}

static void test_ethertype_packet_is_read_back(void **state)
{
	uint8_t bytes[sizeof(ethertype_bytes)];
	struct packet packet;

	(void)state;
	memcpy(bytes, ethertype_bytes, sizeof(bytes));
	assert_int_equal(raw_packet_decode(bytes, sizeof(bytes), &packet), PACKET_OK);
	assert_int_equal(packet.kind, PACKET_RAW_ETHERTYPE);
	assert_int_equal(packet.ethertype, 0x88b5);
	assert_int_equal(packet.lrh.dlid, 7);
	assert_int_equal(packet.lrh.slid, 3);
	assert_int_equal(packet.payload.byte_count, 8);
	assert_ptr_equal(packet.payload.spans[0].bytes, bytes + 12);
}

static void test_ipv6_packet_begins_with_the_consumers_header(void **state)
{
	uint8_t bytes[sizeof(ipv6_bytes)], again[sizeof(ipv6_bytes)];
	struct packet packet;

	(void)state;
	memcpy(bytes, ipv6_bytes, sizeof(bytes));
	assert_int_equal(raw_packet_decode(bytes, sizeof(bytes), &packet), PACKET_OK);
	assert_int_equal(packet.kind, PACKET_RAW_IPV6);
	assert_int_equal(packet.payload.byte_count, 44);
	assert_ptr_equal(packet.payload.spans[0].bytes, bytes + LRH_BYTES);
	assert_int_equal(packet_encode(&packet, again), sizeof(again));
	assert_memory_equal(again, ipv6_bytes, sizeof(again));
}

/* One byte changed, or bytes missing, and why it is refused. */
static void test_what_is_no_raw_packet_is_refused(void **state)
{
	static const struct {
		const uint8_t *bytes;
		size_t byte_count;
		uint8_t offset, value;
		enum packet_error error;
	} cases[] = {
		{ethertype_bytes, 7, 0, 0, PACKET_TOO_SHORT},
		{ethertype_bytes, 16, 5, 4, PACKET_TOO_SHORT},
		{ethertype_bytes, 20, 0, 1, PACKET_BAD_VERSION},
		{ethertype_bytes, 20, 1, 0x52, PACKET_BAD_NEXT_HEADER},
		{ethertype_bytes, 20, 1, 0x53, PACKET_BAD_NEXT_HEADER},
		{ethertype_bytes, 20, 1, 0x51, PACKET_TOO_SHORT},
		{ethertype_bytes, 20, 5, 6, PACKET_BAD_LENGTH}, /* as if it had an ICRC */
		{ethertype_bytes, 19, 0, 0, PACKET_TOO_SHORT},
		{ipv6_bytes, 44, 5, 11, PACKET_TOO_SHORT},
		{ipv6_bytes, 52, 5, 14, PACKET_BAD_LENGTH},
		{ipv6_bytes, 51, 0, 0, PACKET_BAD_LENGTH},
		{ipv6_bytes, 52, 8, 0x40, PACKET_BAD_VERSION},
		{ipv6_bytes, 52, 13, 5, PACKET_BAD_LENGTH}, /* says more than there is */
		{ipv6_bytes, 52, 13, 0, PACKET_BAD_LENGTH}, /* a word more than it says */
		{ipv6_bytes, 52, 12, 0xff, PACKET_BAD_LENGTH},
		{ipv6_bytes, 52, 13, 4, PACKET_OK},
	};

	(void)state;
	for (unsigned i = 0; i < ARRAY_COUNT(cases); i++) {
		uint8_t bytes[sizeof(ipv6_bytes)];
		struct packet packet;

		memcpy(bytes, cases[i].bytes, cases[i].byte_count);
		bytes[cases[i].offset] = cases[i].value;
		assert_int_equal(raw_packet_decode(bytes, cases[i].byte_count, &packet),
				 cases[i].error);
	}
}

/* A receiver that expects transport headers must not get a packet without. */
static void test_packet_decode_takes_no_raw_packets(void **state)
{
	uint8_t bytes[sizeof(ipv6_bytes)];
	struct packet packet;

	(void)state;
	memcpy(bytes, ethertype_bytes, sizeof(ethertype_bytes));
	assert_int_equal(packet_decode(bytes, sizeof(ethertype_bytes), 1, &packet),
			 PACKET_BAD_NEXT_HEADER);
	memcpy(bytes, ipv6_bytes, sizeof(bytes));
	assert_int_equal(packet_decode(bytes, sizeof(bytes), 1, &packet), PACKET_BAD_NEXT_HEADER);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_ethertype_packet_has_a_raw_header_and_no_icrc),
		cmocka_unit_test(test_ethertype_packet_is_read_back),
		cmocka_unit_test(test_ipv6_packet_begins_with_the_consumers_header),
		cmocka_unit_test(test_what_is_no_raw_packet_is_refused),
		cmocka_unit_test(test_packet_decode_takes_no_raw_packets),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
