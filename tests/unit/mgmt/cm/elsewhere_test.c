/* SPDX-License-Identifier: Apache-2.0 */
/* Calls that a peer redirects (management 7.1). */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>
#include "base/bytes.h"
#include "mgmt/mad/transactions.h"
#include "support/cm_pair.h"
#include "wire/sa_records.h"

enum { QPN = 0x701, MODIFIER_OFFSET = 20 };

static const struct cm_private_data nothing;
static struct cm_pair pair;
static struct cm_connection *a;

static int set_up(void **state)
{
	struct cm_listener *listener;

	(void)state;
	cm_pair_init(&pair);
	return cm_listen(pair.b.cm, pair.now, CM_SERVICE, UINT64_MAX, NULL, &listener);
}

static int tear_down(void **state)
{
	(void)state;
	cm_pair_release(&pair);
	return 0;
}

/* The port that redirects takes the call from the wire. */
static struct cm_message take_call(enum cm_message_id id)
{
	struct cm_message call;

	assert_int_equal(cm_transmit(pair.a.cm, pair.now, 1, &call), 1);
	assert_int_equal(get_be16(call.mad.bytes + 16), id);
	return call;
}

static void reject(const struct cm_message *call)
{
	const struct cm_rej rej = {.remote_comm_id = get_be32(call->mad.bytes + CM_DATA_OFFSET),
				   .info_bytes = CM_REJ_INFO_BYTES,
				   .reason = CM_REJECT_PORT_CM_REDIRECT};
	struct cm_message answer = *call;

	put_be16(answer.mad.bytes + 16, CM_REJ);
	memset(answer.mad.bytes + CM_DATA_OFFSET, 0, CM_DATA_BYTES);
	cm_rej_encode(&rej, answer.mad.bytes + CM_DATA_OFFSET);
	cm_receive(pair.a.cm, pair.now, &answer);
}

static struct cm_place place_of(uint16_t lid)
{
	return (struct cm_place){
		.address = {.lid = lid, .pkey = 0xffff},
		.packet_life_time = 14,
		.path_mtu = 3,
		.primary = {.local_lid = 1,
			    .remote_lid = lid,
			    .remote_gid_guid = 0x99,
			    .subnet_local = 1,
			    .ack_timeout = 15},
	};
}

static void test_a_redirected_call_is_made_elsewhere(void **state)
{
	const struct cm_place place = place_of(2);
	struct cm_message first, second;
	struct cm_request was, is;

	(void)state;
	a = cm_side_call(&pair.a, CM_SERVICE, QPN);
	first = take_call(CM_REQ);
	reject(&first);
	assert_int_equal(cm_side_expect(&pair.a, CM_EVENT_REJECTED)->reason,
			 CM_REJECT_PORT_CM_REDIRECT);
	assert_int_equal(cm_call_elsewhere(a, pair.now, &place), 0);
	second = take_call(CM_REQ);
	cm_request_decode(first.mad.bytes + CM_DATA_OFFSET, &was);
	cm_request_decode(second.mad.bytes + CM_DATA_OFFSET, &is);
	assert_int_equal(second.mad.address.lid, 2);
	assert_int_equal(get_be32(second.mad.bytes + MODIFIER_OFFSET), 0x77);
	assert_int_not_equal(is.req.local_comm_id, was.req.local_comm_id);
	assert_int_equal(is.req.service_id, CM_SERVICE);
	assert_int_equal(is.req.local_qpn, QPN);
	assert_int_equal(is.req.path_mtu, 3);
	assert_int_equal(is.primary.remote_lid, 2);
	assert_int_equal(is.primary.remote_gid_guid, 0x99);
	assert_memory_equal(second.mad.bytes + CM_DATA_OFFSET + CM_REQ_PRIVATE_OFFSET, "hello", 6);
	/* The new REQ was lost. It is repeated to the same place. */
	cm_pair_run_for(&pair, SECONDS(2));
	struct cm_connection *b = cm_side_expect(&pair.b, CM_EVENT_REQUEST)->connection;

	cm_side_accept(&pair.b, b, 0x702);
	cm_pair_exchange(&pair);
	cm_side_expect(&pair.a, CM_EVENT_REPLY);
	assert_int_equal(cm_establish(a, pair.now, nothing), 0);
	cm_pair_exchange(&pair);
	cm_side_expect(&pair.b, CM_EVENT_ESTABLISHED);
}

/* A second copy of the REJ, or a REP of the place that redirected, finds no connection. */
static void test_late_copies_of_the_rejection_change_nothing(void **state)
{
	const struct cm_place place = place_of(2);
	struct cm_message call;

	(void)state;
	a = cm_side_call(&pair.a, CM_SERVICE, QPN);
	call = take_call(CM_REQ);
	reject(&call);
	assert_int_equal(cm_call_elsewhere(a, pair.now, &place), 0);
	reject(&call);
	assert_int_equal(cm_connection_state(a), CM_REQ_SENT);
	assert_int_equal(pair.a.event_count, 1);
}

static void test_redirections_end(void **state)
{
	const struct cm_place place = place_of(2);
	struct cm_message call;

	(void)state;
	a = cm_side_call(&pair.a, CM_SERVICE, QPN);
	for (unsigned count = 0; count < MAD_REDIRECTS_MAX; count++) {
		call = take_call(CM_REQ);
		reject(&call);
		assert_int_equal(cm_call_elsewhere(a, pair.now, &place), 0);
	}
	call = take_call(CM_REQ);
	reject(&call);
	assert_int_equal(cm_call_elsewhere(a, pair.now, &place), -ELOOP);
	assert_int_equal(cm_connection_state(a), CM_IDLE);
	cm_release(a, pair.now);
	cm_pair_expect_empty(&pair);
}

static void test_only_a_call_that_was_refused_goes_elsewhere(void **state)
{
	const struct cm_place place = place_of(2);
	struct cm_connection *b;

	(void)state;
	a = cm_side_call(&pair.a, CM_SERVICE, QPN);
	assert_int_equal(cm_call_elsewhere(a, pair.now, &place), -EINVAL);
	cm_pair_exchange(&pair);
	b = cm_side_expect(&pair.b, CM_EVENT_REQUEST)->connection;
	assert_int_equal(cm_reject(b, pair.now, CM_REJECT_CONSUMER, nothing, nothing), 0);
	assert_int_equal(cm_call_elsewhere(b, pair.now, &place), -EINVAL);
}

static void test_the_messages_go_to_the_qp_that_the_place_names(void **state)
{
	struct cm_place place = place_of(2);
	struct cm_message call;

	(void)state;
	place.address.qpn = 0x123;
	place.address.qkey = 0xcafe;
	a = cm_side_call(&pair.a, CM_SERVICE, QPN);
	call = take_call(CM_REQ);
	assert_int_equal(call.mad.address.qpn, 1);
	assert_int_equal(call.mad.address.qkey, 0x80010000);
	reject(&call);
	assert_int_equal(cm_call_elsewhere(a, pair.now, &place), 0);
	call = take_call(CM_REQ);
	assert_int_equal(call.mad.address.qpn, 0x123);
	assert_int_equal(call.mad.address.qkey, 0xcafe);
	pair.now = cm_deadline(pair.a.cm);
	call = take_call(CM_REQ);
	assert_int_equal(call.mad.address.qpn, 0x123);
	assert_int_equal(call.mad.address.qkey, 0xcafe);
}

static void test_a_redirected_service_is_resolved_elsewhere(void **state)
{
	const struct cm_sidr_call sidr = {.address = {.lid = 7},
					  .request = {.service_id = CM_SERVICE},
					  .timeout = SECONDS(1),
					  .retries = 2,
					  .private_data = {(const uint8_t *)"who", 4}};
	const struct cm_sidr_rep rep = {.qpn = 0x321, .qkey = 7};
	const struct cm_place place = place_of(2);
	struct cm_message call;

	(void)state;
	assert_int_equal(cm_sidr_resolve(pair.a.cm, pair.now, &sidr, &pair.a, &a), 0);
	call = take_call(CM_SIDR_REQ);
	put_be16(call.mad.bytes + 16, CM_SIDR_REP);
	call.mad.bytes[CM_DATA_OFFSET + 4] = CM_SIDR_REDIRECT;
	cm_receive(pair.a.cm, pair.now, &call);
	cm_side_expect(&pair.a, CM_EVENT_SIDR_REPLY);
	assert_int_equal(cm_call_elsewhere(a, pair.now, &place), 0);
	/* Both first tries are lost; the retries are as many as the caller wanted. */
	cm_side_lose(&pair.a, 1);
	cm_side_lose(&pair.a, 2);
	cm_pair_run_for(&pair, MILLISECONDS(2500));
	cm_side_expect_sent(&pair.a, "SIDR_REQ! SIDR_REQ! SIDR_REQ");

	const struct cm_seen *seen = cm_side_expect(&pair.b, CM_EVENT_SIDR_REQUEST);

	assert_string_equal((const char *)seen->private_data, "who");
	assert_int_equal(cm_sidr_answer(seen->connection, pair.now, &rep, 0, nothing), 0);
	cm_pair_exchange(&pair);
	cm_side_expect(&pair.a, CM_EVENT_SIDR_REPLY);
}

/* A port by LID or GID in what the message says it has, or no redirection. */
static void test_the_place_is_read_from_rej_and_sidr_rep(void **state)
{
	static const struct {
		uint8_t info_bytes, reason;
		uint16_t lid;
		bool has_gid, is_followed;
	} cases[] = {
		{72, 24, 5, false, true},  {72, 24, 0, true, true},  {72, 24, 0, false, false},
		{71, 24, 5, false, false}, {0, 24, 5, false, false}, {72, 28, 5, true, false},
	};
	const struct mad_address from = {.lid = 3, .qpn = 1};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		uint8_t data[CM_DATA_BYTES] = {0};
		const struct cm_event event = {.kind = CM_EVENT_REJECTED,
					       .data = data,
					       .reason = cases[i].reason,
					       .address = &from};
		struct cm_redirection read;

		data[9] = (uint8_t)(cases[i].info_bytes << 1);
		data[11] = cases[i].reason;
		data[12 + 29] = (uint8_t)cases[i].lid;
		data[12 + 23] = cases[i].has_gid ? 7 : 0;
		assert_int_equal(cm_redirection_read(&event, &read), cases[i].is_followed);
		if (!cases[i].is_followed)
			continue;
		assert_int_equal(read.place.redirect_lid, cases[i].lid);
		assert_int_equal(read.place.redirect_gid_guid, cases[i].has_gid ? 7 : 0);
	}

	uint8_t data[CM_DATA_BYTES] = {[4] = CM_SIDR_REDIRECT, [5] = 72, [24 + 29] = 9};
	struct cm_event event = {.kind = CM_EVENT_SIDR_REPLY, .data = data, .address = &from};
	struct cm_redirection read;

	assert_true(cm_redirection_read(&event, &read));
	assert_int_equal(read.place.redirect_lid, 9);
	data[4] = CM_SIDR_NO_QP;
	assert_false(cm_redirection_read(&event, &read));
	data[4] = CM_SIDR_REDIRECT;
	event.kind = CM_EVENT_SIDR_UNREACHABLE;
	assert_false(cm_redirection_read(&event, &read));
}

/* REJ 25: a GID alone. The messages stay with the connection manager that redirects. */
static void test_connections_alone_leave_the_address(void **state)
{
	const uint8_t data[CM_DATA_BYTES] = {
		[9] = 16 << 1, [11] = 25, [12] = 0xfe, 0x80, [12 + 15] = 7};
	const struct mad_address from = {.lid = 3, .sl = 2, .qpn = 1};
	const struct cm_event event = {
		.kind = CM_EVENT_REJECTED, .data = data, .reason = 25, .address = &from};
	const struct path_record path = {.dlid = 8, .sl = 4};
	struct cm_redirection read;
	struct mad_address address;

	(void)state;
	assert_true(cm_redirection_read(&event, &read));
	assert_int_equal(read.place.redirect_gid_prefix, 0xfe80000000000000);
	assert_int_equal(read.place.redirect_gid_guid, 7);
	assert_true(cm_redirection_address(&read, &path, &address));
	assert_int_equal(address.lid, 3);
	assert_int_equal(address.sl, 2);
	/* REJ 24 with a GID alone: to where the path leads. */
	read.reason = 24;
	assert_true(cm_redirection_address(&read, &path, &address));
	assert_int_equal(address.lid, 8);
	assert_int_equal(address.sl, 4);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define TEST(function) cmocka_unit_test_setup_teardown(function, set_up, tear_down)
		TEST(test_a_redirected_call_is_made_elsewhere),
		TEST(test_late_copies_of_the_rejection_change_nothing),
		TEST(test_redirections_end),
		TEST(test_only_a_call_that_was_refused_goes_elsewhere),
		TEST(test_the_messages_go_to_the_qp_that_the_place_names),
		TEST(test_a_redirected_service_is_resolved_elsewhere),
		TEST(test_the_place_is_read_from_rej_and_sidr_rep),
		TEST(test_connections_alone_leave_the_address),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
