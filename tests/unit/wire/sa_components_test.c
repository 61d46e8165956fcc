/* SPDX-License-Identifier: Apache-2.0 */
/* Component masks: the bits of each component, and what matches (management 4.4). */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>
#include "base/attributes.h"
#include "wire/sa_components.h"
#include "wire/sa_records.h"

static const struct sa_components *const all[] = {
	&node_record_components,
	&port_info_record_components,
	&sl_to_vl_record_components,
	&switch_info_record_components,
	&forwarding_record_components,
	&multicast_forwarding_record_components,
	&vl_arbitration_record_components,
	&sm_info_record_components,
	&link_record_components,
	&guid_info_record_components,
	&pkey_table_record_components,
	&service_record_components,
	&service_association_record_components,
	&path_record_components,
	&mc_member_record_components,
	&inform_info_record_components,
};

/* No two components share a bit, they are in order, and all are inside the attribute. */
static void test_components_are_apart_and_in_order(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_COUNT(all); i++) {
		unsigned end = 0;

		assert_true(all[i]->count <= 64);
		for (size_t j = 0; j < all[i]->count; j++) {
			const struct sa_component *component = &all[i]->rows[j];

			if (!component->bit_count)
				continue;
			assert_true(component->bit_offset >= end);
			end = component->bit_offset + component->bit_count;
			assert_true(end <= 8 * all[i]->byte_count);
		}
	}
}

/* The number of components of each attribute, as the specification counts them. */
static void test_component_counts(void **state)
{
	(void)state;
	assert_int_equal(node_record_components.count, 15);
	assert_int_equal(port_info_record_components.count, 58);
	assert_int_equal(sl_to_vl_record_components.count, 20);
	assert_int_equal(switch_info_record_components.count, 20);
	assert_int_equal(sm_info_record_components.count, 7);
	assert_int_equal(guid_info_record_components.count, 12);
	assert_int_equal(service_record_components.count, 37);
	assert_int_equal(path_record_components.count, 23);
	assert_int_equal(mc_member_record_components.count, 18);
	assert_int_equal(inform_info_record_components.count, 16);
}

/* Changing any bit of a selected component ends the match; other bits do not. */
static void test_a_match_is_exact_in_its_bits(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_COUNT(all); i++) {
		for (size_t j = 0; j < all[i]->count; j++) {
			const struct sa_component *component = &all[i]->rows[j];
			uint8_t request[SA_DATA_BYTES] = {0};
			uint8_t record[SA_DATA_BYTES] = {0};
			struct sa_match match;

			sa_match_make(all[i], SA_COMPONENT(j), request, &match);
			assert_true(sa_match_accepts(&match, record));
			for (unsigned bit = 0; bit < 8 * all[i]->byte_count; bit++) {
				bool is_inside = bit >= component->bit_offset &&
						 bit < (unsigned)component->bit_offset +
								 component->bit_count;

				record[bit / 8] ^= (uint8_t)(0x80 >> bit % 8);
				assert_int_equal(sa_match_accepts(&match, record), !is_inside);
				record[bit / 8] ^= (uint8_t)(0x80 >> bit % 8);
			}
		}
	}
}

static void test_no_component_matches_everything(void **state)
{
	uint8_t request[SA_DATA_BYTES];
	uint8_t record[SA_DATA_BYTES] = {0};
	struct sa_match match;

	(void)state;
	memset(request, 0xff, sizeof(request));
	for (size_t i = 0; i < ARRAY_COUNT(all); i++) {
		sa_match_make(all[i], 0, request, &match);
		assert_true(sa_match_accepts(&match, record));
	}
}

static void test_components_beyond_the_attribute_are_ignored(void **state)
{
	uint8_t request[SA_DATA_BYTES] = {0};
	uint8_t record[SA_DATA_BYTES] = {0};
	struct sa_match match;

	(void)state;
	memset(request + PATH_RECORD_BYTES, 0xff, sizeof(request) - PATH_RECORD_BYTES);
	sa_match_make(&path_record_components, UINT64_MAX, request, &match);
	assert_true(sa_match_accepts(&match, record));
}

/* Components that are easily off by one, by their fields. */
static void test_named_components_mean_their_fields(void **state)
{
	const struct path_record path = {.pkey = 0xffff};
	const struct mc_member_record member = {.join_state = 15};
	uint8_t request[SA_DATA_BYTES] = {0};
	uint8_t record[SA_DATA_BYTES] = {0};
	struct sa_match match;

	(void)state;
	path_record_encode(&path, record);
	sa_match_make(&path_record_components, UINT64_MAX & ~SA_COMPONENT(PR_PKEY), request,
		      &match);
	assert_true(sa_match_accepts(&match, record));
	sa_match_make(&path_record_components, SA_COMPONENT(PR_PKEY), request, &match);
	assert_false(sa_match_accepts(&match, record));
	memset(record, 0, sizeof(record));
	mc_member_record_encode(&member, record);
	sa_match_make(&mc_member_record_components, UINT64_MAX & ~SA_COMPONENT(MCR_JOIN_STATE),
		      request, &match);
	assert_true(sa_match_accepts(&match, record));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_components_are_apart_and_in_order),
		cmocka_unit_test(test_component_counts),
		cmocka_unit_test(test_a_match_is_exact_in_its_bits),
		cmocka_unit_test(test_no_component_matches_everything),
		cmocka_unit_test(test_components_beyond_the_attribute_are_ignored),
		cmocka_unit_test(test_named_components_mean_their_fields),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
