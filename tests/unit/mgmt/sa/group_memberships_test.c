/* SPDX-License-Identifier: Apache-2.0 */
/* Memberships by MGID, and the states to join or leave. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "mgmt/sa/group_memberships.h"
#include "mgmt/subnet/multicast_groups.h"

enum { MANY = 500, SAME_COUNT = 4 };

static struct gid mgid_of(uint64_t number)
{
	return gid_from(0xff1ea01b00000000u, number);
}

/* MGIDs with one hash: prefix times the golden ratio, exclusive or with the rest. */
static struct gid mgid_of_same_hash(uint64_t number)
{
	uint64_t prefix = 0xff1ea01b00000000u + number;

	return gid_from(prefix, 0x1234 ^ prefix * 0x9e3779b97f4a7c15u);
}

static struct group_membership *add(struct group_memberships *memberships, struct gid mgid)
{
	struct group_membership *made = group_memberships_add(memberships, &mgid);

	assert_non_null(made);
	assert_true(gid_equal(&made->mgid, &mgid));
	assert_int_equal(made->wanted | made->joined | made->asked, 0);
	return made;
}

static void test_many_are_found_until_forgotten(void **state)
{
	struct group_memberships memberships;
	struct group_membership *made[MANY];

	(void)state;
	group_memberships_init(&memberships);
	for (unsigned i = 0; i < MANY; i++)
		made[i] = add(&memberships, mgid_of(i));
	for (unsigned i = 0; i < MANY; i += 2)
		group_memberships_forget(&memberships, made[i]);
	for (unsigned i = 0; i < MANY; i++) {
		struct gid mgid = mgid_of(i);

		assert_ptr_equal(group_memberships_find(&memberships, &mgid),
				 i % 2 ? made[i] : NULL);
	}
	/* In the order of creation. */
	assert_ptr_equal(group_membership_of(memberships.all.next), made[1]);
	group_memberships_release(&memberships);
}

/* MGIDs can be chosen so that they have one hash. Each is found, whichever is removed first. */
static void test_mgids_of_one_hash_are_told_apart(void **state)
{
	(void)state;
	for (unsigned gone = 0; gone < 1u << SAME_COUNT; gone++) {
		struct group_memberships memberships;
		struct group_membership *made[SAME_COUNT];

		group_memberships_init(&memberships);
		for (unsigned i = 0; i < SAME_COUNT; i++)
			made[i] = add(&memberships, mgid_of_same_hash(i));
		assert_int_equal(memberships.by_mgid.count, 1);
		for (unsigned i = 0; i < SAME_COUNT; i++)
			if (gone & 1u << i)
				group_memberships_forget(&memberships, made[i]);
		for (unsigned i = 0; i < SAME_COUNT; i++) {
			struct gid mgid = mgid_of_same_hash(i);

			assert_ptr_equal(group_memberships_find(&memberships, &mgid),
					 gone & 1u << i ? NULL : made[i]);
		}
		assert_int_equal(list_is_empty(&memberships.all), gone == (1u << SAME_COUNT) - 1);
		group_memberships_release(&memberships);
	}
}

/* Every pair of wanted and joined states: missing states are joined first, then the others are
 * left. */
static void test_due_states_lead_to_what_is_wanted(void **state)
{
	(void)state;
	for (unsigned wanted = 0; wanted <= JOIN_ALL; wanted++) {
		for (unsigned joined = 0; joined <= JOIN_ALL; joined++) {
			struct group_membership membership = {.wanted = (uint8_t)wanted,
							      .joined = (uint8_t)joined};
			unsigned requests = 0;
			bool is_leaving;
			uint8_t due;

			while ((due = group_membership_due(&membership, &is_leaving))) {
				/* A port that stays in a group never leaves it in between. */
				assert_true(!is_leaving || !(due & wanted));
				assert_true(is_leaving || due == wanted);
				membership.joined = is_leaving ? membership.joined & (uint8_t)~due
							       : membership.joined | due;
				assert_true(++requests <= 2);
			}
			assert_int_equal(membership.joined, wanted);
		}
	}
}

static void test_doubtful_member_joins_again_and_non_member_leaves(void **state)
{
	struct group_membership membership = {
		.wanted = JOIN_FULL, .joined = JOIN_FULL, .is_doubtful = true};
	bool is_leaving;

	(void)state;
	assert_int_equal(group_membership_due(&membership, &is_leaving), JOIN_FULL);
	assert_false(is_leaving);
	membership.wanted = 0;
	assert_int_equal(group_membership_due(&membership, &is_leaving), JOIN_FULL);
	assert_true(is_leaving);
}

static void test_request_without_an_answer_may_have_been_done(void **state)
{
	struct group_membership joining = {.asked = JOIN_NON, .joined = JOIN_FULL};
	struct group_membership leaving = {
		.asked = JOIN_FULL, .joined = JOIN_FULL, .is_leaving = true};

	(void)state;
	group_membership_doubt_request(&joining);
	assert_int_equal(joining.joined, JOIN_FULL | JOIN_NON);
	assert_int_equal(joining.asked, 0);
	group_membership_doubt_request(&leaving);
	assert_int_equal(leaving.joined, JOIN_FULL);
	assert_int_equal(leaving.asked, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_many_are_found_until_forgotten),
		cmocka_unit_test(test_mgids_of_one_hash_are_told_apart),
		cmocka_unit_test(test_due_states_lead_to_what_is_wanted),
		cmocka_unit_test(test_doubtful_member_joins_again_and_non_member_leaves),
		cmocka_unit_test(test_request_without_an_answer_may_have_been_done),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
