/* SPDX-License-Identifier: Apache-2.0 */
/* Engine ID and context of messages of version 3, from literal bytes; cut and damaged ones. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>
#include "mgmt/snmp/snmp_v3_envelope.h"

/* A manager asks for the engine ID of context "s1". */
static const uint8_t discovery[] = {
	0x30, 0x3d, 0x02, 0x01, 0x03, 0x30, 0x11, 0x02, 0x04, 0x12, 0x34, 0x56, 0x78,
	0x02, 0x03, 0x00, 0xff, 0xe3, 0x04, 0x01, 0x04, 0x02, 0x01, 0x03, 0x04, 0x10,
	0x30, 0x0e, 0x04, 0x00, 0x02, 0x01, 0x00, 0x02, 0x01, 0x00, 0x04, 0x00, 0x04,
	0x00, 0x04, 0x00, 0x30, 0x13, 0x04, 0x00, 0x04, 0x02, 0x73, 0x31, 0xa0, 0x0b,
	0x02, 0x01, 0x01, 0x02, 0x01, 0x00, 0x02, 0x01, 0x00, 0x30, 0x00};

/* An encrypted request with an engine ID. */
static const uint8_t encrypted[] = {
	0x30, 0x47, 0x02, 0x01, 0x03, 0x30, 0x11, 0x02, 0x04, 0x12, 0x34, 0x56, 0x78, 0x02, 0x03,
	0x00, 0xff, 0xe3, 0x04, 0x01, 0x04, 0x02, 0x01, 0x03, 0x04, 0x1d, 0x30, 0x1b, 0x04, 0x0d,
	0x80, 0x00, 0x1f, 0x88, 0x05, 0x02, 0x5f, 0x1b, 0x02, 0x00, 0x01, 0x00, 0x00, 0x02, 0x01,
	0x00, 0x02, 0x01, 0x00, 0x04, 0x00, 0x04, 0x00, 0x04, 0x00, 0x04, 0x10, 0xaa, 0xaa, 0xaa,
	0xaa, 0xaa, 0xaa, 0xaa, 0xaa, 0xaa, 0xaa, 0xaa, 0xaa, 0xaa, 0xaa, 0xaa, 0xaa};

enum { CONTEXT_AT = 48, ENGINE_ID_AT = 30, MODEL_AT = 23 };

static void test_discovery_names_a_context(void **state)
{
	struct snmp_v3_envelope envelope;

	(void)state;
	assert_true(snmp_v3_envelope_read(discovery, sizeof(discovery), &envelope));
	assert_int_equal(envelope.engine_id.byte_count, 0);
	assert_false(envelope.is_encrypted);
	assert_int_equal(envelope.context_engine_id.byte_count, 0);
	assert_int_equal(envelope.context_name.byte_count, 2);
	assert_ptr_equal(envelope.context_name.bytes, discovery + CONTEXT_AT);
}

static void test_an_encrypted_message_shows_its_engine_only(void **state)
{
	struct snmp_v3_envelope envelope;

	(void)state;
	assert_true(snmp_v3_envelope_read(encrypted, sizeof(encrypted), &envelope));
	assert_true(envelope.is_encrypted);
	assert_int_equal(envelope.engine_id.byte_count, 13);
	assert_ptr_equal(envelope.engine_id.bytes, encrypted + ENGINE_ID_AT);
	assert_int_equal(envelope.context_engine_id.byte_count, 0);
	assert_int_equal(envelope.context_name.byte_count, 0);
}

static void test_a_cut_message_is_none(void **state)
{
	struct snmp_v3_envelope envelope = {.is_encrypted = true};

	(void)state;
	for (size_t byte_count = 0; byte_count < sizeof(discovery); byte_count++)
		assert_false(snmp_v3_envelope_read(discovery, byte_count, &envelope));
	for (size_t byte_count = 0; byte_count < sizeof(encrypted); byte_count++)
		assert_false(snmp_v3_envelope_read(encrypted, byte_count, &envelope));
	assert_true(envelope.is_encrypted);
}

/* Each byte damaged in each way: what is read lies within the message. */
static void test_damaged_messages_are_read_within_their_bounds(void **state)
{
	(void)state;
	for (size_t at = 0; at < sizeof(discovery); at++)
		for (unsigned value = 0; value < 256; value++) {
			uint8_t bytes[sizeof(discovery)];
			struct snmp_v3_envelope envelope;

			memcpy(bytes, discovery, sizeof(bytes));
			bytes[at] = (uint8_t)value;
			if (!snmp_v3_envelope_read(bytes, sizeof(bytes), &envelope) ||
			    !envelope.context_name.byte_count)
				continue;
			assert_true(envelope.context_name.bytes >= bytes);
			assert_true(envelope.context_name.bytes +
					    envelope.context_name.byte_count <=
				    bytes + sizeof(bytes));
		}
}

static void test_other_versions_and_security_models_are_refused(void **state)
{
	uint8_t bytes[sizeof(discovery)];
	struct snmp_v3_envelope envelope;

	(void)state;
	memcpy(bytes, discovery, sizeof(bytes));
	bytes[4] = 1;
	assert_false(snmp_v3_envelope_read(bytes, sizeof(bytes), &envelope));
	memcpy(bytes, discovery, sizeof(bytes));
	assert_int_equal(bytes[MODEL_AT], 3);
	bytes[MODEL_AT] = 2;
	assert_false(snmp_v3_envelope_read(bytes, sizeof(bytes), &envelope));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_discovery_names_a_context),
		cmocka_unit_test(test_an_encrypted_message_shows_its_engine_only),
		cmocka_unit_test(test_a_cut_message_is_none),
		cmocka_unit_test(test_damaged_messages_are_read_within_their_bounds),
		cmocka_unit_test(test_other_versions_and_security_models_are_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
