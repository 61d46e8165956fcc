/* SPDX-License-Identifier: Apache-2.0 */
/* Connections of EE contexts: the numbers in REQ, REP and DREQ, services over an existing channel,
 * and rejections (management 7.1). */
#include "support/cm_pair.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <cmocka.h>
#include "wire/cm_established.h"
#include "wire/pkey.h"

enum { EEC_A = 0x500, EEC_B = 0x600, QP_A = 0x41, QP_B = 0x42, QKEY_A = 0x1111, QKEY_B = 0x2222 };

static struct cm_pair pair;
static struct cm_listener *listener;
static const struct cm_private_data nothing;

static int set_up(void **state)
{
	(void)state;
	cm_pair_init(&pair);
	assert_int_equal(cm_listen(pair.b.cm, pair.now, CM_SERVICE, UINT64_MAX, NULL, &listener),
			 0);
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	cm_pair_release(&pair);
	return 0;
}

static struct cm_call rd_call(uint32_t eecn, uint32_t qpn)
{
	return (struct cm_call){
		.address = {.lid = pair.b.lid, .pkey = PKEY_DEFAULT_FULL},
		.packet_life_time = 10,
		.request = {.req = {.service_id = CM_SERVICE,
				    .transport = CM_TRANSPORT_RD,
				    .local_qpn = qpn,
				    .local_qkey = QKEY_A,
				    .local_eecn = eecn,
				    .remote_response_timeout = 15,
				    .local_response_timeout = 15,
				    .max_cm_retries = 3},
			    .primary = {.local_lid = pair.a.lid,
					.remote_lid = pair.b.lid,
					.local_gid_guid = pair.a.ca_guid,
					.remote_gid_guid = pair.b.ca_guid,
					.subnet_local = 1,
					.ack_timeout = 12}},
	};
}

static struct cm_connection *call(const struct cm_call *call)
{
	struct cm_connection *connection;

	assert_int_equal(cm_connect(pair.a.cm, pair.now, call, &pair.a, &connection), 0);
	cm_pair_exchange(&pair);
	return connection;
}

static struct cm_connection *accept(uint32_t eecn, uint32_t qpn)
{
	const struct cm_rep rep = {.local_qpn = qpn, .local_qkey = QKEY_B, .local_eecn = eecn};
	struct cm_connection *connection = cm_side_expect(&pair.b, CM_EVENT_REQUEST)->connection;

	cm_connection_set_context(connection, &pair.b);
	assert_int_equal(cm_accept(connection, pair.now, &rep, 0, nothing), 0);
	cm_pair_exchange(&pair);
	return connection;
}

static void establish(struct cm_connection *connection)
{
	cm_side_expect(&pair.a, CM_EVENT_REPLY);
	assert_int_equal(cm_establish(connection, pair.now, nothing), 0);
	cm_pair_exchange(&pair);
	cm_side_expect(&pair.b, CM_EVENT_ESTABLISHED);
}

static void make_channel(struct cm_connection **ret_a, struct cm_connection **ret_b)
{
	const struct cm_call first = rd_call(EEC_A, QP_A);

	*ret_a = call(&first);
	*ret_b = accept(EEC_B, QP_B);
	establish(*ret_a);
	cm_side_forget_record(&pair.a);
	cm_side_forget_record(&pair.b);
}

static void test_contexts_are_connected_and_disconnected_by_their_numbers(void **state)
{
	struct cm_connection *a, *b;

	(void)state;
	make_channel(&a, &b);
	assert_int_equal(cm_connection_state(a), CM_ESTABLISHED);
	assert_int_equal(cm_connection_state(b), CM_ESTABLISHED);
	/* The DREQ names the EE context. With a QPN it would not be accepted. */
	assert_int_equal(cm_disconnect(a, pair.now, nothing), 0);
	cm_pair_exchange(&pair);
	cm_side_expect(&pair.b, CM_EVENT_DISCONNECTED);
	assert_int_equal(cm_disconnect(b, pair.now, nothing), 0);
	cm_pair_exchange(&pair);
	cm_side_expect_sent(&pair.a, "DREQ");
	cm_side_expect_sent(&pair.b, "DREP");
}

static void test_one_queue_pair_is_in_many_channels(void **state)
{
	struct cm_connection *a, *b;
	const struct cm_call other = rd_call(EEC_A + 1, QP_A);

	(void)state;
	make_channel(&a, &b);

	struct cm_connection *second = call(&other);

	accept(EEC_B + 1, QP_B);
	establish(second);
	assert_int_equal(cm_count(pair.b.cm).connections, 2);
	cm_side_expect_sent(&pair.b, "REP");
}

static void test_context_that_is_connected_already_is_stale(void **state)
{
	struct cm_connection *a, *b;
	const struct cm_call again = rd_call(EEC_A, QP_A + 1);

	(void)state;
	make_channel(&a, &b);

	struct cm_connection *second = call(&again);

	/* The old connection is ended too, since one side must have lost it. */
	for (unsigned i = 0; i < pair.a.event_count; i++)
		if (pair.a.events[i].kind == CM_EVENT_REJECTED) {
			assert_ptr_equal(pair.a.events[i].connection, second);
			assert_int_equal(pair.a.events[i].reason, CM_REJECT_STALE_CONNECTION);
			return;
		}
	fail_msg("it was not refused");
}

static void test_number_of_a_queue_pair_is_not_that_of_a_context(void **state)
{
	struct cm_connection *a, *b;

	(void)state;
	make_channel(&a, &b);
	/* A reliable connection may have a QPN that equals the number of the EE context. */
	cm_side_call(&pair.a, CM_SERVICE, EEC_A);
	cm_pair_exchange(&pair);
	cm_side_expect(&pair.b, CM_EVENT_REQUEST);
}

static void test_service_over_an_existing_channel_connects_nothing_new(void **state)
{
	struct cm_connection *a, *b;
	struct cm_call more = rd_call(EEC_A, QP_A + 1);

	(void)state;
	make_channel(&a, &b);
	more.request.req.rdc_exists = 1;
	more.request.req.remote_eecn = EEC_B;

	struct cm_connection *service = call(&more);
	struct cm_connection *answer = accept(EEC_B, QP_B + 1);

	establish(service);
	assert_ptr_not_equal(answer, b);
	/* The service ends, the channel stays. */
	assert_int_equal(cm_disconnect(service, pair.now, nothing), 0);
	cm_pair_exchange(&pair);
	cm_side_expect(&pair.b, CM_EVENT_DISCONNECTED);
	assert_int_equal(cm_connection_state(a), CM_ESTABLISHED);
	assert_int_equal(cm_connection_state(b), CM_ESTABLISHED);
}

static void test_channel_that_does_not_exist_is_refused(void **state)
{
	struct cm_call bad = rd_call(EEC_A, QP_A);
	struct cm_connection *a, *b;

	(void)state;
	bad.request.req.rdc_exists = 1;
	bad.request.req.remote_eecn = EEC_B;
	call(&bad);
	assert_int_equal(cm_side_expect(&pair.a, CM_EVENT_REJECTED)->reason,
			 CM_REJECT_RDC_NOT_EXIST);
	/* A channel between other EE contexts does not count. */
	make_channel(&a, &b);
	bad.request.req.remote_eecn = EEC_B + 1;
	call(&bad);
	assert_int_equal(cm_side_expect(&pair.a, CM_EVENT_REJECTED)->reason,
			 CM_REJECT_RDC_NOT_EXIST);
}

static void test_request_without_a_context_is_refused(void **state)
{
	const struct cm_call bad = rd_call(0, QP_A);

	(void)state;
	call(&bad);
	assert_int_equal(cm_side_expect(&pair.a, CM_EVENT_REJECTED)->reason, CM_REJECT_UNSUPPORTED);
}

static void test_lost_messages_are_repeated(void **state)
{
	const struct cm_call first = rd_call(EEC_A, QP_A);

	(void)state;
	cm_side_lose(&pair.a, 1);
	cm_side_lose(&pair.b, 1);

	struct cm_connection *connection = call(&first);

	cm_pair_run_for(&pair, MILLISECONDS(200));
	accept(EEC_B, QP_B);
	cm_pair_run_for(&pair, MILLISECONDS(200));
	establish(connection);
	/* A repeated REQ that finds its connection makes no second one. */
	cm_side_expect_sent(&pair.a, "REQ! REQ REQ RTU");
	cm_side_expect_sent(&pair.b, "REP! REP");
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_contexts_are_connected_and_disconnected_by_their_numbers),
		TEST(test_one_queue_pair_is_in_many_channels),
		TEST(test_context_that_is_connected_already_is_stale),
		TEST(test_number_of_a_queue_pair_is_not_that_of_a_context),
		TEST(test_service_over_an_existing_channel_connects_nothing_new),
		TEST(test_channel_that_does_not_exist_is_refused),
		TEST(test_request_without_a_context_is_refused),
		TEST(test_lost_messages_are_repeated),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
