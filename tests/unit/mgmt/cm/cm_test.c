/* SPDX-License-Identifier: Apache-2.0 */
/* Exchanges of connection establishment: each message lost once, repeats, MRA, and peer-to-peer
 * calls (management 7.2, 7.3, 7.4). Covers: mgmt/cm/active.c mgmt/cm/passive.c mgmt/cm/outbox.c
 * mgmt/cm/states.c mgmt/cm/connection_index.c */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>
#include "base/bytes.h"
#include "support/cm_pair.h"

static const struct cm_private_data nothing;
static struct cm_pair pair;
static struct cm_connection *a, *b;

static int set_up(void **state)
{
	(void)state;
	cm_pair_init(&pair);
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	cm_pair_release(&pair);
	return 0;
}

static void listen_on_b(uint64_t service_id, uint64_t mask)
{
	struct cm_listener *listener;

	assert_int_equal(cm_listen(pair.b.cm, pair.now, service_id, mask, NULL, &listener), 0);
}

static void call_and_answer(void)
{
	listen_on_b(CM_SERVICE, UINT64_MAX);
	a = cm_side_call(&pair.a, CM_SERVICE, 0x101);
	cm_pair_exchange(&pair);
	b = cm_side_expect(&pair.b, CM_EVENT_REQUEST)->connection;
}

static void test_three_messages_make_a_connection(void **state)
{
	(void)state;
	call_and_answer();
	assert_string_equal((const char *)cm_side_expect(&pair.b, CM_EVENT_REQUEST)->private_data,
			    "hello");
	assert_int_equal(cm_side_expect(&pair.b, CM_EVENT_REQUEST)->vendor_options, 0x77);
	cm_side_accept(&pair.b, b, 0x202);
	cm_pair_exchange(&pair);
	assert_string_equal((const char *)cm_side_expect(&pair.a, CM_EVENT_REPLY)->private_data,
			    "welcome");
	assert_int_equal(cm_side_expect(&pair.a, CM_EVENT_REPLY)->vendor_options, 0x88);
	assert_int_equal(cm_establish(a, pair.now, nothing), 0);
	cm_pair_exchange(&pair);
	cm_side_expect(&pair.b, CM_EVENT_ESTABLISHED);
	cm_side_expect_sent(&pair.a, "REQ RTU");
	cm_side_expect_sent(&pair.b, "REP");
	assert_int_equal(cm_connection_state(a), CM_ESTABLISHED);
	assert_int_equal(cm_connection_state(b), CM_ESTABLISHED);
	/* Nothing is repeated. */
	cm_pair_run_for(&pair, SECONDS(60));
	cm_side_expect_sent(&pair.a, "REQ RTU");
}

static void test_a_lost_req_is_sent_again(void **state)
{
	(void)state;
	listen_on_b(CM_SERVICE, UINT64_MAX);
	cm_side_lose(&pair.a, 1);
	cm_side_lose(&pair.a, 2);
	a = cm_side_call(&pair.a, CM_SERVICE, 0x101);
	cm_pair_run_for(&pair, SECONDS(3));
	cm_side_expect(&pair.b, CM_EVENT_REQUEST);
	assert_int_equal(strncmp(pair.a.sent, "REQ! REQ! REQ", 13), 0);
}

static void test_a_lost_rep_is_sent_again_and_a_lost_rtu_on_request(void **state)
{
	(void)state;
	call_and_answer();
	cm_side_lose(&pair.b, 1);
	cm_side_accept(&pair.b, b, 0x202);
	cm_pair_run_for(&pair, SECONDS(2));
	cm_side_expect(&pair.a, CM_EVENT_REPLY);
	cm_side_lose(&pair.a, 1);
	assert_int_equal(cm_establish(a, pair.now, nothing), 0);
	cm_pair_run_for(&pair, SECONDS(2));
	cm_side_expect(&pair.b, CM_EVENT_ESTABLISHED);
	cm_side_expect_sent(&pair.a, "REQ RTU! RTU");
	cm_side_expect_sent(&pair.b, "REP! REP REP");
}

static void test_who_gets_no_answer_gives_up_and_says_so(void **state)
{
	(void)state;
	call_and_answer();
	/* The program on this side never answers. */
	cm_pair_run_for(&pair, SECONDS(30));
	cm_side_expect(&pair.a, CM_EVENT_UNREACHABLE);
	cm_side_expect_sent(&pair.a, "REQ REQ REQ REQ REJ");
	assert_int_equal(cm_side_expect(&pair.b, CM_EVENT_REJECTED)->reason, CM_REJECT_TIMEOUT);
	cm_release(a, pair.now);
	cm_release(b, pair.now);
	cm_pair_expect_empty(&pair);
}

static void test_a_rep_without_answer_ends_in_timewait(void **state)
{
	(void)state;
	call_and_answer();
	cm_release(a, pair.now);
	cm_side_lose(&pair.a, 1);
	cm_side_accept(&pair.b, b, 0x202);
	/* a is gone: its manager rejects each REP. */
	cm_pair_run_for(&pair, MILLISECONDS(1));
	assert_int_equal(cm_side_expect(&pair.b, CM_EVENT_REJECTED)->reason,
			 CM_REJECT_INVALID_COMM_ID);
}

static void test_an_mra_buys_time(void **state)
{
	(void)state;
	call_and_answer();
	assert_int_equal(cm_delay(b, pair.now, 24 /* 69 s */), 0);
	cm_pair_run_for(&pair, SECONDS(60));
	assert_int_equal(cm_connection_state(a), CM_REP_WAIT);
	cm_side_expect_sent(&pair.a, "REQ");
	cm_side_accept(&pair.b, b, 0x202);
	cm_pair_exchange(&pair);
	cm_side_expect(&pair.a, CM_EVENT_REPLY);
	/* The same test for the active side. */
	assert_int_equal(cm_delay(a, pair.now, 24), 0);
	cm_pair_run_for(&pair, SECONDS(60));
	assert_int_equal(cm_connection_state(b), CM_MRA_REP_RCVD);
	assert_int_equal(cm_establish(a, pair.now, nothing), 0);
	cm_pair_exchange(&pair);
	cm_side_expect(&pair.b, CM_EVENT_ESTABLISHED);
	cm_side_expect_sent(&pair.a, "REQ MRA RTU");
	cm_side_expect_sent(&pair.b, "MRA REP");
}

static void test_an_mra_that_is_not_kept_is_a_timeout(void **state)
{
	(void)state;
	call_and_answer();
	assert_int_equal(cm_delay(b, pair.now, 20 /* 4.3 s */), 0);
	cm_pair_run_for(&pair, SECONDS(10));
	cm_side_expect(&pair.a, CM_EVENT_UNREACHABLE);
	cm_side_expect_sent(&pair.a, "REQ REJ");
}

static void test_a_slow_program_is_excused_when_the_peer_asks_again(void **state)
{
	(void)state;
	call_and_answer();
	cm_delay_when_asked(b, 24);
	cm_pair_run_for(&pair, SECONDS(20));
	cm_side_expect_sent(&pair.a, "REQ REQ");
	cm_side_expect_sent(&pair.b, "MRA");
	assert_int_equal(cm_connection_state(a), CM_REP_WAIT);
}

static void test_data_before_the_rtu_establish_as_well(void **state)
{
	(void)state;
	call_and_answer();
	cm_side_accept(&pair.b, b, 0x202);
	cm_pair_exchange(&pair);
	assert_int_equal(cm_notify_established(b, pair.now), 0);
	cm_side_expect(&pair.b, CM_EVENT_ESTABLISHED);
	assert_int_equal(cm_notify_established(b, pair.now), -EISCONN);
	assert_int_equal(cm_notify_established(a, pair.now), -EINVAL);
}

static void test_a_req_twice_is_one_connection(void **state)
{
	(void)state;
	struct cm_message message;

	listen_on_b(CM_SERVICE, UINT64_MAX);
	a = cm_side_call(&pair.a, CM_SERVICE, 0x101);
	assert_int_equal(cm_transmit(pair.a.cm, pair.now, 1, &message), 1);
	message.mad.address.lid = pair.a.lid;
	for (unsigned times = 0; times < 3; times++)
		cm_receive(pair.b.cm, pair.now, &message);
	assert_int_equal(pair.b.event_count, 1);
	assert_int_equal(cm_count(pair.b.cm).connections, 1);
	/* The same communication id for another service: its sender reused the id (REJ 30,
	 * management 7.4). */
	message.mad.bytes[CM_DATA_OFFSET + 15]++;
	cm_receive(pair.b.cm, pair.now, &message);
	cm_pair_exchange(&pair);
	cm_side_expect_sent(&pair.b, "REJ");
	assert_int_equal(cm_side_expect(&pair.a, CM_EVENT_REJECTED)->reason,
			 CM_REJECT_DUPLICATE_COMM_ID);
}

/* Found by cm_soak, seed 102: one copy of the REQ was rejected, the other accepted. */
static void test_a_refusal_of_an_earlier_copy_does_not_end_the_connection(void **state)
{
	(void)state;
	struct cm_message req, rej;

	listen_on_b(CM_SERVICE, UINT64_MAX);
	a = cm_side_call(&pair.a, CM_SERVICE, 0x101);
	assert_int_equal(cm_transmit(pair.a.cm, pair.now, 1, &req), 1);
	req.mad.address.lid = pair.a.lid;
	cm_receive(pair.b.cm, pair.now, &req);
	cm_release(cm_side_expect(&pair.b, CM_EVENT_REQUEST)->connection, pair.now);
	assert_int_equal(cm_transmit(pair.b.cm, pair.now, 1, &rej), 1);
	rej.mad.address.lid = pair.b.lid;
	cm_receive(pair.b.cm, pair.now, &req);
	b = cm_side_expect(&pair.b, CM_EVENT_REQUEST)->connection;
	cm_side_accept(&pair.b, b, 0x202);
	cm_pair_exchange(&pair);
	assert_int_equal(cm_establish(a, pair.now, nothing), 0);
	cm_pair_exchange(&pair);
	cm_receive(pair.a.cm, pair.now, &rej);
	assert_int_equal(cm_connection_state(a), CM_ESTABLISHED);
	assert_int_equal(cm_connection_state(b), CM_ESTABLISHED);
}

static void test_a_queue_pair_that_calls_again_was_restarted(void **state)
{
	(void)state;
	cm_pair_connect(&pair, &a, &b);

	uint32_t qpn = 0x401; /* the QPN of the first call in this process */
	struct cm_connection *again = cm_side_call(&pair.a, CM_SERVICE, qpn);

	cm_pair_exchange(&pair);
	assert_int_equal(cm_connection_state(again), CM_TIMEWAIT);
	/* The old connection is ended by a DREQ (management 7.4). */
	cm_side_expect_sent(&pair.b, "REJ DREQ");
	cm_side_expect(&pair.a, CM_EVENT_DISCONNECTED);
	assert_int_equal(cm_disconnect(a, pair.now, nothing), 0);
	cm_pair_exchange(&pair);
	cm_side_expect(&pair.b, CM_EVENT_DISCONNECT_DONE);
	cm_pair_run_for(&pair, SECONDS(2));
	a = cm_side_call(&pair.a, CM_SERVICE, qpn);
	cm_pair_exchange(&pair);
	cm_side_expect(&pair.b, CM_EVENT_REQUEST);
}

static struct cm_connection *call_peer_to_peer(struct cm_side *side, struct cm_side *other,
					       uint32_t qpn)
{
	struct cm_connection *connection;
	const struct cm_call call = {
		.address = {.lid = other->lid},
		.is_peer_to_peer = true,
		.request = {.req = {.service_id = CM_SERVICE,
				    .local_qpn = qpn,
				    .remote_response_timeout = 18,
				    .local_response_timeout = 18,
				    .max_cm_retries = 3},
			    .primary = {.local_gid_guid = side->ca_guid,
					.remote_gid_guid = other->ca_guid,
					.ack_timeout = 15}},
	};

	assert_int_equal(cm_connect(side->cm, pair.now, &call, side, &connection), 0);
	return connection;
}

static void test_of_two_who_call_each_other_the_larger_guid_stays_the_caller(void **state)
{
	(void)state;
	a = call_peer_to_peer(&pair.a, &pair.b, 0x101);
	b = call_peer_to_peer(&pair.b, &pair.a, 0x202);
	cm_pair_exchange(&pair);
	/* b's CA GUID is the larger one. */
	assert_int_equal(cm_connection_state(b), CM_REQ_SENT);
	assert_ptr_equal(cm_side_expect(&pair.a, CM_EVENT_REQUEST)->connection, a);
	cm_side_accept(&pair.a, a, 0x101);
	cm_pair_exchange(&pair);
	cm_side_expect(&pair.b, CM_EVENT_REPLY);
	assert_int_equal(cm_establish(b, pair.now, nothing), 0);
	cm_pair_exchange(&pair);
	assert_int_equal(cm_connection_state(a), CM_ESTABLISHED);
	assert_int_equal(cm_connection_state(b), CM_ESTABLISHED);
	cm_side_expect_sent(&pair.a, "REQ REP");
	cm_side_expect_sent(&pair.b, "REQ RTU");
}

static void test_refusals_have_their_reasons(void **state)
{
	(void)state;
	const uint8_t why[] = "no";

	a = cm_side_call(&pair.a, CM_SERVICE, 0x101);
	cm_pair_exchange(&pair);
	assert_int_equal(cm_side_expect(&pair.a, CM_EVENT_REJECTED)->reason,
			 CM_REJECT_INVALID_SERVICE_ID);
	call_and_answer();
	assert_int_equal(cm_reject(b, pair.now, CM_REJECT_CONSUMER, nothing,
				   (struct cm_private_data){why, sizeof(why)}),
			 0);
	cm_pair_exchange(&pair);
	assert_int_equal(cm_side_expect(&pair.a, CM_EVENT_REJECTED)->reason, CM_REJECT_CONSUMER);
	assert_string_equal((const char *)cm_side_expect(&pair.a, CM_EVENT_REJECTED)->private_data,
			    "no");
	assert_int_equal(cm_connection_state(a), CM_IDLE);
	assert_int_equal(cm_connection_state(b), CM_IDLE);
}

static void test_a_reply_can_be_refused(void **state)
{
	(void)state;
	call_and_answer();
	cm_side_accept(&pair.b, b, 0x202);
	cm_pair_exchange(&pair);
	assert_int_equal(cm_reject(a, pair.now, CM_REJECT_CONSUMER, nothing, nothing), 0);
	cm_pair_exchange(&pair);
	assert_int_equal(cm_side_expect(&pair.b, CM_EVENT_REJECTED)->reason, CM_REJECT_CONSUMER);
	assert_int_equal(cm_connection_state(a), CM_TIMEWAIT);
}

static void test_transports_and_versions_that_we_do_not_have_are_refused(void **state)
{
	(void)state;
	struct cm_message message;

	listen_on_b(CM_SERVICE, UINT64_MAX);
	a = cm_side_call(&pair.a, CM_SERVICE, 0x101);
	assert_int_equal(cm_transmit(pair.a.cm, pair.now, 1, &message), 1);
	message.mad.address.lid = pair.a.lid;
	message.mad.bytes[CM_DATA_OFFSET + 43] |= CM_TRANSPORT_EXTENDED << 1;
	message.mad.bytes[CM_DATA_OFFSET + 51] |= 7;
	cm_receive(pair.b.cm, pair.now, &message);
	cm_pair_exchange(&pair);
	assert_int_equal(cm_side_expect(&pair.a, CM_EVENT_REJECTED)->reason,
			 CM_REJECT_INVALID_TRANSPORT_TYPE);
	a = cm_side_call(&pair.a, CM_SERVICE, 0x102);
	assert_int_equal(cm_transmit(pair.a.cm, pair.now, 1, &message), 1);
	message.mad.address.lid = pair.a.lid;
	message.mad.bytes[2] = 3;
	cm_receive(pair.b.cm, pair.now, &message);
	cm_pair_exchange(&pair);
	assert_int_equal(cm_side_expect(&pair.a, CM_EVENT_REJECTED)->reason,
			 CM_REJECT_CLASS_VERSION);
	assert_int_equal(pair.b.event_count, 0);
}

static void test_calls_in_the_wrong_state_or_with_too_much_data_do_nothing(void **state)
{
	(void)state;
	static const uint8_t much[256];
	const struct cm_rep rep = {.local_qpn = 1};

	call_and_answer();
	assert_int_equal(cm_establish(b, pair.now, nothing), -EINVAL);
	assert_int_equal(cm_accept(a, pair.now, &rep, 0, nothing), -EINVAL);
	assert_int_equal(cm_disconnect(a, pair.now, nothing), -EINVAL);
	assert_int_equal(cm_disconnect(b, pair.now, nothing), -EINVAL);
	assert_int_equal(cm_reject(a, pair.now, CM_REJECT_CONSUMER, nothing, nothing), -EINVAL);
	assert_int_equal(cm_accept(b, pair.now, &rep, 0,
				   (struct cm_private_data){much, CM_REP_PRIVATE_BYTES + 1}),
			 -EINVAL);
	assert_int_equal(cm_reject(b, pair.now, CM_REJECT_CONSUMER, nothing,
				   (struct cm_private_data){much, CM_REJ_PRIVATE_BYTES + 1}),
			 -EINVAL);
	assert_int_equal(cm_connection_state(b), CM_REQ_RCVD);
	assert_int_equal(cm_accept(b, pair.now, &rep, 0,
				   (struct cm_private_data){much, CM_REP_PRIVATE_BYTES}),
			 0);
}

static void test_a_program_that_goes_refuses_what_it_had_under_way(void **state)
{
	(void)state;
	call_and_answer();
	cm_release(b, pair.now);
	cm_pair_exchange(&pair);
	assert_int_equal(cm_side_expect(&pair.a, CM_EVENT_REJECTED)->reason, CM_REJECT_CONSUMER);
	cm_release(a, pair.now);
	a = cm_side_call(&pair.a, CM_SERVICE, 0x103);
	cm_pair_exchange(&pair);
	b = cm_side_expect(&pair.b, CM_EVENT_REQUEST)->connection;
	cm_release(a, pair.now);
	cm_pair_exchange(&pair);
	assert_int_equal(cm_side_expect(&pair.b, CM_EVENT_REJECTED)->reason, CM_REJECT_TIMEOUT);
	cm_release(b, pair.now);
	cm_pair_expect_empty(&pair);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
	const struct CMUnitTest tests[] = {
		TEST(test_three_messages_make_a_connection),
		TEST(test_a_lost_req_is_sent_again),
		TEST(test_a_lost_rep_is_sent_again_and_a_lost_rtu_on_request),
		TEST(test_who_gets_no_answer_gives_up_and_says_so),
		TEST(test_a_rep_without_answer_ends_in_timewait),
		TEST(test_an_mra_buys_time),
		TEST(test_an_mra_that_is_not_kept_is_a_timeout),
		TEST(test_a_slow_program_is_excused_when_the_peer_asks_again),
		TEST(test_data_before_the_rtu_establish_as_well),
		TEST(test_a_req_twice_is_one_connection),
		TEST(test_a_refusal_of_an_earlier_copy_does_not_end_the_connection),
		TEST(test_a_queue_pair_that_calls_again_was_restarted),
		TEST(test_of_two_who_call_each_other_the_larger_guid_stays_the_caller),
		TEST(test_refusals_have_their_reasons),
		TEST(test_a_reply_can_be_refused),
		TEST(test_transports_and_versions_that_we_do_not_have_are_refused),
		TEST(test_calls_in_the_wrong_state_or_with_too_much_data_do_nothing),
		TEST(test_a_program_that_goes_refuses_what_it_had_under_way),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
