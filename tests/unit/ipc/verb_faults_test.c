/* SPDX-License-Identifier: Apache-2.0 */
/* Names of calls, statuses and events: each number has one, as the verbs' headers number them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <string.h>
#include "ipc/verb_faults.h"
#include "net/hca/hca.h"
#include "net/transport/completion.h"

static void expect_unique(const char *const *names, unsigned count)
{
	for (unsigned index = 0; index < count; index++) {
		assert_non_null(names[index]);
		for (unsigned other = 0; other < index; other++)
			assert_string_not_equal(names[index], names[other]);
	}
}

static void test_every_number_has_a_name_of_its_own(void **state)
{
	(void)state;
	expect_unique(verb_call_names, VERB_CALL_COUNT);
	expect_unique(completion_status_names, COMPLETION_STATUS_COUNT);
	expect_unique(async_event_names, ASYNC_EVENT_COUNT);
}

static void test_calls_are_named_as_programs_call_them(void **state)
{
	(void)state;
	for (unsigned call = 0; call < VERB_CALL_COUNT; call++)
		assert_memory_equal(verb_call_names[call], "ibv_", 4);
	assert_string_equal(verb_call_names[VERB_REG_MR], "ibv_reg_mr");
}

static void test_events_are_numbered_as_the_adapter_numbers_them(void **state)
{
	(void)state;
	assert_string_equal(async_event_names[HCA_EVENT_CQ_ERROR], "CQ_ERR");
	assert_string_equal(async_event_names[HCA_EVENT_QP_FATAL], "QP_FATAL");
	assert_string_equal(async_event_names[HCA_EVENT_DEVICE_FATAL], "DEVICE_FATAL");
	assert_string_equal(async_event_names[HCA_EVENT_PORT_ERROR], "PORT_ERR");
	assert_string_equal(async_event_names[HCA_EVENT_SRQ_ERROR], "SRQ_ERR");
	assert_string_equal(async_event_names[HCA_EVENT_GID_CHANGE], "GID_CHANGE");
	assert_int_equal(ASYNC_EVENT_COUNT, HCA_EVENT_GID_CHANGE + 1);
}

static void test_statuses_are_numbered_as_completions_are(void **state)
{
	(void)state;
	assert_string_equal(completion_status_names[0], "SUCCESS");
	assert_string_equal(completion_status_names[5], "WR_FLUSH_ERR");
	assert_string_equal(completion_status_names[12], "RETRY_EXC_ERR");
	assert_string_equal(completion_status_names[21], "GENERAL_ERR");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_every_number_has_a_name_of_its_own),
		cmocka_unit_test(test_calls_are_named_as_programs_call_them),
		cmocka_unit_test(test_events_are_numbered_as_the_adapter_numbers_them),
		cmocka_unit_test(test_statuses_are_numbered_as_completions_are),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
