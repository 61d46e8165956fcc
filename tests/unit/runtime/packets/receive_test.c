/* SPDX-License-Identifier: Apache-2.0 */
/* Incoming records: garbage in a ring does no harm. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdlib.h>
#include <string.h>
#include "base/bytes.h"
#include "base/random.h"
#include "unit/runtime/runtime_pair.h"

static void test_garbage_from_softibd_is_counted_not_obeyed(void **state)
{
	struct process_runtime *runtime;
	uint64_t before;

	(void)state;
	assert_int_equal(runtime_get(pair.session, &runtime), 0);
	before = runtime->drops.malformed;
	/* Only words of the test: an answer for a flow that does not exist, and a question where
	 * none belongs. */
	adapter_lock(pair.ends[0].adapter);

	struct ring_record *record = ring_reserve(&runtime->softibd.out, 4);

	assert_non_null(record);
	record->kind = RECORD_PACKET;
	record->port = 0x0101;
	record->packet_count = 1;
	memcpy(record->body, "\0\2\0\2", 4);
	ring_commit(&runtime->softibd.out, record);
	channel_publish(&runtime->softibd);
	adapter_unlock(pair.ends[0].adapter);

	time_ns start = runtime_now();
	uint64_t now_malformed;

	do {
		adapter_lock(pair.ends[0].adapter);
		adapter_progress(pair.ends[0].adapter, adapter_now(pair.ends[0].adapter));
		now_malformed = runtime->drops.malformed;
		adapter_unlock(pair.ends[0].adapter);
		assert_false(pair_is_overdue(start));
	} while (now_malformed == before);
	pair_send_and_check(10, 4);
}

/* Packets that a peer should never have sent, in a ring that it rightly has. */
static void test_random_packets_of_a_peer_do_no_harm(void **state)
{
	struct process_runtime *runtime;
	struct random random = random_seeded(7);

	(void)state;
	pair_set_verdict(RESOLVED_DIRECT);
	pair_send_and_check(100, 1);
	assert_int_equal(runtime_get(pair.session, &runtime), 0);
	assert_int_equal(runtime->direct.count, 1);
	for (unsigned i = 0; i < 20000; i++) {
		struct channel *channel = runtime->direct.channels[0];
		uint32_t byte_count = (uint32_t)random_below(&random, 200);

		adapter_lock(pair.ends[0].adapter);

		struct ring_record *record = ring_reserve(&channel->out, byte_count);

		assert_non_null(record);
		record->kind = random_below(&random, 8) ? RECORD_PACKET
							: (uint16_t)random_next(&random) | 2;
		record->port = random_below(&random, 4) ? 0x0101 : (uint16_t)random_next(&random);
		record->packet_count =
			random_below(&random, 2) ? 1 : (uint32_t)random_next(&random);
		for (uint32_t at = 0; at < byte_count; at++)
			record->body[at] = (uint8_t)random_next(&random);
		/* Often a plausible start: LRH to LID 2 with the right length, BTH with a known
		 * transport. */
		if (byte_count >= 20 && random_below(&random, 2)) {
			uint8_t *body = record->body;

			body[0] = 0;
			body[1] = 2;
			put_be16(body + 4, (uint16_t)((byte_count + 4) / 4));
			body[8] &= 0x1f;
			body[9] &= 0x30;
		}
		ring_commit(&channel->out, record);
		channel_publish(channel);
		adapter_progress(pair.ends[0].adapter, adapter_now(pair.ends[0].adapter));
		adapter_unlock(pair.ends[0].adapter);
	}
	assert_false(channel_is_corrupt(runtime->direct.channels[0]));
	pair_send_and_check(100, 2);
}

enum { QKEY = 0x1234, DATAGRAM_BYTES = 32, DATAGRAM_PLACE_BYTES = 128, DATAGRAMS = 20 };

struct datagram_ends {
	struct qp_object *qps[2];
};

static void modify_datagram_qp(struct qp_object *qp, enum qp_state state, uint32_t mask)
{
	const struct qp_attributes attributes = {.state = state, .port_number = 1, .qkey = QKEY};

	assert_int_equal(qp_object_modify(qp, runtime_now(), &attributes, QP_HAS_STATE | mask), 0);
}

static int start_datagrams(void **state)
{
	struct datagram_ends *ends = calloc(1, sizeof(*ends));

	pair_set_verdict(RESOLVED_DIRECT);
	for (unsigned i = 0; i < 2; i++) {
		struct pair_end *end = &pair.ends[i];
		struct qp_options options = {
			.type = QP_UD,
			.pd = end->pd,
			.send_cq = end->cq,
			.receive_cq = end->cq,
			.capabilities = {.send_requests_max = 64,
					 .receive_requests_max = 64,
					 .send_sges_max = 1,
					 .receive_sges_max = 1},
		};

		adapter_lock(end->adapter);
		assert_int_equal(
			qp_object_create(adapter_hca(end->adapter), &options, &ends->qps[i]), 0);
		modify_datagram_qp(ends->qps[i], QP_INIT,
				   QP_HAS_PKEY_INDEX | QP_HAS_PORT | QP_HAS_QKEY);
		modify_datagram_qp(ends->qps[i], QP_RTR, 0);
		modify_datagram_qp(ends->qps[i], QP_RTS, QP_HAS_SQ_PSN);
		adapter_unlock(end->adapter);
	}
	*state = ends;
	return 0;
}

static int end_datagrams(void **state)
{
	struct datagram_ends *ends = *state;

	for (unsigned i = 0; i < 2; i++) {
		adapter_lock(pair.ends[i].adapter);
		if (ends->qps[i])
			assert_int_equal(qp_object_destroy(ends->qps[i]), 0);
		adapter_unlock(pair.ends[i].adapter);
	}
	free(ends);
	return 0;
}

/* From ends[0] to ends[1]. The message is complete as soon as it is in the ring. */
static void send_datagram(const struct datagram_ends *ends, uint32_t seed)
{
	struct pair_end *end = &pair.ends[0];
	const struct address_vector address = {.dlid = 2, .port_number = 1};
	const struct sge sge = {(uintptr_t)end->buffer, DATAGRAM_BYTES, end->region->key};
	const struct send_request request = {
		.wr_id = seed,
		.opcode = SEND_SEND,
		.flags = SEND_SIGNALED,
		.address = &address,
		.address_pd = end->pd,
		.remote_qpn = ends->qps[1]->qp.qpn,
		.remote_qkey = QKEY,
		.sge_count = 1,
		.sges = &sge,
	};
	struct completion completion;

	pair_fill(end->buffer, DATAGRAM_BYTES, seed);
	if (!adapter_post(end->adapter, ends->qps[0], &request)) {
		adapter_lock(end->adapter);
		assert_int_equal(qp_post_send(&ends->qps[0]->qp, runtime_now(), &request), 0);
		adapter_send(end->adapter, ends->qps[0]);
		adapter_unlock(end->adapter);
	}
	pair_poll_one(end, &completion);
	assert_int_equal(completion.status, COMPLETION_SUCCESS);
	assert_int_equal(completion.wr_id, seed);
}

static uint8_t *place_of(uint32_t index)
{
	return pair.ends[1].buffer + PAIR_BUFFER_BYTES / 2 + (size_t)index * DATAGRAM_PLACE_BYTES;
}

static void post_datagram_receive(const struct datagram_ends *ends, uint32_t index)
{
	struct pair_end *end = &pair.ends[1];
	const struct sge sge = {(uintptr_t)place_of(index), DATAGRAM_PLACE_BYTES, end->region->key};
	const struct receive_request request = {.wr_id = index, .sge_count = 1, .sges = &sge};

	adapter_lock(end->adapter);
	assert_int_equal(qp_object_post_receive(ends->qps[1], runtime_now(), &request), 0);
	adapter_unlock(end->adapter);
}

static void expect_datagram(uint32_t index, uint32_t seed)
{
	uint8_t expected[DATAGRAM_BYTES];
	struct completion completion;

	pair_fill(expected, DATAGRAM_BYTES, seed);
	pair_poll_one(&pair.ends[1], &completion);
	assert_int_equal(completion.status, COMPLETION_SUCCESS);
	assert_int_equal(completion.wr_id, index);
	assert_int_equal(completion.byte_count, GRH_BYTES + DATAGRAM_BYTES);
	assert_memory_equal(place_of(index) + GRH_BYTES, expected, DATAGRAM_BYTES);
}

static void poll_for_nothing(unsigned count)
{
	for (unsigned i = 0; i < count; i++) {
		adapter_lock(pair.ends[1].adapter);
		(void)adapter_poll(pair.ends[1].adapter);
		assert_null(cq_first(pair.ends[1].cq));
		adapter_unlock(pair.ends[1].adapter);
	}
}

/* The thread of this test may lose its processor for longer than any real wait. */
static void wait_at_most(time_ns max_ns)
{
	struct process_runtime *runtime = pair.ends[0].adapter->runtime;

	pair_send_and_check(8, 1); /* there is a ring */
	adapter_lock(pair.ends[0].adapter);
	assert_int_equal(runtime->direct.count, 1);
	runtime->direct.channels[0]->rnr_hold.max_ns = max_ns;
	runtime->direct.channels[0]->rnr_hold.left_ns = max_ns;
	adapter_unlock(pair.ends[0].adapter);
}

static void wait_for_ever(void)
{
	wait_at_most(SECONDS(1000));
}

static void send_one_that_waits(const struct datagram_ends *ends, uint32_t seed)
{
	struct process_runtime *runtime = pair.ends[0].adapter->runtime;
	time_ns start = runtime_now();
	bool waits = false;

	send_datagram(ends, seed);
	while (!waits) {
		assert_false(pair_is_overdue(start));
		adapter_lock(pair.ends[1].adapter);
		(void)adapter_poll(pair.ends[1].adapter);
		waits = channel_holds_back(runtime->direct.channels[0]);
		adapter_unlock(pair.ends[1].adapter);
	}
}

/* By the fast path, and by the engine. */
static void test_datagrams_wait_for_receive_requests_in_order(void **state)
{
	const struct datagram_ends *ends = *state;
	struct process_runtime *runtime = pair.ends[0].adapter->runtime;

	wait_for_ever();
	for (unsigned way = 0; way < 2; way++) {
		runtime->may_go_fast = way == 0;
		send_one_that_waits(ends, 100);
		for (uint32_t i = 1; i < DATAGRAMS; i++)
			send_datagram(ends, 100 + i);
		poll_for_nothing(300);
		for (uint32_t i = 0; i < DATAGRAMS; i++) {
			post_datagram_receive(ends, i);
			expect_datagram(i, 100 + i);
		}
	}
	runtime->may_go_fast = true;
}

static void test_progress_thread_takes_waiting_messages_while_nobody_polls(void **state)
{
	const struct datagram_ends *ends = *state;

	wait_for_ever();
	for (uint32_t i = 0; i < DATAGRAMS; i++) {
		send_one_that_waits(ends, i);

		unsigned before = __atomic_load_n(&pair.told_cqs, __ATOMIC_SEQ_CST);

		adapter_lock(pair.ends[1].adapter);
		cq_arm(pair.ends[1].cq, CQ_ARMED_NEXT);
		adapter_expect_silence(pair.ends[1].adapter);
		adapter_unlock(pair.ends[1].adapter);
		post_datagram_receive(ends, i);
		pair_wait_until_told(&pair.told_cqs, before + 1);
		expect_datagram(i, i);
	}
}

/* That datagram is lost, as InfiniBand allows, but the connection's message is not. */
static void test_what_lies_behind_a_datagram_that_nobody_wants_comes_after_a_while(void **state)
{
	const struct datagram_ends *ends = *state;

	wait_at_most(RNR_HOLD_MAX_NS);
	for (uint32_t i = 0; i < 3; i++) {
		send_datagram(ends, i);
		pair_send_and_check(100, i);
	}
	post_datagram_receive(ends, 0);
	send_datagram(ends, 77);
	expect_datagram(0, 77);
}

static void test_nothing_waits_for_a_queue_pair_that_is_gone_or_in_error(void **state)
{
	struct datagram_ends *ends = *state;

	wait_for_ever();
	send_one_that_waits(ends, 1);
	adapter_lock(pair.ends[1].adapter);
	modify_datagram_qp(ends->qps[1], QP_ERROR, 0);
	adapter_unlock(pair.ends[1].adapter);
	pair_send_and_check(100, 2);
	adapter_lock(pair.ends[1].adapter);
	modify_datagram_qp(ends->qps[1], QP_RESET, 0);
	modify_datagram_qp(ends->qps[1], QP_INIT, QP_HAS_PKEY_INDEX | QP_HAS_PORT | QP_HAS_QKEY);
	modify_datagram_qp(ends->qps[1], QP_RTR, 0);
	adapter_unlock(pair.ends[1].adapter);
	send_one_that_waits(ends, 3);
	adapter_lock(pair.ends[1].adapter);
	assert_int_equal(qp_object_destroy(ends->qps[1]), 0);
	ends->qps[1] = NULL;
	adapter_unlock(pair.ends[1].adapter);
	pair_send_and_check(100, 4);
}

/* The ring is given up and the next packet goes through softibd: it does not overtake. */
static void test_what_comes_by_the_fabric_stays_behind_what_waits(void **state)
{
	const struct datagram_ends *ends = *state;

	wait_for_ever();
	send_one_that_waits(ends, 5);
	pair_set_verdict(RESOLVED_FABRIC);

	uint32_t before = pair_fabric_packets();

	send_datagram(ends, 6);

	time_ns start = runtime_now();

	while (pair_fabric_packets() == before)
		assert_false(pair_is_overdue(start));
	poll_for_nothing(300);
	post_datagram_receive(ends, 0);
	post_datagram_receive(ends, 1);
	expect_datagram(0, 5);
	expect_datagram(1, 6);
}

/* Sends this many messages to an end with one receive request, from a sender that does not retry
 * after an RNR NAK. */
static void send_to_one_receive(struct pair_end *ends, unsigned count)
{
	ends[0].qp->qp.attributes.rnr_retry = 0;
	ends[0].qp->qp.requester.rnr_retries_left = 0;
	pair_post_receive(&ends[1], 0, DATAGRAM_BYTES);
	for (unsigned i = 0; i < count; i++)
		pair_post_send(&ends[0], SEND_SEND, 100 + i, DATAGRAM_BYTES);
}

static bool something_waits(void)
{
	const struct process_runtime *runtime = pair_runtime();
	bool any = channel_holds_back(&runtime->softibd);

	for (unsigned i = 0; i < runtime->direct.count; i++)
		any |= channel_holds_back(runtime->direct.channels[i]);
	return any;
}

/* Does not poll: the completion of the first message stays in the CQ. */
static void progress_until_something_waits(void)
{
	time_ns start = runtime_now();
	bool waits = false;

	while (!waits) {
		assert_false(pair_is_overdue(start));
		adapter_lock(pair.ends[1].adapter);
		adapter_progress(pair.ends[1].adapter, runtime_now());
		waits = something_waits();
		adapter_unlock(pair.ends[1].adapter);
	}
}

static void let_connections_wait(time_ns reliable_max_ns)
{
	struct process_runtime *runtime = pair_runtime();

	wait_for_ever();
	adapter_lock(pair.ends[0].adapter);
	for (unsigned i = 0; i < runtime->direct.count; i++)
		runtime->direct.channels[i]->rnr_hold.reliable_max_ns = reliable_max_ns;
	runtime->softibd.rnr_hold.reliable_max_ns = reliable_max_ns;
	runtime->softibd.rnr_hold.max_ns = SECONDS(1000);
	runtime->softibd.rnr_hold.left_ns = SECONDS(1000);
	adapter_unlock(pair.ends[0].adapter);
}

static void destroy_both(const struct pair_end *ends)
{
	for (unsigned i = 0; i < 2; i++) {
		adapter_lock(ends[i].adapter);
		assert_int_equal(qp_object_destroy(ends[i].qp), 0);
		adapter_unlock(ends[i].adapter);
	}
}

static void expect_completion(struct pair_end *end, uint64_t wr_id, enum completion_status status)
{
	struct completion completion;

	pair_poll_one(end, &completion);
	assert_int_equal(completion.wr_id, wr_id);
	assert_int_equal(completion.status, status);
}

/* By the fast path, by the engine, and through softibd. */
static void test_no_rnr_nak_while_receive_completions_are_not_polled(void **state)
{
	enum { MESSAGES = 5, WAYS = 3 };

	struct pair_end ends[2];

	(void)state;
	let_connections_wait(SECONDS(1000));
	for (unsigned way = 0; way < WAYS; way++) {
		pair_set_verdict(way < 2 ? RESOLVED_DIRECT : RESOLVED_FABRIC);
		pair_runtime()->may_go_fast = way == 0;
		pair_connect_another(ends);
		send_to_one_receive(ends, MESSAGES);
		for (uint64_t i = 1; i < MESSAGES; i++) {
			progress_until_something_waits();
			expect_completion(&ends[1], i - 1, COMPLETION_SUCCESS);
			pair_post_receive(&ends[1], i, DATAGRAM_BYTES);
		}
		expect_completion(&ends[1], MESSAGES - 1, COMPLETION_SUCCESS);
		for (uint64_t i = 0; i < MESSAGES; i++)
			expect_completion(&ends[0], 100 + i, COMPLETION_SUCCESS);
		destroy_both(ends);
	}
	pair_runtime()->may_go_fast = true;
	pair_set_verdict(RESOLVED_DIRECT);
}

/* Holds the lock throughout, so that the progress thread does not interfere: the second end posts
 * sends, and then a receive request. */
static void send_to_one_who_posts(struct pair_end *ends, uint64_t wr_id)
{
	const struct sge from = {(uintptr_t)ends[0].buffer, DATAGRAM_BYTES, ends[0].region->key};
	const struct sge to = {(uintptr_t)ends[1].buffer, DATAGRAM_BYTES, ends[1].region->key};
	const struct send_request request = {
		.wr_id = wr_id,
		.opcode = SEND_SEND,
		.flags = SEND_SIGNALED,
		.sge_count = 1,
		.sges = &from,
	};
	const struct receive_request place = {.wr_id = 1, .sge_count = 1, .sges = &to};
	time_ns start = runtime_now();

	adapter_lock(ends[0].adapter);
	assert_int_equal(qp_object_post_send(ends[0].qp, start, &request), 0);
	do {
		assert_false(pair_is_overdue(start));
		adapter_transmit(ends[1].adapter, runtime_now());
		adapter_transmit(ends[0].adapter, runtime_now());
	} while (!something_waits());
	assert_int_equal(qp_object_post_receive(ends[1].qp, runtime_now(), &place), 0);
	adapter_unlock(ends[0].adapter);
}

/* The program handles a completion that it has polled, and posts the receive request after the
 * send. */
static void test_no_rnr_nak_while_the_program_posts_sends(void **state)
{
	struct pair_end ends[2];

	(void)state;
	let_connections_wait(SECONDS(1000));
	for (unsigned way = 0; way < 2; way++) {
		pair_set_verdict(way == 0 ? RESOLVED_DIRECT : RESOLVED_FABRIC);
		pair_connect_another(ends);
		send_to_one_receive(ends, 1);
		expect_completion(&ends[1], 0, COMPLETION_SUCCESS);
		expect_completion(&ends[0], 100, COMPLETION_SUCCESS);
		send_to_one_who_posts(ends, 101);
		expect_completion(&ends[1], 1, COMPLETION_SUCCESS);
		expect_completion(&ends[0], 101, COMPLETION_SUCCESS);
		destroy_both(ends);
	}
	pair_set_verdict(RESOLVED_DIRECT);
}

static void test_rnr_nak_comes_at_once_when_all_completions_are_polled(void **state)
{
	struct pair_end ends[2];

	(void)state;
	let_connections_wait(SECONDS(1000));
	pair_connect_another(ends);
	send_to_one_receive(ends, 1);
	expect_completion(&ends[1], 0, COMPLETION_SUCCESS);
	expect_completion(&ends[0], 100, COMPLETION_SUCCESS);
	pair_post_send(&ends[0], SEND_SEND, 101, DATAGRAM_BYTES);
	expect_completion(&ends[0], 101, COMPLETION_RNR_RETRY_EXCEEDED);
	destroy_both(ends);
}

static void test_rnr_nak_comes_after_a_while_to_a_program_that_does_not_poll(void **state)
{
	struct pair_end ends[2];

	(void)state;
	let_connections_wait(RNR_HOLD_RELIABLE_NS);
	pair_connect_another(ends);
	send_to_one_receive(ends, 2);
	expect_completion(&ends[0], 100, COMPLETION_SUCCESS);
	expect_completion(&ends[0], 101, COMPLETION_RNR_RETRY_EXCEEDED);
	expect_completion(&ends[1], 0, COMPLETION_SUCCESS);
	destroy_both(ends);
}

#define datagram_test(name) cmocka_unit_test_setup_teardown(name, start_datagrams, end_datagrams)

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_garbage_from_softibd_is_counted_not_obeyed),
		cmocka_unit_test(test_random_packets_of_a_peer_do_no_harm),
		datagram_test(test_datagrams_wait_for_receive_requests_in_order),
		datagram_test(test_progress_thread_takes_waiting_messages_while_nobody_polls),
		datagram_test(
			test_what_lies_behind_a_datagram_that_nobody_wants_comes_after_a_while),
		datagram_test(test_nothing_waits_for_a_queue_pair_that_is_gone_or_in_error),
		datagram_test(test_what_comes_by_the_fabric_stays_behind_what_waits),
		cmocka_unit_test(test_no_rnr_nak_while_receive_completions_are_not_polled),
		cmocka_unit_test(test_no_rnr_nak_while_the_program_posts_sends),
		cmocka_unit_test(test_rnr_nak_comes_at_once_when_all_completions_are_polled),
		cmocka_unit_test(test_rnr_nak_comes_after_a_while_to_a_program_that_does_not_poll),
	};

	return cmocka_run_group_tests(tests, pair_start_connected, pair_end_all);
}
