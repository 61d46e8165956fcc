/* SPDX-License-Identifier: Apache-2.0 */
/* Outgoing packets on both data paths, and the effect of softibd's answers and generations.
 * Covers: runtime/channel_queues.c */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include <sched.h>
#include "runtime/runtime_state.h"
#include "net/transport/responses.h"
#include "unit/runtime/runtime_pair.h"

static void test_messages_go_by_the_fabric(void **state)
{
	static const uint32_t sizes[] = {0, 1, 64, 1024, 1025, 100000, PAIR_BUFFER_BYTES};

	(void)state;
	for (unsigned i = 0; i < ARRAY_COUNT(sizes); i++)
		pair_send_and_check(sizes[i], i);
	/* Single packets, at least one per MTU, and acknowledgements. */
	assert_true(pair_fabric_packets() > PAIR_BUFFER_BYTES / 1024);
	assert_int_equal(__atomic_load_n(&pair.softibd.ring_fetch_count, __ATOMIC_SEQ_CST), 0);
}

static void prepare(struct pair_end *end)
{
	time_ns now = runtime_now();

	adapter_lock(end->adapter);
	adapter_prepare(end->adapter, end->qp, now);
	adapter_transmit(end->adapter, now);
	adapter_unlock(end->adapter);
}

/* A connection without any traffic so far. */
static void test_ring_is_fetched_before_the_first_message(void **state)
{
	uint32_t questions = __atomic_load_n(&pair.softibd.question_count, __ATOMIC_SEQ_CST);
	time_ns start = runtime_now();

	(void)state;
	pair_set_verdict(RESOLVED_DIRECT);
	prepare(&pair.ends[0]);
	prepare(&pair.ends[1]);
	while (__atomic_load_n(&pair.softibd.ring_fetch_count, __ATOMIC_SEQ_CST) == 0) {
		assert_false(pair_is_overdue(start));
		sched_yield();
	}
	/* softibd has been asked already. */
	prepare(&pair.ends[0]);
	prepare(&pair.ends[1]);
	pair_send_and_check(100, 1);
	assert_int_equal(__atomic_load_n(&pair.softibd.question_count, __ATOMIC_SEQ_CST),
			 questions + 2);
}

static void test_offloaded_flow_passes_softibd_by(void **state)
{
	struct flow_counters *counters =
		(struct flow_counters *)(pair.softibd.process + process_layout().flows_offset);

	(void)state;
	pair_set_verdict(RESOLVED_DIRECT);
	pair_send_and_check(100, 1);
	assert_int_equal(__atomic_load_n(&pair.softibd.ring_fetch_count, __ATOMIC_SEQ_CST), 1);

	uint32_t before = pair_fabric_packets();
	uint64_t packets_before = __atomic_load_n(&counters[2].packets, __ATOMIC_RELAXED);

	for (unsigned i = 0; i < 200; i++)
		pair_send_and_check(i * 700, i);
	pair_send_and_check(PAIR_BUFFER_BYTES, 3);
	assert_int_equal(pair_fabric_packets(), before);
	assert_int_equal(__atomic_load_n(&pair.softibd.ring_fetch_count, __ATOMIC_SEQ_CST), 1);
	/* The counters count every packet of a train. */
	assert_true(__atomic_load_n(&counters[2].packets, __ATOMIC_RELAXED) - packets_before >=
		    PAIR_BUFFER_BYTES / 1024);
}

static void test_new_generation_brings_traffic_back_to_the_fabric(void **state)
{
	uint32_t questions = __atomic_load_n(&pair.softibd.question_count, __ATOMIC_SEQ_CST);
	uint32_t before = pair_fabric_packets();

	(void)state;
	pair_set_verdict(RESOLVED_FABRIC);
	pair_send_and_check(5000, 1);
	assert_true(pair_fabric_packets() >= before + 5);
	assert_int_equal(__atomic_load_n(&pair.softibd.question_count, __ATOMIC_SEQ_CST),
			 questions + 2);
}

static void test_retry_answers_are_waited_out(void **state)
{
	uint32_t before = pair_fabric_packets();

	(void)state;
	__atomic_store_n(&pair.softibd.retries, 3, __ATOMIC_SEQ_CST);
	pair_set_verdict(RESOLVED_DIRECT);
	pair_send_and_check(5000, 1);
	/* The ACK does not wait for an answer. */
	assert_in_range(pair_fabric_packets(), before, before + 1);
	assert_int_equal(__atomic_load_n(&pair.softibd.retries, __ATOMIC_SEQ_CST), 0);
}

/* softibd does not answer any more about the flow of ends[1]. */
static void leave_unresolved(void)
{
	__atomic_store_n(&pair.softibd.silent_adapter, 2, __ATOMIC_SEQ_CST);
	pair_set_verdict(RESOLVED_FABRIC);
}

static void test_an_ack_does_not_wait_for_its_flow(void **state)
{
	(void)state;
	leave_unresolved();
	for (unsigned i = 0; i < 20; i++)
		pair_send_and_check(i * 700, i);
}

static void await_due_responses(struct pair_end *end)
{
	const time_ns start = runtime_now();
	bool are_due;

	do {
		adapter_lock(end->adapter);
		(void)adapter_progress(end->adapter, runtime_now());
		are_due = responses_are_due(&end->qp->qp);
		adapter_unlock(end->adapter);
		assert_false(pair_is_overdue(start));
	} while (!are_due);
}

/* The program may end after it has destroyed its queue pair, and never come to another round. */
static void test_last_responses_are_published(void **state)
{
	struct pair_end *reader = &pair.ends[0], *target = &pair.ends[1];
	struct completion completion;
	struct channel *softibd = &pair_runtime()->softibd;
	uint32_t before;

	(void)state;
	leave_unresolved();
	before = pair_fabric_packets();
	pair_post_send(reader, SEND_RDMA_READ, 1, 100);
	await_due_responses(target);
	adapter_lock(target->adapter);
	adapter_last_answers(target->adapter, target->qp, runtime_now());
	assert_int_equal(softibd->out.published, softibd->out.tail);
	assert_false(responses_are_due(&target->qp->qp));
	adapter_unlock(target->adapter);
	pair_poll_one(reader, &completion);
	assert_int_equal(completion.status, COMPLETION_SUCCESS);
	assert_int_equal(pair_fabric_packets(), before + 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_messages_go_by_the_fabric),
		cmocka_unit_test(test_ring_is_fetched_before_the_first_message),
		cmocka_unit_test(test_offloaded_flow_passes_softibd_by),
		cmocka_unit_test(test_new_generation_brings_traffic_back_to_the_fabric),
		cmocka_unit_test(test_retry_answers_are_waited_out),
		cmocka_unit_test(test_an_ack_does_not_wait_for_its_flow),
		cmocka_unit_test(test_last_responses_are_published),
	};

	return cmocka_run_group_tests(tests, pair_start_connected, pair_end_all);
}
