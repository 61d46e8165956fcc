/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Multicast pruning in a whole fabric with its manager and SA: every host joins a group by MADs,
 * half of the programs vanish, and the SA finds out by its queries. Links lose packets; several
 * seeds.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>
#include "mgmt/subnet/multicast_groups.h"
#include "mgmt/subnet/subnet.h"
#include "sa_rig.h"
#include "wire/pkey.h"

enum { SEEDS = 4 };

#define INTERVAL SECONDS(60)

static struct sa_rig rig;

static struct member {
	bool is_alive;		  /* its program answers queries */
	unsigned seen_reregister; /* of the adapter's events */
	unsigned answered_count;
} members[SA_RIG_HOSTS_MAX];

static const uint64_t components = SA_COMPONENT(MCR_MGID) | SA_COMPONENT(MCR_PORT_GID) |
				   SA_COMPONENT(MCR_JOIN_STATE) | SA_COMPONENT(MCR_QKEY) |
				   SA_COMPONENT(MCR_TRAFFIC_CLASS) | SA_COMPONENT(MCR_PKEY) |
				   SA_COMPONENT(MCR_SL) | SA_COMPONENT(MCR_FLOW_LABEL);

static void join(unsigned host)
{
	const struct mc_member_record wanted = {.mgid_high = 0xff12a01cfe800000,
						.mgid_low = 7,
						.port_gid_prefix = GID_PREFIX_LINK_LOCAL,
						.port_gid_guid = sa_rig_port(&rig, host)->guid,
						.pkey = PKEY_DEFAULT_FULL,
						.join_state = JOIN_FULL};

	assert_int_equal(sa_client_join(sa_rig_client(&rig, host), &wanted, components,
					(struct mad_purpose){0}),
			 0);
}

/* The SA asks by ClientReregister. */
static void answer_question(unsigned host)
{
	struct member *member = &members[host];
	unsigned count = rig.hosts[host].host->event_counts[HCA_EVENT_CLIENT_REREGISTER];

	if (member->is_alive && count != member->seen_reregister)
		join(host);
	member->seen_reregister = count;
}

static void count_answer(unsigned host)
{
	members[host].answered_count++;
}

static const struct multicast_group *group_now(void)
{
	struct gid mgid = gid_from(0xff12a01cfe800000, 7);

	return multicast_groups_find(sm_multicast_groups(rig.sim.managers[0].sm), &mgid);
}

static bool is_member(unsigned host)
{
	const struct multicast_group *group = group_now();

	return group && multicast_group_member(group, sa_rig_port(&rig, host)->guid);
}

/* Whether packets of the group get to the port: its switch has it in the MFT. */
static bool is_on_tree(unsigned host)
{
	const struct port *at_switch = sa_rig_port(&rig, host)->peer;
	const struct multicast_group *group = group_now();

	return group &&
	       at_switch->node->mft[group->mlid - LID_MULTICAST_FIRST][at_switch->number / 16] >>
			       (at_switch->number % 16) &
		       1;
}

static void run_story(uint64_t seed, uint16_t loss)
{
	static const struct sa_rig_programs programs = {.run = answer_question,
							.answered = count_answer};

	memset(members, 0, sizeof(members));
	sa_rig_begin(&rig, seed, INTERVAL, &programs);
	for (unsigned i = 0; i < rig.host_count; i++)
		join(i);
	assert_int_equal(sim_set_faults(&rig.sim, &(struct sim_faults){.drop = loss}), 0);
	sa_rig_run_for(&rig, SECONDS(10));
	for (unsigned i = 0; i < rig.host_count; i++) {
		assert_int_equal(members[i].answered_count, 1);
		assert_true(is_member(i) && is_on_tree(i));
		members[i].is_alive = i % 2;
	}
	sa_rig_run_for(&rig, 2 * INTERVAL);
	for (unsigned i = 0; i < rig.host_count; i++) {
		assert_int_equal(is_member(i), i % 2);
		assert_int_equal(is_on_tree(i), i % 2);
	}
	/* Members that answer stay. */
	sa_rig_run_for(&rig, 5 * INTERVAL);
	for (unsigned i = 0; i < rig.host_count; i++) {
		assert_int_equal(is_member(i), i % 2);
		assert_true(members[i].answered_count > 5 || !(i % 2));
	}
	sa_rig_end(&rig);
}

static void test_vanished_members_are_pruned_and_the_others_stay(void **state)
{
	(void)state;
	run_story(1, 0);
}

/* Two percent on each of up to six links, for queries and answers alike. */
static void test_loss_prunes_nobody_who_answers(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= SEEDS; seed++)
		run_story(seed, 20);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_vanished_members_are_pruned_and_the_others_stay),
		cmocka_unit_test(test_loss_prunes_nobody_who_answers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
