/* SPDX-License-Identifier: Apache-2.0 */
/* The records of subnet administration (vol 1, chapter 15; management 4.4). */
#include "wire/sa_records.h"

#include <string.h>

#define ATTRIBUTE_SUBJECT struct record_lid
ATTRIBUTE_DEFINE(record_lid, RECORD_LID_FIELDS, 4)
#undef ATTRIBUTE_SUBJECT

#define ATTRIBUTE_SUBJECT struct port_record_id
ATTRIBUTE_DEFINE(port_record_id, PORT_RECORD_ID_FIELDS, PORT_INFO_RECORD_INFO_OFFSET)
#undef ATTRIBUTE_SUBJECT

#define ATTRIBUTE_SUBJECT struct sl_to_vl_record_id
ATTRIBUTE_DEFINE(sl_to_vl_record_id, SL_TO_VL_RECORD_ID_FIELDS, SL_TO_VL_RECORD_BLOCK_OFFSET)
#undef ATTRIBUTE_SUBJECT

#define ATTRIBUTE_SUBJECT struct forwarding_record_id
ATTRIBUTE_DEFINE(forwarding_record_id, FORWARDING_RECORD_ID_FIELDS, BLOCK_RECORD_BLOCK_OFFSET)
#undef ATTRIBUTE_SUBJECT

#define ATTRIBUTE_SUBJECT struct multicast_forwarding_record_id
ATTRIBUTE_DEFINE(multicast_forwarding_record_id, MULTICAST_FORWARDING_RECORD_ID_FIELDS,
		 BLOCK_RECORD_BLOCK_OFFSET)
#undef ATTRIBUTE_SUBJECT

#define ATTRIBUTE_SUBJECT struct vl_arbitration_record_id
ATTRIBUTE_DEFINE(vl_arbitration_record_id, VL_ARBITRATION_RECORD_ID_FIELDS,
		 BLOCK_RECORD_BLOCK_OFFSET)
#undef ATTRIBUTE_SUBJECT

#define ATTRIBUTE_SUBJECT struct guid_info_record_id
ATTRIBUTE_DEFINE(guid_info_record_id, GUID_INFO_RECORD_ID_FIELDS, BLOCK_RECORD_BLOCK_OFFSET)
#undef ATTRIBUTE_SUBJECT

#define ATTRIBUTE_SUBJECT struct pkey_table_record_id
ATTRIBUTE_DEFINE(pkey_table_record_id, PKEY_TABLE_RECORD_ID_FIELDS, BLOCK_RECORD_BLOCK_OFFSET)
#undef ATTRIBUTE_SUBJECT

#define ATTRIBUTE_SUBJECT struct link_record
ATTRIBUTE_DEFINE(link_record, LINK_RECORD_FIELDS, LINK_RECORD_BYTES)
#undef ATTRIBUTE_SUBJECT

#define ATTRIBUTE_SUBJECT struct path_record
ATTRIBUTE_DEFINE(path_record, PATH_RECORD_FIELDS, PATH_RECORD_BYTES)
#undef ATTRIBUTE_SUBJECT

#define ATTRIBUTE_SUBJECT struct multi_path_header
ATTRIBUTE_DEFINE(multi_path_header, MULTI_PATH_HEADER_FIELDS, MULTI_PATH_HEADER_BYTES)
#undef ATTRIBUTE_SUBJECT

#define ATTRIBUTE_SUBJECT struct mc_member_record
ATTRIBUTE_DEFINE(mc_member_record, MC_MEMBER_RECORD_FIELDS, MC_MEMBER_RECORD_BYTES)
#undef ATTRIBUTE_SUBJECT

#define ATTRIBUTE_SUBJECT struct trace_record
ATTRIBUTE_DEFINE(trace_record, TRACE_RECORD_FIELDS, TRACE_RECORD_BYTES)
#undef ATTRIBUTE_SUBJECT

#define ATTRIBUTE_SUBJECT struct service_record_id
ATTRIBUTE_DEFINE(service_record_id, SERVICE_RECORD_ID_FIELDS, SERVICE_NAME_OFFSET)
#undef ATTRIBUTE_SUBJECT

#define ATTRIBUTE_SUBJECT struct inform_info
ATTRIBUTE_DEFINE(inform_info, INFORM_INFO_FIELDS, INFORM_INFO_BYTES)
#undef ATTRIBUTE_SUBJECT

#define ATTRIBUTE_SUBJECT struct inform_info_record_id
ATTRIBUTE_DEFINE(inform_info_record_id, INFORM_INFO_RECORD_ID_FIELDS,
		 INFORM_INFO_RECORD_INFO_OFFSET)
#undef ATTRIBUTE_SUBJECT

void service_record_encode(const struct service_record *record,
			   uint8_t ret_bytes[static SERVICE_RECORD_BYTES])
{
	service_record_id_encode(&record->id, ret_bytes);
	memcpy(ret_bytes + SERVICE_NAME_OFFSET, record->name, SERVICE_NAME_BYTES);
	memcpy(ret_bytes + SERVICE_NAME_OFFSET + SERVICE_NAME_BYTES, record->data,
	       SERVICE_DATA_BYTES);
}

void service_record_decode(const uint8_t bytes[static SERVICE_RECORD_BYTES],
			   struct service_record *ret_record)
{
	service_record_id_decode(bytes, &ret_record->id);
	memcpy(ret_record->name, bytes + SERVICE_NAME_OFFSET, SERVICE_NAME_BYTES);
	memcpy(ret_record->data, bytes + SERVICE_NAME_OFFSET + SERVICE_NAME_BYTES,
	       SERVICE_DATA_BYTES);
}
