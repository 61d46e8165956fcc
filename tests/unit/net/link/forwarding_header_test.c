/* SPDX-License-Identifier: Apache-2.0 */
/* Decoded header fields, and that the cached ones always agree with the bytes (transport 1.2,
 * 1.4). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "net/link/frame.h"
#include "base/random.h"
#include "wire/grh.h"
#include "wire/lrh.h"
#include "wire/opcode.h"
#include "wire/packet.h"
#include "wire/transport_headers.h"

static void test_header_counts_payload_without_headers_and_pad(void **state)
{
	static struct frame frame;
	uint8_t payload[101] = {0};
	struct packet packet = {
		.lrh = {.dlid = 7, .slid = 1, .sl = 3},
		.bth = {.opcode = TRANSPORT_RC | OPCODE_WRITE_ONLY, .pkey = 0x8001},
		.has_grh = true,
		.packet_count = 1,
	};
	struct forwarding_header read;
	struct lrh lrh;

	(void)state;
	packet_set_payload(&packet, payload, sizeof(payload));
	frame.byte_count = (uint32_t)packet_encode(&packet, frame.bytes);
	assert_true(lrh_decode(frame.bytes, frame.byte_count, &lrh));
	assert_true(forwarding_header_read(&frame, &lrh, &read));
	assert_int_equal(read.payload_bytes, 101);
	assert_int_equal(read.pkey, 0x8001);
	assert_int_equal(read.sl, 3);
	for (uint32_t byte_count = LRH_BYTES;
	     byte_count < LRH_BYTES + GRH_BYTES + BTH_BYTES + RETH_BYTES; byte_count++) {
		frame.byte_count = byte_count;
		assert_false(forwarding_header_read(&frame, &lrh, &read));
	}
}

/* The length of a raw packet counts no ICRC, and the MTU does not count its raw header. */
static void test_raw_headers_count_no_icrc(void **state)
{
	static struct frame frame;
	uint8_t bytes[120] = {0x60, [5] = 80};
	struct packet packet = {.lrh = {.dlid = 7, .slid = 1}, .packet_count = 1};
	static const struct {
		enum packet_kind kind;
		uint16_t payload_bytes;
	} cases[] = {{PACKET_RAW_ETHERTYPE, 120}, {PACKET_RAW_IPV6, 80}};

	(void)state;
	for (unsigned i = 0; i < ARRAY_COUNT(cases); i++) {
		packet.kind = (uint8_t)cases[i].kind;
		packet_set_payload(&packet, bytes, sizeof(bytes));
		frame.byte_count = (uint32_t)packet_encode(&packet, frame.bytes);
		assert_true(frame_read_header_anew(&frame));
		assert_true(frame.header.is_raw && frame.header.is_sound);
		assert_int_equal(frame.header.payload_bytes, cases[i].payload_bytes);
		assert_int_equal(frame.header.words, frame_words(&frame));
		frame.byte_count -= ICRC_BYTES;
		assert_true(frame_read_header(&frame));
		assert_false(frame.header.is_sound);
	}
}

static bool headers_are_equal(const struct forwarding_header *a, const struct forwarding_header *b)
{
	return a->dlid == b->dlid && a->pkey == b->pkey && a->payload_bytes == b->payload_bytes &&
	       a->words == b->words && a->sl == b->sl && a->is_management == b->is_management &&
	       a->is_raw == b->is_raw && a->is_global == b->is_global && a->is_sound == b->is_sound;
}

static void expect_as_read_anew(struct frame *frame)
{
	struct forwarding_header anew = {0};
	struct lrh lrh;
	bool is_readable = lrh_decode(frame->bytes, frame->byte_count, &lrh) &&
			   forwarding_header_read(frame, &lrh, &anew);

	assert_int_equal(frame_read_header(frame), is_readable);
	if (is_readable)
		assert_true(headers_are_equal(&frame->header, &anew));
}

/* Flips each bit of every header, and tries each length. */
static void test_header_that_was_kept_is_never_that_of_other_bytes(void **state)
{
	static struct frame frame;
	uint8_t payload[64] = {0};

	(void)state;
	for (unsigned has_grh = 0; has_grh < 2; has_grh++) {
		struct packet packet = {
			.lrh = {.dlid = 7, .slid = 1, .sl = 3},
			.bth = {.opcode = TRANSPORT_UD | OPCODE_SEND_ONLY, .pkey = 0x8001},
			.has_grh = has_grh,
			.packet_count = 1,
		};

		packet_set_payload(&packet, payload, sizeof(payload));
		frame.byte_count = (uint32_t)packet_encode(&packet, frame.bytes);
		assert_true(frame_read_header(&frame));
		assert_true(frame.header.is_sound);
		for (unsigned bit = 0; bit < 8 * frame.byte_count; bit++)
			for (unsigned again = 0; again < 2; again++) {
				frame.bytes[bit / 8] ^= (uint8_t)(1 << bit % 8);
				expect_as_read_anew(&frame);
			}
		for (uint32_t byte_count = frame.byte_count; byte_count; byte_count--) {
			frame.byte_count = byte_count;
			expect_as_read_anew(&frame);
		}
	}
}

/* The result does not depend on the earlier bytes of the frame. */
static void test_random_bytes_are_read_as_they_are(void **state)
{
	static struct frame frame;
	struct random random = random_seeded(4);

	(void)state;
	for (unsigned i = 0; i < 20000; i++) {
		frame.byte_count = (uint32_t)random_below(&random, 80);
		for (unsigned byte = 0; byte < 60; byte++)
			if (random_below(&random, 4) == 0)
				frame.bytes[byte] = (uint8_t)random_next(&random);
		expect_as_read_anew(&frame);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_raw_headers_count_no_icrc),
		cmocka_unit_test(test_header_counts_payload_without_headers_and_pad),
		cmocka_unit_test(test_header_that_was_kept_is_never_that_of_other_bytes),
		cmocka_unit_test(test_random_bytes_are_read_as_they_are),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
