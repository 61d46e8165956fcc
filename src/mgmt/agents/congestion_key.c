/* SPDX-License-Identifier: Apache-2.0 */
/* The CC_Key of a port: the check, the lease and trap 0. The rules are those of the M_Key
 * (management 6.5, 2.3). */
#include "mgmt/agents/congestion_agent.h"

#include "base/bytes.h"
#include "mgmt/agents/class_port_infos.h"
#include "mgmt/agents/class_traps.h"
#include "mgmt/agents/node_log.h"

enum { VIOLATIONS_MAX = 0xffff };

static uint64_t key_of(const struct gs_request *request)
{
	return get_be64(request->message->bytes + CC_KEY_OFFSET);
}

/* After the lease the key stays and can be read, so that another manager can take over. */
static void run_lease(struct congestion_agent *agent, time_ns now)
{
	if (agent->lease_ends_at > now)
		return;
	agent->lease_ends_at = TIME_NEVER;
	agent->key.protect_bit = 0;
}

static void tell(const struct gs_request *request, struct congestion_agent *agent)
{
	const struct mad_address *from = &request->message->address;
	const struct bad_cc_key_details details = {
		.slid = from->lid,
		.method = request->header.method,
		.attribute_id = request->header.attribute_id,
		.attribute_modifier = request->header.attribute_modifier,
		.qpn = from->qpn,
		.cc_key = key_of(request),
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
	agent->trap_due_at = request->now + time_from_code(request->arrival->info.subnet_timeout);
}

static void violated(const struct gs_request *request, struct congestion_agent *agent)
{
	if (agent->key.violations < VIOLATIONS_MAX)
		agent->key.violations++;
	node_log_key_violation(request->environment->memory, request->arrival, request->now,
			       NODE_KEY_CC, request->message->address.lid);
	if (agent->key.lease_period && agent->lease_ends_at == TIME_NEVER)
		agent->lease_ends_at = request->now + SECONDS(agent->key.lease_period);
	if (agent->trap_due_at <= request->now)
		tell(request, agent);
}

bool congestion_key_admits(const struct gs_request *request)
{
	struct congestion_agent *agent = request->arrival->congestion_agent;

	if (!agent)
		return true;
	run_lease(agent, request->now);
	if (agent->key.cc_key == 0 || agent->key.cc_key == key_of(request)) {
		agent->lease_ends_at = TIME_NEVER;
		return true;
	}
	if (request->header.method == MAD_GET)
		return true;
	violated(request, agent);
	return false;
}

enum mad_status congestion_key_info_get(const struct gs_request *request, uint8_t *ret_data)
{
	const struct congestion_agent *agent = request->arrival->congestion_agent;
	struct congestion_key_info info = agent ? agent->key : (struct congestion_key_info){0};

	if (request->header.attribute_modifier)
		return MAD_STATUS_BAD_FIELD;
	if (info.protect_bit && info.cc_key != key_of(request))
		info.cc_key = 0;
	congestion_key_info_encode(&info, ret_data);
	return MAD_STATUS_OK;
}

/* The node counts violations. A manager may write the value from which the counter goes on. */
enum mad_status congestion_key_info_set(const struct gs_request *request, uint8_t *ret_data)
{
	struct congestion_agent *agent;
	enum mad_status status = congestion_agent_begin_set(request, &agent);

	if (status != MAD_STATUS_OK)
		return status;
	congestion_key_info_decode(request->data, &agent->key);
	agent->lease_ends_at = TIME_NEVER;
	congestion_key_info_encode(&agent->key, ret_data);
	return MAD_STATUS_OK;
}
