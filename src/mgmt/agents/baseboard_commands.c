/* SPDX-License-Identifier: Apache-2.0 */
/* The commands of baseboard management: a table of commands, each with its parameters (management
 * 6.2). docs/decisions.md has the parameters that the reference leaves open. */
#include "mgmt/agents/baseboard_commands.h"

#include <string.h>
#include "base/bytes.h"
#include "mgmt/agents/io_unit.h"

enum {
	POWER_BYTES = 3,	/* state, seconds until it switches on again */
	IBML_HEADER_BYTES = 3,	/* address, bytes to write, bytes to read */
	IBML_POINTER_BYTES = 2, /* what a write to a memory begins with */
	OEM_HEADER_BYTES = OEM_VENDOR_BYTES + 1,
	NO_WAKE = 0,
};

struct command_call {
	struct agent_memory *memory;
	struct baseboard *baseboard;
	time_ns now;
	const uint8_t *parameters;
	unsigned count;
	struct command_answer *answer;
};

typedef enum baseboard_status command_handler(const struct command_call *call);

static void put(const struct command_call *call, const void *bytes, unsigned byte_count)
{
	assert(call->answer->byte_count + byte_count <= ANSWER_DATA_MAX);
	memcpy(call->answer->data + call->answer->byte_count, bytes, byte_count);
	call->answer->byte_count += byte_count;
}

/* The bus and the device that a VPD command needs. */
static enum baseboard_status find_vpd(const struct command_call *call, struct vpd **ret_vpd)
{
	*ret_vpd = baseboard_vpd(call->baseboard, call->parameters[0]);
	if (!*ret_vpd)
		return BASEBOARD_INVALID_VPD;
	return call->baseboard->bus_is_hung ? BASEBOARD_BUS_ERROR : BASEBOARD_OK;
}

static enum baseboard_status write_vpd(const struct command_call *call)
{
	struct vpd *vpd;
	unsigned count = get_be16(call->parameters + 1);
	enum baseboard_status status = find_vpd(call, &vpd);

	if (status != BASEBOARD_OK)
		return status;
	if (count == 0 || count > VPD_WRITE_MAX)
		return BASEBOARD_ILLEGAL_BYTE_COUNT;
	if (call->count != VPD_HEADER_BYTES + count)
		return BASEBOARD_ILLEGAL_PARAMETER;
	return vpd_write(vpd, call->now, get_be16(call->parameters + 3), count, VPD_WRITE_MAX,
			 call->parameters + VPD_HEADER_BYTES);
}

static enum baseboard_status read_vpd(const struct command_call *call)
{
	uint8_t bytes[VPD_READ_MAX];
	struct vpd *vpd;
	unsigned count = get_be16(call->parameters + 1);
	enum baseboard_status status = find_vpd(call, &vpd);

	if (status == BASEBOARD_OK)
		status = vpd_read(vpd, call->now, get_be16(call->parameters + 3), count,
				  VPD_READ_MAX, bytes);
	if (status == BASEBOARD_OK)
		put(call, bytes, count);
	return status;
}

static enum baseboard_status reset_ibml(const struct command_call *call)
{
	call->baseboard->bus_is_hung = false;
	for (unsigned i = 0; i < VPD_COUNT; i++)
		call->baseboard->vpds[i].pointer = 0;
	return BASEBOARD_OK;
}

static bool is_power(uint8_t value)
{
	return value == POWER_ON || value == POWER_STANDBY || value == POWER_OFF;
}

/* State alone, or state and the seconds until module and unit are on again. */
static enum baseboard_status set_power(const struct command_call *call,
				       void (*set)(struct baseboard *, time_ns,
						   enum baseboard_power, time_ns))
{
	unsigned seconds = call->count == POWER_BYTES ? get_be16(call->parameters + 1) : NO_WAKE;

	if ((call->count != 1 && call->count != POWER_BYTES) || !is_power(call->parameters[0]) ||
	    (seconds && call->parameters[0] != POWER_OFF))
		return BASEBOARD_ILLEGAL_PARAMETER;
	set(call->baseboard, call->now, (enum baseboard_power)call->parameters[0],
	    seconds ? SECONDS(seconds) : TIME_NEVER);
	return BASEBOARD_OK;
}

static enum baseboard_status put_power(const struct command_call *call, uint8_t power)
{
	time_ns wake_at = call->baseboard->wake_at;
	uint8_t bytes[POWER_BYTES] = {power};

	if (wake_at != TIME_NEVER && wake_at > call->now)
		put_be16(bytes + 1, (uint16_t)((wake_at - call->now) / SECONDS(1)));
	put(call, bytes, sizeof(bytes));
	return BASEBOARD_OK;
}

static enum baseboard_status set_module_pm(const struct command_call *call)
{
	return set_power(call, baseboard_set_module_power);
}

static enum baseboard_status get_module_pm(const struct command_call *call)
{
	return put_power(call, call->baseboard->module_power);
}

static enum baseboard_status set_unit_pm(const struct command_call *call)
{
	return set_power(call, baseboard_set_unit_power);
}

static enum baseboard_status get_unit_pm(const struct command_call *call)
{
	return put_power(call, call->baseboard->unit_power);
}

/* Slot and state. A slot without a controller is an illegal parameter. */
static enum baseboard_status set_ioc_pm(const struct command_call *call)
{
	if (!is_power(call->parameters[1]) ||
	    io_unit_set_power(call->memory, call->baseboard->node, call->now, call->parameters[0],
			      (enum baseboard_power)call->parameters[1]) != 0)
		return BASEBOARD_ILLEGAL_PARAMETER;
	return BASEBOARD_OK;
}

static enum baseboard_status get_ioc_pm(const struct command_call *call)
{
	const struct io_controller *controller = io_unit_controller(
		io_unit_find(call->memory, call->baseboard->node), call->parameters[0]);

	if (!controller)
		return BASEBOARD_ILLEGAL_PARAMETER;
	put(call, &controller->power, sizeof(controller->power));
	return BASEBOARD_OK;
}

static enum baseboard_status set_module_state(const struct command_call *call)
{
	switch (call->parameters[0]) {
	case MODULE_OUT_OF_SERVICE:
		baseboard_set_module_power(call->baseboard, call->now, POWER_OFF, TIME_NEVER);
		return BASEBOARD_OK;
	case MODULE_IN_SERVICE:
		baseboard_set_module_power(call->baseboard, call->now, POWER_ON, TIME_NEVER);
		return BASEBOARD_OK;
	case MODULE_RESET:
		baseboard_set_module_power(call->baseboard, call->now, POWER_OFF, RESET_TIME);
		return BASEBOARD_OK;
	default:
		return BASEBOARD_ILLEGAL_PARAMETER;
	}
}

static enum baseboard_status set_module_attention(const struct command_call *call)
{
	if (call->parameters[0] > ATTENTION_IDENTIFY)
		return BASEBOARD_ILLEGAL_PARAMETER;
	call->baseboard->attention = call->parameters[0];
	return BASEBOARD_OK;
}

static enum baseboard_status get_module_status(const struct command_call *call)
{
	const struct module_status status = baseboard_status_of(call->baseboard);
	uint8_t bytes[MODULE_STATUS_BYTES];

	module_status_encode(&status, bytes);
	put(call, bytes, sizeof(bytes));
	return BASEBOARD_OK;
}

/* A transfer to a memory begins with the offset; a read goes on from there. */
static enum baseboard_status transfer(const struct command_call *call, struct vpd *vpd)
{
	const uint8_t *bytes = call->parameters + IBML_HEADER_BYTES;
	unsigned write_count = call->parameters[1], read_count = call->parameters[2];
	uint8_t answer[ANSWER_DATA_MAX];
	enum baseboard_status status = BASEBOARD_OK;
	unsigned pointer = vpd->pointer;

	if (write_count == 1)
		return BASEBOARD_NACK;
	if (write_count)
		pointer = get_be16(bytes);
	if (write_count > IBML_POINTER_BYTES) {
		unsigned count = write_count - IBML_POINTER_BYTES;

		if (read_count)
			return BASEBOARD_ILLEGAL_PARAMETER;
		status = vpd_write(vpd, call->now, pointer, count, VPD_WRITE_MAX,
				   bytes + IBML_POINTER_BYTES);
		pointer += count;
	}
	if (status == BASEBOARD_OK && read_count) {
		status = vpd_read(vpd, call->now, pointer, read_count, ANSWER_DATA_MAX, answer);
		pointer += read_count;
		if (status == BASEBOARD_OK)
			put(call, answer, read_count);
	}
	if (status == BASEBOARD_OK)
		vpd->pointer = (uint16_t)(pointer % VPD_BYTES);
	return status;
}

static enum baseboard_status ib2ibml(const struct command_call *call)
{
	struct vpd *vpd = baseboard_vpd(call->baseboard, call->parameters[0]);

	if (call->count != IBML_HEADER_BYTES + (unsigned)call->parameters[1] ||
	    call->parameters[2] > ANSWER_DATA_MAX)
		return BASEBOARD_ILLEGAL_PARAMETER;
	if (call->baseboard->bus_is_hung)
		return BASEBOARD_BUS_ERROR;
	return vpd ? transfer(call, vpd) : BASEBOARD_NACK;
}

/* A management entity takes the command that the first parameter names. Tunnels do not nest. */
static enum baseboard_status tunnel(const struct command_call *call)
{
	if (call->parameters[0] == COMMAND_IB2IBML || call->parameters[0] == COMMAND_IB2CME ||
	    call->parameters[0] == COMMAND_IB2MME)
		return BASEBOARD_NOT_SUPPORTED;
	return baseboard_command_run(call->memory, call->baseboard, call->now, call->parameters[0],
				     call->parameters + 1, call->count - 1, call->answer);
}

static enum baseboard_status ib2cme(const struct command_call *call)
{
	if (call->baseboard->power_due_at != TIME_NEVER)
		return BASEBOARD_CME_BUSY;
	return tunnel(call);
}

static enum baseboard_status ib2mme(const struct command_call *call)
{
	if (call->baseboard->power_due_at != TIME_NEVER)
		return BASEBOARD_MME_BUSY;
	return tunnel(call);
}

static enum baseboard_status read_sensor(const struct command_call *call)
{
	uint8_t bytes[SENSOR_REPORT_BYTES];
	unsigned index = call->count == OEM_HEADER_BYTES + 1 ? call->parameters[OEM_HEADER_BYTES]
							     : SENSOR_COUNT;

	if (index >= SENSOR_COUNT)
		return BASEBOARD_ILLEGAL_PARAMETER;

	const struct sensor_report report = sensor_report_of(call->baseboard->sensors, index);

	sensor_report_encode(&report, bytes);
	put(call, bytes, sizeof(bytes));
	return BASEBOARD_OK;
}

static enum baseboard_status set_threshold(const struct command_call *call)
{
	const uint8_t *parameters = call->parameters + OEM_HEADER_BYTES;

	if (call->count != OEM_HEADER_BYTES + SENSOR_THRESHOLD_BYTES ||
	    parameters[0] >= SENSOR_COUNT ||
	    !sensor_set_threshold(&call->baseboard->sensors[parameters[0]], parameters[1],
				  (int32_t)get_be32(parameters + 2)))
		return BASEBOARD_ILLEGAL_PARAMETER;
	return BASEBOARD_OK;
}

static enum baseboard_status oem(const struct command_call *call)
{
	if (get_be24(call->parameters) != SOFTIB_VENDOR_ID)
		return BASEBOARD_NOT_SUPPORTED;
	switch (call->parameters[OEM_VENDOR_BYTES]) {
	case OEM_READ_SENSOR:
		return read_sensor(call);
	case OEM_SET_THRESHOLD:
		return set_threshold(call);
	default:
		return BASEBOARD_NOT_SUPPORTED;
	}
}

static const struct command_row {
	uint16_t id;
	uint8_t count_min, count_max; /* of its parameters */
	command_handler *run;
} rows[] = {
	{COMMAND_WRITE_VPD, VPD_HEADER_BYTES, PARAMETERS_MAX, write_vpd},
	{COMMAND_READ_VPD, VPD_HEADER_BYTES, VPD_HEADER_BYTES, read_vpd},
	{COMMAND_RESET_IBML, 0, 0, reset_ibml},
	{COMMAND_SET_MODULE_PM, 1, POWER_BYTES, set_module_pm},
	{COMMAND_GET_MODULE_PM, 0, 0, get_module_pm},
	{COMMAND_SET_UNIT_PM, 1, POWER_BYTES, set_unit_pm},
	{COMMAND_GET_UNIT_PM, 0, 0, get_unit_pm},
	{COMMAND_SET_IOC_PM, 2, 2, set_ioc_pm},
	{COMMAND_GET_IOC_PM, 1, 1, get_ioc_pm},
	{COMMAND_SET_MODULE_STATE, 1, 1, set_module_state},
	{COMMAND_SET_MODULE_ATTENTION, 1, 1, set_module_attention},
	{COMMAND_GET_MODULE_STATUS, 0, 0, get_module_status},
	{COMMAND_IB2IBML, IBML_HEADER_BYTES, PARAMETERS_MAX, ib2ibml},
	{COMMAND_IB2CME, 1, PARAMETERS_MAX, ib2cme},
	{COMMAND_IB2MME, 1, PARAMETERS_MAX, ib2mme},
	{COMMAND_OEM, OEM_HEADER_BYTES, PARAMETERS_MAX, oem},
};

enum baseboard_status baseboard_command_run(struct agent_memory *memory,
					    struct baseboard *baseboard, time_ns now,
					    uint16_t command, const uint8_t *parameters,
					    unsigned parameter_count,
					    struct command_answer *ret_answer)
{
	const struct command_call call = {
		.memory = memory,
		.baseboard = baseboard,
		.now = now,
		.parameters = parameters,
		.count = parameter_count,
		.answer = ret_answer,
	};

	ret_answer->byte_count = 0;
	for (size_t i = 0; i < ARRAY_COUNT(rows); i++) {
		if (rows[i].id != command)
			continue;
		if (parameter_count < rows[i].count_min || parameter_count > rows[i].count_max)
			return BASEBOARD_ILLEGAL_PARAMETER;
		return rows[i].run(&call);
	}
	return BASEBOARD_NOT_SUPPORTED;
}
