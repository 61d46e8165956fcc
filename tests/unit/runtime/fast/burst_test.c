/* SPDX-License-Identifier: Apache-2.0 */
/* Bursts at the sender: which SEND may be a payload record or a template. Bursts at the receiver:
 * the packet that a payload record stands for, and records that stand for none. */
#include "runtime/fast/burst.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>
#include <cmocka.h>
#include "base/bytes.h"
#include "wire/opcode.h"

enum {
	PORT = 0x0201,
	PSN_OFFSET = LRH_BYTES + BTH_PSN_OFFSET,
	CONNECTED_HEADERS = LRH_BYTES + BTH_BYTES,
	DATAGRAM_HEADERS = CONNECTED_HEADERS + DETH_BYTES,
	ACK_REQUEST = 0x80,
};

static const uint8_t transports[] = {TRANSPORT_RC, TRANSPORT_UC, TRANSPORT_UD};

static uint32_t headers_of(uint8_t transport)
{
	return transport == TRANSPORT_UD ? DATAGRAM_HEADERS : CONNECTED_HEADERS;
}

static uint32_t padded(uint32_t payload_bytes)
{
	return (payload_bytes + 3) & ~3u;
}

/* Writes noise into the headers, except for the fields that a burst reads. Returns the bytes of
 * headers, payload and pad. */
static uint32_t write_packet(uint8_t transport, uint32_t psn, uint32_t payload_bytes, uint8_t fill,
			     uint8_t *ret_bytes)
{
	uint32_t header_bytes = headers_of(transport);

	for (uint32_t i = 0; i < header_bytes; i++)
		ret_bytes[i] = (uint8_t)(i * 37 + 11);
	ret_bytes[LRH_BYTES] = transport | OPCODE_SEND_ONLY;
	put_be32(ret_bytes + PSN_OFFSET, (uint32_t)ACK_REQUEST << 24 | psn);
	memset(ret_bytes + header_bytes, 0, padded(payload_bytes));
	memset(ret_bytes + header_bytes, fill, payload_bytes);
	return header_bytes + padded(payload_bytes);
}

static struct ring_record template_of(uint8_t *bytes, uint32_t byte_count)
{
	return (struct ring_record){
		.byte_count = byte_count,
		.kind = RECORD_TEMPLATE,
		.port = PORT,
		.packet_count = 1,
		.body = bytes,
	};
}

static struct ring_record payload_record_of(uint8_t *bytes, uint32_t byte_count)
{
	return (struct ring_record){
		.byte_count = byte_count, .kind = RING_RECORD_PAYLOAD, .body = bytes};
}

/* A payload record as the sender writes it: the payload, its pad bytes, and old bytes of the ring
 * behind them. */
static struct ring_record write_payload_record(uint32_t payload_bytes, uint8_t fill,
					       uint8_t *ret_bytes)
{
	memset(ret_bytes, 0xee, RING_PAYLOAD_BYTES_MAX);
	memset(ret_bytes, 0, padded(payload_bytes));
	memset(ret_bytes, fill, payload_bytes);
	return payload_record_of(ret_bytes, (uint32_t)ring_payload_bytes(payload_bytes) -
						    ring_payload_header_bytes(payload_bytes));
}

static void expect_packet(const struct ring_record *record, uint8_t transport, uint32_t psn,
			  uint32_t payload_bytes, uint8_t fill)
{
	uint8_t expected[BURST_TEMPLATE_BYTES_MAX];
	uint32_t byte_count = write_packet(transport, psn, payload_bytes, fill, expected);

	assert_int_equal(record->kind, RECORD_PACKET);
	assert_int_equal(record->port, PORT);
	assert_int_equal(record->packet_count, 1);
	assert_int_equal(record->byte_count, byte_count);
	assert_memory_equal(record->body, expected, byte_count);
}

static void test_payload_records_are_the_template_with_the_next_psn_and_their_payload(void **state)
{
	uint8_t bytes[BURST_TEMPLATE_BYTES_MAX], payload[RING_PAYLOAD_BYTES_MAX];

	(void)state;
	for (unsigned i = 0; i < sizeof(transports); i++)
		for (uint32_t size = 1; size <= RING_PAYLOAD_BYTES_MAX; size++) {
			struct burst_in burst = {0};
			uint32_t byte_count = write_packet(transports[i], 5, size, 1, bytes);
			const struct ring_record template = template_of(bytes, byte_count);
			const struct ring_record *packet = burst_look(&burst, &template);

			expect_packet(packet, transports[i], 5, size, 1);
			/* The sender may overwrite the record in the ring now. */
			memset(bytes, 0xff, sizeof(bytes));
			for (uint8_t j = 1; j < 10; j++) {
				const struct ring_record record =
					write_payload_record(size, 50 + j, payload);

				packet = burst_look(&burst, &record);
				expect_packet(packet, transports[i], 5u + j, size, 50 + j);
				assert_int_equal(burst.payloads, j);
			}
		}
}

static void test_psns_wrap_at_24_bits(void **state)
{
	uint8_t bytes[BURST_TEMPLATE_BYTES_MAX], payload[RING_PAYLOAD_BYTES_MAX];

	(void)state;
	for (unsigned i = 0; i < sizeof(transports); i++) {
		struct burst_in burst = {0};
		const struct ring_record template =
			template_of(bytes, write_packet(transports[i], 0xfffffe, 8, 0, bytes));

		expect_packet(burst_look(&burst, &template), transports[i], 0xfffffe, 8, 0);
		for (uint32_t j = 1; j < 5; j++) {
			const struct ring_record record =
				write_payload_record(8, (uint8_t)j, payload);

			expect_packet(burst_look(&burst, &record), transports[i],
				      (0xfffffe + j) & 0xffffff, 8, (uint8_t)j);
		}
	}
}

static void test_a_new_template_begins_a_new_burst(void **state)
{
	uint8_t bytes[BURST_TEMPLATE_BYTES_MAX], payload[RING_PAYLOAD_BYTES_MAX];
	struct burst_in burst = {0};

	(void)state;
	for (uint32_t psn = 0; psn < 1000; psn += 100) {
		uint8_t transport = transports[psn / 100 % 3];
		uint32_t size = 1 + psn / 50;
		const struct ring_record template =
			template_of(bytes, write_packet(transport, psn, size, 0, bytes));

		expect_packet(burst_look(&burst, &template), transport, psn, size, 0);
		for (uint32_t j = 1; j < 5; j++) {
			const struct ring_record record =
				write_payload_record(size, (uint8_t)j, payload);

			expect_packet(burst_look(&burst, &record), transport, psn + j, size,
				      (uint8_t)j);
		}
	}
}

/* As often as the receiver waits for a receive request. */
static void test_a_payload_record_that_was_put_back_keeps_its_psn(void **state)
{
	uint8_t bytes[BURST_TEMPLATE_BYTES_MAX], payload[RING_PAYLOAD_BYTES_MAX];
	struct burst_in burst = {0};
	const struct ring_record template =
		template_of(bytes, write_packet(TRANSPORT_UD, 0xffffff, 8, 0, bytes));

	(void)state;
	for (unsigned i = 0; i < 3; i++) {
		expect_packet(burst_look(&burst, &template), TRANSPORT_UD, 0xffffff, 8, 0);
		burst_put_back(&burst, &template);
	}
	expect_packet(burst_look(&burst, &template), TRANSPORT_UD, 0xffffff, 8, 0);
	for (uint32_t psn = 0; psn < 3; psn++) {
		const struct ring_record record = write_payload_record(8, (uint8_t)psn, payload);

		for (unsigned i = 0; i < 3; i++) {
			expect_packet(burst_look(&burst, &record), TRANSPORT_UD, psn, 8,
				      (uint8_t)psn);
			burst_put_back(&burst, &record);
		}
		expect_packet(burst_look(&burst, &record), TRANSPORT_UD, psn, 8, (uint8_t)psn);
	}
}

static void expect_no_template(struct burst_in *burst)
{
	uint8_t payload[RING_PAYLOAD_BYTES_MAX];

	for (uint32_t size = 8; size <= 24; size += 16) {
		const struct ring_record record = write_payload_record(size, 1, payload);
		uint32_t payloads = burst->payloads;

		assert_ptr_equal(burst_look(burst, &record), &record);
		assert_int_equal(burst->payloads, payloads);
	}
}

static void test_payload_records_without_a_template_are_left_alone(void **state)
{
	struct burst_in burst = {0};

	(void)state;
	expect_no_template(&burst);
}

/* A bad template also ends the template before it. */
static void test_templates_of_absurd_sizes_are_refused(void **state)
{
	static const uint32_t sizes[] = {
		0,    1,	 LRH_BYTES, CONNECTED_HEADERS - 1, BURST_TEMPLATE_BYTES_MAX + 1,
		4096, UINT32_MAX};
	/* The size is refused before the bytes are read: otherwise the address sanitizer would
	 * report it. */
	uint8_t bytes[BURST_TEMPLATE_BYTES_MAX] = {0};

	(void)state;
	for (unsigned i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		struct burst_in burst = {0};
		const struct ring_record good =
			template_of(bytes, write_packet(TRANSPORT_RC, 7, 8, 3, bytes));
		const struct ring_record bad = template_of(bytes, sizes[i]);

		expect_packet(burst_look(&burst, &good), TRANSPORT_RC, 7, 8, 3);
		assert_ptr_equal(burst_look(&burst, &bad), &bad);
		expect_no_template(&burst);
	}
}

/* They are still packets; a datagram's may end inside its DETH. */
static void test_templates_without_payload_begin_no_burst(void **state)
{
	uint8_t bytes[BURST_TEMPLATE_BYTES_MAX];

	(void)state;
	for (unsigned i = 0; i < sizeof(transports); i++)
		for (uint32_t size = CONNECTED_HEADERS; size <= headers_of(transports[i]); size++) {
			struct burst_in burst = {0};

			write_packet(transports[i], 7, 8, 3, bytes);

			const struct ring_record template = template_of(bytes, size);
			const struct ring_record *packet = burst_look(&burst, &template);

			assert_int_equal(packet->kind, RECORD_PACKET);
			assert_int_equal(packet->byte_count, size);
			assert_memory_equal(packet->body, bytes, size);
			expect_no_template(&burst);
		}
}

static void test_payload_records_smaller_than_the_payload_are_left_alone(void **state)
{
	uint8_t bytes[BURST_TEMPLATE_BYTES_MAX], payload[RING_PAYLOAD_BYTES_MAX];

	(void)state;
	for (uint32_t size = 9; size <= RING_PAYLOAD_BYTES_MAX; size++) {
		struct burst_in burst = {0};
		const struct ring_record template =
			template_of(bytes, write_packet(TRANSPORT_UC, 7, size, 3, bytes));
		const struct ring_record small = write_payload_record(8, 4, payload);

		expect_packet(burst_look(&burst, &template), TRANSPORT_UC, 7, size, 3);
		assert_ptr_equal(burst_look(&burst, &small), &small);

		/* The refused record used no PSN. */
		const struct ring_record record = write_payload_record(size, 5, payload);

		expect_packet(burst_look(&burst, &record), TRANSPORT_UC, 8, size, 5);
	}
}

/* A connection's template may be as long as a datagram's. The bytes that are the DETH there are
 * payload here: more than a payload record can hold. */
static void test_templates_with_more_payload_than_payload_records_begin_no_burst(void **state)
{
	uint8_t bytes[BURST_TEMPLATE_BYTES_MAX] = {0};
	struct burst_in burst = {0};
	const struct ring_record template = template_of(bytes, BURST_TEMPLATE_BYTES_MAX);

	(void)state;
	write_packet(TRANSPORT_RC, 7, 24, 3, bytes);
	assert_int_equal(burst_look(&burst, &template)->kind, RECORD_PACKET);
	expect_no_template(&burst);
}

static void test_other_records_are_left_alone(void **state)
{
	static const uint16_t kinds[] = {RECORD_PACKET, RECORD_UD_ZCOPY, RECORD_ZCOPY, 1, 0xfffe};
	uint8_t bytes[BURST_TEMPLATE_BYTES_MAX], payload[RING_PAYLOAD_BYTES_MAX];
	struct burst_in burst = {0};
	struct ring_record record = template_of(bytes, write_packet(TRANSPORT_RC, 7, 8, 3, bytes));
	const struct ring_record payload_record = write_payload_record(8, 4, payload);

	(void)state;
	assert_null(burst_look(&burst, NULL));
	(void)burst_look(&burst, &record);
	for (unsigned i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		record.kind = kinds[i];
		assert_ptr_equal(burst_look(&burst, &record), &record);
		burst_put_back(&burst, &record);
	}
	/* The burst continues behind them. */
	expect_packet(burst_look(&burst, &payload_record), TRANSPORT_RC, 8, 8, 4);
}

/* A queue pair whose burst ends at the tail of the ring, and the next SEND of this burst. */
struct sender {
	struct send_burst burst;
	struct requester requester;
	struct ring_producer out;
	struct sge sge;
	struct send_request request;
	uint64_t turn;
};

enum { RING_BYTES = 1 << 20, REQUESTS_MAX = 1000, LAST_TURN = 5 };

static void make_sender(struct sender *ret_sender)
{
	*ret_sender = (struct sender){
		.burst = {.end = 640,
			  .turn = LAST_TURN,
			  .room = 100,
			  .payload_bytes = 8,
			  .flags = SEND_SIGNALED,
			  .qkey = 0x1234,
			  .next_psn = {77},
			  .streak = BURST_POSTS_PAYLOAD},
		.requester = {.next_psn = {77},
			      .oldest_psn = {77},
			      .queue = {.requests_max = REQUESTS_MAX}},
		.out = {.tail = 640, .head_seen = 640, .data_bytes = RING_BYTES},
		.sge = {4096, 8, 1},
		.request = {.opcode = SEND_SEND,
			    .flags = SEND_SIGNALED,
			    .remote_qkey = 0x1234,
			    .sge_count = 1,
			    .sges = &ret_sender->sge},
		.turn = LAST_TURN + 1,
	};
}

static bool continues(const struct sender *sender)
{
	return burst_continues(&sender->burst, &sender->out, &sender->request, sender->turn,
			       sender->requester.next_psn);
}

/* As short_send.c asks. */
static bool begins(const struct sender *sender)
{
	return burst_streak(&sender->burst, &sender->out, sender->turn) >= BURST_POSTS &&
	       burst_may_begin(&sender->request);
}

static void test_a_streak_is_halved_by_other_turns_and_ended_by_other_records(void **state)
{
	struct sender sender;

	(void)state;
	make_sender(&sender);
	for (uint32_t streak = 0; streak <= BURST_POSTS_PAYLOAD; streak++) {
		sender.burst.streak = streak;
		/* In the turn of the last post, and in the next one. */
		assert_int_equal(burst_streak(&sender.burst, &sender.out, 5), streak);
		assert_int_equal(burst_streak(&sender.burst, &sender.out, 6), streak);
		assert_int_equal(burst_streak(&sender.burst, &sender.out, 7), streak / 2);
		assert_int_equal(burst_streak(&sender.burst, &sender.out, 1000), streak / 2);
		sender.out.tail += 64;
		assert_int_equal(burst_streak(&sender.burst, &sender.out, 5), 0);
		sender.out.tail -= 64;
	}
}

/* Whatever a payload record can't say must be as in the burst's last message. */
static void test_a_payload_record_needs_the_headers_of_its_template(void **state)
{
	struct sender sender;

	(void)state;
#define EXPECT(change, expected)                                                                   \
	make_sender(&sender);                                                                      \
	change;                                                                                    \
	assert_int_equal(continues(&sender), expected)
	EXPECT((void)0, true);
	EXPECT(sender.sge.byte_count = 7, false);
	EXPECT(sender.sge.byte_count = 0, false);
	EXPECT(sender.burst.payload_bytes = 0, false);
	EXPECT(sender.sge.byte_count = sender.burst.payload_bytes = 0, false);
	EXPECT(sender.request.opcode = SEND_SEND_IMMEDIATE, false);
	EXPECT(sender.request.flags |= SEND_SOLICITED, false);
	EXPECT(sender.request.flags |= SEND_INLINE, false);
	/* Only the sender needs to know whether a completion was requested. */
	EXPECT(sender.request.flags &= ~(uint32_t)SEND_SIGNALED, true);
	EXPECT(sender.request.remote_qkey ^= 1, false);
#undef EXPECT
}

/* The caller knows that the SEND has neither immediate data nor a Q_Key. */
static void test_a_message_matches_a_burst_by_length_and_flags(void **state)
{
	struct sender sender;

	(void)state;
#define EXPECT(change, expected)                                                                   \
	make_sender(&sender);                                                                      \
	change;                                                                                    \
	assert_int_equal(burst_matches(&sender.burst, sender.request.flags, &sender.sge), expected)
	EXPECT((void)0, true);
	EXPECT(sender.sge.byte_count = 7, false);
	EXPECT(sender.sge.byte_count = sender.burst.payload_bytes = 0, false);
	EXPECT(sender.request.flags |= SEND_SOLICITED, false);
	EXPECT(sender.request.flags |= SEND_INLINE, false);
	EXPECT(sender.request.flags &= ~(uint32_t)SEND_SIGNALED, true);
#undef EXPECT
}

static void test_a_payload_record_needs_the_next_psn_and_the_end_of_the_ring(void **state)
{
	struct sender sender;

	(void)state;
#define EXPECT(change, expected)                                                                   \
	make_sender(&sender);                                                                      \
	change;                                                                                    \
	assert_int_equal(continues(&sender), expected)
	EXPECT(sender.requester.next_psn.value++, false);
	EXPECT(sender.out.tail += 16, false);
	EXPECT(sender.turn++, true);
	EXPECT(sender.burst.streak = BURST_POSTS, true);
	EXPECT(sender.burst.streak = BURST_POSTS - 1, false);
	EXPECT(sender.turn++; sender.burst.streak--, false);
#undef EXPECT
}

static void test_a_template_needs_a_streak_and_a_payload(void **state)
{
	struct sender sender;

	(void)state;
#define EXPECT(change, expected)                                                                   \
	make_sender(&sender);                                                                      \
	change;                                                                                    \
	assert_int_equal(begins(&sender), expected)
	EXPECT((void)0, true);
	EXPECT(sender.sge.byte_count = 1, true);
	EXPECT(sender.sge.byte_count = RING_PAYLOAD_BYTES_MAX, true);
	EXPECT(sender.sge.byte_count = RING_PAYLOAD_BYTES_MAX + 1, false);
	EXPECT(sender.sge.byte_count = 0, false);
	EXPECT(sender.request.opcode = SEND_SEND_IMMEDIATE, false);
	EXPECT(sender.request.flags = SEND_INLINE | SEND_SOLICITED, true);
	EXPECT(sender.request.remote_qkey ^= 1, true);
	EXPECT(sender.requester.next_psn.value++, true);
	EXPECT(sender.burst.streak = BURST_POSTS - 1, false);
	EXPECT(sender.turn++; sender.burst.streak--, false);
	EXPECT(sender.out.tail += 64, false);
#undef EXPECT
}

/* Only directly behind the burst's last record, and while there is room. */
static void test_a_burst_runs_until_another_turn_or_its_room_is_used(void **state)
{
	struct sender sender;

	(void)state;
	make_sender(&sender);
	assert_true(burst_is_running(&sender.burst, LAST_TURN));
	assert_true(burst_is_running(&sender.burst, LAST_TURN + 1));
	assert_false(burst_is_running(&sender.burst, LAST_TURN + 2));
	assert_false(burst_is_running(&sender.burst, UINT64_MAX));
	sender.burst.room = 2;
	for (unsigned i = 0; i < 2; i++) {
		assert_true(burst_is_running(&sender.burst, LAST_TURN));
		burst_went_on(&sender.burst, &sender.out, LAST_TURN, psn_from(78 + i));
		assert_int_equal(sender.burst.next_psn.value, 78 + i);
		assert_int_equal(sender.burst.streak, BURST_POSTS_PAYLOAD);
	}
	assert_false(burst_is_running(&sender.burst, LAST_TURN));
	/* A record of its own ends it. */
	make_sender(&sender);
	burst_posted(&sender.burst, &sender.out, LAST_TURN, BURST_POSTS);
	assert_false(burst_is_running(&sender.burst, LAST_TURN));
	assert_false(burst_matches(&sender.burst, sender.request.flags, &sender.sge));
	burst_begin(&sender.burst, &sender.requester, &sender.out, &sender.request);
	assert_true(burst_is_running(&sender.burst, LAST_TURN));
	assert_true(burst_matches(&sender.burst, sender.request.flags, &sender.sge));
}

/* The least of ring, send queue and PSNs. */
static void test_the_room_of_a_burst_is_the_least_of_its_limits(void **state)
{
	struct sender sender;

	(void)state;
#define EXPECT(change, expected)                                                                   \
	make_sender(&sender);                                                                      \
	change;                                                                                    \
	assert_int_equal(burst_room(&sender.requester, &sender.out, 8), expected)
	EXPECT((void)0, REQUESTS_MAX);
	EXPECT(sender.requester.queue.tail = 10, REQUESTS_MAX - 10);
	EXPECT(sender.requester.queue.head = sender.requester.queue.tail = -10u, REQUESTS_MAX);
	EXPECT(sender.requester.queue.tail = REQUESTS_MAX, 0);
	EXPECT(sender.requester.oldest_psn =
		       psn_add(psn_from(77), (1u << 24) - PSNS_OUTSTANDING_MAX + 3),
	       3);
	EXPECT(sender.requester.oldest_psn =
		       psn_add(psn_from(77), (1u << 24) - PSNS_OUTSTANDING_MAX),
	       0);
	EXPECT(sender.out.tail = sender.out.head_seen = RING_BYTES - 64, 4);
	EXPECT(sender.out.head_seen = sender.out.tail - RING_BYTES + 32, 2);
	EXPECT(sender.out.head_seen = sender.out.tail - RING_BYTES, 0);
	EXPECT(sender.out.is_corrupt = true, 0);
#undef EXPECT
	assert_int_equal(ring_payload_bytes(8), 16);
}

/* Posts the next message of the size, as short_send.c does. Returns whether as a payload record. */
static bool post(struct sender *sender)
{
	const uint32_t streak = burst_streak(&sender->burst, &sender->out, sender->turn);
	const bool is_template = begins(sender), is_payload = continues(sender);

	sender->out.tail += is_payload ? 16 : 64;
	sender->out.head_seen = sender->out.tail;
	sender->requester.next_psn = psn_add(sender->requester.next_psn, 1);
	sender->requester.oldest_psn = sender->requester.next_psn;
	if (is_payload)
		burst_continued(&sender->burst, &sender->out, sender->turn,
				sender->requester.next_psn);
	else
		burst_posted(&sender->burst, &sender->out, sender->turn, streak);
	if (!is_payload && is_template)
		burst_begin(&sender->burst, &sender->requester, &sender->out, &sender->request);
	return is_payload;
}

/* How many of so many posts in a row are payload records. Then the program does something else. */
static unsigned post_some(struct sender *sender, unsigned count)
{
	unsigned payloads = 0;

	for (unsigned i = 0; i < count; i++)
		payloads += post(sender);
	sender->turn += 2;
	return payloads;
}

static void test_bursts_of_programs_that_poll_between_posts(void **state)
{
	struct sender sender;

	(void)state;
	make_sender(&sender);
	sender.burst = (struct send_burst){0};
	/* Too few in a row, however often. */
	for (unsigned i = 0; i < 100; i++)
		assert_int_equal(post_some(&sender, 1), 0);
	assert_int_equal(post_some(&sender, 20), 20 - BURST_POSTS - 1);
	/* The burst continues after each poll, with two or more posts in a row. */
	for (unsigned i = 0; i < 10; i++)
		assert_int_equal(post_some(&sender, 2 + i), 2 + i);
	/* A single post could have been the first of many; the next one is not. */
	assert_int_equal(post_some(&sender, 1), 1);
	for (unsigned i = 0; i < 100; i++)
		assert_int_equal(post_some(&sender, 1), 0);
	/* A record of another queue pair. */
	assert_true(post_some(&sender, 20) > 0);
	sender.out.tail += 64;
	assert_int_equal(post_some(&sender, 20), 20 - BURST_POSTS - 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_streak_is_halved_by_other_turns_and_ended_by_other_records),
		cmocka_unit_test(test_a_payload_record_needs_the_headers_of_its_template),
		cmocka_unit_test(test_a_message_matches_a_burst_by_length_and_flags),
		cmocka_unit_test(test_a_payload_record_needs_the_next_psn_and_the_end_of_the_ring),
		cmocka_unit_test(test_a_template_needs_a_streak_and_a_payload),
		cmocka_unit_test(test_a_burst_runs_until_another_turn_or_its_room_is_used),
		cmocka_unit_test(test_the_room_of_a_burst_is_the_least_of_its_limits),
		cmocka_unit_test(test_bursts_of_programs_that_poll_between_posts),
		cmocka_unit_test(
			test_payload_records_are_the_template_with_the_next_psn_and_their_payload),
		cmocka_unit_test(test_psns_wrap_at_24_bits),
		cmocka_unit_test(test_a_new_template_begins_a_new_burst),
		cmocka_unit_test(test_a_payload_record_that_was_put_back_keeps_its_psn),
		cmocka_unit_test(test_payload_records_without_a_template_are_left_alone),
		cmocka_unit_test(test_templates_of_absurd_sizes_are_refused),
		cmocka_unit_test(test_templates_without_payload_begin_no_burst),
		cmocka_unit_test(test_payload_records_smaller_than_the_payload_are_left_alone),
		cmocka_unit_test(
			test_templates_with_more_payload_than_payload_records_begin_no_burst),
		cmocka_unit_test(test_other_records_are_left_alone),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
