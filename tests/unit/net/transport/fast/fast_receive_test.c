/* SPDX-License-Identifier: Apache-2.0 */
/* Receiving single messages on the fast path: what the receive template rests on, beside the
 * headers. fast_path_test.c compares the fast path with the engine. */
#include "net/transport/fast/fast_receive.h"

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>
#include "support/rc_pair.h"
#include "support/sent_packet.h"

enum { SPACE = 512, PORT = 1 };

static struct rc_pair pair;

static void connect(enum qp_type type)
{
	const struct endpoint_options options = endpoint_options_default(type);

	rc_pair_connect_with(&pair, &options);
	for (unsigned i = 0; i < 8; i++)
		post_receive(&pair, &pair.b, 256);
}

/* Writes the next message of a: of the size, with this opcode. Returns the length of the packet. */
static uint32_t write_next(uint32_t size, enum send_opcode opcode, uint8_t *ret_bytes)
{
	const struct sge sge = area_sge(&pair.a.outbox, pair.a.outbox.bytes, size);
	const struct send_request request = {
		.opcode = opcode, .immediate_or_rkey = 0x12345678, .sge_count = 1, .sges = &sge};
	const uint32_t byte_count = posted_packet(&pair.a.qp, pair.now, &request, ret_bytes);

	assert_int_not_equal(byte_count, 0);
	return byte_count;
}

static bool receive(uint8_t port_number, const uint8_t *bytes, uint32_t byte_count)
{
	return fast_receive(&pair.b.qp, pair.now, port_number, &packet_source_fabric, bytes,
			    byte_count);
}

static bool receive_by_template(const uint8_t *bytes, uint32_t byte_count)
{
	return fast_receive_by_template(&pair.b.qp, pair.now, PORT, bytes, byte_count);
}

/* The first message of b, which is taken by its headers and leaves a template. */
static void receive_first(uint32_t size, enum send_opcode opcode)
{
	uint8_t bytes[SPACE];
	const uint32_t byte_count = write_next(size, opcode, bytes);

	assert_false(receive_by_template(bytes, byte_count));
	assert_true(receive(PORT, bytes, byte_count));
	expect_received(&pair.b, COMPLETION_SUCCESS);
}

static const enum qp_type types[] = {QP_RC, QP_UC};

/* Each message finds the template that the one before it has left. */
static void test_messages_with_the_last_headers_are_received_by_the_template(void **state)
{
	static const uint32_t sizes[] = {0, 1, 8, 13, 256};

	(void)state;
	for (unsigned i = 0; i < 2 * ARRAY_COUNT(sizes); i++) {
		connect(types[i % 2]);
		receive_first(sizes[i / 2], SEND_SEND);
		for (unsigned j = 0; j < 5; j++) {
			uint8_t bytes[SPACE];
			const struct completion *received;
			uint32_t byte_count;

			fill_pattern(pair.a.outbox.bytes, sizes[i / 2], j);
			byte_count = write_next(sizes[i / 2], SEND_SEND, bytes);
			assert_true(receive_by_template(bytes, byte_count));
			received = expect_received(&pair.b, COMPLETION_SUCCESS);
			assert_int_equal(received->byte_count, sizes[i / 2]);
			assert_int_equal(received->qpn, pair.b.qp.qpn);
			assert_int_equal(received->source_qpn, pair.a.qp.qpn);
			/* A duplicate. */
			assert_false(receive(PORT, bytes, byte_count));
		}
		rc_pair_release(&pair);
	}
}

/* The record of a message may claim any length, and any port. */
static void test_the_length_must_be_that_of_the_headers(void **state)
{
	static const enum send_opcode opcodes[] = {SEND_SEND, SEND_SEND_IMMEDIATE};

	(void)state;
	for (unsigned i = 0; i < 8; i++) {
		const uint32_t size = i & 4 ? 0 : 8;
		uint8_t bytes[SPACE] = {0};
		uint32_t byte_count;

		connect(types[i & 1]);
		receive_first(size, opcodes[i >> 1 & 1]);
		byte_count = write_next(size, opcodes[i >> 1 & 1], bytes);
		/* Of the engine's packets, none is shorter than its headers. */
		for (uint32_t wrong = FAST_HEADER_BYTES; wrong < 100; wrong++)
			if (wrong != byte_count)
				assert_false(receive(PORT, bytes, wrong));
		assert_false(receive(PORT, bytes, UINT32_MAX));
		for (unsigned port_number = 0; port_number < 256; port_number++)
			if (port_number != PORT)
				assert_false(receive((uint8_t)port_number, bytes, byte_count));
		assert_true(receive(PORT, bytes, byte_count));
		rc_pair_release(&pair);
	}
}

/* Immediate data is in the completion, so the next message can't have the same one. */
static void test_a_message_with_immediate_data_leaves_no_completion_behind(void **state)
{
	(void)state;
	for (unsigned i = 0; i < ARRAY_COUNT(types); i++) {
		uint8_t bytes[SPACE];
		uint32_t byte_count;

		connect(types[i]);
		receive_first(8, SEND_SEND_IMMEDIATE);
		byte_count = write_next(8, SEND_SEND_IMMEDIATE, bytes);
		assert_false(receive_by_template(bytes, byte_count));
		put_be32(bytes + FAST_HEADER_BYTES, 0xabcdef01);
		assert_true(receive(PORT, bytes, byte_count));
		assert_int_equal(
			get_be32((const uint8_t *)&expect_received(&pair.b, COMPLETION_SUCCESS)
					 ->immediate_or_rkey),
			0xabcdef01);
		byte_count = write_next(8, SEND_SEND, bytes);
		assert_false(receive_by_template(bytes, byte_count));
		assert_true(receive(PORT, bytes, byte_count));
		assert_int_equal(expect_received(&pair.b, COMPLETION_SUCCESS)->flags, 0);
		rc_pair_release(&pair);
	}
}

static void test_nothing_is_received_by_the_template_of_another_epoch(void **state)
{
	uint8_t bytes[SPACE];
	uint32_t byte_count;

	(void)state;
	connect(QP_RC);
	receive_first(8, SEND_SEND);
	byte_count = write_next(8, SEND_SEND, bytes);
	invalidate(&pair.b.environment);
	assert_false(receive_by_template(bytes, byte_count));
	/* The next message makes the template anew. */
	assert_true(receive(PORT, bytes, byte_count));
	byte_count = write_next(8, SEND_SEND, bytes);
	assert_true(receive_by_template(bytes, byte_count));
	rc_pair_release(&pair);
}

/* A server that never sends stays in RTR. Its first packet raises an event, so the engine takes it.
 */
static void test_a_queue_pair_in_rtr_receives_once_it_is_established(void **state)
{
	struct endpoint_options options = endpoint_options_default(QP_RC);
	uint8_t bytes[2][SPACE];
	uint32_t byte_count = 0;
	struct packet first;

	(void)state;
	rc_pair_init(&pair, &options, &options);
	endpoint_to_init(&pair.a);
	endpoint_to_init(&pair.b);
	endpoint_to_rtr(&pair.a, &pair.b);
	endpoint_to_rtr(&pair.b, &pair.a);
	endpoint_to_rts(&pair.a);
	for (unsigned i = 0; i < 4; i++)
		post_receive(&pair, &pair.b, 64);
	for (unsigned i = 0; i < 2; i++)
		byte_count = write_next(8, SEND_SEND, bytes[i]);
	assert_false(receive(PORT, bytes[0], byte_count));
	assert_int_equal(packet_decode(bytes[0], byte_count, 1, &first), PACKET_OK);
	qp_receive(&pair.b.qp, 0, &first);
	assert_int_equal(pair.b.event_count, 1);
	assert_true(receive(PORT, bytes[1], byte_count));
	assert_int_equal(pair.b.received.count, 2);
	rc_pair_release(&pair);
}

static bool receive_from(const struct packet_source *source, const uint8_t *bytes,
			 uint32_t byte_count)
{
	return fast_receive(&pair.b.qp, pair.now, PORT, source, bytes, byte_count);
}

/* Rings of two programs: the one at the peer's port, and one that forges the peer's headers. */
static void test_a_template_holds_for_the_ring_that_may_bring_it(void **state)
{
	static const enum qp_type all[] = {QP_RC, QP_UC, QP_UD};
	uint8_t bytes[SPACE];

	(void)state;
	for (unsigned type = 0; type < 3; type++) {
		struct packet_source peer = {0}, stranger = {0};
		struct packet_grant grant = {
			.pkey = 0xffff,
			.port = 3 << 8 | 1,
		};
		uint32_t byte_count;

		connect(all[type]);
		pair.b.environment.adapter_index = 3;
		post_send(&pair, &pair.a, 8);
		byte_count = sent_packet(&pair.a.qp, pair.now, bytes);
		grant.slid = get_be16(bytes + LRH_SLID_OFFSET);
		grant.dlid = get_be16(bytes + LRH_DLID_OFFSET);
		assert_false(receive_from(&peer, bytes, byte_count));
		assert_int_equal(packet_source_grant(&peer, &grant), 0);
		grant.slid++;
		assert_int_equal(packet_source_grant(&stranger, &grant), 0);
		assert_true(receive_from(&peer, bytes, byte_count));
		post_send(&pair, &pair.a, 8);
		byte_count = sent_packet(&pair.a.qp, pair.now, bytes);
		assert_false(receive_from(&stranger, bytes, byte_count));
		assert_true(receive_from(&peer, bytes, byte_count));
		post_send(&pair, &pair.a, 8);
		byte_count = sent_packet(&pair.a.qp, pair.now, bytes);
		grant.slid--;
		packet_source_revoke(&peer, &grant);
		invalidate(&pair.b.environment);
		assert_false(receive_from(&peer, bytes, byte_count));
		/* The adapter's other port, and another adapter's. */
		grant.port++;
		assert_int_equal(packet_source_grant(&peer, &grant), 0);
		grant.port = 1;
		assert_int_equal(packet_source_grant(&peer, &grant), 0);
		assert_false(receive_from(&peer, bytes, byte_count));
		pair.b.environment.adapter_index = 0;
		assert_true(receive_from(&peer, bytes, byte_count));
		packet_source_release(&peer);
		packet_source_release(&stranger);
		rc_pair_release(&pair);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_messages_with_the_last_headers_are_received_by_the_template),
		cmocka_unit_test(test_the_length_must_be_that_of_the_headers),
		cmocka_unit_test(test_a_message_with_immediate_data_leaves_no_completion_behind),
		cmocka_unit_test(test_nothing_is_received_by_the_template_of_another_epoch),
		cmocka_unit_test(test_a_queue_pair_in_rtr_receives_once_it_is_established),
		cmocka_unit_test(test_a_template_holds_for_the_ring_that_may_bring_it),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
