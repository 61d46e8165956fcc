/* SPDX-License-Identifier: Apache-2.0 */
/* Opening and closing adapters.
 * Covers: runtime/adapter_opening.c runtime/adapter_qpns.c */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include <errno.h>
#include <sched.h>
#include "unit/runtime/runtime_pair.h"

static void test_opened_adapter_knows_its_ports(void **state)
{
	struct adapter *again;

	(void)state;
	for (unsigned i = 0; i < 2; i++) {
		assert_int_equal(adapter_open(pair.session, i, &pair_owner, &pair.ends[i].adapter),
				 0);
		assert_int_equal(adapter_hca(pair.ends[i].adapter)->ports[0].lid, i + 1);
	}
	assert_int_equal(adapter_open(pair.session, 2, &pair_owner, &again), -EINVAL);
	/* A second open returns the adapter that is open already. */
	assert_int_equal(adapter_open(pair.session, 0, &pair_owner, &again), 0);
	assert_ptr_equal(again, pair.ends[0].adapter);
	adapter_close(again);
	assert_int_equal(adapter_hca(pair.ends[0].adapter)->ports[0].lid, 1);
	/* An adapter that was closed and opened again knows its ports. */
	adapter_close(pair.ends[1].adapter);
	assert_int_equal(adapter_open(pair.session, 1, &pair_owner, &pair.ends[1].adapter), 0);
	assert_int_equal(adapter_hca(pair.ends[1].adapter)->ports[0].lid, 2);
}

static void test_programs_are_counted_for_each_core(void **state)
{
	const struct adapter *adapter = pair.ends[0].adapter;
	uint32_t *count = &pair.softibd.page->program_count;
	cpu_set_t set;

	(void)state;
	assert_int_equal(sched_getaffinity(0, sizeof(set), &set), 0);

	const uint32_t cores = (uint32_t)CPU_COUNT(&set);

	for (uint32_t programs = 0; programs <= cores; programs++) {
		*count = programs;
		assert_int_equal(adapter_programs_per_core(adapter), 1);
	}
	*count = cores + 1;
	assert_int_equal(adapter_programs_per_core(adapter), 2);
	*count = 5 * cores;
	assert_int_equal(adapter_programs_per_core(adapter), 5);
	*count = 1;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_opened_adapter_knows_its_ports),
		cmocka_unit_test(test_programs_are_counted_for_each_core),
	};

	return cmocka_run_group_tests(tests, pair_start_session, pair_end_all);
}
