/* SPDX-License-Identifier: Apache-2.0 */
/* The SA as a whole: methods and status codes, keys, tables, clients that flood and clients that
 * vanish (management 4.1, 4.2, 4.3, 4.9). Covers: mgmt/sa/answers.c mgmt/sa/attributes.c
 * mgmt/sa/sa_query.c mgmt/sa/records.c */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>
#include "base/random.h"
#include "sa_fixture.h"
#include "wire/class_port_info.h"
#include "wire/rmpp.h"

static struct sa_fixture fixture;
static struct sa_reply reply;

static uint16_t ask(enum mad_method method, uint16_t attribute_id)
{
	const struct sa_question question = {
		.host = 2, .method = method, .attribute_id = attribute_id};

	fixture_ask(&fixture, &question, &reply);
	return reply.status;
}

static void test_class_port_info_says_what_there_is(void **state)
{
	struct class_port_info info;

	(void)state;
	assert_int_equal(ask(MAD_GET, SA_CLASS_PORT_INFO), 0);
	class_port_info_decode(reply.bytes, &info);
	assert_int_equal(info.base_version, 1);
	assert_int_equal(info.class_version, 2);
	assert_true(info.capability_mask & SA_CAPABILITY_MULTICAST);
	assert_true(info.capability_mask & SA_CAPABILITY_MULTI_PATH);
	assert_true(info.capability_mask2 & SA_CAPABILITY2_SEND_ONLY_FULL_MEMBER);
	assert_true(info.capability_mask2 & SA_CAPABILITY2_ALIAS_GUID);
	assert_false(info.capability_mask & SA_CAPABILITY_REINIT);
}

/* Every attribute with every method: exactly the methods that are not served are refused
 * (management 4.3). */
static void test_methods_of_every_attribute(void **state)
{
	enum { GET = 1, TABLE = 2, SET = 4, REMOVE = 8, MULTI = 16, TRACE = 32 };
	static const struct {
		enum mad_method method;
		unsigned bit;
	} methods[] = {{MAD_GET, GET},	     {MAD_GET_TABLE, TABLE}, {MAD_SET, SET},
		       {MAD_DELETE, REMOVE}, {MAD_GET_MULTI, MULTI}, {MAD_GET_TRACE_TABLE, TRACE}};
	static const struct {
		uint16_t attribute_id;
		unsigned served;
	} attributes[] = {
		{SA_CLASS_PORT_INFO, GET},
		{SA_NOTICE, 0},
		{SA_INFORM_INFO, SET},
		{SA_NODE_RECORD, GET | TABLE},
		{SA_PORT_INFO_RECORD, GET | TABLE},
		{SA_SWITCH_INFO_RECORD, GET | TABLE},
		{SA_LINEAR_FORWARDING_RECORD, GET | TABLE},
		{SA_RANDOM_FORWARDING_RECORD, 0},
		{SA_MULTICAST_FORWARDING_RECORD, GET | TABLE},
		{SA_SM_INFO_RECORD, GET | TABLE},
		{SA_LINK_RECORD, GET | TABLE},
		{SA_GUID_INFO_RECORD, GET | TABLE | SET | REMOVE},
		{SA_SERVICE_RECORD, GET | TABLE | SET | REMOVE},
		{SA_PKEY_TABLE_RECORD, GET | TABLE},
		{SA_PATH_RECORD, GET | TABLE},
		{SA_MC_MEMBER_RECORD, GET | TABLE | SET | REMOVE},
		{SA_TRACE_RECORD, TRACE},
		{SA_MULTI_PATH_RECORD, MULTI},
		{SA_SERVICE_ASSOCIATION_RECORD, GET | TABLE},
		{SA_INFORM_INFO_RECORD, GET | TABLE},
		{0x7777, 0},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_COUNT(attributes); i++) {
		for (size_t j = 0; j < ARRAY_COUNT(methods); j++) {
			uint16_t status = ask(methods[j].method, attributes[i].attribute_id);
			bool is_served = attributes[i].served & methods[j].bit;

			assert_true(reply.came);
			assert_int_equal(status != MAD_STATUS_BAD_METHOD_ATTRIBUTE, is_served);
		}
	}
}

/* The answer has the method with the R bit; Trap, Report and responses get none (management
 * 1.3). */
static void test_unknown_methods_and_one_way_mads(void **state)
{
	(void)state;
	assert_int_equal(ask(0x33, SA_NODE_RECORD), MAD_STATUS_BAD_METHOD);
	assert_int_equal(reply.method, 0xb3);
	ask(MAD_TRAP, SA_NOTICE);
	assert_false(reply.came);
	ask(MAD_REPORT, SA_NOTICE);
	assert_false(reply.came);
	/* A response is never answered (management 1.4). */
	ask(MAD_GET_RESPONSE, SA_NODE_RECORD);
	assert_false(reply.came);
	ask(MAD_REPORT_RESPONSE, SA_NOTICE);
	assert_false(reply.came);
}

static void test_other_versions_are_refused(void **state)
{
	const struct sa_question question = {
		.host = 2, .method = MAD_GET, .attribute_id = SA_CLASS_PORT_INFO};
	struct mad_message message = fixture_message(&fixture, &question);

	(void)state;
	message.bytes[2] = 1;
	sa_receive(fixture.sa, fixture.now, &message);
	assert_true(fixture_next_message(&fixture, &message));
	assert_int_equal(get_be16(message.bytes + 4), MAD_STATUS_BAD_VERSION);
	message.bytes[3] = MAD_GET_RESPONSE;
	sa_receive(fixture.sa, fixture.now, &message);
	assert_false(fixture_next_message(&fixture, &message));
}

static void test_wrong_key_is_not_even_answered(void **state)
{
	struct sa_question question = {.host = 2,
				       .method = MAD_GET,
				       .attribute_id = SA_CLASS_PORT_INFO,
				       .sm_key = FIXTURE_SM_KEY + 1};

	(void)state;
	fixture_ask(&fixture, &question, &reply);
	assert_false(reply.came);
	question.sm_key = FIXTURE_SM_KEY;
	fixture_ask(&fixture, &question, &reply);
	assert_int_equal(reply.status, 0);
	assert_int_equal(reply.sm_key, 0);
}

static void test_nothing_is_answered_without_a_subnet(void **state)
{
	struct sa_status status;

	(void)state;
	sa_stop_serving(fixture.sa);
	ask(MAD_GET, SA_CLASS_PORT_INFO);
	assert_false(reply.came);
	sa_status(fixture.sa, &status);
	assert_false(status.is_serving);
	fixture_sweep(&fixture);
	assert_int_equal(ask(MAD_GET, SA_CLASS_PORT_INFO), 0);
}

static void test_answer_goes_where_the_request_came_from(void **state)
{
	const struct sa_question question = {
		.host = 2, .method = MAD_GET, .attribute_id = SA_CLASS_PORT_INFO};
	struct mad_message message = fixture_message(&fixture, &question);
	uint64_t transaction_id = get_be64(message.bytes + 8);

	(void)state;
	message.address.qpn = 0x1234;
	message.address.sl = 5;
	message.address.pkey = 0x8001;
	sa_receive(fixture.sa, fixture.now, &message);
	assert_true(fixture_next_message(&fixture, &message));
	assert_int_equal(message.address.lid, 2);
	assert_int_equal(message.address.qpn, 0x1234);
	assert_int_equal(message.address.sl, 5);
	assert_int_equal(message.address.pkey, 0x8001);
	assert_int_equal(get_be64(message.bytes + 8), transaction_id);
}

/* A client that requests a table and never acknowledges it holds memory only for a while. */
static void test_client_that_vanishes_in_a_table_is_given_up(void **state)
{
	const struct sa_question question = {
		.host = 2, .method = MAD_GET_TABLE, .attribute_id = SA_NODE_RECORD};
	struct mad_message message;
	unsigned sent_count = 0;

	(void)state;
	message = fixture_message(&fixture, &question);
	sa_receive(fixture.sa, fixture.now, &message);
	for (unsigned i = 0; i < 100 && sa_deadline(fixture.sa) != TIME_NEVER; i++) {
		if (sa_deadline(fixture.sa) > fixture.now)
			fixture.now = sa_deadline(fixture.sa);
		while (fixture_next_message(&fixture, &message))
			sent_count++;
	}
	assert_int_equal(sa_deadline(fixture.sa), TIME_NEVER);
	assert_true(sent_count >= 2 && sent_count < 20);
	/* The next client is served as before. */
	assert_int_equal(ask(MAD_GET_TABLE, SA_NODE_RECORD), 0);
	assert_int_equal(reply.count, 7);
}

static void test_request_repeated_during_its_table_is_not_served_twice(void **state)
{
	const struct sa_question question = {
		.host = 2, .method = MAD_GET_TABLE, .attribute_id = SA_NODE_RECORD};
	struct mad_message request = fixture_message(&fixture, &question);
	struct mad_message message;
	struct sa_status status;

	(void)state;
	sa_receive(fixture.sa, fixture.now, &request);
	assert_true(fixture_next_message(&fixture, &message));
	sa_receive(fixture.sa, fixture.now, &request);
	assert_false(fixture_next_message(&fixture, &message));
	sa_status(fixture.sa, &status);
	assert_int_equal(status.dropped_count, 0);
}

/* A client that floods fills its own share; others are answered. */
static void test_flood_of_one_leaves_room_for_others(void **state)
{
	struct sa_question question = {
		.host = 2, .method = MAD_GET, .attribute_id = SA_CLASS_PORT_INFO};
	struct mad_message message;
	unsigned answer_counts[FIXTURE_HOSTS + 1] = {0};
	struct sa_status status;

	(void)state;
	for (unsigned i = 0; i < 10000; i++) {
		message = fixture_message(&fixture, &question);
		sa_receive(fixture.sa, fixture.now, &message);
	}
	question.host = 3;
	message = fixture_message(&fixture, &question);
	sa_receive(fixture.sa, fixture.now, &message);
	while (fixture_next_message(&fixture, &message))
		answer_counts[message.address.lid]++;
	assert_int_equal(answer_counts[3], 1);
	assert_true(answer_counts[2] >= 100 && answer_counts[2] < 10000);
	sa_status(fixture.sa, &status);
	assert_int_equal(status.dropped_count, 10000 - answer_counts[2]);
	/* Afterwards it is served as before. */
	assert_int_equal(ask(MAD_GET, SA_CLASS_PORT_INFO), 0);
}

static void test_flood_of_tables_is_bounded(void **state)
{
	const struct sa_question question = {
		.host = 2, .method = MAD_GET_TABLE, .attribute_id = SA_NODE_RECORD};
	struct mad_message message;
	struct sa_status status;
	unsigned sent_count = 0;

	(void)state;
	for (unsigned i = 0; i < 5000; i++) {
		message = fixture_message(&fixture, &question);
		sa_receive(fixture.sa, fixture.now, &message);
	}
	while (fixture_next_message(&fixture, &message))
		sent_count++;
	assert_true(sent_count > 100 && sent_count <= 1024);
	sa_status(fixture.sa, &status);
	assert_int_equal(status.dropped_count, 5000 - sent_count);
}

/* The request of GetMulti may be an RMPP transfer itself (management 1.8). */
static void test_get_multi_by_rmpp(void **state)
{
	const struct multi_path_header header = {.sgid_count = 1, .dgid_count = 1};
	const struct rmpp_header rmpp = {
		.version = RMPP_VERSION,
		.type = RMPP_TYPE_DATA,
		.resp_time = RMPP_RESP_TIME_NONE,
		.flags = RMPP_FLAG_ACTIVE | RMPP_FLAG_FIRST | RMPP_FLAG_LAST,
		.segment_number = 1,
		.length_or_last = SA_HEADER_BYTES + MULTI_PATH_HEADER_BYTES + 32};
	uint8_t data[MULTI_PATH_HEADER_BYTES + 32];
	struct gid from = fixture_gid(&fixture, 2), to = fixture_gid(&fixture, 3);
	const struct sa_question question = {.host = 2,
					     .method = MAD_GET_MULTI,
					     .attribute_id = SA_MULTI_PATH_RECORD,
					     .components = SA_COMPONENT(MPR_SGID_COUNT) |
							   SA_COMPONENT(MPR_DGID_COUNT),
					     .data = data,
					     .byte_count = sizeof(data)};
	struct mad_message message;
	bool was_acknowledged = false, was_answered = false;

	(void)state;
	multi_path_header_encode(&header, data);
	memcpy(data + MULTI_PATH_HEADER_BYTES, from.bytes, 16);
	memcpy(data + MULTI_PATH_HEADER_BYTES + 16, to.bytes, 16);
	message = fixture_message(&fixture, &question);
	rmpp_header_encode(&rmpp, message.bytes);
	sa_receive(fixture.sa, fixture.now, &message);
	while (fixture_next_message(&fixture, &message)) {
		struct rmpp_header answer;

		rmpp_header_decode(message.bytes, &answer);
		assert_int_equal(message.bytes[3], MAD_GET_MULTI_RESPONSE);
		was_acknowledged |= answer.type == RMPP_TYPE_ACK;
		if (answer.type != RMPP_TYPE_DATA)
			continue;
		was_answered = true;
		assert_int_equal(get_be16(message.bytes + 16), SA_PATH_RECORD);
		assert_int_equal(get_be16(message.bytes + SA_DATA_OFFSET + 40), 3);
	}
	assert_true(was_acknowledged);
	assert_true(was_answered);
}

/* Random MADs: nothing breaks, and the state stays within its limits. */
static void test_noise_does_no_harm(void **state)
{
	struct random random = random_seeded(1);
	struct mad_message message = {0};

	(void)state;
	for (unsigned i = 0; i < 20000; i++) {
		const struct sa_question question = {
			.host = 2,
			.method = (enum mad_method)(random_next(&random) & 0x1f),
			.attribute_id = (uint16_t)(random_next(&random) & 0x3f),
			.components = random_next(&random) & random_next(&random)};

		message = fixture_message(&fixture, &question);
		for (unsigned j = SA_DATA_OFFSET; j < MAD_BYTES; j++)
			message.bytes[j] = (uint8_t)(random_next(&random) & random_next(&random));
		if (random_below(&random, 4) == 0)
			message.bytes[random_below(&random, MAD_BYTES)] ^=
				(uint8_t)random_next(&random);
		sa_receive(fixture.sa, fixture.now, &message);
		fixture.now += MILLISECONDS(random_below(&random, 20));
		while (fixture_next_message(&fixture, &message))
			;
	}
	assert_int_equal(ask(MAD_GET, SA_CLASS_PORT_INFO), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		SA_FIXTURE_TEST(test_class_port_info_says_what_there_is),
		SA_FIXTURE_TEST(test_methods_of_every_attribute),
		SA_FIXTURE_TEST(test_unknown_methods_and_one_way_mads),
		SA_FIXTURE_TEST(test_other_versions_are_refused),
		SA_FIXTURE_TEST(test_wrong_key_is_not_even_answered),
		SA_FIXTURE_TEST(test_nothing_is_answered_without_a_subnet),
		SA_FIXTURE_TEST(test_answer_goes_where_the_request_came_from),
		SA_FIXTURE_TEST(test_client_that_vanishes_in_a_table_is_given_up),
		SA_FIXTURE_TEST(test_request_repeated_during_its_table_is_not_served_twice),
		SA_FIXTURE_TEST(test_flood_of_one_leaves_room_for_others),
		SA_FIXTURE_TEST(test_flood_of_tables_is_bounded),
		SA_FIXTURE_TEST(test_get_multi_by_rmpp),
		SA_FIXTURE_TEST(test_noise_does_no_harm),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
