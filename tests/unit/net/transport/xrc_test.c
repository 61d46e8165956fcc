/* SPDX-License-Identifier: Apache-2.0 */
/* XRC dialogues: an initiator names a shared queue in each request, a target serves them all (vol
 * 1, annex A14; transport 5.7). */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include "support/rc_pair.h"
#include "wire/mtu.h"

enum { QUEUE_COUNT = 2, QUEUE_REQUESTS = 512, MESSAGES_MAX = 200 };

/* a is the initiator, b the target. */
static struct rc_pair pair;
static struct receive_queue queues[QUEUE_COUNT];

static void connect_xrc(void)
{
	const struct endpoint_options initiator = endpoint_options_default(QP_XRC_INI);
	const struct endpoint_options target = endpoint_options_default(QP_XRC_TGT);

	rc_pair_init(&pair, &initiator, &target);
	for (unsigned i = 0; i < QUEUE_COUNT; i++) {
		assert_int_equal(receive_queue_init(&queues[i], &pair.b.pd, QUEUE_REQUESTS, 2), 0);
		pair.b.xrc_queues[i] = &queues[i];
	}
	rc_pair_bring_up(&pair);
}

static void disconnect(void)
{
	rc_pair_release(&pair);
	for (unsigned i = 0; i < QUEUE_COUNT; i++)
		receive_queue_release(&queues[i]);
}

static uint8_t *post_to_queue(unsigned srqn, uint64_t wr_id, uint32_t byte_count)
{
	uint8_t *bytes = area_take(&pair.b.inbox, byte_count);
	const struct sge sge = area_sge(&pair.b.inbox, bytes, byte_count);
	const struct receive_request request = {.wr_id = wr_id, .sge_count = 1, .sges = &sge};

	assert_int_equal(receive_queue_post(&queues[srqn], &request), 0);
	return bytes;
}

static const uint8_t *send_to(uint32_t srqn, uint32_t byte_count)
{
	uint8_t *bytes = area_take(&pair.a.outbox, byte_count);
	const struct sge sge = area_sge(&pair.a.outbox, bytes, byte_count);
	const struct send_request request = {
		.opcode = SEND_SEND,
		.remote_srqn = srqn,
		.sge_count = 1,
		.sges = &sge,
	};

	fill_pattern(bytes, byte_count, byte_count + pair.a.outbox.used);
	assert_int_equal(post(&pair, &pair.a, &request), 0);
	return bytes;
}

static void test_each_message_goes_to_the_queue_that_it_names(void **state)
{
	(void)state;
	connect_xrc();

	uint8_t *first = post_to_queue(0, 10, 600);
	uint8_t *second = post_to_queue(1, 20, 600);
	const uint8_t *to_second = send_to(1, 600);
	const uint8_t *to_first = send_to(0, 300);

	run_until_idle(&pair);
	expect_wire(&pair.a_to_b, "FIRST@0 MIDDLE@1 LAST@2 FIRST@3 LAST@4");
	expect_wire(&pair.b_to_a, "ACK@4");
	expect_completion(&pair.a, COMPLETION_SUCCESS);
	expect_completion(&pair.a, COMPLETION_SUCCESS);

	const struct completion *received = expect_received(&pair.b, COMPLETION_SUCCESS);

	assert_int_equal(received->wr_id, 20);
	assert_int_equal(received->byte_count, 600);
	assert_int_equal(received->qpn, pair.b.qp.qpn);
	assert_int_equal(expect_received(&pair.b, COMPLETION_SUCCESS)->wr_id, 10);
	assert_memory_equal(second, to_second, 600);
	assert_memory_equal(first, to_first, 300);
	assert_int_equal(pair.b.shared_taken, 2);
	disconnect();
}

static void test_a_lost_packet_resumes_from_the_nak(void **state)
{
	(void)state;
	connect_xrc();

	uint8_t *received = post_to_queue(1, 1, 600);

	wire_lose(&pair.a_to_b, 1);

	const uint8_t *sent = send_to(1, 600);

	run_until_idle(&pair);
	expect_wire(&pair.a_to_b, "FIRST@0 MIDDLE@1! LAST@2 MIDDLE@1 LAST@2");
	expect_wire(&pair.b_to_a, "NAK_SEQUENCE@1 ACK@2");
	expect_completion(&pair.a, COMPLETION_SUCCESS);
	expect_received(&pair.b, COMPLETION_SUCCESS);
	assert_memory_equal(received, sent, 600);
	disconnect();
}

/* The other queue has receive requests, but they are not for this message. */
static void test_an_empty_queue_is_answered_with_rnr(void **state)
{
	(void)state;
	connect_xrc();
	post_to_queue(0, 1, 100);
	send_to(1, 100);
	run_until(&pair, pair.now + MICROSECONDS(10));
	expect_wire(&pair.a_to_b, "ONLY@0");
	expect_wire(&pair.b_to_a, "RNR@0");
	post_to_queue(1, 2, 100);
	run_until_idle(&pair);
	assert_int_equal(expect_received(&pair.b, COMPLETION_SUCCESS)->wr_id, 2);
	assert_int_equal(receive_queue_count(&queues[0]), 1);
	disconnect();
}

static void test_an_unknown_queue_is_an_invalid_request(void **state)
{
	(void)state;
	connect_xrc();
	send_to(3, 100);
	run_until_idle(&pair);
	expect_wire(&pair.b_to_a, "NAK_INVALID@0");
	expect_completion(&pair.a, COMPLETION_REMOTE_INVALID_REQUEST);
	expect_event(&pair.b, QP_EVENT_REQUEST_ERROR);
	assert_int_equal(pair.b.qp.state, QP_ERROR);
	disconnect();
}

static void test_a_number_of_more_than_24_bits_is_refused(void **state)
{
	const struct send_request request = {.opcode = SEND_SEND, .remote_srqn = 0x1000000};

	(void)state;
	connect_xrc();
	assert_int_equal(post(&pair, &pair.a, &request), -EINVAL);
	disconnect();
}

static void test_a_message_keeps_the_queue_of_its_first_packet(void **state)
{
	struct packet packets[4];

	(void)state;
	connect_xrc();
	post_to_queue(0, 10, 600);
	post_to_queue(1, 20, 600);
	send_to(1, 600);
	assert_int_equal(qp_transmit(&pair.a.qp, pair.now, 4, 1, packets), 3);
	packets[1].xrc_srqn = 0;
	packets[2].xrc_srqn = 3;
	for (unsigned i = 0; i < 3; i++)
		qp_receive(&pair.b.qp, pair.now, &packets[i]);
	assert_int_equal(expect_received(&pair.b, COMPLETION_SUCCESS)->wr_id, 20);
	assert_int_equal(receive_queue_count(&queues[0]), 1);
	disconnect();
}

static void test_a_queue_destroyed_in_a_message_breaks_the_connection(void **state)
{
	struct packet packets[4];

	(void)state;
	connect_xrc();
	post_to_queue(1, 20, 600);
	send_to(1, 600);
	assert_int_equal(qp_transmit(&pair.a.qp, pair.now, 4, 1, packets), 3);
	qp_receive(&pair.b.qp, pair.now, &packets[0]);
	pair.b.xrc_queues[1] = NULL;
	qp_forget_receive_queue(&pair.b.qp, &queues[1]);
	qp_receive(&pair.b.qp, pair.now, &packets[1]);
	assert_int_equal(pair.b.qp.state, QP_ERROR);
	expect_nothing_received(&pair.b);
	expect_event(&pair.b, QP_EVENT_REQUEST_ERROR);
	run_until_idle(&pair);
	expect_wire(&pair.b_to_a, "NAK_INVALID@1");
	expect_completion(&pair.a, COMPLETION_REMOTE_INVALID_REQUEST);
	disconnect();
}

static void test_an_error_in_a_message_flushes_the_request_it_holds_only(void **state)
{
	struct packet packets[4];

	(void)state;
	connect_xrc();
	post_to_queue(1, 20, 600);
	post_to_queue(1, 21, 600);
	send_to(1, 600);
	assert_int_equal(qp_transmit(&pair.a.qp, pair.now, 4, 1, packets), 3);
	qp_receive(&pair.b.qp, pair.now, &packets[0]);
	assert_int_equal(endpoint_set_state(&pair.b, pair.now, QP_ERROR), 0);
	assert_int_equal(expect_received(&pair.b, COMPLETION_FLUSHED)->wr_id, 20);
	expect_nothing_received(&pair.b);
	expect_event(&pair.b, QP_EVENT_LAST_REQUEST_REACHED);
	assert_int_equal(receive_queue_count(&queues[1]), 1);
	disconnect();
}

/* Queue 1 is in another protection domain than the window (transport 5.7). */
static void test_keys_are_checked_in_the_domain_of_the_named_queue(void **state)
{
	struct protection_domain other = {0};

	(void)state;
	connect_xrc();
	queues[1].pd = &other;
	post_write(&pair, &pair.a, &pair.b, 0, 600);
	post_read(&pair, &pair.a, &pair.b, 0, 600);
	post_atomic(&pair, &pair.a, &pair.b, SEND_FETCH_ADD, 5, 0);
	run_until_idle(&pair);
	for (unsigned i = 0; i < 3; i++)
		expect_completion(&pair.a, COMPLETION_SUCCESS);

	uint8_t *bytes = area_take(&pair.a.outbox, 8);
	const struct sge sge = area_sge(&pair.a.outbox, bytes, 8);
	const struct send_request request = {
		.opcode = SEND_RDMA_WRITE,
		.remote_srqn = 1,
		.remote_address = (uintptr_t)pair.b.window.bytes,
		.remote_key = pair.b.window.region->key,
		.sge_count = 1,
		.sges = &sge,
	};

	assert_int_equal(post(&pair, &pair.a, &request), 0);
	run_until_idle(&pair);
	expect_completion(&pair.a, COMPLETION_REMOTE_ACCESS);
	expect_event(&pair.b, QP_EVENT_ACCESS_ERROR);
	disconnect();
}

static void test_a_lost_read_answer_is_given_again(void **state)
{
	(void)state;
	connect_xrc();
	fill_pattern(pair.b.window.bytes, 600, 7);
	wire_lose(&pair.b_to_a, 1);

	uint8_t *bytes = post_read(&pair, &pair.a, &pair.b, 0, 600);

	run_until_idle(&pair);
	expect_wire(&pair.a_to_b, "READ_REQUEST@0 READ_REQUEST@1");
	expect_completion(&pair.a, COMPLETION_SUCCESS);
	assert_memory_equal(bytes, pair.b.window.bytes, 600);
	disconnect();
}

static void test_a_read_whose_queue_is_gone_is_refused(void **state)
{
	struct packet packet;

	(void)state;
	connect_xrc();
	post_read(&pair, &pair.a, &pair.b, 0, 600);
	assert_int_equal(qp_transmit(&pair.a.qp, pair.now, 1, 1, &packet), 1);
	qp_receive(&pair.b.qp, pair.now, &packet);
	pair.b.xrc_queues[0] = NULL;
	qp_forget_receive_queue(&pair.b.qp, &queues[0]);
	run_until_idle(&pair);
	expect_wire(&pair.b_to_a, "NAK_ACCESS@0");
	expect_completion(&pair.a, COMPLETION_REMOTE_ACCESS);
	disconnect();
}

static void test_each_half_has_only_its_own_queue(void **state)
{
	const struct send_request send = {.opcode = SEND_SEND};
	const struct receive_request receive = {0};

	(void)state;
	connect_xrc();
	assert_int_equal(qp_post_receive(&pair.a.qp, pair.now, &receive), -EINVAL);
	assert_int_equal(qp_post_receive(&pair.b.qp, pair.now, &receive), -EINVAL);
	assert_int_equal(qp_post_send(&pair.b.qp, pair.now, &send), -EINVAL);
	assert_int_equal(endpoint_set_state(&pair.b, pair.now, QP_RESET), 0);
	assert_null(pair.b.qp.receive_queue);
	disconnect();
}

/* A wire that loses, duplicates and delays: each queue gets its messages once and in order. */
static void test_every_message_arrives_once_over_a_bad_wire(void **state)
{
	uint32_t sizes[QUEUE_COUNT][MESSAGES_MAX];
	unsigned counts[QUEUE_COUNT] = {0};
	unsigned seen[QUEUE_COUNT] = {0};
	struct random random = random_seeded(914);

	(void)state;
	connect_xrc();
	pair.a_to_b.random = random_seeded(915);
	pair.b_to_a.random = random_seeded(916);
	pair.a_to_b.faults = (struct wire_faults){.lose = 30, .duplicate = 30, .delay = 30};
	pair.b_to_a.faults = pair.a_to_b.faults;
	for (unsigned i = 0; i < MESSAGES_MAX; i++) {
		unsigned srqn = (unsigned)random_below(&random, QUEUE_COUNT);
		uint32_t byte_count = 1 + (uint32_t)random_below(&random, 1000);

		post_to_queue(srqn, (uint64_t)srqn << 32 | counts[srqn], 1000);
		sizes[srqn][counts[srqn]++] = byte_count;
		send_to(srqn, byte_count);
		if (i % 32 == 31)
			run_until_idle(&pair);
	}
	run_until_idle(&pair);
	for (unsigned i = 0; i < MESSAGES_MAX; i++) {
		const struct completion *received = expect_received(&pair.b, COMPLETION_SUCCESS);
		unsigned srqn = (unsigned)(received->wr_id >> 32);

		expect_completion(&pair.a, COMPLETION_SUCCESS);
		assert_int_equal(received->wr_id & UINT32_MAX, seen[srqn]);
		assert_int_equal(received->byte_count, sizes[srqn][seen[srqn]++]);
	}
	expect_nothing_received(&pair.b);
	disconnect();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_each_message_goes_to_the_queue_that_it_names),
		cmocka_unit_test(test_a_lost_packet_resumes_from_the_nak),
		cmocka_unit_test(test_an_empty_queue_is_answered_with_rnr),
		cmocka_unit_test(test_an_unknown_queue_is_an_invalid_request),
		cmocka_unit_test(test_a_number_of_more_than_24_bits_is_refused),
		cmocka_unit_test(test_a_message_keeps_the_queue_of_its_first_packet),
		cmocka_unit_test(test_a_queue_destroyed_in_a_message_breaks_the_connection),
		cmocka_unit_test(test_an_error_in_a_message_flushes_the_request_it_holds_only),
		cmocka_unit_test(test_keys_are_checked_in_the_domain_of_the_named_queue),
		cmocka_unit_test(test_a_lost_read_answer_is_given_again),
		cmocka_unit_test(test_a_read_whose_queue_is_gone_is_refused),
		cmocka_unit_test(test_each_half_has_only_its_own_queue),
		cmocka_unit_test(test_every_message_arrives_once_over_a_bad_wire),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
