/* SPDX-License-Identifier: Apache-2.0 */
/* Polling of switches: all of them now and then, and frequently those whose traps are held back
 * (management 3.2). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "fake_fabric.h"
#include "mgmt/sm/sweep.h"

enum { RING = 6 };

/* The distance between two traps of a switch, and between two polls of one. */
#define SUBNET_TIMEOUT_NS time_from_code(18)
#define SOON		  MILLISECONDS(11)

static struct fake_fabric fabric;
static struct node *switches[RING], *hosts[RING];

/* The manager does not sweep by itself. */
static int setup(void **state)
{
	const struct sm_options options = {.priority = 5};

	(void)state;
	fake_init(&fabric);
	fake_add_ring(&fabric, RING, 3, switches, hosts);
	fake_start_sm(&fabric, hosts[0], &options);
	fake_run_for(&fabric, MILLISECONDS(10));
	fake_assert_all_active(&fabric);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	fake_release(&fabric);
	return 0;
}

static uint32_t sweep_count(void)
{
	struct sm_status status;

	sm_status(fabric.sm, &status);
	return status.sweep_count;
}

static void test_link_that_is_back_before_its_switch_may_say_so_is_used_soon(void **state)
{
	static const time_ns down[] = {MILLISECONDS(1), MILLISECONDS(50), SECONDS(1),
				       MILLISECONDS(1070), SECONDS(2)};

	(void)state;
	for (unsigned i = 0; i < ARRAY_COUNT(down); i++) {
		fake_cut(&fabric, &hosts[3]->ports[1]);
		fake_run_for(&fabric, down[i]);
		fake_mend(&fabric, &hosts[3]->ports[1]);
		fake_run_for(&fabric, SOON);
		fake_assert_all_active(&fabric);
		fake_assert_all_reachable(&fabric);
	}
}

static void test_looks_end_when_the_switch_may_speak_again(void **state)
{
	uint64_t before;

	(void)state;
	fake_cut(&fabric, &hosts[3]->ports[1]);
	fake_run_for(&fabric, MILLISECONDS(1));
	before = fabric.smp_count;
	fake_run_for(&fabric, SUBNET_TIMEOUT_NS + 4 * SOON);
	assert_in_range(fabric.smp_count - before, 50, 200);
	before = fabric.smp_count;
	fake_run_for(&fabric, SECONDS(10));
	assert_int_equal(fabric.smp_count, before);
}

static void test_light_sweeps_come_in_time_beside_looks(void **state)
{
	uint64_t all_before;

	(void)state;
	fabric.sm->options.sweep_interval = MILLISECONDS(205);
	sm_request_sweep(fabric.sm, fabric.now);
	fake_run_for(&fabric, MILLISECONDS(1));
	fake_cut(&fabric, &hosts[3]->ports[1]);
	fake_run_for(&fabric, MILLISECONDS(1));
	all_before = fabric.smp_count;
	fake_run_for(&fabric, SECONDS(1));
	/* Four light sweeps of seven requests, and a hundred polls of one. */
	assert_in_range(fabric.smp_count - all_before, 4 * 7 + 85, 5 * 7 + 105);
}

/* A request takes three times 200 ms to fail. */
static void test_look_without_answer_keeps_no_change_waiting(void **state)
{
	const struct port *end;

	(void)state;
	fake_cut(&fabric, &hosts[3]->ports[1]);
	fake_run_for(&fabric, MILLISECONDS(1));
	fabric.silent = switches[3];
	fake_run_for(&fabric, 2 * SOON);
	fake_cut(&fabric, &switches[0]->ports[2]);
	fake_run_for(&fabric, MILLISECONDS(1));
	assert_true(fake_walk(&hosts[0]->ports[1], hosts[5]->ports[1].info.lid, &end) > 0);
	assert_true(fake_walk(&hosts[2]->ports[1], hosts[1]->ports[1].info.lid, &end) > 0);
	assert_int_equal(switches[0]->lft[hosts[1]->ports[1].info.lid], 1);
}

static void test_own_link_that_came_back_is_seen_without_a_trap(void **state)
{
	uint32_t before = sweep_count();

	(void)state;
	sm_see_own_port(fabric.sm, fabric.now, PORT_ACTIVE);
	fake_run_for(&fabric, MILLISECONDS(1));
	assert_int_equal(sweep_count(), before);
	sm_see_own_port(fabric.sm, fabric.now, PORT_DOWN);
	fake_run_for(&fabric, MILLISECONDS(1));
	assert_int_equal(sweep_count(), before);
	sm_see_own_port(fabric.sm, fabric.now, PORT_INIT);
	fake_run_for(&fabric, MILLISECONDS(1));
	assert_int_equal(sweep_count(), before + 1);
	sm_see_own_port(fabric.sm, fabric.now, PORT_INIT);
	fake_run_for(&fabric, MILLISECONDS(1));
	assert_int_equal(sweep_count(), before + 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define TEST(function) cmocka_unit_test_setup_teardown(function, setup, teardown)
		TEST(test_link_that_is_back_before_its_switch_may_say_so_is_used_soon),
		TEST(test_looks_end_when_the_switch_may_speak_again),
		TEST(test_light_sweeps_come_in_time_beside_looks),
		TEST(test_look_without_answer_keeps_no_change_waiting),
		TEST(test_own_link_that_came_back_is_seen_without_a_trap),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
