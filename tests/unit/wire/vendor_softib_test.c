/* SPDX-License-Identifier: Apache-2.0 */
/* Attributes of softib's vendor class: literal bytes, and the properties of every field table. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <string.h>
#include "vectors/attribute_checks.h"
#include "wire/mad.h"
#include "wire/vendor_softib.h"

static void test_fields_keep_apart_and_come_back(void **state)
{
	const struct attribute_layout *layouts[] = {&node_log_header_layout, &node_log_entry_layout,
						    &identify_layout};

	(void)state;
	for (unsigned i = 0; i < sizeof(layouts) / sizeof(layouts[0]); i++) {
		expect_fields_apart(layouts[i]);
		expect_round_trips(layouts[i], 0x40 + i);
	}
}

static void test_a_log_fills_a_mad(void **state)
{
	(void)state;
	assert_int_equal(VENDOR_DATA_OFFSET + NODE_LOG_HEADER_BYTES +
				 NODE_LOG_ENTRIES_PER_MAD * NODE_LOG_ENTRY_BYTES,
			 MAD_BYTES);
	assert_true(mad_class_has_oui(MAD_CLASS_SOFTIB));
}

static void test_an_entry_lies_as_documented(void **state)
{
	const struct node_log_entry entry = {.time_ns = 0x0102030405060708,
					     .event = NODE_EVENT_TRAP,
					     .port_number = 9,
					     .code = 128,
					     .count = 0x0a0b0c0d,
					     .subject = 0x11};
	static const uint8_t expected[NODE_LOG_ENTRY_BYTES] = {
		1, 2, 3, 4, 5, 6, 7, 8, 2, 9, 0, 128, 0x0a, 0x0b, 0x0c, 0x0d, [23] = 0x11};
	const struct identify wanted = {.is_on = 1, .seconds = 0x01020304};
	static const uint8_t identify_bytes[IDENTIFY_BYTES] = {0x80, 0, 0, 0, 1, 2, 3, 4};
	uint8_t bytes[NODE_LOG_ENTRY_BYTES];

	(void)state;
	node_log_entry_encode(&entry, bytes);
	assert_memory_equal(bytes, expected, sizeof(expected));
	identify_encode(&wanted, bytes);
	assert_memory_equal(bytes, identify_bytes, sizeof(identify_bytes));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_fields_keep_apart_and_come_back),
		cmocka_unit_test(test_a_log_fills_a_mad),
		cmocka_unit_test(test_an_entry_lies_as_documented),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
