/* SPDX-License-Identifier: Apache-2.0 */
/* The I/O unit of a node: slots, controllers, ChangeID, the capability bit, notices (management
 * 6.3, 5.3). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>
#include <errno.h>
#include "agent_fixture.h"
#include "mgmt/agents/class_port_infos.h"
#include "mgmt/agents/io_unit.h"
#include "wire/notice.h"
#include "wire/pkey.h"

static struct io_service_entry services[IO_SERVICES_MAX];
static unsigned slot;

static struct io_controller described(unsigned service_count, uint64_t first_id)
{
	struct io_controller controller = {.services = services, .id_string = "a disk"};

	for (unsigned i = 0; i < service_count; i++) {
		snprintf(services[i].name, sizeof(services[i].name), "service %u", i);
		services[i].id = first_id + i;
	}
	controller.profile.service_entries = (uint8_t)service_count;
	return controller;
}

static int plug(unsigned wanted, const struct io_controller *controller)
{
	return io_unit_plug(&fixture.environment, &fixture.adapter, fixture.now, controller, wanted,
			    &slot);
}

static int plug_simple(unsigned wanted, uint64_t id)
{
	struct io_controller controller = described(1, id);

	return plug(wanted, &controller);
}

static const struct io_unit *unit(void)
{
	return io_unit_find(&fixture.memory, &fixture.adapter);
}

static bool has_capability(unsigned port_number)
{
	return fixture.adapter.ports[port_number].info.capability_mask &
	       CAPABILITY_DEVICE_MANAGEMENT;
}

static void test_controllers_are_plugged_and_pulled(void **state)
{
	(void)state;
	assert_null(unit());
	assert_int_equal(io_unit_slot_count(&fixture.memory, &fixture.adapter), 0);
	assert_int_equal(plug_simple(0, 1), 0);
	assert_int_equal(slot, 1);
	assert_int_equal(plug_simple(3, 2), 0);
	assert_int_equal(plug_simple(0, 3), 0);
	assert_int_equal(slot, 2);
	assert_int_equal(unit()->slot_count, IO_SLOTS_DEFAULT);
	assert_int_equal(unit()->change_id, 3);
	assert_int_equal(unit()->controller_count, 3);
	assert_int_equal(io_unit_controller(unit(), 3)->services[0].id, 2);
	assert_int_equal(io_unit_pull(&fixture.environment, &fixture.adapter, 0, 3), 0);
	assert_int_equal(io_unit_pull(&fixture.environment, &fixture.adapter, 0, 3), -ENOENT);
	assert_int_equal(io_unit_pull(&fixture.environment, &fixture.adapter, 0, 0), -ENOENT);
	assert_int_equal(io_unit_pull(&fixture.environment, &fixture.adapter, 0, 300), -ENOENT);
	assert_int_equal(unit()->change_id, 4);
	assert_null(io_unit_controller(unit(), 3));
}

static void test_slots_that_are_taken_or_do_not_exist_are_refused(void **state)
{
	struct io_controller controller = described(0, 0);

	(void)state;
	assert_int_equal(plug_simple(4, 1), 0);
	assert_int_equal(plug_simple(4, 2), -EBUSY);
	assert_int_equal(plug_simple(17, 2), -EINVAL);
	assert_int_equal(plug_simple(300, 2), -EINVAL);
	assert_int_equal(io_unit_set_slots(&fixture.environment, &fixture.adapter, 0, 300),
			 -EINVAL);
	assert_int_equal(io_unit_set_slots(&fixture.environment, &fixture.adapter, 0, 0), -EINVAL);
	assert_int_equal(io_unit_set_slots(&fixture.environment, &fixture.adapter, 0, 3), -EBUSY);
	assert_int_equal(io_unit_set_slots(&fixture.environment, &fixture.adapter, 0, 4), 0);
	for (unsigned i = 0; i < 3; i++)
		assert_int_equal(plug(0, &controller), 0);
	assert_int_equal(plug(0, &controller), -ENOSPC);
	assert_int_equal(io_unit_set_slots(&fixture.environment, &fixture.adapter, 0, 255), 0);
	for (unsigned i = 4; i < 255; i++)
		assert_int_equal(plug(0, &controller), 0);
	assert_int_equal(slot, 255);
	assert_int_equal(plug(0, &controller), -ENOSPC);
	assert_int_equal(io_unit_plug(&fixture.environment, &fixture.hub, 0, &controller, 0, &slot),
			 -EINVAL);
}

static void test_services_are_told_apart(void **state)
{
	struct io_controller controller = described(255, 100);

	(void)state;
	assert_int_equal(plug(0, &controller), 0);
	assert_int_equal(plug_simple(0, 354), -EADDRINUSE); /* of the first controller */
	assert_int_equal(plug_simple(0, 355), 0);
	controller = described(2, 1000);
	services[1].id = 1000;
	assert_int_equal(plug(0, &controller), -EADDRINUSE);
	controller = described(2, 1000);
	memcpy(services[1].name, services[0].name, sizeof(services[1].name));
	assert_int_equal(plug(0, &controller), -EINVAL);
	controller = described(1, 1000);
	services[0].name[0] = '\0';
	assert_int_equal(plug(0, &controller), -EINVAL);
	controller = described(1, 1000);
	snprintf(services[0].name, sizeof(services[0].name), "line\nline");
	assert_int_equal(plug(0, &controller), -EINVAL);
	assert_int_equal(unit()->controller_count, 2);
}

static void test_names_without_terminator_are_refused(void **state)
{
	struct io_controller controller = described(1, 1000);

	(void)state;
	memset(services[0].name, 'n', sizeof(services[0].name));
	assert_int_equal(plug(0, &controller), -EINVAL);
	services[0].name[IO_SERVICE_NAME_BYTES - 1] = '\0';
	memset(controller.id_string, 'i', sizeof(controller.id_string));
	assert_int_equal(plug(0, &controller), -EINVAL);
	controller.id_string[IO_ID_STRING_BYTES - 1] = '\0';
	assert_int_equal(plug(0, &controller), 0);
}

static void test_guids_of_controllers_are_their_own(void **state)
{
	struct io_controller controller = described(0, 0);

	(void)state;
	assert_int_equal(plug(1, &controller), 0);
	assert_int_equal(plug(2, &controller), 0);
	assert_int_not_equal(unit()->controllers[1]->profile.guid,
			     unit()->controllers[2]->profile.guid);
	assert_int_not_equal(unit()->controllers[1]->profile.guid, 0x100);
	controller.profile.guid = unit()->controllers[2]->profile.guid;
	assert_int_equal(plug(3, &controller), -EEXIST);
	controller.profile.guid = 0x77;
	assert_int_equal(plug(3, &controller), 0);
}

static void test_capability_follows_the_controllers(void **state)
{
	(void)state;
	fixture.adapter.ports[1].info.port_state = PORT_ACTIVE;
	fixture.adapter.ports[1].info.lid = 2;
	fixture.adapter.ports[1].info.master_sm_lid = 1;
	assert_false(has_capability(1));
	assert_int_equal(plug_simple(0, 1), 0);
	assert_true(has_capability(1));
	assert_true(has_capability(2));
	assert_int_equal(fixture.port_changed_count, 2);
	assert_int_not_equal(agent_deadline(&fixture.memory), TIME_NEVER);

	struct agent_trap trap;
	struct notice notice;

	assert_int_equal(agent_take_traps(&fixture.memory, 0, 1, &trap), 1);
	notice_decode(trap.message.bytes + SMP_DATA_OFFSET, &notice);
	assert_int_equal(notice.header.trap_number, TRAP_LOCAL_CHANGE);
	assert_int_equal(plug_simple(0, 2), 0);
	assert_int_equal(fixture.port_changed_count, 2);
	assert_int_equal(io_unit_pull(&fixture.environment, &fixture.adapter, 0, 1), 0);
	assert_true(has_capability(1));
	assert_int_equal(io_unit_pull(&fixture.environment, &fixture.adapter, 0, 2), 0);
	assert_false(has_capability(1));
}

static void test_target_adapter_always_has_the_capability_and_slots(void **state)
{
	(void)state;
	node_make_target(&fixture.adapter);
	assert_true(has_capability(1));
	assert_int_equal(io_unit_slot_count(&fixture.memory, &fixture.adapter), IO_SLOTS_DEFAULT);
	assert_int_equal(plug_simple(0, 1), 0);
	assert_int_equal(io_unit_pull(&fixture.environment, &fixture.adapter, 0, 1), 0);
	assert_true(has_capability(1));
	assert_int_equal(fixture.port_changed_count, 0);
}

static void test_end_of_an_owner_pulls_its_controllers(void **state)
{
	struct io_controller controller = described(0, 0);
	int one, other;

	(void)state;
	controller.owner = &one;
	assert_int_equal(plug(1, &controller), 0);
	assert_int_equal(plug(2, &controller), 0);
	controller.owner = &other;
	assert_int_equal(plug(3, &controller), 0);
	controller.owner = NULL;
	assert_int_equal(plug(4, &controller), 0);
	io_units_pull_owned(&fixture.environment, 0, &one);
	assert_null(io_unit_controller(unit(), 1));
	assert_null(io_unit_controller(unit(), 2));
	assert_non_null(io_unit_controller(unit(), 3));
	assert_non_null(io_unit_controller(unit(), 4));
}

/* A manager gives the address for traps of the class. */
static void subscribe(void)
{
	const struct mad_header header = {.base_version = 1,
					  .management_class = MAD_CLASS_DEVICE,
					  .class_version = 1,
					  .method = MAD_SET,
					  .transaction_id = 9,
					  .attribute_id = ATTRIBUTE_CLASS_PORT_INFO};
	const struct class_port_info info = {
		.trap_lid = 6, .trap_qpn = QPN_GSI, .trap_qkey = QKEY_GSI};
	struct mad_message request = {0};

	mad_header_encode(&header, request.bytes);
	class_port_info_encode(&info, request.bytes + DEVICE_DATA_OFFSET);
	assert_int_equal(gsa_receive(&fixture.environment, &fixture.adapter, 1, 0, &request,
				     &fixture.answer),
			 AGENT_ANSWERED);
	fixture.adapter.ports[1].info.port_state = PORT_ACTIVE;
	fixture.adapter.ports[1].info.lid = 2;
}

/* The manager got the trap; without that the agent repeats it. */
static void repress(const struct agent_trap *trap, time_ns now)
{
	struct mad_message message = trap->message;

	message.bytes[MAD_METHOD_OFFSET] = MAD_TRAP_REPRESS;
	assert_int_equal(gsa_receive(&fixture.environment, &fixture.adapter, 1, now, &message,
				     &fixture.answer),
			 AGENT_CONSUMED);
}

/* The next notice of the class, if there is one now. It is repressed. */
static bool next_notice(time_ns now, struct notice *ret_notice)
{
	struct agent_trap trap;

	agent_run(&fixture.environment, now);
	while (agent_take_traps(&fixture.memory, now, 1, &trap)) {
		if (trap.message.bytes[MAD_CLASS_OFFSET] != MAD_CLASS_DEVICE)
			continue;
		assert_int_equal(trap.message.address.lid, 6);
		notice_decode(trap.message.bytes + DEVICE_DATA_OFFSET, ret_notice);
		repress(&trap, now);
		return true;
	}
	return false;
}

static void test_changes_are_told_with_the_minimum_distance(void **state)
{
	time_ns distance = time_from_code(fixture.adapter.ports[1].info.subnet_timeout);
	struct io_unit_change_details details;
	struct notice notice;

	(void)state;
	subscribe();
	fixture.now = 1000;
	assert_int_equal(plug_simple(5, 1), 0);
	assert_true(next_notice(1000, &notice));
	assert_int_equal(notice.header.is_generic, 0);
	assert_int_equal(notice.header.producer_type, NODE_VENDOR_ID);
	assert_int_equal(notice.header.trap_number, NOTICE_IO_UNIT_CHANGED);
	assert_int_equal(notice.header.issuer_lid, 2);
	io_unit_change_details_decode(notice.details, &details);
	assert_int_equal(details.change_id, 1);
	assert_int_equal(details.slot, 5);
	assert_int_equal(details.slot_state, IO_SLOT_HAS_CONTROLLER);
	assert_int_equal(details.controller_guid, unit()->controllers[5]->profile.guid);
	for (unsigned i = 2; i < 6; i++)
		assert_int_equal(plug_simple(0, i), 0);
	assert_false(next_notice(1000 + distance - 1, &notice));
	assert_int_equal(fixture.memory.io_units_due_at, 1000 + distance);
	assert_true(next_notice(1000 + distance, &notice));
	io_unit_change_details_decode(notice.details, &details);
	assert_int_equal(details.change_id, 5);
	assert_int_equal(details.slot, 0);
	assert_false(next_notice(1000 + 10 * distance, &notice));
}

static void test_readiness_for_a_test_is_told(void **state)
{
	struct ready_to_test_details details;
	struct notice notice;

	(void)state;
	subscribe();
	assert_int_equal(plug_simple(1, 1), 0);
	assert_true(next_notice(0, &notice));
	assert_int_equal(io_diagnostics_prepare(&unit()->controllers[1]->test, 0), MAD_STATUS_OK);
	fixture.memory.io_units_due_at = unit()->controllers[1]->test.due_at;
	assert_false(next_notice(IO_TEST_PREPARE_TIME - 1, &notice));
	/* The trap about the plugged controller was sent less than the minimum distance ago. */
	agent_run(&fixture.environment, IO_TEST_PREPARE_TIME);
	assert_true(
		next_notice(time_from_code(fixture.adapter.ports[1].info.subnet_timeout), &notice));
	assert_int_equal(notice.header.is_generic, 1);
	assert_int_equal(notice.header.trap_number, 514);
	ready_to_test_details_decode(notice.details, &details);
	assert_int_equal(details.controller_guid, unit()->controllers[1]->profile.guid);
}

static int switch_slot(unsigned number, time_ns now, enum baseboard_power power)
{
	return io_unit_set_power(&fixture.memory, &fixture.adapter, now, number, power);
}

/* Off and on are changes of the unit, each told by a notice; standby is none (management 6.2, 6.3).
 */
static void test_a_controller_without_power_leaves_its_slot(void **state)
{
	time_ns distance = time_from_code(fixture.adapter.ports[1].info.subnet_timeout);
	struct io_unit_change_details details;
	struct notice notice;

	(void)state;
	subscribe();
	assert_int_equal(plug_simple(5, 1), 0);
	assert_true(next_notice(0, &notice));
	assert_int_equal(io_diagnostics_prepare(&unit()->controllers[5]->test, 0), MAD_STATUS_OK);
	unit()->controllers[5]->test.next_outcome = 9;
	assert_int_equal(switch_slot(4, distance, POWER_OFF), -ENOENT);
	assert_int_equal(switch_slot(5, distance, POWER_STANDBY), 0);
	assert_int_equal(unit()->change_id, 1);
	assert_int_equal(switch_slot(5, distance, POWER_OFF), 0);
	assert_int_equal(switch_slot(5, distance, POWER_OFF), 0);
	assert_int_equal(unit()->change_id, 2);
	assert_null(io_unit_powered(unit(), 5));
	assert_non_null(io_unit_controller(unit(), 5));
	assert_int_equal(unit()->controllers[5]->test.state, IO_TEST_IDLE);
	assert_int_equal(unit()->controllers[5]->test.next_outcome, 9);
	assert_true(next_notice(distance, &notice));
	io_unit_change_details_decode(notice.details, &details);
	assert_int_equal(details.change_id, 2);
	assert_int_equal(details.slot, 5);
	assert_int_equal(details.slot_state, IO_SLOT_EMPTY);
	/* It is in the slot still. */
	assert_int_equal(plug_simple(5, 2), -EBUSY);
	assert_true(io_unit_lacks_power_for(&fixture.memory, &fixture.adapter, 1));
	assert_false(io_unit_lacks_power_for(&fixture.memory, &fixture.adapter, 2));
	assert_int_equal(switch_slot(5, 2 * distance, POWER_ON), 0);
	assert_int_equal(unit()->change_id, 3);
	assert_non_null(io_unit_powered(unit(), 5));
	assert_false(io_unit_lacks_power_for(&fixture.memory, &fixture.adapter, 1));
	assert_true(next_notice(2 * distance, &notice));
	io_unit_change_details_decode(notice.details, &details);
	assert_int_equal(details.slot_state, IO_SLOT_HAS_CONTROLLER);
}

static void test_unit_goes_with_its_node(void **state)
{
	(void)state;
	assert_int_equal(plug_simple(1, 1), 0);
	agent_memory_forget(&fixture.memory, &fixture.adapter);
	assert_null(unit());
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define TEST(function) cmocka_unit_test_setup_teardown(function, fixture_setup, fixture_teardown)
		TEST(test_controllers_are_plugged_and_pulled),
		TEST(test_slots_that_are_taken_or_do_not_exist_are_refused),
		TEST(test_services_are_told_apart),
		TEST(test_names_without_terminator_are_refused),
		TEST(test_guids_of_controllers_are_their_own),
		TEST(test_capability_follows_the_controllers),
		TEST(test_target_adapter_always_has_the_capability_and_slots),
		TEST(test_end_of_an_owner_pulls_its_controllers),
		TEST(test_changes_are_told_with_the_minimum_distance),
		TEST(test_readiness_for_a_test_is_told),
		TEST(test_a_controller_without_power_leaves_its_slot),
		TEST(test_unit_goes_with_its_node),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
