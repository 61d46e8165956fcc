/* SPDX-License-Identifier: Apache-2.0 */
/* Members of multicast groups that do not react to ClientReregister are removed. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "mgmt/sa/pruning.h"
#include "sa_fixture.h"

#define INTERVAL SECONDS(60)

static struct sa_fixture fixture;
static struct sa_reply reply;

static const uint64_t join_mask = SA_COMPONENT(MCR_MGID) | SA_COMPONENT(MCR_PORT_GID) |
				  SA_COMPONENT(MCR_JOIN_STATE) | SA_COMPONENT(MCR_QKEY) |
				  SA_COMPONENT(MCR_TRAFFIC_CLASS) | SA_COMPONENT(MCR_PKEY) |
				  SA_COMPONENT(MCR_SL) | SA_COMPONENT(MCR_FLOW_LABEL);

static int set_up(void **state)
{
	(void)state;
	sa_fixture_start_pruning(&fixture, INTERVAL);
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	sa_fixture_stop(&fixture);
	return 0;
}

static void join_for(unsigned asker, unsigned host, uint8_t join_state)
{
	const struct mc_member_record wanted = {.mgid_high = 0xff12a01cfe800000,
						.mgid_low = 1,
						.port_gid_prefix = GID_PREFIX_LINK_LOCAL,
						.port_gid_guid = fixture_port(&fixture, host)->guid,
						.pkey = 0xffff,
						.join_state = join_state};

	fixture_ask_member(&fixture, asker, MAD_SET, &wanted, join_mask, &reply);
	assert_int_equal(reply.status, 0);
}

static void join(unsigned host)
{
	join_for(host, host, JOIN_FULL);
}

static struct multicast_group *the_group(void)
{
	struct gid mgid = gid_from(0xff12a01cfe800000, 1);

	return multicast_groups_find(&fixture.subnet->multicast_groups, &mgid);
}

static struct multicast_member *member(unsigned host)
{
	return the_group() ? multicast_group_member(the_group(), fixture_port(&fixture, host)->guid)
			   : NULL;
}

static void pass(time_ns time)
{
	struct mad_message message;

	fixture.now += time;
	while (fixture_next_message(&fixture, &message)) {
	}
}

static bool is_asked(unsigned host)
{
	for (unsigned i = 0; i < fixture.asked_count; i++) {
		if (fixture.asked_guids[i] == fixture_port(&fixture, host)->guid)
			return true;
	}
	return false;
}

/* The manager got the responses of these ports to Set(PortInfo). */
static void deliver_questions(void)
{
	for (unsigned i = 0; i < fixture.asked_count; i++)
		sa_reregistration_asked(fixture.sa, fixture.now, fixture.asked_guids[i]);
	fixture.asked_count = 0;
}

static void test_members_are_asked_once_per_interval(void **state)
{
	(void)state;
	join(1);
	join(3);
	pass(INTERVAL - 1);
	assert_int_equal(fixture.asked_count, 0);
	assert_int_equal(sa_deadline(fixture.sa), fixture.now + 1);
	pass(1);
	assert_int_equal(fixture.asked_count, 2);
	assert_true(is_asked(1) && is_asked(3) && !is_asked(2));
	fixture.asked_count = 0;
	pass(INTERVAL - 1);
	assert_int_equal(fixture.asked_count, 0);
	pass(1);
	assert_int_equal(fixture.asked_count, 2);
}

static void test_silent_member_leaves_its_group(void **state)
{
	struct sa_status status;

	(void)state;
	join(1);
	join(3);
	pass(INTERVAL);
	deliver_questions();
	fixture.changed_count = 0;
	join(1);
	assert_int_equal(sa_deadline(fixture.sa), fixture.now + PRUNING_ANSWER_TIME_MAX);
	pass(PRUNING_ANSWER_TIME_MAX - 1);
	assert_non_null(member(3));
	pass(1);
	assert_null(member(3));
	assert_non_null(member(1));
	/* The tree is updated. */
	assert_int_equal(fixture.changed_count, 1);
	sa_status(fixture.sa, &status);
	assert_int_equal(status.pruned_count, 1);
}

static void test_group_without_members_ends(void **state)
{
	(void)state;
	join(1);
	pass(INTERVAL);
	deliver_questions();
	pass(PRUNING_ANSWER_TIME_MAX);
	assert_null(the_group());
}

/* A client may join again before its port's response reaches the manager. */
static void test_answer_before_the_question_is_known_to_be_there_counts(void **state)
{
	(void)state;
	join(1);
	pass(INTERVAL);
	join(1);
	deliver_questions();
	pass(PRUNING_ANSWER_TIME_MAX);
	assert_non_null(member(1));
}

static void test_only_states_that_were_joined_again_stay(void **state)
{
	(void)state;
	join(1);
	join(3);
	join_for(3, 3, JOIN_SEND_ONLY);
	pass(INTERVAL);
	deliver_questions();
	join(1);
	join_for(3, 3, JOIN_SEND_ONLY);
	pass(PRUNING_ANSWER_TIME_MAX);
	assert_int_equal(member(3)->join_state, JOIN_SEND_ONLY);
	assert_int_equal(member(1)->join_state, JOIN_FULL);
}

/* Ports that do not support ClientReregister, or that the manager does not reach. */
static void test_port_that_was_not_asked_keeps_its_memberships(void **state)
{
	(void)state;
	join(1);
	for (unsigned i = 0; i < 5; i++)
		pass(INTERVAL);
	assert_non_null(member(1));
}

static void test_member_that_came_after_the_question_stays(void **state)
{
	(void)state;
	join(1);
	pass(INTERVAL);
	deliver_questions();
	join(1);
	join(3);
	pass(PRUNING_ANSWER_TIME_MAX);
	assert_non_null(member(3));
}

static void test_who_joined_for_another_is_asked(void **state)
{
	(void)state;
	join_for(2, 3, JOIN_FULL);
	pass(INTERVAL);
	assert_true(is_asked(2) && !is_asked(3));
	deliver_questions();
	join_for(2, 3, JOIN_FULL);
	pass(PRUNING_ANSWER_TIME_MAX);
	assert_non_null(member(3));
	pass(INTERVAL);
	deliver_questions();
	pass(PRUNING_ANSWER_TIME_MAX);
	assert_null(member(3));
}

static void test_no_interval_means_no_questions(void **state)
{
	(void)state;
	sa_fixture_stop(&fixture);
	sa_fixture_start(&fixture);
	join(1);
	assert_int_equal(sa_deadline(fixture.sa), TIME_NEVER);
	pass(SECONDS(100000));
	assert_int_equal(fixture.asked_count, 0);
	assert_non_null(member(1));
}

/* A new master starts without members, and with a whole period. */
static void test_period_begins_with_serving(void **state)
{
	(void)state;
	pass(INTERVAL / 2);
	sa_stop_serving(fixture.sa);
	assert_int_equal(sa_deadline(fixture.sa), TIME_NEVER);
	fixture_sweep(&fixture);
	join(1);
	pass(INTERVAL - 1);
	assert_int_equal(fixture.asked_count, 0);
	pass(1);
	assert_int_equal(fixture.asked_count, 1);
}

#define TEST(function) cmocka_unit_test_setup_teardown(function, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_members_are_asked_once_per_interval),
		TEST(test_silent_member_leaves_its_group),
		TEST(test_group_without_members_ends),
		TEST(test_answer_before_the_question_is_known_to_be_there_counts),
		TEST(test_only_states_that_were_joined_again_stay),
		TEST(test_port_that_was_not_asked_keeps_its_memberships),
		TEST(test_member_that_came_after_the_question_stays),
		TEST(test_who_joined_for_another_is_asked),
		TEST(test_no_interval_means_no_questions),
		TEST(test_period_begins_with_serving),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
