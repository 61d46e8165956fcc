/* SPDX-License-Identifier: Apache-2.0 */
/* The commands of baseboard management: each with its parameters, its answer and each of its error
 * codes (management 6.2). */
#include "baseboard_rig.h"
#include "mgmt/agents/baseboard.h"
#include "mgmt/agents/io_unit.h"

static int run(uint16_t command, const char *parameters, uint8_t count)
{
	return board_command(&fixture.adapter, 0, command, (const uint8_t *)parameters, count);
}

static struct baseboard *board(void)
{
	return baseboard_of(&fixture.memory, &fixture.adapter);
}

static void test_vpd_is_read_and_written(void **state)
{
	(void)state;
	assert_int_equal(run(COMMAND_READ_VPD, "\xa0\x00\x04\x00\x00", 5), BASEBOARD_OK);
	assert_int_equal(board_answer_bytes(), 4);
	assert_memory_equal(board_answer(), "FRU=", 4);
	assert_int_equal(run(COMMAND_READ_VPD, "\xa8\x00\x27\x00\x00", 5), BASEBOARD_OK);
	assert_int_equal(board_answer_bytes(), 39);
	assert_memory_equal(board_answer(), "FRU=softib chassis\n", 19);
	assert_int_equal(run(COMMAND_WRITE_VPD, "\xa0\x00\x03\x01\x00xyz", 8), BASEBOARD_OK);
	assert_int_equal(board_answer_bytes(), 0);
	assert_int_equal(run(COMMAND_READ_VPD, "\xa0\x00\x03\x01\x00", 5), BASEBOARD_BUSY);
	fixture.now += VPD_WRITE_TIME;
	assert_int_equal(run(COMMAND_READ_VPD, "\xa0\x00\x03\x01\x00", 5), BASEBOARD_OK);
	assert_memory_equal(board_answer(), "xyz", 3);
}

static void test_vpd_errors(void **state)
{
	uint8_t write[PARAMETERS_MAX] = {0xa0, 0, VPD_WRITE_MAX};

	(void)state;
	assert_int_equal(run(COMMAND_READ_VPD, "\xa1\x00\x04\x00\x00", 5), BASEBOARD_INVALID_VPD);
	assert_int_equal(run(COMMAND_READ_VPD, "\xa0\x00\x04\x02\x00", 5),
			 BASEBOARD_ILLEGAL_OFFSET);
	assert_int_equal(run(COMMAND_READ_VPD, "\xa0\x00\x28\x00\x00", 5),
			 BASEBOARD_ILLEGAL_BYTE_COUNT);
	assert_int_equal(run(COMMAND_READ_VPD, "\xa0\x01\x04\x00\x00", 5),
			 BASEBOARD_ILLEGAL_BYTE_COUNT);
	assert_int_equal(run(COMMAND_READ_VPD, "\xa0\x00\x04\x00", 4), BASEBOARD_ILLEGAL_PARAMETER);
	assert_int_equal(run(COMMAND_READ_VPD, "\xa0\x00\x04\x00\x00\x00", 6),
			 BASEBOARD_ILLEGAL_PARAMETER);
	assert_int_equal(run(COMMAND_WRITE_VPD, (char *)write, PARAMETERS_MAX), BASEBOARD_OK);
	write[2] = VPD_WRITE_MAX + 1;
	assert_int_equal(run(COMMAND_WRITE_VPD, (char *)write, PARAMETERS_MAX),
			 BASEBOARD_ILLEGAL_BYTE_COUNT);
	/* The count differs from the bytes that came. */
	assert_int_equal(run(COMMAND_WRITE_VPD, "\xa8\x00\x03\x01\x00xy", 7),
			 BASEBOARD_ILLEGAL_PARAMETER);
	board()->vpds[1].is_protected = true;
	assert_int_equal(run(COMMAND_WRITE_VPD, "\xa8\x00\x03\x01\x00xyz", 8),
			 BASEBOARD_WRITE_PROTECTED);
}

static void test_hung_bus_needs_a_reset(void **state)
{
	(void)state;
	board()->bus_is_hung = true;
	assert_int_equal(run(COMMAND_READ_VPD, "\xa0\x00\x04\x00\x00", 5), BASEBOARD_BUS_ERROR);
	assert_int_equal(run(COMMAND_IB2IBML, "\xa0\x00\x04", 3), BASEBOARD_BUS_ERROR);
	assert_int_equal(run(COMMAND_RESET_IBML, "x", 1), BASEBOARD_ILLEGAL_PARAMETER);
	assert_int_equal(run(COMMAND_RESET_IBML, "", 0), BASEBOARD_OK);
	assert_int_equal(run(COMMAND_READ_VPD, "\xa0\x00\x04\x00\x00", 5), BASEBOARD_OK);
}

static void test_raw_transfers_reach_the_memories(void **state)
{
	(void)state;
	/* Offset 0, read 4; the next read goes on. */
	assert_int_equal(run(COMMAND_IB2IBML, "\xa0\x02\x04\x00\x00", 5), BASEBOARD_OK);
	assert_memory_equal(board_answer(), "FRU=", 4);
	assert_int_equal(run(COMMAND_IB2IBML, "\xa0\x00\x06", 3), BASEBOARD_OK);
	assert_memory_equal(board_answer(), "softib", 6);
	assert_int_equal(run(COMMAND_IB2IBML, "\xa0\x04\x00\x01\x00hi", 7), BASEBOARD_OK);
	assert_int_equal(run(COMMAND_IB2IBML, "\xa0\x02\x02\x01\x00", 5), BASEBOARD_BUSY);
	fixture.now += VPD_WRITE_TIME;
	assert_int_equal(run(COMMAND_IB2IBML, "\xa0\x02\x02\x01\x00", 5), BASEBOARD_OK);
	assert_memory_equal(board_answer(), "hi", 2);
	/* Nobody at this address; half an offset; counts that do not fit. */
	assert_int_equal(run(COMMAND_IB2IBML, "\x50\x00\x04", 3), BASEBOARD_NACK);
	assert_int_equal(run(COMMAND_IB2IBML, "\xa0\x01\x04\x00", 4), BASEBOARD_NACK);
	assert_int_equal(run(COMMAND_IB2IBML, "\xa0\x02\x04\x00", 4), BASEBOARD_ILLEGAL_PARAMETER);
	assert_int_equal(run(COMMAND_IB2IBML, "\xa0\x00\x28", 3), BASEBOARD_ILLEGAL_PARAMETER);
	assert_int_equal(run(COMMAND_IB2IBML, "\xa0\x02\x02\xff\xff", 5), BASEBOARD_ILLEGAL_OFFSET);
}

static void test_status_of_the_module(void **state)
{
	const uint8_t expected[MODULE_STATUS_BYTES] = {
		POWER_ON, POWER_ON, ATTENTION_IDENTIFY, SENSOR_HIGH_WARNING, 0, SENSOR_COUNT};

	(void)state;
	assert_int_equal(run(COMMAND_SET_MODULE_ATTENTION, "\x02", 1), BASEBOARD_OK);
	assert_int_equal(run(COMMAND_SET_MODULE_ATTENTION, "\x03", 1), BASEBOARD_ILLEGAL_PARAMETER);
	assert_int_equal(run(COMMAND_SET_MODULE_ATTENTION, "", 0), BASEBOARD_ILLEGAL_PARAMETER);
	sensor_set_value(&board()->sensors[0], 71500);
	assert_int_equal(run(COMMAND_GET_MODULE_STATUS, "", 0), BASEBOARD_OK);
	assert_int_equal(board_answer_bytes(), MODULE_STATUS_BYTES);
	assert_memory_equal(board_answer(), expected, sizeof(expected));
	assert_int_equal(run(COMMAND_GET_MODULE_STATUS, "x", 1), BASEBOARD_ILLEGAL_PARAMETER);
}

static void test_power_states_are_set_and_read(void **state)
{
	(void)state;
	assert_int_equal(run(COMMAND_SET_MODULE_PM, "\x01", 1), BASEBOARD_OK);
	assert_int_equal(run(COMMAND_GET_MODULE_PM, "", 0), BASEBOARD_OK);
	assert_memory_equal(board_answer(), "\x01\x00\x00", 3);
	assert_int_equal(run(COMMAND_SET_UNIT_PM, "\x03\x00\x05", 3), BASEBOARD_OK);
	assert_int_equal(run(COMMAND_GET_UNIT_PM, "", 0), BASEBOARD_OK);
	assert_memory_equal(board_answer(), "\x03\x00\x05", 3);
	/* There is no state 2, waking needs off, and two bytes are neither form. */
	assert_int_equal(run(COMMAND_SET_MODULE_PM, "\x02", 1), BASEBOARD_ILLEGAL_PARAMETER);
	assert_int_equal(run(COMMAND_SET_UNIT_PM, "\x00\x00\x05", 3), BASEBOARD_ILLEGAL_PARAMETER);
	assert_int_equal(run(COMMAND_SET_UNIT_PM, "\x03\x05", 2), BASEBOARD_ILLEGAL_PARAMETER);
	assert_int_equal(run(COMMAND_SET_MODULE_STATE, "\x03", 1), BASEBOARD_ILLEGAL_PARAMETER);
}

/* SetIOCPMControl: slot and state (management 6.2). */
static void test_an_io_controller_is_switched(void **state)
{
	struct io_controller controller = {.id_string = "disk"};
	unsigned slot;

	(void)state;
	assert_int_equal(run(COMMAND_SET_IOC_PM, "\x03\x03", 2), BASEBOARD_ILLEGAL_PARAMETER);
	assert_int_equal(run(COMMAND_GET_IOC_PM, "\x03", 1), BASEBOARD_ILLEGAL_PARAMETER);
	assert_int_equal(
		io_unit_plug(&fixture.environment, &fixture.adapter, 0, &controller, 3, &slot), 0);
	assert_int_equal(run(COMMAND_GET_IOC_PM, "\x03", 1), BASEBOARD_OK);
	assert_int_equal(board_answer_bytes(), 1);
	assert_memory_equal(board_answer(), "\x00", 1);
	assert_int_equal(run(COMMAND_SET_IOC_PM, "\x03\x03", 2), BASEBOARD_OK);
	assert_int_equal(board_answer_bytes(), 0);
	assert_null(io_unit_powered(io_unit_find(&fixture.memory, &fixture.adapter), 3));
	assert_int_equal(run(COMMAND_GET_IOC_PM, "\x03", 1), BASEBOARD_OK);
	assert_memory_equal(board_answer(), "\x03", 1);
	assert_int_equal(run(COMMAND_IB2CME, "\x27\x03\x00", 3), BASEBOARD_OK);
	assert_non_null(io_unit_powered(io_unit_find(&fixture.memory, &fixture.adapter), 3));
	assert_int_equal(run(COMMAND_SET_IOC_PM, "\x03\x02", 2), BASEBOARD_ILLEGAL_PARAMETER);
	assert_int_equal(run(COMMAND_SET_IOC_PM, "\x02\x03", 2), BASEBOARD_ILLEGAL_PARAMETER);
	assert_int_equal(run(COMMAND_SET_IOC_PM, "\x00\x03", 2), BASEBOARD_ILLEGAL_PARAMETER);
	assert_int_equal(run(COMMAND_SET_IOC_PM, "\xff\x03", 2), BASEBOARD_ILLEGAL_PARAMETER);
	assert_int_equal(run(COMMAND_SET_IOC_PM, "\x03", 1), BASEBOARD_ILLEGAL_PARAMETER);
	assert_int_equal(run(COMMAND_GET_IOC_PM, "\x03\x03", 2), BASEBOARD_ILLEGAL_PARAMETER);
}

static void test_entities_take_commands_and_are_busy_while_power_changes(void **state)
{
	(void)state;
	assert_int_equal(run(COMMAND_IB2MME, "\x2b", 1), BASEBOARD_OK);
	assert_int_equal(board_answer_bytes(), MODULE_STATUS_BYTES);
	assert_int_equal(run(COMMAND_IB2CME, "\x21\xa8\x00\x04\x00\x00", 6), BASEBOARD_OK);
	assert_memory_equal(board_answer(), "FRU=", 4);
	assert_int_equal(run(COMMAND_IB2CME, "\x2d\x2d\x2b", 3), BASEBOARD_NOT_SUPPORTED);
	assert_int_equal(run(COMMAND_IB2MME, "\x01", 1), BASEBOARD_NOT_SUPPORTED);
	assert_int_equal(run(COMMAND_IB2MME, "", 0), BASEBOARD_ILLEGAL_PARAMETER);
	assert_int_equal(run(COMMAND_SET_MODULE_STATE, "\x00", 1), BASEBOARD_OK);
	assert_int_equal(run(COMMAND_IB2MME, "\x2b", 1), BASEBOARD_MME_BUSY);
	assert_int_equal(run(COMMAND_IB2CME, "\x2b", 1), BASEBOARD_CME_BUSY);
}

static void test_oem_commands_read_sensors_and_set_thresholds(void **state)
{
	struct sensor_report report;

	(void)state;
	assert_int_equal(run(COMMAND_OEM, "\x02\x5f\x1b\x01\x02", 5), BASEBOARD_OK);
	assert_int_equal(board_answer_bytes(), SENSOR_REPORT_BYTES);
	sensor_report_decode(board_answer(), &report);
	assert_int_equal(report.kind, SENSOR_VOLTAGE);
	assert_int_equal(report.value, 12000);
	/* High warning of temp1: 30 degrees. */
	assert_int_equal(run(COMMAND_OEM, "\x02\x5f\x1b\x02\x00\x02\x00\x00\x75\x30", 10),
			 BASEBOARD_OK);
	assert_int_equal(run(COMMAND_OEM, "\x02\x5f\x1b\x01\x00", 5), BASEBOARD_OK);
	sensor_report_decode(board_answer(), &report);
	assert_int_equal(report.high_warning, 30000);
	assert_int_equal(report.level, SENSOR_HIGH_WARNING);
	/* Another vendor, an unknown command, no such sensor, missing parameters. */
	assert_int_equal(run(COMMAND_OEM, "\x02\x5f\x1c\x01\x02", 5), BASEBOARD_NOT_SUPPORTED);
	assert_int_equal(run(COMMAND_OEM, "\x02\x5f\x1b\x03", 4), BASEBOARD_NOT_SUPPORTED);
	assert_int_equal(run(COMMAND_OEM, "\x02\x5f\x1b\x01\x06", 5), BASEBOARD_ILLEGAL_PARAMETER);
	assert_int_equal(run(COMMAND_OEM, "\x02\x5f\x1b\x01", 4), BASEBOARD_ILLEGAL_PARAMETER);
	assert_int_equal(run(COMMAND_OEM, "\x02\x5f\x1b", 3), BASEBOARD_ILLEGAL_PARAMETER);
	assert_int_equal(run(COMMAND_OEM, "\x02\x5f\x1b\x02\x00\x00\x00\x00\x75\x30", 10),
			 BASEBOARD_ILLEGAL_PARAMETER);
}

static void test_unknown_commands_are_not_supported(void **state)
{
	(void)state;
	for (unsigned command = 0; command < 0x100; command++) {
		bool is_known = command >= COMMAND_WRITE_VPD && command <= COMMAND_OEM;

		assert_int_equal(run((uint16_t)command, "", 0) == BASEBOARD_NOT_SUPPORTED,
				 !is_known);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define TEST(function) cmocka_unit_test_setup_teardown(function, fixture_setup, fixture_teardown)
		TEST(test_vpd_is_read_and_written),
		TEST(test_vpd_errors),
		TEST(test_hung_bus_needs_a_reset),
		TEST(test_raw_transfers_reach_the_memories),
		TEST(test_status_of_the_module),
		TEST(test_power_states_are_set_and_read),
		TEST(test_an_io_controller_is_switched),
		TEST(test_entities_take_commands_and_are_busy_while_power_changes),
		TEST(test_oem_commands_read_sensors_and_set_thresholds),
		TEST(test_unknown_commands_are_not_supported),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
