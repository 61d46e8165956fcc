/* SPDX-License-Identifier: Apache-2.0 */
/* The progress thread: a program that does not poll is served all the same. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include <sched.h>
#include <string.h>
#include "ipc/doorbell.h"
#include "runtime/progress_thread.h"
#include "runtime/runtime_state.h"
#include "unit/runtime/runtime_pair.h"

enum { POLLS_IN_VAIN = 200 };

/* The program posts and then waits for an event; nobody polls. */
static void wait_for_event_instead_of_polling(uint32_t byte_count)
{
	struct completion completion;
	unsigned before = __atomic_load_n(&pair.told_cqs, __ATOMIC_SEQ_CST);

	pair_fill(pair.ends[0].buffer, byte_count, 9);
	memset(pair.ends[1].buffer, 0, byte_count);
	pair_post_receive(&pair.ends[1], 1, PAIR_BUFFER_BYTES);
	adapter_lock(pair.ends[0].adapter);
	cq_arm(pair.ends[0].cq, CQ_ARMED_NEXT);
	cq_arm(pair.ends[1].cq, CQ_ARMED_NEXT);
	adapter_unlock(pair.ends[0].adapter);
	pair_post_send(&pair.ends[0], SEND_SEND, 2, byte_count);
	pair_wait_until_told(&pair.told_cqs, before + 2);
	pair_poll_one(&pair.ends[0], &completion);
	assert_int_equal(completion.status, COMPLETION_SUCCESS);
	pair_poll_one(&pair.ends[1], &completion);
	assert_int_equal(completion.status, COMPLETION_SUCCESS);
	assert_memory_equal(pair.ends[0].buffer, pair.ends[1].buffer, byte_count);
}

static void test_progress_thread_works_while_nobody_polls(void **state)
{
	(void)state;
	pair_set_verdict(RESOLVED_DIRECT);
	for (unsigned i = 0; i < 20; i++)
		wait_for_event_instead_of_polling(i * 10);
	wait_for_event_instead_of_polling(PAIR_BUFFER_BYTES);
	pair_set_verdict(RESOLVED_FABRIC);
	for (unsigned i = 0; i < 20; i++)
		wait_for_event_instead_of_polling(i * 10);
	wait_for_event_instead_of_polling(PAIR_BUFFER_BYTES);
}

/* A program that spins on the last byte of a message never polls at the target. */
static void test_writes_arrive_while_the_target_spins_on_memory(void **state)
{
	(void)state;
	pair_set_verdict(RESOLVED_DIRECT);
	for (unsigned i = 1; i < 50; i++) {
		struct completion completion;
		volatile uint8_t *last = &pair.ends[1].buffer[99];
		time_ns start = runtime_now();

		*last = 0;
		memset(pair.ends[0].buffer, (int)i, 100);
		pair_post_send(&pair.ends[0], SEND_RDMA_WRITE, i, 100);
		while (__atomic_load_n(last, __ATOMIC_ACQUIRE) != i) {
			assert_false(pair_is_overdue(start));
			sched_yield();
		}
		pair_poll_one(&pair.ends[0], &completion);
		assert_int_equal(completion.status, COMPLETION_SUCCESS);
	}
}

static enum progress_mode progress_mode_now(void)
{
	struct process_runtime *runtime = pair.ends[0].adapter->runtime;

	runtime_lock(runtime);

	enum progress_mode mode = runtime->progress.mode;

	runtime_unlock(runtime);
	return mode;
}

/* Most polls of a polling program find nothing. The progress thread counts them over a tenth of a
 * millisecond: exchanges alone are too few on a slow machine or under the thread sanitizer. */
static void poll_in_vain(void)
{
	struct adapter *adapter = pair.ends[0].adapter;

	for (unsigned i = 0; i < POLLS_IN_VAIN; i++) {
		adapter_lock(adapter);
		adapter_progress(adapter, adapter_now(adapter));
		adapter_unlock(adapter);
	}
}

static void exchange_one_by_polling(void)
{
	struct completion completion;

	pair_post_receive(&pair.ends[1], 1, PAIR_BUFFER_BYTES);
	pair_post_send(&pair.ends[0], SEND_SEND, 2, 8);
	pair_poll_one(&pair.ends[1], &completion);
	assert_int_equal(completion.status, COMPLETION_SUCCESS);
	pair_poll_one(&pair.ends[0], &completion);
	assert_int_equal(completion.status, COMPLETION_SUCCESS);
	poll_in_vain();
}

/* Nobody rings for a progress thread that stays out, so it must come back by itself when it is
 * called. */
static void test_progress_thread_stays_out_of_a_polling_program_until_called(void **state)
{
	(void)state;
	pair_set_verdict(RESOLVED_DIRECT);

	time_ns start = runtime_now();

	while (progress_mode_now() != PROGRESS_STAYING_OUT) {
		assert_false(pair_is_overdue(start));
		exchange_one_by_polling();
	}
	start = runtime_now();
	do {
		/* The program keeps polling: only the call can be the reason. */
		assert_false(pair_is_overdue(start));
		exchange_one_by_polling();
		adapter_lock(pair.ends[0].adapter);
		adapter_expect_silence(pair.ends[0].adapter);
		adapter_unlock(pair.ends[0].adapter);
	} while (progress_mode_now() == PROGRESS_STAYING_OUT);
	wait_for_event_instead_of_polling(100);
}

static void poll_until_progress_thread_is_out(void)
{
	time_ns start = runtime_now();

	while (progress_mode_now() != PROGRESS_STAYING_OUT) {
		assert_false(pair_is_overdue(start));
		adapter_lock(pair.ends[0].adapter);
		for (unsigned i = 0; i < 200; i++)
			(void)adapter_poll(pair.ends[0].adapter);
		adapter_unlock(pair.ends[0].adapter);
	}
}

static void wait_for_progress_thread(void)
{
	time_ns start = runtime_now();

	while (progress_mode_now() == PROGRESS_STAYING_OUT) {
		assert_false(pair_is_overdue(start));
		sched_yield();
	}
}

/* Nothing arrives, so the progress thread was not woken once: the program tells it. */
static void test_program_that_only_polls_excuses_the_progress_thread(void **state)
{
	(void)state;
	poll_until_progress_thread_is_out();
	/* The progress thread comes back by itself as soon as nobody polls. */
	wait_for_progress_thread();
	wait_for_event_instead_of_polling(100);
}

/* The call may come before the progress thread knows that it is excused. */
static void test_excused_progress_thread_comes_when_called(void **state)
{
	(void)state;
	for (unsigned i = 0; i < 10; i++) {
		poll_until_progress_thread_is_out();
		adapter_lock(pair.ends[0].adapter);
		adapter_expect_silence(pair.ends[0].adapter);
		adapter_unlock(pair.ends[0].adapter);
		wait_for_event_instead_of_polling(100);
	}
}

/* The name tells a person who lists the program's threads whose thread this is. */
static void test_progress_thread_names_itself(void **state)
{
	pthread_t helper = pair.ends[0].adapter->runtime->progress.thread;
	time_ns start = runtime_now();
	char name[16];

	(void)state;
	do {
		assert_false(pair_is_overdue(start));
		assert_int_equal(pthread_getname_np(helper, name, sizeof(name)), 0);
	} while (strcmp(name, "softib") != 0);
}

/* The program goes to sleep between the trial in which it polled and the lock. The thread of the
 * runtime waits for the lock meanwhile. */
static void test_a_program_that_slept_after_the_trial_is_not_left_alone(void **state)
{
	struct process_runtime *runtime = pair_runtime();
	enum progress_mode mode;
	uint64_t calls;

	(void)state;
	runtime_lock(runtime);
	mode = runtime->progress.mode;
	runtime->progress.mode = PROGRESS_LISTENING;
	calls = runtime->progress.call_count;
	runtime_call_progress_thread(runtime);
	assert_false(progress_thread_stay_out(runtime, calls));
	assert_int_equal(runtime->progress.mode, PROGRESS_LISTENING);
	assert_true(progress_thread_stay_out(runtime, runtime->progress.call_count));
	assert_int_equal(runtime->progress.mode, PROGRESS_STAYING_OUT);
	runtime->progress.mode = mode;
	runtime_unlock(runtime);
	/* Whatever this has disarmed. */
	doorbell_ring(runtime->doorbell);
	wait_for_event_instead_of_polling(10);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_progress_thread_works_while_nobody_polls),
		cmocka_unit_test(test_progress_thread_names_itself),
		cmocka_unit_test(test_writes_arrive_while_the_target_spins_on_memory),
		cmocka_unit_test(test_progress_thread_stays_out_of_a_polling_program_until_called),
		cmocka_unit_test(test_program_that_only_polls_excuses_the_progress_thread),
		cmocka_unit_test(test_excused_progress_thread_comes_when_called),
		cmocka_unit_test(test_a_program_that_slept_after_the_trial_is_not_left_alone),
	};

	return cmocka_run_group_tests(tests, pair_start_connected, pair_end_all);
}
