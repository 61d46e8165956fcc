/* SPDX-License-Identifier: Apache-2.0 */
/* The baseboard management agent of a node (management 6.2). No baseboard is behind it yet:
 * commands get the status that the class defines for those it does not know. */
#include "mgmt/agents/gs_agent.h"

#include <string.h>
#include "base/bytes.h"
#include "mgmt/agents/class_port_infos.h"
#include "wire/smp.h"

static enum mad_status class_port_info_get(const struct gs_request *request, uint8_t *ret_data)
{
	return class_port_info_show(request, 0, ret_data);
}

static enum mad_status class_port_info_set(const struct gs_request *request, uint8_t *ret_data)
{
	return class_port_info_change(request, 0, ret_data);
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
	{ATTRIBUTE_CLASS_PORT_INFO, class_port_info_get, class_port_info_set},
	{ATTRIBUTE_BKEY_INFO, bkey_info_get, NULL},
};
const struct gs_attributes baseboard_attributes = {baseboard_rows, ARRAY_COUNT(baseboard_rows)};
