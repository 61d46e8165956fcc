/* SPDX-License-Identifier: Apache-2.0 */
/* Records of faults in a whole softibd: written, read back, refused; and the commands around them.
 * Covers: daemon/control/fault_commands.c daemon/packets/verb_fault_injection.c
 * daemon/control/explain_commands.c */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "daemon/packets/fault_log.h"
#include "ipc/verb_faults.h"
#include "unit/daemon/daemon_fixture.h"
#include "wire/pkey.h"

static struct daemon *softibd;
static int tool;

static int set_up(void **state)
{
	(void)state;
	softibd = fixture_start("star:3");
	tool = fixture_connect();
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	close(tool);
	fixture_stop();
	return 0;
}

static void expect_refusal(const char *request)
{
	json_t *answer = fixture_ask(tool, "%s", request);

	assert_false(json_is_true(json_object_get(answer, "ok")));
	assert_non_null(json_string_value(json_object_get(answer, "error")));
	json_decref(answer);
}

static void test_faults_are_added_both_ways_or_one(void **state)
{
	(void)state;
	fixture_order(tool,
		      "{\"command\":\"fault-add\",\"port\":\"h1\",\"settings\":[\"drop=0.5\"]}");
	assert_non_null(fixture_port("h1")->faults);
	assert_non_null(fixture_port("h1")->peer->faults);
	fixture_order(
		tool,
		"{\"command\":\"fault-add\",\"port\":\"h2\",\"settings\":[\"delay=1ms\",\"in\"]}");
	assert_null(fixture_port("h2")->faults);
	assert_int_equal(fixture_port("h2")->peer->faults->judge.settings.delay, MILLISECONDS(1));
	/* Settings that the command does not name stay. */
	fixture_order(
		tool,
		"{\"command\":\"fault-add\",\"port\":\"h2\",\"settings\":[\"drop=1\",\"in\"]}");
	assert_int_equal(fixture_port("h2")->peer->faults->judge.settings.delay, MILLISECONDS(1));
	assert_int_equal(fixture_port("h2")->peer->faults->judge.settings.drop, FAULT_CERTAIN);
	fixture_order(tool, "{\"command\":\"fault-clear\",\"ports\":[\"h1\"]}");
	assert_null(fixture_port("h1")->faults);
	assert_int_equal(softibd->core.fabric.faults.link_count, 1);
	fixture_order(tool, "{\"command\":\"fault-clear\"}");
	assert_int_equal(softibd->core.fabric.faults.link_count, 0);
}

/* Only one end of a cable flaps it. */
static void test_a_flap_is_of_one_end(void **state)
{
	(void)state;
	fixture_order(
		tool,
		"{\"command\":\"fault-add\",\"port\":\"h1\",\"settings\":[\"flap=100s/100s\"]}");
	assert_true(timer_is_armed(&fixture_port("h1")->faults->flap));
	assert_false(timer_is_armed(&fixture_port("h1")->peer->faults->flap));
	fixture_order(tool, "{\"command\":\"fault-clear\"}");
}

static void test_bad_faults_change_nothing(void **state)
{
	(void)state;
	expect_refusal("{\"command\":\"fault-add\"}");
	expect_refusal("{\"command\":\"fault-add\",\"port\":\"h1\",\"settings\":[]}");
	expect_refusal("{\"command\":\"fault-add\",\"port\":\"h1\",\"settings\":[7]}");
	expect_refusal("{\"command\":\"fault-add\",\"port\":\"h9\",\"settings\":[\"drop=1\"]}");
	expect_refusal("{\"command\":\"fault-add\",\"port\":\"h1\",\"settings\":[\"delay=1ms\","
		       "\"drop=7\"]}");
	expect_refusal("{\"command\":\"fault-clear\",\"ports\":[\"h9\"]}");
	expect_refusal("{\"command\":\"fault-replay\"}");
	expect_refusal("{\"command\":\"fault-replay\",\"text\":\"nonsense\",\"is_last\":true}");
	assert_int_equal(softibd->core.fabric.faults.link_count, 0);
}

static void test_a_record_is_read_as_it_was_written(void **state)
{
	char text[4096] = "", reason[128], line[FAULT_LINE_BYTES];
	struct fault_log log = {0};
	size_t length = 0;

	(void)state;
	fixture_order(tool, "{\"command\":\"fault-add\",\"port\":\"h1\","
			    "\"settings\":[\"drop=0.5\",\"delay=5us\",\"mads\",\"out\"]}");
	for (unsigned count = 3; count > 0; count--)
		fault_log_note(&log, fixture_port("h1")->faults,
			       &(struct fault_decision){.sequence = 4 * count - 3,
							.actions = FAULT_DROP | FAULT_DELAY,
							.jitter = 3 * (4 * count - 3)});
	fault_log_sort(&log);
	for (size_t index = 0; fault_log_line(&log, &softibd->core.fabric, index, line); index++)
		length += (size_t)snprintf(text + length, sizeof(text) - length, "%s\n", line);
	fault_log_release(&log);
	assert_int_equal(fault_log_replay(&softibd->core.fabric, text, 0, reason, sizeof(reason)),
			 0);

	const struct fault_judge *judge = &fixture_port("h1")->faults->judge;

	assert_int_equal(judge->settings.drop, 0);
	assert_int_equal(judge->settings.delay, MICROSECONDS(5));
	assert_true(judge->settings.includes_mads);
	assert_int_equal(judge->script_count, 3);
	assert_int_equal(judge->script[0].sequence, 1);
	assert_int_equal(judge->script[2].sequence, 9);
	assert_int_equal(judge->script[2].jitter, 27);
	assert_int_equal(judge->script[1].actions, FAULT_DROP | FAULT_DELAY);
	fixture_order(tool, "{\"command\":\"fault-clear\"}");
}

static void test_a_record_that_makes_no_sense_changes_nothing(void **state)
{
	static const char *const texts[] = {
		"",
		"softib-faults 2\n",
		"hello\n",
		"softib-faults 1\nwhat 1:1\n",
		"softib-faults 1\nlink\n",
		"softib-faults 1\nlink 99:1 delay=1ms\n",
		"softib-faults 1\nat 99:1 1 drop\n",
		"softib-faults 1\nlink zz:1\n",
	};
	char reason[128];

	(void)state;
	fixture_order(tool,
		      "{\"command\":\"fault-add\",\"port\":\"h1\",\"settings\":[\"drop=0.5\"]}");
	for (unsigned index = 0; index < ARRAY_COUNT(texts); index++) {
		reason[0] = '\0';
		assert_true(fault_log_replay(&softibd->core.fabric, texts[index], 0, reason,
					     sizeof(reason)) < 0);
		assert_string_not_equal(reason, "");
		assert_int_equal(softibd->core.fabric.faults.link_count, 2);
	}
	fixture_order(tool, "{\"command\":\"fault-clear\"}");
}

/* The log is bounded, and counts what it dropped. */
static void test_what_does_not_fit_is_counted(void **state)
{
	struct fault_log log = {0};

	(void)state;
	fixture_order(tool,
		      "{\"command\":\"fault-add\",\"port\":\"h1\",\"settings\":[\"drop=0.5\"]}");
	for (unsigned index = 0; index < FAULT_LOG_ENTRIES_MAX + 5; index++)
		fault_log_note(
			&log, fixture_port("h1")->faults,
			&(struct fault_decision){.sequence = index + 1, .actions = FAULT_DROP});
	assert_int_equal(log.entry_count, FAULT_LOG_ENTRIES_MAX);
	assert_int_equal(log.forgotten, 5);
	fault_log_release(&log);
	fixture_order(tool, "{\"command\":\"fault-clear\"}");
}

static void test_programs_of_a_host_hear_of_faults_at_its_verbs(void **state)
{
	const struct ring_record *record;
	struct program early, late, other;
	struct verb_fault fault;

	(void)state;
	program_start(&early, "h1");
	program_start(&other, "h2");
	fixture_order(tool, "{\"command\":\"fault-add\",\"port\":\"h1\","
			    "\"settings\":[\"verb=ibv_reg_mr\",\"errno=ENOMEM\",\"after=3\"]}");
	fixture_order(tool, "{\"command\":\"fault-add\",\"port\":\"h1\","
			    "\"settings\":[\"event=PORT_ERR\"]}");
	record = program_next_of(&early, RECORD_VERB_FAULT);
	assert_non_null(record);
	memcpy(&fault, record->body, sizeof(fault));
	assert_int_equal(fault.kind, VERB_FAULT_CALL);
	assert_int_equal(fault.call, VERB_REG_MR);
	assert_int_equal(fault.error, ENOMEM);
	assert_int_equal(fault.skip_count, 3);
	assert_int_equal(fault.times, 1);
	record = program_next_of(&early, RECORD_VERB_FAULT);
	assert_non_null(record);
	memcpy(&fault, record->body, sizeof(fault));
	assert_int_equal(fault.kind, VERB_FAULT_EVENT);
	assert_null(program_next_of(&other, RECORD_VERB_FAULT));
	fixture_order(tool, "{\"command\":\"fault-clear\",\"ports\":[\"h1\"]}");
	record = program_next_of(&early, RECORD_VERB_FAULT);
	assert_non_null(record);
	memcpy(&fault, record->body, sizeof(fault));
	assert_int_equal(fault.kind, VERB_FAULT_NONE);
	program_start(&late, "h1");
	assert_null(program_next_of(&late, RECORD_VERB_FAULT));
	program_end(&early);
	program_end(&late);
	program_end(&other);
	expect_refusal(
		"{\"command\":\"fault-add\",\"port\":\"h1\",\"settings\":[\"event=PORT_ERR\"]}");
	expect_refusal(
		"{\"command\":\"fault-add\",\"port\":\"h1\",\"settings\":[\"verb=ibv_reg_mr\"]}");
	expect_refusal("{\"command\":\"fault-add\",\"port\":\"h1\","
		       "\"settings\":[\"verb=ibv_reg_mr\",\"errno=EIO\",\"event=PORT_ERR\"]}");
}

static void test_explain_tells_steps_and_refuses_nonsense(void **state)
{
	json_t *answer = fixture_ask(
		tool, "{\"command\":\"explain\",\"source\":\"h1\",\"destination\":\"h2\"}");

	(void)state;
	assert_int_equal(json_integer_value(json_object_get(answer, "delivered")), 1);
	assert_int_equal(json_array_size(json_object_get(answer, "steps")), 3);
	assert_int_equal(json_integer_value(json_object_get(answer, "dlid")),
			 fixture_port("h2")->info.lid);
	json_decref(answer);
	answer = fixture_ask(
		tool, "{\"command\":\"explain\",\"source\":\"h1\",\"destination\":\"0x1234\"}");
	assert_int_equal(json_integer_value(json_object_get(answer, "delivered")), 0);
	json_decref(answer);
	expect_refusal("{\"command\":\"explain\"}");
	expect_refusal("{\"command\":\"explain\",\"source\":\"s1\",\"destination\":\"h1\"}");
	expect_refusal("{\"command\":\"explain\",\"source\":\"h1\",\"destination\":\"h9\"}");
	expect_refusal(
		"{\"command\":\"explain\",\"source\":\"h1\",\"destination\":\"h2\",\"sl\":16}");
	expect_refusal("{\"command\":\"explain\",\"source\":\"h1\",\"mcast\":\"7\"}");
	expect_refusal("{\"command\":\"explain\",\"source\":\"h1\",\"mcast\":\"ff12::dead\"}");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_faults_are_added_both_ways_or_one),
		cmocka_unit_test(test_a_flap_is_of_one_end),
		cmocka_unit_test(test_bad_faults_change_nothing),
		cmocka_unit_test(test_a_record_is_read_as_it_was_written),
		cmocka_unit_test(test_a_record_that_makes_no_sense_changes_nothing),
		cmocka_unit_test(test_what_does_not_fit_is_counted),
		cmocka_unit_test(test_programs_of_a_host_hear_of_faults_at_its_verbs),
		cmocka_unit_test(test_explain_tells_steps_and_refuses_nonsense),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
