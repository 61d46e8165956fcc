/* SPDX-License-Identifier: Apache-2.0 */
/* Address handles: refused attributes (transport 7.5). */
#include <errno.h>
#include "adapter_pair.h"

static struct adapter_pair pair;

static void expect_refused(struct address_vector vector)
{
	struct protection_domain pd = {0};
	struct ah *ah;

	assert_int_equal(ah_create(&pair.adapters[0].hca, &pd, &vector, &ah), -EINVAL);
	assert_int_equal(pd.users, 0);
}

static void test_impossible_addresses_are_refused(void **state)
{
	const struct address_vector local = {.dlid = 5, .port_number = 1};
	const struct address_vector global = {.dlid = 5, .port_number = 1, .is_global = true};
	struct address_vector vector;

	(void)state;
	adapter_pair_init(&pair);
	vector = local, vector.port_number = 0, expect_refused(vector);
	vector = local, vector.port_number = 2, expect_refused(vector);
	vector = local, vector.dlid = 0, expect_refused(vector);
	vector = local, vector.dlid = 0xc000, expect_refused(vector);
	vector = local, vector.sl = 16, expect_refused(vector);
	vector = global, vector.sgid_index = 2, expect_refused(vector);
	vector = global, vector.flow_label = 1 << 20, expect_refused(vector);
	adapter_pair_release(&pair);
}

static void test_a_handle_keeps_its_vector_and_its_domain(void **state)
{
	const struct address_vector vector = {
		.dlid = 0xc001, .port_number = 1, .is_global = true, .sl = 15, .sgid_index = 1};
	struct protection_domain *pd;
	struct hca *hca = &pair.adapters[0].hca;
	struct ah *ah;

	(void)state;
	adapter_pair_init(&pair);
	assert_int_equal(hca_pd_alloc(hca, &pd), 0);
	assert_int_equal(ah_create(hca, pd, &vector, &ah), 0);
	assert_memory_equal(&ah->vector, &vector, sizeof(vector));
	assert_int_equal(hca_pd_dealloc(hca, pd), -EBUSY);
	ah_destroy(ah);
	assert_int_equal(hca_pd_dealloc(hca, pd), 0);
	adapter_pair_release(&pair);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_impossible_addresses_are_refused),
		cmocka_unit_test(test_a_handle_keeps_its_vector_and_its_domain),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
