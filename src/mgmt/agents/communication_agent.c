/* SPDX-License-Identifier: Apache-2.0 */
/* The agent of communication management: it serves ClassPortInfo. CM messages go to the connection
 * manager of the host (management 6.6). */
#include "mgmt/agents/gs_agent.h"

#include "mgmt/agents/class_port_infos.h"
#include "wire/smp.h"

/* Bits of ClassPortInfo.CapabilityMask of this class (management 6.6). */
enum {
	COMMUNICATION_RELIABLE_CONNECTION = 1 << 9,
	COMMUNICATION_RELIABLE_DATAGRAM = 1 << 10,
	COMMUNICATION_UNRELIABLE_CONNECTION = 1 << 12,
	COMMUNICATION_SERVICE_ID_RESOLUTION = 1 << 13,
};

enum {
	CAPABILITIES = COMMUNICATION_RELIABLE_CONNECTION | COMMUNICATION_RELIABLE_DATAGRAM |
		       COMMUNICATION_UNRELIABLE_CONNECTION | COMMUNICATION_SERVICE_ID_RESOLUTION,
};

static bool manages_connections(const struct gs_request *request)
{
	return request->arrival->info.capability_mask & CAPABILITY_COMMUNICATION;
}

static enum mad_status class_port_info_get(const struct gs_request *request, uint8_t *ret_data)
{
	if (!manages_connections(request))
		return MAD_STATUS_BAD_METHOD_ATTRIBUTE;
	return class_port_info_show(request, CAPABILITIES, ret_data);
}

static enum mad_status class_port_info_set(const struct gs_request *request, uint8_t *ret_data)
{
	if (!manages_connections(request))
		return MAD_STATUS_BAD_METHOD_ATTRIBUTE;
	return class_port_info_change(request, CAPABILITIES, ret_data);
}

static const struct gs_attribute communication_rows[] = {
	{ATTRIBUTE_CLASS_PORT_INFO, class_port_info_get, class_port_info_set},
};
const struct gs_attributes communication_attributes = {communication_rows,
						       ARRAY_COUNT(communication_rows)};
