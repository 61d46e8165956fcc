/* SPDX-License-Identifier: Apache-2.0 */
/* Every block that softib writes, byte by byte as in the format's draft. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <string.h>
#include "vectors/hex.h"
#include "wire/pcapng.h"

enum { ROOM = 1024 };

static void expect_bytes(const uint8_t *bytes, size_t byte_count, const char *hex)
{
	uint8_t expected[ROOM];
	size_t expected_count = hex_bytes(hex, sizeof(expected), expected);

	assert_int_equal(byte_count, expected_count);
	assert_memory_equal(bytes, expected, expected_count);
}

static void test_a_section_says_its_byte_order_and_who_wrote_it(void **state)
{
	uint8_t bytes[ROOM];

	(void)state;
	expect_bytes(bytes, pcapng_write_section("softib", sizeof(bytes), bytes),
		     "0a0d0d0a 2c000000 4d3c2b1a 01000000 ffffffff ffffffff "
		     "04000600 736f66746962 0000 00000000 2c000000");
}

static void test_an_interface_is_infiniband_in_nanoseconds(void **state)
{
	const struct pcapng_interface interface = {
		.link_type = PCAPNG_INFINIBAND, .name = "h1:1", .description = "x"};
	uint8_t bytes[ROOM];

	(void)state;
	expect_bytes(bytes, pcapng_write_interface(&interface, sizeof(bytes), bytes),
		     "01000000 30000000 f7000000 00000000 "
		     "02000400 68313a31 03000100 78000000 09000100 09000000 00000000 30000000");
}

static void test_an_interface_tells_its_speed_if_that_is_known(void **state)
{
	const struct pcapng_interface interface = {.link_type = PCAPNG_ERF,
						   .bits_per_second = 0x0102030405060708};
	uint8_t bytes[ROOM];

	(void)state;
	expect_bytes(bytes, pcapng_write_interface(&interface, sizeof(bytes), bytes),
		     "01000000 2c000000 c5000000 00000000 "
		     "08000800 0807060504030201 09000100 09000000 00000000 2c000000");
}

static void test_a_packet_has_direction_and_comment_and_is_padded(void **state)
{
	static const uint8_t packet_bytes[] = {0xaa, 0xbb, 0xcc, 0xdd, 0xee};
	const struct pcapng_packet packet = {
		.link_type = PCAPNG_INFINIBAND,
		.interface_index = 2,
		.time = 0x1122334455667788,
		.direction = PCAPNG_OUTBOUND,
		.comment = "ok",
		.bytes = packet_bytes,
		.byte_count = sizeof(packet_bytes),
	};
	uint8_t bytes[ROOM];

	(void)state;
	expect_bytes(bytes, pcapng_write_packet(&packet, sizeof(bytes), bytes),
		     "06000000 3c000000 02000000 44332211 88776655 05000000 05000000 "
		     "aabbccdd ee000000 01000200 6f6b0000 02000400 02000000 00000000 3c000000");
}

static void test_a_packet_without_comment_or_direction_has_no_such_options(void **state)
{
	const struct pcapng_packet packet = {
		.link_type = PCAPNG_INFINIBAND, .bytes = (const uint8_t *)"", .byte_count = 0};
	uint8_t bytes[ROOM];

	(void)state;
	expect_bytes(bytes, pcapng_write_packet(&packet, sizeof(bytes), bytes),
		     "06000000 24000000 00000000 00000000 00000000 00000000 00000000 "
		     "00000000 24000000");
}

/* The header as in the public capture of InfiniBand, which has this format. */
static void test_a_packet_for_wireshark_begins_with_an_erf_header(void **state)
{
	static const uint8_t packet_bytes[] = {1, 2, 3, 4};
	const struct pcapng_packet packet = {
		.link_type = PCAPNG_ERF,
		.time = SECONDS(0x482b41ef) + MILLISECONDS(500),
		.direction = PCAPNG_INBOUND,
		.bytes = packet_bytes,
		.byte_count = sizeof(packet_bytes),
	};
	uint8_t bytes[ROOM];
	size_t byte_count = pcapng_write_packet(&packet, sizeof(bytes), bytes);

	(void)state;
	expect_bytes(bytes + 20, byte_count - 20,
		     "14000000 14000000 00000080 ef412b48 15 04 0014 0000 0004 01020304 "
		     "02000400 01000000 00000000 40000000");
}

static void test_statistics_tell_what_was_missed(void **state)
{
	const struct pcapng_statistics statistics = {
		.interface_index = 1, .time = 5, .seen_count = 10, .missed_count = 3};
	uint8_t bytes[ROOM];

	(void)state;
	expect_bytes(bytes, pcapng_write_statistics(&statistics, sizeof(bytes), bytes),
		     "05000000 34000000 01000000 00000000 05000000 "
		     "04000800 0a00000000000000 05000800 0300000000000000 00000000 34000000");
}

static void test_what_does_not_fit_is_not_written(void **state)
{
	uint8_t bytes[ROOM];
	size_t needed = pcapng_write_section("softib", sizeof(bytes), bytes);

	(void)state;
	for (size_t room = 0; room < needed; room++) {
		memset(bytes, 0x5a, sizeof(bytes));
		assert_int_equal(pcapng_write_section("softib", room, bytes), 0);
		assert_int_equal(bytes[room], 0x5a);
	}
	assert_int_equal(pcapng_write_section("softib", needed, bytes), needed);
}

static void test_a_text_that_is_too_long_is_cut(void **state)
{
	char text[2 * PCAPNG_TEXT_BYTES_MAX];
	uint8_t bytes[ROOM];

	(void)state;
	memset(text, 'x', sizeof(text));
	text[sizeof(text) - 1] = '\0';
	assert_int_equal(pcapng_write_section(text, sizeof(bytes), bytes),
			 36 + PCAPNG_TEXT_BYTES_MAX);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_section_says_its_byte_order_and_who_wrote_it),
		cmocka_unit_test(test_an_interface_is_infiniband_in_nanoseconds),
		cmocka_unit_test(test_an_interface_tells_its_speed_if_that_is_known),
		cmocka_unit_test(test_a_packet_has_direction_and_comment_and_is_padded),
		cmocka_unit_test(test_a_packet_without_comment_or_direction_has_no_such_options),
		cmocka_unit_test(test_a_packet_for_wireshark_begins_with_an_erf_header),
		cmocka_unit_test(test_statistics_tell_what_was_missed),
		cmocka_unit_test(test_what_does_not_fit_is_not_written),
		cmocka_unit_test(test_a_text_that_is_too_long_is_cut),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
