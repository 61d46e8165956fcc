/* SPDX-License-Identifier: Apache-2.0 */
/* Version and community of SNMP messages, from literal bytes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>
#include "base/attributes.h"
#include "mgmt/snmp/snmp_envelope.h"

/* GET of sysUpTime.0 with the community "public@s1", version 2c. */
static const uint8_t get_v2c[] = {
	0x30, 0x29, 0x02, 0x01, 0x01, 0x04, 0x09, 'p',	'u',  'b',  'l',  'i',	'c',  '@',  's',
	'1',  0xa0, 0x19, 0x02, 0x01, 0x07, 0x02, 0x01, 0x00, 0x02, 0x01, 0x00, 0x30, 0x0e, 0x30,
	0x0c, 0x06, 0x08, 0x2b, 0x06, 0x01, 0x02, 0x01, 0x01, 0x03, 0x00, 0x05, 0x00,
};

static void test_an_envelope_is_read(void **state)
{
	struct snmp_envelope envelope;

	(void)state;
	assert_true(snmp_envelope_read(get_v2c, sizeof(get_v2c), &envelope));
	assert_int_equal(envelope.version, SNMP_VERSION_NUMBER_2C);
	assert_int_equal(envelope.community_bytes, 9);
	assert_memory_equal(envelope.community, "public@s1", 9);
	assert_ptr_equal(envelope.pdu, get_v2c + 16);
	assert_int_equal(envelope.pdu_bytes, sizeof(get_v2c) - 16);
}

static void test_what_is_written_is_what_was_read(void **state)
{
	struct snmp_envelope envelope;
	uint8_t written[sizeof(get_v2c)];

	(void)state;
	assert_true(snmp_envelope_read(get_v2c, sizeof(get_v2c), &envelope));
	assert_int_equal(snmp_envelope_write(&envelope, sizeof(written), written), sizeof(get_v2c));
	assert_memory_equal(written, get_v2c, sizeof(get_v2c));
	assert_int_equal(snmp_envelope_write(&envelope, sizeof(written) - 1, written), 0);
}

static void test_a_shorter_community_makes_a_shorter_message(void **state)
{
	struct snmp_envelope envelope, again;
	uint8_t written[sizeof(get_v2c)];
	size_t byte_count;

	(void)state;
	assert_true(snmp_envelope_read(get_v2c, sizeof(get_v2c), &envelope));
	envelope.community_bytes = 6;
	byte_count = snmp_envelope_write(&envelope, sizeof(written), written);
	assert_int_equal(byte_count, sizeof(get_v2c) - 3);
	assert_int_equal(written[1], 0x26);
	assert_true(snmp_envelope_read(written, byte_count, &again));
	assert_memory_equal(again.community, "public", 6);
	assert_memory_equal(again.pdu, envelope.pdu, envelope.pdu_bytes);
}

static void test_long_lengths_are_written_and_read(void **state)
{
	static uint8_t pdu[70000] = {0xa2, 0x83, 0x01, 0x11, 0x6b};
	static uint8_t message[70100];
	const size_t sizes[] = {130, 260, 70000};

	(void)state;
	for (size_t i = 0; i < ARRAY_COUNT(sizes); i++) {
		struct snmp_envelope envelope = {.community = (const uint8_t *)"public",
						 .community_bytes = 6,
						 .pdu = pdu,
						 .pdu_bytes = sizes[i]};
		struct snmp_envelope again;
		size_t content = sizes[i] - 5;
		size_t byte_count;

		pdu[2] = (uint8_t)(content >> 16);
		pdu[3] = (uint8_t)(content >> 8);
		pdu[4] = (uint8_t)content;
		byte_count = snmp_envelope_write(&envelope, sizeof(message), message);
		assert_true(byte_count > sizes[i]);
		assert_true(snmp_envelope_read(message, byte_count, &again));
		assert_int_equal(again.pdu_bytes, sizes[i]);
	}
}

static void test_cut_messages_are_refused(void **state)
{
	struct snmp_envelope envelope;
	uint8_t message[sizeof(get_v2c) + 1] = {0};

	(void)state;
	memcpy(message, get_v2c, sizeof(get_v2c));
	for (size_t byte_count = 0; byte_count < sizeof(get_v2c); byte_count++)
		assert_false(snmp_envelope_read(message, byte_count, &envelope));
	assert_false(snmp_envelope_read(message, sizeof(message), &envelope));
}

static void test_wrong_tags_and_lengths_are_refused(void **state)
{
	static const struct {
		size_t offset;
		uint8_t byte;
	} changes[] = {
		{0, 0x31},  {1, 0x80},	{1, 0x85},  {2, 0x04},	{3, 0x02},  {4, 0x02},
		{5, 0x02},  {6, 0x7f},	{6, 0x81},  {6, 0x84},	{16, 0x30}, {16, 0xa9},
		{16, 0xbf}, {17, 0x1a}, {17, 0x18}, {17, 0x80}, {1, 0x84},
	};
	struct snmp_envelope envelope;

	(void)state;
	for (size_t i = 0; i < ARRAY_COUNT(changes); i++) {
		uint8_t message[sizeof(get_v2c)];

		memcpy(message, get_v2c, sizeof(message));
		message[changes[i].offset] = changes[i].byte;
		assert_false(snmp_envelope_read(message, sizeof(message), &envelope));
	}
}

static void test_version_3_is_not_looked_into(void **state)
{
	static const uint8_t message[] = {0x30, 0x05, 0x02, 0x01, 0x03, 0xff, 0xff};
	struct snmp_envelope envelope;

	(void)state;
	assert_true(snmp_envelope_read(message, sizeof(message), &envelope));
	assert_int_equal(envelope.version, SNMP_VERSION_NUMBER_3);
	assert_null(envelope.pdu);
	assert_int_equal(envelope.community_bytes, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_an_envelope_is_read),
		cmocka_unit_test(test_what_is_written_is_what_was_read),
		cmocka_unit_test(test_a_shorter_community_makes_a_shorter_message),
		cmocka_unit_test(test_long_lengths_are_written_and_read),
		cmocka_unit_test(test_cut_messages_are_refused),
		cmocka_unit_test(test_wrong_tags_and_lengths_are_refused),
		cmocka_unit_test(test_version_3_is_not_looked_into),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
