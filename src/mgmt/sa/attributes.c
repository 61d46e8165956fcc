/* SPDX-License-Identifier: Apache-2.0 */
/* The attributes of subnet administration and their methods (management 4.3). */
#include "mgmt/sa/request.h"
#include "wire/class_port_info.h"
#include "wire/sa_records.h"
#include "wire/smp.h"

/* In the order of attribute ids. Attributes that must be read from other nodes are in
 * remote_tables.c. */
static const struct sa_attribute_row rows[] = {
	{.attribute_id = SA_CLASS_PORT_INFO,
	 .record_bytes = CLASS_PORT_INFO_BYTES,
	 .has_no_table = true,
	 .find = sa_find_class_port_info},
	{.attribute_id = SA_INFORM_INFO,
	 .record_bytes = INFORM_INFO_BYTES,
	 .set = sa_set_inform_info},
	{.attribute_id = SA_NODE_RECORD, .record_bytes = NODE_RECORD_BYTES, .find = sa_find_nodes},
	{.attribute_id = SA_PORT_INFO_RECORD,
	 .record_bytes = PORT_INFO_RECORD_BYTES,
	 .find = sa_find_port_infos},
	{.attribute_id = SA_SWITCH_INFO_RECORD,
	 .record_bytes = SWITCH_INFO_RECORD_BYTES,
	 .find = sa_find_switch_infos},
	{.attribute_id = SA_LINEAR_FORWARDING_RECORD,
	 .record_bytes = BLOCK_RECORD_BYTES,
	 .find = sa_find_linear_blocks},
	{.attribute_id = SA_LINK_RECORD, .record_bytes = LINK_RECORD_BYTES, .find = sa_find_links},
	{.attribute_id = SA_GUID_INFO_RECORD,
	 .record_bytes = BLOCK_RECORD_BYTES,
	 .find = sa_find_guid_blocks},
	{.attribute_id = SA_SERVICE_RECORD,
	 .record_bytes = SERVICE_RECORD_BYTES,
	 .find = sa_find_services,
	 .set = sa_set_service,
	 .remove = sa_delete_service},
	{.attribute_id = SA_PKEY_TABLE_RECORD,
	 .record_bytes = BLOCK_RECORD_BYTES,
	 .find = sa_find_pkey_blocks},
	{.attribute_id = SA_PATH_RECORD, .record_bytes = PATH_RECORD_BYTES, .find = sa_find_paths},
	{.attribute_id = SA_MC_MEMBER_RECORD,
	 .record_bytes = MC_MEMBER_RECORD_BYTES,
	 .find = sa_find_members,
	 .set = sa_set_member,
	 .remove = sa_delete_member},
	{.attribute_id = SA_TRACE_RECORD,
	 .record_bytes = TRACE_RECORD_BYTES,
	 .trace = sa_find_trace},
	{.attribute_id = SA_MULTI_PATH_RECORD,
	 .record_bytes = PATH_RECORD_BYTES,
	 .find_multi = sa_find_multi_paths},
	{.attribute_id = SA_SERVICE_ASSOCIATION_RECORD,
	 .record_bytes = SERVICE_ASSOCIATION_RECORD_BYTES,
	 .find = sa_find_service_associations},
	{.attribute_id = SA_INFORM_INFO_RECORD,
	 .record_bytes = INFORM_INFO_RECORD_BYTES,
	 .find = sa_find_subscriptions},
};

const struct sa_attribute_row *sa_attribute_find(uint16_t attribute_id)
{
	for (size_t i = 0; i < ARRAY_COUNT(rows); i++)
		if (rows[i].attribute_id == attribute_id)
			return &rows[i];
	return NULL;
}

/* Clients ask once and learn whether they may join as SendOnlyFullMember (management 4.9). */
uint16_t sa_find_class_port_info(struct sa *sa, const struct sa_request *request)
{
	const struct class_port_info info = {
		.base_version = MAD_BASE_VERSION,
		.class_version = SA_CLASS_VERSION,
		.capability_mask = SA_CAPABILITY_MASK2 | SA_CAPABILITY_OPTIONAL_RECORDS |
				   SA_CAPABILITY_MULTICAST | SA_CAPABILITY_MULTI_PATH |
				   SA_CAPABILITY_PORT_INFO_MASK_MATCH,
		.capability_mask2 = SA_CAPABILITY2_FULL_PORT_INFO | SA_CAPABILITY2_ALIAS_GUID |
				    SA_CAPABILITY2_MULTICAST_TOP | SA_CAPABILITY2_EXTENDED_SPEEDS |
				    SA_CAPABILITY2_SEND_ONLY_FULL_MEMBER,
		.resp_time_value = CLASS_PORT_INFO_RESP_TIME_USUAL,
	};
	uint8_t *place = sa_records_place(&sa->records);

	(void)request;
	if (!place)
		return SA_STATUS_NO_RESOURCES;
	class_port_info_encode(&info, place);
	sa_records_keep(&sa->records);
	return MAD_STATUS_OK;
}
