/* SPDX-License-Identifier: Apache-2.0 */
/* The checkers find every violation. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "sim/checkers.h"
#include "net/link/lane_credits.h"
#include "net/link/port_queues.h"
#include "sim/sim.h"

static struct sim sim;
static char violation[VIOLATION_BYTES];

static int bring_up(void **state)
{
	struct topology_error error;

	(void)state;
	assert_int_equal(sim_init(&sim, "ring:3", 1, &error), 0);
	assert_int_equal(sim_start_sm(&sim, &sim.hosts[0], 0, 0), 0);
	assert_true(sim_bring_up(&sim, SECONDS(10)));
	assert_true(check_credits(&sim.fabric, violation));
	assert_true(check_routes(&sim.fabric, violation));
	assert_true(check_lids(&sim.fabric, violation));
	return 0;
}

static int release(void **state)
{
	(void)state;
	sim_release(&sim);
	return 0;
}

static void test_leaked_buffer_is_found(void **state)
{
	(void)state;
	port_arrival_lane(&sim.hosts[1].node->ports[1], 3)->peer_buffer_blocks = 2;
	assert_false(check_credits(&sim.fabric, violation));
	assert_non_null(strstr(violation, "[1]: a buffer is occupied in an idle fabric (3)"));
}

static void test_wrong_credit_limit_is_found(void **state)
{
	(void)state;
	sim.hosts[1].node->ports[1].queues->vls[0].fccl ^= 64;
	assert_false(check_credits(&sim.fabric, violation));
}

/* Changes one number of a lane: the violation that must be reported. */
static void expect_found(uint16_t *number, unsigned by, const char *expected)
{
	uint16_t before = *number;

	*number = (uint16_t)((before + by) % 4096);
	assert_false(check_credits(&sim.fabric, violation));
	assert_non_null(strstr(violation, expected));
	*number = before;
	assert_true(check_credits(&sim.fabric, violation));
}

static void test_every_number_of_a_tampered_lane_is_found(void **state)
{
	struct vl_queue *lane = &sim.hosts[1].node->ports[1].queues->vls[2];

	(void)state;
	/* Not idle, as in the middle of a run. */
	sim.fabric.frames_inside++;
	expect_found(&lane->fctbs, 1,
		     "blocks that were sent are neither on the cable nor received (2)");
	expect_found(&lane->cable_blocks, 1,
		     "blocks that were sent are neither on the cable nor received (2)");
	expect_found(&lane->peer_abr, 4095,
		     "blocks that were sent are neither on the cable nor received (2)");
	expect_found(&lane->fccl, 1, "more was sent than the limit allows (2)");
	expect_found(&lane->peer_buffer_blocks, 1, "the sender's limit was never granted (2)");
	expect_found(&lane->peer_buffer_blocks, 2049, "holds more than its size (2)");
	sim.fabric.frames_inside--;
}

static void test_broken_route_is_found(void **state)
{
	uint16_t lid = sim.hosts[2].node->ports[1].info.lid;

	(void)state;
	sim.hosts[0].node->ports[1].peer->node->lft[lid] = LFT_NO_PORT;
	assert_false(check_routes(&sim.fabric, violation));
	assert_non_null(strstr(violation, "no route"));
}

static void test_shared_lid_is_found(void **state)
{
	(void)state;
	sim.hosts[1].node->ports[1].info.lid = sim.hosts[0].node->ports[1].info.lid;
	assert_false(check_lids(&sim.fabric, violation));
}

#define UP(test) cmocka_unit_test_setup_teardown(test, bring_up, release)

int main(void)
{
	const struct CMUnitTest tests[] = {
		UP(test_leaked_buffer_is_found),
		UP(test_wrong_credit_limit_is_found),
		UP(test_every_number_of_a_tampered_lane_is_found),
		UP(test_broken_route_is_found),
		UP(test_shared_lid_is_found),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
