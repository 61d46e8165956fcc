/* SPDX-License-Identifier: Apache-2.0 */
/* Several subnet managers: election, handover, splits, merges and lossy links (management 3.1). */
#include "manager_rig.h"

static struct rig rig;

static const struct sm_options plain = {.sweep_interval = SECONDS(1),
					.poll_interval = MILLISECONDS(500)};

static struct sm_options with_priority(uint8_t priority)
{
	struct sm_options options = plain;

	options.priority = priority;
	return options;
}

static void generate(const char *generator)
{
	struct topology_error error;

	assert_int_equal(topology_generate(&rig.fabric, generator, &error), 0);
}

/* Priority decides, then the lower GUID. A higher manager that comes later gets a handover. */
static void test_the_best_manager_is_master_whoever_came_first(void **state)
{
	struct sm_options low = with_priority(3), high = with_priority(9);

	(void)state;
	rig_init(&rig, 1);
	generate("star:6");

	struct rig_manager *first = rig_start(&rig, rig_host(&rig, 3), &low);

	rig_run(&rig, SECONDS(2));
	assert_int_equal(rig_state_of(first), SM_MASTER);
	rig_check(&rig);

	uint16_t lid = rig_host(&rig, 5)->ports[1].info.lid;
	struct rig_manager *second = rig_start(&rig, rig_host(&rig, 4), &high);

	rig_run(&rig, SECONDS(6));
	assert_int_equal(rig_state_of(first), SM_STANDBY);
	assert_int_equal(rig_state_of(second), SM_MASTER);
	assert_int_equal(rig_host(&rig, 5)->ports[1].info.lid, lid);
	assert_int_equal(rig_host(&rig, 5)->ports[1].info.master_sm_lid,
			 rig_host(&rig, 4)->ports[1].info.lid);

	/* Same priority and a lower GUID: higher. */
	struct rig_manager *third = rig_start(&rig, rig_host(&rig, 1), &high);

	rig_run(&rig, SECONDS(12));
	assert_int_equal(rig_state_of(third), SM_MASTER);
	assert_int_equal(rig_state_of(second), SM_STANDBY);
	rig_check(&rig);
	rig_release(&rig);
}

static void test_standby_takes_over_when_the_master_dies_and_no_lid_changes(void **state)
{
	struct sm_options low = with_priority(3), high = with_priority(9);
	uint16_t lids[8];

	(void)state;
	rig_init(&rig, 1);
	generate("star:8");

	struct rig_manager *standby = rig_start(&rig, rig_host(&rig, 3), &low);
	struct rig_manager *master = rig_start(&rig, rig_host(&rig, 6), &high);

	rig_run(&rig, SECONDS(3));
	assert_int_equal(rig_state_of(master), SM_MASTER);
	for (unsigned i = 0; i < 8; i++)
		lids[i] = rig_host(&rig, i)->ports[1].info.lid;
	rig_kill(master);
	rig_run(&rig, SECONDS(12));
	assert_int_equal(rig_state_of(standby), SM_MASTER);
	for (unsigned i = 0; i < 8; i++) {
		assert_int_equal(rig_host(&rig, i)->ports[1].info.lid, lids[i]);
		assert_int_equal(rig_host(&rig, i)->ports[1].info.master_sm_lid, lids[3]);
	}
	rig_check(&rig);
	rig_release(&rig);
}

static void test_leaving_master_hands_over_at_once(void **state)
{
	struct sm_options low = with_priority(3), high = with_priority(9);

	(void)state;
	rig_init(&rig, 1);
	generate("star:4");

	struct rig_manager *standby = rig_start(&rig, rig_host(&rig, 1), &low);
	struct rig_manager *master = rig_start(&rig, rig_host(&rig, 2), &high);

	rig_run(&rig, SECONDS(3));
	sm_leave(master->sm, rig.now);
	rig_run(&rig, rig.now + MILLISECONDS(50));
	assert_true(sm_is_leaving_done(master->sm));
	assert_int_equal(rig_state_of(standby), SM_MASTER);
	rig_kill(master);
	rig_run(&rig, SECONDS(6));
	rig_check(&rig);
	rig_release(&rig);
}

static struct node *first_switch(void)
{
	for (uint32_t i = 0; i < rig.fabric.node_count; i++) {
		if (node_is_switch(rig.fabric.by_index[i]))
			return rig.fabric.by_index[i];
	}
	fail();
	return NULL;
}

/* A manager may be on port 0 of a switch: it is elected, gets the traps of its own switch and of
 * others, hands over and takes over. */
static void test_manager_on_a_switch_is_one_like_others(void **state)
{
	struct sm_options low = with_priority(3), high = with_priority(9);

	(void)state;
	rig_init(&rig, 1);
	generate("mesh:2x2");

	struct node *home = first_switch();
	struct rig_manager *on_switch = rig_start(&rig, home, &low);

	rig_run(&rig, SECONDS(2));
	assert_int_equal(rig_state_of(on_switch), SM_MASTER);
	rig_check(&rig);
	assert_int_equal(rig_host(&rig, 2)->ports[1].info.master_sm_lid, home->ports[0].info.lid);
	for (unsigned k = 1; k <= home->port_count; k++) {
		if (!home->ports[k].peer)
			continue;
		fabric_set_cable(&rig.fabric, &home->ports[k], false, rig.now);
		rig_run(&rig, rig.now + SECONDS(3));
		fabric_set_cable(&rig.fabric, &home->ports[k], true, rig.now);
		rig_run(&rig, rig.now + SECONDS(3));
		rig_check(&rig);
	}

	struct rig_manager *on_host = rig_start(&rig, rig_host(&rig, 3), &high);

	rig_run(&rig, rig.now + SECONDS(6));
	assert_int_equal(rig_state_of(on_host), SM_MASTER);
	assert_int_equal(rig_state_of(on_switch), SM_STANDBY);
	rig_kill(on_host);
	rig_run(&rig, rig.now + SECONDS(10));
	assert_int_equal(rig_state_of(on_switch), SM_MASTER);
	rig_check(&rig);
	rig_release(&rig);
}

static unsigned silence_count;

static void count_silence(void *context, enum sm_event event, const char *line)
{
	(void)context;
	(void)event;
	silence_count += strstr(line, "does not answer") != NULL;
}

/* Two higher managers come at once. The master hands over to one; the other, which polled the
 * master, follows without reporting it as dead. */
static void test_third_manager_follows_a_handover_without_a_false_alarm(void **state)
{
	struct sm_options low = with_priority(3), middle = with_priority(6),
			  high = with_priority(9);

	(void)state;
	silence_count = 0;
	middle.owner.log = count_silence;
	rig_init(&rig, 1);
	generate("star:6");

	struct rig_manager *first = rig_start(&rig, rig_host(&rig, 1), &low);

	rig_run(&rig, SECONDS(2));

	struct rig_manager *third = rig_start(&rig, rig_host(&rig, 2), &middle);
	struct rig_manager *second = rig_start(&rig, rig_host(&rig, 3), &high);
	struct sm_status status;

	rig_run(&rig, SECONDS(12));
	assert_int_equal(rig_state_of(first), SM_STANDBY);
	assert_int_equal(rig_state_of(second), SM_MASTER);
	assert_int_equal(rig_state_of(third), SM_STANDBY);
	sm_status(third->sm, &status);
	assert_int_equal(status.master_guid, rig_host(&rig, 3)->ports[1].guid);
	assert_int_equal(silence_count, 0);
	rig_check(&rig);
	rig_release(&rig);
}

static void test_raised_priority_moves_the_subnet(void **state)
{
	struct sm_options low = with_priority(3), high = with_priority(9);

	(void)state;
	rig_init(&rig, 1);
	generate("star:4");

	struct rig_manager *standby = rig_start(&rig, rig_host(&rig, 1), &low);
	struct rig_manager *master = rig_start(&rig, rig_host(&rig, 2), &high);

	rig_run(&rig, SECONDS(3));
	assert_int_equal(rig_state_of(standby), SM_STANDBY);
	sm_set_priority(standby->sm, rig.now, 12);
	rig_run(&rig, SECONDS(6));
	assert_int_equal(rig_state_of(standby), SM_MASTER);
	assert_int_equal(rig_state_of(master), SM_STANDBY);
	rig_release(&rig);
}

static void test_managers_with_another_sm_key_are_left_alone(void **state)
{
	struct sm_options ours = with_priority(3), theirs = with_priority(9);

	(void)state;
	ours.sm_key = 1;
	theirs.sm_key = 2;
	rig_init(&rig, 1);
	generate("star:4");

	struct rig_manager *first = rig_start(&rig, rig_host(&rig, 1), &ours);

	rig_run(&rig, SECONDS(2));
	rig_start(&rig, rig_host(&rig, 2), &theirs);
	rig_run(&rig, SECONDS(5));
	assert_int_equal(rig_state_of(first), SM_MASTER);
	rig_release(&rig);
}

/* Cut in two, each half has its own master. After the halves are connected again, the higher one is
 * master of all, and no LID is used twice. */
static void test_split_and_healed_subnets_have_one_master_each(void **state)
{
	struct sm_options low = with_priority(3), high = with_priority(9);

	(void)state;
	rig_init(&rig, 1);
	generate("mesh:2x1");

	struct rig_manager *left = rig_start(&rig, rig_host(&rig, 0), &low);
	struct rig_manager *right = rig_start(&rig, rig_host(&rig, 1), &high);
	struct port *between = NULL;

	for (uint32_t i = 0; i < rig.fabric.node_count; i++) {
		struct node *node = rig.fabric.by_index[i];

		for (unsigned k = 1; node_is_switch(node) && k <= node->port_count; k++) {
			if (node->ports[k].peer && node_is_switch(node->ports[k].peer->node))
				between = &node->ports[k];
		}
	}
	assert_non_null(between);
	rig_run(&rig, SECONDS(3));
	assert_int_equal(rig_state_of(left), SM_STANDBY);
	fabric_set_cable(&rig.fabric, between, false, rig.now);
	rig_run(&rig, SECONDS(15));
	assert_int_equal(rig_state_of(left), SM_MASTER);
	assert_int_equal(rig_state_of(right), SM_MASTER);
	rig_check(&rig);
	fabric_set_cable(&rig.fabric, between, true, rig.now);
	rig_run(&rig, SECONDS(30));
	assert_int_equal(rig_state_of(left), SM_STANDBY);
	assert_int_equal(rig_state_of(right), SM_MASTER);
	rig_check(&rig);
	rig_release(&rig);
}

/* 12 links lose up to 90 % of all MADs in both directions. */
static void test_lossy_links_come_up(void **state)
{
	unsigned lossy_count = 0;

	(void)state;
	for (uint64_t seed = 1; seed <= 3; seed++) {
		rig_init(&rig, seed);
		generate("mesh:4x4");
		lossy_count = 0;
		for (uint32_t i = 0; i < rig.fabric.node_count && lossy_count < 12; i++) {
			struct node *node = rig.fabric.by_index[rig.fabric.node_count - 1 - i];
			struct port *port = &node->ports[1];
			struct fault_settings settings = {.includes_mads = true};

			if (!port->peer)
				continue;
			settings.drop = FAULT_CERTAIN / 10 * (lossy_count % 4 * 2 + 3);
			lossy_count++;
			assert_int_equal(faults_set(&rig.fabric, port, &settings, seed, 0), 0);
			assert_int_equal(faults_set(&rig.fabric, port->peer, &settings, seed, 0),
					 0);
		}
		assert_int_equal(lossy_count, 12);
		rig_start(&rig, rig_host(&rig, 0), &plain);
		rig_run(&rig, SECONDS(600));
		rig_check(&rig);
		rig_release(&rig);
	}
}

/* A link so slow that every response comes after the last try. */
static void test_late_answers_are_waited_for(void **state)
{
	const struct fault_settings slow = {.includes_mads = true, .delay = MILLISECONDS(400)};
	struct port *port;

	(void)state;
	rig_init(&rig, 1);
	generate("star:4");
	port = &rig_host(&rig, 3)->ports[1];
	assert_int_equal(faults_set(&rig.fabric, port, &slow, 1, 0), 0);
	assert_int_equal(faults_set(&rig.fabric, port->peer, &slow, 1, 0), 0);
	rig_start(&rig, rig_host(&rig, 0), &plain);
	rig_run(&rig, SECONDS(60));
	rig_check(&rig);
	rig_release(&rig);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_the_best_manager_is_master_whoever_came_first),
		cmocka_unit_test(test_standby_takes_over_when_the_master_dies_and_no_lid_changes),
		cmocka_unit_test(test_leaving_master_hands_over_at_once),
		cmocka_unit_test(test_manager_on_a_switch_is_one_like_others),
		cmocka_unit_test(test_third_manager_follows_a_handover_without_a_false_alarm),
		cmocka_unit_test(test_raised_priority_moves_the_subnet),
		cmocka_unit_test(test_managers_with_another_sm_key_are_left_alone),
		cmocka_unit_test(test_split_and_healed_subnets_have_one_master_each),
		cmocka_unit_test(test_lossy_links_come_up),
		cmocka_unit_test(test_late_answers_are_waited_for),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
