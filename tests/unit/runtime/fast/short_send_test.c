/* SPDX-License-Identifier: Apache-2.0 */
/* Short sends on a fake softibd: which messages go that way, which do not, and that the outcome is
 * the same. Covers: runtime/packets/ack_arrivals.c runtime/packets/ack_words.c
 * runtime/fast/short_receive.c runtime/fast/poll_round.c */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdlib.h>
#include <string.h>
#include "runtime/packets/ack_words.h"
#include "runtime/fast/send_form.h"
#include "runtime/fast/short_send.h"
#include "runtime/packets/receive.h"
#include "unit/runtime/runtime_pair.h"

/* Posts with the lock held, as ibv_post_send does. Returns whether the message went as a short
 * send. */
static bool send_locked(uint32_t byte_count, uint32_t seed)
{
	struct pair_end *end = &pair.ends[0];
	const struct sge sge = {(uintptr_t)end->buffer, byte_count, end->region->key};
	const struct send_request request = {
		.wr_id = seed,
		.opcode = SEND_SEND,
		.flags = SEND_SIGNALED,
		.sge_count = 1,
		.sges = &sge,
	};

	pair_fill(end->buffer, byte_count, seed);

	bool is_sent = adapter_post(end->adapter, end->qp, &request);

	if (!is_sent) {
		assert_int_equal(qp_post_send(&end->qp->qp, adapter_now(end->adapter), &request),
				 0);
		hca_ready_add(adapter_hca(end->adapter), &end->qp->qp);
		adapter_transmit(end->adapter, adapter_now(end->adapter));
	}
	return is_sent;
}

static bool send_short(uint32_t byte_count, uint32_t seed)
{
	adapter_lock(pair.ends[0].adapter);

	bool is_sent = send_locked(byte_count, seed);

	adapter_unlock(pair.ends[0].adapter);
	return is_sent;
}

/* The progress thread handles timers from the first message on, and both flows must be resolved. */
static void warm_up(void)
{
	pair_set_verdict(RESOLVED_DIRECT);
	for (unsigned i = 0; i < 4; i++)
		pair_send_and_check(8, i);
}

/* Sets the mode of the progress thread and the time at which it would wake up. Its real mode
 * depends on the scheduler: once it has received some messages itself it no longer handles timers,
 * and there are no short sends until the program polls. */
static bool send_while(enum progress_mode mode, time_ns wakes_at, uint32_t byte_count,
		       uint32_t seed)
{
	adapter_lock(pair.ends[0].adapter);

	enum progress_mode real_mode = pair_runtime()->progress.mode;
	time_ns really_wakes_at = pair_runtime()->progress.wakes_at;

	pair_runtime()->progress.mode = mode;
	pair_runtime()->progress.wakes_at = wakes_at;

	bool is_sent = send_locked(byte_count, seed);

	pair_runtime()->progress.mode = real_mode;
	pair_runtime()->progress.wakes_at = really_wakes_at;
	adapter_unlock(pair.ends[0].adapter);
	return is_sent;
}

static void test_small_messages_go_as_short_sends(void **state)
{
	(void)state;
	warm_up();
	for (uint32_t i = 0; i < 200; i++) {
		pair_post_receive(&pair.ends[1], i, 64);
		if (i % 2)
			assert_true(send_while(PROGRESS_STAYING_OUT, TIME_NEVER, 8 + i % 50, i));
		else
			assert_true(send_while(PROGRESS_LISTENING, 0, 8 + i % 50, i));
		pair_take_both(8 + i % 50, i);
	}
}

/* The next thread that takes the lock sets their timers, so some thread must do so soon. */
static void test_there_are_no_short_sends_while_no_thread_handles_timers(void **state)
{
	(void)state;
	warm_up();
	for (uint32_t i = 0; i < 20; i++) {
		pair_post_receive(&pair.ends[1], i, 64);
		assert_false(send_while(PROGRESS_LISTENING, TIME_NEVER, 8, i));
		pair_take_both(8, i);
	}
}

static void test_requests_are_posted_and_sent_in_one_go(void **state)
{
	time_ns start = runtime_now();
	unsigned short_count = 0;

	(void)state;
	warm_up();
	for (uint32_t i = 0; short_count < 100; i++) {
		uint32_t byte_count = i % 1024; /* up to the path's MTU, and nothing at all */

		pair_post_receive(&pair.ends[1], i, 2048);
		short_count += pair_post_as_verbs(byte_count, 0, 100 + i);
		pair_take_both(byte_count, 100 + i);
		assert_false(pair_is_overdue(start));
	}
}

static void test_unusual_requests_are_no_short_sends(void **state)
{
	(void)state;
	warm_up();
	for (uint32_t i = 0; i < 3; i++)
		pair_post_receive(&pair.ends[1], i, 4096);
	assert_false(pair_post_as_verbs(1025, 0, 1)); /* two packets */
	pair_take_both(1025, 1);
	assert_false(pair_post_as_verbs(8, SEND_FENCE, 2));
	pair_take_both(8, 2);
	pair_runtime()->may_go_fast = false;
	assert_false(pair_post_as_verbs(8, 0, 3));
	pair_runtime()->may_go_fast = true;
	pair_take_both(8, 3);
}

static void test_long_messages_do_not(void **state)
{
	(void)state;
	warm_up();
	pair_post_receive(&pair.ends[1], 1, 100000);
	assert_false(send_short(100000, 7));
	pair_take_both(100000, 7);
}

static void test_a_fast_path_that_is_off_changes_nothing_else(void **state)
{
	(void)state;
	warm_up();
	pair_runtime()->may_go_fast = false;
	for (uint32_t i = 0; i < 20; i++) {
		pair_post_receive(&pair.ends[1], i, 64);
		assert_false(send_short(8, i));
		pair_take_both(8, i);
	}
	pair_runtime()->may_go_fast = true;
}

/* Sends a message and receives it in a poll round of the test. Returns whether the fast path took
 * it. The engine reads the clock for each record, so its completions have a later time. */
static bool is_taken_by_the_fast_path(uint32_t byte_count, uint32_t seed)
{
	pair_post_receive(&pair.ends[1], seed, 1024);
	adapter_lock(pair.ends[0].adapter);

	enum progress_mode real_mode = pair_runtime()->progress.mode;

	pair_runtime()->progress.mode = PROGRESS_STAYING_OUT;
	assert_true(send_locked(byte_count, seed));
	pair_runtime()->progress.mode = real_mode;

	bool is_done = poll_round_run(pair_runtime()) == POLL_ROUND_DONE;
	const struct completion *completion = cq_first(pair.ends[1].cq);
	bool is_fast =
		is_done && completion && completion->timestamp_ns == pair_runtime()->last_now;

	adapter_unlock(pair.ends[0].adapter);
	pair_take_both(byte_count, seed);
	return is_fast;
}

/* Each has another length than the one before it. A round in which softibd has written something is
 * a full one. */
static void test_messages_of_any_length_are_taken_by_the_fast_path(void **state)
{
	time_ns start = runtime_now();
	unsigned fast_count = 0;

	(void)state;
	warm_up();
	for (uint32_t i = 0; fast_count < 100; i++) {
		fast_count += is_taken_by_the_fast_path(i * 37 % 500, i);
		assert_false(pair_is_overdue(start));
	}
}

/* A program that posts and never polls reads its rings in its posts, now and then. */
static void test_posts_read_the_rings_now_and_then(void **state)
{
	enum { POSTS = 64, POSTS_PER_ROUND = 32 };
	struct pair_end *end = &pair.ends[0];
	const struct receive_queue *receives = &pair.ends[1].qp->qp.own_receives;

	(void)state;
	warm_up();
	for (uint32_t i = 0; i < POSTS; i++)
		pair_post_receive(&pair.ends[1], i, 64);
	adapter_lock(end->adapter);
	pair_runtime()->rounds.quick_posts = 0;
	for (uint32_t i = 1; i <= POSTS; i++) {
		const uint64_t polls = pair_runtime()->progress.poll_count;

		pair_runtime()->progress.mode = PROGRESS_STAYING_OUT;
		assert_true(send_locked(8, 1));
		adapter_posted(end->adapter);
		assert_int_equal(pair_runtime()->progress.poll_count != polls,
				 i % POSTS_PER_ROUND == 0);
		assert_int_equal(receive_queue_count(receives),
				 POSTS - i / POSTS_PER_ROUND * POSTS_PER_ROUND);
	}
	adapter_unlock(end->adapter);
	for (uint32_t i = 0; i < POSTS; i++)
		pair_take_both(8, 1);
}

/* The counters are those of the packets that the message stands for: SEND 8+12+8+4, ACK 8+12+4+4
 * bytes. */
static void test_packets_and_acks_are_counted(void **state)
{
	struct flow_counters *counters =
		(struct flow_counters *)(pair.softibd.process + process_layout().flows_offset);
	uint64_t packets_before = 0, words_before = 0, packets = 0, words = 0;

	(void)state;
	warm_up();
	for (unsigned i = 0; i < FLOW_SLOTS; i++) {
		packets_before += counters[i].packets;
		words_before += counters[i].words;
	}
	for (uint32_t i = 0; i < 50; i++) {
		pair_post_receive(&pair.ends[1], i, 64);
		(void)send_short(8, i);
		pair_take_both(8, i);
	}
	for (unsigned i = 0; i < FLOW_SLOTS; i++) {
		packets += counters[i].packets;
		words += counters[i].words;
	}
	assert_int_equal(packets - packets_before, 100);
	assert_int_equal(words - words_before, 50 * (8 + 7));
}

/* ACK words that no queue pair waits for, or that name no queue pair, are ignored. */
static void test_strange_words_do_no_harm(void **state)
{
	(void)state;
	warm_up();
	adapter_lock(pair.ends[0].adapter);

	struct channel *channel = pair_runtime()->direct.channels[0];
	uint64_t malformed = pair_runtime()->drops.malformed;

	word_ring_put(&channel->words_out, 0xffffff);
	word_ring_put(&channel->words_out, (uint64_t)0xabcdef << 24 | pair.ends[0].qp->qp.qpn);
	word_ring_put(&channel->words_out, 0xffffffffffffff);
	assert_true(ack_words_take(pair_runtime(), channel, adapter_now(pair.ends[0].adapter)));
	assert_int_equal(pair_runtime()->drops.malformed, malformed + 2);
	adapter_unlock(pair.ends[0].adapter);
	pair_send_and_check(8, 3);
}

static void test_the_environment_closes_it(void **state)
{
	(void)state;
	assert_true(fast_path_is_allowed());
	setenv("SOFTIB_FAST", "0", 1);
	assert_false(fast_path_is_allowed());
	unsetenv("SOFTIB_FAST");
}

static void test_the_environment_names_the_forms(void **state)
{
	static const struct {
		const char *choice;
		unsigned forms;
	} cases[] = {
		{"", 1u << FORM_PACKETS},
		{"packets", 1u << FORM_PACKETS},
		{"short", 1u << FORM_PACKETS | 1u << FORM_SHORT},
		{"short,payload-only",
		 1u << FORM_PACKETS | 1u << FORM_SHORT | 1u << FORM_PAYLOAD_ONLY},
		{"by-reference,relayed",
		 1u << FORM_PACKETS | 1u << FORM_BY_REFERENCE | 1u << FORM_RELAYED},
		{"short,payload-only,by-reference,relayed", SEND_FORMS_ALL},
	};

	(void)state;
	unsetenv("SOFTIB_SEND_FORMS");
	assert_int_equal(send_forms_allowed(), SEND_FORMS_ALL);
	for (unsigned i = 0; i < ARRAY_COUNT(cases); i++) {
		setenv("SOFTIB_SEND_FORMS", cases[i].choice, 1);
		assert_int_equal(send_forms_allowed(), cases[i].forms);
	}
	unsetenv("SOFTIB_SEND_FORMS");
}

/* The outcome is the same in every form. */
static void test_forms_that_are_off_change_nothing_else(void **state)
{
	(void)state;
	warm_up();
	for (unsigned forms = 0; forms < SEND_FORMS_ALL; forms += 2) {
		pair_runtime()->forms = forms | 1u << FORM_PACKETS;
		for (uint32_t i = 0; i < 10; i++) {
			uint32_t byte_count = i % 5 == 4 ? 3000 : 8 * (i / 5);

			pair_post_receive(&pair.ends[1], i, 4096);

			bool is_short = send_while(PROGRESS_STAYING_OUT, TIME_NEVER, byte_count, i);

			assert_int_equal(is_short, forms >> FORM_SHORT & 1 && byte_count < 1024);
			pair_take_both(byte_count, i);
		}
	}
	pair_runtime()->forms = SEND_FORMS_ALL;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_small_messages_go_as_short_sends),
		cmocka_unit_test(test_there_are_no_short_sends_while_no_thread_handles_timers),
		cmocka_unit_test(test_requests_are_posted_and_sent_in_one_go),
		cmocka_unit_test(test_unusual_requests_are_no_short_sends),
		cmocka_unit_test(test_long_messages_do_not),
		cmocka_unit_test(test_a_fast_path_that_is_off_changes_nothing_else),
		cmocka_unit_test(test_messages_of_any_length_are_taken_by_the_fast_path),
		cmocka_unit_test(test_posts_read_the_rings_now_and_then),
		cmocka_unit_test(test_packets_and_acks_are_counted),
		cmocka_unit_test(test_strange_words_do_no_harm),
		cmocka_unit_test(test_the_environment_closes_it),
		cmocka_unit_test(test_the_environment_names_the_forms),
		cmocka_unit_test(test_forms_that_are_off_change_nothing_else),
	};

	return cmocka_run_group_tests(tests, pair_start_connected, pair_end_all);
}
