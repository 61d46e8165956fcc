/* SPDX-License-Identifier: Apache-2.0 */
/* The device management agent of a node (management 6.3). No I/O controllers are behind it yet. */
#include "mgmt/agents/gs_agent.h"

#include <string.h>
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
	{ATTRIBUTE_CLASS_PORT_INFO, class_port_info_get, class_port_info_set},
	{ATTRIBUTE_IO_UNIT_INFO, io_unit_info_get, NULL},
	{ATTRIBUTE_IO_CONTROLLER_PROFILE, no_such_slot, NULL},
	{ATTRIBUTE_SERVICE_ENTRIES, no_such_slot, NULL},
};
const struct gs_attributes device_attributes = {device_rows, ARRAY_COUNT(device_rows)};
