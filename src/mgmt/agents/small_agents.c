/* SPDX-License-Identifier: Apache-2.0 */
/*
 * General service classes for which a node has little to report: baseboard and device management,
 * communication management, SNMP tunnelling (management 6.2, 6.3, 6.4, 6.6).
 *
 * A softib port has no baseboard, I/O controller or SNMP agent behind it. Requests for them get the
 * response that the class defines for missing parts.
 */
#include "mgmt/agents/gs_agent.h"

#include <string.h>
#include "base/bytes.h"
#include "wire/class_port_info.h"
#include "wire/smp.h"

static enum mad_status class_port_info_get(const struct gs_request *request, uint8_t *ret_data)
{
	const struct class_port_info info = {
		.base_version = MAD_BASE_VERSION,
		.class_version = request->header.class_version,
		.resp_time_value = CLASS_PORT_INFO_RESP_TIME_USUAL,
	};

	if (request->header.attribute_modifier)
		return MAD_STATUS_BAD_FIELD;
	class_port_info_encode(&info, ret_data);
	return MAD_STATUS_OK;
}

enum {
	ATTRIBUTE_BKEY_INFO = 0x0010,
	BKEY_VIOLATIONS_OFFSET = 12,
	BKEY_VIOLATIONS_NOT_COUNTED = 0xffff,
	ATTRIBUTE_MODIFIER_OFFSET = 20,
	MODIFIER_COMMAND = 0,
	MODIFIER_REPLY = 1,
	PARAMETER_COUNT_OFFSET = 3,
	PARAMETERS_OFFSET = 4,
	BASEBOARD_NOT_SUPPORTED = 4,
};

/* Key 0: no check. */
static enum mad_status bkey_info_get(const struct gs_request *request, uint8_t *ret_data)
{
	if (request->header.attribute_modifier)
		return MAD_STATUS_BAD_FIELD;
	put_be16(ret_data + BKEY_VIOLATIONS_OFFSET, BKEY_VIOLATIONS_NOT_COUNTED);
	return MAD_STATUS_OK;
}

/* A command is answered by another Send. Its first parameter is the status (management 6.2). */
enum agent_verdict baseboard_send(const struct gs_request *request, struct mad_message *ret_answer)
{
	uint8_t *data = ret_answer->bytes + SMP_DATA_OFFSET;

	if (request->header.base_version != MAD_BASE_VERSION ||
	    request->header.class_version != 1 ||
	    request->header.attribute_modifier != MODIFIER_COMMAND)
		return AGENT_CONSUMED;
	*ret_answer = *request->message;
	put_be32(ret_answer->bytes + ATTRIBUTE_MODIFIER_OFFSET, MODIFIER_REPLY);
	data[PARAMETER_COUNT_OFFSET] = 1;
	memset(data + PARAMETERS_OFFSET, 0, MAD_BYTES - SMP_DATA_OFFSET - PARAMETERS_OFFSET);
	data[PARAMETERS_OFFSET] = BASEBOARD_NOT_SUPPORTED;
	return AGENT_ANSWERED;
}

static const struct gs_attribute baseboard_rows[] = {
	{ATTRIBUTE_CLASS_PORT_INFO, class_port_info_get, NULL},
	{ATTRIBUTE_BKEY_INFO, bkey_info_get, NULL},
};
const struct gs_attributes baseboard_attributes = {baseboard_rows, ARRAY_COUNT(baseboard_rows)};

enum {
	ATTRIBUTE_IO_UNIT_INFO = 0x0010,
	ATTRIBUTE_IO_CONTROLLER_PROFILE = 0x0011,
	ATTRIBUTE_SERVICE_ENTRIES = 0x0012,
	CONTROLLER_LIST_OFFSET = 4,
	CONTROLLER_LIST_BYTES = 128,
	NO_SUCH_SLOTS = 0xff, /* two slots that do not exist */
};

/* A unit without controllers and without slots for any. It never changes. */
static enum mad_status io_unit_info_get(const struct gs_request *request, uint8_t *ret_data)
{
	if (request->header.attribute_modifier)
		return MAD_STATUS_BAD_FIELD;
	memset(ret_data + CONTROLLER_LIST_OFFSET, NO_SUCH_SLOTS, CONTROLLER_LIST_BYTES);
	return MAD_STATUS_OK;
}

/* The unit has no slots, so every slot number is wrong. */
static enum mad_status no_such_slot(const struct gs_request *request, uint8_t *ret_data)
{
	(void)request;
	(void)ret_data;
	return MAD_STATUS_BAD_FIELD;
}

static const struct gs_attribute device_rows[] = {
	{ATTRIBUTE_CLASS_PORT_INFO, class_port_info_get, NULL},
	{ATTRIBUTE_IO_UNIT_INFO, io_unit_info_get, NULL},
	{ATTRIBUTE_IO_CONTROLLER_PROFILE, no_such_slot, NULL},
	{ATTRIBUTE_SERVICE_ENTRIES, no_such_slot, NULL},
};
const struct gs_attributes device_attributes = {device_rows, ARRAY_COUNT(device_rows)};

/* Bits of ClassPortInfo.CapabilityMask of this class (management 6.6). */
enum {
	COMMUNICATION_RELIABLE_CONNECTION = 1 << 9,
	COMMUNICATION_UNRELIABLE_CONNECTION = 1 << 12,
	COMMUNICATION_SERVICE_ID_RESOLUTION = 1 << 13,
};

/* CM messages go to the host's connection manager. The agent answers only ClassPortInfo. */
static enum mad_status communication_class_port_info_get(const struct gs_request *request,
							 uint8_t *ret_data)
{
	const struct class_port_info info = {
		.base_version = MAD_BASE_VERSION,
		.class_version = request->header.class_version,
		.capability_mask = COMMUNICATION_RELIABLE_CONNECTION |
				   COMMUNICATION_UNRELIABLE_CONNECTION |
				   COMMUNICATION_SERVICE_ID_RESOLUTION,
		.resp_time_value = CLASS_PORT_INFO_RESP_TIME_USUAL,
	};

	if (!(request->arrival->info.capability_mask & CAPABILITY_COMMUNICATION))
		return MAD_STATUS_BAD_METHOD_ATTRIBUTE;
	if (request->header.attribute_modifier)
		return MAD_STATUS_BAD_FIELD;
	class_port_info_encode(&info, ret_data);
	return MAD_STATUS_OK;
}

static const struct gs_attribute communication_rows[] = {
	{ATTRIBUTE_CLASS_PORT_INFO, communication_class_port_info_get, NULL},
};
const struct gs_attributes communication_attributes = {communication_rows,
						       ARRAY_COUNT(communication_rows)};

static const struct gs_attribute class_port_info_only[] = {
	{ATTRIBUTE_CLASS_PORT_INFO, class_port_info_get, NULL},
};
const struct gs_attributes snmp_attributes = {class_port_info_only,
					      ARRAY_COUNT(class_port_info_only)};
