/* SPDX-License-Identifier: Apache-2.0 */
/* The baseboard management agent of a node: B_KeyInfo, the B_Key check with trap 259, and commands,
 * which the node's baseboard carries out (management 6.2). */
#include "mgmt/agents/gs_agent.h"

#include <string.h>
#include "base/bytes.h"
#include "mgmt/agents/baseboard.h"
#include "mgmt/agents/baseboard_commands.h"
#include "mgmt/agents/class_notices.h"
#include "mgmt/agents/class_port_infos.h"
#include "mgmt/agents/class_traps.h"
#include "mgmt/agents/node_log.h"
#include "mgmt/agents/traps.h"
#include "wire/baseboard.h"
#include "wire/notice.h"
#include "wire/smp.h"

enum {
	MODIFIER_COMMAND = 0,
	MODIFIER_ANSWER = 1,
	CAPABILITIES = BASEBOARD_CAPABILITY_TRAP | BASEBOARD_CAPABILITY_NOTICE |
		       BASEBOARD_CAPABILITY_IBML | BASEBOARD_CAPABILITY_BKEY_NVRAM,
};

static enum mad_status class_port_info_get(const struct gs_request *request, uint8_t *ret_data)
{
	return class_port_info_show(request, CAPABILITIES, ret_data);
}

static enum mad_status class_port_info_set(const struct gs_request *request, uint8_t *ret_data)
{
	return class_port_info_change(request, CAPABILITIES, ret_data);
}

static void tell_violation(const struct gs_request *request)
{
	const struct mad_address *from = &request->message->address;
	const struct bad_bkey_details details = {
		.lid = from->lid,
		.method = request->header.method,
		.attribute_id = request->header.attribute_id,
		.attribute_modifier = request->header.attribute_modifier,
		.qpn = from->qpn,
		.bkey = class_key_of(request),
		.gid_prefix = from->has_grh ? gid_prefix(&from->gid) : 0,
		.gid_guid = from->has_grh ? gid_guid(&from->gid) : 0,
	};
	struct notice notice = {.header = {.type = NOTICE_SECURITY, .trap_number = TRAP_BAD_BKEY}};
	struct trap_class class = {.management_class = MAD_CLASS_BASEBOARD,
				   .class_version = BASEBOARD_CLASS_VERSION};

	if (!class_trap_address(request->environment->memory, request->arrival, MAD_CLASS_BASEBOARD,
				&class.address))
		return;
	bad_bkey_details_encode(&details, notice.details);
	class_trap_queue(request->environment->memory, request->arrival, request->now, &class,
			 &notice);
}

bool baseboard_key_admits(const struct gs_request *request)
{
	struct baseboard *baseboard = baseboard_find(request->environment->memory, request->node);

	if (!baseboard || class_key_admits(baseboard_key(baseboard, request->arrival), request))
		return true;
	node_log_key_violation(request->environment->memory, request->arrival, request->now,
			       NODE_KEY_B, request->message->address.lid);
	tell_violation(request);
	return false;
}

static enum mad_status bkey_info_get(const struct gs_request *request, uint8_t *ret_data)
{
	struct baseboard *baseboard = baseboard_find(request->environment->memory, request->node);
	struct class_key_info info = {0};

	if (request->header.attribute_modifier)
		return MAD_STATUS_BAD_FIELD;
	if (baseboard)
		info = class_key_show(baseboard_key(baseboard, request->arrival), request);
	class_key_info_encode(&info, ret_data);
	return MAD_STATUS_OK;
}

/* B_KeyViolations is read only. */
static enum mad_status bkey_info_set(const struct gs_request *request, uint8_t *ret_data)
{
	struct class_key_info info;
	struct baseboard *baseboard;
	struct class_key *key;

	if (request->header.attribute_modifier)
		return MAD_STATUS_BAD_FIELD;
	baseboard = baseboard_of(request->environment->memory, request->node);
	if (!baseboard)
		return MAD_STATUS_BUSY;
	key = baseboard_key(baseboard, request->arrival);
	class_key_info_decode(request->data, &info);
	info.violations = key->info.violations;
	class_key_change(key, &info);
	class_key_info_encode(&info, ret_data);
	return MAD_STATUS_OK;
}

static enum baseboard_status run_command(const struct gs_request *request,
					 struct command_answer *ret_answer)
{
	struct baseboard *baseboard = baseboard_of(request->environment->memory, request->node);
	struct baseboard_message command;
	enum baseboard_status status;

	if (!baseboard)
		return BASEBOARD_ERROR;
	if (!baseboard_message_decode(request->data, &command))
		return BASEBOARD_ILLEGAL_PARAMETER;
	status = baseboard_command_run(request->environment->memory, baseboard, request->now,
				       request->header.attribute_id, command.parameters,
				       command.parameter_count, ret_answer);
	baseboard_changed(request->environment, baseboard, request->now);
	return status;
}

/* A command is answered by another Send with the same transaction id, sequence and source device.
 * Its first parameter is the status (management 6.2). */
enum agent_verdict baseboard_send(const struct gs_request *request, struct mad_message *ret_answer)
{
	struct baseboard_message answer = {
		.sequence = get_be16(request->data),
		.source_device = request->data[2],
	};
	struct command_answer result = {0};

	if (request->header.attribute_modifier != MODIFIER_COMMAND ||
	    !baseboard_key_admits(request))
		return AGENT_CONSUMED;
	answer.parameters[0] = (uint8_t)run_command(request, &result);
	if (answer.parameters[0] != BASEBOARD_OK)
		result.byte_count = 0;
	memcpy(answer.parameters + 1, result.data, result.byte_count);
	answer.parameter_count = (uint8_t)(1 + result.byte_count);
	*ret_answer = *request->message;
	put_be32(ret_answer->bytes + MAD_MODIFIER_OFFSET, MODIFIER_ANSWER);
	baseboard_message_encode(&answer, ret_answer->bytes + BASEBOARD_DATA_OFFSET);
	return AGENT_ANSWERED;
}

static const struct gs_attribute baseboard_rows[] = {
	{ATTRIBUTE_CLASS_PORT_INFO, class_port_info_get, class_port_info_set},
	{ATTRIBUTE_NOTICE, class_notice_get, class_notice_set},
	{ATTRIBUTE_BKEY_INFO, bkey_info_get, bkey_info_set},
};
const struct gs_attributes baseboard_attributes = {baseboard_rows, ARRAY_COUNT(baseboard_rows)};
