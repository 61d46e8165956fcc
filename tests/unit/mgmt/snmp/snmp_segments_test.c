/* SPDX-License-Identifier: Apache-2.0 */
/* SNMP messages in MADs: literal bytes, then segments lost, doubled, mixed up, foreign and hostile
 * (management 6.4). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include "base/bytes.h"
#include "base/random.h"
#include "mgmt/snmp/snmp_segments.h"

enum { SEGMENTS_MAX = SNMP_SEGMENT_MAX + 1 };

#define TRANSACTION_ID 0x0000000700000009

static uint8_t content[SNMP_MESSAGE_BYTES_MAX + 1];
static struct mad_message segments[SEGMENTS_MAX];
static int receiver;

/* A PDU of so many bytes, each of which says where it is. */
static struct snmp_message message_of(size_t byte_count)
{
	for (size_t i = 0; i < byte_count; i++)
		content[i] = (uint8_t)(i * 7 + i / 256);
	content[0] = 0xa0;
	content[1] = 0x82;
	put_be16(content + 2, (uint16_t)(byte_count - 4));
	return (struct snmp_message){
		.address = {.lid = 5, .qpn = 1},
		.transaction_id = TRANSACTION_ID,
		.raddress = 0x11223344,
		.source_lid = 5,
		.direction = SNMP_TO_AGENT,
		.community = "public",
		.community_bytes = 6,
		.bytes = content,
		.byte_count = byte_count,
	};
}

static unsigned cut(const struct snmp_message *message)
{
	unsigned count = snmp_segment_count(message);

	for (unsigned number = 0; number < count; number++)
		snmp_segment_make(message, number, &segments[number]);
	return count;
}

static bool give(struct snmp_reassembly *reassembly, unsigned number, struct snmp_message *ret)
{
	return snmp_reassembly_receive(reassembly, 0, &receiver, &segments[number], ret);
}

static void expect_whole_of(const struct snmp_message *got, uint16_t lid, size_t byte_count)
{
	assert_int_equal(got->byte_count, byte_count);
	assert_memory_equal(got->bytes, content, byte_count);
	assert_int_equal(got->community_bytes, 6);
	assert_memory_equal(got->community, "public", 6);
	assert_int_equal(got->transaction_id & ~0xffffull, TRANSACTION_ID & ~0xffffull);
	assert_int_equal(got->raddress, 0x11223344);
	assert_int_equal(got->address.lid, lid);
	free(got->bytes);
}

static void expect_whole(const struct snmp_message *got, size_t byte_count)
{
	expect_whole_of(got, 5, byte_count);
}

static void test_segments_have_the_bytes_of_the_table(void **state)
{
	static const uint8_t community_header[] = {1, 8, 1, 3, 0, 0,	0, 0, 0, 0, 0, 7,
						   0, 0, 0, 9, 0, 0x10, 0, 0, 0, 0, 0, 1};
	static const uint8_t tunnel[] = {0x11, 0x22, 0x33, 0x44, 6, 0, 0, 5};
	struct snmp_message message = message_of(200);

	(void)state;
	message.direction = SNMP_ANSWER;
	assert_int_equal(cut(&message), 3);
	assert_memory_equal(segments[0].bytes, community_header, sizeof(community_header));
	assert_memory_equal(segments[0].bytes + 56, tunnel, sizeof(tunnel));
	assert_memory_equal(segments[0].bytes + 64, "public\0\0", 8);
	assert_int_equal(segments[1].bytes[17], 0x11);
	assert_int_equal(segments[1].bytes[60], 192);
	assert_int_equal(segments[1].bytes[61], 1);
	assert_int_equal(segments[2].bytes[60], 8);
	assert_int_equal(segments[2].bytes[61], 2);
	assert_memory_equal(segments[2].bytes + 64, content + 192, 8);
}

static void test_every_length_round_trips(void **state)
{
	struct snmp_reassembly reassembly;
	struct snmp_message got;
	const size_t sizes[] = {20, 191, 192, 193, 384, 385, 1000, SNMP_MESSAGE_BYTES_MAX};

	(void)state;
	snmp_reassembly_init(&reassembly);
	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		struct snmp_message message = message_of(sizes[i]);
		unsigned count;

		message.transaction_id += i;
		count = cut(&message);
		for (unsigned number = 0; number + 1 < count; number++)
			assert_false(give(&reassembly, number, &got));
		assert_true(give(&reassembly, count - 1, &got));
		expect_whole(&got, sizes[i]);
	}
	assert_int_equal(reassembly.partial_count, 0);
	snmp_reassembly_release(&reassembly);
}

static void test_empty_and_too_long_messages_have_no_segments(void **state)
{
	struct snmp_message message = message_of(20);

	(void)state;
	message.byte_count = 0;
	assert_int_equal(snmp_segment_count(&message), 0);
	message.byte_count = SNMP_MESSAGE_BYTES_MAX + 1;
	assert_int_equal(snmp_segment_count(&message), 0);
}

/* Any order, any segment several times: one message. */
static void test_reordered_and_doubled_segments_make_one_message(void **state)
{
	struct snmp_message message = message_of(1500);
	unsigned count = cut(&message);

	(void)state;
	for (uint64_t seed = 1; seed <= 200; seed++) {
		struct snmp_reassembly reassembly;
		struct random random = random_seeded(seed);
		struct snmp_message got;
		bool given[SEGMENTS_MAX] = {false};
		unsigned left = count;

		snmp_reassembly_init(&reassembly);
		while (left) {
			unsigned number = (unsigned)random_below(&random, count);
			bool is_whole = give(&reassembly, number, &got);

			left -= !given[number];
			given[number] = true;
			assert_int_equal(is_whole, left == 0);
		}
		expect_whole(&got, 1500);
		assert_int_equal(reassembly.partial_count, 0);
		snmp_reassembly_release(&reassembly);
	}
}

/* All segments of a request, twice: it is served once, so it gets one answer. */
static void test_a_repeated_message_comes_once(void **state)
{
	struct snmp_message message = message_of(500), got;
	struct snmp_reassembly reassembly;
	unsigned count = cut(&message);

	(void)state;
	snmp_reassembly_init(&reassembly);
	for (unsigned number = 0; number < count; number++)
		assert_int_equal(give(&reassembly, number, &got), number + 1 == count);
	expect_whole(&got, 500);
	for (unsigned number = 0; number < count; number++)
		assert_false(give(&reassembly, number, &got));
	assert_int_equal(reassembly.partial_count, 0);
	assert_int_equal(reassembly.finished_count, 1);
	assert_int_equal(reassembly.dropped_count, 0);
	/* Later the ids may be used for another message. */
	snmp_reassembly_expire(&reassembly, SNMP_REASSEMBLY_TIME);
	assert_int_equal(reassembly.finished_count, 0);
	assert_int_equal(reassembly.dropped_count, 0);
	for (unsigned number = 0; number + 1 < count; number++)
		assert_false(give(&reassembly, number, &got));
	assert_true(give(&reassembly, count - 1, &got));
	expect_whole(&got, 500);
	snmp_reassembly_release(&reassembly);
}

static bool give_whole(struct snmp_reassembly *reassembly, uint16_t lid, uint32_t number)
{
	struct snmp_message message = message_of(100), got;

	message.transaction_id = TRANSACTION_ID + number;
	message.address.lid = lid;
	assert_int_equal(cut(&message), 2);
	assert_false(give(reassembly, 0, &got));
	if (!give(reassembly, 1, &got))
		return false;
	expect_whole_of(&got, lid, 100);
	return true;
}

/* However many messages were complete, few are remembered, and none is refused for them. */
static void test_finished_messages_are_bounded(void **state)
{
	struct snmp_reassembly reassembly;

	(void)state;
	snmp_reassembly_init(&reassembly);
	for (uint32_t number = 0; number < 1000; number++) {
		assert_true(give_whole(&reassembly, 5, number));
		assert_true(reassembly.finished_count <= SNMP_FINISHED_PER_SENDER);
	}
	for (uint16_t lid = 6; lid < 1000; lid++) {
		assert_true(give_whole(&reassembly, lid, 0));
		assert_true(reassembly.finished_count <= SNMP_FINISHED_MAX);
	}
	assert_int_equal(reassembly.finished_count, SNMP_FINISHED_MAX);
	assert_int_equal(reassembly.dropped_count, 0);
	snmp_reassembly_release(&reassembly);
	assert_int_equal(reassembly.finished_count, 0);
}

static void test_a_lost_segment_loses_the_message_in_time(void **state)
{
	struct snmp_message message = message_of(500), got;
	struct snmp_reassembly reassembly;

	(void)state;
	cut(&message);
	snmp_reassembly_init(&reassembly);
	assert_false(give(&reassembly, 0, &got));
	assert_false(give(&reassembly, 2, &got));
	assert_int_equal(snmp_reassembly_deadline(&reassembly), SNMP_REASSEMBLY_TIME);
	snmp_reassembly_expire(&reassembly, SNMP_REASSEMBLY_TIME - 1);
	assert_int_equal(reassembly.partial_count, 1);
	snmp_reassembly_expire(&reassembly, SNMP_REASSEMBLY_TIME);
	assert_int_equal(reassembly.partial_count, 0);
	assert_int_equal(reassembly.dropped_count, 1);
	assert_int_equal(snmp_reassembly_deadline(&reassembly), TIME_NEVER);
	snmp_reassembly_release(&reassembly);
}

/* What differs in sender, receiver, transaction, RAddress or direction is another message. */
static void test_foreign_segments_do_not_mix(void **state)
{
	struct snmp_message message = message_of(100), got;
	struct snmp_reassembly reassembly;
	struct mad_message foreign;
	int other;

	(void)state;
	cut(&message);
	snmp_reassembly_init(&reassembly);
	assert_false(give(&reassembly, 0, &got));
	foreign = segments[1];
	foreign.address.lid = 6;
	assert_false(snmp_reassembly_receive(&reassembly, 0, &receiver, &foreign, &got));
	foreign = segments[1];
	foreign.address.qpn = 77;
	assert_false(snmp_reassembly_receive(&reassembly, 0, &receiver, &foreign, &got));
	foreign = segments[1];
	foreign.bytes[15] ^= 1;
	assert_false(snmp_reassembly_receive(&reassembly, 0, &receiver, &foreign, &got));
	foreign = segments[1];
	foreign.bytes[59] ^= 1;
	assert_false(snmp_reassembly_receive(&reassembly, 0, &receiver, &foreign, &got));
	foreign = segments[1];
	foreign.bytes[23] = SNMP_ANSWER;
	assert_false(snmp_reassembly_receive(&reassembly, 0, &receiver, &foreign, &got));
	assert_false(snmp_reassembly_receive(&reassembly, 0, &other, &segments[1], &got));
	assert_true(give(&reassembly, 1, &got));
	expect_whole(&got, 100);
	snmp_reassembly_release(&reassembly);
}

static unsigned drops[SNMP_DROP_INCOMPLETE + 1];
static uint16_t dropped_lid;

static void take_drop(void *context, time_ns now, const void *of, const struct mad_address *sender,
		      enum snmp_drop reason)
{
	(void)now;
	assert_ptr_equal(context, drops);
	assert_ptr_equal(of, &receiver);
	dropped_lid = sender->lid;
	drops[reason]++;
}

/* The owner learns of every message that was dropped, with the reason and the sender. */
static void test_drops_are_told_with_their_reason(void **state)
{
	struct snmp_message message = message_of(500), got;
	struct snmp_reassembly reassembly;

	(void)state;
	memset(drops, 0, sizeof(drops));
	snmp_reassembly_init(&reassembly);
	reassembly.dropped = take_drop;
	reassembly.context = drops;
	message.address.lid = 9;
	cut(&message);
	segments[0].bytes[2] = 2;
	assert_false(give(&reassembly, 0, &got));
	assert_int_equal(drops[SNMP_DROP_MALFORMED], 1);
	assert_int_equal(dropped_lid, 9);
	cut(&message);
	segments[1].bytes[65] = 0x80;
	assert_false(give(&reassembly, 1, &got));
	assert_int_equal(drops[SNMP_DROP_MALFORMED], 2);
	for (unsigned number = 0; number < SNMP_PARTIAL_PER_SENDER + 2; number++) {
		message.transaction_id = number;
		cut(&message);
		assert_false(give(&reassembly, 0, &got));
	}
	assert_int_equal(drops[SNMP_DROP_TOO_MANY], 2);
	assert_int_equal(drops[SNMP_DROP_INCOMPLETE], 0);
	snmp_reassembly_expire(&reassembly, SNMP_REASSEMBLY_TIME);
	assert_int_equal(drops[SNMP_DROP_INCOMPLETE], SNMP_PARTIAL_PER_SENDER);
	/* A message that is whole, and forgotten later, is no drop. */
	message = message_of(500);
	for (unsigned number = 0, count = cut(&message); number < count; number++)
		if (give(&reassembly, number, &got))
			expect_whole(&got, 500);
	snmp_reassembly_expire(&reassembly, 2 * SNMP_REASSEMBLY_TIME);
	assert_int_equal(reassembly.dropped_count, 2 + 2 + SNMP_PARTIAL_PER_SENDER);
	snmp_reassembly_release(&reassembly);
}

/* Each of these changes makes the MAD none of this class. */
static void test_malformed_segments_are_dropped(void **state)
{
	static const struct {
		unsigned segment, offset;
		uint8_t byte;
	} changes[] = {
		{0, 0, 2},   {0, 1, 9},	 {0, 2, 2},  {0, 3, 1},	 {0, 5, 1},    {0, 17, 0x12},
		{0, 60, 65}, {0, 61, 1}, {0, 23, 3}, {1, 61, 0}, {1, 60, 193}, {1, 60, 0},
	};
	struct snmp_message message = message_of(100), got;
	struct snmp_reassembly reassembly;

	(void)state;
	snmp_reassembly_init(&reassembly);
	for (size_t i = 0; i < sizeof(changes) / sizeof(changes[0]); i++) {
		cut(&message);
		segments[changes[i].segment].bytes[changes[i].offset] = changes[i].byte;
		assert_false(give(&reassembly, changes[i].segment, &got));
		assert_int_equal(reassembly.partial_count, 0);
		assert_int_equal(reassembly.dropped_count, i + 1);
	}
	snmp_reassembly_release(&reassembly);
}

/* Lengths that contradict each other end the message: BER's, PayloadLength and SegmentNumber. */
static void test_lengths_that_do_not_fit_end_the_message(void **state)
{
	struct snmp_message message = message_of(500), got;
	struct snmp_reassembly reassembly;

	(void)state;
	snmp_reassembly_init(&reassembly);
	cut(&message);
	segments[1].bytes[65] = 0x80;
	assert_false(give(&reassembly, 1, &got));
	cut(&message);
	segments[1].bytes[65] = 0x84;
	memset(segments[1].bytes + 66, 0xff, 4);
	assert_false(give(&reassembly, 1, &got));
	cut(&message);
	segments[1].bytes[64] = 0x05;
	assert_false(give(&reassembly, 1, &got));
	cut(&message);
	segments[1].bytes[60] = 191;
	assert_false(give(&reassembly, 1, &got));
	assert_int_equal(reassembly.dropped_count, 4);
	cut(&message);
	segments[2].bytes[60] = 100;
	assert_false(give(&reassembly, 2, &got));
	assert_false(give(&reassembly, 1, &got));
	assert_int_equal(reassembly.dropped_count, 5);
	cut(&message);
	segments[3].bytes[61] = 9;
	assert_false(give(&reassembly, 1, &got));
	assert_false(give(&reassembly, 3, &got));
	assert_int_equal(reassembly.dropped_count, 6);
	assert_int_equal(reassembly.partial_count, 0);
	snmp_reassembly_release(&reassembly);
}

static void test_a_flood_of_one_sender_is_bounded_and_hurts_no_other(void **state)
{
	struct snmp_message message = message_of(500), got;
	struct snmp_reassembly reassembly;

	(void)state;
	snmp_reassembly_init(&reassembly);
	cut(&message);
	segments[0].address.lid = 9;
	for (unsigned i = 0; i < 10000; i++) {
		put_be32(segments[0].bytes + 12, i);
		assert_false(give(&reassembly, 0, &got));
		assert_true(reassembly.partial_count <= SNMP_PARTIAL_PER_SENDER);
	}
	cut(&message);
	for (unsigned number = 0; number < 3; number++)
		assert_false(give(&reassembly, number, &got));
	assert_true(give(&reassembly, 3, &got));
	expect_whole(&got, 500);
	snmp_reassembly_release(&reassembly);
}

static void test_messages_of_many_senders_are_bounded(void **state)
{
	struct snmp_message message = message_of(500), got;
	struct snmp_reassembly reassembly;

	(void)state;
	snmp_reassembly_init(&reassembly);
	cut(&message);
	for (unsigned lid = 1; lid < 1000; lid++) {
		segments[0].address.lid = (uint16_t)lid;
		assert_false(give(&reassembly, 0, &got));
	}
	assert_int_equal(reassembly.partial_count, SNMP_PARTIAL_MAX);
	snmp_reassembly_release(&reassembly);
	assert_int_equal(reassembly.partial_count, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_segments_have_the_bytes_of_the_table),
		cmocka_unit_test(test_every_length_round_trips),
		cmocka_unit_test(test_empty_and_too_long_messages_have_no_segments),
		cmocka_unit_test(test_reordered_and_doubled_segments_make_one_message),
		cmocka_unit_test(test_a_repeated_message_comes_once),
		cmocka_unit_test(test_finished_messages_are_bounded),
		cmocka_unit_test(test_a_lost_segment_loses_the_message_in_time),
		cmocka_unit_test(test_foreign_segments_do_not_mix),
		cmocka_unit_test(test_malformed_segments_are_dropped),
		cmocka_unit_test(test_drops_are_told_with_their_reason),
		cmocka_unit_test(test_lengths_that_do_not_fit_end_the_message),
		cmocka_unit_test(test_a_flood_of_one_sender_is_bounded_and_hurts_no_other),
		cmocka_unit_test(test_messages_of_many_senders_are_bounded),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
