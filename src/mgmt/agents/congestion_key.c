/* SPDX-License-Identifier: Apache-2.0 */
/* The CC_Key of a port: its attribute and trap 0 (management 6.5). */
#include "mgmt/agents/congestion_agent.h"

#include "mgmt/agents/class_port_infos.h"
#include "mgmt/agents/class_traps.h"
#include "mgmt/agents/node_log.h"

static void tell(const struct gs_request *request)
{
	const struct mad_address *from = &request->message->address;
	const struct bad_cc_key_details details = {
		.slid = from->lid,
		.method = request->header.method,
		.attribute_id = request->header.attribute_id,
		.attribute_modifier = request->header.attribute_modifier,
		.qpn = from->qpn,
		.cc_key = class_key_of(request),
		.gid_prefix = from->has_grh ? gid_prefix(&from->gid) : 0,
		.gid_guid = from->has_grh ? gid_guid(&from->gid) : 0,
	};
	struct notice notice = {
		.header = {.type = NOTICE_SECURITY, .trap_number = TRAP_BAD_CC_KEY}};
	struct trap_class class = {
		.management_class = MAD_CLASS_CONGESTION_CONTROL,
		.class_version = CONGESTION_CLASS_VERSION,
	};

	if (!class_trap_address(request->environment->memory, request->arrival,
				MAD_CLASS_CONGESTION_CONTROL, &class.address))
		return;
	bad_cc_key_details_encode(&details, notice.details);
	class_trap_queue(request->environment->memory, request->arrival, request->now, &class,
			 &notice);
}

bool congestion_key_admits(const struct gs_request *request)
{
	struct congestion_agent *agent = request->arrival->congestion_agent;

	if (!agent || class_key_admits(&agent->key, request))
		return true;
	node_log_key_violation(request->environment->memory, request->arrival, request->now,
			       NODE_KEY_CC, request->message->address.lid);
	tell(request);
	return false;
}

enum mad_status congestion_key_info_get(const struct gs_request *request, uint8_t *ret_data)
{
	struct congestion_agent *agent = request->arrival->congestion_agent;
	struct class_key_info info = {0};

	if (request->header.attribute_modifier)
		return MAD_STATUS_BAD_FIELD;
	if (agent)
		info = class_key_show(&agent->key, request);
	class_key_info_encode(&info, ret_data);
	return MAD_STATUS_OK;
}

/* The node counts violations. A manager may write the value from which the counter goes on. */
enum mad_status congestion_key_info_set(const struct gs_request *request, uint8_t *ret_data)
{
	struct class_key_info info;
	struct congestion_agent *agent;
	enum mad_status status = congestion_agent_begin_set(request, &agent);

	if (status != MAD_STATUS_OK)
		return status;
	class_key_info_decode(request->data, &info);
	class_key_change(&agent->key, &info);
	class_key_info_encode(&info, ret_data);
	return MAD_STATUS_OK;
}
