/* SPDX-License-Identifier: Apache-2.0 */
/* The device management agent: every attribute, from and to literal bytes (management 6.3).
 * Covers: mgmt/agents/class_notices.c */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>
#include "agent_fixture.h"
#include "base/bytes.h"
#include "mgmt/agents/io_unit.h"

static struct mad_message request;

static int ask_node(struct node *node, uint8_t method, uint16_t attribute, uint32_t modifier)
{
	const struct mad_header header = {
		.base_version = 1,
		.management_class = MAD_CLASS_DEVICE,
		.class_version = 1,
		.method = method,
		.transaction_id = 9,
		.attribute_id = attribute,
		.attribute_modifier = modifier,
	};

	mad_header_encode(&header, request.bytes);
	fixture.verdict = gsa_receive(&fixture.environment, node, node_is_switch(node) ? 0 : 1,
				      fixture.now, &request, &fixture.answer);
	return fixture.verdict == AGENT_ANSWERED ? get_be16(fixture.answer.bytes + 4) : -1;
}

static int get(uint16_t attribute, uint32_t modifier)
{
	return ask_node(&fixture.adapter, MAD_GET, attribute, modifier);
}

static int set(uint16_t attribute, uint32_t modifier)
{
	return ask_node(&fixture.adapter, MAD_SET, attribute, modifier);
}

static const uint8_t *data(void)
{
	return fixture.answer.bytes + 64;
}

/* A controller with five services in slot 3. */
static void plug(void)
{
	struct io_service_entry services[5];
	struct io_controller controller = {.profile = {.guid = 0x1122334455667788,
						       .io_class = 0x0100,
						       .protocol = 0x0108,
						       .service_entries = 5},
					   .id_string = "disk of five",
					   .services = services};
	unsigned slot;

	memset(services, 0, sizeof(services));
	for (unsigned i = 0; i < 5; i++) {
		services[i].name[0] = (char)('a' + i);
		services[i].id = 0x100 + i;
	}
	assert_int_equal(
		io_unit_plug(&fixture.environment, &fixture.adapter, 0, &controller, 3, &slot), 0);
}

static void test_node_without_unit_has_no_slots(void **state)
{
	(void)state;
	assert_int_equal(ask_node(&fixture.hub, MAD_GET, 0x10, 0), 0);
	assert_int_equal(data()[2], 0);
	for (unsigned i = 0; i < 128; i++)
		assert_int_equal(data()[4 + i], 0xff);
	assert_int_equal(data()[132], 0);
	for (uint32_t slot = 0; slot < 256; slot++) {
		assert_int_equal(ask_node(&fixture.hub, MAD_GET, 0x11, slot), MAD_STATUS_BAD_FIELD);
		assert_int_equal(ask_node(&fixture.hub, MAD_GET, 0x12, slot << 16 | 0x300),
				 MAD_STATUS_BAD_FIELD);
	}
}

static void test_unit_info_lists_the_slots(void **state)
{
	static const uint8_t expected[] = {0,	 1,    16,   2,	   0x00, 0x10, 0x00,
					   0x00, 0x00, 0x00, 0x00, 0x00, 0xff, 0xff};

	(void)state;
	plug();
	assert_int_equal(get(0x10, 0), 0);
	assert_memory_equal(data(), expected, sizeof(expected));
	assert_int_equal(get(0x10, 1), MAD_STATUS_BAD_FIELD);
	assert_int_equal(set(0x10, 0), MAD_STATUS_BAD_METHOD_ATTRIBUTE);
	assert_int_equal(get(0x13, 0), MAD_STATUS_BAD_METHOD_ATTRIBUTE);
}

static void test_profile_is_shown_by_slot(void **state)
{
	static const uint8_t guid[] = {0x11, 0x22, 0x33, 0x44, 0x55, 0x66, 0x77, 0x88};

	(void)state;
	plug();
	assert_int_equal(get(0x11, 3), 0);
	assert_memory_equal(data(), guid, sizeof(guid));
	assert_int_equal(get_be16(data() + 28), 0x0100);
	assert_int_equal(get_be16(data() + 32), 0x0108);
	assert_int_equal(data()[54], 5);
	assert_memory_equal(data() + 64, "disk of five\0", 13);
	assert_int_equal(get(0x11, 2), DEVICE_STATUS_NO_RESPONSE);
	assert_int_equal(get(0x11, 0), MAD_STATUS_BAD_FIELD);
	assert_int_equal(get(0x11, 17), MAD_STATUS_BAD_FIELD);
	assert_int_equal(get(0x11, 0x10003), MAD_STATUS_BAD_FIELD);
}

static void test_service_entries_are_shown_by_range(void **state)
{
	(void)state;
	plug();
	assert_int_equal(get(0x12, 0x030300), 0);
	for (unsigned i = 0; i < 4; i++) {
		assert_int_equal(data()[i * 48], 'a' + i);
		assert_int_equal(data()[i * 48 + 1], 0);
		assert_int_equal(get_be64(data() + i * 48 + 40), 0x100 + i);
	}
	assert_int_equal(get(0x12, 0x030404), 0);
	assert_int_equal(data()[0], 'e');
	assert_int_equal(data()[48], 0);
	assert_int_equal(get(0x12, 0x030504), DEVICE_STATUS_NO_SERVICE_ENTRIES);
	assert_int_equal(get(0x12, 0x030400), MAD_STATUS_BAD_FIELD); /* five at once */
	assert_int_equal(get(0x12, 0x030001), MAD_STATUS_BAD_FIELD); /* last before first */
	assert_int_equal(get(0x12, 0x040000), DEVICE_STATUS_NO_RESPONSE);
	assert_int_equal(get(0x12, 0x110000), MAD_STATUS_BAD_FIELD);
}

static void test_controller_without_services(void **state)
{
	const struct io_controller controller = {.id_string = "none"};
	unsigned slot;

	(void)state;
	assert_int_equal(
		io_unit_plug(&fixture.environment, &fixture.adapter, 0, &controller, 1, &slot), 0);
	assert_int_equal(get(0x11, 1), 0);
	assert_int_equal(get(0x12, 0x010000), DEVICE_STATUS_NO_SERVICE_ENTRIES);
}

static void run_test_to(time_ns now)
{
	fixture.now = now;
	agent_run(&fixture.environment, now);
}

static void test_self_test_by_mads(void **state)
{
	time_ns ready = IO_TEST_PREPARE_TIME, end = IO_TEST_PREPARE_TIME + IO_TEST_RUN_TIME;

	(void)state;
	plug();
	assert_int_equal(get(0x20, 3), 0);
	assert_int_equal(get_be32(data()), IO_TEST_TIME_MAX_MS);
	assert_int_equal(get(0x20, 0), 0);
	assert_int_equal(get(0x20, 17), MAD_STATUS_BAD_FIELD);
	assert_int_equal(get(0x24, 3), 0);
	assert_int_equal(get_be16(data()), DIAG_CODE_PASSED);
	assert_int_equal(set(0x22, 3), MAD_STATUS_BAD_FIELD); /* not prepared */
	assert_int_equal(set(0x21, 3), 0);
	assert_int_equal(get(0x21, 3), MAD_STATUS_BUSY);
	assert_int_equal(agent_deadline(&fixture.memory), ready);
	run_test_to(ready);
	assert_int_equal(get(0x21, 3), 0);
	assert_int_equal(set(0x22, 3), 0);
	assert_int_equal(get(0x24, 3), MAD_STATUS_BUSY);
	run_test_to(end);
	assert_int_equal(get(0x24, 3), 0);
	assert_int_equal(get_be16(data()), DIAG_CODE_PASSED);
	assert_int_equal(set(0x21, 2), DEVICE_STATUS_NO_RESPONSE);
	assert_int_equal(set(0x23, 0), MAD_STATUS_BAD_FIELD);
	assert_int_equal(get(0x22, 3), MAD_STATUS_BAD_METHOD_ATTRIBUTE);
}

static void test_controller_that_failed_shows_its_code_only(void **state)
{
	struct io_controller *controller;

	(void)state;
	plug();
	controller = io_unit_controller(io_unit_find(&fixture.memory, &fixture.adapter), 3);
	controller->test.next_outcome = 0x0123;
	assert_int_equal(set(0x21, 3), 0);
	run_test_to(IO_TEST_PREPARE_TIME);
	assert_int_equal(set(0x23, 3), 0); /* a loop ends with the first failure */
	assert_int_equal(get(0x11, 3), 0);
	run_test_to(IO_TEST_PREPARE_TIME + IO_TEST_RUN_TIME);
	assert_int_equal(get(0x11, 3), DEVICE_STATUS_CONTROLLER_FAILURE);
	assert_int_equal(get(0x12, 0x030000), DEVICE_STATUS_CONTROLLER_FAILURE);
	assert_int_equal(get(0x24, 3), 0);
	assert_int_equal(get_be16(data()), 0x0123);
	controller->test.next_outcome = DIAG_CODE_PASSED;
	assert_int_equal(set(0x21, 3), 0);
	run_test_to(fixture.now + IO_TEST_PREPARE_TIME);
	assert_int_equal(set(0x22, 3), 0);
	run_test_to(fixture.now + IO_TEST_RUN_TIME);
	assert_int_equal(get(0x11, 3), 0);
}

static void test_a_controller_without_power_shows_as_an_empty_slot(void **state)
{
	(void)state;
	plug();
	assert_int_equal(io_unit_set_power(&fixture.memory, &fixture.adapter, 0, 3, POWER_OFF), 0);
	assert_int_equal(get(0x10, 0), 0);
	assert_int_equal(get_be16(data()), 2); /* ChangeID */
	assert_int_equal(data()[5], 0x00);     /* slots 3 and 4 */
	assert_int_equal(get(0x11, 3), DEVICE_STATUS_NO_RESPONSE);
	assert_int_equal(get(0x12, 0x030000), DEVICE_STATUS_NO_RESPONSE);
	assert_int_equal(set(0x21, 3), DEVICE_STATUS_NO_RESPONSE);
	assert_int_equal(io_unit_set_power(&fixture.memory, &fixture.adapter, 0, 3, POWER_ON), 0);
	assert_int_equal(get(0x10, 0), 0);
	assert_int_equal(data()[5], 0x10);
	assert_int_equal(get(0x11, 3), 0);
}

static void test_class_port_info_has_traps_and_notices(void **state)
{
	(void)state;
	assert_int_equal(get(0x01, 0), 0);
	assert_int_equal(data()[0], 1);
	assert_int_equal(data()[1], 1);
	assert_int_equal(get_be16(data() + 2), 3);
	assert_int_equal(get(0x02, 0), 0);
	assert_int_equal(data()[0], 0x7f); /* an empty notice */
	assert_int_equal(get(0x02, 1), MAD_STATUS_BAD_FIELD);
	assert_int_equal(set(0x02, 1), MAD_STATUS_BAD_FIELD);
}

/* Sets the Notice that the last answer showed, with this NoticeToggle and NoticeCount. */
static int remove_notice(uint16_t toggle_and_count)
{
	int status;

	memcpy(request.bytes + 64, data(), 80);
	put_be16(request.bytes + 64 + 8, toggle_and_count);
	status = set(0x02, 0);
	memset(request.bytes + 64, 0, 192);
	return status;
}

/* The change of the unit, then trap 514, in the order in which they happened (management 5.1, 5.3).
 */
static void test_notices_are_read_and_removed_one_by_one(void **state)
{
	/* Type 4, vendor 025f1b, device ID 1, issuer LID 2, NoticeToggle 0, NoticeCount 2; ChangeID
	 * 1 and slot 3 with a controller. */
	static const uint8_t change[] = {0x04, 0x02, 0x5f, 0x1b, 0, 1, 0, 2, 0, 2};
	/* Generic, type 4, a channel adapter, trap 514; one notice, toggled. */
	static const uint8_t ready[] = {0x84, 0, 0, 1, 0x02, 0x02, 0, 2, 0x80, 1};

	(void)state;
	fixture.adapter.ports[1].info.port_state = PORT_ACTIVE;
	fixture.adapter.ports[1].info.lid = 2;
	put_be16(request.bytes + 64 + 60, 6); /* TrapLID */
	put_be32(request.bytes + 64 + 64, 1); /* TrapQP */
	assert_int_equal(set(0x01, 0), 0);
	memset(request.bytes + 64, 0, 192);
	plug();
	assert_int_equal(set(0x21, 3), 0);
	run_test_to(IO_TEST_PREPARE_TIME);
	assert_int_equal(get(0x02, 0), 0);
	assert_memory_equal(data(), change, sizeof(change));
	/* A manager that read an older notice removes nothing. */
	assert_int_equal(remove_notice(1), 0);
	assert_memory_equal(data(), change, sizeof(change));
	assert_int_equal(remove_notice(2), 0);
	assert_memory_equal(data(), ready, sizeof(ready));
	assert_int_equal(remove_notice(get_be16(data() + 8)), 0);
	assert_int_equal(data()[0], 0x7f);
	/* What was removed is not sent any more. */
	struct agent_trap trap;

	while (agent_take_traps(&fixture.memory, SECONDS(10), 1, &trap))
		assert_int_not_equal(trap.message.bytes[1], MAD_CLASS_DEVICE);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define TEST(function) cmocka_unit_test_setup_teardown(function, fixture_setup, fixture_teardown)
		TEST(test_node_without_unit_has_no_slots),
		TEST(test_unit_info_lists_the_slots),
		TEST(test_profile_is_shown_by_slot),
		TEST(test_service_entries_are_shown_by_range),
		TEST(test_controller_without_services),
		TEST(test_self_test_by_mads),
		TEST(test_controller_that_failed_shows_its_code_only),
		TEST(test_a_controller_without_power_shows_as_an_empty_slot),
		TEST(test_class_port_info_has_traps_and_notices),
		TEST(test_notices_are_read_and_removed_one_by_one),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
