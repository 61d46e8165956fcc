/* SPDX-License-Identifier: Apache-2.0 */
/* The agent of SNMP tunnelling (management 6.4): ClassPortInfo with the trap address. The owner of
 * the fabric takes the messages and has them answered. */
#include "mgmt/agents/gs_agent.h"

#include "mgmt/agents/class_port_infos.h"
#include "wire/snmp_tunnel.h"

static enum mad_status class_port_info_get(const struct gs_request *request, uint8_t *ret_data)
{
	return class_port_info_show(request, 0, ret_data);
}

static enum mad_status class_port_info_set(const struct gs_request *request, uint8_t *ret_data)
{
	return class_port_info_change(request, 0, ret_data);
}

enum agent_verdict snmp_send(const struct gs_request *request, struct mad_message *ret_answer)
{
	const struct agent_environment *environment = request->environment;

	(void)ret_answer;
	if (request->header.attribute_modifier != SNMP_TO_AGENT)
		return AGENT_FOR_SM;
	if (environment->snmp_received)
		environment->snmp_received(environment->context, request->arrival,
					   request->message);
	return AGENT_CONSUMED;
}

static const struct gs_attribute snmp_rows[] = {
	{ATTRIBUTE_CLASS_PORT_INFO, class_port_info_get, class_port_info_set},
};
const struct gs_attributes snmp_attributes = {snmp_rows, ARRAY_COUNT(snmp_rows)};
