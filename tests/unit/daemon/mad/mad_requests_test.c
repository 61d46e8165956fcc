/* SPDX-License-Identifier: Apache-2.0 */
/* Requests of an agent: which wait for an answer, which answer ends which, and how failures are
 * reported (abi 8.3). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <errno.h>
#include <string.h>
#include "base/bytes.h"
#include "daemon/mad/mad_requests.h"
#include "unit/daemon/mad_program.h"

enum { CLASS_TEST = 0x0a, AGENT_ID = 3 };

static struct daemon *softibd;
static struct mad_program program, peer;
static struct mad_agent *agent;

static int set_up(void **state)
{
	const struct mad_agent_options options = {
		.management_class = CLASS_TEST, .class_version = 1, .kind = MAD_AGENT_SINGLE};

	(void)state;
	softibd = mad_programs_start("star:2");
	mad_program_open(&program, "h1");
	mad_program_open(&peer, "h2");
	return mad_agent_create(program.file, AGENT_ID, program.endpoint->port, &options, &agent);
}

static int tear_down(void **state)
{
	(void)state;
	mad_agent_destroy(agent);
	mad_program_close(&program);
	mad_program_close(&peer);
	mad_programs_stop();
	return 0;
}

static struct mad_message message_with(uint64_t transaction_id, uint8_t method)
{
	struct mad_message message = {0};
	struct program_mad mad = mad_program_request(&peer, CLASS_TEST, method);

	memcpy(message.bytes, mad.mad, MAD_BYTES);
	message.address = mad.header.address;
	put_be64(message.bytes + 8, transaction_id);
	return message;
}

static struct mad_request *make(uint64_t transaction_id, uint8_t method, uint32_t timeout_ms)
{
	const struct mad_port_header header = {
		.agent_id = AGENT_ID, .timeout_ms = timeout_ms, .retries = 2};
	struct mad_message message = message_with(transaction_id, method);
	struct mad_request *request = NULL;

	assert_int_equal(mad_request_make(agent, &header, &message, 0, &request), 0);
	assert_non_null(request);
	return request;
}

static void test_request_is_found_by_its_id_and_class_until_it_ends(void **state)
{
	struct mad_request *request = make(7, MAD_GET, 1000);
	struct mad_message answer = message_with(7, MAD_GET_RESPONSE);

	(void)state;
	assert_int_equal(request->tries_left, 2);
	assert_true(request->waits_for_answer);
	assert_ptr_equal(mad_request_find(agent, answer.bytes), request);
	answer.bytes[1] = CLASS_TEST + 1;
	assert_null(mad_request_find(agent, answer.bytes));
	answer = message_with(8, MAD_GET_RESPONSE);
	assert_null(mad_request_find(agent, answer.bytes));
	mad_request_destroy(request);
	answer = message_with(7, MAD_GET_RESPONSE);
	assert_null(mad_request_find(agent, answer.bytes));
	assert_true(list_is_empty(&agent->requests));
}

/* An answer to another agent is not ours, even with our transaction number. */
static void test_request_belongs_to_its_agent(void **state)
{
	struct mad_message answer = message_with(7, MAD_GET_RESPONSE);
	const struct mad_agent_options options = {
		.management_class = CLASS_TEST, .class_version = 1, .kind = MAD_AGENT_SINGLE};
	struct mad_agent *other;

	(void)state;
	make(7, MAD_GET, 1000);
	assert_int_equal(
		mad_agent_create(peer.file, AGENT_ID, peer.endpoint->port, &options, &other), 0);
	assert_null(mad_request_find(other, answer.bytes));
	mad_agent_destroy(other);
}

static void test_id_that_is_waited_for_is_refused_and_free_again_later(void **state)
{
	const struct mad_port_header header = {.agent_id = AGENT_ID, .timeout_ms = 1000};
	struct mad_message message = message_with(7, MAD_GET);
	struct mad_request *first = make(7, MAD_GET, 1000), *second = NULL;

	(void)state;
	assert_int_equal(mad_request_make(agent, &header, &message, 0, &second), -EEXIST);
	assert_null(second);
	mad_request_destroy(first);
	assert_int_equal(mad_request_make(agent, &header, &message, 0, &second), 0);
}

static void test_a_process_has_so_many_requests(void **state)
{
	const struct mad_port_header header = {.agent_id = AGENT_ID, .timeout_ms = 1000};
	struct mad_message message = message_with(8, MAD_GET);
	struct mad_request *first = make(7, MAD_GET, 1000), *second = NULL;
	struct accounts *accounts = &softibd->core.accounts;

	(void)state;
	accounts->process_max[LIMIT_MAD_REQUESTS] = 1;
	assert_int_equal(mad_request_make(agent, &header, &message, 0, &second), -ENOBUFS);
	mad_request_destroy(first);
	accounts->floor[LIMIT_MAD_BYTES] = 0;
	accounts->process_max[LIMIT_MAD_BYTES] = 1000;
	assert_int_equal(mad_request_make(agent, &header, &message, 2000, &second), -ENOBUFS);
	assert_int_equal(mad_request_make(agent, &header, &message, 1000, &second), 0);
	assert_int_equal(accounts->used[LIMIT_MAD_BYTES], 1000);
	mad_request_destroy(second);
	assert_int_equal(accounts->used[LIMIT_MAD_BYTES], 0);
}

static void test_without_timeout_or_as_a_response_nothing_is_waited_for(void **state)
{
	struct mad_message answer = message_with(7, MAD_GET_RESPONSE);
	struct mad_request *forgotten = make(7, MAD_GET, 0);
	struct mad_request *response = make(7, MAD_GET_RESPONSE, 1000);

	(void)state;
	assert_false(forgotten->waits_for_answer);
	assert_false(response->waits_for_answer);
	assert_null(mad_request_find(agent, answer.bytes));
	/* Requests without a timeout end once they are on the wire. */
	mad_request_sent(forgotten, softibd->core.loop.now);
	mad_request_sent(response, softibd->core.loop.now);
	assert_true(list_is_empty(&agent->requests));
}

static void test_sent_request_waits_for_its_timeout(void **state)
{
	struct mad_request *request = make(7, MAD_GET, 5000);

	(void)state;
	mad_request_send(request, softibd->core.loop.now);
	assert_true(list_is_empty(&agent->unsent));
	assert_true(timer_queue_deadline(&softibd->mad_files.timers) <=
		    softibd->core.loop.now + MILLISECONDS(5000));
	assert_true(timer_queue_deadline(&softibd->mad_files.timers) >
		    softibd->core.loop.now + MILLISECONDS(4999));
}

/* No request overtakes one that found no room. */
static void test_requests_queue_up_in_order_behind_one_that_found_no_room(void **state)
{
	struct mad_request *first = make(7, MAD_GET, 1000), *second = make(8, MAD_GET, 1000);

	(void)state;
	list_append(&agent->unsent, &first->unsent_link);
	mad_request_send(second, softibd->core.loop.now);
	assert_ptr_equal(agent->unsent.next, &first->unsent_link);
	assert_ptr_equal(agent->unsent.next->next, &second->unsent_link);
	assert_true(list_is_linked(&agent->stalled_link));
	assert_true(mad_agent_retry(agent, softibd->core.loop.now));
	assert_true(list_is_empty(&agent->unsent));
	/* Both wait for answers now. */
	assert_false(list_is_empty(&agent->requests));
	mad_request_destroy(first);
	mad_request_destroy(second);
}

static void test_failure_is_told_with_header_and_errno(void **state)
{
	struct mad_request *request = make(0x1234, MAD_GET, 1000);
	struct program_mad got;

	(void)state;
	mad_request_fail(request, ETIMEDOUT);
	assert_true(list_is_empty(&agent->requests));
	assert_true(mad_program_receive(&program, &got));
	assert_int_equal(got.header.status, ETIMEDOUT);
	assert_int_equal(got.header.agent_id, AGENT_ID);
	assert_int_equal(got.byte_count, MAD_HEADER_BYTES);
	assert_int_equal(get_be64(got.mad + 8), 0x1234);
	assert_false(mad_program_receive(&program, &got));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define TEST(function) cmocka_unit_test_setup_teardown(function, set_up, tear_down)
		TEST(test_request_is_found_by_its_id_and_class_until_it_ends),
		TEST(test_request_belongs_to_its_agent),
		TEST(test_id_that_is_waited_for_is_refused_and_free_again_later),
		TEST(test_a_process_has_so_many_requests),
		TEST(test_without_timeout_or_as_a_response_nothing_is_waited_for),
		TEST(test_sent_request_waits_for_its_timeout),
		TEST(test_requests_queue_up_in_order_behind_one_that_found_no_room),
		TEST(test_failure_is_told_with_header_and_errno),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
