/* SPDX-License-Identifier: Apache-2.0 */
/* CRCs of frames: right when appended, wrong after any single bit flip, right again where a hop
 * renews them (transport 1.7, 1.8). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <string.h>
#include "net/link/frame_crc.h"
#include "vectors/hex.h"

/* The specification's local sample: LRH, BTH, payload and pad; ICRC 9625b75a. */
static const char sample[] = "7012375c000e17d2 0a20248700 87b1b3000dec2a "
			     "01710a1c015d400238f27a050000000e"
			     "bb884d85fd5cfba4728bc0690ed4 0000";

static struct frame frame;

static void load(const char *hex)
{
	memset(&frame, 0, sizeof(frame));
	frame.byte_count = (uint32_t)hex_bytes(hex, sizeof(frame.bytes), frame.bytes);
}

static void test_appended_crcs_are_those_of_the_sample(void **state)
{
	static const uint8_t icrc_bytes[] = {0x96, 0x25, 0xb7, 0x5a};

	(void)state;
	load(sample);
	assert_false(frame.has_crcs);
	frame_append_crcs(&frame);
	assert_true(frame.has_crcs);
	assert_memory_equal(frame.crcs, icrc_bytes, sizeof(icrc_bytes));
	assert_int_equal(frame_check_crcs(&frame), FRAME_CRCS_RIGHT);
}

static void test_every_flipped_bit_is_found_by_the_variant_crc(void **state)
{
	(void)state;
	load(sample);
	frame_append_crcs(&frame);

	unsigned bit_count = 8 * (frame.byte_count + FRAME_CRC_BYTES);

	for (unsigned bit = 0; bit < bit_count; bit++) {
		frame_flip_bit(&frame, bit);
		assert_int_equal(frame_check_crcs(&frame), FRAME_VCRC_WRONG);
		frame_flip_bit(&frame, bit + bit_count);
		assert_int_equal(frame_check_crcs(&frame), FRAME_CRCS_RIGHT);
	}
}

static void test_what_broke_inside_a_node_is_found_by_the_invariant_crc(void **state)
{
	(void)state;
	load(sample);
	frame_append_crcs(&frame);
	frame_flip_bit(&frame, 8 * 30);
	frame_renew_vcrc(&frame);
	assert_int_equal(frame_check_crcs(&frame), FRAME_ICRC_WRONG);
}

static void test_another_lane_needs_only_another_variant_crc(void **state)
{
	(void)state;
	load(sample);
	frame_append_crcs(&frame);
	frame.bytes[0] = 0x20;
	assert_int_equal(frame_check_crcs(&frame), FRAME_VCRC_WRONG);
	frame_renew_vcrc(&frame);
	assert_int_equal(frame_check_crcs(&frame), FRAME_CRCS_RIGHT);
}

static void test_a_raw_packet_has_no_invariant_crc(void **state)
{
	(void)state;
	load("0000375c000517d2 0102030405060708");
	frame_append_crcs(&frame);
	assert_int_equal(frame_check_crcs(&frame), FRAME_CRCS_RIGHT);
	frame_flip_bit(&frame, 8 * frame.byte_count);
	assert_int_equal(frame_check_crcs(&frame), FRAME_VCRC_WRONG);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_appended_crcs_are_those_of_the_sample),
		cmocka_unit_test(test_every_flipped_bit_is_found_by_the_variant_crc),
		cmocka_unit_test(test_what_broke_inside_a_node_is_found_by_the_invariant_crc),
		cmocka_unit_test(test_another_lane_needs_only_another_variant_crc),
		cmocka_unit_test(test_a_raw_packet_has_no_invariant_crc),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
