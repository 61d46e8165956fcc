/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Requests whose access the peer has cut off fail or go by packets, and none counts as done.
 *
 * Covers: runtime/rma/rma.c
 * Covers: runtime/rma/rma_short.c
 */
#include "runtime/rma/rma.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include "ipc/rma_area.h"
#include "runtime/rma/rma_state.h"
#include "unit/runtime/runtime_pair.h"
#include "unit/runtime/shared_pages.h"

enum { BYTES = 64, WR_ID = 77 };

/* By one SGE a request takes the short form, by two the general one. */
enum way { AT_ONCE, BY_ONE_SGE, BY_TWO_SGES };

static struct pair_end ends[2];

static struct send_request request_of(enum send_opcode opcode, enum way way,
				      struct sge ret_sges[static 2])
{
	const uint32_t byte_count = opcode == SEND_FETCH_ADD ? 8 : BYTES;
	const uint32_t first = way == BY_TWO_SGES ? byte_count / 2 : byte_count;
	const uintptr_t bytes = (uintptr_t)ends[0].buffer;

	ret_sges[0] = (struct sge){bytes, first, ends[0].region->key};
	ret_sges[1] = (struct sge){bytes + first, byte_count - first, ends[0].region->key};
	return (struct send_request){
		.wr_id = WR_ID,
		.opcode = opcode,
		.flags = SEND_SIGNALED,
		.remote_address = page_begin(),
		.remote_key = pair.ends[1].region->key,
		.compare_or_add = 1,
		.sge_count = way == BY_TWO_SGES ? 2 : 1,
		.sges = ret_sges,
	};
}

static enum completion_status queue_request(enum send_opcode opcode, enum way way)
{
	struct sge sges[2];
	const struct send_request request = request_of(opcode, way, sges);
	struct completion completion;

	adapter_lock(ends[0].adapter);

	const time_ns now = adapter_now(ends[0].adapter);

	assert_int_equal(qp_object_post_send(ends[0].qp, now, &request), 0);
	adapter_transmit(ends[0].adapter, now);
	adapter_unlock(ends[0].adapter);
	pair_poll_one(&ends[0], &completion);
	assert_int_equal(completion.wr_id, WR_ID);
	return completion.status;
}

static const struct rma *own_rma(void)
{
	return ends[0].qp->qp.owner_rma;
}

/* A new connection that uses RMA. */
static void connect_by_rma(enum qp_type type)
{
	pair_connect_another_as(type, ends);
	ends[1].qp->qp.attributes.access |= ACCESS_REMOTE_ATOMIC;
	for (unsigned i = 0; i < 1000 && !(own_rma() && own_rma()->message_count); i++)
		assert_int_equal(queue_request(SEND_RDMA_WRITE, BY_ONE_SGE), COMPLETION_SUCCESS);
	assert_true(own_rma() && own_rma()->message_count);
}

static void set_cut_off(bool is_cut_off)
{
	uint64_t *word = &pair_channel()->rma_out->hazard;

	runtime_lock(pair_runtime());
	*word = is_cut_off ? *word | RMA_HAZARD_CUT_OFF : *word & ~RMA_HAZARD_CUT_OFF;
	runtime_unlock(pair_runtime());
}

static int start(void **state)
{
	if (pair_start_connected(state) != 0)
		return -1;
	pair_set_verdict(RESOLVED_DIRECT);
	pair_send_and_check(10, 1);
	pair.ends[1].region->access |= ACCESS_REMOTE_ATOMIC;
	share(PLACE + 1);
	return 0;
}

static void test_a_write_that_was_cut_off_fails(void **state)
{
	(void)state;
	for (enum way way = BY_ONE_SGE; way <= BY_TWO_SGES; way++) {
		connect_by_rma(QP_RC);
		set_cut_off(true);
		assert_int_equal(queue_request(SEND_RDMA_WRITE, way), COMPLETION_RETRY_EXCEEDED);
		assert_int_equal(ends[0].qp->qp.state, QP_ERROR);
		set_cut_off(false);
	}
}

/* It was not posted yet, so the queue pair fails and then flushes it. */
static void test_a_write_that_was_cut_off_before_it_was_posted_is_flushed(void **state)
{
	struct sge sges[2];
	struct send_request request;

	(void)state;
	connect_by_rma(QP_RC);
	request = request_of(SEND_RDMA_WRITE, AT_ONCE, sges);
	set_cut_off(true);
	assert_false(pair_post_at_once(&ends[0], &request));
	assert_int_equal(ends[0].qp->qp.state, QP_ERROR);
	set_cut_off(false);
	assert_int_equal(queue_request(SEND_RDMA_WRITE, BY_ONE_SGE), COMPLETION_FLUSHED);
}

static void test_an_atomic_that_was_cut_off_fails(void **state)
{
	(void)state;
	connect_by_rma(QP_RC);
	set_cut_off(true);
	assert_int_equal(queue_request(SEND_FETCH_ADD, BY_ONE_SGE), COMPLETION_RETRY_EXCEEDED);
	set_cut_off(false);
}

/* A READ changes nothing, so packets can carry it out again. */
static void test_a_read_that_was_cut_off_goes_by_packets(void **state)
{
	(void)state;
	connect_by_rma(QP_RC);
	for (enum way way = BY_ONE_SGE; way <= BY_TWO_SGES; way++) {
		const uint32_t before = own_rma()->message_count;

		set_cut_off(true);
		assert_int_equal(queue_request(SEND_RDMA_READ, way), COMPLETION_SUCCESS);
		assert_int_equal(own_rma()->message_count, before);
		set_cut_off(false);
	}
}

/* It is lost, or not; the sender of an unreliable connection does not learn which. */
static void test_an_unreliable_write_that_was_cut_off_is_not_repeated(void **state)
{
	(void)state;
	connect_by_rma(QP_UC);
	for (enum way way = BY_ONE_SGE; way <= BY_TWO_SGES; way++) {
		const uint32_t before = own_rma()->message_count;

		set_cut_off(true);
		assert_int_equal(queue_request(SEND_RDMA_WRITE, way), COMPLETION_SUCCESS);
		assert_int_equal(own_rma()->message_count, before + 1);
		set_cut_off(false);
	}
}

/* An access that no fence of the peer covers looks behind a fence of its own. */
static void test_an_access_without_fences_stands_or_not(void **state)
{
	struct channel *channel = pair_channel();
	const bool was_fenced = channel->out.is_fenced;

	(void)state;
	runtime_lock(pair_runtime());
	channel->out.is_fenced = false;
	for (unsigned is_cut_off = 0; is_cut_off < 2; is_cut_off++) {
		hazard_begin(channel);
		assert_int_equal(channel->rma_out->hazard % 2, 1);
		channel->rma_out->hazard |= is_cut_off ? RMA_HAZARD_CUT_OFF : 0;
		assert_int_equal(hazard_stands(channel->rma_out), !is_cut_off);
		/* The next request of the access looks behind a fence, too. */
		assert_false(hazard_stands_clearly(channel->rma_out));
		assert_int_equal(hazard_stands(channel->rma_out), !is_cut_off);
		hazard_end(channel->rma_out);
		assert_int_equal(channel->rma_out->hazard % 2, 0);
	}
	channel->rma_out->hazard &= ~(RMA_HAZARD_CUT_OFF | RMA_HAZARD_IS_LOCKED);
	channel->out.is_fenced = was_fenced;
	runtime_unlock(pair_runtime());
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_write_that_was_cut_off_fails),
		cmocka_unit_test(test_a_write_that_was_cut_off_before_it_was_posted_is_flushed),
		cmocka_unit_test(test_an_atomic_that_was_cut_off_fails),
		cmocka_unit_test(test_a_read_that_was_cut_off_goes_by_packets),
		cmocka_unit_test(test_an_unreliable_write_that_was_cut_off_is_not_repeated),
		cmocka_unit_test(test_an_access_without_fences_stands_or_not),
	};

	return cmocka_run_group_tests(tests, start, pair_end_all);
}
