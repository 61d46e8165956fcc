/* SPDX-License-Identifier: Apache-2.0 */
/* Partitions from text, memberships, keys of ports, and groups (management 3.5, 9.2). Covers:
 * mgmt/subnet/partitions_reader.c */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>
#include "mgmt/subnet/partitions.h"

static struct partitions partitions;
static struct policy_error error;

static int parse(const char *text)
{
	memset(&error, 0, sizeof(error));
	return partitions_parse(&partitions, text, strlen(text), &error);
}

static const struct partition_subject ca = {.port_guid = 0x11, .node_type = NODE_CA};
static const struct partition_subject hub = {.port_guid = 0x22, .node_type = NODE_SWITCH};
static const struct partition_subject self = {
	.port_guid = 0x33, .node_type = NODE_CA, .is_self = true};

static void test_default_is_one_partition_for_all(void **state)
{
	uint16_t keys[4];

	(void)state;
	assert_int_equal(partitions_init_default(&partitions), 0);
	assert_true(partitions_are_trivial(&partitions));
	assert_int_equal(partitions_keys(&partitions, &ca, 4, keys), 1);
	assert_int_equal(keys[0], 0xffff);
	assert_true(partitions.partitions[0].has_ipoib);
	partitions_release(&partitions);
}

/* A file without a default partition: all ports are limited members, the manager and switches full
 * members, and its broadcast group exists. */
static void test_file_without_default_makes_others_limited(void **state)
{
	uint16_t keys[4];

	(void)state;
	assert_int_equal(parse("storage = 0x8101 , ipoib, sl=2 : ALL_CAS=full, ALL_SWITCHES;"), 0);
	assert_false(partitions_are_trivial(&partitions));
	assert_int_equal(partitions_keys(&partitions, &ca, 4, keys), 2);
	assert_int_equal(keys[0], 0x7fff);
	assert_int_equal(keys[1], 0x8101);
	assert_int_equal(partitions_keys(&partitions, &hub, 4, keys), 2);
	assert_int_equal(keys[0], 0xffff);
	assert_int_equal(keys[1], 0x0101);
	assert_int_equal(partitions_keys(&partitions, &self, 4, keys), 2);
	assert_int_equal(keys[0], 0xffff);
	assert_int_equal(partitions_find(&partitions, 0x101)->characteristics.sl, 2);
	assert_true(partitions_find(&partitions, 0xffff)->has_ipoib);
	partitions_release(&partitions);
}

static void test_later_members_overrule_and_both_has_two_keys(void **state)
{
	uint16_t keys[4];

	(void)state;
	assert_int_equal(parse("Default=0x7fff,defmember=full: ALL, 0x11=limited;\n"
			       "x=5,indx0: 0x11=both, 0x22=full, ALL_SWITCHES=limited;\n"),
			 0);
	/* indx0: its key comes first. The manager's own port is not a member. */
	assert_int_equal(partitions_keys(&partitions, &ca, 4, keys), 3);
	assert_int_equal(keys[0], 0x8005);
	assert_int_equal(keys[1], 0x0005);
	assert_int_equal(keys[2], 0x7fff);
	assert_int_equal(partition_membership(partitions_find(&partitions, 5), &hub),
			 MEMBER_LIMITED);
	assert_int_equal(partition_membership(partitions_find(&partitions, 5), &self), MEMBER_NONE);
	/* Keys beyond the room are counted. */
	assert_int_equal(partitions_keys(&partitions, &ca, 1, keys), 3);
	partitions_release(&partitions);
}

/* Members may be in other subnets, so routers are full members of each partition, even for limited
 * members. */
static void test_routers_are_full_members_unless_they_are_named(void **state)
{
	static const struct partition_subject router = {.port_guid = 0x44,
							.node_type = NODE_ROUTER};
	uint16_t keys[8];

	(void)state;
	assert_int_equal(parse("Default=0x7fff: ALL=limited, SELF=full;\n"
			       "a=1: 0x11=full; b=2: ALL, ALL_ROUTERS=limited;\n"
			       "c=3: 0x44=both, 0x11; d=4: ALL_CAS=limited;\n"),
			 0);
	assert_int_equal(partitions_keys(&partitions, &router, 8, keys), 6);
	assert_int_equal(keys[0], 0xffff);
	assert_int_equal(keys[1], 0x8001);
	assert_int_equal(keys[2], 0x0002);
	assert_int_equal(keys[3], 0x8003);
	assert_int_equal(keys[4], 0x0003);
	assert_int_equal(keys[5], 0x8004);
	partitions_release(&partitions);
}

static void test_enforcement_has_opensms_names(void **state)
{
	enum part_enforce enforce = PART_ENFORCE_BOTH;

	(void)state;
	assert_true(part_enforce_named("off", &enforce));
	assert_int_equal(enforce, PART_ENFORCE_OFF);
	assert_true(part_enforce_named("in", &enforce));
	assert_int_equal(enforce, PART_ENFORCE_IN);
	assert_true(part_enforce_named("out", &enforce));
	assert_int_equal(enforce, PART_ENFORCE_OUT);
	assert_true(part_enforce_named("both", &enforce));
	assert_int_equal(enforce, PART_ENFORCE_BOTH);
	assert_false(part_enforce_named("none", &enforce));
}

static void test_same_key_is_one_partition_and_missing_keys_are_chosen(void **state)
{
	(void)state;
	assert_int_equal(parse("a=0x1: 0x11; b=0x8001: 0x22=full; c: 0x11; # chosen\n"), 0);
	assert_int_equal(partitions.count, 3);
	assert_string_equal(partitions.partitions[0].name, "a");
	assert_int_equal(partition_membership(&partitions.partitions[0], &hub), MEMBER_FULL);
	assert_int_equal(partitions.partitions[1].pkey, 2);
	partitions_release(&partitions);
}

static void test_groups_are_made_once(void **state)
{
	static struct multicast_groups groups;
	struct gid broadcast = multicast_broadcast_mgid(2, 0x8001);
	struct gid given = {.bytes = {0xff, 0x12, 0x40, 0x1b, 0x80, 0x01, [15] = 0xff}};

	(void)state;
	multicast_groups_init(&groups);
	assert_int_equal(parse("Default: ALL;\n"
			       "a=1,ipoib,mtu=5,rate=7,Q_Key=0x77,scope=2,scope=5:\n"
			       "  ALL=full,\n"
			       "  mgid=ff12:401b::ff,sl=4,Q_Key=9,\n"
			       "  mgid=ff18:a01b:fe80::1\n"
			       "  , 0x11;\n"),
			 0);
	assert_int_equal(partitions_create_groups(&partitions, &groups), 0);
	assert_int_equal(groups.group_count, 4);
	assert_non_null(multicast_groups_find(&groups, &broadcast));
	assert_int_equal(multicast_groups_find(&groups, &broadcast)->characteristics.mtu, 5);
	/* An IP group whose MGID has no P_Key gets the partition's (management 9.2). */
	assert_non_null(multicast_groups_find(&groups, &given));
	assert_int_equal(multicast_groups_find(&groups, &given)->characteristics.sl, 4);
	assert_int_equal(multicast_groups_find(&groups, &given)->characteristics.qkey, 9);
	assert_true(multicast_groups_find(&groups, &given)->is_kept);
	assert_int_equal(partitions_create_groups(&partitions, &groups), 0);
	assert_int_equal(groups.group_count, 4);
	multicast_groups_release(&groups);
	partitions_release(&partitions);
}

static void test_bad_files_say_where_and_why(void **state)
{
	static const struct {
		const char *text;
		unsigned line;
		const char *reason;
	} cases[] = {
		{"a=0x1", 1, "':'"},
		{"a=0x1: ALL", 1, "';'"},
		{"\n\na=0x12345: ALL;", 3, "at most"},
		{"a=x: ALL;", 1, "number"},
		{"a=0x8000: ALL;", 1, "not 0"},
		{"a=1,colour=2: ALL;", 1, "not a flag"},
		{"a=1: ALL;\nb=2: everybody;", 2, "port GUID"},
		{"a=1,sl=16: ALL;", 1, "at most"},
		{"a=1,mtu=0: ALL;", 1, "mtu"},
		{"a=1: mgid=fe80::1\n;", 2, "multicast GID"},
		{"a=1: mgid=ff12::1,colour=3;", 1, "not a flag"},
	};

	(void)state;
	for (unsigned i = 0; i < ARRAY_COUNT(cases); i++) {
		if (parse(cases[i].text) == 0)
			fail_msg("'%s' was accepted", cases[i].text);
		if (error.line != cases[i].line || !strstr(error.reason, cases[i].reason))
			fail_msg("'%s' says %u: '%s'", cases[i].text, error.line, error.reason);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_default_is_one_partition_for_all),
		cmocka_unit_test(test_file_without_default_makes_others_limited),
		cmocka_unit_test(test_later_members_overrule_and_both_has_two_keys),
		cmocka_unit_test(test_routers_are_full_members_unless_they_are_named),
		cmocka_unit_test(test_enforcement_has_opensms_names),
		cmocka_unit_test(test_same_key_is_one_partition_and_missing_keys_are_chosen),
		cmocka_unit_test(test_groups_are_made_once),
		cmocka_unit_test(test_bad_files_say_where_and_why),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
