/* SPDX-License-Identifier: Apache-2.0 */
/* The global route header against literal bytes (transport 1.3). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <string.h>
#include "vectors/hex.h"
#include "wire/grh.h"

/* The GRH of reference vector 2. */
static const char *const sample =
	"60200000 0028 1b 40 00000000000000000000ffff0f000002 00000000000000000000ffff0f000002";

static void test_sample_decodes_and_encodes_back(void **state)
{
	(void)state;
	uint8_t bytes[GRH_BYTES];
	uint8_t again[GRH_BYTES];
	struct grh grh;

	assert_int_equal(hex_bytes(sample, sizeof(bytes), bytes), GRH_BYTES);
	assert_true(grh_decode(bytes, sizeof(bytes), &grh));
	assert_int_equal(grh.version, 6);
	assert_int_equal(grh.traffic_class, 2);
	assert_int_equal(grh.flow_label, 0);
	assert_int_equal(grh.payload_bytes, 0x28);
	assert_int_equal(grh.next_header, GRH_NEXT_HEADER_IBA);
	assert_int_equal(grh.hop_limit, 0x40);
	assert_true(gid_equal(&grh.sgid, &grh.dgid));
	assert_int_equal(grh.sgid.bytes[10], 0xff);
	grh_encode(&grh, again);
	assert_memory_equal(again, bytes, GRH_BYTES);
}

static void test_class_and_label_share_a_word(void **state)
{
	(void)state;
	struct grh grh = {.version = 6, .traffic_class = 0xab, .flow_label = 0xfff12345};
	uint8_t bytes[GRH_BYTES];
	struct grh again;

	grh_encode(&grh, bytes);
	assert_int_equal(bytes[0], 0x6a);
	assert_int_equal(bytes[1], 0xb1);
	assert_int_equal(bytes[2], 0x23);
	assert_int_equal(bytes[3], 0x45);
	assert_true(grh_decode(bytes, sizeof(bytes), &again));
	assert_int_equal(again.traffic_class, 0xab);
	assert_int_equal(again.flow_label, 0x12345);
}

static void test_short_input_is_refused(void **state)
{
	(void)state;
	const uint8_t bytes[GRH_BYTES] = {0x60};
	struct grh grh = {.hop_limit = 9};

	for (size_t byte_count = 0; byte_count < GRH_BYTES; byte_count++)
		assert_false(grh_decode(bytes, byte_count, &grh));
	assert_int_equal(grh.hop_limit, 9);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_sample_decodes_and_encodes_back),
		cmocka_unit_test(test_class_and_label_share_a_word),
		cmocka_unit_test(test_short_input_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
