/* SPDX-License-Identifier: Apache-2.0 */
/* End-to-end credits, from the advertisement to the use (transport 3.2, 3.6). */
#include "net/transport/credits.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <cmocka.h>
#include "support/rc_pair.h"
#include "wire/mtu.h"

static struct rc_pair pair;

static void connect_counting(void)
{
	rc_pair_connect(&pair, MTU_256);
	pair.b.qp.promises_receives = true;
}

static void post_receives(unsigned count)
{
	while (count--)
		post_receive(&pair, &pair.b, 64);
}

static void post_sends(unsigned count)
{
	while (count--)
		post_send(&pair, &pair.a, 10);
}

static void test_promise_is_rounded_down_to_a_code(void **state)
{
	static const struct {
		unsigned receives;
		unsigned code;
	} rows[] = {{0, 0}, {1, 1}, {4, 4}, {5, 4}, {6, 5}, {11, 6}, {12, 7}, {63, 0xb}, {64, 0xc}};

	(void)state;
	for (unsigned i = 0; i < ARRAY_COUNT(rows); i++) {
		connect_counting();
		post_receives(rows[i].receives);
		assert_int_equal(credits_syndrome(&pair.b.qp), rows[i].code);
		/* The receive request of a message in progress is not advertised again. */
		pair.b.qp.responder.has_receive = rows[i].receives == 1;
		assert_int_equal(credits_syndrome(&pair.b.qp),
				 rows[i].receives == 1 ? 0 : rows[i].code);
		pair.b.qp.responder.has_receive = false;
		rc_pair_release(&pair);
	}
}

static void test_by_default_nothing_is_promised_and_nothing_held_back(void **state)
{
	(void)state;
	rc_pair_connect(&pair, MTU_256);
	assert_int_equal(credits_syndrome(&pair.b.qp), 0x1f);
	post_receives(3);
	post_sends(3);
	rc_pair_transmit(&pair);
	expect_wire(&pair.a_to_b, "ONLY@0 ONLY@1 ONLY@2");
	run_until_idle(&pair);
	assert_int_equal(pair.a.qp.requester.credits, CREDITS_UNLIMITED);
	rc_pair_release(&pair);
}

/* Two receives are left after the first message: three SENDs may go, the third one to ask for
 * credits. */
static void test_no_more_messages_go_than_one_above_the_promise(void **state)
{
	(void)state;
	connect_counting();
	post_receives(3);
	post_sends(1);
	run_until_idle(&pair);
	assert_int_equal(pair.a.qp.requester.credits, CREDITS_COUNTED);
	assert_int_equal(pair.a.qp.requester.message_limit.value, 3);
	expect_wire(&pair.a_to_b, "ONLY@0");
	post_sends(6);
	rc_pair_transmit(&pair);
	expect_wire(&pair.a_to_b, "ONLY@1 ONLY@2 ONLY@3");
	post_receives(10);
	run_until_idle(&pair);
	expect_wire(&pair.a_to_b, "ONLY@4 ONLY@5 ONLY@6");
	for (unsigned i = 0; i < 7; i++)
		expect_completion(&pair.a, COMPLETION_SUCCESS);
	rc_pair_release(&pair);
}

static void test_a_peer_with_no_receives_gets_one_message_to_refuse(void **state)
{
	(void)state;
	connect_counting();
	post_receives(1);
	post_sends(1);
	run_until_idle(&pair);
	expect_wire(&pair.a_to_b, "ONLY@0");
	post_sends(3);
	run_until(&pair, pair.now + MICROSECONDS(100));
	expect_wire(&pair.a_to_b, "ONLY@1");
	expect_wire(&pair.b_to_a, "ACK@0 RNR@1");
	post_receives(3);
	run_until_idle(&pair);
	for (unsigned i = 0; i < 4; i++)
		expect_completion(&pair.a, COMPLETION_SUCCESS);
	rc_pair_release(&pair);
}

static void test_writes_and_reads_need_no_credit(void **state)
{
	(void)state;
	connect_counting();
	post_receives(1);
	post_sends(1);
	run_until_idle(&pair);
	expect_wire(&pair.a_to_b, "ONLY@0");
	for (unsigned i = 0; i < 3; i++)
		post_write(&pair, &pair.a, &pair.b, 0, 10);
	post_read(&pair, &pair.a, &pair.b, 0, 10);
	post_sends(2);
	rc_pair_transmit(&pair);
	/* Of the SENDs, only the one that asks for credits. */
	expect_wire(&pair.a_to_b, "WRITE_ONLY@1 WRITE_ONLY@2 WRITE_ONLY@3 READ_REQUEST@4 ONLY@5");
	post_receives(2);
	run_until_idle(&pair);
	expect_wire(&pair.a_to_b, "ONLY@6");
	rc_pair_release(&pair);
}

static struct packet acknowledge(uint32_t psn, uint8_t syndrome, uint32_t msn)
{
	return (struct packet){
		.lrh = {.slid = pair.b.port.lid, .dlid = pair.a.port.lid},
		.bth = {.opcode = OPCODE_ACKNOWLEDGE,
			.pkey = 0xffff,
			.psn = psn_from(psn),
			.destination_qpn = pair.a.qp.qpn},
		.aeth = {.syndrome = syndrome, .msn = msn},
		.packet_count = 1,
	};
}

static void test_an_acknowledge_with_nothing_new_still_brings_credits(void **state)
{
	struct packet ghost;

	(void)state;
	connect_counting();
	post_receives(1);
	post_sends(1);
	run_until_idle(&pair);
	assert_int_equal(pair.a.qp.requester.message_limit.value, 1);
	ghost = acknowledge(0, 4, 1);
	qp_receive(&pair.a.qp, pair.now, &ghost);
	assert_int_equal(pair.a.qp.requester.message_limit.value, 5);
	/* An older AETH does not take newer credits back. */
	ghost = acknowledge(0, 1, 1);
	qp_receive(&pair.a.qp, pair.now, &ghost);
	assert_int_equal(pair.a.qp.requester.message_limit.value, 5);
	/* A response that is neither the newest nor awaited changes nothing. */
	ghost = acknowledge(0xfffff0, 8, 100);
	qp_receive(&pair.a.qp, pair.now, &ghost);
	assert_int_equal(pair.a.qp.requester.message_limit.value, 5);
	rc_pair_release(&pair);
}

static void test_no_limit_once_is_no_limit_for_good(void **state)
{
	struct packet ghost;

	(void)state;
	connect_counting();
	post_receives(1);
	post_sends(1);
	run_until_idle(&pair);
	ghost = acknowledge(0, 0x1f, 1);
	qp_receive(&pair.a.qp, pair.now, &ghost);
	ghost = acknowledge(0, 0, 1);
	qp_receive(&pair.a.qp, pair.now, &ghost);
	assert_int_equal(pair.a.qp.requester.credits, CREDITS_UNLIMITED);
	rc_pair_release(&pair);
}

static void test_message_numbers_wrap(void **state)
{
	(void)state;
	connect_counting();
	pair.a.qp.requester.messages_started = psn_from(0xffffff);
	pair.b.qp.responder.msn = 0xffffff;
	post_receives(4);
	post_sends(1);
	run_until_idle(&pair);
	assert_int_equal(pair.a.qp.requester.message_limit.value, 3);
	post_sends(3);
	run_until_idle(&pair);
	for (unsigned i = 0; i < 4; i++)
		expect_completion(&pair.a, COMPLETION_SUCCESS);
	rc_pair_release(&pair);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_promise_is_rounded_down_to_a_code),
		cmocka_unit_test(test_by_default_nothing_is_promised_and_nothing_held_back),
		cmocka_unit_test(test_no_more_messages_go_than_one_above_the_promise),
		cmocka_unit_test(test_a_peer_with_no_receives_gets_one_message_to_refuse),
		cmocka_unit_test(test_writes_and_reads_need_no_credit),
		cmocka_unit_test(test_an_acknowledge_with_nothing_new_still_brings_credits),
		cmocka_unit_test(test_no_limit_once_is_no_limit_for_good),
		cmocka_unit_test(test_message_numbers_wrap),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
