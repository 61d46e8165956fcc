/* SPDX-License-Identifier: Apache-2.0 */
/* Payload records, which carry only the payload: they have the same effect as the packets they
 * stand for, which the engine takes in another world. Covers: net/transport/fast/rx_short.c */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include <string.h>
#include "net/transport/fast/short_packets.h"
#include "support/burst_of_one.h"
#include "support/endpoint_compare.h"
#include "support/rc_pair.h"

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
	struct fast_packet packet;

	post_send(&world->pair, &world->pair.a, size);
	assert_true(fast_next(&world->pair.a.qp, &packet));
	fast_write(&world->pair.a.qp, world->pair.now, &packet, ret_bytes);
	retry_date(&world->pair.a.qp, world->pair.now);
	return packet.byte_count;
}

/* Sends the next message to b. In the fast world it goes as a payload record if b takes it, and
 * is_payload_record says whether b does. */
static void send_next(struct world *world, uint32_t size, bool is_payload_record)
{
	struct qp *to = &world->pair.b.qp;
	struct packet decoded;
	uint8_t bytes[256];
	uint32_t byte_count = write_next(world, size, bytes);
	uint32_t payload_bytes = (size + 3) & ~3u;

	if (world->is_fast) {
		endpoint_count_completions(&world->pair.b);

		bool is_taken = receive_burst_of_one(
			to, world->pair.now, bytes + byte_count - payload_bytes, payload_bytes);

		assert_int_equal(is_taken, is_payload_record);
		if (!is_taken)
			is_taken = fast_receive(to, world->pair.now, 1, bytes, bytes, byte_count);
		endpoint_count_completions(&world->pair.b);
		if (is_taken)
			return;
	}
	assert_int_equal(packet_decode(bytes, byte_count, 1, &decoded), PACKET_OK);
	qp_receive(to, world->pair.now, &decoded);
}

/* The header cache takes a datagram only if it equals the one before in every bit except the PSN
 * word, which is not compared. */
static void test_the_header_cache_matches_no_datagram_with_a_changed_bit(void **state)
{
	enum { PSN_BIT = FAST_PSN_OFFSET * 8 };
	const unsigned bits = (FAST_HEADER_BYTES + DETH_BYTES) * 8;

	(void)state;
	for (unsigned bit = 0; bit < bits; bit++) {
		struct world *world = &worlds[1];
		struct qp *to = &world->pair.b.qp;
		uint8_t bytes[256];
		uint32_t byte_count;

		connect_worlds(QP_UD);
		for (unsigned i = 0; i < 3; i++)
			post_receive(&world->pair, &world->pair.b, 64);
		send_next(world, 8, false);
		byte_count = write_next(world, 8, bytes);
		bytes[bit / 8] ^= (uint8_t)(1 << bit % 8);
		assert_int_equal(fast_receive_predicted(to, 0, 1, bytes, byte_count),
				 bit / 32 == PSN_BIT / 32);
		/* The cache entry still holds. */
		assert_true(receive_burst_of_one(to, 0, bytes + byte_count - 8, 8));
		release_worlds();
	}
}

/* It does not take a connection's packet with a changed bit either; there the PSN must be the next
 * one. The highest bits of the PSN word are the ACK request and reserved bits. */
static void test_the_header_cache_matches_no_message_with_a_changed_bit(void **state)
{
	enum { PSN_BIT = FAST_PSN_OFFSET * 8 };
	const unsigned bits = FAST_HEADER_BYTES * 8;

	(void)state;
	for (unsigned bit = 0; bit < bits; bit++) {
		struct world *world = &worlds[1];
		struct qp *to = &world->pair.b.qp;
		const struct rx_header_cache *cache;
		uint8_t bytes[256];
		uint32_t byte_count;

		connect_worlds(QP_RC);
		cache = rx_header_cache(to);
		for (unsigned i = 0; i < 3; i++)
			post_receive(&world->pair, &world->pair.b, 64);
		send_next(world, 8, false);
		byte_count = write_next(world, 8, bytes);
		bytes[bit / 8] ^= (uint8_t)(1 << bit % 8);

		bool is_match = bit / 8 == PSN_BIT / 8;

		assert_null(fast_receive_expected(cache, 0, 2, bytes, byte_count));
		assert_null(fast_receive_expected(cache, 0, 1, bytes, byte_count - 4));
		assert_ptr_equal(fast_receive_expected(cache, 0, 1, bytes, byte_count),
				 is_match ? to : NULL);
		endpoint_count_completions(&world->pair.b);
		assert_int_equal(world->pair.b.received.count, is_match ? 2 : 1);
		/* The cache entry still holds. */
		assert_true(receive_burst_of_one(to, 0, bytes + byte_count - 8, 8));
		release_worlds();
	}
}

/* Other functions receive these. */
static void test_datagrams_and_destroyed_queue_pairs_match_no_header_cache(void **state)
{
	static const enum qp_type others[] = {QP_UC, QP_UD};
	struct endpoint *to = &worlds[1].pair.b;
	uint8_t bytes[256];
	uint32_t byte_count;

	(void)state;
	for (unsigned i = 0; i < 2; i++) {
		connect_worlds(others[i]);
		post_receive(&worlds[1].pair, to, 64);
		post_receive(&worlds[1].pair, to, 64);
		send_next(&worlds[1], 8, false);
		byte_count = write_next(&worlds[1], 8, bytes);
		assert_null(
			fast_receive_expected(rx_header_cache(&to->qp), 0, 1, bytes, byte_count));
		release_worlds();
	}
	connect_worlds(QP_RC);
	post_receive(&worlds[1].pair, to, 64);
	post_receive(&worlds[1].pair, to, 64);
	send_next(&worlds[1], 8, false);
	byte_count = write_next(&worlds[1], 8, bytes);
	fast_release(&to->qp);
	assert_null(fast_receive_expected(rx_header_cache(&to->qp), 0, 1, bytes, byte_count));
	release_worlds();
}

static void copy_otherwise(const struct payload *payload, size_t from, size_t byte_count,
			   uint8_t *ret_bytes)
{
	(void)payload, (void)from, (void)byte_count, (void)ret_bytes;
	fail_msg("nothing was to be copied");
}

/* Its memory may be unmapped: only guarded_copy may write there (runtime/memory/guarded_copy.h). */
static void test_a_datagram_with_its_own_copy_function_matches_no_header_cache(void **state)
{
	struct endpoint *to = &worlds[1].pair.b;
	uint8_t bytes[256];
	uint32_t byte_count;

	(void)state;
	connect_worlds(QP_UD);
	for (unsigned i = 0; i < 3; i++)
		post_receive(&worlds[1].pair, to, 64);
	send_next(&worlds[1], 8, false);
	byte_count = write_next(&worlds[1], 8, bytes);
	to->environment.copy_datagram = copy_otherwise;
	assert_false(fast_receive_predicted(&to->qp, 0, 1, bytes, byte_count));
	assert_false(receive_burst_of_one(&to->qp, 0, bytes + byte_count - 8, 8));
	to->environment.copy_datagram = NULL;
	assert_true(fast_receive_predicted(&to->qp, 0, 1, bytes, byte_count));
	release_worlds();
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
					send_next(&worlds[i], size, j > 0);
					assert_int_equal(responder->ack_is_due,
							 plain_types[type] == QP_RC);
				}
			assert_int_equal(worlds[1].pair.b.received.count, REPEATS);
			compare_worlds();
			release_worlds();
		}
}

/* The packet is taken each time, in both worlds, with whatever effect it then has. */
static void test_payload_records_without_a_valid_template_are_not_taken(void **state)
{
	(void)state;
	for (unsigned type = 0; type < 3; type++) {
		connect_worlds(plain_types[type]);
		for (unsigned i = 0; i < 2; i++) {
			struct rc_pair *pair = &worlds[i].pair;
			struct endpoint *to = &pair->b;

			for (unsigned j = 0; j < 5; j++)
				post_receive(pair, to, 64);
			send_next(&worlds[i], 8, false); /* no message before */
			send_next(&worlds[i], 8, true);
			send_next(&worlds[i], 16, false); /* of another length */
			send_next(&worlds[i], 16, true);
			to->environment.port_changes++;
			send_next(&worlds[i], 16, false);
			/* There is no receive request for it. */
			send_next(&worlds[i], 16, false);
			assert_int_equal(to->received.count, 5);
		}
		compare_worlds();
		release_worlds();

		connect_worlds(plain_types[type]);
		for (unsigned i = 0; i < 2; i++) {
			struct endpoint *to = &worlds[i].pair.b;

			post_receive(&worlds[i].pair, to, 64);
			post_receive(&worlds[i].pair, to, 64);
			send_next(&worlds[i], 8, false);
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
		cmocka_unit_test(test_the_header_cache_matches_no_datagram_with_a_changed_bit),
		cmocka_unit_test(test_the_header_cache_matches_no_message_with_a_changed_bit),
		cmocka_unit_test(test_datagrams_and_destroyed_queue_pairs_match_no_header_cache),
		cmocka_unit_test(
			test_a_datagram_with_its_own_copy_function_matches_no_header_cache),
		cmocka_unit_test(test_payload_records_do_what_their_packets_would_have_done),
		cmocka_unit_test(test_payload_records_without_a_valid_template_are_not_taken),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
