/* SPDX-License-Identifier: Apache-2.0 */
/* Scattering payloads: every offset and length, from several SGEs to several SGEs. */
#include "net/transport/payload_scatter.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

static uint8_t source[64];
static uint8_t target[128] __attribute__((aligned(16)));

static void number_source(void)
{
	for (unsigned i = 0; i < sizeof(source); i++)
		source[i] = (uint8_t)(i + 1);
}

static void test_written_bytes_are_all_there_at_every_alignment(void **state)
{
	struct span spans[] = {{source, 5}, {source + 5, 0}, {source + 5, 59}};
	struct payload payload = {.spans = spans, .span_count = 3, .byte_count = 61, .offset = 3};

	(void)state;
	number_source();
	for (size_t at = 0; at < 16; at++)
		for (size_t from = 0; from < 20; from++)
			for (size_t count = 0; count <= 40; count++) {
				memset(target, 0xee, sizeof(target));
				payload_write(&payload, from, count, target + 16 + at);
				assert_int_equal(target[16 + at - 1], 0xee);
				assert_memory_equal(target + 16 + at, source + 3 + from, count);
				assert_int_equal(target[16 + at + count], 0xee);
			}
}

static void test_scatter_fills_pieces_in_order(void **state)
{
	struct memory memory;
	struct protection_domain pd = {0};
	struct region *region;
	struct span span = {source, sizeof(source)};
	struct payload payload = {.spans = &span, .span_count = 1, .byte_count = sizeof(source)};

	(void)state;
	number_source();
	memory_init(&memory, 10);
	assert_int_equal(region_register(&memory, &pd, target, sizeof(target), 1000,
					 ACCESS_LOCAL_WRITE, &region),
			 0);

	struct sge sges[] = {{1000, 7, region->key},
			     {1000, 0, 0xbad},
			     {1020, 9, region->key},
			     {1050, 30, region->key}};

	assert_int_equal(sges_bytes(sges, 4), 46);
	for (uint64_t offset = 0; offset < 46; offset++)
		for (size_t count = 0; count <= 46 - offset; count++) {
			uint8_t expected[128] = {0}, flat[46] = {0};

			memcpy(flat + offset, source, count);
			memcpy(expected, flat, 7);
			memcpy(expected + 20, flat + 7, 9);
			memcpy(expected + 50, flat + 16, 30);
			memset(target, 0, sizeof(target));
			assert_int_equal(
				payload_scatter(&memory, &pd, sges, 4, offset, &payload, 0, count),
				MEMORY_OK);
			assert_memory_equal(target, expected, sizeof(target));
		}
	memory_release(&memory);
}

static void test_scatter_stops_at_the_first_piece_that_is_not_ours(void **state)
{
	struct memory memory;
	struct protection_domain pd = {0};
	struct region *region;
	struct span span = {source, sizeof(source)};
	struct payload payload = {.spans = &span, .span_count = 1, .byte_count = sizeof(source)};

	(void)state;
	number_source();
	memory_init(&memory, 10);
	assert_int_equal(region_register(&memory, &pd, target, 16, 0, 0, &region), 0);

	struct sge sge = {0, 8, region->key};

	/* Read access is not enough. */
	assert_int_equal(payload_scatter(&memory, &pd, &sge, 1, 0, &payload, 0, 8),
			 MEMORY_BAD_RIGHTS);
	sge.lkey++;
	assert_int_equal(payload_scatter(&memory, &pd, &sge, 1, 0, &payload, 0, 8), MEMORY_BAD_KEY);
	memory_release(&memory);
}

static void test_scatter_forgets_what_falls_into_a_null_region(void **state)
{
	struct memory memory;
	struct protection_domain pd = {0};
	struct region *region, *null;
	struct span span = {source, sizeof(source)};
	struct payload payload = {.spans = &span, .span_count = 1, .byte_count = sizeof(source)};

	(void)state;
	number_source();
	memset(target, 0xee, sizeof(target));
	memory_init(&memory, 10);
	assert_int_equal(region_register(&memory, &pd, target, sizeof(target), 0,
					 ACCESS_LOCAL_WRITE, &region),
			 0);
	assert_int_equal(region_register_null(&memory, &pd, NULL, &null), 0);

	const struct sge sges[] = {{0, 4, region->key}, {5, 8, null->key}, {4, 4, region->key}};

	assert_int_equal(payload_scatter(&memory, &pd, sges, 3, 0, &payload, 0, 16), MEMORY_OK);
	assert_memory_equal(target, source, 4);
	assert_memory_equal(target + 4, source + 12, 4);
	assert_int_equal(target[8], 0xee);
	memory_release(&memory);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_scatter_forgets_what_falls_into_a_null_region),
		cmocka_unit_test(test_written_bytes_are_all_there_at_every_alignment),
		cmocka_unit_test(test_scatter_fills_pieces_in_order),
		cmocka_unit_test(test_scatter_stops_at_the_first_piece_that_is_not_ours),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
