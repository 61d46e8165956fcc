/* SPDX-License-Identifier: Apache-2.0 */
/* Hosts, adapters and addresses of a fabric. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <cmocka.h>
#include "daemon/core/host_table.h"
#include "fabric/fabric.h"
#include "fabric/topology/topology.h"

static struct fabric fabric;
static struct host_table table;

static void add(uint64_t guid, const char *name, const char *host, unsigned port_count)
{
	struct node *node;

	assert_int_equal(fabric_add_node(&fabric, NODE_CA, port_count, guid, name, name, &node), 0);
	snprintf(node->host, sizeof(node->host), "%s", host);
}

static int set_up(void **state)
{
	struct node *node;

	(void)state;
	assert_int_equal(fabric_init(&fabric, &(struct fabric_owner){0}), 0);
	assert_int_equal(fabric_add_node(&fabric, NODE_SWITCH, 8, 0x10, "S-10", "switch-1", &node),
			 0);
	add(0x100, "H-100", "alpha", 1);
	add(0x200, "H-200", "beta", 2);
	add(0x300, "H-300", "alpha", 1);
	assert_int_equal(host_table_build(&table, &fabric), 0);
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	host_table_release(&table);
	fabric_release(&fabric);
	return 0;
}

static void test_adapters_of_one_host_are_numbered(void **state)
{
	const struct host *alpha = host_table_find(&table, "alpha");

	(void)state;
	assert_int_equal(table.host_count, 2);
	assert_int_equal(table.adapter_count, 3);
	assert_non_null(alpha);
	assert_int_equal(alpha->adapter_count, 2);
	assert_string_equal(alpha->adapters[0]->name, "softib0");
	assert_string_equal(alpha->adapters[1]->name, "softib1");
	assert_int_equal(alpha->adapters[1]->node->info.node_guid, 0x300);
	assert_null(host_table_find(&table, "gamma"));
	assert_null(host_table_find(&table, ""));
}

static void test_endpoints_are_found_only_where_ports_are(void **state)
{
	const struct host *beta = host_table_find(&table, "beta");

	(void)state;
	assert_non_null(host_endpoint(beta, 0, 1));
	assert_non_null(host_endpoint(beta, 0, 2));
	assert_null(host_endpoint(beta, 0, 0));
	assert_null(host_endpoint(beta, 0, 3));
	assert_null(host_endpoint(beta, 1, 1));
	assert_null(host_endpoint(beta, 255, 255));
	assert_ptr_equal(host_endpoint(beta, 0, 2)->port->endpoint, host_endpoint(beta, 0, 2));
}

static void test_addresses_count_ports_of_the_fabric(void **state)
{
	const struct endpoint *first = host_endpoint(host_table_find(&table, "alpha"), 0, 1);
	const struct endpoint *last = host_endpoint(host_table_find(&table, "beta"), 0, 2);
	char text[ADDRESS_TEXT_BYTES];

	(void)state;
	endpoint_address(&first->ipv4, text);
	assert_string_equal(text, "127.100.0.1");
	endpoint_address(&first->ipv6, text);
	assert_string_equal(text, "fd5f:1b00::1");
	endpoint_address(&last->ipv4, text);
	assert_string_equal(text, "127.100.0.3");
}

static void test_addresses_of_the_topology_go_before_the_rule(void **state)
{
	static const char topology[] = "Switch 2 \"s\"\n"
				       "Ca 1 \"one\"\n"
				       "[1] \"s\"[1] ip=10.1.0.5/16 ip=fd00::5\n"
				       "Ca 1 \"two\"\n"
				       "[1] \"s\"[2] ip=10.1.0.6\n";
	struct host_table own;
	struct fabric given;
	struct topology_error problem;
	const struct fabric_owner owner = {0};
	char text[ADDRESS_TEXT_BYTES];

	(void)state;
	assert_int_equal(fabric_init(&given, &owner), 0);
	assert_int_equal(topology_parse(&given, topology, sizeof(topology) - 1, &problem), 0);
	assert_int_equal(host_table_build(&own, &given), 0);

	const struct endpoint *one = host_endpoint(host_table_find(&own, "one"), 0, 1);
	const struct endpoint *two = host_endpoint(host_table_find(&own, "two"), 0, 1);

	endpoint_address(&one->ipv4, text);
	assert_string_equal(text, "10.1.0.5");
	assert_int_equal(one->ipv4.prefix_bits, 16);
	endpoint_address(&one->ipv6, text);
	assert_string_equal(text, "fd00::5");
	endpoint_address(&two->ipv4, text);
	assert_string_equal(text, "10.1.0.6");
	assert_int_equal(two->ipv4.prefix_bits, 24);
	endpoint_address(&two->ipv6, text);
	assert_string_equal(text, "fd5f:1b00::2");
	host_table_release(&own);
	fabric_release(&given);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_adapters_of_one_host_are_numbered),
		cmocka_unit_test(test_endpoints_are_found_only_where_ports_are),
		cmocka_unit_test(test_addresses_count_ports_of_the_fabric),
		cmocka_unit_test(test_addresses_of_the_topology_go_before_the_rule),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
