/* SPDX-License-Identifier: Apache-2.0 */
/* The self-test of an I/O controller (management 6.3). */
#include "mgmt/agents/io_diagnostics.h"

#include <assert.h>
#include "wire/device_management.h"

void io_diagnostics_init(struct io_diagnostics *test)
{
	*test = (struct io_diagnostics){.state = IO_TEST_IDLE, .due_at = TIME_NEVER};
}

static void enter(struct io_diagnostics *test, enum io_test_state state, time_ns due_at)
{
	test->state = state;
	test->due_at = due_at;
}

enum mad_status io_diagnostics_prepare(struct io_diagnostics *test, time_ns now)
{
	switch (test->state) {
	case IO_TEST_PREPARING:
	case IO_TEST_READY:
		return MAD_STATUS_OK;
	case IO_TEST_ONCE:
		return MAD_STATUS_BUSY;
	case IO_TEST_LOOP: /* ends the loop */
	case IO_TEST_IDLE:
		break;
	}
	enter(test, IO_TEST_PREPARING, now + IO_TEST_PREPARE_TIME);
	return MAD_STATUS_OK;
}

enum mad_status io_diagnostics_start(struct io_diagnostics *test, time_ns now,
				     enum io_test_state once_or_loop)
{
	assert(once_or_loop == IO_TEST_ONCE || once_or_loop == IO_TEST_LOOP);
	if (test->state == once_or_loop)
		return MAD_STATUS_OK;
	switch (test->state) {
	case IO_TEST_READY:
		enter(test, once_or_loop, now + IO_TEST_RUN_TIME);
		return MAD_STATUS_OK;
	case IO_TEST_IDLE:
		return MAD_STATUS_BAD_FIELD;
	case IO_TEST_PREPARING:
	case IO_TEST_ONCE:
	case IO_TEST_LOOP:
		break;
	}
	return MAD_STATUS_BUSY;
}

enum mad_status io_diagnostics_is_prepared(const struct io_diagnostics *test)
{
	return test->state == IO_TEST_READY ? MAD_STATUS_OK : MAD_STATUS_BUSY;
}

enum mad_status io_diagnostics_code(const struct io_diagnostics *test, uint16_t *ret_code)
{
	if (test->state == IO_TEST_ONCE)
		return MAD_STATUS_BUSY;
	*ret_code = test->diag_code;
	return MAD_STATUS_OK;
}

bool io_diagnostics_run(struct io_diagnostics *test, time_ns now)
{
	if (test->due_at > now)
		return false;
	switch (test->state) {
	case IO_TEST_PREPARING:
		enter(test, IO_TEST_READY, TIME_NEVER);
		return true;
	case IO_TEST_ONCE:
		test->diag_code = test->next_outcome;
		enter(test, IO_TEST_IDLE, TIME_NEVER);
		break;
	case IO_TEST_LOOP: /* until a test fails */
		test->diag_code = test->next_outcome;
		if (test->diag_code == DIAG_CODE_PASSED)
			enter(test, IO_TEST_LOOP, now + IO_TEST_RUN_TIME);
		else
			enter(test, IO_TEST_IDLE, TIME_NEVER);
		break;
	case IO_TEST_IDLE:
	case IO_TEST_READY:
		test->due_at = TIME_NEVER;
		break;
	}
	return false;
}
