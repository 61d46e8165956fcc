/* SPDX-License-Identifier: Apache-2.0 */
/* Table blocks of SMPs: the offset of each entry, encoded and decoded (management 2.4, 2.5). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <string.h>
#include "wire/smp_tables.h"

static uint8_t bytes[SMP_DATA_BYTES];

static void test_pkeys_and_masks_are_two_bytes_each(void **state)
{
	(void)state;
	uint16_t words[32];
	uint16_t again[32];

	for (unsigned i = 0; i < 32; i++)
		words[i] = (uint16_t)(0x8000 + i * 0x101);
	pkey_block_encode(words, bytes);
	assert_int_equal(bytes[0], 0x80);
	assert_int_equal(bytes[2], 0x81);
	assert_int_equal(bytes[3], 0x01);
	pkey_block_decode(bytes, again);
	assert_memory_equal(again, words, sizeof(words));
	memset(bytes, 0, sizeof(bytes));
	multicast_forwarding_block_encode(words, bytes);
	assert_int_equal(bytes[63], 0x1f);
	multicast_forwarding_block_decode(bytes, again);
	assert_memory_equal(again, words, sizeof(words));
}

static void test_guids_are_eight_bytes_each(void **state)
{
	(void)state;
	const uint64_t guids[GUIDS_PER_BLOCK] = {0x025f1b0100010001, 2, 3, 4, 5, 6, 7,
						 0x8000000000000000};
	uint64_t again[GUIDS_PER_BLOCK];

	guid_block_encode(guids, bytes);
	assert_int_equal(bytes[1], 0x5f);
	assert_int_equal(bytes[15], 2);
	assert_int_equal(bytes[56], 0x80);
	guid_block_decode(bytes, again);
	assert_memory_equal(again, guids, sizeof(guids));
}

static void test_sl_0_has_the_high_nibble_of_byte_0(void **state)
{
	(void)state;
	const uint8_t vls[SL_COUNT] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 0};
	uint8_t again[SL_COUNT];

	memset(bytes, 0xee, sizeof(bytes));
	sl_to_vl_encode(vls, bytes);
	assert_int_equal(bytes[0], 0x12);
	assert_int_equal(bytes[7], 0xf0);
	for (unsigned i = SL_TO_VL_BYTES; i < SMP_DATA_BYTES; i++)
		assert_int_equal(bytes[i], 0);
	sl_to_vl_decode(bytes, again);
	assert_memory_equal(again, vls, sizeof(vls));
}

static void test_arbitration_entries_hide_reserved_bits(void **state)
{
	(void)state;
	struct vl_arbitration_entry entries[VL_ARBITRATION_PER_BLOCK] = {
		{.vl = 0xf3, .weight = 200}};
	struct vl_arbitration_entry again[VL_ARBITRATION_PER_BLOCK];

	entries[31] = (struct vl_arbitration_entry){.vl = 14, .weight = 1};
	vl_arbitration_block_encode(entries, bytes);
	assert_int_equal(bytes[0], 3);
	assert_int_equal(bytes[1], 200);
	assert_int_equal(bytes[62], 14);
	assert_int_equal(bytes[63], 1);
	bytes[62] |= 0xf0;
	vl_arbitration_block_decode(bytes, again);
	assert_int_equal(again[0].vl, 3);
	assert_int_equal(again[31].vl, 14);
	assert_int_equal(again[31].weight, 1);
}

static void test_forwarding_has_a_byte_per_lid(void **state)
{
	(void)state;
	uint8_t ports[LINEAR_FORWARDING_PER_BLOCK];
	uint8_t again[LINEAR_FORWARDING_PER_BLOCK];

	for (unsigned i = 0; i < sizeof(ports); i++)
		ports[i] = (uint8_t)(i + 1);
	ports[9] = LINEAR_FORWARDING_DROP;
	linear_forwarding_block_encode(ports, bytes);
	assert_int_equal(bytes[9], 0xff);
	linear_forwarding_block_decode(bytes, again);
	assert_memory_equal(again, ports, sizeof(ports));
}

static void test_modifiers_choose_block_and_port(void **state)
{
	(void)state;
	assert_int_equal(pkey_table_modifier(3, 7), 0x00070003);
	assert_int_equal(pkey_table_block(0x00070003), 3);
	assert_int_equal(pkey_table_port(0x00070003), 7);
	assert_int_equal(sl_to_vl_modifier(2, 5), 0x0205);
	assert_int_equal(vl_arbitration_modifier(VL_ARBITRATION_HIGH_FIRST, 5), 0x00030005);
	assert_int_equal(multicast_forwarding_modifier(0x1ff, 15), 0xf00001ff);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_pkeys_and_masks_are_two_bytes_each),
		cmocka_unit_test(test_guids_are_eight_bytes_each),
		cmocka_unit_test(test_sl_0_has_the_high_nibble_of_byte_0),
		cmocka_unit_test(test_arbitration_entries_hide_reserved_bits),
		cmocka_unit_test(test_forwarding_has_a_byte_per_lid),
		cmocka_unit_test(test_modifiers_choose_block_and_port),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
