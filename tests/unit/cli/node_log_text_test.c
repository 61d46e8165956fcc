/* SPDX-License-Identifier: Apache-2.0 */
/* Entries of a node's log as text: known events, and any bytes that a node may send. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <string.h>
#include "cli/node_log_text.h"

static const char *text_of(struct node_log_entry entry)
{
	static char text[NODE_LOG_TEXT_BYTES];

	node_log_text(&entry, text);
	return text;
}

static void test_events_as_text(void **state)
{
	(void)state;
	assert_string_equal(text_of((struct node_log_entry){
				    .event = NODE_EVENT_PORT_STATE, .port_number = 3, .code = 4}),
			    "port 3 is Active");
	assert_string_equal(
		text_of((struct node_log_entry){
			.event = NODE_EVENT_TRAP, .port_number = 0, .code = 128, .subject = 1}),
		"trap 128 of port 0 (class 0x01)");
	assert_string_equal(text_of((struct node_log_entry){.event = NODE_EVENT_KEY_VIOLATION,
							    .port_number = 1,
							    .code = NODE_KEY_Q,
							    .subject = 7}),
			    "wrong Q_Key at port 1 from LID 7");
	assert_string_equal(
		text_of((struct node_log_entry){
			.event = NODE_EVENT_SET, .port_number = 1, .code = 0x12, .subject = 4}),
		"perf: attribute 0x0012 was set at port 1");
	assert_string_equal(text_of((struct node_log_entry){
				    .event = NODE_EVENT_IDENTIFY, .code = 1, .subject = 30}),
			    "identify on for 30 s");
	assert_string_equal(text_of((struct node_log_entry){.event = NODE_EVENT_IDENTIFY}),
			    "identify off");
}

static void test_any_entry_has_a_text(void **state)
{
	(void)state;
	for (unsigned event = 0; event < 256; event++) {
		struct node_log_entry entry = {.event = (uint8_t)event,
					       .port_number = 255,
					       .code = 0xffff,
					       .count = UINT32_MAX,
					       .subject = UINT64_MAX,
					       .time_ns = UINT64_MAX};
		json_t *row = node_log_json(&entry, 5);

		assert_true(strlen(text_of(entry)) > 0);
		assert_non_null(row);
		json_decref(row);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_events_as_text),
		cmocka_unit_test(test_any_entry_has_a_text),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
