/* SPDX-License-Identifier: Apache-2.0 */
/* Paths within a subnet, by a router, and between subnets without a router. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include "fabric/topology/subnets.h"
#include "sim/paths.h"
#include "sim/sim.h"

static void come_up(struct sim *sim, const char *topology)
{
	const struct sm_options options = {.sweep_interval = SECONDS(1)};
	struct topology_error error;

	assert_int_equal(sim_init(sim, topology, 1, &error), 0);
	assert_int_equal(sim_start_sms(sim, &options), 0);
	assert_true(sim_bring_up(sim, SECONDS(10)));
}

static struct port *port_of(struct sim *sim, const char *host)
{
	return &sim_find_host(sim, host)->node->ports[1];
}

static void test_path_within_a_subnet_has_no_grh(void **state)
{
	struct sim sim;
	struct sim_path path;

	(void)state;
	come_up(&sim, "routed:2x2");
	assert_int_equal(sim_path_find(&sim, port_of(&sim, "h3"), port_of(&sim, "h4"), &path), 0);
	assert_false(path.is_global);
	assert_int_equal(path.dlid, port_of(&sim, "h4")->info.lid);
	sim_release(&sim);
}

static void test_path_to_another_subnet_goes_by_the_router(void **state)
{
	struct sim sim;
	struct sim_path path;

	(void)state;
	come_up(&sim, "routed:2x2");

	const struct port *to = port_of(&sim, "h4");
	const struct gid dgid = gid_from(SUBNET_PREFIX(1), to->guid);
	const struct node *router = sim.fabric.routers.nodes[0];

	assert_int_equal(sim_path_find(&sim, port_of(&sim, "h1"), to, &path), 0);
	assert_true(path.is_global);
	assert_int_equal(path.dlid, router->ports[1].info.lid);
	assert_int_equal(path.hop_limit, 64);
	assert_memory_equal(&path.dgid, &dgid, sizeof(dgid));
	assert_int_equal(sim_path_find(&sim, to, port_of(&sim, "h1"), &path), 0);
	assert_int_equal(path.dlid, router->ports[2].info.lid);
	sim_release(&sim);
}

static const char two_islands[] = "vendid=0x1\n"
				  "Switch 2 \"S-0000000000000001\" # \"a\"\n"
				  "[1] \"H-0000000000000011\"[1]\n"
				  "Switch 2 \"S-0000000000000002\" # \"b\"\n"
				  "[1] \"H-0000000000000021\"[1]\n"
				  "Ca 1 \"H-0000000000000011\" # \"h1 mlx5_0\"\n"
				  "[1](12) \"S-0000000000000001\"[1]\n"
				  "Ca 1 \"H-0000000000000021\" # \"h2 mlx5_0\"\n"
				  "[1](22) \"S-0000000000000002\"[1]\n";

/* Both have the link-local prefix, and may have the same LIDs. */
static void test_islands_come_up_and_no_path_joins_them(void **state)
{
	struct sim sim;
	struct sim_path path;

	(void)state;
	come_up(&sim, two_islands);
	assert_int_equal(sim.manager_count, 2);

	const struct port *one = &sim.hosts[0].node->ports[1];
	const struct port *other = &sim.hosts[1].node->ports[1];

	assert_ptr_not_equal(sim_manager_of(&sim, one), sim_manager_of(&sim, other));
	assert_int_equal(sim_path_find(&sim, one, other, &path), -EHOSTUNREACH);
	sim_release(&sim);
}

static void test_path_needs_the_routers_link(void **state)
{
	struct sim sim;
	struct sim_path path;

	(void)state;
	come_up(&sim, "routed:2x1");
	fabric_set_cable(&sim.fabric, &sim.fabric.routers.nodes[0]->ports[2], false, sim.now);
	assert_int_equal(sim_path_find(&sim, port_of(&sim, "h1"), port_of(&sim, "h2"), &path),
			 -EHOSTUNREACH);
	sim_release(&sim);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_path_within_a_subnet_has_no_grh),
		cmocka_unit_test(test_path_to_another_subnet_goes_by_the_router),
		cmocka_unit_test(test_islands_come_up_and_no_path_joins_them),
		cmocka_unit_test(test_path_needs_the_routers_link),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
