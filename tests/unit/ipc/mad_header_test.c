/* SPDX-License-Identifier: Apache-2.0 */
/* The 64 bytes in front of each message, as in Linux's user MAD interface (management 8.3). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <string.h>
#include "ipc/mad_header.h"

static const struct mad_port_header full = {
	.agent_id = 3,
	.status = 110,
	.timeout_ms = 1000,
	.retries = 2,
	.byte_count = 320,
	.address = {.lid = 0x1234,
		    .sl = 5,
		    .path_bits = 7,
		    .qpn = 0xabcdef,
		    .qkey = 0x80010000,
		    .has_grh = true,
		    .gid = {{0xfe, 0x80, [15] = 0x42}},
		    .gid_index = 1,
		    .hop_limit = 64,
		    .traffic_class = 9,
		    .flow_label = 0x54321},
	.pkey_index = 0x0102,
};

static uint32_t host32(const uint8_t *bytes)
{
	uint32_t value;

	memcpy(&value, bytes, sizeof(value));
	return value;
}

static void test_every_field_has_its_place(void **state)
{
	uint8_t bytes[MAD_PORT_HEADER_BYTES];
	uint16_t pkey_index;

	(void)state;
	mad_port_header_encode(&full, bytes);
	assert_int_equal(host32(bytes), 3);
	assert_int_equal(host32(bytes + 4), 110);
	assert_int_equal(host32(bytes + 8), 1000);
	assert_int_equal(host32(bytes + 12), 2);
	assert_int_equal(host32(bytes + 16), 320);
	assert_memory_equal(bytes + 20, "\x00\xab\xcd\xef\x80\x01\x00\x00\x12\x34\x05\x07", 12);
	assert_memory_equal(bytes + 32, "\x01\x01\x40\x09\xfe\x80", 6);
	assert_int_equal(bytes[51], 0x42);
	assert_memory_equal(bytes + 52, "\x00\x05\x43\x21", 4);
	memcpy(&pkey_index, bytes + 56, sizeof(pkey_index));
	assert_int_equal(pkey_index, 0x0102);
	assert_memory_equal(bytes + 58, "\0\0\0\0\0\0", 6);
}

static void test_decoding_gives_back_what_was_encoded(void **state)
{
	uint8_t bytes[MAD_PORT_HEADER_BYTES];
	uint8_t again[MAD_PORT_HEADER_BYTES];
	struct mad_port_header header;

	(void)state;
	mad_port_header_encode(&full, bytes);
	assert_true(mad_port_header_decode(bytes, sizeof(bytes), &header));
	mad_port_header_encode(&header, again);
	assert_memory_equal(again, bytes, sizeof(bytes));
}

static void test_without_a_grh_its_fields_are_not_looked_at(void **state)
{
	uint8_t bytes[MAD_PORT_HEADER_BYTES];
	struct mad_port_header header;

	(void)state;
	memset(bytes, 0xff, sizeof(bytes));
	bytes[32] = 0;
	assert_true(mad_port_header_decode(bytes, sizeof(bytes), &header));
	assert_false(header.address.has_grh);
	assert_int_equal(header.address.flow_label, 0);
	/* A field with fewer bits on the wire has no more bits here. */
	assert_int_equal(header.address.sl, 15);
	assert_int_equal(header.address.qpn, 0xffffff);
}

static void test_less_than_a_header_is_none(void **state)
{
	uint8_t bytes[MAD_PORT_HEADER_BYTES] = {0};
	struct mad_port_header header;

	(void)state;
	for (size_t byte_count = 0; byte_count < sizeof(bytes); byte_count++)
		assert_false(mad_port_header_decode(bytes, byte_count, &header));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_every_field_has_its_place),
		cmocka_unit_test(test_decoding_gives_back_what_was_encoded),
		cmocka_unit_test(test_without_a_grh_its_fields_are_not_looked_at),
		cmocka_unit_test(test_less_than_a_header_is_none),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
