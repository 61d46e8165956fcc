/* SPDX-License-Identifier: Apache-2.0 */
/* The packets of a request: opcodes, trains, bytes, and when they ask for an answer (transport
 * 4.2). */
#include "support/rc_pair.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include "net/memory/gaps.h"
#include "net/transport/request_packet.h"
#include "wire/mtu.h"
#include "wire/packet.h"

static struct rc_pair pair;

static void test_long_message_asks_for_an_acknowledge_every_64_packets(void **state)
{
	struct packet packets[64];
	unsigned asked = 0;

	(void)state;
	rc_pair_connect(&pair, MTU_256);
	post_send(&pair, &pair.a, 200 * 256);
	for (unsigned i = 0; i < 200;) {
		unsigned count = qp_transmit(&pair.a.qp, pair.now, 64, 1, packets);

		for (unsigned j = 0; j < count; j++, i++)
			if (packets[j].bth.ack_request) {
				assert_true(i == 63 || i == 127 || i == 191 || i == 199);
				asked++;
			}
	}
	assert_int_equal(asked, 4);
	rc_pair_release(&pair);
}

static void test_trains_are_cut_at_message_ends_and_whole_mtus(void **state)
{
	(void)state;
	rc_pair_connect(&pair, MTU_256);
	pair.train_bytes_max = 1000;
	post_receive(&pair, &pair.b, 2000);
	post_receive(&pair, &pair.b, 2000);
	post_send(&pair, &pair.a, 1700);
	post_send(&pair, &pair.a, 600);
	run_until_idle(&pair);
	expect_wire(&pair.a_to_b, "FIRST@0x3 MIDDLE@3x3 LAST@6 ONLY@7x3");
	expect_wire(&pair.b_to_a, "ACK@9");
	expect_received(&pair.b, COMPLETION_SUCCESS);
	assert_int_equal(expect_received(&pair.b, COMPLETION_SUCCESS)->byte_count, 600);
	rc_pair_release(&pair);
}

static void test_several_sges_are_gathered_and_scattered(void **state)
{
	(void)state;
	rc_pair_connect(&pair, MTU_256);

	uint8_t *from = area_take(&pair.a.outbox, 900);
	uint8_t *to = area_take(&pair.b.inbox, 900);
	struct sge sent[] = {
		area_sge(&pair.a.outbox, from, 100),
		area_sge(&pair.a.outbox, from + 100, 0),
		area_sge(&pair.a.outbox, from + 100, 500),
		area_sge(&pair.a.outbox, from + 600, 200),
	};
	struct sge received[] = {
		area_sge(&pair.b.inbox, to, 300),
		area_sge(&pair.b.inbox, to + 300, 1),
		area_sge(&pair.b.inbox, to + 301, 599),
	};
	struct send_request request = {.opcode = SEND_SEND, .sge_count = 4, .sges = sent};
	struct receive_request receive = {.sge_count = 3, .sges = received};

	fill_pattern(from, 900, 3);
	assert_int_equal(qp_post_receive(&pair.b.qp, 0, &receive), 0);
	assert_int_equal(post(&pair, &pair.a, &request), 0);
	run_until_idle(&pair);
	assert_int_equal(expect_received(&pair.b, COMPLETION_SUCCESS)->byte_count, 800);
	assert_memory_equal(to, from, 800);
	assert_int_equal(to[800], 0);
	rc_pair_release(&pair);
}

static void test_inline_data_is_copied_when_posted(void **state)
{
	uint8_t bytes[200];
	/* The key is not checked. */
	struct sge sge = {.address = (uintptr_t)bytes, .byte_count = sizeof(bytes), .lkey = 0xbad};
	struct send_request request = {
		.opcode = SEND_SEND, .flags = SEND_INLINE, .sge_count = 1, .sges = &sge};

	(void)state;
	rc_pair_connect(&pair, MTU_256);
	fill_pattern(bytes, sizeof(bytes), 4);

	uint8_t *received = post_receive(&pair, &pair.b, 256);

	assert_int_equal(post(&pair, &pair.a, &request), 0);
	memset(bytes, 0, sizeof(bytes));
	run_until_idle(&pair);
	expect_completion(&pair.a, COMPLETION_SUCCESS);
	fill_pattern(bytes, sizeof(bytes), 4);
	assert_memory_equal(received, bytes, sizeof(bytes));
	rc_pair_release(&pair);
}

/* The opcode table: by the position of a packet in its message, and the operation. */
static void test_every_opcode_has_its_first_middle_last_and_only(void **state)
{
	static const struct {
		uint8_t opcode;
		uint8_t first, middle, last, only;
	} rows[] = {
		{SEND_SEND, 0x00, 0x01, 0x02, 0x04},
		{SEND_SEND_IMMEDIATE, 0x00, 0x01, 0x03, 0x05},
		{SEND_RDMA_WRITE, 0x06, 0x07, 0x08, 0x0a},
		{SEND_RDMA_WRITE_IMMEDIATE, 0x06, 0x07, 0x09, 0x0b},
		{SEND_SEND_INVALIDATE, 0x00, 0x01, 0x16, 0x17},
	};

	(void)state;
	rc_pair_connect(&pair, MTU_256);
	for (unsigned i = 0; i < ARRAY_COUNT(rows); i++) {
		uint8_t expected[] = {rows[i].first, rows[i].middle, rows[i].last};
		struct send_slot slot = {
			.opcode = rows[i].opcode, .flags = SEND_INLINE, .byte_count = 600};
		struct packet packet;
		uint32_t psn_count;

		slot.packet_count = request_packet_count(&pair.a.qp, &slot);
		assert_int_equal(slot.packet_count, 3);
		for (uint32_t index = 0; index < 3; index++) {
			pair.a.qp.requester.cursor_packet = index;
			request_build(&pair.a.qp, &slot, 1, &packet, &psn_count);
			assert_int_equal(packet.bth.opcode, expected[index]);
			assert_int_equal(packet.payload.byte_count, index < 2 ? 256 : 88);
			assert_int_equal(request_next_payload_bytes(&pair.a.qp, &slot),
					 packet.payload.byte_count);
			assert_int_equal(psn_count, 1);
		}
		slot.byte_count = 256;
		slot.packet_count = request_packet_count(&pair.a.qp, &slot);
		pair.a.qp.requester.cursor_packet = 0;
		request_build(&pair.a.qp, &slot, 1, &packet, &psn_count);
		assert_int_equal(packet.bth.opcode, rows[i].only);
	}
	rc_pair_release(&pair);
}

/* A READ that was answered in part asks for the rest, and its answers use the remaining PSNs. */
static void test_a_read_asks_for_what_is_missing(void **state)
{
	struct send_slot slot = {.opcode = SEND_RDMA_READ,
				 .byte_count = 1000,
				 .remote_address = 0x10000,
				 .remote_key = 0x1234};
	struct packet packet;
	uint32_t psn_count;

	(void)state;
	rc_pair_connect(&pair, MTU_256);
	slot.packet_count = request_packet_count(&pair.a.qp, &slot);
	assert_int_equal(slot.packet_count, 4);
	pair.a.qp.requester.cursor_packet = 3;
	request_build(&pair.a.qp, &slot, 1, &packet, &psn_count);
	assert_int_equal(packet.bth.opcode, 0x0c);
	assert_true(packet.bth.ack_request);
	assert_int_equal(packet.reth.address, 0x10000 + 768);
	assert_int_equal(packet.reth.bytes, 232);
	assert_int_equal(packet.reth.rkey, 0x1234);
	assert_int_equal(packet.payload.byte_count, 0);
	assert_int_equal(psn_count, 1);
	rc_pair_release(&pair);
}

/* The program has unmapped it (net/memory/gaps.h): packets that were sent before are not taken
 * back. */
static void test_memory_without_pages_is_not_sent(void **state)
{
	static const enum send_opcode opcodes[] = {SEND_SEND, SEND_RDMA_WRITE};
	struct memory_gaps gaps = {0};

	(void)state;
	for (unsigned i = 0; i < 2; i++) {
		rc_pair_connect(&pair, MTU_256);

		struct sge sges[2] = {area_sge(&pair.a.outbox, pair.a.outbox.bytes, 200),
				      area_sge(&pair.a.outbox, pair.a.outbox.bytes + 400, 400)};
		const struct send_request request = {
			.opcode = opcodes[i],
			.sge_count = 2,
			.sges = sges,
			.remote_address = (uintptr_t)pair.b.window.bytes,
			.remote_key = pair.b.window.region->key,
		};

		gaps.count = 0;
		memory_gaps_add(&gaps, (uintptr_t)pair.a.outbox.bytes + 790,
				(uintptr_t)pair.a.outbox.bytes + 800);
		pair.a.memory.gaps = &gaps;
		post_receive(&pair, &pair.b, 600);
		assert_int_equal(post(&pair, &pair.a, &request), 0);
		run_until_idle(&pair);
		expect_completion(&pair.a, COMPLETION_LOCAL_PROTECTION);
		assert_int_equal(pair.a_to_b.sent_count, 2);
		rc_pair_release(&pair);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_long_message_asks_for_an_acknowledge_every_64_packets),
		cmocka_unit_test(test_trains_are_cut_at_message_ends_and_whole_mtus),
		cmocka_unit_test(test_several_sges_are_gathered_and_scattered),
		cmocka_unit_test(test_inline_data_is_copied_when_posted),
		cmocka_unit_test(test_every_opcode_has_its_first_middle_last_and_only),
		cmocka_unit_test(test_a_read_asks_for_what_is_missing),
		cmocka_unit_test(test_memory_without_pages_is_not_sent),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
