/* SPDX-License-Identifier: Apache-2.0 */
/* SLs of paths, VLs of SLs, and the text of the policy (management 3.6, 9.4). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>
#include "mgmt/sm/qos.h"
#include "mgmt/subnet/partitions.h"

static struct qos qos;
static struct partitions partitions;
static struct policy_error error;

static int parse(const char *text)
{
	memset(&error, 0, sizeof(error));
	return qos_parse(&qos, text, strlen(text), &error);
}

static void read_partitions(const char *text)
{
	struct policy_error reason;

	assert_int_equal(partitions_parse(&partitions, text, strlen(text), &reason), 0);
}

static void test_first_rule_that_fits_gives_the_level(void **state)
{
	(void)state;
	read_partitions("a=0x10,sl=3: ALL; b=0x11: ALL;");
	assert_int_equal(parse("qos-ulps\n"
			       "# a comment\n"
			       "default : 1\n"
			       "any, service-id 0x1000-0x10ff : 5\n"
			       "any, pkey 0x8011 : 6\n"
			       "ipoib : 2\n"
			       "sdp, port-num 100-200 : 7\n"
			       "end-qos-ulps\n"),
			 0);
	assert_int_equal(qos_path_sl(&qos, &partitions, 0x10, 0x1080), 5);
	assert_int_equal(qos_path_sl(&qos, &partitions, 0x11, 0x1100), 6);
	assert_int_equal(qos_path_sl(&qos, &partitions, 0xffff, 0), 2);
	assert_int_equal(qos_path_sl(&qos, &partitions, 0x10, 0x10000 + 150), 7);
	/* No rule: the partition's SL, and else the default. */
	assert_int_equal(qos_path_sl(&qos, &partitions, 0x10, 0), 3);
	assert_int_equal(qos_path_sl(&qos, &partitions, 0x12, 0), 1);
	partitions_release(&partitions);
}

static void test_without_a_policy_the_partition_decides(void **state)
{
	(void)state;
	read_partitions("a=0x10,sl=3: ALL;");
	qos_init(&qos);
	assert_false(qos.sets_lanes);
	assert_int_equal(qos_path_sl(&qos, &partitions, 0x8010, 7), 3);
	assert_int_equal(qos_path_sl(&qos, &partitions, 0xffff, 7), 0);
	partitions_release(&partitions);
}

static void test_lanes_and_weights_are_read(void **state)
{
	(void)state;
	assert_int_equal(parse("sl2vl 0,1,2,3,0,1,2,3,0,1,2,3,0,1,2,15\n"
			       "vlarb_high 0:4,1:0\nvlarb_low 2:255 , 3:1\nhigh_limit 7\n"),
			 0);
	assert_true(qos.sets_lanes);
	assert_int_equal(qos.high_limit, 7);
	assert_int_equal(qos.high_count, 2);
	assert_int_equal(qos.low_count, 2);
	assert_int_equal(qos.low[0].vl, 2);
	assert_int_equal(qos.low[0].weight, 255);
	assert_int_equal(qos_lane(&qos, 6, 5), 2);
	assert_int_equal(qos_lane(&qos, 6, 1), 0);
	assert_int_equal(qos_lane(&qos, 6, 2), 0);
	assert_int_equal(qos_lane(&qos, 7, 2), 1);
	/* VL 15 in a map drops packets, on every port (management 2.5). */
	assert_int_equal(qos_lane(&qos, 15, 1), 15);
}

static void test_bad_lines_say_where_and_why(void **state)
{
	static const struct {
		const char *text;
		unsigned line;
		const char *reason;
	} cases[] = {
		{"default : 1\nany, pkey 0x1\n", 2, "':'"},
		{"default : 16\n", 1, "service level"},
		{"any : 3\n", 1, "none of"},
		{"\n\nany, color red : 3\n", 3, "none of"},
		{"any, pkey 0x10000 : 3\n", 1, "P_Key"},
		{"any, service-id 9-1 : 3\n", 1, "service id"},
		{"sl2vl 0,1,2\n", 1, "16 VLs"},
		{"vlarb_low 1\n", 1, "VL:WEIGHT"},
		{"vlarb_low 15:1\n", 1, "VL"},
		{"high_limit 256\n", 1, "high_limit"},
	};

	(void)state;
	for (unsigned i = 0; i < ARRAY_COUNT(cases); i++) {
		assert_true(parse(cases[i].text) < 0);
		assert_int_equal(error.line, cases[i].line);
		if (!strstr(error.reason, cases[i].reason))
			fail_msg("'%s' says '%s'", cases[i].text, error.reason);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_first_rule_that_fits_gives_the_level),
		cmocka_unit_test(test_without_a_policy_the_partition_decides),
		cmocka_unit_test(test_lanes_and_weights_are_read),
		cmocka_unit_test(test_bad_lines_say_where_and_why),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
