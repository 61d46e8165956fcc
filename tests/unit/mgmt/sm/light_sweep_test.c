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

enum { CA_GUID = 0x1000, SWITCH_GUID = 0x9000, RING = 6 };

/* The distance between two traps of a switch, and between two polls of one. */
#define SUBNET_TIMEOUT_NS time_from_code(18)
#define SOON		  MILLISECONDS(11)

static struct fake_fabric fabric;
static struct node *switches[RING], *hosts[RING];

/* Switches in a ring by ports 1 and 2, a host on port 3 of each. The manager does not sweep by
 * itself. */
static int setup(void **state)
{
	const struct sm_options options = {.priority = 5};

	(void)state;
	fake_init(&fabric);
	for (unsigned i = 0; i < RING; i++) {
		switches[i] = fake_add(&fabric, NODE_SWITCH, 3, SWITCH_GUID + i * 16u);
		hosts[i] = fake_add(&fabric, NODE_CA, 1, CA_GUID + i * 16u);
		fake_connect(switches[i], 3, hosts[i], 1);
	}
	for (unsigned i = 0; i < RING; i++)
		fake_connect(switches[i], 2, switches[(i + 1) % RING], 1);
	fake_start_sm(&fabric, hosts[0], &options);
	fake_run(&fabric, MILLISECONDS(10), 64);
	fake_assert_all_active(&fabric);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	fake_release(&fabric);
	return 0;
}

static void run_for(time_ns duration)
{
	fake_run(&fabric, fabric.now + duration, 64);
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
		run_for(down[i]);
		fake_mend(&fabric, &hosts[3]->ports[1]);
		run_for(SOON);
		fake_assert_all_active(&fabric);
		fake_assert_all_reachable(&fabric);
	}
}

static void test_looks_end_when_the_switch_may_speak_again(void **state)
{
	uint64_t before;

	(void)state;
	fake_cut(&fabric, &hosts[3]->ports[1]);
	run_for(MILLISECONDS(1));
	before = fabric.smp_count;
	run_for(SUBNET_TIMEOUT_NS + 4 * SOON);
	assert_in_range(fabric.smp_count - before, 50, 200);
	before = fabric.smp_count;
	run_for(SECONDS(10));
	assert_int_equal(fabric.smp_count, before);
}

static void test_light_sweeps_come_in_time_beside_looks(void **state)
{
	uint64_t all_before;

	(void)state;
	fabric.sm->options.sweep_interval = MILLISECONDS(205);
	sm_request_sweep(fabric.sm, fabric.now);
	run_for(MILLISECONDS(1));
	fake_cut(&fabric, &hosts[3]->ports[1]);
	run_for(MILLISECONDS(1));
	all_before = fabric.smp_count;
	run_for(SECONDS(1));
	/* Four light sweeps of seven requests, and a hundred polls of one. */
	assert_in_range(fabric.smp_count - all_before, 4 * 7 + 85, 5 * 7 + 105);
}

/* A request takes three times 200 ms to fail. */
static void test_look_without_answer_keeps_no_change_waiting(void **state)
{
	const struct port *end;

	(void)state;
	fake_cut(&fabric, &hosts[3]->ports[1]);
	run_for(MILLISECONDS(1));
	fabric.silent = switches[3];
	run_for(2 * SOON);
	fake_cut(&fabric, &switches[0]->ports[2]);
	run_for(MILLISECONDS(1));
	assert_true(fake_walk(&hosts[0]->ports[1], hosts[5]->ports[1].info.lid, &end) > 0);
	assert_true(fake_walk(&hosts[2]->ports[1], hosts[1]->ports[1].info.lid, &end) > 0);
	assert_int_equal(switches[0]->lft[hosts[1]->ports[1].info.lid], 1);
}

static void test_own_link_that_came_back_is_seen_without_a_trap(void **state)
{
	uint32_t before = sweep_count();

	(void)state;
	sm_see_own_port(fabric.sm, fabric.now, PORT_ACTIVE);
	run_for(MILLISECONDS(1));
	assert_int_equal(sweep_count(), before);
	sm_see_own_port(fabric.sm, fabric.now, PORT_DOWN);
	run_for(MILLISECONDS(1));
	assert_int_equal(sweep_count(), before);
	sm_see_own_port(fabric.sm, fabric.now, PORT_INIT);
	run_for(MILLISECONDS(1));
	assert_int_equal(sweep_count(), before + 1);
	sm_see_own_port(fabric.sm, fabric.now, PORT_INIT);
	run_for(MILLISECONDS(1));
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
