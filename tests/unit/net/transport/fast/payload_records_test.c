/* SPDX-License-Identifier: Apache-2.0 */
/* Payload records, which carry only the payload: they have the same effect as the packets they
 * stand for, which the engine takes in another world. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include <string.h>
#include "net/transport/fast/fast_receive.h"
#include "support/burst_of_one.h"
#include "support/endpoint_compare.h"
#include "support/rc_pair.h"
#include "support/sent_packet.h"

struct world {
	struct rc_pair pair;
	bool is_fast;
};

static struct world worlds[2];

static void connect_worlds(enum qp_type type)
{
	struct endpoint_options options = endpoint_options_default(type);

	/* The PSN wraps soon. */
	options.sq_psn = options.rq_psn = 0xfffffe;
	for (unsigned i = 0; i < 2; i++) {
		memset(&worlds[i], 0, sizeof(worlds[i]));
		worlds[i].is_fast = i == 1;
		rc_pair_connect_with(&worlds[i].pair, &options);
	}
	endpoint_give_rings(&worlds[1].pair.b);
}

static void release_worlds(void)
{
	rc_pair_release(&worlds[0].pair);
	rc_pair_release(&worlds[1].pair);
}

static void compare_worlds(void)
{
	endpoint_count_completions(&worlds[1].pair.b);
	endpoint_compare(&worlds[0].pair.a, &worlds[1].pair.a);
	endpoint_compare(&worlds[0].pair.b, &worlds[1].pair.b);
	assert_memory_equal(worlds[0].pair.b.inbox.bytes, worlds[1].pair.b.inbox.bytes, AREA_BYTES);
}

/* Writes one more message of a. Returns the bytes of its packet. */
static uint32_t write_next(struct world *world, uint32_t size, uint8_t *ret_bytes)
{
	uint32_t byte_count;

	post_send(&world->pair, &world->pair.a, size);
	byte_count = sent_packet(&world->pair.a.qp, world->pair.now, ret_bytes);
	assert_int_not_equal(byte_count, 0);
	return byte_count;
}

/* Sends the next message to b. In the fast world it goes as a payload record if b takes it, and
 * is_payload_record says whether b does. */
static void send_next(struct world *world, uint32_t size, bool is_payload_record)
{
	struct qp *to = &world->pair.b.qp;
	struct packet decoded;
	uint8_t bytes[256];
	uint32_t byte_count = write_next(world, size, bytes);

	if (world->is_fast) {
		endpoint_count_completions(&world->pair.b);

		bool is_taken = receive_burst_of_one(to, world->pair.now, 1, bytes, byte_count);

		assert_int_equal(is_taken, is_payload_record);
		/* A single message is judged in the same way. */
		if (!is_taken)
			assert_false(fast_receive(to, world->pair.now, 1, &packet_source_fabric,
						  bytes, byte_count));
		endpoint_count_completions(&world->pair.b);
		if (is_taken)
			return;
	}
	assert_int_equal(packet_decode(bytes, byte_count, 1, &decoded), PACKET_OK);
	qp_receive(to, world->pair.now, &decoded);
}

/* A message that is refused leaves the receive template of its queue pair as useful as before.
 * Which bits may differ: fast_path_test.c and rx_burst_test.c. */
static void test_a_changed_bit_does_not_keep_the_next_message_out(void **state)
{
	static const enum qp_type types[] = {QP_RC, QP_UC, QP_UD};
	const unsigned bits = FAST_HEADER_BYTES * 8;

	(void)state;
	for (unsigned i = 0; i < 3 * bits; i++) {
		struct world *world = &worlds[1];
		struct endpoint *to = &world->pair.b;
		const unsigned bit = i / 3;
		uint8_t bytes[256], changed[256];
		uint32_t byte_count;
		bool is_taken;

		connect_worlds(types[i % 3]);
		for (unsigned j = 0; j < 3; j++)
			post_receive(&world->pair, to, 64);
		send_next(world, 8, true);
		byte_count = write_next(world, 8, bytes);
		memcpy(changed, bytes, sizeof(bytes));
		changed[bit / 8] ^= (uint8_t)(1 << bit % 8);
		assert_false(
			fast_receive(&to->qp, 0, 2, &packet_source_fabric, changed, byte_count));
		assert_false(
			fast_receive(&to->qp, 0, 1, &packet_source_fabric, bytes, byte_count - 4));
		is_taken = fast_receive(&to->qp, 0, 1, &packet_source_fabric, changed, byte_count);
		endpoint_count_completions(to);
		assert_int_equal(to->received.count, is_taken ? 2 : 1);
		if (is_taken && types[i % 3] != QP_UD) {
			/* It was the next one: the original is a duplicate now. */
			assert_false(receive_burst_of_one(&to->qp, 0, 1, bytes, byte_count));
			byte_count = write_next(world, 8, bytes);
		}
		assert_true(receive_burst_of_one(&to->qp, 0, 1, bytes, byte_count));
		release_worlds();
	}
}

static const enum qp_type plain_types[] = {QP_RC, QP_UC, QP_UD};

static void test_payload_records_do_what_their_packets_would_have_done(void **state)
{
	enum { REPEATS = 5, REPEAT_BYTES = 24 };

	(void)state;
	for (unsigned type = 0; type < 3; type++)
		for (uint32_t size = 1; size <= REPEAT_BYTES; size++) {
			connect_worlds(plain_types[type]);
			for (unsigned i = 0; i < 2; i++)
				for (unsigned j = 0; j < REPEATS; j++) {
					struct responder *responder =
						&worlds[i].pair.b.qp.responder;

					post_receive(&worlds[i].pair, &worlds[i].pair.b, 64);
					responder->ack_is_due = false; /* sent */
					send_next(&worlds[i], size, true);
					assert_int_equal(responder->ack_is_due,
							 plain_types[type] == QP_RC);
				}
			assert_int_equal(worlds[1].pair.b.received.count, REPEATS);
			compare_worlds();
			release_worlds();
		}
}

/* Another length, or a new epoch: the headers of each message say what it is. */
static void test_payload_records_of_all_lengths_are_taken_in_every_epoch(void **state)
{
	(void)state;
	for (unsigned type = 0; type < 3; type++) {
		connect_worlds(plain_types[type]);
		for (unsigned i = 0; i < 2; i++) {
			struct rc_pair *pair = &worlds[i].pair;
			struct endpoint *to = &pair->b;

			for (unsigned j = 0; j < 5; j++)
				post_receive(pair, to, 64);
			send_next(&worlds[i], 8, true); /* no message before */
			send_next(&worlds[i], 8, true);
			send_next(&worlds[i], 16, true); /* of another length */
			invalidate(&to->environment);
			send_next(&worlds[i], 16, true);
			invalidate(&to->environment);
			send_next(&worlds[i], 3, true);
			/* There is no receive request for it. */
			send_next(&worlds[i], 16, false);
			assert_int_equal(to->received.count, 5);
		}
		compare_worlds();
		release_worlds();
	}
}

/* The packet is taken each time, in both worlds, with whatever effect it then has. */
static void test_payload_records_that_are_not_admitted_are_not_taken(void **state)
{
	(void)state;
	for (unsigned type = 0; type < 3; type++) {
		connect_worlds(plain_types[type]);
		for (unsigned i = 0; i < 2; i++) {
			struct endpoint *to = &worlds[i].pair.b;

			post_receive(&worlds[i].pair, to, 64);
			post_receive(&worlds[i].pair, to, 64);
			send_next(&worlds[i], 8, true);
			to->port.pkeys[0] ^= 1;
			invalidate(&to->environment);
			send_next(&worlds[i], 8, false);
			assert_int_equal(to->port.pkey_violations, 1);
			assert_int_equal(to->received.count, 1);
		}
		compare_worlds();
		release_worlds();

		connect_worlds(plain_types[type]);
		for (unsigned i = 0; i < 2; i++) {
			struct endpoint *to = &worlds[i].pair.b;

			post_receive(&worlds[i].pair, to, 64);
			post_receive(&worlds[i].pair, to, 64);
			send_next(&worlds[i], 8, true);
			qp_enter_error(&to->qp, worlds[i].pair.now);
			send_next(&worlds[i], 8, false);
		}
		compare_worlds();
		release_worlds();
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_changed_bit_does_not_keep_the_next_message_out),
		cmocka_unit_test(test_payload_records_do_what_their_packets_would_have_done),
		cmocka_unit_test(test_payload_records_of_all_lengths_are_taken_in_every_epoch),
		cmocka_unit_test(test_payload_records_that_are_not_admitted_are_not_taken),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
