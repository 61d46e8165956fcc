/* SPDX-License-Identifier: Apache-2.0 */
/* Baseboard management: B_KeyInfo, commands and traps (management 6.2). */
#include "wire/baseboard.h"

#include <stdio.h>
#include <string.h>
#include "base/bytes.h"
#include "wire/notice.h"

enum { SOURCE_OFFSET = 2, COUNT_OFFSET = 3, PARAMETERS_OFFSET = 4 };

#define ATTRIBUTE_SUBJECT struct module_status
ATTRIBUTE_DEFINE(module_status, MODULE_STATUS_FIELDS, MODULE_STATUS_BYTES)
#undef ATTRIBUTE_SUBJECT

#define ATTRIBUTE_SUBJECT struct sensor_report
ATTRIBUTE_DEFINE(sensor_report, SENSOR_REPORT_FIELDS, SENSOR_REPORT_BYTES)
#undef ATTRIBUTE_SUBJECT

#define ATTRIBUTE_SUBJECT struct bad_bkey_details
ATTRIBUTE_DEFINE(bad_bkey_details, BAD_BKEY_DETAILS_FIELDS, NOTICE_DETAILS_BYTES)
#undef ATTRIBUTE_SUBJECT

#define ATTRIBUTE_SUBJECT struct baseboard_trap_details
ATTRIBUTE_DEFINE(baseboard_trap_details, BASEBOARD_TRAP_DETAILS_FIELDS, BASEBOARD_TRAP_DATA_OFFSET)
#undef ATTRIBUTE_SUBJECT

static const struct {
	uint8_t status;
	const char *text;
} statuses[] = {
	{BASEBOARD_OK, "ok"},
	{BASEBOARD_ERROR, "error"},
	{BASEBOARD_CME_BUSY, "the chassis management entity is busy"},
	{BASEBOARD_MME_BUSY, "the module management entity is busy"},
	{BASEBOARD_NOT_SUPPORTED, "the command is not supported"},
	{BASEBOARD_ILLEGAL_PARAMETER, "illegal parameter"},
	{BASEBOARD_WRITE_PROTECTED, "write protected"},
	{BASEBOARD_NACK, "no device acknowledged"},
	{BASEBOARD_BUS_ERROR, "bus error"},
	{BASEBOARD_BUSY, "busy"},
	{BASEBOARD_INVALID_VPD, "no such VPD device"},
	{BASEBOARD_ILLEGAL_OFFSET, "illegal offset"},
	{BASEBOARD_ILLEGAL_BYTE_COUNT, "illegal byte count"},
};

const char *baseboard_status_text(uint8_t status)
{
	for (size_t i = 0; i < ARRAY_COUNT(statuses); i++)
		if (statuses[i].status == status)
			return statuses[i].text;
	return NULL;
}

const char *sensor_level_name(uint8_t level)
{
	static const char *const names[SENSOR_LEVEL_COUNT] = {
		"normal", "low warning", "high warning", "low critical", "high critical"};

	return level < SENSOR_LEVEL_COUNT ? names[level] : "unknown";
}

void sensor_name(uint8_t kind, uint8_t number, char ret_name[static SENSOR_NAME_BYTES])
{
	static const char *const prefixes[] = {"sensor", "temp", "in", "fan"};

	snprintf(ret_name, SENSOR_NAME_BYTES, "%s%u",
		 prefixes[kind < ARRAY_COUNT(prefixes) ? kind : 0], number);
}

bool baseboard_message_decode(const uint8_t *data, struct baseboard_message *ret_message)
{
	if (data[COUNT_OFFSET] > PARAMETERS_MAX)
		return false;
	ret_message->sequence = get_be16(data);
	ret_message->source_device = data[SOURCE_OFFSET];
	ret_message->parameter_count = data[COUNT_OFFSET];
	memcpy(ret_message->parameters, data + PARAMETERS_OFFSET, PARAMETERS_MAX);
	return true;
}

void baseboard_message_encode(const struct baseboard_message *message, uint8_t *ret_data)
{
	assert(message->parameter_count <= PARAMETERS_MAX);
	memset(ret_data, 0, MAD_BYTES - BASEBOARD_DATA_OFFSET);
	put_be16(ret_data, message->sequence);
	ret_data[SOURCE_OFFSET] = message->source_device;
	ret_data[COUNT_OFFSET] = message->parameter_count;
	memcpy(ret_data + PARAMETERS_OFFSET, message->parameters, message->parameter_count);
}
