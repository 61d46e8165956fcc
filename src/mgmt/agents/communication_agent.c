/* SPDX-License-Identifier: Apache-2.0 */
/* The agent of communication management: it answers ClassPortInfo. CM messages go to the connection
 * manager of the host (management 6.6). */
#include "mgmt/agents/gs_agent.h"

#include "mgmt/agents/class_port_infos.h"
#include "wire/smp.h"

/* Bits of ClassPortInfo.CapabilityMask of this class (management 6.6). */
enum {
	COMMUNICATION_RELIABLE_CONNECTION = 1 << 9,
	COMMUNICATION_UNRELIABLE_CONNECTION = 1 << 12,
	COMMUNICATION_SERVICE_ID_RESOLUTION = 1 << 13,
};

static enum mad_status class_port_info_get(const struct gs_request *request, uint8_t *ret_data)
{
	if (!(request->arrival->info.capability_mask & CAPABILITY_COMMUNICATION))
		return MAD_STATUS_BAD_METHOD_ATTRIBUTE;
	return class_port_info_show(request,
				    COMMUNICATION_RELIABLE_CONNECTION |
					    COMMUNICATION_UNRELIABLE_CONNECTION |
					    COMMUNICATION_SERVICE_ID_RESOLUTION,
				    ret_data);
}

static const struct gs_attribute communication_rows[] = {
	{ATTRIBUTE_CLASS_PORT_INFO, class_port_info_get, NULL},
};
const struct gs_attributes communication_attributes = {communication_rows,
						       ARRAY_COUNT(communication_rows)};
