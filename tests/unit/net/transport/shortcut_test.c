/* SPDX-License-Identifier: Apache-2.0 */
/* One-sided requests that go past the packets: what both halves of a connection make of them. */
#include "net/transport/shortcut.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include "support/rc_pair.h"
#include "wire/mtu.h"

static struct rc_pair pair;
static uint64_t word;
static struct placed_requests placed;
static unsigned ended;

static void end_placing(struct qp *qp)
{
	ended++;
	if (qp->responder.placed)
		(void)shortcut_catch_up(qp);
	qp->responder.placed = NULL;
	qp->owner_placement = NULL;
}

static void connect_pair(enum qp_type type)
{
	struct endpoint_options options = endpoint_options_default(type);

	options.mtu_code = MTU_256;
	rc_pair_connect_with(&pair, &options);
	pair.a.environment.end_placing = end_placing;
	pair.b.environment.end_placing = end_placing;
	word = placed_word(pair.b.qp.responder.expected_psn.value, 0, 1);
	placed = (struct placed_requests){&word, word};
	pair.b.qp.responder.placed = &placed;
	ended = 0;
}

/* What host/placement.c does, without the bytes. */
static void place(unsigned *message_count)
{
	struct shortcut shortcut;

	assert_true(shortcut_next(&pair.a.qp, &shortcut));
	shortcut_done(&pair.a.qp, pair.now);
	word = placed_word(pair.a.qp.requester.next_psn.value, ++*message_count, 1);
}

/* b_to_a: the MSN that the next ACK carries. */
static void test_packets_after_placed_requests_are_in_order(void **state)
{
	unsigned message_count = 0;

	(void)state;
	connect_pair(QP_RC);
	post_write(&pair, &pair.a, &pair.b, 0, 600);
	place(&message_count);
	expect_completion(&pair.a, COMPLETION_SUCCESS);
	post_read(&pair, &pair.a, &pair.b, 0, 300);
	place(&message_count);
	expect_completion(&pair.a, COMPLETION_SUCCESS);
	/* Three PSNs of the WRITE, two of the READ. */
	assert_int_equal(pair.a.qp.requester.next_psn.value, 5);
	post_receive(&pair, &pair.b, 64);
	post_send(&pair, &pair.a, 10);
	run_until_idle(&pair);
	expect_wire(&pair.a_to_b, "ONLY@5");
	expect_wire(&pair.b_to_a, "ACK@5");
	expect_completion(&pair.a, COMPLETION_SUCCESS);
	expect_received(&pair.b, COMPLETION_SUCCESS);
	assert_int_equal(pair.b.qp.responder.msn, 3);
	rc_pair_release(&pair);
}

static void test_a_lost_packet_between_is_still_missed(void **state)
{
	unsigned message_count = 0;

	(void)state;
	connect_pair(QP_RC);
	post_write(&pair, &pair.a, &pair.b, 0, 8);
	place(&message_count);
	post_receive(&pair, &pair.b, 64);
	post_receive(&pair, &pair.b, 64);
	post_send(&pair, &pair.a, 10);
	post_send(&pair, &pair.a, 10);
	wire_lose(&pair.a_to_b, 0);
	run_until_idle(&pair);
	expect_wire(&pair.a_to_b, "ONLY@1! ONLY@2 ONLY@1 ONLY@2");
	expect_received(&pair.b, COMPLETION_SUCCESS);
	expect_received(&pair.b, COMPLETION_SUCCESS);
	expect_nothing_received(&pair.b);
	rc_pair_release(&pair);
}

static void test_nothing_goes_past_what_is_not_acknowledged(void **state)
{
	struct shortcut shortcut;
	unsigned message_count = 0;

	(void)state;
	connect_pair(QP_RC);
	post_receive(&pair, &pair.b, 64);
	post_send(&pair, &pair.a, 10);
	rc_pair_transmit(&pair);
	post_write(&pair, &pair.a, &pair.b, 0, 8);
	assert_false(shortcut_next(&pair.a.qp, &shortcut));
	/* Held back, it does not become packets either, until it may go. */
	pair.a.qp.requester.hold = HOLD_UNTIL_ACKNOWLEDGED;
	run_until_idle(&pair);
	expect_wire(&pair.a_to_b, "ONLY@0 WRITE_ONLY@1");
	pair.a.qp.requester.hold = HOLD_NONE;
	post_write(&pair, &pair.a, &pair.b, 0, 8);
	place(&message_count);
	rc_pair_release(&pair);
}

static void test_requests_that_are_held_are_resent_all_the_same(void **state)
{
	(void)state;
	connect_pair(QP_RC);
	post_receive(&pair, &pair.b, 64);
	post_receive(&pair, &pair.b, 64);
	post_send(&pair, &pair.a, 10);
	post_send(&pair, &pair.a, 10);
	wire_lose(&pair.a_to_b, 0);
	wire_lose(&pair.a_to_b, 1);
	rc_pair_transmit(&pair);
	pair.a.qp.requester.hold = HOLD_UNTIL_ACKNOWLEDGED;
	run_until_idle(&pair);
	expect_received(&pair.b, COMPLETION_SUCCESS);
	expect_received(&pair.b, COMPLETION_SUCCESS);
	rc_pair_release(&pair);
}

/* What is wrong with a request is found and told by the packets' way. */
static void test_only_sound_one_sided_requests_go(void **state)
{
	struct shortcut shortcut;

	(void)state;
	connect_pair(QP_RC);
	assert_false(shortcut_next(&pair.a.qp, &shortcut)); /* there is none */
	post_write(&pair, &pair.a, &pair.b, 0, 0);
	assert_false(shortcut_next(&pair.a.qp, &shortcut)); /* no bytes */
	run_until_idle(&pair);
	expect_completion(&pair.a, COMPLETION_SUCCESS);

	struct sge sge = {.address = 1, .byte_count = 8, .lkey = 0x12345};
	struct send_request request = {
		.opcode = SEND_RDMA_WRITE, .flags = SEND_SIGNALED, .sge_count = 1, .sges = &sge};

	assert_int_equal(post(&pair, &pair.a, &request), 0);
	assert_false(shortcut_next(&pair.a.qp, &shortcut)); /* a bad L_Key */
	run_until_idle(&pair);
	expect_completion(&pair.a, COMPLETION_LOCAL_PROTECTION);
	rc_pair_release(&pair);
}

/* Told in a few words or in many, it is the same request, and leaves the same behind. */
static void test_simple_requests_are_those_of_the_long_way(void **state)
{
	static const uint32_t sizes[] = {1, 8, 256, 257, 600};
	struct simple_request simple;
	struct shortcut shortcut;
	struct psn ends[2];

	(void)state;
	for (unsigned is_read = 0; is_read < 2; is_read++)
		for (unsigned i = 0; i < ARRAY_COUNT(sizes); i++) {
			for (unsigned way = 0; way < 2; way++) {
				connect_pair(QP_RC);
				if (is_read)
					post_read(&pair, &pair.a, &pair.b, 16, sizes[i]);
				else
					post_write(&pair, &pair.a, &pair.b, 16, sizes[i]);
				assert_true(shortcut_simple(&pair.a.qp, 600, &simple));
				assert_true(shortcut_next(&pair.a.qp, &shortcut));
				assert_int_equal(simple.is_read, is_read);
				assert_int_equal(simple.byte_count, shortcut.byte_count);
				assert_int_equal(simple.remote_key, shortcut.remote_key);
				assert_int_equal(simple.remote_address, shortcut.remote_address);
				assert_ptr_equal(simple.bytes, shortcut.payload.spans[0].bytes);
				if (way)
					shortcut_done(&pair.a.qp, pair.now);
				else
					assert_int_equal(shortcut_simple_done(&pair.a.qp, pair.now),
							 shortcut.psn_count);
				expect_completion(&pair.a, COMPLETION_SUCCESS);
				assert_int_equal(pair.a.qp.requester.reads_outstanding, 0);
				ends[way] = pair.a.qp.requester.next_psn;
				rc_pair_release(&pair);
			}
			assert_int_equal(ends[0].value, ends[1].value);
		}
}

static void test_what_is_not_simple_is_left_alone(void **state)
{
	struct simple_request simple;

	(void)state;
	connect_pair(QP_RC);
	assert_false(shortcut_simple(&pair.a.qp, 600, &simple)); /* there is none */
	post_write(&pair, &pair.a, &pair.b, 0, 601);
	assert_false(shortcut_simple(&pair.a.qp, 600, &simple)); /* too long */
	assert_true(shortcut_simple(&pair.a.qp, 601, &simple));
	pair.a.qp.requester.hold = HOLD_ALL;
	assert_false(shortcut_simple(&pair.a.qp, 601, &simple)); /* held back */
	rc_pair_release(&pair);

	/* A READ that the queue pair must not send. */
	connect_pair(QP_RC);
	post_read(&pair, &pair.a, &pair.b, 0, 8);
	assert_true(shortcut_simple(&pair.a.qp, 600, &simple));
	pair.a.qp.attributes.initiator_depth = 0;
	assert_false(shortcut_simple(&pair.a.qp, 600, &simple));
	rc_pair_release(&pair);

	/* A bad L_Key, and two places. */
	struct sge sges[2] = {{.address = 1, .byte_count = 8, .lkey = 0x12345},
			      {.address = 1, .byte_count = 8, .lkey = 0x12345}};
	struct send_request request = {.opcode = SEND_RDMA_WRITE, .sges = sges};

	for (request.sge_count = 1; request.sge_count <= 2; request.sge_count++) {
		connect_pair(QP_RC);
		assert_int_equal(post(&pair, &pair.a, &request), 0);
		assert_false(shortcut_simple(&pair.a.qp, 600, &simple));
		rc_pair_release(&pair);
	}
}

static void test_a_stranger_s_word_is_checked(void **state)
{
	(void)state;
	connect_pair(QP_RC);
	/* Another tag: about another queue pair. */
	word = placed_word(100, 1, 2);
	assert_false(shortcut_catch_up(&pair.b.qp));
	assert_int_equal(pair.b.qp.responder.expected_psn.value, 0);
	/* So many that it looks like backwards. */
	word = placed_word(0xfffff0, 1, 1);
	assert_true(shortcut_catch_up(&pair.b.qp));
	assert_int_equal(pair.b.qp.responder.expected_psn.value, 0xfffff0);
	/* In the middle of a message. */
	pair.b.qp.responder.inbound = INBOUND_SEND;
	word = placed_word(5, 2, 1);
	assert_false(shortcut_catch_up(&pair.b.qp));
	pair.b.qp.responder.inbound = INBOUND_IDLE;
	assert_true(shortcut_catch_up(&pair.b.qp));
	assert_int_equal(pair.b.qp.responder.expected_psn.value, 5);
	/* Once. */
	assert_false(shortcut_catch_up(&pair.b.qp));
	rc_pair_release(&pair);
}

static void test_placing_ends_with_every_change_of_the_responder(void **state)
{
	const struct qp_attributes to_error = {.state = QP_ERROR};
	const struct qp_attributes access = {.access = ACCESS_REMOTE_READ};
	const struct qp_ports ports = {.views = pair.b.ports, .count = 1};

	(void)state;
	connect_pair(QP_RC);
	word = placed_word(3, 1, 1);
	assert_int_equal(qp_modify(&pair.b.qp, pair.now, &ports, &access, QP_HAS_ACCESS), 0);
	assert_int_equal(ended, 1);
	/* What was placed before counts. */
	assert_int_equal(pair.b.qp.responder.expected_psn.value, 3);
	pair.b.qp.responder.placed = &placed;
	assert_int_equal(qp_modify(&pair.b.qp, pair.now, &ports, &to_error, QP_HAS_STATE), 0);
	assert_int_equal(ended, 2);
	rc_pair_release(&pair);
}

static void test_unreliable_messages_after_placed_ones_are_whole(void **state)
{
	unsigned message_count = 0;

	(void)state;
	connect_pair(QP_UC);
	post_write(&pair, &pair.a, &pair.b, 0, 700);
	place(&message_count);
	expect_completion(&pair.a, COMPLETION_SUCCESS);
	post_receive(&pair, &pair.b, 600);
	post_send(&pair, &pair.a, 600);
	run_until_idle(&pair);
	expect_received(&pair.b, COMPLETION_SUCCESS);
	assert_int_equal(pair.b.qp.responder.expected_psn.value, 6);
	rc_pair_release(&pair);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_packets_after_placed_requests_are_in_order),
		cmocka_unit_test(test_a_lost_packet_between_is_still_missed),
		cmocka_unit_test(test_nothing_goes_past_what_is_not_acknowledged),
		cmocka_unit_test(test_requests_that_are_held_are_resent_all_the_same),
		cmocka_unit_test(test_only_sound_one_sided_requests_go),
		cmocka_unit_test(test_simple_requests_are_those_of_the_long_way),
		cmocka_unit_test(test_what_is_not_simple_is_left_alone),
		cmocka_unit_test(test_a_stranger_s_word_is_checked),
		cmocka_unit_test(test_placing_ends_with_every_change_of_the_responder),
		cmocka_unit_test(test_unreliable_messages_after_placed_ones_are_whole),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
