/* SPDX-License-Identifier: Apache-2.0 */
/* Multicast groups: MGIDs, MLIDs, members (management 4.7). */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "mgmt/subnet/multicast_groups.h"

static struct multicast_groups groups;
static const struct multicast_characteristics values = {.qkey = 1, .pkey = 0xffff, .mtu = 4};

static int set_up(void **state)
{
	(void)state;
	multicast_groups_init(&groups);
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	multicast_groups_release(&groups);
	return 0;
}

static struct gid mgid(uint64_t high, uint64_t low)
{
	return gid_from(0xff12000000000000 | high, low);
}

static struct multicast_group *create(uint64_t high, uint64_t low)
{
	struct gid gid = mgid(high, low);
	struct multicast_group *group;

	assert_int_equal(multicast_groups_create(&groups, &gid, &values, &group), 0);
	return group;
}

static void test_group_is_found_by_mgid_and_mlid(void **state)
{
	struct multicast_group *first = create(1, 1);
	struct multicast_group *second = create(1, 2);
	struct gid gid = mgid(1, 2);
	struct gid other = mgid(1, 3);

	(void)state;
	assert_int_equal(first->mlid, 0xc000);
	assert_int_equal(second->mlid, 0xc001);
	assert_ptr_equal(multicast_groups_find(&groups, &gid), second);
	assert_ptr_equal(multicast_groups_by_mlid(&groups, 0xc000), first);
	assert_null(multicast_groups_find(&groups, &other));
	assert_null(multicast_groups_by_mlid(&groups, 0xc002));
	assert_null(multicast_groups_by_mlid(&groups, 0xffff));
	assert_null(multicast_groups_by_mlid(&groups, 5));
}

static void test_second_group_with_the_same_mgid_is_refused(void **state)
{
	struct gid gid = mgid(1, 1);
	struct multicast_group *group;

	(void)state;
	create(1, 1);
	assert_int_equal(multicast_groups_create(&groups, &gid, &values, &group), -EEXIST);
}

/* MGIDs whose halves have the same hash are told apart, in whatever order they are removed. */
static void test_mgids_with_the_same_hash_are_apart(void **state)
{
	uint64_t factor = 0x9e3779b97f4a7c15u;
	struct gid gids[3];

	(void)state;
	for (unsigned order = 0; order < 3; order++) {
		for (unsigned i = 0; i < 3; i++) {
			struct multicast_group *group;
			uint64_t high = 0xff12000000000000 + i;

			gids[i] = gid_from(high, high * factor);
			assert_int_equal(
				multicast_groups_create(&groups, &gids[i], &values, &group), 0);
		}
		for (unsigned i = 0; i < 3; i++) {
			unsigned goes = (i + order) % 3;

			multicast_groups_delete(&groups,
						multicast_groups_find(&groups, &gids[goes]));
			for (unsigned j = i + 1; j < 3; j++) {
				struct gid *left = &gids[(j + order) % 3];

				assert_true(gid_equal(&multicast_groups_find(&groups, left)->mgid,
						      left));
			}
			assert_null(multicast_groups_find(&groups, &gids[goes]));
		}
	}
}

static void test_mlids_run_out_and_come_back(void **state)
{
	struct gid gid = mgid(9, 9);
	struct multicast_group *group;

	(void)state;
	groups.mlid_count_max = 4;
	for (unsigned i = 0; i < 4; i++)
		create(1, i);
	assert_int_equal(multicast_groups_create(&groups, &gid, &values, &group), -ENOSPC);
	multicast_groups_delete(&groups, multicast_groups_by_mlid(&groups, 0xc002));
	assert_int_equal(multicast_groups_create(&groups, &gid, &values, &group), 0);
	assert_int_equal(group->mlid, 0xc002);
}

/* The tree of a deleted group may still exist. */
static void test_freed_mlid_is_not_the_first_to_be_used_again(void **state)
{
	(void)state;
	multicast_groups_delete(&groups, create(1, 1));
	assert_int_equal(create(1, 2)->mlid, 0xc001);
}

static void test_chosen_mgids_are_new_and_have_the_prefix(void **state)
{
	struct gid first = multicast_groups_choose_mgid(&groups, 5, 0xfe80000000000000);
	struct multicast_group *group;

	(void)state;
	assert_int_equal(get_be32(first.bytes), 0xff15a01b);
	assert_int_equal(get_be64(first.bytes + 4), 0xfe80000000000000);
	assert_int_equal(multicast_groups_create(&groups, &first, &values, &group), 0);

	struct gid second = multicast_groups_choose_mgid(&groups, 5, 0xfe80000000000000);

	assert_false(gid_equal(&first, &second));
}

static void test_members_join_and_leave_by_bits(void **state)
{
	struct multicast_group *group = create(1, 1);
	struct multicast_member *member;

	(void)state;
	assert_false(multicast_group_is_alive(group));
	assert_int_equal(multicast_group_join(group, 7, JOIN_FULL, &member), 0);
	assert_int_equal(multicast_group_join(group, 7, JOIN_SEND_ONLY, &member), 0);
	assert_int_equal(group->member_count, 1);
	assert_int_equal(member->join_state, JOIN_FULL | JOIN_SEND_ONLY);
	assert_true(multicast_group_is_alive(group));
	assert_true(multicast_member_receives(member));
	assert_int_equal(multicast_group_leave(group, member, JOIN_FULL), JOIN_SEND_ONLY);
	assert_false(multicast_group_is_alive(group));
	assert_false(multicast_member_receives(member));
	assert_int_equal(multicast_group_leave(group, member, JOIN_SEND_ONLY), 0);
	assert_null(multicast_group_member(group, 7));
	assert_int_equal(group->member_count, 0);
}

static void test_send_only_full_member_keeps_a_group_alive(void **state)
{
	struct multicast_group *group = create(1, 1);
	struct multicast_member *member;

	(void)state;
	assert_int_equal(multicast_group_join(group, 7, JOIN_SEND_ONLY_FULL, &member), 0);
	assert_true(multicast_group_is_alive(group));
	assert_false(multicast_member_receives(member));
	/* A member counts once, whatever states it joined with. */
	assert_int_equal(multicast_group_join(group, 7, JOIN_FULL, &member), 0);
	multicast_group_leave(group, member, JOIN_SEND_ONLY_FULL);
	assert_true(multicast_group_is_alive(group));
	multicast_group_leave(group, member, JOIN_FULL);
	assert_false(multicast_group_is_alive(group));
}

static void test_broadcast_mgid_has_scope_and_partition(void **state)
{
	struct gid gid = multicast_broadcast_mgid(2, 0x7fff);

	(void)state;
	assert_int_equal(gid_prefix(&gid), 0xff12401bffff0000);
	assert_int_equal(gid_guid(&gid), 0x00000000ffffffff);
}

#define GROUP_TEST(function) cmocka_unit_test_setup_teardown(function, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		GROUP_TEST(test_group_is_found_by_mgid_and_mlid),
		GROUP_TEST(test_second_group_with_the_same_mgid_is_refused),
		GROUP_TEST(test_mgids_with_the_same_hash_are_apart),
		GROUP_TEST(test_mlids_run_out_and_come_back),
		GROUP_TEST(test_freed_mlid_is_not_the_first_to_be_used_again),
		GROUP_TEST(test_chosen_mgids_are_new_and_have_the_prefix),
		GROUP_TEST(test_members_join_and_leave_by_bits),
		GROUP_TEST(test_send_only_full_member_keeps_a_group_alive),
		GROUP_TEST(test_broadcast_mgid_has_scope_and_partition),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
