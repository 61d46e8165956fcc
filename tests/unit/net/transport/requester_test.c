/* SPDX-License-Identifier: Apache-2.0 */
/* Dialogues with the requester: what it sends, when it may send, and how requests complete
 * (transport 4.2, 4.5, 4.6, 4.8). */
#include "support/rc_pair.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include "wire/mtu.h"
#include "wire/pkey.h"

static struct rc_pair pair;

static void test_local_key_error_breaks_the_connection_after_what_was_before(void **state)
{
	struct sge sge;
	struct send_request request = {
		.wr_id = 77, .opcode = SEND_SEND, .sge_count = 1, .sges = &sge};

	(void)state;
	rc_pair_connect(&pair, MTU_256);
	post_receive(&pair, &pair.b, 64);
	post_send(&pair, &pair.a, 10);
	sge = area_sge(&pair.a.outbox, pair.a.outbox.bytes + AREA_BYTES - 10, 11);
	assert_int_equal(post(&pair, &pair.a, &request), 0);
	post_send(&pair, &pair.a, 10);
	run_until_idle(&pair);
	expect_wire(&pair.a_to_b, "ONLY@0");
	expect_completion(&pair.a, COMPLETION_SUCCESS);
	assert_int_equal(expect_completion(&pair.a, COMPLETION_LOCAL_PROTECTION)->wr_id, 77);
	expect_completion(&pair.a, COMPLETION_FLUSHED);
	assert_int_equal(pair.a.qp.state, QP_ERROR);
	rc_pair_release(&pair);
}

static void test_region_gone_before_a_resend_is_not_touched(void **state)
{
	(void)state;
	rc_pair_connect(&pair, MTU_256);
	post_receive(&pair, &pair.b, 64);
	post_send(&pair, &pair.a, 10);
	wire_lose(&pair.a_to_b, 0);
	rc_pair_transmit(&pair);
	assert_int_equal(region_deregister(&pair.a.memory, pair.a.outbox.region), 0);
	run_until_idle(&pair);
	expect_wire(&pair.a_to_b, "ONLY@0!");
	expect_completion(&pair.a, COMPLETION_LOCAL_PROTECTION);
	rc_pair_release(&pair);
}

static void test_read_needs_local_write(void **state)
{
	struct region *region;
	struct sge sge;
	struct send_request request = {.opcode = SEND_RDMA_READ, .sge_count = 1, .sges = &sge};

	(void)state;
	rc_pair_connect(&pair, MTU_256);
	assert_int_equal(region_register(&pair.a.memory, &pair.a.pd, pair.a.outbox.bytes, 64,
					 (uintptr_t)pair.a.outbox.bytes, 0, &region),
			 0);
	sge = (struct sge){(uintptr_t)pair.a.outbox.bytes, 8, region->key};
	request.remote_address = (uintptr_t)pair.b.window.bytes;
	request.remote_key = pair.b.window.region->key;
	assert_int_equal(post(&pair, &pair.a, &request), 0);
	run_until_idle(&pair);
	expect_wire(&pair.a_to_b, "");
	expect_completion(&pair.a, COMPLETION_LOCAL_PROTECTION);
	rc_pair_release(&pair);
}

static void test_message_above_the_largest_is_a_length_error(void **state)
{
	struct sge sges[2] = {{.byte_count = 1u << 30}, {.byte_count = 1}};
	struct send_request request = {.opcode = SEND_SEND, .sge_count = 2, .sges = sges};

	(void)state;
	rc_pair_connect(&pair, MTU_256);
	assert_int_equal(post(&pair, &pair.a, &request), 0);
	run_until_idle(&pair);
	expect_completion(&pair.a, COMPLETION_LOCAL_LENGTH);
	rc_pair_release(&pair);
}

static void test_atomic_into_less_than_8_bytes_is_a_length_error(void **state)
{
	struct sge sge;
	struct send_request request = {.opcode = SEND_FETCH_ADD, .sge_count = 1, .sges = &sge};

	(void)state;
	rc_pair_connect(&pair, MTU_256);
	sge = area_sge(&pair.a.inbox, pair.a.inbox.bytes, 7);
	assert_int_equal(post(&pair, &pair.a, &request), 0);
	run_until_idle(&pair);
	expect_wire(&pair.a_to_b, "");
	expect_completion(&pair.a, COMPLETION_LOCAL_LENGTH);
	rc_pair_release(&pair);
}

static void test_reads_beyond_the_depth_wait_and_hold_up_what_follows(void **state)
{
	struct endpoint_options options = endpoint_options_default(QP_RC);

	(void)state;
	options.initiator_depth = 2;
	rc_pair_connect_with(&pair, &options);
	post_receive(&pair, &pair.b, 64);
	for (int i = 0; i < 3; i++)
		post_read(&pair, &pair.a, &pair.b, 0, 8);
	post_send(&pair, &pair.a, 8);
	rc_pair_transmit(&pair);
	expect_wire(&pair.a_to_b, "READ_REQUEST@0 READ_REQUEST@1");
	run_until_idle(&pair);
	expect_wire(&pair.a_to_b, "READ_REQUEST@2 ONLY@3");
	for (int i = 0; i < 4; i++)
		expect_completion(&pair.a, COMPLETION_SUCCESS);
	rc_pair_release(&pair);
}

static void test_depth_0_refuses_reads(void **state)
{
	struct endpoint_options options = endpoint_options_default(QP_RC);

	(void)state;
	options.initiator_depth = 0;
	rc_pair_connect_with(&pair, &options);
	post_read(&pair, &pair.a, &pair.b, 0, 8);
	run_until_idle(&pair);
	expect_completion(&pair.a, COMPLETION_LOCAL_QP_OPERATION);
	rc_pair_release(&pair);
}

static void test_fence_waits_for_earlier_reads_only(void **state)
{
	(void)state;
	rc_pair_connect(&pair, MTU_256);
	for (int i = 0; i < 3; i++)
		post_receive(&pair, &pair.b, 64);
	post_send(&pair, &pair.a, 8);
	post_send_as(&pair, &pair.a, SEND_SEND, SEND_FENCE, 8);
	post_read(&pair, &pair.a, &pair.b, 0, 8);
	post_send_as(&pair, &pair.a, SEND_SEND, SEND_FENCE, 8);
	rc_pair_transmit(&pair);
	expect_wire(&pair.a_to_b, "ONLY@0 ONLY@1 READ_REQUEST@2");
	run_until_idle(&pair);
	expect_wire(&pair.a_to_b, "ONLY@3");
	rc_pair_release(&pair);
}

static void test_unsignaled_slots_come_back_with_the_next_signaled_one(void **state)
{
	struct endpoint_options options = endpoint_options_default(QP_RC);
	struct send_request request = {.opcode = SEND_SEND};

	(void)state;
	options.signal_all = false;
	options.send_requests_max = 4;
	rc_pair_connect_with(&pair, &options);
	for (int i = 0; i < 8; i++)
		post_receive(&pair, &pair.b, 0);
	for (int i = 0; i < 3; i++)
		assert_int_equal(post(&pair, &pair.a, &request), 0);
	run_until_idle(&pair);
	expect_no_completion(&pair.a);
	request.flags = SEND_SIGNALED;
	assert_int_equal(post(&pair, &pair.a, &request), 0);
	assert_int_equal(post(&pair, &pair.a, &request), -ENOMEM);
	run_until_idle(&pair);
	expect_completion(&pair.a, COMPLETION_SUCCESS);
	expect_no_completion(&pair.a);
	for (int i = 0; i < 4; i++)
		assert_int_equal(post(&pair, &pair.a, &request), 0);
	rc_pair_release(&pair);
}

static void test_drain_finishes_what_was_started_and_starts_nothing(void **state)
{
	struct qp_attributes attributes = {.state = QP_SQD, .drained_notify = true};

	(void)state;
	rc_pair_connect(&pair, MTU_256);
	post_receive(&pair, &pair.b, 1000);
	post_receive(&pair, &pair.b, 1000);
	post_send(&pair, &pair.a, 600);

	struct packet packet;

	assert_int_equal(qp_transmit(&pair.a.qp, pair.now, 1, 1, &packet), 1);
	qp_wire_send(&pair.a_to_b, pair.now, &packet);
	assert_int_equal(endpoint_modify(&pair.a, pair.now, &attributes,
					 QP_HAS_STATE | QP_HAS_DRAINED_NOTIFY),
			 0);
	post_send(&pair, &pair.a, 10);
	/* Not before the queue is drained. */
	assert_int_equal(endpoint_set_state(&pair.a, pair.now, QP_RTS), -EINVAL);
	expect_no_event(&pair.a);
	run_until_idle(&pair);
	expect_wire(&pair.a_to_b, "FIRST@0 MIDDLE@1 LAST@2");
	expect_event(&pair.a, QP_EVENT_DRAINED);
	expect_completion(&pair.a, COMPLETION_SUCCESS);
	expect_no_completion(&pair.a);
	assert_int_equal(endpoint_set_state(&pair.a, pair.now, QP_RTS), 0);
	run_until_idle(&pair);
	expect_wire(&pair.a_to_b, "ONLY@3");
	expect_completion(&pair.a, COMPLETION_SUCCESS);
	rc_pair_release(&pair);
}

static void test_error_flushes_both_queues_in_order(void **state)
{
	(void)state;
	rc_pair_connect(&pair, MTU_256);
	for (uint64_t i = 0; i < 3; i++) {
		struct send_request request = {.wr_id = i, .opcode = SEND_SEND};
		struct receive_request receive = {.wr_id = 10 + i};

		assert_int_equal(post(&pair, &pair.a, &request), 0);
		assert_int_equal(qp_post_receive(&pair.a.qp, 0, &receive), 0);
	}
	rc_pair_transmit(&pair);
	assert_int_equal(endpoint_set_state(&pair.a, pair.now, QP_ERROR), 0);
	for (uint64_t i = 0; i < 3; i++) {
		assert_int_equal(expect_completion(&pair.a, COMPLETION_FLUSHED)->wr_id, i);
		assert_int_equal(expect_received(&pair.a, COMPLETION_FLUSHED)->wr_id, 10 + i);
	}
	/* Requests posted later are flushed at once. */
	post_send(&pair, &pair.a, 1);
	post_receive(&pair, &pair.a, 1);
	expect_completion(&pair.a, COMPLETION_FLUSHED);
	expect_received(&pair.a, COMPLETION_FLUSHED);
	assert_int_equal(pair.a.qp.requester.queue.head, pair.a.qp.requester.queue.tail);
	rc_pair_release(&pair);
}

static void test_requests_and_answers_share_the_way_out(void **state)
{
	struct packet packets[1];
	unsigned answers = 0, requests = 0;

	(void)state;
	rc_pair_connect(&pair, MTU_256);
	post_read(&pair, &pair.b, &pair.a, 0, 256 * 50);
	for (int i = 0; i < 10; i++)
		post_write(&pair, &pair.a, &pair.b, 0, 8);
	assert_int_equal(qp_transmit(&pair.b.qp, pair.now, 1, 1, packets), 1);
	qp_receive(&pair.a.qp, pair.now, &packets[0]);
	for (int i = 0; i < 20; i++) {
		assert_int_equal(qp_transmit(&pair.a.qp, pair.now, 1, 1, packets), 1);
		if (opcode_info(packets[0].bth.opcode)->is_response)
			answers++;
		else
			requests++;
	}
	assert_int_equal(answers, 10);
	assert_int_equal(requests, 10);
	rc_pair_release(&pair);
}

/* Lets packets under way arrive and their answers come back, but no timer expire. */
static void let_arrive(void)
{
	run_until(&pair, pair.now + MILLISECONDS(1));
}

/* Only requests with the flag are signaled. */
static void connect_unsignaled(void)
{
	struct endpoint_options options = endpoint_options_default(QP_RC);

	options.signal_all = false;
	rc_pair_connect_with(&pair, &options);
}

static void send_unsignaled(unsigned count)
{
	for (unsigned i = 0; i < count; i++) {
		post_receive(&pair, &pair.b, 64);
		post_send_as(&pair, &pair.a, SEND_SEND, 0, 10);
		let_arrive();
	}
}

static void test_the_ack_of_a_signaled_request_acknowledges_unsignaled_ones(void **state)
{
	(void)state;
	connect_unsignaled();
	send_unsignaled(3);
	expect_wire(&pair.a_to_b, "ONLY@0 ONLY@1 ONLY@2");
	expect_wire(&pair.b_to_a, "");
	post_receive(&pair, &pair.b, 64);
	post_send_as(&pair, &pair.a, SEND_SEND, SEND_SIGNALED, 10);
	let_arrive();
	expect_wire(&pair.a_to_b, "ONLY@3");
	expect_wire(&pair.b_to_a, "ACK@3");
	expect_completion(&pair.a, COMPLETION_SUCCESS);
	expect_no_completion(&pair.a);
	run_until_idle(&pair);
	expect_wire(&pair.a_to_b, "");
	rc_pair_release(&pair);
}

/* The answer to a READ acknowledges the requests before it. */
static void test_a_read_acknowledges_unsignaled_requests(void **state)
{
	(void)state;
	connect_unsignaled();
	send_unsignaled(2);
	post_read(&pair, &pair.a, &pair.b, 0, 8);
	run_until_idle(&pair);
	expect_wire(&pair.a_to_b, "ONLY@0 ONLY@1 READ_REQUEST@2");
	expect_wire(&pair.b_to_a, "READ_RESPONSE_ONLY@2");
	rc_pair_release(&pair);
}

/* The 16th of a queue of 64. */
static void test_a_quarter_of_the_send_queue_goes_unacknowledged_at_most(void **state)
{
	(void)state;
	connect_unsignaled();
	send_unsignaled(15);
	expect_wire(&pair.b_to_a, "");
	send_unsignaled(2);
	expect_wire(&pair.b_to_a, "ACK@15");
	rc_pair_release(&pair);
}

static void test_unsignaled_requests_are_asked_about_when_the_time_is_up(void **state)
{
	(void)state;
	connect_unsignaled();
	send_unsignaled(2);
	run_until_idle(&pair);
	expect_wire(&pair.a_to_b, "ONLY@0 ONLY@1 ONLY@1");
	expect_wire(&pair.b_to_a, "ACK@1");
	/* Nothing was lost, so no retry was used. */
	assert_int_equal(pair.a.qp.requester.retries_left, pair.a.qp.attributes.retry_count);
	rc_pair_release(&pair);
}

static void test_a_lost_unsignaled_request_is_sent_again(void **state)
{
	(void)state;
	connect_unsignaled();
	wire_lose(&pair.a_to_b, 0);
	send_unsignaled(1);
	run_until_idle(&pair);
	expect_wire(&pair.a_to_b, "ONLY@0! ONLY@0");
	expect_wire(&pair.b_to_a, "ACK@0");
	expect_received(&pair.b, COMPLETION_SUCCESS);
	rc_pair_release(&pair);
	connect_unsignaled();
	wire_lose(&pair.a_to_b, 0);
	wire_lose(&pair.a_to_b, 1);
	send_unsignaled(2);
	run_until_idle(&pair);
	expect_wire(&pair.a_to_b, "ONLY@0! ONLY@1! ONLY@1 ONLY@0 ONLY@1");
	expect_wire(&pair.b_to_a, "NAK_SEQUENCE@0 ACK@1");
	rc_pair_release(&pair);
}

/* A request that fails locally completes after those before it, and waits for no timer. */
static void test_a_request_that_fails_asks_about_unsignaled_ones(void **state)
{
	struct sge sge;
	struct send_request request = {.opcode = SEND_SEND, .sge_count = 1, .sges = &sge};

	(void)state;
	connect_unsignaled();
	send_unsignaled(1);
	sge = area_sge(&pair.a.outbox, pair.a.outbox.bytes + AREA_BYTES - 10, 11);
	assert_int_equal(post(&pair, &pair.a, &request), 0);
	let_arrive();
	expect_wire(&pair.a_to_b, "ONLY@0 ONLY@0");
	expect_completion(&pair.a, COMPLETION_LOCAL_PROTECTION);
	rc_pair_release(&pair);
}

static void test_a_drain_asks_about_unsignaled_requests(void **state)
{
	(void)state;
	connect_unsignaled();
	send_unsignaled(1);
	assert_int_equal(endpoint_set_state(&pair.a, pair.now, QP_SQD), 0);
	assert_true(pair.a.qp.attributes.is_draining);
	let_arrive();
	expect_wire(&pair.a_to_b, "ONLY@0 ONLY@0");
	assert_false(pair.a.qp.attributes.is_draining);
	rc_pair_release(&pair);
}

/* No later packet would ask for the ACK. */
static void test_without_a_timer_every_request_asks(void **state)
{
	struct endpoint_options options = endpoint_options_default(QP_RC);

	(void)state;
	options.signal_all = false;
	options.timeout = 0;
	rc_pair_connect_with(&pair, &options);
	send_unsignaled(2);
	expect_wire(&pair.b_to_a, "ACK@0 ACK@1");
	rc_pair_release(&pair);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_local_key_error_breaks_the_connection_after_what_was_before),
		cmocka_unit_test(test_region_gone_before_a_resend_is_not_touched),
		cmocka_unit_test(test_read_needs_local_write),
		cmocka_unit_test(test_message_above_the_largest_is_a_length_error),
		cmocka_unit_test(test_atomic_into_less_than_8_bytes_is_a_length_error),
		cmocka_unit_test(test_reads_beyond_the_depth_wait_and_hold_up_what_follows),
		cmocka_unit_test(test_depth_0_refuses_reads),
		cmocka_unit_test(test_fence_waits_for_earlier_reads_only),
		cmocka_unit_test(test_unsignaled_slots_come_back_with_the_next_signaled_one),
		cmocka_unit_test(test_drain_finishes_what_was_started_and_starts_nothing),
		cmocka_unit_test(test_error_flushes_both_queues_in_order),
		cmocka_unit_test(test_requests_and_answers_share_the_way_out),
		cmocka_unit_test(test_the_ack_of_a_signaled_request_acknowledges_unsignaled_ones),
		cmocka_unit_test(test_a_read_acknowledges_unsignaled_requests),
		cmocka_unit_test(test_a_quarter_of_the_send_queue_goes_unacknowledged_at_most),
		cmocka_unit_test(test_unsignaled_requests_are_asked_about_when_the_time_is_up),
		cmocka_unit_test(test_a_lost_unsignaled_request_is_sent_again),
		cmocka_unit_test(test_a_request_that_fails_asks_about_unsignaled_ones),
		cmocka_unit_test(test_a_drain_asks_about_unsignaled_requests),
		cmocka_unit_test(test_without_a_timer_every_request_asks),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
