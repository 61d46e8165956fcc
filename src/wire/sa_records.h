/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The records of subnet administration (vol 1, chapter 15; management 4.4).
 *
 * A record that wraps a subnet management attribute has a table for its own fields only; the
 * attribute follows at the offset named here, in its own encoding. sa_components.h maps component
 * bits to bits of a record.
 */
#ifndef SOFTIB_WIRE_SA_RECORDS_H
#define SOFTIB_WIRE_SA_RECORDS_H

#include <stdint.h>
#include "wire/attribute.h"
#include "wire/gid.h"

/* Sizes, then the offsets of the wrapped attributes. */
enum {
	NODE_RECORD_BYTES = 108,
	PORT_INFO_RECORD_BYTES = 68,
	SWITCH_INFO_RECORD_BYTES = 24,
	SM_INFO_RECORD_BYTES = 28,
	LINK_RECORD_BYTES = 6,
	SL_TO_VL_RECORD_BYTES = 16,
	BLOCK_RECORD_BYTES = 72, /* forwarding, P_Keys, GUIDs, arbitration */
	SERVICE_RECORD_BYTES = 176,
	PATH_RECORD_BYTES = 64,
	MC_MEMBER_RECORD_BYTES = 52,
	TRACE_RECORD_BYTES = 46,
	MULTI_PATH_HEADER_BYTES = 24,
	SERVICE_ASSOCIATION_RECORD_BYTES = 80,
	INFORM_INFO_BYTES = 36,
	INFORM_INFO_RECORD_BYTES = 60,

	NODE_RECORD_INFO_OFFSET = 4,
	NODE_RECORD_DESCRIPTION_OFFSET = 44,
	PORT_INFO_RECORD_INFO_OFFSET = 4,
	SWITCH_INFO_RECORD_INFO_OFFSET = 4,
	SM_INFO_RECORD_INFO_OFFSET = 4,
	BLOCK_RECORD_BLOCK_OFFSET = 8,
	SL_TO_VL_RECORD_BLOCK_OFFSET = 8,
	INFORM_INFO_RECORD_INFO_OFFSET = 24,
};

/* The first field of NodeRecord, SwitchInfoRecord and SMInfoRecord. */
#define RECORD_LID_FIELDS(FIELD) FIELD(uint16_t, lid, 0, 16)

ATTRIBUTE_STRUCT(record_lid, RECORD_LID_FIELDS)

#define PORT_RECORD_ID_FIELDS(FIELD)                                                               \
	FIELD(uint16_t, lid, 0, 16)                                                                \
	FIELD(uint8_t, port_number, 16, 8)                                                         \
	FIELD(uint8_t, options, 24, 8)

ATTRIBUTE_STRUCT(port_record_id, PORT_RECORD_ID_FIELDS)

#define SL_TO_VL_RECORD_ID_FIELDS(FIELD)                                                           \
	FIELD(uint16_t, lid, 0, 16)                                                                \
	FIELD(uint8_t, input_port, 16, 8)                                                          \
	FIELD(uint8_t, output_port, 24, 8)

ATTRIBUTE_STRUCT(sl_to_vl_record_id, SL_TO_VL_RECORD_ID_FIELDS)

#define FORWARDING_RECORD_ID_FIELDS(FIELD)                                                         \
	FIELD(uint16_t, lid, 0, 16)                                                                \
	FIELD(uint16_t, block, 16, 16)

ATTRIBUTE_STRUCT(forwarding_record_id, FORWARDING_RECORD_ID_FIELDS)

#define MULTICAST_FORWARDING_RECORD_ID_FIELDS(FIELD)                                               \
	FIELD(uint16_t, lid, 0, 16)                                                                \
	FIELD(uint8_t, position, 16, 4)                                                            \
	FIELD(uint16_t, block, 23, 9)

ATTRIBUTE_STRUCT(multicast_forwarding_record_id, MULTICAST_FORWARDING_RECORD_ID_FIELDS)

#define VL_ARBITRATION_RECORD_ID_FIELDS(FIELD)                                                     \
	FIELD(uint16_t, lid, 0, 16)                                                                \
	FIELD(uint8_t, output_port, 16, 8)                                                         \
	FIELD(uint8_t, block, 24, 8)

ATTRIBUTE_STRUCT(vl_arbitration_record_id, VL_ARBITRATION_RECORD_ID_FIELDS)

#define GUID_INFO_RECORD_ID_FIELDS(FIELD)                                                          \
	FIELD(uint16_t, lid, 0, 16)                                                                \
	FIELD(uint8_t, block, 16, 8)

ATTRIBUTE_STRUCT(guid_info_record_id, GUID_INFO_RECORD_ID_FIELDS)

#define PKEY_TABLE_RECORD_ID_FIELDS(FIELD)                                                         \
	FIELD(uint16_t, lid, 0, 16)                                                                \
	FIELD(uint16_t, block, 16, 16)                                                             \
	FIELD(uint8_t, port_number, 32, 8)

ATTRIBUTE_STRUCT(pkey_table_record_id, PKEY_TABLE_RECORD_ID_FIELDS)

#define LINK_RECORD_FIELDS(FIELD)                                                                  \
	FIELD(uint16_t, from_lid, 0, 16)                                                           \
	FIELD(uint8_t, from_port, 16, 8)                                                           \
	FIELD(uint8_t, to_port, 24, 8)                                                             \
	FIELD(uint16_t, to_lid, 32, 16)

ATTRIBUTE_STRUCT(link_record, LINK_RECORD_FIELDS)

enum sa_selector { SELECT_GREATER = 0, SELECT_LESS = 1, SELECT_EXACTLY = 2, SELECT_BEST = 3 };

#define PATH_RECORD_FIELDS(FIELD)                                                                  \
	FIELD(uint64_t, service_id, 0, 64)                                                         \
	FIELD(uint64_t, dgid_prefix, 64, 64)                                                       \
	FIELD(uint64_t, dgid_guid, 128, 64)                                                        \
	FIELD(uint64_t, sgid_prefix, 192, 64)                                                      \
	FIELD(uint64_t, sgid_guid, 256, 64)                                                        \
	FIELD(uint16_t, dlid, 320, 16)                                                             \
	FIELD(uint16_t, slid, 336, 16)                                                             \
	FIELD(uint8_t, raw_traffic, 352, 1)                                                        \
	FIELD(uint32_t, flow_label, 356, 20)                                                       \
	FIELD(uint8_t, hop_limit, 376, 8)                                                          \
	FIELD(uint8_t, traffic_class, 384, 8)                                                      \
	FIELD(uint8_t, reversible, 392, 1)                                                         \
	FIELD(uint8_t, path_count, 393, 7)                                                         \
	FIELD(uint16_t, pkey, 400, 16)                                                             \
	FIELD(uint16_t, qos_class, 416, 12)                                                        \
	FIELD(uint8_t, sl, 428, 4)                                                                 \
	FIELD(uint8_t, mtu_selector, 432, 2)                                                       \
	FIELD(uint8_t, mtu, 434, 6)                                                                \
	FIELD(uint8_t, rate_selector, 440, 2)                                                      \
	FIELD(uint8_t, rate, 442, 6)                                                               \
	FIELD(uint8_t, packet_life_time_selector, 448, 2)                                          \
	FIELD(uint8_t, packet_life_time, 450, 6)                                                   \
	FIELD(uint8_t, preference, 456, 8)                                                         \
	FIELD(uint8_t, reverse_path_pkey_member_bit, 464, 2)

ATTRIBUTE_STRUCT(path_record, PATH_RECORD_FIELDS)

/* The SGIDs follow, then the DGIDs. */
#define MULTI_PATH_HEADER_FIELDS(FIELD)                                                            \
	FIELD(uint8_t, raw_traffic, 0, 1)                                                          \
	FIELD(uint32_t, flow_label, 4, 20)                                                         \
	FIELD(uint8_t, hop_limit, 24, 8)                                                           \
	FIELD(uint8_t, traffic_class, 32, 8)                                                       \
	FIELD(uint8_t, reversible, 40, 1)                                                          \
	FIELD(uint8_t, path_count, 41, 7)                                                          \
	FIELD(uint16_t, pkey, 48, 16)                                                              \
	FIELD(uint16_t, qos_class, 64, 12)                                                         \
	FIELD(uint8_t, sl, 76, 4)                                                                  \
	FIELD(uint8_t, mtu_selector, 80, 2)                                                        \
	FIELD(uint8_t, mtu, 82, 6)                                                                 \
	FIELD(uint8_t, rate_selector, 88, 2)                                                       \
	FIELD(uint8_t, rate, 90, 6)                                                                \
	FIELD(uint8_t, packet_life_time_selector, 96, 2)                                           \
	FIELD(uint8_t, packet_life_time, 98, 6)                                                    \
	FIELD(uint8_t, service_id_high, 104, 8)                                                    \
	FIELD(uint8_t, independence_selector, 112, 2)                                              \
	FIELD(uint8_t, sgid_count, 120, 8)                                                         \
	FIELD(uint8_t, dgid_count, 128, 8)                                                         \
	FIELD(uint64_t, service_id_low, 136, 56)

ATTRIBUTE_STRUCT(multi_path_header, MULTI_PATH_HEADER_FIELDS)

#define MC_MEMBER_RECORD_FIELDS(FIELD)                                                             \
	FIELD(uint64_t, mgid_high, 0, 64)                                                          \
	FIELD(uint64_t, mgid_low, 64, 64)                                                          \
	FIELD(uint64_t, port_gid_prefix, 128, 64)                                                  \
	FIELD(uint64_t, port_gid_guid, 192, 64)                                                    \
	FIELD(uint32_t, qkey, 256, 32)                                                             \
	FIELD(uint16_t, mlid, 288, 16)                                                             \
	FIELD(uint8_t, mtu_selector, 304, 2)                                                       \
	FIELD(uint8_t, mtu, 306, 6)                                                                \
	FIELD(uint8_t, traffic_class, 312, 8)                                                      \
	FIELD(uint16_t, pkey, 320, 16)                                                             \
	FIELD(uint8_t, rate_selector, 336, 2)                                                      \
	FIELD(uint8_t, rate, 338, 6)                                                               \
	FIELD(uint8_t, packet_life_time_selector, 344, 2)                                          \
	FIELD(uint8_t, packet_life_time, 346, 6)                                                   \
	FIELD(uint8_t, sl, 352, 4)                                                                 \
	FIELD(uint32_t, flow_label, 356, 20)                                                       \
	FIELD(uint8_t, hop_limit, 376, 8)                                                          \
	FIELD(uint8_t, scope, 384, 4)                                                              \
	FIELD(uint8_t, join_state, 388, 4)                                                         \
	FIELD(uint8_t, proxy_join, 392, 1)

ATTRIBUTE_STRUCT(mc_member_record, MC_MEMBER_RECORD_FIELDS)

#define TRACE_RECORD_FIELDS(FIELD)                                                                 \
	FIELD(uint64_t, gid_prefix, 0, 64)                                                         \
	FIELD(uint16_t, id_generation, 64, 16)                                                     \
	FIELD(uint8_t, node_type, 88, 8)                                                           \
	FIELD(uint64_t, node_id, 96, 64)                                                           \
	FIELD(uint64_t, chassis_id, 160, 64)                                                       \
	FIELD(uint64_t, entry_port_id, 224, 64)                                                    \
	FIELD(uint64_t, exit_port_id, 288, 64)                                                     \
	FIELD(uint8_t, entry_port, 352, 8)                                                         \
	FIELD(uint8_t, exit_port, 360, 8)

ATTRIBUTE_STRUCT(trace_record, TRACE_RECORD_FIELDS)

#define SERVICE_RECORD_ID_FIELDS(FIELD)                                                            \
	FIELD(uint64_t, id, 0, 64)                                                                 \
	FIELD(uint64_t, gid_prefix, 64, 64)                                                        \
	FIELD(uint64_t, gid_guid, 128, 64)                                                         \
	FIELD(uint16_t, pkey, 192, 16)                                                             \
	FIELD(uint32_t, lease_s, 224, 32)                                                          \
	FIELD(uint64_t, key_high, 256, 64)                                                         \
	FIELD(uint64_t, key_low, 320, 64)

ATTRIBUTE_STRUCT(service_record_id, SERVICE_RECORD_ID_FIELDS)

enum { SERVICE_NAME_BYTES = 64, SERVICE_DATA_BYTES = 64, SERVICE_NAME_OFFSET = 48 };

#define SERVICE_LEASE_ENDLESS UINT32_MAX

struct service_record {
	struct service_record_id id;
	uint8_t name[SERVICE_NAME_BYTES];
	uint8_t data[SERVICE_DATA_BYTES]; /* Data8, Data16, Data32 and Data64 in wire format */
};

void service_record_encode(const struct service_record *record,
			   uint8_t ret_bytes[static SERVICE_RECORD_BYTES]);
void service_record_decode(const uint8_t bytes[static SERVICE_RECORD_BYTES],
			   struct service_record *ret_record);

#define INFORM_INFO_FIELDS(FIELD)                                                                  \
	FIELD(uint64_t, gid_prefix, 0, 64)                                                         \
	FIELD(uint64_t, gid_guid, 64, 64)                                                          \
	FIELD(uint16_t, lid_range_begin, 128, 16)                                                  \
	FIELD(uint16_t, lid_range_end, 144, 16)                                                    \
	FIELD(uint8_t, is_generic, 176, 8)                                                         \
	FIELD(uint8_t, subscribe, 184, 8)                                                          \
	FIELD(uint16_t, type, 192, 16)                                                             \
	FIELD(uint16_t, trap_number, 208, 16)                                                      \
	FIELD(uint32_t, qpn, 224, 24)                                                              \
	FIELD(uint8_t, resp_time_value, 251, 5)                                                    \
	FIELD(uint32_t, producer_type, 264, 24)

ATTRIBUTE_STRUCT(inform_info, INFORM_INFO_FIELDS)

/* is_generic; anything greater: also vendors' notices. */
enum { INFORM_GENERIC = 1 };

/* Values of InformInfo that mean all. */
enum {
	INFORM_ANY_LID = 0xffff,
	INFORM_ANY_TYPE = 0xffff,
	INFORM_ANY_TRAP = 0xffff,
	INFORM_ANY_PRODUCER = 0xffffff,
};

#define INFORM_INFO_RECORD_ID_FIELDS(FIELD)                                                        \
	FIELD(uint64_t, subscriber_prefix, 0, 64)                                                  \
	FIELD(uint64_t, subscriber_guid, 64, 64)                                                   \
	FIELD(uint16_t, number, 128, 16)

ATTRIBUTE_STRUCT(inform_info_record_id, INFORM_INFO_RECORD_ID_FIELDS)

#endif
