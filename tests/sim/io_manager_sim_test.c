/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The I/O resource manager in a whole fabric with its subnet manager and SA: units that tell the
 * truth, units that lie, units that change and one that vanishes, while links lose, repeat and
 * reorder packets. Several seeds.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>
#include "fake_unit.h"
#include "mgmt/agents/io_unit.h"
#include "mgmt/device/io_manager.h"
#include "sa_rig.h"
#include "wire/pkey.h"

enum {
	SEEDS = 6,
	MANAGER_HOST = 1,
	SA_AGENT = 200,
	DEVICE_AGENT = 201,
	TRUTHFUL_FIRST = 4, /* hosts 4 to 9: real agents */
	TRUTHFUL_LAST = 9,
	CONTROLLERS = 12, /* of each truthful unit */
	LIAR = 10,
	RESTLESS = 11,
	VANISHING = 12,
};

static struct sa_rig rig;
static struct io_manager manager;
static bool is_scanning;
static struct fake_unit liar, restless;
static unsigned requests_until_gone;

static uint32_t agent_of(const struct mad_message *message)
{
	return get_be32(message->bytes + MAD_TRANSACTION_ID_OFFSET);
}

/* A request to the agent of a host, real or scripted. */
static void serve(unsigned host, const struct mad_message *request)
{
	struct mad_message answer;
	struct node *node = sa_rig_port(&rig, host)->node;

	if (host == VANISHING && requests_until_gone && --requests_until_gone == 0)
		fabric_set_cable(&rig.sim.fabric, sa_rig_port(&rig, host), false, rig.sim.now);
	if (host == LIAR || host == RESTLESS)
		fake_unit_answer(host == LIAR ? &liar : &restless, request, &answer);
	else if (gsa_receive(&rig.sim.fabric.agents, node, 1, rig.sim.now, request, &answer) !=
		 AGENT_ANSWERED)
		return;
	sa_rig_send(&rig, host, &answer);
}

static bool received(unsigned host, const struct mad_message *message)
{
	bool is_response = message->bytes[MAD_METHOD_OFFSET] & MAD_RESPONSE;

	if (is_response && (agent_of(message) == SA_AGENT || agent_of(message) == DEVICE_AGENT)) {
		assert_int_equal(host, MANAGER_HOST);
		io_manager_receive(&manager, rig.sim.now, message);
		return true;
	}
	if (is_response || message->bytes[MAD_CLASS_OFFSET] != MAD_CLASS_DEVICE)
		return false;
	serve(host, message);
	return true;
}

static void run(unsigned host)
{
	struct mad_message messages[16];
	unsigned count;

	if (host != MANAGER_HOST || !is_scanning)
		return;
	while ((count = io_manager_transmit(&manager, rig.sim.now, 16, messages)))
		for (unsigned i = 0; i < count; i++)
			sa_rig_send(&rig, host, &messages[i]);
}

static time_ns deadline(void)
{
	return is_scanning ? io_manager_deadline(&manager) : TIME_NEVER;
}

static void plug(unsigned host, unsigned count)
{
	for (unsigned i = 0; i < count; i++) {
		struct io_service_entry services[] = {{"a", i * 8 + 1},
						      {"b", i * 8 + 2},
						      {"c", i * 8 + 3},
						      {"d", i * 8 + 4},
						      {"e", i * 8 + 5}};
		const struct io_controller controller = {.profile = {.service_entries = 5},
							 .id_string = "true",
							 .services = services};
		unsigned slot;

		assert_int_equal(io_unit_plug(&rig.sim.fabric.agents, sa_rig_port(&rig, host)->node,
					      rig.sim.now, &controller, 0, &slot),
				 0);
	}
}

/* The liar: 300 slots can't be said, but controllers can be listed where there are none. */
static void prepare_units(void)
{
	for (unsigned host = TRUTHFUL_FIRST; host <= TRUTHFUL_LAST; host++)
		plug(host, CONTROLLERS);
	plug(LIAR, 1); /* sets the capability; the scripted unit answers */
	plug(RESTLESS, 1);
	plug(VANISHING, CONTROLLERS);
	fake_unit_init(&liar, 16);
	fake_unit_plug(&liar, 1, 3);
	fake_unit_plug(&liar, 2, 8);
	liar.controllers[2].repeats_services = true;
	fake_unit_plug(&liar, 3, 2);
	liar.controllers[3].services_told = 255;
	fake_unit_plug(&liar, 4, 4);
	liar.controllers[4].has_endless_names = true;
	liar.slot_states[5] = IO_SLOT_HAS_CONTROLLER; /* an empty slot */
	liar.slot_states[255] = IO_SLOT_HAS_CONTROLLER;
	fake_unit_init(&restless, 16);
	fake_unit_plug(&restless, 1, 1);
	restless.changes_after = 1;
}

static void begin(uint64_t seed)
{
	static const struct sa_rig_programs programs = {
		.run = run, .received = received, .deadline = deadline};

	is_scanning = false;
	sa_rig_begin(&rig, seed, 0, &programs);
	requests_until_gone = 10;
	prepare_units();
	/* Trap 144 makes the subnet manager read the ports anew. */
	sa_rig_run_for(&rig, SECONDS(10));

	const struct port *port = sa_rig_port(&rig, MANAGER_HOST);
	const struct io_manager_options options = {
		.agent_number = DEVICE_AGENT,
		.timeout = MILLISECONDS(100),
		.tries = 20,
		.sa = {.agent_number = SA_AGENT, .timeout = MILLISECONDS(100), .tries = 50},
		.sm_lid = port->info.master_sm_lid,
		.sa_pkey = PKEY_DEFAULT_FULL,
		.own_gid = gid_from(port->info.gid_prefix, port->guid),
	};

	assert_int_equal(io_manager_init(&manager, &options), 0);
}

static void end(void)
{
	is_scanning = false;
	io_manager_release(&manager);
	sa_rig_end(&rig);
}

static const struct unit_reader *reader_of(unsigned host)
{
	uint64_t guid = sa_rig_port(&rig, host)->node->info.node_guid;

	for (unsigned i = 0; i < manager.unit_count; i++)
		if (manager.units[i]->node_guid == guid)
			return &manager.units[i]->reader;
	fail_msg("host %u was not found", host);
	return NULL;
}

static void expect_truth(unsigned host)
{
	const struct unit_reader *reader = reader_of(host);

	assert_int_equal(reader->state, UNIT_READER_DONE);
	assert_int_equal(reader->controller_count, CONTROLLERS);
	for (unsigned i = 0; i < CONTROLLERS; i++) {
		const struct io_found_controller *controller = &reader->controllers[i];

		assert_int_equal(controller->slot, i + 1);
		assert_int_equal(controller->state, IO_CONTROLLER_WORKS);
		assert_string_equal(controller->id_string, "true");
		assert_int_equal(controller->service_count, 5);
		assert_int_equal(controller->bad_service_count, 0);
	}
}

static void expect_lies_are_seen(void)
{
	const struct unit_reader *reader = reader_of(LIAR);

	assert_int_equal(reader->state, UNIT_READER_DONE);
	assert_true(reader->lists_impossible_slots);
	assert_int_equal(reader->controller_count, 5);
	assert_int_equal(reader->controllers[0].service_count, 3);
	assert_int_equal(reader->controllers[1].service_count, 1);
	assert_int_equal(reader->controllers[1].bad_service_count, 7);
	assert_int_equal(reader->controllers[2].service_count, 0);
	assert_int_equal(reader->controllers[2].bad_service_count, 255);
	assert_int_equal(reader->controllers[3].bad_service_count, 4);
	assert_int_equal(reader->controllers[4].state, IO_CONTROLLER_ABSENT);
	assert_int_equal(reader_of(RESTLESS)->state, UNIT_READER_UNSTEADY);
	assert_int_equal(reader_of(VANISHING)->state, UNIT_READER_SILENT);
}

static void scan(void)
{
	assert_int_equal(io_manager_scan(&manager), 0);
	is_scanning = true;
	for (unsigned second = 0; second < 120 && !io_manager_is_done(&manager); second++)
		sa_rig_run_for(&rig, SECONDS(1));
	assert_int_equal(manager.state, IO_SCAN_DONE);
}

static void run_story(uint64_t seed, const struct sim_faults *faults)
{
	begin(seed);
	assert_int_equal(sim_set_faults(&rig.sim, faults), 0);
	scan();
	for (unsigned host = TRUTHFUL_FIRST; host <= TRUTHFUL_LAST; host++)
		expect_truth(host);
	expect_lies_are_seen();
	assert_int_equal(sim_fault_count(&rig.sim) > 0, faults->drop > 0);
	assert_int_equal(manager.unit_count, TRUTHFUL_LAST - TRUTHFUL_FIRST + 1 + 3);
	end();
}

static void test_units_are_read_in_a_clean_fabric(void **state)
{
	(void)state;
	run_story(1, &(struct sim_faults){0});
}

static void test_units_are_read_under_loss_and_duplication(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= SEEDS; seed++) {
		printf("seed %llu\n", (unsigned long long)seed);
		run_story(seed, &(struct sim_faults){.drop = 30, .duplicate = 50, .reorder = 50});
	}
}

/* A controller that is pulled between two scans is missing in the second. */
static void test_next_scan_sees_what_changed(void **state)
{
	(void)state;
	begin(9);
	requests_until_gone = 0;
	scan();
	assert_int_equal(reader_of(TRUTHFUL_FIRST)->controller_count, CONTROLLERS);
	assert_int_equal(io_unit_pull(&rig.sim.fabric.agents,
				      sa_rig_port(&rig, TRUTHFUL_FIRST)->node, rig.sim.now, 3),
			 0);
	scan();
	assert_int_equal(reader_of(TRUTHFUL_FIRST)->controller_count, CONTROLLERS - 1);
	assert_int_equal(reader_of(TRUTHFUL_FIRST)->info.change_id, CONTROLLERS + 1);
	end();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_units_are_read_in_a_clean_fabric),
		cmocka_unit_test(test_units_are_read_under_loss_and_duplication),
		cmocka_unit_test(test_next_scan_sees_what_changed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
