/* SPDX-License-Identifier: Apache-2.0 */
/* Managers with M_Keys: handover to one that knows the secret, none to those that do not, and
 * leases that let a successor in (management 2.3, 3.1, 3.7). Covers: mgmt/sm/mkeys.c
 * mgmt/sm/election.c */
#include "manager_rig.h"
#include "mgmt/agents/agents.h"

enum { LEASE_SECONDS = 20, HOSTS = 6 };

static struct rig rig;

enum key_kind { KEY_NONE, KEY_ONE, KEY_SECRET };

static struct sm_options manager_with(enum key_kind kind, uint8_t level, uint8_t priority)
{
	struct sm_options options = {.sweep_interval = SECONDS(1),
				     .poll_interval = MILLISECONDS(500),
				     .priority = priority,
				     .mkey_protect_bits = level,
				     .mkey_lease_period = LEASE_SECONDS};

	options.mkey = kind == KEY_ONE ? 0x1234 : 0;
	options.has_mkey_secret = kind == KEY_SECRET;
	memcpy(options.mkey_secret, "fifteen letters", sizeof(options.mkey_secret));
	return options;
}

static uint64_t smps_of(const struct rig_manager *manager)
{
	struct sm_status status;

	sm_status(manager->sm, &status);
	return status.smp_count;
}

static void start_fabric(void)
{
	struct topology_error error;

	rig_init(&rig, 1);
	assert_int_equal(topology_generate(&rig.fabric, "star:6", &error), 0);
}

/* Copies the file of neighbors from one manager to another. */
static void tell_neighbors(struct rig_manager *from, struct rig_manager *to)
{
	char *text = sm_neighbors_text(from->sm);

	if (text)
		assert_int_equal(sm_neighbors_remember(to->sm, text), 0);
	free(text);
}

static uint64_t keys[HOSTS];

static void remember_keys(void)
{
	for (unsigned i = 0; i < HOSTS; i++) {
		keys[i] = rig_host(&rig, i)->ports[1].info.mkey;
		assert_int_not_equal(keys[i], 0);
	}
}

static void expect_same_keys(uint8_t level)
{
	for (unsigned i = 0; i < HOSTS; i++) {
		assert_int_equal(rig_host(&rig, i)->ports[1].info.mkey, keys[i]);
		assert_int_equal(rig_host(&rig, i)->ports[1].info.mkey_protect_bits, level);
	}
}

/* With one key for all ports, and with a key per port at every protection level. */
static void test_standby_that_knows_the_keys_is_handed_the_subnet(void **state)
{
	(void)state;
	for (unsigned kind = KEY_ONE; kind <= KEY_SECRET; kind++) {
		for (uint8_t level = 0; level <= 3; level++) {
			struct sm_options low = manager_with((enum key_kind)kind, level, 3);
			struct sm_options high = manager_with((enum key_kind)kind, level, 9);

			start_fabric();

			struct rig_manager *first = rig_start(&rig, rig_host(&rig, 1), &low);

			rig_run(&rig, SECONDS(3));
			rig_check(&rig);
			remember_keys();

			struct rig_manager *second = rig_start(&rig, rig_host(&rig, 2), &high);

			tell_neighbors(first, second);
			rig_run(&rig, SECONDS(10));
			assert_int_equal(rig_state_of(second), SM_MASTER);
			assert_int_equal(rig_state_of(first), SM_STANDBY);
			expect_same_keys(level);
			rig_check(&rig);
			/* And back, when a manager leaves. */
			sm_leave(second->sm, rig.now);
			rig_run(&rig, rig.now + MILLISECONDS(50));
			assert_int_equal(rig_state_of(first), SM_MASTER);
			rig_kill(second);
			rig_run(&rig, rig.now + SECONDS(3));
			rig_check(&rig);
			expect_same_keys(level);
			rig_release(&rig);
		}
	}
}

static void test_standby_that_knows_the_keys_takes_over_from_a_dead_master(void **state)
{
	(void)state;
	for (uint8_t level = 0; level <= 3; level++) {
		struct sm_options low = manager_with(KEY_SECRET, level, 3);
		struct sm_options high = manager_with(KEY_SECRET, level, 9);

		start_fabric();

		struct rig_manager *master = rig_start(&rig, rig_host(&rig, 1), &high);

		rig_run(&rig, SECONDS(3));
		remember_keys();

		struct rig_manager *standby = rig_start(&rig, rig_host(&rig, 2), &low);

		tell_neighbors(master, standby);
		rig_run(&rig, SECONDS(6));
		assert_int_equal(rig_state_of(standby), SM_STANDBY);
		rig_kill(master);
		rig_run(&rig, SECONDS(14));
		assert_int_equal(rig_state_of(standby), SM_MASTER);
		expect_same_keys(level);
		rig_check(&rig);
		for (unsigned i = 0; i < HOSTS; i++)
			assert_int_equal(rig_host(&rig, i)->ports[1].info.master_sm_lid,
					 rig_host(&rig, 2)->ports[1].info.lid);
		rig_release(&rig);
	}
}

static unsigned stranger_line_count;

static void count_strangers(void *context, enum sm_event event, const char *line)
{
	(void)context;
	stranger_line_count +=
		event == SM_EVENT_WARNING &&
		(strstr(line, "has not shown the M_Key") || strstr(line, "another SM_Key"));
}

/* Although it is higher, is the only standby and knows the default SM_Key; with no M_Key, or with a
 * secret of its own. */
static void test_manager_without_the_key_is_not_handed_the_subnet(void **state)
{
	(void)state;
	for (unsigned kind = KEY_ONE; kind <= KEY_SECRET; kind++) {
		for (unsigned rogue_kind = KEY_NONE; rogue_kind <= KEY_SECRET; rogue_kind++) {
			struct sm_options ours = manager_with((enum key_kind)kind, 1, 3);
			struct sm_options theirs = manager_with((enum key_kind)rogue_kind, 1, 9);

			theirs.mkey ^= theirs.mkey ? 1 : 0;
			theirs.mkey_secret[0] ^= 1;
			ours.owner.log = count_strangers;
			stranger_line_count = 0;
			start_fabric();

			struct rig_manager *master = rig_start(&rig, rig_host(&rig, 1), &ours);

			rig_run(&rig, SECONDS(3));
			remember_keys();

			uint64_t smp_count = smps_of(master);
			struct rig_manager *rogue = rig_start(&rig, rig_host(&rig, 2), &theirs);

			agent_capability_changed(&rig.fabric.agent_memory, rogue->port, rig.now);
			rig_run(&rig, SECONDS(3 + 4 * LEASE_SECONDS));
			assert_int_equal(rig_state_of(master), SM_MASTER);
			expect_same_keys(1);
			assert_int_equal(stranger_line_count, 1);
			assert_true(sm_is_stranger(master->sm, rig_host(&rig, 2)->ports[1].guid));
			for (unsigned i = 0; i < HOSTS; i++)
				assert_int_equal(rig_host(&rig, i)->ports[1].info.master_sm_lid,
						 rig_host(&rig, 1)->ports[1].info.lid);
			/* It does not keep the master busy: a few SMPs a second, and one
			 * TrapRepress per trap. */
			assert_true(smps_of(master) - smp_count < 4 * LEASE_SECONDS * 40);
			rig_kill(rogue);
			rig_run(&rig, rig.now + SECONDS(5));
			assert_int_equal(rig_state_of(master), SM_MASTER);
			rig_check(&rig);
			rig_release(&rig);
		}
	}
}

/* With a lease, a manager without the key gets in when no request had the key for that long;
 * without a lease, never. */
static void test_stranger_inherits_after_the_lease_and_not_before(void **state)
{
	(void)state;
	for (unsigned has_lease = 0; has_lease <= 1; has_lease++) {
		struct sm_options ours = manager_with(KEY_SECRET, 1, 3);
		struct sm_options theirs = manager_with(KEY_NONE, 0, 9);

		ours.mkey_lease_period = has_lease ? LEASE_SECONDS : 0;
		start_fabric();

		struct rig_manager *master = rig_start(&rig, rig_host(&rig, 1), &ours);

		rig_run(&rig, SECONDS(3));
		remember_keys();

		struct rig_manager *stranger = rig_start(&rig, rig_host(&rig, 2), &theirs);

		rig_run(&rig, SECONDS(20));
		rig_kill(master);
		rig_run(&rig, rig.now + SECONDS(LEASE_SECONDS / 2));
		expect_same_keys(1);
		rig_run(&rig, rig.now + SECONDS(4 * LEASE_SECONDS));
		assert_int_equal(rig_state_of(stranger), SM_MASTER);
		if (!has_lease) {
			expect_same_keys(1);
		} else {
			rig_check(&rig);
			for (unsigned i = 0; i < HOSTS; i++)
				assert_int_equal(rig_host(&rig, i)->ports[1].info.master_sm_lid,
						 rig_host(&rig, 2)->ports[1].info.lid);
		}
		rig_release(&rig);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_standby_that_knows_the_keys_is_handed_the_subnet),
		cmocka_unit_test(test_standby_that_knows_the_keys_takes_over_from_a_dead_master),
		cmocka_unit_test(test_manager_without_the_key_is_not_handed_the_subnet),
		cmocka_unit_test(test_stranger_inherits_after_the_lease_and_not_before),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
