/* SPDX-License-Identifier: Apache-2.0 */
/* Bursts of several queue pairs in one ring, and datagrams with several senders, receivers and
 * Q_Keys: each message arrives once, in order, at its receiver. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include "base/random.h"
#include "unit/runtime/burst_paths.h"

enum {
	OTHER_QKEY = 0x7777,
	RUN_PAYLOADS = PATHS_HALF - BURST_POSTS - 1, /* of PATHS_HALF messages in a row */
	BATCH_MAX = 32,
	BATCHES = 400,
};

static void set_qkey(struct qp_object *qp, uint32_t qkey)
{
	const struct qp_attributes attributes = {.qkey = qkey};

	assert_int_equal(qp_object_modify(qp, runtime_now(), &attributes, QP_HAS_QKEY), 0);
}

static void test_queue_pairs_in_turn_are_no_burst(void **state)
{
	(void)state;
	for (uint32_t number = 0; number < PATHS_BURST; number++) {
		path_post_receives(number % PATHS, number, 1);
		assert_false(path_post(number % PATHS, number, &path_plain));
	}
	paths_take();
	for (uint32_t number = 0; number < PATHS_BURST; number++)
		path_expect_plain(number % PATHS, number, 1);
	paths_expect_all_sent_in_any_order(0, PATHS_BURST);
	paths_expect_nothing();
}

/* A payload record belongs to the last template of the ring, so a queue pair whose burst was
 * interrupted needs a new one. */
static void test_each_run_of_a_queue_pair_is_a_burst_of_its_own(void **state)
{
	(void)state;
	for (unsigned lap = 0; lap < 4; lap++) {
		for (unsigned path = 0; path < PATHS; path++) {
			path_post_receives(path, path * PATHS_HALF, PATHS_HALF);
			assert_int_equal(path_post_plain(path, path * PATHS_HALF, PATHS_HALF),
					 RUN_PAYLOADS);
		}
		paths_take();
		for (unsigned path = 0; path < PATHS; path++)
			path_expect_plain(path, path * PATHS_HALF, PATHS_HALF);
		paths_expect_all_sent_in_any_order(0, PATHS * PATHS_HALF);
	}
}

/* The receive completion names the sender, which only the template does. */
static void test_bursts_of_two_senders_to_one_receiver(void **state)
{
	static const unsigned senders[] = {PATH_UD, PATH_OTHER_UD};

	(void)state;
	path_post_receives(PATH_UD, 0, PATHS_BURST);
	for (uint32_t number = 0; number < PATHS_BURST; number++) {
		const bool is_payload = path_post_to(senders[number / PATHS_HALF % 2], PATH_UD,
						     number, &path_plain);

		assert_int_equal(is_payload, number % PATHS_HALF > BURST_POSTS);
	}
	paths_take();
	for (uint32_t number = 0; number < PATHS_BURST; number++)
		path_expect_from(senders[number / PATHS_HALF % 2], PATH_UD, number, &path_plain);
	paths_expect_all_sent(0, PATHS_BURST);
	paths_expect_nothing();
}

/* Each change of the receiver makes another send template, and ends the streak. */
static void test_bursts_of_one_sender_to_two_receivers_with_two_qkeys(void **state)
{
	static const unsigned receivers[] = {PATH_UD, PATH_OTHER_UD};

	(void)state;
	set_qkey(paths[PATH_OTHER_UD][1].qp, OTHER_QKEY);
	for (uint32_t number = 0; number < PATHS_BURST; number++) {
		const unsigned to = receivers[number / PATHS_HALF % 2];

		path_post_receives(to, number, 1);
		assert_int_equal(path_post_to(PATH_UD, to, number, &path_plain),
				 number % PATHS_HALF > BURST_POSTS);
	}
	paths_take();
	for (uint32_t number = 0; number < PATHS_BURST; number++)
		path_expect_from(PATH_UD, receivers[number / PATHS_HALF % 2], number, &path_plain);
	paths_expect_all_sent(0, PATHS_BURST);
	paths_expect_nothing();
}

/* The receiver drops the datagram, and nothing else. */
static void test_a_wrong_qkey_within_a_burst(void **state)
{
	(void)state;
	path_post_receives(PATH_UD, 0, PATHS_HALF);
	path_post_receives(PATH_UD, PATHS_HALF + 1, PATHS_HALF);
	assert_int_equal(path_post_plain(PATH_UD, 0, PATHS_HALF), RUN_PAYLOADS);
	paths_wrong_qkey_bits = 1;
	assert_false(path_post(PATH_UD, PATHS_HALF, &path_plain));
	paths_wrong_qkey_bits = 0;
	assert_int_equal(path_post_plain(PATH_UD, PATHS_HALF + 1, PATHS_HALF), PATHS_HALF - 1);
	paths_take();
	path_expect_plain(PATH_UD, 0, PATHS_HALF);
	path_expect_plain(PATH_UD, PATHS_HALF + 1, PATHS_HALF);
	paths_expect_all_sent(0, 2 * PATHS_HALF + 1);
	paths_expect_nothing();
}

static void test_a_burst_with_a_wrong_qkey_is_dropped(void **state)
{
	(void)state;
	path_post_receives(PATH_UD, PATHS_HALF, PATHS_HALF);
	paths_wrong_qkey_bits = 1;
	assert_int_equal(path_post_plain(PATH_UD, 0, PATHS_HALF), RUN_PAYLOADS);
	paths_wrong_qkey_bits = 0;
	paths_take();
	assert_null(cq_first(pair.ends[1].cq));
	assert_int_equal(path_post_plain(PATH_UD, PATHS_HALF, PATHS_HALF), PATHS_HALF - 1);
	paths_take();
	path_expect_plain(PATH_UD, PATHS_HALF, PATHS_HALF);
	paths_expect_all_sent(0, 2 * PATHS_HALF);
	paths_expect_nothing();
}

/* The rest of the burst waits in the ring for receive requests, with the Q_Key of before. */
static void test_a_qkey_that_changes_within_a_burst(void **state)
{
	(void)state;
	path_post_receives(PATH_UD, 0, PATHS_HALF);
	assert_int_equal(path_post_plain(PATH_UD, 0, PATHS_BURST), PATHS_PAYLOADS);
	paths_take();
	path_expect_plain(PATH_UD, 0, PATHS_HALF);
	paths_expect_all_sent(0, PATHS_BURST);
	set_qkey(paths[PATH_UD][1].qp, OTHER_QKEY);
	path_post_receives(PATH_UD, 0, PATHS_HALF);
	paths_expect_nothing();
	/* Datagrams with the new Q_Key find the receive requests. */
	(void)path_post_plain(PATH_UD, 0, PATHS_HALF);
	paths_take();
	path_expect_plain(PATH_UD, 0, PATHS_HALF);
	paths_expect_all_sent(0, PATHS_HALF);
	paths_expect_nothing();
}

/* As a modify does. A real one would also make the engine send the next message. */
static void set_sender_s_qkey(uint32_t qkey)
{
	paths[PATH_UD][0].qp->qp.attributes.qkey = qkey;
	invalidate(paths[PATH_UD][0].qp->qp.environment);
}

/* A controlled Q_Key in the request stands for the sender's own (transport 10.4). */
static void test_the_sender_s_qkey_changes_between_two_bursts(void **state)
{
	(void)state;
	paths_wrong_qkey_bits = PAIR_QKEY ^ 0x80000000u;
	path_post_receives(PATH_UD, 0, PATHS_HALF);
	assert_int_equal(path_post_plain(PATH_UD, 0, PATHS_HALF), RUN_PAYLOADS);
	set_sender_s_qkey(OTHER_QKEY);
	assert_int_equal(path_post_plain(PATH_UD, PATHS_HALF, PATHS_HALF), RUN_PAYLOADS);
	set_sender_s_qkey(PAIR_QKEY);
	path_post_receives(PATH_UD, 2 * PATHS_HALF, PATHS_HALF);
	assert_int_equal(path_post_plain(PATH_UD, 2 * PATHS_HALF, PATHS_HALF), RUN_PAYLOADS);
	paths_wrong_qkey_bits = 0;
	paths_take();
	path_expect_plain(PATH_UD, 0, PATHS_HALF);
	path_expect_plain(PATH_UD, 2 * PATHS_HALF, PATHS_HALF);
	paths_expect_all_sent(0, 3 * PATHS_HALF);
	paths_expect_nothing();
}

/* One message of a random batch. */
struct sent_message {
	unsigned from, to;
	struct path_message message;
};

static struct sent_message random_message(struct random *random, const struct sent_message *before)
{
	static const uint32_t sizes[] = {8, 8, 8, 4, 7, 24, 25, 100, 0, 511, 600};
	struct sent_message sent = *before;

	/* Most messages are like the one before them. */
	if (random_below(random, 4) == 0) {
		sent.from = sent.to = (unsigned)random_below(random, PATHS);
		if (path_is_datagram(sent.from) && random_below(random, 2))
			sent.to = sent.from == PATH_UD ? PATH_OTHER_UD : PATH_UD;
	}
	if (random_below(random, 6) == 0)
		sent.message.byte_count = sizes[random_below(random, ARRAY_COUNT(sizes))];
	sent.message.opcode = random_below(random, 16) ? SEND_SEND : SEND_SEND_IMMEDIATE;
	sent.message.flags = SEND_SIGNALED | (random_below(random, 16) ? 0 : SEND_SOLICITED);
	return sent;
}

static void test_messages_of_any_kind_arrive_in_order(void **state)
{
	struct random random = random_seeded(20261118);
	unsigned payloads = 0;

	(void)state;
	set_qkey(paths[PATH_OTHER_UD][1].qp, OTHER_QKEY);
	for (unsigned batch = 0; batch < BATCHES; batch++) {
		struct sent_message sent[BATCH_MAX];
		const uint32_t count = 1 + (uint32_t)random_below(&random, BATCH_MAX);
		struct sent_message before = {.message = path_plain};

		for (uint32_t number = 0; number < count; number++) {
			before = sent[number] = random_message(&random, &before);
			path_post_receives(sent[number].to, number, 1);
			payloads += path_post_to(sent[number].from, sent[number].to, number,
						 &sent[number].message);
			if (random_below(&random, 8) == 0)
				paths_poll_between();
		}
		paths_take();
		for (uint32_t number = 0; number < count; number++)
			path_expect_from(sent[number].from, sent[number].to, number,
					 &sent[number].message);
		paths_expect_all_sent_in_any_order(0, count);
	}
	assert_true(payloads > BATCHES);
	paths_expect_nothing();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		path_test(test_queue_pairs_in_turn_are_no_burst),
		path_test(test_each_run_of_a_queue_pair_is_a_burst_of_its_own),
		path_test(test_bursts_of_two_senders_to_one_receiver),
		path_test(test_bursts_of_one_sender_to_two_receivers_with_two_qkeys),
		path_test(test_a_wrong_qkey_within_a_burst),
		path_test(test_a_burst_with_a_wrong_qkey_is_dropped),
		path_test(test_a_qkey_that_changes_within_a_burst),
		path_test(test_the_sender_s_qkey_changes_between_two_bursts),
		path_test(test_messages_of_any_kind_arrive_in_order),
	};

	return cmocka_run_group_tests(tests, paths_start, pair_end_all);
}
