/* SPDX-License-Identifier: Apache-2.0 */
/* A client that follows redirections, with a real SA for the paths (management 1.6).
 * Covers: mgmt/sa/redirect_path.c */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <string.h>
#include "base/bytes.h"
#include "mgmt/sa/class_client.h"
#include "sa_fixture.h"
#include "wire/class_port_info.h"
#include "wire/pkey.h"
#include "wire/smp.h"

enum { AGENT = 55, SA_AGENT = 56, HOST = 2, DATA = PERFORMANCE_DATA_OFFSET };

static struct sa_fixture fixture;
static struct class_client client;
/* The node at each LID: where it redirects to. LID and GUID 0: it answers. */
static struct class_port_info places[10];
static unsigned asked[10];
static bool is_silent;

static bool own_pkey(void *context, uint16_t pkey, uint16_t *ret_own)
{
	(void)context;
	*ret_own = pkey;
	return pkey != 0x8666;
}

static int set_up(void **state)
{
	const struct class_client_options options = {
		.agent_number = AGENT, .sa_agent_number = SA_AGENT, .own_pkey = own_pkey};
	struct gid gid;

	(void)state;
	sa_fixture_start(&fixture);
	gid = fixture_gid(&fixture, HOST);
	memset(places, 0, sizeof(places));
	memset(asked, 0, sizeof(asked));
	is_silent = false;
	assert_int_equal(class_client_init(&client, &options), 0);
	sa_client_set_sa(&client.sa, 1, 0, PKEY_DEFAULT_FULL);
	sa_client_set_own_gid(&client.sa, &gid);
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	class_client_release(&client);
	sa_fixture_stop(&fixture);
	return 0;
}

static void answer(const struct mad_message *request)
{
	struct mad_message message = *request;
	const struct class_port_info *place = &places[request->address.lid % 10];
	bool is_redirected = place->redirect_lid || place->redirect_gid_guid;

	asked[request->address.lid % 10]++;
	if (is_silent)
		return;
	message.bytes[3] |= MAD_RESPONSE;
	put_be16(message.bytes + 4, is_redirected ? MAD_STATUS_REDIRECT : MAD_STATUS_OK);
	if (is_redirected)
		class_port_info_encode(place, message.bytes + DATA);
	else
		message.bytes[DATA] = 0x99;
	class_client_receive(&client, fixture.now, &message);
}

/* Passes MADs between the client, the nodes and the SA until none has one to send. */
static void talk(void)
{
	struct mad_message message;

	for (bool is_busy = true; is_busy;) {
		is_busy = false;
		while (class_client_transmit(&client, fixture.now, 1, &message)) {
			is_busy = true;
			if (message.bytes[1] != MAD_CLASS_SUBNET_ADMINISTRATION) {
				answer(&message);
				continue;
			}
			assert_int_equal(get_be32(message.bytes + 8), SA_AGENT);
			message.address.lid = fixture_lid(&fixture, HOST);
			sa_receive(fixture.sa, fixture.now, &message);
		}
		while (fixture_next_message(&fixture, &message)) {
			message.address.lid = 1;
			class_client_receive(&client, fixture.now, &message);
			is_busy = true;
		}
	}
}

static void ask(uint16_t lid)
{
	struct mad_message request = {.address = {.lid = lid, .qpn = 1, .pkey = 0xffff},
				      .bytes = {1, MAD_CLASS_PERFORMANCE, 1, MAD_GET, [17] = 0x12}};

	assert_int_equal(class_client_ask(&client, &request, (struct mad_purpose){.detail = lid}),
			 0);
}

static struct class_client_result result_of(uint16_t lid)
{
	struct class_client_result result;

	ask(lid);
	talk();
	assert_true(class_client_take_result(&client, &result));
	assert_int_equal(result.purpose.detail, lid);
	assert_int_equal(class_client_deadline(&client), TIME_NEVER);
	return result;
}

static struct class_port_info by_gid(unsigned host)
{
	return (struct class_port_info){
		.redirect_gid_prefix = GID_PREFIX_LINK_LOCAL,
		.redirect_gid_guid = fixture_port(&fixture, host)->guid,
		.redirect_qpn = 1,
	};
}

static void test_an_answer_is_the_result(void **state)
{
	struct class_client_result result = result_of(3);

	(void)state;
	assert_int_equal(result.outcome, CLASS_CLIENT_ANSWERED);
	assert_int_equal(result.message.bytes[DATA], 0x99);
}

static void test_a_gid_is_reached_by_its_path(void **state)
{
	struct class_client_result result;

	(void)state;
	places[3] = by_gid(4);
	result = result_of(3);
	assert_int_equal(result.outcome, CLASS_CLIENT_ANSWERED);
	assert_int_equal(asked[3], 1);
	assert_int_equal(asked[4], 1);
}

static void test_chains_of_lids_and_gids_end_at_the_answer(void **state)
{
	(void)state;
	places[3] = by_gid(4);
	places[4] = (struct class_port_info){.redirect_lid = 2, .redirect_qpn = 1};
	places[2] = by_gid(1);
	assert_int_equal(result_of(3).outcome, CLASS_CLIENT_ANSWERED);
	assert_int_equal(asked[1], 1);
}

static void test_a_loop_ends_with_the_redirection(void **state)
{
	struct class_client_result result;

	(void)state;
	places[3] = by_gid(4);
	places[4] = (struct class_port_info){.redirect_lid = 3, .redirect_qpn = 1};
	result = result_of(3);
	assert_int_equal(result.outcome, CLASS_CLIENT_REDIRECTED);
	assert_true(result.is_loop);
	assert_in_range(asked[3] + asked[4], 3, 25);
	places[4] = by_gid(3);
	result = result_of(3);
	assert_int_equal(result.outcome, CLASS_CLIENT_REDIRECTED);
	assert_true(result.is_loop);
}

static void test_a_gid_without_a_path_is_not_followed(void **state)
{
	struct class_client_result result;

	(void)state;
	places[3] = by_gid(4);
	places[3].redirect_gid_guid = 0x999;
	result = result_of(3);
	assert_int_equal(result.outcome, CLASS_CLIENT_REDIRECTED);
	assert_false(result.is_loop);
	assert_true(mad_is_redirected(&result.message));
}

static void test_a_partition_without_the_port_is_not_followed(void **state)
{
	(void)state;
	places[3] = by_gid(4);
	places[3].redirect_pkey = 0x8666;
	assert_int_equal(result_of(3).outcome, CLASS_CLIENT_REDIRECTED);
	assert_int_equal(asked[4], 0);
	places[3].redirect_pkey = 0x8667;
	assert_int_equal(result_of(3).outcome, CLASS_CLIENT_ANSWERED);
}

static void test_silence_times_out(void **state)
{
	struct class_client_result result;

	(void)state;
	is_silent = true;
	ask(3);
	while (!class_client_take_result(&client, &result)) {
		talk();
		assert_int_not_equal(class_client_deadline(&client), TIME_NEVER);
		fixture.now = class_client_deadline(&client) > fixture.now
				      ? class_client_deadline(&client)
				      : fixture.now;
	}
	assert_int_equal(result.outcome, CLASS_CLIENT_TIMED_OUT);
	assert_int_equal(asked[3], MAD_TRIES_DEFAULT);
}

static void test_too_many_requests_are_refused(void **state)
{
	struct mad_message request = {.bytes = {1, MAD_CLASS_PERFORMANCE}};
	struct class_client_result result;
	unsigned count = 0;

	(void)state;
	while (class_client_ask(&client, &request, (struct mad_purpose){0}) == 0)
		count++;
	assert_int_equal(count, MAD_REQUESTS_DEFAULT);
	talk();
	while (class_client_take_result(&client, &result))
		count--;
	assert_int_equal(count, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define TEST(function) cmocka_unit_test_setup_teardown(function, set_up, tear_down)
		TEST(test_an_answer_is_the_result),
		TEST(test_a_gid_is_reached_by_its_path),
		TEST(test_chains_of_lids_and_gids_end_at_the_answer),
		TEST(test_a_loop_ends_with_the_redirection),
		TEST(test_a_gid_without_a_path_is_not_followed),
		TEST(test_a_partition_without_the_port_is_not_followed),
		TEST(test_silence_times_out),
		TEST(test_too_many_requests_are_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
