/* SPDX-License-Identifier: Apache-2.0 */
/* Requests, responses, timeouts and retries on a virtual clock (management 1.5). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <errno.h>
#include "base/bytes.h"
#include "mgmt/mad/transactions.h"
#include "wire/class_port_info.h"

static struct mad_transactions transactions;
static struct mad_message out[8];
static struct mad_message request;
static int subject;

static int setup(void **state)
{
	(void)state;
	const struct mad_transactions_options options = {.requests_max = 2,
							 .tries = 3,
							 .timeout = MILLISECONDS(200),
							 .agent_number = 0xabcd};
	const struct mad_header header = {
		.base_version = 1,
		.management_class = MAD_CLASS_SUBNET_DIRECTED,
		.class_version = 1,
		.method = MAD_GET,
		.attribute_id = ATTRIBUTE_NODE_INFO,
	};

	mad_header_encode(&header, request.bytes);
	return mad_transactions_init(&transactions, &options);
}

static int teardown(void **state)
{
	(void)state;
	mad_transactions_release(&transactions);
	return 0;
}

static struct mad_message answer_to(const struct mad_message *message)
{
	struct mad_message answer = *message;

	answer.bytes[3] = MAD_GET_RESPONSE;
	return answer;
}

static void test_answer_ends_its_request_once(void **state)
{
	(void)state;
	struct mad_purpose purpose;

	assert_int_equal(mad_transactions_deadline(&transactions), TIME_NEVER);
	mad_transactions_send(&transactions, &request,
			      (struct mad_purpose){.subject = &subject, .detail = 7});
	assert_int_equal(mad_transactions_deadline(&transactions), 0);
	assert_int_equal(mad_transactions_transmit(&transactions, 1000, 8, out), 1);
	assert_int_equal(get_be32(out[0].bytes + 8), 0xabcd);
	assert_int_equal(mad_transactions_deadline(&transactions), 1000 + MILLISECONDS(200));

	struct mad_message answer = answer_to(&out[0]);

	assert_true(mad_transactions_receive(&transactions, &answer, &purpose));
	assert_ptr_equal(purpose.subject, &subject);
	assert_int_equal(purpose.detail, 7);
	assert_true(mad_transactions_is_idle(&transactions));
	assert_false(mad_transactions_receive(&transactions, &answer, &purpose));
}

static void test_foreign_answers_end_nothing(void **state)
{
	(void)state;
	struct mad_purpose purpose;

	mad_transactions_send(&transactions, &request, (struct mad_purpose){0});
	mad_transactions_transmit(&transactions, 0, 8, out);
	/* The request itself, another class, another attribute, other ids. */
	assert_false(mad_transactions_receive(&transactions, &out[0], &purpose));
	for (unsigned offset = 0; offset < 5; offset++) {
		static const uint8_t places[] = {1, 8, 14, 15, 17};
		struct mad_message answer = answer_to(&out[0]);

		answer.bytes[places[offset]] ^= 1;
		assert_false(mad_transactions_receive(&transactions, &answer, &purpose));
	}
	assert_false(mad_transactions_is_idle(&transactions));
}

static void test_retry_repeats_the_same_bytes_then_fails(void **state)
{
	(void)state;
	struct mad_purpose purpose;
	struct mad_message failed;

	mad_transactions_send(&transactions, &request, (struct mad_purpose){.detail = 3});
	assert_int_equal(mad_transactions_transmit(&transactions, 0, 8, out), 1);
	for (unsigned try = 1; try <= 2; try++) {
		time_ns due = MILLISECONDS(200) * try;

		assert_int_equal(mad_transactions_transmit(&transactions, due - 1, 8, out + 1), 0);
		assert_int_equal(mad_transactions_transmit(&transactions, due, 8, out + 1), 1);
		assert_memory_equal(&out[1], &out[0], sizeof(out[0]));
	}
	assert_false(mad_transactions_take_failed(&transactions, &purpose, &failed));
	assert_int_equal(mad_transactions_transmit(&transactions, MILLISECONDS(600), 8, out + 1),
			 0);
	assert_true(mad_transactions_take_failed(&transactions, &purpose, &failed));
	assert_int_equal(purpose.detail, 3);
	assert_memory_equal(&failed, &out[0], sizeof(failed));
	assert_true(mad_transactions_is_idle(&transactions));
	assert_int_equal(transactions.retry_count, 2);
}

static void test_window_bounds_what_is_on_the_wire(void **state)
{
	(void)state;
	struct mad_purpose purpose;

	mad_transactions_send(&transactions, &request, (struct mad_purpose){0});
	assert_true(mad_transactions_has_room(&transactions));
	mad_transactions_send(&transactions, &request, (struct mad_purpose){0});
	assert_false(mad_transactions_has_room(&transactions));
	assert_int_equal(mad_transactions_transmit(&transactions, 0, 1, out), 1);
	assert_int_equal(mad_transactions_deadline(&transactions), 0);
	assert_int_equal(mad_transactions_transmit(&transactions, 0, 8, out + 1), 1);
	assert_memory_not_equal(out[0].bytes + 8, out[1].bytes + 8, 8);

	struct mad_message answer = answer_to(&out[1]);

	assert_true(mad_transactions_receive(&transactions, &answer, &purpose));
	assert_true(mad_transactions_has_room(&transactions));
}

static void test_late_answer_to_a_place_used_again_is_foreign(void **state)
{
	(void)state;
	struct mad_purpose purpose;

	mad_transactions_send(&transactions, &request, (struct mad_purpose){.detail = 1});
	mad_transactions_transmit(&transactions, 0, 8, out);
	mad_transactions_cancel_all(&transactions);
	assert_true(mad_transactions_is_idle(&transactions));
	mad_transactions_send(&transactions, &request, (struct mad_purpose){.detail = 2});
	mad_transactions_send(&transactions, &request, (struct mad_purpose){.detail = 3});
	mad_transactions_transmit(&transactions, 0, 8, out + 1);

	struct mad_message late = answer_to(&out[0]);

	assert_false(mad_transactions_receive(&transactions, &late, &purpose));
}

static void test_window_beyond_the_ids_is_refused(void **state)
{
	(void)state;
	const struct mad_transactions_options options = {.requests_max = MAD_REQUESTS_MAX + 1};
	struct mad_transactions other;

	assert_int_equal(mad_transactions_init(&other, &options), -EINVAL);
}

static void test_each_request_has_its_own_timeout_and_tries(void **state)
{
	(void)state;
	const struct mad_retries short_one = {.timeout = MILLISECONDS(5), .tries = 1};
	struct mad_purpose purpose;
	struct mad_message failed;

	mad_transactions_send(&transactions, &request, (struct mad_purpose){.detail = 1});
	mad_transactions_send_with_retries(&transactions, &request,
					   (struct mad_purpose){.detail = 2}, short_one);
	assert_int_equal(mad_transactions_transmit(&transactions, 0, 8, out), 2);
	assert_int_equal(mad_transactions_deadline(&transactions), MILLISECONDS(5));
	assert_int_equal(mad_transactions_transmit(&transactions, MILLISECONDS(5), 8, out), 0);
	assert_true(mad_transactions_take_failed(&transactions, &purpose, &failed));
	assert_int_equal(purpose.detail, 2);
	assert_int_equal(mad_transactions_deadline(&transactions), MILLISECONDS(200));
}

static void test_answer_that_has_begun_holds_its_request(void **state)
{
	(void)state;
	mad_transactions_send(&transactions, &request, (struct mad_purpose){.detail = 1});
	mad_transactions_transmit(&transactions, 0, 8, out);

	struct mad_message part = answer_to(&out[0]);

	mad_transactions_hold(&transactions, &part, SECONDS(40));
	assert_int_equal(mad_transactions_deadline(&transactions), SECONDS(40));
	assert_int_equal(mad_transactions_transmit(&transactions, SECONDS(39), 8, out), 0);
	part.bytes[15] ^= 1;
	mad_transactions_hold(&transactions, &part, SECONDS(80));
	assert_int_equal(mad_transactions_deadline(&transactions), SECONDS(40));
}

/* A response that redirects a request of class Performance to another LID and QP. */
static struct mad_message redirection(const struct mad_message *message, uint16_t lid)
{
	const struct class_port_info info = {.redirect_lid = lid,
					     .redirect_qpn = 0x77,
					     .redirect_qkey = 0x80020000,
					     .redirect_pkey = 0x8001,
					     .redirect_sl = 3};
	struct mad_message answer = answer_to(message);

	put_be16(answer.bytes + 4, MAD_STATUS_REDIRECT);
	put_be16(answer.bytes + 16, ATTRIBUTE_CLASS_PORT_INFO);
	class_port_info_encode(&info, answer.bytes + 64);
	return answer;
}

static void test_redirected_request_is_sent_to_the_other_qp(void **state)
{
	(void)state;
	struct mad_message gmp = request;
	struct mad_purpose purpose;

	gmp.bytes[1] = MAD_CLASS_PERFORMANCE;
	gmp.address = (struct mad_address){.lid = 4, .qpn = 1, .qkey = 0x80010000, .pkey = 0xffff};
	mad_transactions_send(&transactions, &gmp, (struct mad_purpose){.detail = 9});
	mad_transactions_transmit(&transactions, 0, 8, out);

	struct mad_message answer = redirection(&out[0], 6);

	assert_false(mad_transactions_receive(&transactions, &answer, &purpose));
	assert_int_equal(mad_transactions_transmit(&transactions, 10, 8, out + 1), 1);
	assert_memory_equal(out[1].bytes, out[0].bytes, MAD_BYTES);
	assert_int_equal(out[1].address.lid, 6);
	assert_int_equal(out[1].address.qpn, 0x77);
	assert_int_equal(out[1].address.qkey, 0x80020000);
	assert_int_equal(out[1].address.pkey, 0x8001);
	assert_int_equal(out[1].address.sl, 3);
	answer = answer_to(&out[1]);
	assert_true(mad_transactions_receive(&transactions, &answer, &purpose));
	assert_int_equal(purpose.detail, 9);
}

static void test_endless_redirection_becomes_the_answer(void **state)
{
	(void)state;
	struct mad_message gmp = request;
	struct mad_purpose purpose;
	unsigned sent = 0;
	bool is_answered = false;

	gmp.bytes[1] = MAD_CLASS_PERFORMANCE;
	mad_transactions_send(&transactions, &gmp, (struct mad_purpose){0});
	while (!is_answered && sent < 20) {
		assert_int_equal(mad_transactions_transmit(&transactions, 0, 8, out), 1);
		sent++;

		struct mad_message answer = redirection(&out[0], (uint16_t)(10 + sent % 2));

		is_answered = mad_transactions_receive(&transactions, &answer, &purpose);
	}
	assert_int_equal(sent, 1 + MAD_REDIRECTS_MAX);
	assert_int_equal(transactions.redirect_loop_count, 1);
}

/* The network may deliver a response twice. */
static void test_repeated_redirection_is_followed_once(void **state)
{
	(void)state;
	struct mad_message gmp = request;
	struct mad_purpose purpose;

	gmp.bytes[1] = MAD_CLASS_PERFORMANCE;
	mad_transactions_send(&transactions, &gmp, (struct mad_purpose){.detail = 5});
	assert_int_equal(mad_transactions_transmit(&transactions, 0, 8, out), 1);

	struct mad_message answer = redirection(&out[0], 10);

	answer.address.lid = 4;
	for (unsigned copy = 0; copy < 10; copy++)
		assert_false(mad_transactions_receive(&transactions, &answer, &purpose));
	assert_int_equal(transactions.redirect_count, 1);
	assert_int_equal(mad_transactions_transmit(&transactions, 0, 8, out), 1);
	assert_int_equal(out[0].address.lid, 10);
	/* The new place redirects to itself: that ends after a few times. */
	answer.address.lid = 10;
	for (unsigned count = 1; count < MAD_REDIRECTS_MAX; count++)
		assert_false(mad_transactions_receive(&transactions, &answer, &purpose));
	assert_true(mad_transactions_receive(&transactions, &answer, &purpose));
	assert_int_equal(purpose.detail, 5);
}

/* The port is a limited member of partition 1. */
static bool own_pkey(void *context, uint16_t pkey, uint16_t *ret_own)
{
	(void)context;
	*ret_own = 0x0001;
	return pkey == 0x8001;
}

static void test_request_is_not_redirected_to_a_partition_without_the_port(void **state)
{
	static const uint16_t pkeys[] = {0x8001, 0x8002};

	(void)state;
	transactions.options.own_pkey = own_pkey;
	for (unsigned i = 0; i < ARRAY_COUNT(pkeys); i++) {
		struct class_port_info info = {.redirect_lid = 10, .redirect_pkey = pkeys[i]};
		struct mad_message gmp = request;
		struct mad_purpose purpose;

		gmp.bytes[1] = MAD_CLASS_PERFORMANCE;
		mad_transactions_send(&transactions, &gmp, (struct mad_purpose){0});
		assert_int_equal(mad_transactions_transmit(&transactions, 0, 8, out), 1);

		struct mad_message answer = redirection(&out[0], 10);

		class_port_info_encode(&info, answer.bytes + 64);
		assert_int_equal(mad_transactions_receive(&transactions, &answer, &purpose),
				 pkeys[i] == 0x8002);
		if (pkeys[i] == 0x8001) {
			assert_int_equal(mad_transactions_transmit(&transactions, 0, 8, out), 1);
			assert_int_equal(out[0].address.pkey, 0x0001);
		}
		mad_transactions_cancel_all(&transactions);
	}
}

static void test_busy_is_the_answer_after_the_last_try_only(void **state)
{
	(void)state;
	struct mad_purpose purpose;
	time_ns now = 0;

	mad_transactions_send(&transactions, &request, (struct mad_purpose){.detail = 9});
	for (unsigned try = 1; try <= MAD_TRIES_DEFAULT; try++) {
		assert_int_equal(mad_transactions_transmit(&transactions, now, 8, out), 1);

		struct mad_message answer = answer_to(&out[0]);

		answer.bytes[5] = MAD_STATUS_BUSY;
		assert_int_equal(mad_transactions_receive(&transactions, &answer, &purpose),
				 try == MAD_TRIES_DEFAULT);
		/* Not at once: the responder has work. */
		assert_int_equal(mad_transactions_transmit(&transactions, now, 8, out), 0);
		now += SECONDS(1);
	}
	assert_int_equal(purpose.detail, 9);
}

static void test_redirection_without_a_lid_is_for_the_requester(void **state)
{
	(void)state;
	struct mad_message gmp = request;
	struct mad_purpose purpose;

	gmp.bytes[1] = MAD_CLASS_PERFORMANCE;
	mad_transactions_send(&transactions, &gmp, (struct mad_purpose){0});
	mad_transactions_transmit(&transactions, 0, 8, out);

	struct mad_message answer = redirection(&out[0], 0);

	assert_true(mad_transactions_receive(&transactions, &answer, &purpose));
}

static bool know_path(void *context, const struct gid *gid, struct mad_path *ret_path)
{
	*ret_path = (struct mad_path){.lid = 12, .sl = 1};
	return context == &transactions && gid_guid(gid) == 9;
}

static void test_redirection_by_gid_follows_a_known_path(void **state)
{
	(void)state;
	struct class_port_info info = {.redirect_gid_guid = 9, .redirect_qpn = 1};
	struct mad_message gmp = request;
	struct mad_purpose purpose;

	gmp.bytes[1] = MAD_CLASS_PERFORMANCE;
	transactions.options.find_path = know_path;
	transactions.options.context = &transactions;
	mad_transactions_send(&transactions, &gmp, (struct mad_purpose){0});
	mad_transactions_transmit(&transactions, 0, 8, out);

	struct mad_message answer = redirection(&out[0], 0);

	class_port_info_encode(&info, answer.bytes + 64);
	assert_false(mad_transactions_receive(&transactions, &answer, &purpose));
	assert_int_equal(mad_transactions_transmit(&transactions, 0, 8, out), 1);
	assert_int_equal(out[0].address.lid, 12);
	assert_int_equal(out[0].address.sl, 1);
	/* Without a path to the GID the request is not redirected. */
	info.redirect_gid_guid = 10;
	answer = redirection(&out[0], 0);
	class_port_info_encode(&info, answer.bytes + 64);
	assert_true(mad_transactions_receive(&transactions, &answer, &purpose));
}

static unsigned asked_count;
static uint32_t asked_number;

static bool ask_path(void *context, const struct gid *gid, uint32_t number)
{
	asked_count += context == &transactions;
	asked_number = number;
	return gid_guid(gid) != 10;
}

/* Sends a request, which gets redirected to this GUID. */
static struct mad_message redirect_to_guid(uint64_t guid)
{
	const struct class_port_info info = {.redirect_gid_guid = guid, .redirect_qpn = 1};
	struct mad_message gmp = request, answer;

	asked_count = 0;
	gmp.bytes[1] = MAD_CLASS_PERFORMANCE;
	gmp.address.lid = 4;
	transactions.options.ask_path = ask_path;
	transactions.options.context = &transactions;
	mad_transactions_send(&transactions, &gmp, (struct mad_purpose){.detail = 9});
	assert_int_equal(mad_transactions_transmit(&transactions, 0, 8, out), 1);
	answer = redirection(&out[0], 0);
	class_port_info_encode(&info, answer.bytes + 64);
	return answer;
}

static void test_redirection_by_gid_waits_for_the_path(void **state)
{
	const struct mad_path path = {.lid = 12, .sl = 1};
	struct mad_message answer = redirect_to_guid(9), ended;
	struct mad_purpose purpose;

	(void)state;
	assert_false(mad_transactions_receive(&transactions, &answer, &purpose));
	assert_int_equal(asked_count, 1);
	/* It neither times out nor follows a second copy, and a number of another request does
	 * nothing. */
	assert_int_equal(mad_transactions_deadline(&transactions), TIME_NEVER);
	assert_false(mad_transactions_receive(&transactions, &answer, &purpose));
	assert_int_equal(asked_count, 1);
	assert_int_equal(mad_transactions_transmit(&transactions, SECONDS(9), 8, out), 0);
	assert_false(mad_transactions_take_path(&transactions, asked_number + (1 << 10), &path,
						&purpose, &ended));
	assert_false(mad_transactions_take_path(&transactions, 999, &path, &purpose, &ended));
	assert_int_equal(mad_transactions_deadline(&transactions), TIME_NEVER);
	assert_false(
		mad_transactions_take_path(&transactions, asked_number, &path, &purpose, &ended));
	assert_int_equal(mad_transactions_transmit(&transactions, SECONDS(9), 8, out), 1);
	assert_int_equal(out[0].address.lid, 12);
	assert_int_equal(out[0].address.sl, 1);
	answer = answer_to(&out[0]);
	assert_true(mad_transactions_receive(&transactions, &answer, &purpose));
	assert_int_equal(purpose.detail, 9);
	assert_int_equal(transactions.place.lid, 12);
	/* The path comes a second time. */
	assert_false(
		mad_transactions_take_path(&transactions, asked_number, NULL, &purpose, &ended));
	assert_true(mad_transactions_is_idle(&transactions));
}

static void test_redirection_without_a_path_is_the_answer(void **state)
{
	const struct mad_path nowhere = {0};
	const struct mad_path *paths[] = {NULL, &nowhere};
	struct mad_message answer, ended;
	struct mad_purpose purpose;

	(void)state;
	for (unsigned i = 0; i < ARRAY_COUNT(paths); i++) {
		answer = redirect_to_guid(9);
		assert_false(mad_transactions_receive(&transactions, &answer, &purpose));
		assert_true(mad_transactions_take_path(&transactions, asked_number, paths[i],
						       &purpose, &ended));
		assert_int_equal(purpose.detail, 9);
		assert_memory_equal(ended.bytes, answer.bytes, MAD_BYTES);
		assert_int_equal(transactions.place.lid, 4);
		assert_true(mad_transactions_is_idle(&transactions));
	}
	/* The owner can't ask. */
	answer = redirect_to_guid(10);
	assert_true(mad_transactions_receive(&transactions, &answer, &purpose));
	/* A cancelled request does not come back with its path. */
	answer = redirect_to_guid(9);
	assert_false(mad_transactions_receive(&transactions, &answer, &purpose));
	mad_transactions_cancel_all(&transactions);
	assert_false(
		mad_transactions_take_path(&transactions, asked_number, NULL, &purpose, &ended));
}

/* Sends one request and answers it after this time, from which the pace is computed. */
static void learn(time_ns taken)
{
	struct mad_purpose purpose;

	mad_transactions_send(&transactions, &request, (struct mad_purpose){0});
	assert_int_equal(mad_transactions_transmit(&transactions, 0, 8, out), 1);

	struct mad_message answer = answer_to(&out[0]);

	assert_true(mad_transactions_receive_timed(&transactions, taken, &answer, &purpose));
}

/* Sends at every deadline until the request fails. Returns the number of messages and the time of
 * the failure. */
static unsigned send_until_failed(time_ns start, time_ns *ret_failed_at)
{
	struct mad_purpose purpose;
	struct mad_message failed;
	unsigned message_count = 0;
	time_ns now = start;

	for (unsigned turn = 0; turn < 10000; turn++) {
		unsigned sent_count = mad_transactions_transmit(&transactions, now, 1, out);

		message_count += sent_count;
		if (mad_transactions_take_failed(&transactions, &purpose, &failed)) {
			*ret_failed_at = now;
			return message_count;
		}
		if (mad_transactions_deadline(&transactions) > now)
			now = mad_transactions_deadline(&transactions);
	}
	return message_count;
}

static void test_eager_pace_repeats_soon_then_at_twice_the_distance(void **state)
{
	static const time_ns sent_at[] = {0, 20, 60, 140, 300, 500};

	(void)state;
	learn(MILLISECONDS(1));
	transactions.pace = MAD_PACE_EAGER;
	mad_transactions_send(&transactions, &request, (struct mad_purpose){0});
	for (unsigned i = 0; i < ARRAY_COUNT(sent_at); i++) {
		time_ns now = MILLISECONDS(sent_at[i]);

		if (i)
			assert_int_equal(mad_transactions_deadline(&transactions), now);
		assert_int_equal(mad_transactions_transmit(&transactions, now, 8, out), 1);
	}
	/* It gives up when the steady pace would. */
	assert_int_equal(mad_transactions_deadline(&transactions), MILLISECONDS(600));
}

static void test_eager_pace_is_steady_until_an_answer_has_come(void **state)
{
	(void)state;
	transactions.pace = MAD_PACE_EAGER;
	mad_transactions_send(&transactions, &request, (struct mad_purpose){0});
	mad_transactions_transmit(&transactions, 0, 8, out);
	assert_int_equal(mad_transactions_deadline(&transactions), MILLISECONDS(200));
}

/* If responses take long, as in a large subnet that comes up, no request is repeated too soon. */
static void test_eager_pace_waits_as_long_as_answers_take(void **state)
{
	(void)state;
	for (unsigned i = 0; i < 100; i++)
		learn(MILLISECONDS(90));
	transactions.pace = MAD_PACE_EAGER;
	mad_transactions_send(&transactions, &request, (struct mad_purpose){0});
	mad_transactions_transmit(&transactions, 0, 8, out);
	assert_true(mad_transactions_deadline(&transactions) >= MILLISECONDS(89));
	assert_true(mad_transactions_deadline(&transactions) <= MILLISECONDS(200));
}

static void test_insistent_pace_sends_hundreds_in_the_same_time(void **state)
{
	time_ns failed_at;

	(void)state;
	transactions.pace = MAD_PACE_INSISTENT;
	mad_transactions_send(&transactions, &request, (struct mad_purpose){0});
	/* 48 tries: the first is one message, the others are eight each. */
	assert_int_equal(send_until_failed(0, &failed_at), 1 + 47 * 8);
	assert_int_equal(failed_at, MILLISECONDS(600));
	assert_true(mad_transactions_is_idle(&transactions));
}

/* The more requests are under way, the fewer copies each gets: they share the path. */
static void test_insistent_copies_are_shared_among_requests(void **state)
{
	const struct mad_transactions_options options = {
		.requests_max = 64, .tries = 3, .timeout = MILLISECONDS(200)};
	struct mad_message messages[256];

	(void)state;
	mad_transactions_release(&transactions);
	assert_int_equal(mad_transactions_init(&transactions, &options), 0);
	transactions.pace = MAD_PACE_INSISTENT;
	for (unsigned i = 0; i < 64; i++)
		mad_transactions_send(&transactions, &request, (struct mad_purpose){0});
	assert_int_equal(mad_transactions_transmit(&transactions, 0, 256, messages), 64);
	assert_int_equal(mad_transactions_transmit(&transactions, MILLISECONDS(13), 256, messages),
			 128);
}

/* A response to any copy ends the request, including copies that are not sent yet. */
static void test_answer_among_copies_ends_the_request(void **state)
{
	struct mad_purpose purpose;

	(void)state;
	transactions.pace = MAD_PACE_INSISTENT;
	mad_transactions_send(&transactions, &request, (struct mad_purpose){.detail = 5});
	assert_int_equal(mad_transactions_transmit(&transactions, 0, 8, out), 1);
	assert_int_equal(mad_transactions_transmit(&transactions, MILLISECONDS(13), 3, out), 3);

	struct mad_message answer = answer_to(&out[2]);

	assert_true(
		mad_transactions_receive_timed(&transactions, MILLISECONDS(14), &answer, &purpose));
	assert_int_equal(purpose.detail, 5);
	assert_int_equal(transactions.repeated_answer_count, 1);
	assert_int_equal(transactions.answer_time.mean, 0); /* unknown which copy was answered */
	assert_int_equal(mad_transactions_transmit(&transactions, MILLISECONDS(14), 8, out), 0);
	assert_int_equal(mad_transactions_deadline(&transactions), TIME_NEVER);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define TEST(function) cmocka_unit_test_setup_teardown(function, setup, teardown)
		TEST(test_answer_ends_its_request_once),
		TEST(test_foreign_answers_end_nothing),
		TEST(test_retry_repeats_the_same_bytes_then_fails),
		TEST(test_window_bounds_what_is_on_the_wire),
		TEST(test_late_answer_to_a_place_used_again_is_foreign),
		TEST(test_window_beyond_the_ids_is_refused),
		TEST(test_each_request_has_its_own_timeout_and_tries),
		TEST(test_answer_that_has_begun_holds_its_request),
		TEST(test_redirected_request_is_sent_to_the_other_qp),
		TEST(test_endless_redirection_becomes_the_answer),
		TEST(test_redirection_without_a_lid_is_for_the_requester),
		TEST(test_repeated_redirection_is_followed_once),
		TEST(test_request_is_not_redirected_to_a_partition_without_the_port),
		TEST(test_busy_is_the_answer_after_the_last_try_only),
		TEST(test_redirection_by_gid_follows_a_known_path),
		TEST(test_redirection_by_gid_waits_for_the_path),
		TEST(test_redirection_without_a_path_is_the_answer),
		TEST(test_eager_pace_repeats_soon_then_at_twice_the_distance),
		TEST(test_eager_pace_is_steady_until_an_answer_has_come),
		TEST(test_eager_pace_waits_as_long_as_answers_take),
		TEST(test_insistent_pace_sends_hundreds_in_the_same_time),
		TEST(test_insistent_copies_are_shared_among_requests),
		TEST(test_answer_among_copies_ends_the_request),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
