/* SPDX-License-Identifier: Apache-2.0 */
/* RMA between two adapters of this process: without packets where that is allowed, by packets where
 * it is not, and with the same outcome. */
#include "runtime/rma/rma.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include "runtime/rma/rma_state.h"
#include "runtime/rma/rma_target.h"
#include "unit/runtime/runtime_pair.h"

/* All direct channels: there is one. */
static uint64_t bytes_in_rings(void)
{
	return pair_runtime()->direct.count ? pair_runtime()->direct.channels[0]->out.tail : 0;
}

static void one_sided(enum send_opcode opcode, uint32_t byte_count, uint32_t seed)
{
	struct pair_end *from = &pair.ends[opcode == SEND_RDMA_READ];
	struct completion completion;

	pair_fill(from->buffer, byte_count, seed);
	memset(pair.ends[opcode != SEND_RDMA_READ].buffer, 0, byte_count);
	pair_post_send(&pair.ends[0], opcode, seed, byte_count);
	pair_poll_one(&pair.ends[0], &completion);
	assert_int_equal(completion.status, COMPLETION_SUCCESS);
	assert_int_equal(completion.wr_id, seed);
	assert_memory_equal(pair.ends[0].buffer, pair.ends[1].buffer, byte_count);
}

/* Sends requests until one has used no packets. */
static bool comes_to_send_nothing(void)
{
	for (uint32_t i = 0; i < 100; i++) {
		uint64_t before = bytes_in_rings();

		one_sided(SEND_RDMA_WRITE, 8, i);
		if (bytes_in_rings() == before)
			return true;
	}
	return false;
}

static void test_requests_by_the_fabric_are_packets(void **state)
{
	uint32_t before = pair_fabric_packets();

	(void)state;
	for (uint32_t i = 0; i < 10; i++)
		one_sided(SEND_RDMA_WRITE, 100, i);
	assert_true(pair_fabric_packets() >= before + 10);
}

static void test_requests_soon_need_no_packets(void **state)
{
	static const uint32_t sizes[] = {1, 8, 1024, 1025, 9000, 100000, PAIR_BUFFER_BYTES};

	(void)state;
	pair_set_verdict(RESOLVED_DIRECT);
	pair_send_and_check(100, 1);
	assert_true(comes_to_send_nothing());

	uint64_t before = bytes_in_rings();

	for (unsigned i = 0; i < ARRAY_COUNT(sizes); i++) {
		one_sided(SEND_RDMA_WRITE, sizes[i], i);
		one_sided(SEND_RDMA_READ, sizes[i], i + 100);
	}
	assert_int_equal(bytes_in_rings(), before);
}

static void test_sends_and_one_sided_requests_mix(void **state)
{
	(void)state;
	for (uint32_t i = 0; i < 300; i++) {
		if (i % 7 == 3)
			pair_send_and_check(i * 30, i);
		else
			one_sided(i % 3 ? SEND_RDMA_WRITE : SEND_RDMA_READ, 1 + i * 40, i);
	}
	assert_true(comes_to_send_nothing());
}

/* The counters count the packets that the requests stand for. */
static void test_counters_go_on(void **state)
{
	const struct flow_counters *counters =
		(const void *)(pair.softibd.process + process_layout().flows_offset);
	uint64_t packets = counters[2].packets, returned = counters[2].returned_packets;

	(void)state;
	one_sided(SEND_RDMA_WRITE, 4000, 1);
	assert_int_equal(counters[2].packets - packets, 4);
	assert_int_equal(counters[2].returned_packets - returned, 1);
}

static void test_a_new_generation_ends_short_sends_until_the_flow_is_direct_again(void **state)
{
	uint32_t before = pair_fabric_packets();

	(void)state;
	pair_set_verdict(RESOLVED_FABRIC);
	for (uint32_t i = 0; i < 10; i++)
		one_sided(SEND_RDMA_WRITE, 100, i);
	assert_true(pair_fabric_packets() >= before + 10);
	pair_set_verdict(RESOLVED_DIRECT);
	assert_true(comes_to_send_nothing());
}

/* The whole list goes, in order, while the first request is being acknowledged. */
static void test_a_stream_of_writes_comes_to_need_no_packets(void **state)
{
	struct completion completion;

	(void)state;
	pair_send_and_check(10, 1);
	for (uint64_t round = 0; round < 20; round++) {
		for (uint64_t i = 0; i < 32; i++)
			pair_post_send(&pair.ends[0], SEND_RDMA_WRITE, i, 64);
		for (uint64_t i = 0; i < 32; i++) {
			pair_poll_one(&pair.ends[0], &completion);
			assert_int_equal(completion.status, COMPLETION_SUCCESS);
			assert_int_equal(completion.wr_id, i);
		}
	}
	assert_true(comes_to_send_nothing());
}

/* From ends[0] to the buffer of the other end. */
static struct send_request write_request(uint64_t wr_id, const struct sge *sge)
{
	return (struct send_request){
		.wr_id = wr_id,
		.opcode = SEND_RDMA_WRITE,
		.flags = SEND_SIGNALED,
		.remote_address = (uintptr_t)pair.ends[1].buffer,
		.remote_key = pair.ends[1].region->key,
		.sge_count = 1,
		.sges = sge,
	};
}

/* One request goes by packets behind the question, and the rest by RMA after the answer. */
static void test_what_follows_a_question_waits_for_its_answer(void **state)
{
	enum { REQUESTS = 8, BYTES = 3000 };
	struct pair_end *from = &pair.ends[0], *to = &pair.ends[1];
	const struct requester *requester = &from->qp->qp.requester;
	struct sge sge = {(uintptr_t)from->buffer, BYTES, from->region->key};
	struct completion completion;

	(void)state;
	assert_true(comes_to_send_nothing());
	pair_fill(from->buffer, BYTES, 78);
	adapter_lock(from->adapter);
	rma_forget(&from->qp->qp);
	for (uint64_t i = 0; i < REQUESTS; i++) {
		const struct send_request request = write_request(i, &sge);

		assert_int_equal(
			qp_object_post_send(from->qp, adapter_now(from->adapter), &request), 0);
	}
	adapter_transmit(from->adapter, adapter_now(from->adapter));
	assert_int_equal(requester->queue.started - requester->queue.done, 1);
	adapter_unlock(from->adapter);
	for (uint64_t i = 0; i < REQUESTS; i++) {
		pair_poll_one(from, &completion);
		assert_int_equal(completion.status, COMPLETION_SUCCESS);
		assert_int_equal(completion.wr_id, i);
	}
	assert_memory_equal(from->buffer, to->buffer, BYTES);

	const struct rma *rma = from->qp->qp.owner_rma;

	assert_int_equal(rma->message_count, REQUESTS - 1);
}

/* A long request waits itself, but neither for ever nor for an answer that won't come. */
static void test_a_long_request_waits_for_the_answer_to_its_question(void **state)
{
	enum { REQUESTS = 3, BYTES = 100000 };
	struct pair_end *from = &pair.ends[0], *to = &pair.ends[1];
	struct qp *qp = &from->qp->qp;
	struct sge sge = {(uintptr_t)from->buffer, BYTES, from->region->key};
	struct completion completion;

	(void)state;
	assert_true(comes_to_send_nothing());
	for (unsigned is_given_up = 0; is_given_up < 2; is_given_up++) {
		pair_fill(from->buffer, BYTES, 79 + is_given_up);
		adapter_lock(from->adapter);

		struct flow *flow = qp->owner_route;

		rma_forget(qp);
		for (uint64_t i = 0; i < REQUESTS; i++) {
			const struct send_request request = write_request(i, &sge);

			assert_int_equal(
				qp_object_post_send(from->qp, adapter_now(from->adapter), &request),
				0);
		}
		adapter_transmit(from->adapter, adapter_now(from->adapter));
		assert_int_equal(qp->requester.queue.started, qp->requester.queue.done);
		assert_true(qp->requester.pacing_deadline != TIME_NEVER);

		struct rma *rma = qp->owner_rma;
		const time_ns asked_at = rma->asked_at;
		const uint64_t position = rma->asked_position;

		assert_int_equal(rma_run(from->adapter, qp, flow, asked_at + MICROSECONDS(900)),
				 RMA_GOES_ON);
		assert_int_equal(rma_run(from->adapter, qp, flow, asked_at + MICROSECONDS(1100)),
				 RMA_BY_PACKETS);
		qp->requester.hold = HOLD_NONE;
		/* The question was read. */
		rma->asked_position = rma->channel->out.head_seen;
		assert_int_equal(rma_run(from->adapter, qp, flow, asked_at), RMA_BY_PACKETS);
		qp->requester.hold = HOLD_NONE;
		rma->asked_position = position;
		rma->asked_at = is_given_up ? 0 : asked_at + SECONDS(PAIR_PATIENCE_S);
		if (is_given_up)
			rma->ask_number++; /* so this answer does not count */
		adapter_unlock(from->adapter);
		for (uint64_t i = 0; i < REQUESTS; i++) {
			pair_poll_one(from, &completion);
			assert_int_equal(completion.status, COMPLETION_SUCCESS);
			assert_int_equal(completion.wr_id, i);
		}
		assert_memory_equal(from->buffer, to->buffer, BYTES);
		if (!is_given_up)
			assert_int_equal(rma->message_count, REQUESTS);
	}
	adapter_lock(from->adapter);
	rma_forget(qp);
	adapter_unlock(from->adapter);
	assert_true(comes_to_send_nothing());
}

static void write_as_verbs(uint64_t wr_id)
{
	struct pair_end *from = &pair.ends[0];
	struct sge sge = {(uintptr_t)from->buffer, 8, from->region->key};
	const struct send_request request = write_request(wr_id, &sge);

	adapter_lock(from->adapter);
	assert_int_equal(qp_post_send(&from->qp->qp, adapter_now(from->adapter), &request), 0);
	adapter_send(from->adapter, from->qp);
	adapter_unlock(from->adapter);
}

/* There are no short sends while requests are held back, so they must be possible again when there
 * is nothing to wait for. */
static void test_a_hold_ends_with_what_it_waited_for(void **state)
{
	struct requester *requester = &pair.ends[0].qp->qp.requester;
	struct completion completion;

	(void)state;
	assert_true(comes_to_send_nothing());
	for (uint64_t i = 0; i < 20; i++) {
		adapter_lock(pair.ends[0].adapter);
		requester->hold = HOLD_UNTIL_ACKNOWLEDGED;
		adapter_unlock(pair.ends[0].adapter);
		write_as_verbs(i);
		pair_poll_one(&pair.ends[0], &completion);
		assert_int_equal(completion.wr_id, i);
		assert_int_equal(requester->hold, HOLD_NONE);
	}
}

/* The target takes its grant back. The initiator asks again after the target has announced the end
 * of the grant, and before the target last reads how far the initiator has come. */
static void test_who_asks_while_its_grant_is_taken_back_is_not_forgotten(void **state)
{
	struct pair_end *from = &pair.ends[0], *to = &pair.ends[1];
	struct completion completion;

	(void)state;
	assert_true(comes_to_send_nothing());
	for (uint32_t i = 0; i < 5; i++)
		one_sided(SEND_RDMA_WRITE, 5000, i);
	adapter_lock(from->adapter);

	struct rma *rma = from->qp->qp.owner_rma;
	uint32_t *serial = &rma->channel->rma_in->grants[rma->index].serial;
	const uint32_t asked = rma->ask_number;
	struct sge sge = {(uintptr_t)from->buffer, 3000, from->region->key};
	struct send_request request = {
		.opcode = SEND_RDMA_WRITE,
		.flags = SEND_SIGNALED,
		.remote_address = (uintptr_t)to->buffer,
		.remote_key = to->region->key,
		.sge_count = 1,
		.sges = &sge,
	};

	assert_non_null(to->qp->qp.responder.placed);
	assert_int_equal(*serial % 2, 1);
	++*serial;
	pair_fill(from->buffer, 3000, 77);
	rma->ask_pause = 0;
	assert_int_equal(qp_object_post_send(from->qp, adapter_now(from->adapter), &request), 0);
	adapter_transmit(from->adapter, adapter_now(from->adapter));
	assert_int_not_equal(rma->ask_number, asked);
	rma_target_end(&to->qp->qp);
	adapter_unlock(from->adapter);
	pair_poll_one(from, &completion);
	assert_int_equal(completion.status, COMPLETION_SUCCESS);
	assert_memory_equal(from->buffer, to->buffer, 3000);
	assert_true(comes_to_send_nothing());
}

/* A right that is taken back is gone at once; the responder gives the answer. */
/* The target hears nothing of them all the while. */
static void test_packets_go_on_after_the_psns_came_round(void **state)
{
	const uint32_t psns_each = PAIR_BUFFER_BYTES / 1024, psns = 1 << 23;

	(void)state;
	pair_set_verdict(RESOLVED_DIRECT);
	pair_send_and_check(100, 1);
	assert_true(comes_to_send_nothing());

	uint64_t before = bytes_in_rings();

	for (uint32_t i = 0; i <= psns / psns_each; i++) {
		struct completion completion;

		pair_post_send(&pair.ends[0], SEND_RDMA_WRITE, i, PAIR_BUFFER_BYTES);
		pair_poll_one(&pair.ends[0], &completion);
		assert_int_equal(completion.status, COMPLETION_SUCCESS);
	}
	assert_int_equal(bytes_in_rings(), before);
	pair_set_verdict(RESOLVED_FABRIC);
	one_sided(SEND_RDMA_WRITE, 100, 1);
	pair_send_and_check(100, 2);
}

static void test_without_the_right_the_responder_refuses(void **state)
{
	const struct qp_attributes attributes = {.access = ACCESS_REMOTE_READ};
	struct completion completion;

	(void)state;
	one_sided(SEND_RDMA_WRITE, 8, 1);
	adapter_lock(pair.ends[1].adapter);
	assert_int_equal(qp_object_modify(pair.ends[1].qp, adapter_now(pair.ends[1].adapter),
					  &attributes, QP_HAS_ACCESS),
			 0);
	adapter_unlock(pair.ends[1].adapter);
	memset(pair.ends[1].buffer, 0x11, 8);
	memset(pair.ends[0].buffer, 0x22, 8);
	pair_post_send(&pair.ends[0], SEND_RDMA_WRITE, 5, 8);
	pair_poll_one(&pair.ends[0], &completion);
	assert_int_equal(completion.status, COMPLETION_REMOTE_INVALID_REQUEST);
	assert_int_equal(pair.ends[1].buffer[0], 0x11);
	/* Nothing is left of it on either side. */
	assert_null(pair.ends[0].qp->qp.owner_rma);
	assert_null(pair.ends[1].qp->qp.responder.placed);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_requests_by_the_fabric_are_packets),
		cmocka_unit_test(test_requests_soon_need_no_packets),
		cmocka_unit_test(test_sends_and_one_sided_requests_mix),
		cmocka_unit_test(test_counters_go_on),
		cmocka_unit_test(
			test_a_new_generation_ends_short_sends_until_the_flow_is_direct_again),
		cmocka_unit_test(test_a_stream_of_writes_comes_to_need_no_packets),
		cmocka_unit_test(test_what_follows_a_question_waits_for_its_answer),
		cmocka_unit_test(test_a_long_request_waits_for_the_answer_to_its_question),
		cmocka_unit_test(test_a_hold_ends_with_what_it_waited_for),
		cmocka_unit_test(test_who_asks_while_its_grant_is_taken_back_is_not_forgotten),
		cmocka_unit_test(test_packets_go_on_after_the_psns_came_round),
		cmocka_unit_test(test_without_the_right_the_responder_refuses),
	};

	return cmocka_run_group_tests(tests, pair_start_connected, pair_end_all);
}
