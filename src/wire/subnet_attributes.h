/* SPDX-License-Identifier: Apache-2.0 */
/* The subnet management attributes that have fields (vol 1, chapter 14; management 2.5). Tables of
 * numbers are in smp_tables.h. */
#ifndef SOFTIB_WIRE_SUBNET_ATTRIBUTES_H
#define SOFTIB_WIRE_SUBNET_ATTRIBUTES_H

#include "wire/attribute.h"

enum {
	NODE_INFO_BYTES = 40,
	SWITCH_INFO_BYTES = 20,
	PORT_INFO_BYTES = 64,
	PORT_INFO_EXTENDED_BYTES = 22,
	SM_INFO_BYTES = 24,
	NODE_DESCRIPTION_BYTES = 64
};

enum node_type { NODE_CA = 1, NODE_SWITCH = 2, NODE_ROUTER = 3 };

#define NODE_INFO_FIELDS(FIELD)                                                                    \
	FIELD(uint8_t, base_version, 0, 8)                                                         \
	FIELD(uint8_t, class_version, 8, 8)                                                        \
	FIELD(uint8_t, node_type, 16, 8)                                                           \
	FIELD(uint8_t, port_count, 24, 8)                                                          \
	FIELD(uint64_t, system_image_guid, 32, 64)                                                 \
	FIELD(uint64_t, node_guid, 96, 64)                                                         \
	FIELD(uint64_t, port_guid, 160, 64)                                                        \
	FIELD(uint16_t, partition_cap, 224, 16)                                                    \
	FIELD(uint16_t, device_id, 240, 16)                                                        \
	FIELD(uint32_t, revision, 256, 32)                                                         \
	FIELD(uint8_t, local_port_number, 288, 8)                                                  \
	FIELD(uint32_t, vendor_id, 296, 24)

ATTRIBUTE_STRUCT(node_info, NODE_INFO_FIELDS)

#define SWITCH_INFO_FIELDS(FIELD)                                                                  \
	FIELD(uint16_t, linear_fdb_cap, 0, 16)                                                     \
	FIELD(uint16_t, random_fdb_cap, 16, 16)                                                    \
	FIELD(uint16_t, multicast_fdb_cap, 32, 16)                                                 \
	FIELD(uint16_t, linear_fdb_top, 48, 16)                                                    \
	FIELD(uint8_t, default_port, 64, 8)                                                        \
	FIELD(uint8_t, default_multicast_primary_port, 72, 8)                                      \
	FIELD(uint8_t, default_multicast_not_primary_port, 80, 8)                                  \
	FIELD(uint8_t, life_time_value, 88, 5)                                                     \
	FIELD(uint8_t, port_state_change, 93, 1)                                                   \
	FIELD(uint8_t, optimized_sl_to_vl, 94, 2)                                                  \
	FIELD(uint16_t, lids_per_port, 96, 16)                                                     \
	FIELD(uint16_t, partition_enforcement_cap, 112, 16)                                        \
	FIELD(uint8_t, inbound_enforcement_cap, 128, 1)                                            \
	FIELD(uint8_t, outbound_enforcement_cap, 129, 1)                                           \
	FIELD(uint8_t, filter_raw_inbound_cap, 130, 1)                                             \
	FIELD(uint8_t, filter_raw_outbound_cap, 131, 1)                                            \
	FIELD(uint8_t, enhanced_port_0, 132, 1)                                                    \
	FIELD(uint16_t, multicast_fdb_top, 144, 16)

ATTRIBUTE_STRUCT(switch_info, SWITCH_INFO_FIELDS)

enum port_state {
	PORT_NO_CHANGE = 0,
	PORT_DOWN = 1,
	PORT_INIT = 2,
	PORT_ARMED = 3,
	PORT_ACTIVE = 4
};

enum physical_state {
	PHYSICAL_NO_CHANGE = 0,
	PHYSICAL_SLEEP = 1,
	PHYSICAL_POLLING = 2,
	PHYSICAL_DISABLED = 3,
	PHYSICAL_TRAINING = 4,
	PHYSICAL_LINK_UP = 5,
	PHYSICAL_ERROR_RECOVERY = 6,
};

#define PORT_INFO_FIELDS(FIELD)                                                                    \
	FIELD(uint64_t, mkey, 0, 64)                                                               \
	FIELD(uint64_t, gid_prefix, 64, 64)                                                        \
	FIELD(uint16_t, lid, 128, 16)                                                              \
	FIELD(uint16_t, master_sm_lid, 144, 16)                                                    \
	FIELD(uint32_t, capability_mask, 160, 32)                                                  \
	FIELD(uint16_t, diag_code, 192, 16)                                                        \
	FIELD(uint16_t, mkey_lease_period, 208, 16)                                                \
	FIELD(uint8_t, local_port_number, 224, 8)                                                  \
	FIELD(uint8_t, link_width_enabled, 232, 8)                                                 \
	FIELD(uint8_t, link_width_supported, 240, 8)                                               \
	FIELD(uint8_t, link_width_active, 248, 8)                                                  \
	FIELD(uint8_t, link_speed_supported, 256, 4)                                               \
	FIELD(uint8_t, port_state, 260, 4)                                                         \
	FIELD(uint8_t, physical_state, 264, 4)                                                     \
	FIELD(uint8_t, link_down_default_state, 268, 4)                                            \
	FIELD(uint8_t, mkey_protect_bits, 272, 2)                                                  \
	FIELD(uint8_t, lmc, 277, 3)                                                                \
	FIELD(uint8_t, link_speed_active, 280, 4)                                                  \
	FIELD(uint8_t, link_speed_enabled, 284, 4)                                                 \
	FIELD(uint8_t, neighbor_mtu, 288, 4)                                                       \
	FIELD(uint8_t, master_sm_sl, 292, 4)                                                       \
	FIELD(uint8_t, vl_cap, 296, 4)                                                             \
	FIELD(uint8_t, init_type, 300, 4)                                                          \
	FIELD(uint8_t, vl_high_limit, 304, 8)                                                      \
	FIELD(uint8_t, vl_arbitration_high_cap, 312, 8)                                            \
	FIELD(uint8_t, vl_arbitration_low_cap, 320, 8)                                             \
	FIELD(uint8_t, init_type_reply, 328, 4)                                                    \
	FIELD(uint8_t, mtu_cap, 332, 4)                                                            \
	FIELD(uint8_t, vl_stall_count, 336, 3)                                                     \
	FIELD(uint8_t, hoq_life, 339, 5)                                                           \
	FIELD(uint8_t, operational_vls, 344, 4)                                                    \
	FIELD(uint8_t, partition_enforcement_inbound, 348, 1)                                      \
	FIELD(uint8_t, partition_enforcement_outbound, 349, 1)                                     \
	FIELD(uint8_t, filter_raw_inbound, 350, 1)                                                 \
	FIELD(uint8_t, filter_raw_outbound, 351, 1)                                                \
	FIELD(uint16_t, mkey_violations, 352, 16)                                                  \
	FIELD(uint16_t, pkey_violations, 368, 16)                                                  \
	FIELD(uint16_t, qkey_violations, 384, 16)                                                  \
	FIELD(uint8_t, guid_cap, 400, 8)                                                           \
	FIELD(uint8_t, client_reregister, 408, 1)                                                  \
	FIELD(uint8_t, multicast_pkey_trap_suppression, 409, 2)                                    \
	FIELD(uint8_t, subnet_timeout, 411, 5)                                                     \
	FIELD(uint8_t, resp_time_value, 419, 5)                                                    \
	FIELD(uint8_t, local_phy_errors, 424, 4)                                                   \
	FIELD(uint8_t, overrun_errors, 428, 4)                                                     \
	FIELD(uint16_t, max_credit_hint, 432, 16)                                                  \
	FIELD(uint8_t, link_speed_ext2_active, 449, 2)                                             \
	FIELD(uint8_t, link_speed_ext2_supported, 451, 2)                                          \
	FIELD(uint8_t, link_speed_ext2_enabled, 453, 3)                                            \
	FIELD(uint32_t, link_round_trip_latency, 456, 24)                                          \
	FIELD(uint16_t, capability_mask2, 480, 16)                                                 \
	FIELD(uint8_t, link_speed_ext_active, 496, 4)                                              \
	FIELD(uint8_t, link_speed_ext_supported, 500, 4)                                           \
	FIELD(uint8_t, link_speed_ext_enabled, 507, 5)

ATTRIBUTE_STRUCT(port_info, PORT_INFO_FIELDS)

/* PortInfo.CapabilityMask. */
enum {
	CAPABILITY_IS_SM = 1 << 1,
	CAPABILITY_NOTICE = 1 << 2,
	CAPABILITY_TRAP = 1 << 3,
	CAPABILITY_OPTIONAL_IPD = 1 << 4,
	CAPABILITY_AUTOMATIC_MIGRATION = 1 << 5,
	CAPABILITY_SL_MAPPING = 1 << 6,
	CAPABILITY_LED_INFO = 1 << 9,
	CAPABILITY_SM_DISABLED = 1 << 10,
	CAPABILITY_SYSTEM_IMAGE_GUID = 1 << 11,
	CAPABILITY_SWITCH_PKEY_TRAP = 1 << 12,
	CAPABILITY_EXTENDED_SPEEDS = 1 << 14,
	CAPABILITY_MASK2 = 1 << 15,
	CAPABILITY_COMMUNICATION = 1 << 16,
	CAPABILITY_SNMP_TUNNELING = 1 << 17,
	CAPABILITY_REINIT = 1 << 18,
	CAPABILITY_DEVICE_MANAGEMENT = 1 << 19,
	CAPABILITY_VENDOR_CLASS = 1 << 20,
	CAPABILITY_DR_NOTICE = 1 << 21,
	CAPABILITY_MASK_NOTICE = 1 << 22,
	CAPABILITY_CLIENT_REREGISTRATION = 1 << 25,
	CAPABILITY_OTHER_CHANGES_NOTICE = 1 << 26,
	CAPABILITY_MULTICAST_PKEY_TRAP_SUPPRESSION = 1 << 29,
	CAPABILITY_MULTICAST_FDB_TOP = 1 << 30,
};

/* PortInfo.CapabilityMask2. */
enum {
	CAPABILITY2_SET_NODE_DESCRIPTION = 1 << 0,
	CAPABILITY2_PORT_INFO_EXTENDED = 1 << 1,
	CAPABILITY2_LINK_WIDTH_2X = 1 << 4,
	CAPABILITY2_LINK_SPEED_HDR = 1 << 5,
	CAPABILITY2_LINK_SPEED_NDR = 1 << 10,
	CAPABILITY2_EXTENDED_SPEEDS_2 = 1 << 11,
	CAPABILITY2_LINK_SPEED_XDR = 1 << 12,
};

/* Modes of forward error correction: bit n is mode n of FECModeActive. */
#define PORT_INFO_EXTENDED_FIELDS(FIELD)                                                           \
	FIELD(uint32_t, capability_mask, 0, 32)                                                    \
	FIELD(uint16_t, fec_mode_active, 32, 16)                                                   \
	FIELD(uint16_t, fdr_fec_supported, 48, 16)                                                 \
	FIELD(uint16_t, fdr_fec_enabled, 64, 16)                                                   \
	FIELD(uint16_t, edr_fec_supported, 80, 16)                                                 \
	FIELD(uint16_t, edr_fec_enabled, 96, 16)                                                   \
	FIELD(uint16_t, hdr_fec_supported, 112, 16)                                                \
	FIELD(uint16_t, hdr_fec_enabled, 128, 16)                                                  \
	FIELD(uint16_t, ndr_fec_supported, 144, 16)                                                \
	FIELD(uint16_t, ndr_fec_enabled, 160, 16)

ATTRIBUTE_STRUCT(port_info_extended, PORT_INFO_EXTENDED_FIELDS)

/* PortInfoExtended.CapMask. */
enum { PORT_INFO_EXTENDED_HAS_FEC = 1 << 0 };

enum sm_state { SM_NOT_ACTIVE = 0, SM_DISCOVERING = 1, SM_STANDBY = 2, SM_MASTER = 3 };

#define SM_INFO_FIELDS(FIELD)                                                                      \
	FIELD(uint64_t, guid, 0, 64)                                                               \
	FIELD(uint64_t, sm_key, 64, 64)                                                            \
	FIELD(uint32_t, act_count, 128, 32)                                                        \
	FIELD(uint8_t, priority, 160, 4)                                                           \
	FIELD(uint8_t, sm_state, 164, 4)

ATTRIBUTE_STRUCT(sm_info, SM_INFO_FIELDS)

#endif
