/* SPDX-License-Identifier: Apache-2.0 */
/* Which subnet each node is in. */
#include "unit/fabric/rig.h"

#include <stdio.h>
#include "fabric/topology/subnets.h"

static void expect_subnets(const char *topology, const char *expected_first_hosts)
{
	struct rig rig;
	struct subnet_map map;
	struct topology_error error;
	char found[64] = "";
	size_t length = 0;

	rig_init(&rig);
	if (strchr(topology, '\n'))
		assert_int_equal(topology_parse(&rig.fabric, topology, strlen(topology), &error),
				 0);
	else
		assert_int_equal(topology_generate(&rig.fabric, topology, &error), 0);
	assert_int_equal(subnet_map_make(&rig.fabric, &map), 0);
	for (uint32_t subnet = 0; subnet < map.subnet_count; subnet++) {
		const struct port *port = map.first_ports[subnet];

		length += (size_t)snprintf(found + length, sizeof(found) - length, "%s%s",
					   subnet ? " " : "", port ? port->node->host : "-");
	}
	assert_string_equal(found, expected_first_hosts);
	subnet_map_release(&map);
	rig_release(&rig);
}

static void test_fabric_without_routers_is_one_subnet(void **state)
{
	(void)state;
	expect_subnets("star:3", "h1");
	expect_subnets("fat-tree:4", "h1");
	expect_subnets("mesh:3x3", "h1");
}

static void test_routers_separate_subnets(void **state)
{
	(void)state;
	expect_subnets("routed:2x3", "h1 h4");
	expect_subnets("routed:4x1", "h1 h2 h3 h4");
}

static void test_parts_without_a_cable_between_them_are_subnets_too(void **state)
{
	(void)state;
	expect_subnets("Switch 2 \"a\"\n[1] \"x\"[1]\n\nSwitch 2 \"b\"\n[1] \"y\"[1]\n\n"
		       "Ca 1 \"x\" # \"left\"\n\nCa 1 \"y\" # \"right\"\n\nSwitch 4 \"c\"\n",
		       "left right -");
}

/* Two hosts back to back, and a host on a router: no switch anywhere. */
static void test_subnets_without_switches(void **state)
{
	(void)state;
	expect_subnets("Ca 1 \"a\" # \"one\"\n[1] \"b\"[1]\n\nCa 1 \"b\" # \"two\"\n\n"
		       "Ca 1 \"c\" # \"three\"\n[1] \"r\"[1]\n\nRt 2 \"r\"\n[2] \"d\"[1]\n\n"
		       "Ca 1 \"d\" # \"four\"\n",
		       "one three four");
}

/* An adapter with a port in each of two subnets joins nothing. */
static void test_adapter_in_two_subnets_does_not_join_them(void **state)
{
	(void)state;
	expect_subnets("Switch 2 \"a\"\n[1] \"x\"[1]\n\nSwitch 2 \"b\"\n[1] \"x\"[2]\n\n"
		       "Ca 2 \"x\" # \"both\"\n",
		       "both both");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_fabric_without_routers_is_one_subnet),
		cmocka_unit_test(test_routers_separate_subnets),
		cmocka_unit_test(test_parts_without_a_cable_between_them_are_subnets_too),
		cmocka_unit_test(test_subnets_without_switches),
		cmocka_unit_test(test_adapter_in_two_subnets_does_not_join_them),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
