/* SPDX-License-Identifier: Apache-2.0 */
/* The agent of softib's own vendor class: the log of the node, and identify
 * (docs/vendor-class.md). */
#include "mgmt/agents/class_port_infos.h"
#include "mgmt/agents/identify.h"
#include "mgmt/agents/node_log.h"

static enum mad_status class_port_info_get(const struct gs_request *request, uint8_t *ret_data)
{
	return class_port_info_show(request, 0, ret_data);
}

static enum mad_status node_log_get(const struct gs_request *request, uint8_t *ret_data)
{
	struct node_log_entry entries[NODE_LOG_ENTRIES_PER_MAD];
	struct node_log_header header;

	node_log_read(request->environment->memory, request->node,
		      request->header.attribute_modifier, &header, entries);
	header.now_ns = request->now;
	node_log_header_encode(&header, ret_data);
	for (unsigned i = 0; i < header.entry_count; i++)
		node_log_entry_encode(&entries[i], ret_data + NODE_LOG_HEADER_BYTES +
							   (size_t)i * NODE_LOG_ENTRY_BYTES);
	return MAD_STATUS_OK;
}

static enum mad_status show_identify(const struct gs_request *request, uint8_t *ret_data)
{
	struct identify shown =
		identify_get(request->environment->memory, request->node, request->now);

	if (request->header.attribute_modifier)
		return MAD_STATUS_BAD_FIELD;
	identify_encode(&shown, ret_data);
	return MAD_STATUS_OK;
}

static enum mad_status change_identify(const struct gs_request *request, uint8_t *ret_data)
{
	struct identify wanted;

	if (request->header.attribute_modifier)
		return MAD_STATUS_BAD_FIELD;
	identify_decode(request->data, &wanted);
	if (!wanted.is_on && wanted.seconds)
		return MAD_STATUS_BAD_FIELD;
	if (!request->environment->memory ||
	    identify_set(request->environment->memory, request->node, request->now, &wanted) != 0)
		return MAD_STATUS_BUSY;
	return show_identify(request, ret_data);
}

static const struct gs_attribute rows[] = {
	{ATTRIBUTE_CLASS_PORT_INFO, class_port_info_get, NULL},
	{ATTRIBUTE_NODE_LOG, node_log_get, NULL},
	{ATTRIBUTE_IDENTIFY, show_identify, change_identify},
};

const struct gs_attributes vendor_attributes = {rows, ARRAY_COUNT(rows)};
