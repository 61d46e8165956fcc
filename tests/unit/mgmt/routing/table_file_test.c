/* SPDX-License-Identifier: Apache-2.0 */
/* Tables from text: routes are entered, foreign ones skipped, errors have their line (management
 * 9.4). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <errno.h>
#include <string.h>
#include "mgmt/routing/table_file.h"
#include "support/routing_graphs.h"

static const char good[] = "Unicast lids [0x0-0x6] of switch Lid 1 guid 0x0000000000001000 (a):\n"
			   "  Lid  Out   Destination\n"
			   "       Port     Info\n"
			   "0x0004 003 : (Channel Adapter portguid 0x1: 'h1')\n"
			   "0x0005 002 : (Channel Adapter portguid 0x2: 'h2')\n"
			   "2 valid lids dumped\n"
			   "Unicast lids [0x0-0x6] of switch Lid 2 guid 0xffff (not there):\n"
			   "0x0004 001\n"
			   "Unicast lids [0x0-0x6] of switch Lid 2 guid 0x1001 (b):\n"
			   "0x0004 001 # a comment\n"
			   "0x0005 003\n"
			   "Unicast lids [0x0-0x6] of switch Lid 3 guid 0x1002 (c):\n"
			   "0x0004 001\n"
			   "0x0005 002\n";

static void test_routes_come_from_the_text_and_the_rest_from_min_hop(void **state)
{
	const struct routing_hints hints = {.tables_text = good, .tables_bytes = strlen(good)};
	struct routing_graph graph;

	(void)state;
	make_ring(&graph, 3, 1);
	assert_int_equal(table_file_route(&graph, &hints), 0);
	assert_int_equal(graph.switches[0].table[4], 3);
	assert_int_equal(graph.switches[0].table[5], 2); /* the long path, as in the text */
	assert_int_equal(graph.switches[1].table[4], 1);
	assert_int_equal(path_hops(&graph, 0, 5), 2);
	assert_int_equal(path_hops(&graph, 0, 6), 1); /* not in the text */
	routing_graph_release(&graph);
}

static const struct {
	const char *text;
	unsigned line;
	const char *reason;
} bad[] = {
	{"0x0004 003\n", 1, "a route before the first switch"},
	{"# x\nUnicast lids of switch Lid 1:\n", 2, "a switch without a GUID"},
	{"Unicast lids of switch guid 0x1000\n0xfffff 1\n", 2, "not a LID"},
	{"Unicast lids of switch guid 0x1000\n0x0004 x\n", 2, "not a port number"},
	{"Unicast lids of switch guid 0x1000\n\n0x0004 9\n", 3, "the switch has no such port"},
};

static void test_errors_name_line_and_reason(void **state)
{
	(void)state;
	for (unsigned i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		struct table_file_error error = {0};
		struct routing_graph graph;

		make_ring(&graph, 3, 1);
		assert_int_equal(table_file_read(&graph, bad[i].text, strlen(bad[i].text), &error),
				 -EINVAL);
		assert_int_equal(error.line, bad[i].line);
		assert_string_equal(error.reason, bad[i].reason);
		routing_graph_release(&graph);
	}
}

static void test_without_a_text_it_does_not_fit(void **state)
{
	const struct routing_hints hints = {0};
	struct routing_graph graph;

	(void)state;
	make_ring(&graph, 3, 1);
	assert_int_equal(table_file_route(&graph, &hints), -EOPNOTSUPP);
	routing_graph_release(&graph);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_routes_come_from_the_text_and_the_rest_from_min_hop),
		cmocka_unit_test(test_errors_name_line_and_reason),
		cmocka_unit_test(test_without_a_text_it_does_not_fit),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
