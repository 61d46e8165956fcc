/* SPDX-License-Identifier: Apache-2.0 */
/* The agent of SNMP tunnelling: it answers ClassPortInfo (management 6.4). */
#include "mgmt/agents/gs_agent.h"

#include "mgmt/agents/class_port_infos.h"
#include "wire/smp.h"

static enum mad_status class_port_info_get(const struct gs_request *request, uint8_t *ret_data)
{
	return class_port_info_show(request, 0, ret_data);
}

static const struct gs_attribute class_port_info_only[] = {
	{ATTRIBUTE_CLASS_PORT_INFO, class_port_info_get, NULL},
};
const struct gs_attributes snmp_attributes = {class_port_info_only,
					      ARRAY_COUNT(class_port_info_only)};
