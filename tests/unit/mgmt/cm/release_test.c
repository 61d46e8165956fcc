/* SPDX-License-Identifier: Apache-2.0 */
/* Exchanges that end connections, and alternate paths, SIDR and listeners (management 7.2, 7.5).
 * Covers: mgmt/cm/alternate_path.c mgmt/cm/sidr.c mgmt/cm/listeners.c */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>
#include "support/cm_pair.h"

static const struct cm_private_data nothing;
static struct cm_pair pair;
static struct cm_connection *a, *b;

static int set_up(void **state)
{
	(void)state;
	cm_pair_init(&pair);
	cm_pair_connect(&pair, &a, &b);
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	cm_pair_release(&pair);
	return 0;
}

static void test_dreq_and_drep_end_a_connection_and_timewait_follows(void **state)
{
	(void)state;
	assert_int_equal(cm_disconnect(a, pair.now, nothing), 0);
	cm_pair_exchange(&pair);
	cm_side_expect(&pair.b, CM_EVENT_DISCONNECTED);
	assert_int_equal(cm_connection_state(b), CM_DREQ_RCVD);
	assert_int_equal(cm_disconnect(b, pair.now, nothing), 0);
	cm_pair_exchange(&pair);
	cm_side_expect(&pair.a, CM_EVENT_DISCONNECT_DONE);
	assert_int_equal(cm_connection_state(a), CM_TIMEWAIT);
	assert_int_equal(cm_connection_state(b), CM_TIMEWAIT);
	/* T(15) is 134 ms. */
	cm_pair_run_for(&pair, MILLISECONDS(134));
	assert_int_equal(cm_connection_state(a), CM_TIMEWAIT);
	cm_pair_run_for(&pair, MILLISECONDS(1));
	cm_side_expect(&pair.a, CM_EVENT_TIMEWAIT_EXIT);
	cm_side_expect(&pair.b, CM_EVENT_TIMEWAIT_EXIT);
	cm_side_expect_sent(&pair.a, "DREQ");
	cm_side_expect_sent(&pair.b, "DREP");
	cm_release(a, pair.now);
	cm_release(b, pair.now);
	cm_pair_expect_empty(&pair);
}

static void test_a_lost_drep_is_sent_again_from_timewait(void **state)
{
	(void)state;
	assert_int_equal(cm_disconnect(a, pair.now, nothing), 0);
	cm_pair_exchange(&pair);
	cm_side_lose(&pair.b, 1);
	assert_int_equal(cm_disconnect(b, pair.now, nothing), 0);
	cm_release(b, pair.now);
	/* Long after b has dropped the connection. */
	cm_pair_run_for(&pair, SECONDS(3));
	cm_side_expect(&pair.a, CM_EVENT_TIMEWAIT_EXIT);
	cm_side_expect_sent(&pair.a, "DREQ DREQ");
	cm_side_expect_sent(&pair.b, "DREP! DREP");
}

static void test_a_peer_that_is_gone_is_disconnected_after_the_retries(void **state)
{
	(void)state;
	for (unsigned nth = 1; nth <= 4; nth++)
		cm_side_lose(&pair.a, nth);
	assert_int_equal(cm_disconnect(a, pair.now, nothing), 0);
	cm_pair_run_for(&pair, SECONDS(30));
	cm_side_expect_sent(&pair.a, "DREQ! DREQ! DREQ! DREQ!");
	cm_side_expect(&pair.a, CM_EVENT_TIMEWAIT_EXIT);
}

static void test_both_sides_may_disconnect_at_once(void **state)
{
	(void)state;
	assert_int_equal(cm_disconnect(a, pair.now, nothing), 0);
	assert_int_equal(cm_disconnect(b, pair.now, nothing), 0);
	cm_pair_exchange(&pair);
	cm_side_expect(&pair.a, CM_EVENT_DISCONNECT_DONE);
	cm_side_expect(&pair.b, CM_EVENT_DISCONNECT_DONE);
	assert_int_equal(cm_connection_state(a), CM_TIMEWAIT);
	assert_int_equal(cm_connection_state(b), CM_TIMEWAIT);
}

static void test_a_program_that_goes_is_disconnected_in_order(void **state)
{
	(void)state;
	cm_release(a, pair.now);
	cm_pair_exchange(&pair);
	cm_side_expect(&pair.b, CM_EVENT_DISCONNECTED);
	cm_release(b, pair.now);
	cm_pair_run_for(&pair, SECONDS(1));
	cm_side_expect_sent(&pair.a, "DREQ");
	cm_side_expect_sent(&pair.b, "DREP");
	cm_pair_expect_empty(&pair);
}

static void test_a_late_req_in_timewait_is_stale(void **state)
{
	(void)state;
	struct cm_connection *late = cm_side_call(&pair.a, CM_SERVICE, 0x777);
	struct cm_message req;

	assert_int_equal(cm_transmit(pair.a.cm, pair.now, 1, &req), 1);
	req.mad.address.lid = pair.a.lid;
	cm_receive(pair.b.cm, pair.now, &req);
	b = cm_side_expect(&pair.b, CM_EVENT_REQUEST)->connection;
	cm_side_accept(&pair.b, b, 0x778);
	cm_pair_exchange(&pair);
	assert_int_equal(cm_establish(late, pair.now, nothing), 0);
	cm_pair_exchange(&pair);
	assert_int_equal(cm_disconnect(late, pair.now, nothing), 0);
	cm_pair_exchange(&pair);
	assert_int_equal(cm_disconnect(b, pair.now, nothing), 0);
	cm_pair_exchange(&pair);

	unsigned events = pair.b.event_count;

	cm_side_forget_record(&pair.b);
	cm_receive(pair.b.cm, pair.now, &req);
	cm_pair_exchange(&pair);
	cm_side_expect_sent(&pair.b, "REJ");
	assert_int_equal(pair.b.event_count, events);
}

static void test_an_alternate_path_is_loaded(void **state)
{
	(void)state;
	const struct cm_lap lap = {.local_lid = 5, .remote_lid = 6};

	assert_int_equal(cm_load_alternate(a, pair.now, &lap, nothing), 0);
	/* Only one LAP may be outstanding (management 7.5). */
	assert_int_equal(cm_load_alternate(a, pair.now, &lap, nothing), -EINVAL);
	cm_pair_exchange(&pair);
	cm_side_expect(&pair.b, CM_EVENT_ALTERNATE_PATH);
	assert_int_equal(cm_delay(b, pair.now, 22), 0);
	cm_pair_run_for(&pair, SECONDS(10));
	assert_int_equal(cm_answer_alternate(b, pair.now, CM_APR_LOADED, nothing), 0);
	cm_pair_exchange(&pair);
	cm_side_expect(&pair.a, CM_EVENT_ALTERNATE_ANSWER);
	cm_side_expect_sent(&pair.a, "LAP");
	cm_side_expect_sent(&pair.b, "MRA APR");
	assert_int_equal(cm_load_alternate(a, pair.now, &lap, nothing), 0);
}

/* Found by cm_soak: a copy of an APR arrives while the next LAP waits. */
static void test_a_late_copy_of_an_apr_answers_no_other_lap(void **state)
{
	(void)state;
	const struct cm_lap lap = {.local_lid = 5, .remote_lid = 6};
	struct cm_message apr;

	assert_int_equal(cm_load_alternate(a, pair.now, &lap, nothing), 0);
	cm_pair_exchange(&pair);
	cm_side_expect(&pair.b, CM_EVENT_ALTERNATE_PATH);
	assert_int_equal(cm_answer_alternate(b, pair.now, CM_APR_LOADED, nothing), 0);
	assert_int_equal(cm_transmit(pair.b.cm, pair.now, 1, &apr), 1);
	apr.mad.address.lid = pair.b.lid;
	cm_receive(pair.a.cm, pair.now, &apr);
	cm_side_expect(&pair.a, CM_EVENT_ALTERNATE_ANSWER);
	assert_int_equal(cm_load_alternate(a, pair.now, &lap, nothing), 0);

	unsigned events = pair.a.event_count;

	cm_receive(pair.a.cm, pair.now, &apr);
	assert_int_equal(pair.a.event_count, events);
	cm_pair_exchange(&pair);
	assert_int_equal(cm_answer_alternate(b, pair.now, CM_APR_REJECTED, nothing), 0);
	cm_pair_exchange(&pair);
	assert_int_equal(pair.a.event_count, events + 1);
}

static void test_a_lap_without_answer_leaves_the_connection_alone(void **state)
{
	(void)state;
	const struct cm_lap lap = {.local_lid = 5};

	assert_int_equal(cm_load_alternate(a, pair.now, &lap, nothing), 0);
	cm_pair_run_for(&pair, SECONDS(30));
	cm_side_expect(&pair.a, CM_EVENT_ALTERNATE_UNREACHABLE);
	assert_int_equal(cm_connection_state(a), CM_ESTABLISHED);
	cm_side_expect_sent(&pair.a, "LAP LAP LAP LAP");
}

static struct cm_connection *resolve(void)
{
	struct cm_connection *connection;
	const struct cm_sidr_call call = {.address = {.lid = 2},
					  .request = {.service_id = CM_SERVICE},
					  .timeout = SECONDS(1),
					  .retries = 2,
					  .private_data = {(const uint8_t *)"who", 4}};

	assert_int_equal(cm_sidr_resolve(pair.a.cm, pair.now, &call, &pair.a, &connection), 0);
	return connection;
}

static void test_a_datagram_service_is_found(void **state)
{
	(void)state;
	const struct cm_sidr_rep rep = {.qpn = 0x321, .qkey = 7};

	a = resolve();
	cm_side_lose(&pair.b, 1);
	cm_pair_exchange(&pair);
	b = cm_side_expect(&pair.b, CM_EVENT_SIDR_REQUEST)->connection;
	assert_string_equal(
		(const char *)cm_side_expect(&pair.b, CM_EVENT_SIDR_REQUEST)->private_data, "who");
	assert_int_equal(cm_sidr_answer(b, pair.now, &rep, 0, nothing), 0);
	cm_release(b, pair.now);
	/* The answer was lost. The request is repeated and counts as a new one. */
	cm_pair_run_for(&pair, SECONDS(1));
	b = cm_side_expect(&pair.b, CM_EVENT_SIDR_REQUEST)->connection;
	assert_int_equal(cm_sidr_answer(b, pair.now, &rep, 0, nothing), 0);
	cm_release(b, pair.now);
	cm_pair_exchange(&pair);
	cm_side_expect(&pair.a, CM_EVENT_SIDR_REPLY);
	cm_release(a, pair.now);
	cm_side_expect_sent(&pair.a, "SIDR_REQ SIDR_REQ");
	cm_side_expect_sent(&pair.b, "SIDR_REP! SIDR_REP");
}

static void test_a_datagram_service_that_nobody_has_is_told_at_once(void **state)
{
	(void)state;
	struct cm_connection *connection;
	const struct cm_sidr_call call = {
		.address = {.lid = 2}, .request = {.service_id = 99}, .timeout = SECONDS(1)};

	assert_int_equal(cm_sidr_resolve(pair.a.cm, pair.now, &call, &pair.a, &connection), 0);
	cm_pair_exchange(&pair);
	cm_side_expect(&pair.a, CM_EVENT_SIDR_REPLY);
	cm_release(connection, pair.now);
}

static void test_a_datagram_service_without_answer_is_unreachable(void **state)
{
	(void)state;
	a = resolve();
	for (unsigned nth = 1; nth <= 3; nth++)
		cm_side_lose(&pair.a, nth);
	cm_pair_run_for(&pair, SECONDS(10));
	cm_side_expect(&pair.a, CM_EVENT_SIDR_UNREACHABLE);
	cm_side_expect_sent(&pair.a, "SIDR_REQ! SIDR_REQ! SIDR_REQ!");
}

static void test_a_mask_takes_a_range_and_no_other(void **state)
{
	(void)state;
	struct cm_listener *listener, *other;

	assert_int_equal(
		cm_listen(pair.b.cm, pair.now, 0x5000, 0xffffffffffffff00, NULL, &listener), 0);
	assert_int_equal(cm_listen(pair.b.cm, pair.now, 0x5012, UINT64_MAX, NULL, &other),
			 -EADDRINUSE);
	assert_int_equal(cm_listen(pair.b.cm, pair.now, CM_SERVICE, UINT64_MAX, NULL, &other),
			 -EADDRINUSE);
	a = cm_side_call(&pair.a, 0x50ff, 0x901);
	cm_pair_exchange(&pair);
	cm_side_expect(&pair.b, CM_EVENT_REQUEST);
	a = cm_side_call(&pair.a, 0x5100, 0x902);
	cm_pair_exchange(&pair);
	assert_int_equal(cm_side_expect(&pair.a, CM_EVENT_REJECTED)->reason,
			 CM_REJECT_INVALID_SERVICE_ID);
}

static void test_a_call_between_two_listens_waits_for_the_second(void **state)
{
	(void)state;
	struct cm_listener *listener;

	assert_int_equal(cm_listen(pair.b.cm, pair.now, 0x6000, UINT64_MAX, NULL, &listener), 0);
	cm_unlisten(pair.b.cm, pair.now, listener);
	a = cm_side_call(&pair.a, 0x6000, 0x901);
	cm_pair_run_for(&pair, MILLISECONDS(50));
	cm_side_expect_sent(&pair.b, "");
	assert_int_equal(cm_count(pair.b.cm).held_requests, 1);
	assert_int_equal(cm_listen(pair.b.cm, pair.now, 0x6000, UINT64_MAX, NULL, &listener), 0);
	cm_side_expect(&pair.b, CM_EVENT_REQUEST);
	assert_int_equal(cm_count(pair.b.cm).held_requests, 0);
}

static void test_a_call_to_a_service_that_stays_closed_is_refused_after_a_while(void **state)
{
	(void)state;
	struct cm_listener *listener;

	assert_int_equal(cm_listen(pair.b.cm, pair.now, 0x6000, UINT64_MAX, NULL, &listener), 0);
	cm_unlisten(pair.b.cm, pair.now, listener);
	a = cm_side_call(&pair.a, 0x6000, 0x901);
	cm_pair_run_for(&pair, MILLISECONDS(200));
	assert_int_equal(cm_side_expect(&pair.a, CM_EVENT_REJECTED)->reason,
			 CM_REJECT_INVALID_SERVICE_ID);
	assert_int_equal(cm_count(pair.b.cm).held_requests, 0);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
	const struct CMUnitTest tests[] = {
		TEST(test_dreq_and_drep_end_a_connection_and_timewait_follows),
		TEST(test_a_lost_drep_is_sent_again_from_timewait),
		TEST(test_a_peer_that_is_gone_is_disconnected_after_the_retries),
		TEST(test_both_sides_may_disconnect_at_once),
		TEST(test_a_program_that_goes_is_disconnected_in_order),
		TEST(test_a_late_req_in_timewait_is_stale),
		TEST(test_an_alternate_path_is_loaded),
		TEST(test_a_late_copy_of_an_apr_answers_no_other_lap),
		TEST(test_a_lap_without_answer_leaves_the_connection_alone),
		TEST(test_a_datagram_service_is_found),
		TEST(test_a_datagram_service_that_nobody_has_is_told_at_once),
		TEST(test_a_datagram_service_without_answer_is_unreachable),
		TEST(test_a_mask_takes_a_range_and_no_other),
		TEST(test_a_call_between_two_listens_waits_for_the_second),
		TEST(test_a_call_to_a_service_that_stays_closed_is_refused_after_a_while),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
