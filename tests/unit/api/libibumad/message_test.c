/* SPDX-License-Identifier: Apache-2.0 */
/* The header in front of each MAD, byte by byte (abi 8.1). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <endian.h>
#include <string.h>

#include <infiniband/umad.h>

static void test_an_address_is_written_big_endian_at_its_offsets(void **state)
{
	uint8_t bytes[64 + 256] __attribute__((aligned(8))) = {0};

	(void)state;
	assert_int_equal(umad_size(), 64);
	assert_ptr_equal(umad_get_mad(bytes), bytes + 64);
	assert_int_equal(umad_set_addr(bytes, 0x1234, 1, 5, (int)0x80010000), 0);
	assert_int_equal(umad_set_pkey(bytes, 3), 0);
	assert_memory_equal(bytes + 20, "\x00\x00\x00\x01\x80\x01\x00\x00\x12\x34\x05\x00", 12);
	assert_int_equal(umad_get_pkey(bytes), 3);
	assert_int_equal(bytes[56], 3);
	assert_int_equal(umad_set_addr_net(bytes, htobe16(7), htobe32(1), 0, htobe32(9)), 0);
	assert_memory_equal(bytes + 28, "\x00\x07", 2);
}

static void test_a_grh_is_set_and_taken_away(void **state)
{
	uint8_t bytes[64] __attribute__((aligned(8))) = {0};
	ib_mad_addr_t from = {.hop_limit = 64, .traffic_class = 9, .flow_label = 0x12345};

	(void)state;
	memset(from.gid, 0xfe, sizeof(from.gid));
	assert_int_equal(umad_set_grh(bytes, &from), 0);
	assert_int_equal(bytes[32], 1);
	assert_int_equal(bytes[34], 64);
	assert_int_equal(bytes[35], 9);
	assert_memory_equal(bytes + 36, from.gid, 16);
	assert_memory_equal(bytes + 52, "\x00\x01\x23\x45", 4);
	assert_int_equal(umad_set_grh(bytes, NULL), 0);
	assert_int_equal(bytes[32], 0);
}

static void test_status_and_descriptor_are_plain(void **state)
{
	struct ib_user_mad message = {.status = 110};

	(void)state;
	assert_int_equal(umad_status(&message), 110);
	assert_int_equal(umad_get_fd(17), 17);
	assert_int_equal(umad_debug(2), 2);
	assert_int_equal(umad_debug(-1), 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_an_address_is_written_big_endian_at_its_offsets),
		cmocka_unit_test(test_a_grh_is_set_and_taken_away),
		cmocka_unit_test(test_status_and_descriptor_are_plain),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
