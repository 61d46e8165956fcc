/* SPDX-License-Identifier: Apache-2.0 */
/* Two ends of a console session on a virtual clock, with a wire that loses, repeats and reorders.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <string.h>
#include "base/random.h"
#include "io/console/console_link.h"

enum { SESSION = 77, TEXT_BYTES = 20000, WIRE_FRAMES = 64, SEEDS = 50 };

struct wire_frame {
	uint8_t bytes[CONSOLE_FRAME_BYTES_MAX];
	size_t byte_count;
};

/* One end, and the frames on their way to it. */
struct end {
	struct console_link link;
	struct wire_frame frames[WIRE_FRAMES];
	unsigned frame_count;
};

static struct end ends[2];
static time_ns now;
static struct random randomness;
static unsigned loss_percent;

static void begin(uint64_t seed, unsigned percent)
{
	memset(ends, 0, sizeof(ends));
	now = SECONDS(5);
	randomness = random_seeded(seed);
	loss_percent = percent;
	for (unsigned i = 0; i < 2; i++)
		console_link_init(&ends[i].link, now, SESSION);
}

static bool happens(void)
{
	return random_below(&randomness, 100) < loss_percent;
}

static void put_on_wire(struct end *to, const uint8_t *bytes, size_t byte_count)
{
	struct wire_frame *frame = &to->frames[to->frame_count];

	if (to->frame_count == WIRE_FRAMES || happens())
		return;
	memcpy(frame->bytes, bytes, byte_count);
	frame->byte_count = byte_count;
	to->frame_count++;
}

/* Everything that is due now, in any order, some of it twice. */
static void run_turn(void)
{
	uint8_t bytes[CONSOLE_FRAME_BYTES_MAX];
	size_t byte_count;

	for (unsigned i = 0; i < 2; i++) {
		while ((byte_count = console_link_transmit(&ends[i].link, now, bytes))) {
			put_on_wire(&ends[!i], bytes, byte_count);
			if (happens())
				put_on_wire(&ends[!i], bytes, byte_count);
		}
	}
	for (unsigned i = 0; i < 2; i++) {
		while (ends[i].frame_count) {
			unsigned which = (unsigned)random_below(&randomness, ends[i].frame_count);
			struct wire_frame frame = ends[i].frames[which];

			ends[i].frames[which] = ends[i].frames[--ends[i].frame_count];
			console_link_receive(&ends[i].link, now, frame.bytes, frame.byte_count);
		}
	}
}

static void run_until_next(void)
{
	time_ns deadline = time_earlier(console_link_deadline(&ends[0].link),
					console_link_deadline(&ends[1].link));

	if (deadline > now)
		now = deadline;
	run_turn();
}

/* Sends both texts whole, and compares what arrives. */
static void exchange(uint64_t seed)
{
	static uint8_t texts[2][TEXT_BYTES], arrived[2][TEXT_BYTES];
	size_t written[2] = {0}, read[2] = {0};

	for (unsigned i = 0; i < 2 * TEXT_BYTES; i++)
		texts[i / TEXT_BYTES][i % TEXT_BYTES] = (uint8_t)random_next(&randomness);
	for (unsigned turn = 0; turn < 100000; turn++) {
		for (unsigned i = 0; i < 2; i++) {
			struct console_link *link = &ends[i].link;

			written[i] += console_link_write(link, texts[i] + written[i],
							 TEXT_BYTES - written[i]);
			if (written[i] == TEXT_BYTES)
				console_link_end(link);
			/* A slow reader. */
			if (turn % 3 == 0)
				read[i] += console_link_read(
					link,
					1 + random_below(&randomness, TEXT_BYTES - read[i] + 1),
					arrived[i] + read[i]);
		}
		if (console_link_is_done(&ends[0].link) && console_link_is_done(&ends[1].link) &&
		    read[0] == TEXT_BYTES && read[1] == TEXT_BYTES)
			break;
		run_until_next();
		if (ends[0].link.is_dead || ends[1].link.is_dead)
			break;
	}
	if (read[0] != TEXT_BYTES || read[1] != TEXT_BYTES)
		fail_msg("seed %u: %zu and %zu bytes came", (unsigned)seed, read[0], read[1]);
	assert_memory_equal(arrived[0], texts[1], TEXT_BYTES);
	assert_memory_equal(arrived[1], texts[0], TEXT_BYTES);
}

static void test_text_crosses_both_ways(void **state)
{
	(void)state;
	begin(1, 0);
	exchange(1);
	assert_true(console_link_is_done(&ends[0].link) && console_link_is_done(&ends[1].link));
}

static void test_loss_repeats_and_disorder_change_nothing(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= SEEDS; seed++) {
		begin(seed, 15);
		exchange(seed);
	}
}

static void test_a_lost_frame_is_repeated_ever_more_slowly(void **state)
{
	uint8_t bytes[CONSOLE_FRAME_BYTES_MAX];
	struct console_link *link = &ends[0].link;

	(void)state;
	begin(1, 0);
	console_link_write(link, "x", 1);
	assert_int_equal(console_link_deadline(link), 0);
	assert_int_equal(console_link_transmit(link, now, bytes), CONSOLE_HEADER_BYTES + 1);
	assert_int_equal(console_link_transmit(link, now, bytes), 0);
	assert_int_equal(console_link_deadline(link), now + MILLISECONDS(20));
	now += MILLISECONDS(20);
	assert_int_equal(console_link_transmit(link, now, bytes), CONSOLE_HEADER_BYTES + 1);
	assert_int_equal(console_link_deadline(link), now + MILLISECONDS(40));
}

static void test_a_peer_that_is_gone_is_noticed(void **state)
{
	uint8_t bytes[CONSOLE_FRAME_BYTES_MAX];
	struct console_link *link = &ends[0].link;

	(void)state;
	begin(1, 0);
	console_link_write(link, "x", 1);
	for (unsigned i = 0; i < 1000 && !link->is_dead; i++) {
		now = console_link_deadline(link) > now ? console_link_deadline(link) : now;
		while (console_link_transmit(link, now, bytes))
			;
	}
	assert_true(link->is_dead);
	assert_int_equal(console_link_deadline(link), TIME_NEVER);
	/* Also with nothing to say. */
	begin(1, 0);
	now += CONSOLE_SILENCE_MAX;
	assert_int_equal(console_link_transmit(link, now, bytes), 0);
	assert_true(link->is_dead);
}

static void test_silence_is_kept_alive(void **state)
{
	(void)state;
	begin(1, 0);
	for (unsigned i = 0; i < 100; i++)
		run_until_next();
	assert_true(now >= SECONDS(60));
	assert_false(ends[0].link.is_dead || ends[1].link.is_dead);
}

static void test_frames_of_others_are_ignored(void **state)
{
	struct console_frame frame = {
		.version = 1, .is_sequenced = 1, .ends = 1, .session = SESSION + 1};
	uint8_t bytes[CONSOLE_HEADER_BYTES];
	struct console_link *link = &ends[0].link;

	(void)state;
	begin(1, 0);
	console_frame_encode(&frame, bytes);
	console_link_receive(link, now, bytes, sizeof(bytes));
	assert_false(link->has_received_end);
	/* A number that is not expected is answered with the one that is. */
	frame.session = SESSION;
	frame.sequence = 1;
	console_frame_encode(&frame, bytes);
	console_link_receive(link, now, bytes, sizeof(bytes));
	assert_false(link->has_received_end);
	assert_true(link->owes_answer);
}

static void test_buffers_have_an_end(void **state)
{
	static uint8_t text[2 * CONSOLE_BUFFER_BYTES];
	struct console_link *link = &ends[0].link;

	(void)state;
	begin(1, 0);
	assert_int_equal(console_link_write(link, text, sizeof(text)), CONSOLE_BUFFER_BYTES);
	assert_int_equal(console_link_write(link, text, 1), 0);
	for (unsigned i = 0; i < 200; i++)
		run_until_next();
	assert_true(ends[1].link.received.byte_count <= CONSOLE_BUFFER_BYTES);
	console_link_end(link);
	assert_int_equal(console_link_write(link, text, 1), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_text_crosses_both_ways),
		cmocka_unit_test(test_loss_repeats_and_disorder_change_nothing),
		cmocka_unit_test(test_a_lost_frame_is_repeated_ever_more_slowly),
		cmocka_unit_test(test_a_peer_that_is_gone_is_noticed),
		cmocka_unit_test(test_silence_is_kept_alive),
		cmocka_unit_test(test_frames_of_others_are_ignored),
		cmocka_unit_test(test_buffers_have_an_end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
