/* SPDX-License-Identifier: Apache-2.0 */
/* Many connections, each used for the first time: which of them ask for a grant, on whose behalf,
 * and with which outcome. */
#include "runtime/rma/rma_grant_requests.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include "runtime/rma/rma.h"
#include "runtime/rma/rma_state.h"
#include "unit/runtime/runtime_pair.h"

enum {
	CONNECTIONS = 120,
	AHEAD = 64,  /* the number that rma_grant_requests.c asks for */
	BROKEN = 20, /* this connection is in Error */
};

/* The ends of each connection. */
static struct pair_end ends[CONNECTIONS][2];

static const struct rma *rma_of(unsigned i)
{
	return ends[i][0].qp->qp.owner_rma;
}

static uint64_t bytes_in_ring(void)
{
	return pair.ends[0].adapter->runtime->direct.channels[0]->out.tail;
}

static struct send_request write_request(const struct sge *sge)
{
	return (struct send_request){
		.wr_id = 7,
		.opcode = SEND_RDMA_WRITE,
		.flags = SEND_SIGNALED,
		.remote_address = (uintptr_t)pair.ends[1].buffer,
		.remote_key = pair.ends[1].region->key,
		.sge_count = 1,
		.sges = sge,
	};
}

/* Posts as ibv_post_send does. Returns whether the request was carried out at once. */
static bool post_write(unsigned i)
{
	struct pair_end *end = &ends[i][0];
	const struct sge sge = {(uintptr_t)end->buffer, 64, end->region->key};
	const struct send_request request = write_request(&sge);

	if (pair_post_at_once(end, &request))
		return true;
	adapter_lock(end->adapter);
	assert_int_equal(qp_object_post_send(end->qp, 0, &request), 0);
	adapter_send(end->adapter, end->qp);
	adapter_unlock(end->adapter);
	return false;
}

static void take_write(unsigned i)
{
	struct completion completion;

	pair_poll_one(&ends[i][0], &completion);
	assert_int_equal(completion.status, COMPLETION_SUCCESS);
	assert_int_equal(completion.qpn, ends[i][0].qp->qp.qpn);
	assert_memory_equal(pair.ends[0].buffer, pair.ends[1].buffer, 64);
}

static bool write_and_check(unsigned i)
{
	pair_fill(pair.ends[0].buffer, 64, i);

	bool is_at_once = post_write(i);

	take_write(i);
	return is_at_once;
}

/* Lets both ends work until the answer has come. */
static void wait_for_answer(unsigned i)
{
	const time_ns start = runtime_now();

	while (rma_serial(rma_of(i)->channel->rma_out, rma_of(i)) % 2 == 0) {
		struct adapter *adapter = ends[i][1].adapter;

		assert_false(pair_is_overdue(start));
		adapter_lock(adapter);
		adapter_progress(adapter, adapter_now(adapter));
		adapter_unlock(adapter);
	}
}

static int start(void **state)
{
	if (pair_start_connected(state) != 0)
		return -1;
	pair_set_verdict(RESOLVED_DIRECT);
	pair_send_and_check(10, 1);
	for (unsigned i = 0; i < CONNECTIONS; i++) {
		pair_connect_another(ends[i]);
		if (i && ends[i][0].qp->qp.qpn != ends[i - 1][0].qp->qp.qpn + 1)
			return -1;
	}

	struct adapter *adapter = ends[BROKEN][0].adapter;
	const struct qp_attributes error = {.state = QP_ERROR};

	adapter_lock(adapter);

	int result =
		qp_object_modify(ends[BROKEN][0].qp, adapter_now(adapter), &error, QP_HAS_STATE);

	adapter_unlock(adapter);
	return result;
}

static void test_who_uses_one_connection_asks_for_that(void **state)
{
	(void)state;
	while (!write_and_check(0))
		continue;
	assert_non_null(rma_of(0));
	for (unsigned i = 1; i < CONNECTIONS; i++)
		assert_null(rma_of(i));
}

static void test_the_second_in_a_row_asks_for_those_behind(void **state)
{
	(void)state;
	assert_false(write_and_check(1));
	for (unsigned i = 2; i <= 1 + AHEAD; i++)
		if (i == BROKEN)
			assert_null(rma_of(i));
		else
			assert_true(rma_of(i)->is_asked_ahead);
	for (unsigned i = 2 + AHEAD; i < CONNECTIONS; i++)
		assert_null(rma_of(i));
}

/* And half way there, for the next ones. */
static void test_the_first_request_of_those_needs_no_packet(void **state)
{
	(void)state;
	for (unsigned i = 2; i < 2 + AHEAD / 2; i++) {
		uint64_t before;

		if (i == BROKEN)
			continue;
		wait_for_answer(i);
		before = bytes_in_ring();
		assert_true(write_and_check(i));
		assert_int_equal(bytes_in_ring(), before);
		assert_null(rma_of(2 + AHEAD));
	}
	wait_for_answer(2 + AHEAD / 2);
	assert_true(write_and_check(2 + AHEAD / 2));
	for (unsigned i = 2 + AHEAD; i <= 2 + AHEAD / 2 + AHEAD; i++)
		assert_true(rma_of(i)->is_asked_ahead);
	assert_null(rma_of(3 + AHEAD / 2 + AHEAD));
}

/* Packets before the first WRITE, and after it. */
static void test_a_queue_pair_that_was_asked_for_sends_as_ever(void **state)
{
	const unsigned used = 50;
	struct pair_end first[2] = {pair.ends[0], pair.ends[1]};

	(void)state;
	wait_for_answer(used);
	pair.ends[0].qp = ends[used][0].qp;
	pair.ends[1].qp = ends[used][1].qp;
	pair_send_and_check(100, 1);
	pair_send_and_check(3000, 2);
	assert_true(write_and_check(used));
	pair_send_and_check(100, 3);
	assert_true(write_and_check(used));
	pair.ends[0].qp = first[0].qp;
	pair.ends[1].qp = first[1].qp;
}

/* Whether or not the answer has come: the question went before the request. */
static void test_a_request_before_the_answer_follows_the_question(void **state)
{
	const unsigned used = 60;
	struct qp *qp = &ends[used][0].qp->qp;
	struct pair_end *end = &ends[used][0];
	const struct sge sge = {(uintptr_t)end->buffer, 64, end->region->key};
	const struct send_request request = write_request(&sge);
	struct rma *rma = qp->owner_rma;

	(void)state;
	wait_for_answer(used);
	pair_fill(end->buffer, 64, 60);
	adapter_lock(end->adapter);

	/* An answer to another question does not count. */
	const uint32_t ask_number = rma->ask_number;

	rma->ask_number = ask_number + 1000;
	assert_int_equal(qp_post_send(qp, 0, &request), 0);
	adapter_send(end->adapter, end->qp);
	assert_false(rma->is_asked_ahead);
	assert_true(rma->has_asked && rma->is_awaited);
	assert_int_equal(rma->ask_number, ask_number + 1000); /* not asked twice */
	rma->ask_number = ask_number;
	adapter_unlock(end->adapter);
	take_write(used);
	while (!write_and_check(used))
		continue;
}

static void test_the_last_ones_are_asked_for_and_used(void **state)
{
	(void)state;
	for (unsigned i = 2 + AHEAD; i < CONNECTIONS; i++) {
		(void)write_and_check(i);
		assert_non_null(rma_of(i));
	}
	for (unsigned i = 0; i < CONNECTIONS; i++)
		while (i != BROKEN && !write_and_check(i))
			continue;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_who_uses_one_connection_asks_for_that),
		cmocka_unit_test(test_the_second_in_a_row_asks_for_those_behind),
		cmocka_unit_test(test_the_first_request_of_those_needs_no_packet),
		cmocka_unit_test(test_a_queue_pair_that_was_asked_for_sends_as_ever),
		cmocka_unit_test(test_a_request_before_the_answer_follows_the_question),
		cmocka_unit_test(test_the_last_ones_are_asked_for_and_used),
	};

	return cmocka_run_group_tests(tests, start, pair_end_all);
}
