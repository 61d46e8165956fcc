/* SPDX-License-Identifier: Apache-2.0 */
/* Commands of many threads over a target that answers, falls silent, logs out and goes away as the
 * test says. No fabric. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <string.h>

#include <errno.h>
#include <sched.h>
#include <semaphore.h>
#include "io/nbdkit/srp_session.h"
#include "io/scsi/cdb.h"
#include "io/scsi/sense.h"
#include "support/scripted_srp_target.h"

enum { TIMEOUT_MS = 5000, CALLERS_MAX = 40, CREDITS = 32, BUSY_CALLERS = 16, TURNS = 100 };
#define TIMEOUT MILLISECONDS(TIMEOUT_MS)
/* After this a channel that ends is opened again at once. */
#define SETTLED SECONDS(1)

static struct srp_session session;

/* A thread that waits for one command. */
static struct caller {
	pthread_t thread;
	struct srp_request request;
	struct session_data data;
	uint8_t bytes[SCSI_BLOCK_BYTES];
	struct srp_response response;
	int error;
} callers[CALLERS_MAX];

static void open_session(uint32_t request_limit)
{
	const struct srp_target_text target = {.service_id = 1};
	const char *problem;

	scripted_reset(request_limit);
	assert_int_equal(srp_session_open(&session, &target, TIMEOUT_MS, &problem), 0);
	scripted_advance(SETTLED);
}

static void *call(void *context)
{
	struct caller *caller = context;

	caller->error =
		srp_session_command(&session, &caller->request, &caller->data, &caller->response);
	return NULL;
}

/* The command of one block that has the caller's number. */
static void start(unsigned number, enum scsi_operation_code operation)
{
	struct caller *caller = &callers[number];
	const struct scsi_extent extent = {.lba = number, .block_count = 1};

	memset(caller, 0, sizeof(*caller));
	memset(caller->bytes, (int)number + 1, sizeof(caller->bytes));
	caller->data = (struct session_data){caller->bytes, sizeof(caller->bytes)};
	caller->request.direction = operation == SCSI_READ_16 ? SRP_DATA_IN : SRP_DATA_OUT;
	scsi_extent_encode(operation, &extent, caller->request.cdb);
	assert_int_equal(pthread_create(&caller->thread, NULL, call, caller), 0);
}

static int join(unsigned number)
{
	assert_int_equal(pthread_join(callers[number].thread, NULL), 0);
	return callers[number].error;
}

static uint32_t free_buffers(void)
{
	pthread_mutex_lock(&session.buffers.mutex);

	uint32_t is_free = session.buffers.is_free;

	pthread_mutex_unlock(&session.buffers.mutex);
	return is_free;
}

static uint32_t callers_inside(void)
{
	pthread_mutex_lock(&session.mutex);

	uint32_t count = session.caller_count;

	pthread_mutex_unlock(&session.mutex);
	return count;
}

static void await_asleep(void)
{
	bool is_asleep;

	do {
		sched_yield();
		pthread_mutex_lock(&session.mutex);
		is_asleep = session.is_asleep;
		pthread_mutex_unlock(&session.mutex);
	} while (!is_asleep);
}

static bool is_written(unsigned number)
{
	return memcmp(scripted.disk + number * SCSI_BLOCK_BYTES, callers[number].bytes,
		      SCSI_BLOCK_BYTES) == 0;
}

/* Writes and reads blocks of its own, each time with other bytes. NULL, or itself on a fault. */
static void *write_and_read(void *context)
{
	uint8_t *number = context;
	uint8_t bytes[4 * SCSI_BLOCK_BYTES], wanted[sizeof(bytes)];
	struct srp_response response;

	for (unsigned turn = 0; turn < TURNS; turn++) {
		const struct scsi_extent extent = {.lba = *number * 4u,
						   .block_count = 1 + turn % 4};
		const struct session_data data = {bytes, extent.block_count * SCSI_BLOCK_BYTES};
		struct srp_request request = {.direction = SRP_DATA_OUT};

		memset(bytes, (int)(*number * 16 + turn), sizeof(bytes));
		memcpy(wanted, bytes, sizeof(wanted));
		scsi_extent_encode(SCSI_WRITE_16, &extent, request.cdb);
		if (srp_session_command(&session, &request, &data, &response) != 0)
			return context;
		memset(bytes, 0, sizeof(bytes));
		request.direction = SRP_DATA_IN;
		scsi_extent_encode(SCSI_READ_16, &extent, request.cdb);
		/* The target repeats the block count in the residual. */
		if (srp_session_command(&session, &request, &data, &response) != 0 ||
		    response.rsp.in_residual != extent.block_count ||
		    memcmp(bytes, wanted, data.byte_count) != 0)
			return context;
	}
	return NULL;
}

static void run_busy_callers(uint32_t request_limit)
{
	pthread_t threads[BUSY_CALLERS];
	uint8_t numbers[BUSY_CALLERS];
	void *fault;

	open_session(request_limit);
	scripted_answer_at_random();
	for (unsigned i = 0; i < BUSY_CALLERS; i++) {
		numbers[i] = (uint8_t)i;
		assert_int_equal(pthread_create(&threads[i], NULL, write_and_read, &numbers[i]), 0);
	}
	for (unsigned i = 0; i < BUSY_CALLERS; i++) {
		assert_int_equal(pthread_join(threads[i], &fault), 0);
		assert_null(fault);
	}
	assert_int_equal(scripted.request_count, BUSY_CALLERS * TURNS * 2);
	assert_int_equal(scripted.open_count, 1);
	srp_session_close(&session);
	assert_int_equal(scripted.close_count, 1);
}

static void test_each_thread_gets_its_own_data_and_response(void **state)
{
	(void)state;
	run_busy_callers(CREDITS);
	assert_true(scripted.outstanding_max < CREDITS);
}

/* SRP 5.2: one request is kept for task management. */
static void test_two_requests_serve_everybody_one_at_a_time(void **state)
{
	(void)state;
	run_busy_callers(2);
	assert_int_equal(scripted.outstanding_max, 1);
}

static void test_status_and_sense_reach_the_caller(void **state)
{
	(void)state;
	open_session(CREDITS);
	start(0, SCSI_READ_16);
	scripted_await_requests(1);
	scripted_answer(0, SCSI_BUSY);
	assert_int_equal(join(0), 0);
	assert_int_equal(callers[0].response.rsp.status, SCSI_BUSY);
	srp_session_close(&session);
}

/* Starts writes, and waits until the target has them. */
static void start_writes(unsigned count)
{
	for (unsigned i = 0; i < count; i++)
		start(i, SCSI_WRITE_16);
	scripted_await_requests(count);
}

static void test_commands_of_a_lost_channel_are_repeated_once(void **state)
{
	enum { COUNT = 8, ANSWERED = 3 };
	unsigned sent[COUNT] = {0};

	(void)state;
	open_session(CREDITS);
	start_writes(COUNT);
	for (unsigned i = 0; i < ANSWERED; i++)
		scripted_answer(i, 0);
	for (unsigned i = 0; i < ANSWERED; i++)
		assert_int_equal(join((unsigned)scripted.requests[i].cdb[9]), 0);
	scripted_break();
	scripted_await_requests(COUNT + COUNT - ANSWERED);
	assert_int_equal(scripted.open_count, 2);
	for (unsigned i = COUNT; i < scripted.request_count; i++) {
		assert_int_equal(scripted.requests[i].channel, 2);
		scripted_answer(i, 0);
	}
	for (unsigned i = ANSWERED; i < COUNT; i++)
		assert_int_equal(join((unsigned)scripted.requests[i].cdb[9]), 0);
	for (unsigned i = 0; i < scripted.request_count; i++)
		sent[scripted.requests[i].cdb[9]]++;
	for (unsigned i = 0; i < COUNT; i++) {
		assert_int_equal(sent[scripted.requests[i].cdb[9]], i < ANSWERED ? 1 : 2);
		assert_true(is_written(i));
	}
	srp_session_close(&session);
	assert_int_equal(scripted.close_count, 2);
}

static void test_commands_that_lose_two_channels_fail(void **state)
{
	enum { COUNT = 5 };

	(void)state;
	open_session(CREDITS);
	start_writes(COUNT);
	scripted_break();
	scripted_await_requests(2 * COUNT);
	scripted_break();
	for (unsigned i = 0; i < COUNT; i++) {
		assert_int_equal(join(i), -ENOTCONN);
		assert_false(is_written(i));
	}
	assert_int_equal(scripted.request_count, 2 * COUNT);
	assert_int_equal(free_buffers(), UINT32_MAX);
	srp_session_close(&session);
}

/* So the target ends the earlier channel before it accepts the next one: a write that this session
 * gave up is not executed behind a later one. */
static void test_all_channels_have_one_initiator_port(void **state)
{
	struct srp_target_text target = {.service_id = 1};
	const char *problem;
	uint64_t name;

	(void)state;
	open_session(CREDITS);
	start_writes(1);
	scripted_break();
	scripted_await_requests(2);
	scripted_answer(1, 0);
	assert_int_equal(join(0), 0);
	name = scripted.initiator_exts[0];
	assert_true(name && scripted.initiator_exts[1] == name);
	srp_session_close(&session);
	/* Another program on the same port has another one. */
	open_session(CREDITS);
	assert_true(scripted.initiator_exts[0] && scripted.initiator_exts[0] != name);
	srp_session_close(&session);
	/* The user's choice. */
	target.initiator_ext = 77;
	scripted_reset(CREDITS);
	assert_int_equal(srp_session_open(&session, &target, TIMEOUT_MS, &problem), 0);
	assert_int_equal(scripted.initiator_exts[0], 77);
	srp_session_close(&session);
}

static void test_target_that_is_gone_is_asked_seldom(void **state)
{
	(void)state;
	open_session(CREDITS);
	scripted_set_open_error(-ECONNREFUSED);
	start_writes(1);
	scripted_break();
	assert_int_equal(join(0), -ENOTCONN);
	for (unsigned i = 0; i < 10; i++) {
		start(0, SCSI_READ_16);
		assert_int_equal(join(0), -ENOTCONN);
	}
	assert_int_equal(scripted.open_count, 2);
	scripted_advance(SETTLED);
	scripted_set_open_error(0);
	start(0, SCSI_READ_16);
	scripted_await_requests(2);
	assert_int_equal(scripted.open_count, 3);
	scripted_answer(1, 0);
	assert_int_equal(join(0), 0);
	srp_session_close(&session);
	assert_int_equal(scripted.close_count, 2);
}

/* A command that the target does not answer, and its ABORT TASK. */
static void let_one_be_aborted(void)
{
	start_writes(1);
	scripted_advance(TIMEOUT);
	scripted_await_requests(2);
	assert_int_equal(scripted.requests[1].opcode, SRP_TSK_MGMT);
	assert_true(scripted.requests[1].task_tag == scripted.requests[0].tag);
}

static void test_command_without_answer_is_aborted(void **state)
{
	(void)state;
	open_session(CREDITS);
	let_one_be_aborted();
	/* The target may still read the first buffer. Another command gets the second one. */
	assert_false(free_buffers() & 1);
	start(1, SCSI_READ_16);
	scripted_await_requests(3);
	assert_int_equal(scripted.requests[2].data.address - scripted.requests[0].data.address,
			 TRANSFER_BUFFER_BYTES);
	scripted_answer(2, 0);
	assert_int_equal(join(1), 0);
	assert_int_equal(free_buffers(), UINT32_MAX - 1);
	scripted_answer_abort(1, SRP_RESPONSE_DONE);
	assert_int_equal(join(0), -ETIMEDOUT);
	assert_int_equal(free_buffers(), UINT32_MAX);
	/* The channel goes on. */
	start(1, SCSI_READ_16);
	scripted_await_requests(4);
	scripted_answer(3, 0);
	assert_int_equal(join(1), 0);
	assert_int_equal(scripted.open_count, 1);
	srp_session_close(&session);
}

static void test_response_that_overtakes_the_abort_counts(void **state)
{
	(void)state;
	open_session(CREDITS);
	let_one_be_aborted();
	scripted_answer(0, 0);
	scripted_answer_abort(1, SRP_RESPONSE_DONE);
	assert_int_equal(join(0), 0);
	assert_true(is_written(0));
	srp_session_close(&session);
	assert_int_equal(scripted.open_count, 1);
}

static void note_free_buffers(void *context)
{
	*(uint32_t *)context = free_buffers();
}

/* The channel is closed: then the target can reach the buffers no more. */
static void test_target_that_answers_no_abort_loses_the_channel(void **state)
{
	uint32_t free_at_close = UINT32_MAX;

	(void)state;
	open_session(CREDITS);
	scripted_set_at_close(note_free_buffers, &free_at_close);
	let_one_be_aborted();
	scripted_advance(TIMEOUT);
	scripted_await_requests(3);
	assert_int_equal(free_at_close, UINT32_MAX - 1);
	assert_int_equal(scripted.open_count, 2);
	scripted_answer(2, 0);
	assert_int_equal(join(0), 0);
	assert_true(is_written(0));
	srp_session_close(&session);
}

/* The target has stopped in the middle of an access. */
static void wait_for_the_test(void *context)
{
	sem_t *goes_on = context;

	while (sem_wait(goes_on) != 0)
		continue;
}

static void test_channel_that_cannot_be_closed_keeps_buffers_but_no_caller(void **state)
{
	enum { SENT = 3, LATE = CALLERS_MAX - 1 };
	sem_t goes_on;

	(void)state;
	sem_init(&goes_on, 0, 0);
	open_session(CREDITS);
	scripted_set_at_close(wait_for_the_test, &goes_on);
	start_writes(SENT);
	scripted_break();
	scripted_await_closing();
	start(LATE, SCSI_WRITE_16); /* the channel is not asked for it any more */
	while (callers_inside() < SENT + 1)
		sched_yield();
	scripted_advance(TIMEOUT);
	assert_int_equal(join(LATE), -ETIMEDOUT);
	for (unsigned i = 0; i < SENT; i++)
		assert_int_equal(join(i), -ETIMEDOUT);
	/* The target may still reach the buffers of the commands that it has. */
	assert_int_equal(__builtin_popcount(~free_buffers()), SENT);
	assert_int_equal(scripted.close_count, 0);
	scripted_set_at_close(NULL, NULL);
	sem_post(&goes_on);
	scripted_await_closes(1);
	while (free_buffers() != UINT32_MAX)
		sched_yield();
	/* What was given up is not sent again. */
	start(LATE, SCSI_READ_16);
	scripted_await_requests(SENT + 1);
	assert_int_equal(scripted.requests[SENT].cdb[0], SCSI_READ_16);
	scripted_answer(SENT, 0);
	assert_int_equal(join(LATE), 0);
	srp_session_close(&session);
	sem_destroy(&goes_on);
}

static void test_abort_that_fails_loses_the_channel(void **state)
{
	(void)state;
	open_session(CREDITS);
	let_one_be_aborted();
	scripted_answer_abort(1, SRP_RESPONSE_FAILED);
	scripted_await_requests(3);
	assert_int_equal(scripted.requests[2].channel, 2);
	scripted_answer(2, 0);
	assert_int_equal(join(0), 0);
	srp_session_close(&session);
}

static void end_by_logout(void)
{
	uint8_t unit[SRP_SHORT_BYTES];

	srp_short_encode(&(struct srp_short){.opcode = SRP_T_LOGOUT}, unit);
	scripted_send(unit, sizeof(unit));
}

static void end_by_garbage(void)
{
	static const uint8_t unit[SRP_RSP_BYTES] = {SRP_RSP, [15] = 0x99};

	scripted_send(unit, sizeof(unit));
}

static void end_by_late_event(void)
{
	scripted_advance(SECONDS(1));
	scripted_disconnect();
}

static void test_each_end_of_a_channel_is_noticed(void **state)
{
	static void (*const ends[])(void) = {end_by_logout, end_by_garbage, scripted_break,
					     scripted_disconnect, end_by_late_event};

	(void)state;
	for (unsigned i = 0; i < ARRAY_COUNT(ends); i++) {
		open_session(CREDITS);
		start_writes(1);
		/* Every second time while the thread sleeps. */
		if (i % 2)
			await_asleep();
		ends[i]();
		scripted_await_requests(2);
		assert_int_equal(scripted.requests[1].channel, 2);
		scripted_answer(1, 0);
		assert_int_equal(join(0), 0);
		srp_session_close(&session);
	}
}

static void test_sleeping_thread_is_woken_by_commands_and_arrivals(void **state)
{
	(void)state;
	open_session(CREDITS);
	for (unsigned i = 0; i < 20; i++) {
		await_asleep();
		start(0, SCSI_WRITE_16);
		scripted_await_requests(i + 1);
		if (i % 2)
			await_asleep();
		scripted_answer(i, 0);
		assert_int_equal(join(0), 0);
	}
	srp_session_close(&session);
}

static void test_close_ends_the_commands_that_wait(void **state)
{
	(void)state;
	open_session(2);
	for (unsigned i = 0; i < CALLERS_MAX; i++)
		start(i, SCSI_WRITE_16);
	/* One is at the target, others wait for its answer or for a buffer. */
	scripted_await_requests(1);
	while (callers_inside() < CALLERS_MAX || free_buffers())
		sched_yield();
	srp_session_close(&session);
	for (unsigned i = 0; i < CALLERS_MAX; i++)
		assert_int_equal(join(i), -ESHUTDOWN);
	assert_int_equal(scripted.request_count, 1);
	assert_int_equal(scripted.close_count, 1);
}

/* The thread may see the end before it sees the channel. */
static void test_close_ends_a_channel_that_was_just_opened(void **state)
{
	(void)state;
	for (unsigned i = 0; i < 50; i++) {
		open_session(CREDITS);
		srp_session_close(&session);
		assert_int_equal(scripted.close_count, 1);
	}
}

/* A channel that was opened while the session ends would outlive the buffers. */
static void test_close_opens_no_channel(void **state)
{
	(void)state;
	open_session(CREDITS);
	scripted_break();
	scripted_await_closes(1);
	await_asleep();
	scripted_advance(SETTLED);
	srp_session_close(&session);
	assert_int_equal(scripted.open_count, 1);
	assert_int_equal(scripted.close_count, 1);
}

static void test_refused_login_is_told(void **state)
{
	const struct srp_target_text target = {.service_id = 1};
	const char *problem = NULL;

	(void)state;
	scripted_reset(CREDITS);
	scripted_set_open_error(-ECONNREFUSED);
	assert_int_equal(srp_session_open(&session, &target, TIMEOUT_MS, &problem), -ECONNREFUSED);
	assert_string_equal(problem, "the test says so");
	assert_int_equal(scripted.close_count, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_each_thread_gets_its_own_data_and_response),
		cmocka_unit_test(test_two_requests_serve_everybody_one_at_a_time),
		cmocka_unit_test(test_status_and_sense_reach_the_caller),
		cmocka_unit_test(test_commands_of_a_lost_channel_are_repeated_once),
		cmocka_unit_test(test_commands_that_lose_two_channels_fail),
		cmocka_unit_test(test_all_channels_have_one_initiator_port),
		cmocka_unit_test(test_target_that_is_gone_is_asked_seldom),
		cmocka_unit_test(test_command_without_answer_is_aborted),
		cmocka_unit_test(test_response_that_overtakes_the_abort_counts),
		cmocka_unit_test(test_target_that_answers_no_abort_loses_the_channel),
		cmocka_unit_test(test_channel_that_cannot_be_closed_keeps_buffers_but_no_caller),
		cmocka_unit_test(test_abort_that_fails_loses_the_channel),
		cmocka_unit_test(test_each_end_of_a_channel_is_noticed),
		cmocka_unit_test(test_sleeping_thread_is_woken_by_commands_and_arrivals),
		cmocka_unit_test(test_close_ends_the_commands_that_wait),
		cmocka_unit_test(test_close_ends_a_channel_that_was_just_opened),
		cmocka_unit_test(test_close_opens_no_channel),
		cmocka_unit_test(test_refused_login_is_told),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
