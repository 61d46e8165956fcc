/* SPDX-License-Identifier: Apache-2.0 */
/* RMPP between two agents over a wire that loses, repeats and reorders, on a virtual clock
 * (management 1.8). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/bytes.h"
#include "base/random.h"
#include "mgmt/mad/rmpp_engine.h"

enum { SA_OFFSET = 56, WIRE_MAX = 4096, LID_A = 1, LID_B = 2 };

struct flight {
	time_ns arrives_at;
	struct mad_message message;
};

/* One direction, with the percentages of MADs that are lost, repeated or reordered. */
struct wire {
	struct flight flights[WIRE_MAX];
	unsigned count;
	unsigned lost, repeated, delayed;
};

static struct rmpp a, b;
static struct wire a_to_b, b_to_a;
static struct random dice;
static time_ns now;
static struct rmpp_message received[64];
static unsigned received_count;
static struct rmpp_result results[64];
static unsigned result_count;

static int setup(void **state)
{
	(void)state;
	const struct rmpp_options options = {.transfers_max = 8};

	now = 0;
	received_count = 0;
	result_count = 0;
	memset(&a_to_b, 0, sizeof(a_to_b));
	memset(&b_to_a, 0, sizeof(b_to_a));
	dice = random_seeded(1);
	return rmpp_init(&a, &options) || rmpp_init(&b, &options);
}

static int teardown(void **state)
{
	(void)state;
	rmpp_release(&a);
	rmpp_release(&b);
	for (unsigned i = 0; i < received_count; i++)
		free(received[i].bytes);
	return 0;
}

static bool happens(unsigned percent)
{
	return random_below(&dice, 100) < percent;
}

static void put_on_wire(struct wire *wire, const struct mad_message *message)
{
	unsigned copies = happens(wire->lost) ? 0 : happens(wire->repeated) ? 2 : 1;

	while (copies--) {
		time_ns delay = happens(wire->delayed) ? random_below(&dice, MILLISECONDS(2)) : 0;

		assert_true(wire->count < WIRE_MAX);
		wire->flights[wire->count++] = (struct flight){
			.arrives_at = now + MICROSECONDS(10) + delay, .message = *message};
	}
}

static void send_all(struct rmpp *from, struct wire *wire)
{
	struct mad_message out[5];
	unsigned count;

	while ((count = rmpp_transmit(from, now, 5, out)) > 0) {
		for (unsigned i = 0; i < count; i++)
			put_on_wire(wire, &out[i]);
	}
}

static time_ns next_arrival(const struct wire *wire)
{
	time_ns next = TIME_NEVER;

	for (unsigned i = 0; i < wire->count; i++)
		next = time_earlier(next, wire->flights[i].arrives_at);
	return next;
}

/* A delivered message carries the address of its sender. */
static void deliver(struct wire *wire, struct rmpp *to, uint16_t from_lid)
{
	for (unsigned i = 0; i < wire->count;) {
		struct mad_message message = wire->flights[i].message;

		if (wire->flights[i].arrives_at > now) {
			i++;
			continue;
		}
		memmove(&wire->flights[i], &wire->flights[i + 1],
			(--wire->count - i) * sizeof(wire->flights[0]));
		message.address.lid = from_lid;
		assert_true(rmpp_mad_is_active(message.bytes));
		if (rmpp_receive(to, now, &message, &received[received_count]))
			received_count++;
	}
}

/* Runs until both sides wait only for the end of kept transfers. */
static void run_until(time_ns end)
{
	for (unsigned step = 0; step < 200000; step++) {
		send_all(&a, &a_to_b);
		send_all(&b, &b_to_a);
		while (rmpp_take_result(&a, &results[result_count]) ||
		       rmpp_take_result(&b, &results[result_count]))
			result_count++;

		time_ns next = time_earlier(next_arrival(&a_to_b), next_arrival(&b_to_a));

		next = time_earlier(next, time_earlier(rmpp_deadline(&a), rmpp_deadline(&b)));
		if (next > end) {
			now = end;
			return;
		}
		if (next > now)
			now = next;
		deliver(&a_to_b, &b, LID_A);
		deliver(&b_to_a, &a, LID_B);
	}
	fail_msg("it goes on for ever");
}

static struct rmpp_message make(uint8_t method, uint64_t transaction_id, uint16_t lid,
				size_t data_bytes)
{
	const struct mad_header header = {
		.base_version = 1,
		.management_class = MAD_CLASS_SUBNET_ADMINISTRATION,
		.class_version = 2,
		.method = method,
		.transaction_id = transaction_id,
		.attribute_id = 0x11,
	};
	struct rmpp_message message = {
		.address = {.lid = lid, .qpn = 1},
		.bytes = calloc(1, SA_OFFSET + data_bytes),
		.byte_count = SA_OFFSET + data_bytes,
	};

	assert_non_null(message.bytes);
	for (size_t i = 0; i < data_bytes; i++)
		message.bytes[SA_OFFSET + i] = (uint8_t)(i * 31 + i / 200 + transaction_id);
	mad_header_encode(&header, message.bytes);
	return message;
}

static void expect_data(const struct rmpp_message *message, uint64_t transaction_id,
			size_t data_bytes)
{
	assert_int_equal(message->byte_count, SA_OFFSET + data_bytes);
	assert_int_equal(get_be64(message->bytes + 8), transaction_id);
	for (size_t i = 0; i < data_bytes; i++)
		assert_int_equal(message->bytes[SA_OFFSET + i],
				 (uint8_t)(i * 31 + i / 200 + transaction_id));
}

static void send_from_a(uint64_t transaction_id, size_t data_bytes)
{
	struct rmpp_message message = make(0x92, transaction_id, LID_B, data_bytes);
	const struct rmpp_send_options options = {.tries = 40,
						  .timeout = MILLISECONDS(50),
						  .purpose = {.detail = (uint32_t)transaction_id}};

	assert_int_equal(rmpp_send(&a, &message, &options), 0);
}

static void test_message_of_every_size_arrives_whole(void **state)
{
	static const size_t sizes[] = {0, 1, 199, 200, 201, 399, 400, 401, 12800, 13000, 100000};

	for (unsigned i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		send_from_a(i + 1, sizes[i]);
		run_until(now + SECONDS(20));
		assert_int_equal(received_count, i + 1);
		expect_data(&received[i], i + 1, sizes[i]);
		assert_int_equal(result_count, i + 1);
		assert_int_equal(results[i].status, RMPP_STATUS_NORMAL);
		assert_int_equal(results[i].purpose.detail, i + 1);
	}
	(void)state;
	/* After the time for retransmissions nothing is left. */
	run_until(now + SECONDS(60));
	assert_int_equal(a.transfer_count, 0);
	assert_int_equal(b.transfer_count, 0);
	assert_int_equal(b.received_bytes, 0);
	assert_int_equal(rmpp_deadline(&a), TIME_NEVER);
	assert_int_equal(rmpp_deadline(&b), TIME_NEVER);
}

/* Twenty seeds, three messages at once; each arrives exactly once. */
static void test_loss_repetition_and_reordering_change_nothing(void **state)
{
	for (unsigned seed = 1; seed <= 20; seed++) {
		teardown(state);
		setup(state);
		dice = random_seeded(seed);
		a_to_b.lost = b_to_a.lost = (unsigned)random_below(&dice, 30);
		a_to_b.repeated = b_to_a.repeated = (unsigned)random_below(&dice, 30);
		a_to_b.delayed = b_to_a.delayed = (unsigned)random_below(&dice, 60);
		for (unsigned i = 0; i < 3; i++)
			send_from_a(100 + i, 5000 * (i + 1));
		run_until(now + SECONDS(39));
		if (received_count != 3 || result_count != 3)
			fail_msg("seed %u: %u received, %u results", seed, received_count,
				 result_count);
		for (unsigned i = 0; i < 3; i++) {
			uint64_t id = get_be64(received[i].bytes + 8);

			expect_data(&received[i], id, 5000 * (size_t)(id - 99));
			assert_int_equal(results[i].status, RMPP_STATUS_NORMAL);
		}
		run_until(now + SECONDS(120));
		assert_int_equal(a.transfer_count, 0);
		assert_int_equal(b.transfer_count, 0);
	}
}

static void test_peers_with_the_same_transaction_id_are_kept_apart(void **state)
{
	(void)state;
	struct rmpp_message message = make(0x92, 5, LID_B, 10);
	const struct rmpp_send_options options = {0};

	assert_int_equal(rmpp_send(&a, &message, &options), 0);

	struct rmpp_message again = make(0x92, 5, LID_B, 10);

	assert_int_equal(rmpp_send(&a, &again, &options), -EEXIST);
	again.address.lid = 9;
	assert_int_equal(rmpp_send(&a, &again, &options), 0);
	struct rmpp_message other_qp = make(0x92, 5, LID_B, 10);

	other_qp.address.qpn = 77;
	assert_int_equal(rmpp_send(&a, &other_qp, &options), 0);
	assert_int_equal(a.transfer_count, 3);
}

static void test_silent_peer_fails_after_its_tries(void **state)
{
	(void)state;
	struct rmpp_message message = make(0x92, 5, LID_B, 1000);
	const struct rmpp_send_options options = {.tries = 3, .timeout = MILLISECONDS(10)};

	a_to_b.lost = 100;
	assert_int_equal(rmpp_send(&a, &message, &options), 0);
	run_until(MILLISECONDS(29));
	assert_int_equal(result_count, 0);
	run_until(MILLISECONDS(31));
	assert_int_equal(result_count, 1);
	assert_int_equal(results[0].status, RMPP_STATUS_TOO_MANY_RETRIES);
	assert_int_equal(a.transfer_count, 0);
}

static void test_vanished_sender_is_given_up_and_its_memory_freed(void **state)
{
	(void)state;
	send_from_a(1, 3000);
	send_all(&a, &a_to_b);
	now += MICROSECONDS(10);
	deliver(&a_to_b, &b, LID_A);
	assert_int_equal(b.transfer_count, 1);
	assert_true(b.received_bytes > 0);
	rmpp_cancel(&a, 1);
	run_until(SECONDS(41));
	assert_int_equal(b.transfer_count, 0);
	assert_int_equal(b.received_bytes, 0);
	assert_int_equal(result_count, 0);
}

static void test_flood_of_transfers_is_stopped_and_bounded(void **state)
{
	(void)state;
	struct mad_message out[32];
	unsigned stops = 0;

	for (unsigned i = 0; i < 12; i++) {
		struct rmpp_sender sender;
		struct rmpp_message message = make(0x92, 1000 + i, LID_B, 1000);
		const struct rmpp_sender_options options = {.tries = 1, .timeout = 1};
		struct mad_message first;

		rmpp_sender_begin(&sender, &options, &message.address, message.bytes,
				  message.byte_count);
		assert_int_equal(rmpp_sender_transmit(&sender, 0, 1, &first), 1);
		assert_false(rmpp_receive(&b, 0, &first, &received[0]));
		free(message.bytes);
	}
	assert_int_equal(b.transfer_count, 8);

	unsigned count = rmpp_transmit(&b, 0, 32, out);

	for (unsigned i = 0; i < count; i++) {
		struct rmpp_header header;

		rmpp_header_decode(out[i].bytes, &header);
		if (header.type != RMPP_TYPE_STOP)
			continue;
		assert_int_equal(header.status, RMPP_STATUS_RESOURCES_EXHAUSTED);
		stops++;
	}
	assert_int_equal(stops, 4);
}

static void test_finished_transfers_make_way_for_new_ones(void **state)
{
	(void)state;
	for (unsigned i = 0; i < 20; i++) {
		send_from_a(1 + i, 500);
		run_until(now + MILLISECONDS(100));
		assert_int_equal(received_count, i + 1);
	}
	assert_int_equal(b.transfer_count, 8);
}

static void test_messages_being_received_share_a_bound(void **state)
{
	(void)state;
	const struct rmpp_options options = {
		.byte_count_max = 100000, .received_bytes_max = 6000, .transfers_max = 8};

	rmpp_release(&b);
	assert_int_equal(rmpp_init(&b, &options), 0);
	send_from_a(1, 20000);
	run_until(now + SECONDS(1));
	assert_int_equal(result_count, 1);
	assert_int_equal(results[0].status, RMPP_STATUS_RESOURCES_EXHAUSTED);
	assert_int_equal(b.received_bytes, 0);
	send_from_a(2, 3000);
	run_until(now + SECONDS(1));
	assert_int_equal(received_count, 1);
}

/* Both the request and the response of GetMulti are long. */
static void test_double_sided_transfer_and_its_answer(void **state)
{
	(void)state;
	struct rmpp_message request = make(MAD_GET_MULTI, 77, LID_B, 700);
	const struct rmpp_send_options double_sided = {.sides = RMPP_DOUBLE_SIDED};
	const struct rmpp_send_options single_sided = {0};

	assert_int_equal(rmpp_send(&a, &request, &double_sided), 0);
	run_until(now + SECONDS(1));
	assert_int_equal(received_count, 1);
	assert_int_equal(result_count, 1);

	struct rmpp_message answer = make(MAD_GET_MULTI_RESPONSE, 77, LID_A, 900);

	assert_int_equal(rmpp_send(&b, &answer, &single_sided), 0);
	run_until(now + SECONDS(1));
	assert_int_equal(received_count, 2);
	expect_data(&received[1], 77, 900);
	assert_int_equal(result_count, 2);
	run_until(now + SECONDS(60));
	assert_int_equal(a.transfer_count + b.transfer_count, 0);
}

static void test_nonsense_without_a_transfer_is_aborted_or_ignored(void **state)
{
	(void)state;
	static const struct {
		uint8_t version, type, flags, status;
		uint32_t segment;
		enum rmpp_status answer; /* NORMAL: none */
	} cases[] = {
		{1, RMPP_TYPE_DATA, RMPP_FLAG_ACTIVE, 0, 1, RMPP_STATUS_BAD_SEGMENT},
		{1, RMPP_TYPE_DATA, RMPP_FLAG_ACTIVE | RMPP_FLAG_FIRST, 0, 2,
		 RMPP_STATUS_BAD_SEGMENT},
		{1, RMPP_TYPE_DATA, RMPP_FLAG_ACTIVE | RMPP_FLAG_FIRST, 9, 1,
		 RMPP_STATUS_BAD_STATUS},
		{2, RMPP_TYPE_DATA, RMPP_FLAG_ACTIVE | RMPP_FLAG_FIRST, 0, 1,
		 RMPP_STATUS_BAD_VERSION},
		{1, 200, RMPP_FLAG_ACTIVE, 0, 1, RMPP_STATUS_BAD_TYPE},
		{1, RMPP_TYPE_DATA, RMPP_FLAG_ACTIVE, 0, 5, RMPP_STATUS_NORMAL},
		{1, RMPP_TYPE_ACK, RMPP_FLAG_ACTIVE, 0, 5, RMPP_STATUS_NORMAL},
		{1, RMPP_TYPE_STOP, RMPP_FLAG_ACTIVE, 1, 0, RMPP_STATUS_NORMAL},
		{1, RMPP_TYPE_ABORT, RMPP_FLAG_ACTIVE, 118, 0, RMPP_STATUS_NORMAL},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct rmpp_message message = make(0x92, i, LID_A, 0);
		struct mad_message mad = {.address = message.address};
		const struct rmpp_header header = {
			.version = cases[i].version,
			.type = cases[i].type,
			.flags = cases[i].flags,
			.status = cases[i].status,
			.segment_number = cases[i].segment,
		};
		struct rmpp_header answer;
		struct mad_message out;

		memcpy(mad.bytes, message.bytes, SA_OFFSET);
		free(message.bytes);
		rmpp_header_encode(&header, mad.bytes);
		assert_false(rmpp_receive(&b, 0, &mad, &received[0]));
		assert_int_equal(rmpp_transmit(&b, 0, 1, &out),
				 cases[i].answer != RMPP_STATUS_NORMAL);
		assert_int_equal(b.transfer_count, 0);
		if (cases[i].answer == RMPP_STATUS_NORMAL)
			continue;
		rmpp_header_decode(out.bytes, &answer);
		assert_int_equal(answer.type, RMPP_TYPE_ABORT);
		assert_int_equal(answer.status, cases[i].answer);
		assert_int_equal(out.bytes[3], 0x12);
	}
}

static void test_refused_are_messages_of_classes_without_rmpp(void **state)
{
	(void)state;
	struct rmpp_message message = make(0x81, 1, LID_B, 0);
	const struct rmpp_send_options options = {0};

	message.bytes[1] = MAD_CLASS_PERFORMANCE;
	assert_int_equal(rmpp_send(&a, &message, &options), -EINVAL);
	message.bytes[1] = MAD_CLASS_SUBNET_ADMINISTRATION;
	message.byte_count = SA_OFFSET - 1;
	assert_int_equal(rmpp_send(&a, &message, &options), -EINVAL);
	free(message.bytes);
}

#define rmpp_test(function) cmocka_unit_test_setup_teardown(function, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		rmpp_test(test_message_of_every_size_arrives_whole),
		rmpp_test(test_loss_repetition_and_reordering_change_nothing),
		rmpp_test(test_peers_with_the_same_transaction_id_are_kept_apart),
		rmpp_test(test_silent_peer_fails_after_its_tries),
		rmpp_test(test_vanished_sender_is_given_up_and_its_memory_freed),
		rmpp_test(test_flood_of_transfers_is_stopped_and_bounded),
		rmpp_test(test_finished_transfers_make_way_for_new_ones),
		rmpp_test(test_messages_being_received_share_a_bound),
		rmpp_test(test_double_sided_transfer_and_its_answer),
		rmpp_test(test_nonsense_without_a_transfer_is_aborted_or_ignored),
		rmpp_test(test_refused_are_messages_of_classes_without_rmpp),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
