/* SPDX-License-Identifier: Apache-2.0 */
/* The responses of the responder and their order, and the READs and atomics that it keeps
 * (transport 5.2). */
#include "net/transport/responses.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <cmocka.h>
#include "net/memory/gaps.h"
#include "support/rc_pair.h"
#include "wire/mtu.h"

static struct rc_pair pair;

static void test_region_gone_before_the_answer_is_refused(void **state)
{
	(void)state;
	rc_pair_connect(&pair, MTU_256);
	post_read(&pair, &pair.a, &pair.b, 0, 600);

	struct packet packets[2];

	assert_int_equal(qp_transmit(&pair.a.qp, pair.now, 1, 1, packets), 1);
	qp_receive(&pair.b.qp, pair.now, &packets[0]);
	assert_int_equal(qp_transmit(&pair.b.qp, pair.now, 1, 1, packets), 1);
	qp_wire_send(&pair.b_to_a, pair.now, &packets[0]);
	assert_int_equal(region_deregister(&pair.b.memory, pair.b.window.region), 0);
	run_until_idle(&pair);
	expect_wire(&pair.b_to_a, "READ_RESPONSE_FIRST@0 NAK_ACCESS@1");
	expect_event(&pair.b, QP_EVENT_ACCESS_ERROR);
	assert_int_equal(pair.b.qp.state, QP_ERROR);
	expect_completion(&pair.a, COMPLETION_REMOTE_ACCESS);
	rc_pair_release(&pair);
}

/* The program has unmapped it (net/memory/gaps.h). */
static void test_memory_without_pages_is_not_read_for_a_peer(void **state)
{
	struct memory_gaps gaps = {0};

	(void)state;
	for (unsigned is_atomic = 0; is_atomic < 2; is_atomic++) {
		rc_pair_connect(&pair, MTU_256);
		gaps.count = 0;
		memory_gaps_add(&gaps, (uintptr_t)pair.b.window.bytes + (is_atomic ? 0 : 300),
				(uintptr_t)pair.b.window.bytes + 400);
		pair.b.memory.gaps = &gaps;
		if (is_atomic)
			post_atomic(&pair, &pair.a, &pair.b, SEND_FETCH_ADD, 1, 0);
		else
			post_read(&pair, &pair.a, &pair.b, 0, 600);
		run_until_idle(&pair);
		expect_wire(&pair.b_to_a,
			    is_atomic ? "NAK_ACCESS@0" : "READ_RESPONSE_FIRST@0 NAK_ACCESS@1");
		expect_completion(&pair.a, COMPLETION_REMOTE_ACCESS);
		assert_int_equal(pair.b.qp.state, QP_ERROR);
		rc_pair_release(&pair);
	}
}

static void test_refusal_comes_after_earlier_answers(void **state)
{
	struct send_request request = {
		.opcode = SEND_RDMA_WRITE, .remote_key = 0xbad, .sge_count = 1};
	struct sge sge;

	(void)state;
	rc_pair_connect(&pair, MTU_256);
	post_read(&pair, &pair.a, &pair.b, 0, 600);
	sge = area_sge(&pair.a.outbox, pair.a.outbox.bytes, 8);
	request.sges = &sge;
	assert_int_equal(post(&pair, &pair.a, &request), 0);
	run_until_idle(&pair);
	expect_wire(
		&pair.b_to_a,
		"READ_RESPONSE_FIRST@0 READ_RESPONSE_MIDDLE@1 READ_RESPONSE_LAST@2 NAK_ACCESS@3");
	expect_completion(&pair.a, COMPLETION_SUCCESS);
	expect_completion(&pair.a, COMPLETION_REMOTE_ACCESS);
	rc_pair_release(&pair);
}

static void test_more_reads_than_resources_are_an_invalid_request(void **state)
{
	struct endpoint_options a = endpoint_options_default(QP_RC), b = a;

	(void)state;
	a.initiator_depth = 3;
	b.responder_resources = 2;
	rc_pair_init(&pair, &a, &b);
	endpoint_to_init(&pair.a);
	endpoint_to_init(&pair.b);
	endpoint_to_rtr(&pair.a, &pair.b);
	endpoint_to_rtr(&pair.b, &pair.a);
	endpoint_to_rts(&pair.a);
	for (int i = 0; i < 3; i++)
		post_read(&pair, &pair.a, &pair.b, 0, 8);
	run_until_idle(&pair);
	expect_wire(&pair.b_to_a, "READ_RESPONSE_ONLY@0 READ_RESPONSE_ONLY@1 NAK_INVALID@2");
	expect_completion(&pair.a, COMPLETION_SUCCESS);
	expect_completion(&pair.a, COMPLETION_SUCCESS);
	expect_completion(&pair.a, COMPLETION_REMOTE_INVALID_REQUEST);
	rc_pair_release(&pair);
}

static void test_no_resources_refuse_the_first_read(void **state)
{
	struct endpoint_options options = endpoint_options_default(QP_RC);

	(void)state;
	options.responder_resources = 0;
	rc_pair_connect_with(&pair, &options);
	assert_null(pair.b.qp.responder.saved);
	post_atomic(&pair, &pair.a, &pair.b, SEND_FETCH_ADD, 1, 0);
	run_until_idle(&pair);
	expect_wire(&pair.b_to_a, "NAK_INVALID@0");
	rc_pair_release(&pair);
}

static void test_long_run_of_reads_reuses_its_resources(void **state)
{
	(void)state;
	rc_pair_connect(&pair, MTU_256);
	for (int i = 0; i < 300; i++) {
		post_read(&pair, &pair.a, &pair.b, 0, 300);
		run_until(&pair, pair.now + MICROSECONDS(3));
		expect_completion(&pair.a, COMPLETION_SUCCESS);
	}
	assert_int_equal(pair.b.qp.responder.saved_pending, 0);
	rc_pair_release(&pair);
}

static void test_resize_keeps_the_newest(void **state)
{
	(void)state;
	rc_pair_connect(&pair, MTU_256);
	for (int i = 0; i < 6; i++)
		post_read(&pair, &pair.a, &pair.b, 0, 8);
	run_until_idle(&pair);
	assert_non_null(responses_find(&pair.b.qp, psn_from(2)));
	assert_null(responses_find(&pair.b.qp, psn_from(1)));
	assert_int_equal(responses_resize(&pair.b.qp, 2), 0);
	assert_non_null(responses_find(&pair.b.qp, psn_from(5)));
	assert_non_null(responses_find(&pair.b.qp, psn_from(4)));
	assert_null(responses_find(&pair.b.qp, psn_from(3)));
	assert_int_equal(responses_resize(&pair.b.qp, 8), 0);
	assert_non_null(responses_find(&pair.b.qp, psn_from(5)));
	assert_int_equal(responses_first_after(&pair.b.qp, psn_from(1))->first_psn.value, 4);
	post_read(&pair, &pair.a, &pair.b, 0, 8);
	run_until_idle(&pair);
	for (int i = 0; i < 7; i++)
		expect_completion(&pair.a, COMPLETION_SUCCESS);
	rc_pair_release(&pair);
}

static void test_acknowledges_never_limit_the_peer(void **state)
{
	struct packet packet;

	(void)state;
	rc_pair_connect(&pair, MTU_256);
	pair.b.qp.responder.msn = 0xffffff;
	responses_acknowledge(&pair.b.qp, psn_from(7));
	/* An older ACK does not replace it. */
	responses_acknowledge(&pair.b.qp, psn_from(5));
	assert_int_equal(qp_transmit(&pair.b.qp, pair.now, 1, 1, &packet), 1);
	assert_int_equal(packet.bth.psn.value, 7);
	assert_int_equal(packet.aeth.syndrome, 0x1f);
	assert_int_equal(packet.aeth.msn, 0xffffff);
	assert_false(packet.bth.ack_request);
	rc_pair_release(&pair);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_region_gone_before_the_answer_is_refused),
		cmocka_unit_test(test_memory_without_pages_is_not_read_for_a_peer),
		cmocka_unit_test(test_refusal_comes_after_earlier_answers),
		cmocka_unit_test(test_more_reads_than_resources_are_an_invalid_request),
		cmocka_unit_test(test_no_resources_refuse_the_first_read),
		cmocka_unit_test(test_long_run_of_reads_reuses_its_resources),
		cmocka_unit_test(test_resize_keeps_the_newest),
		cmocka_unit_test(test_acknowledges_never_limit_the_peer),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
