/* SPDX-License-Identifier: Apache-2.0 */
/* The baseboard of a node on a virtual clock: power, waking, sensors and trap 260 (management 6.2).
 */
#include "baseboard_rig.h"
#include "mgmt/agents/baseboard.h"

static enum node_power power;
static unsigned switched_count;

static void set_power(void *context, struct node *node, enum node_power to)
{
	(void)context;
	assert_ptr_equal(node, &fixture.adapter);
	power = to;
	switched_count++;
}

static int setup(void **state)
{
	int error = fixture_setup(state);

	fixture.environment.set_power = set_power;
	fixture.adapter.index = 1;
	fixture.hub.index = 2;
	power = NODE_POWER_ON;
	switched_count = 0;
	return error;
}

static void pass(time_ns time)
{
	fixture.now += time;
	agent_run(&fixture.environment, fixture.now);
}

static int command(uint16_t id, const char *parameters, uint8_t count)
{
	return board_command(&fixture.adapter, 0, id, (const uint8_t *)parameters, count);
}

static void test_node_has_no_baseboard_until_something_asks(void **state)
{
	(void)state;
	assert_null(baseboard_find(&fixture.memory, &fixture.adapter));
	assert_int_equal(board_ask(&fixture.adapter, 0, MAD_GET, ATTRIBUTE_BKEY_INFO, NULL, 0),
			 MAD_STATUS_OK);
	assert_null(baseboard_find(&fixture.memory, &fixture.adapter));
	assert_int_equal(command(COMMAND_GET_MODULE_STATUS, "", 0), BASEBOARD_OK);
	assert_non_null(baseboard_find(&fixture.memory, &fixture.adapter));
	assert_null(baseboard_find(&fixture.memory, &fixture.hub));
}

/* The answer leaves before the power goes. */
static void test_power_goes_after_the_answer(void **state)
{
	(void)state;
	assert_int_equal(command(COMMAND_SET_MODULE_STATE, "\x00", 1), BASEBOARD_OK);
	assert_int_equal(switched_count, 0);
	assert_int_equal(agent_deadline(&fixture.memory), fixture.now + POWER_DELAY);
	pass(POWER_DELAY - 1);
	assert_int_equal(switched_count, 0);
	pass(1);
	assert_int_equal(switched_count, 1);
	assert_int_equal(power, NODE_POWER_OFF);
	assert_int_equal(agent_deadline(&fixture.memory), TIME_NEVER);
	assert_int_equal(command(COMMAND_SET_MODULE_STATE, "\x01", 1), BASEBOARD_OK);
	pass(POWER_DELAY);
	assert_int_equal(power, NODE_POWER_ON);
}

static void test_repeated_command_changes_nothing(void **state)
{
	(void)state;
	assert_int_equal(command(COMMAND_SET_MODULE_STATE, "\x00", 1), BASEBOARD_OK);
	pass(POWER_DELAY);
	assert_int_equal(command(COMMAND_SET_MODULE_STATE, "\x00", 1), BASEBOARD_OK);
	pass(SECONDS(10));
	assert_int_equal(switched_count, 1);
}

static void test_reset_switches_on_by_itself(void **state)
{
	(void)state;
	assert_int_equal(command(COMMAND_SET_MODULE_STATE, "\x02", 1), BASEBOARD_OK);
	pass(POWER_DELAY);
	assert_int_equal(power, NODE_POWER_OFF);
	pass(RESET_TIME - 1);
	assert_int_equal(power, NODE_POWER_OFF);
	pass(1);
	assert_int_equal(power, NODE_POWER_ON);
	assert_int_equal(switched_count, 2);
}

static void test_unit_with_a_wake_timer(void **state)
{
	(void)state;
	assert_int_equal(command(COMMAND_SET_UNIT_PM, "\x03\x00\x07", 3), BASEBOARD_OK);
	pass(POWER_DELAY);
	assert_int_equal(power, NODE_POWER_OFF);
	pass(SECONDS(7));
	assert_int_equal(power, NODE_POWER_ON);
	/* Standby leaves the links alone. */
	assert_int_equal(command(COMMAND_SET_UNIT_PM, "\x01", 1), BASEBOARD_OK);
	pass(SECONDS(7));
	assert_int_equal(power, NODE_POWER_ON);
}

static void heat(int32_t value)
{
	struct baseboard *board = baseboard_of(&fixture.memory, &fixture.adapter);

	sensor_set_value(&board->sensors[0], value);
	baseboard_changed(&fixture.environment, board, fixture.now);
}

static void repress(const struct agent_trap *trap)
{
	struct mad_message message = board_request(0, MAD_TRAP_REPRESS, ATTRIBUTE_NOTICE, 0);

	memcpy(message.bytes + 8, trap->message.bytes + 8, 8);
	assert_false(board_deliver(&fixture.adapter, &message));
}

static void expect_trap(enum sensor_level level, int32_t value)
{
	struct baseboard_trap_details details;
	struct sensor_report report;
	struct agent_trap traps[4];
	struct notice notice;

	fixture.now += time_from_code(fixture.adapter.ports[1].info.subnet_timeout);
	assert_int_equal(agent_take_traps(&fixture.memory, fixture.now, 4, traps), 1);
	notice = board_notice(&traps[0]);
	assert_int_equal(notice.header.trap_number, 260);
	assert_int_equal(notice.header.type,
			 level == SENSOR_NORMAL ? NOTICE_INFORMATIONAL : NOTICE_URGENT);
	baseboard_trap_details_decode(notice.details, &details);
	assert_int_equal(details.data_length, SENSOR_REPORT_BYTES);
	assert_int_equal(details.type, BASEBOARD_TRAP_OEM_MME);
	assert_int_equal(details.modifier, SOFTIB_VENDOR_ID);
	sensor_report_decode(notice.details + BASEBOARD_TRAP_DATA_OFFSET, &report);
	assert_int_equal(report.level, level);
	assert_int_equal((int32_t)report.value, value);
	repress(&traps[0]);
}

static void expect_quiet(void)
{
	struct agent_trap traps[4];

	fixture.now += time_from_code(fixture.adapter.ports[1].info.subnet_timeout);
	assert_int_equal(agent_take_traps(&fixture.memory, fixture.now, 4, traps), 0);
}

static void test_each_crossing_of_a_threshold_is_told_once(void **state)
{
	(void)state;
	board_listen(&fixture.adapter.ports[1], 0);
	heat(50000);
	expect_quiet();
	heat(71500);
	expect_trap(SENSOR_HIGH_WARNING, 71500);
	heat(72000);
	heat(69000); /* within the hysteresis */
	heat(70000);
	expect_quiet();
	heat(90000);
	expect_trap(SENSOR_HIGH_CRITICAL, 90000);
	heat(40000);
	expect_trap(SENSOR_NORMAL, 40000);
	expect_quiet();
}

static void test_nobody_is_told_without_an_address(void **state)
{
	(void)state;
	heat(90000);
	expect_quiet();
	board_listen(&fixture.adapter.ports[1], 0);
	expect_quiet();
}

static void test_node_that_goes_takes_its_baseboard_along(void **state)
{
	(void)state;
	assert_int_equal(command(COMMAND_SET_MODULE_STATE, "\x00", 1), BASEBOARD_OK);
	assert_non_null(baseboard_of(&fixture.memory, &fixture.hub));
	agent_memory_forget(&fixture.memory, &fixture.adapter);
	assert_null(baseboard_find(&fixture.memory, &fixture.adapter));
	assert_non_null(baseboard_find(&fixture.memory, &fixture.hub));
	pass(SECONDS(10));
	assert_int_equal(switched_count, 0);
}

static void test_without_memory_there_is_no_baseboard(void **state)
{
	(void)state;
	fixture.environment.memory = NULL;
	assert_int_equal(command(COMMAND_GET_MODULE_STATUS, "", 0), BASEBOARD_ERROR);
	assert_int_equal(board_ask(&fixture.adapter, 0, MAD_SET, ATTRIBUTE_BKEY_INFO, NULL, 0),
			 MAD_STATUS_BUSY);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define TEST(function) cmocka_unit_test_setup_teardown(function, setup, fixture_teardown)
		TEST(test_node_has_no_baseboard_until_something_asks),
		TEST(test_power_goes_after_the_answer),
		TEST(test_repeated_command_changes_nothing),
		TEST(test_reset_switches_on_by_itself),
		TEST(test_unit_with_a_wake_timer),
		TEST(test_each_crossing_of_a_threshold_is_told_once),
		TEST(test_nobody_is_told_without_an_address),
		TEST(test_node_that_goes_takes_its_baseboard_along),
		TEST(test_without_memory_there_is_no_baseboard),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
