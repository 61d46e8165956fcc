/* SPDX-License-Identifier: Apache-2.0 */
/* Notice, the attribute of traps and reports (vol 1, chapters 13 and 14; management 5.1, 5.2). */
#ifndef SOFTIB_WIRE_NOTICE_H
#define SOFTIB_WIRE_NOTICE_H

#include "wire/attribute.h"

enum { NOTICE_BYTES = 64, NOTICE_DETAILS_OFFSET = 10, NOTICE_DETAILS_BYTES = 54 };

enum notice_type {
	NOTICE_FATAL = 0,
	NOTICE_URGENT = 1,
	NOTICE_SECURITY = 2,
	NOTICE_SUBNET_MANAGEMENT = 3,
	NOTICE_INFORMATIONAL = 4,
	NOTICE_EMPTY = 0x7f,
};

enum notice_producer {
	PRODUCER_CA = 1,
	PRODUCER_SWITCH = 2,
	PRODUCER_ROUTER = 3,
	PRODUCER_CLASS_MANAGER = 4
};

enum trap_number {
	TRAP_GID_IN_SERVICE = 64,
	TRAP_GID_OUT_OF_SERVICE = 65,
	TRAP_MULTICAST_GROUP_CREATED = 66,
	TRAP_MULTICAST_GROUP_DELETED = 67,
	TRAP_LINK_STATE_CHANGE = 128,
	TRAP_LINK_INTEGRITY = 129,
	TRAP_BUFFER_OVERRUN = 130,
	TRAP_FLOW_CONTROL_WATCHDOG = 131,
	TRAP_LOCAL_CHANGE = 144,
	TRAP_SYSTEM_IMAGE_GUID_CHANGE = 145,
	TRAP_BAD_MKEY = 256,
	TRAP_BAD_PKEY = 257,
	TRAP_BAD_QKEY = 258,
	TRAP_BAD_PKEY_AT_SWITCH = 259,
};

/* In a vendor's notice producer_type is the vendor's OUI and trap_number the device id. */
#define NOTICE_HEADER_FIELDS(FIELD)                                                                \
	FIELD(uint8_t, is_generic, 0, 1)                                                           \
	FIELD(uint8_t, type, 1, 7)                                                                 \
	FIELD(uint32_t, producer_type, 8, 24)                                                      \
	FIELD(uint16_t, trap_number, 32, 16)                                                       \
	FIELD(uint16_t, issuer_lid, 48, 16)                                                        \
	FIELD(uint8_t, toggle, 64, 1)                                                              \
	FIELD(uint16_t, count, 65, 15)

ATTRIBUTE_STRUCT(notice_header, NOTICE_HEADER_FIELDS)

struct notice {
	struct notice_header header;
	uint8_t details[NOTICE_DETAILS_BYTES]; /* DataDetails, by trap number */
};

void notice_encode(const struct notice *notice, uint8_t ret_bytes[static NOTICE_BYTES]);
void notice_decode(const uint8_t bytes[static NOTICE_BYTES], struct notice *ret_notice);

/* Details of trap 128. */
#define LINK_STATE_DETAILS_FIELDS(FIELD) FIELD(uint16_t, lid, 0, 16)

ATTRIBUTE_STRUCT(link_state_details, LINK_STATE_DETAILS_FIELDS)

/* Details of traps 129, 130 and 131. */
#define PORT_ERROR_DETAILS_FIELDS(FIELD)                                                           \
	FIELD(uint16_t, lid, 16, 16)                                                               \
	FIELD(uint8_t, port_number, 32, 8)

ATTRIBUTE_STRUCT(port_error_details, PORT_ERROR_DETAILS_FIELDS)

/* ChangeFlags of trap 144. */
enum {
	CHANGE_NODE_DESCRIPTION = 1 << 0,
	CHANGE_LINK_WIDTH_ENABLED = 1 << 1,
	CHANGE_LINK_SPEED_ENABLED = 1 << 2,
	CHANGE_SM_PRIORITY = 1 << 3,
	CHANGE_HIERARCHY_INFO = 1 << 4,
	CHANGE_CAPABILITY_MASK2 = 1 << 5,
};

/* Details of trap 144. */
#define LOCAL_CHANGE_DETAILS_FIELDS(FIELD)                                                         \
	FIELD(uint16_t, lid, 16, 16)                                                               \
	FIELD(uint8_t, other_local_changes, 47, 1)                                                 \
	FIELD(uint32_t, capability_mask, 48, 32)                                                   \
	FIELD(uint16_t, change_flags, 80, 16)                                                      \
	FIELD(uint16_t, capability_mask2, 96, 16)

ATTRIBUTE_STRUCT(local_change_details, LOCAL_CHANGE_DETAILS_FIELDS)

/* Details of trap 256; the return path follows at byte 24. */
#define BAD_MKEY_DETAILS_FIELDS(FIELD)                                                             \
	FIELD(uint16_t, lid, 16, 16)                                                               \
	FIELD(uint16_t, dr_slid, 32, 16)                                                           \
	FIELD(uint8_t, method, 48, 8)                                                              \
	FIELD(uint16_t, attribute_id, 64, 16)                                                      \
	FIELD(uint32_t, attribute_modifier, 80, 32)                                                \
	FIELD(uint64_t, mkey, 112, 64)                                                             \
	FIELD(uint8_t, is_directed, 184, 1)                                                        \
	FIELD(uint8_t, path_truncated, 185, 1)                                                     \
	FIELD(uint8_t, hop_count, 186, 6)

ATTRIBUTE_STRUCT(bad_mkey_details, BAD_MKEY_DETAILS_FIELDS)

/* Details of trap 145. */
#define SYSTEM_IMAGE_DETAILS_FIELDS(FIELD)                                                         \
	FIELD(uint16_t, lid, 16, 16)                                                               \
	FIELD(uint64_t, system_image_guid, 48, 64)

ATTRIBUTE_STRUCT(system_image_details, SYSTEM_IMAGE_DETAILS_FIELDS)

/* Details of traps 257 and 258: 1 is the sender, 2 the receiver; the GIDs are 0 without a GRH. */
#define BAD_KEY_DETAILS_FIELDS(FIELD)                                                              \
	FIELD(uint16_t, lid1, 16, 16)                                                              \
	FIELD(uint16_t, lid2, 32, 16)                                                              \
	FIELD(uint32_t, key, 48, 32)                                                               \
	FIELD(uint8_t, sl, 80, 4)                                                                  \
	FIELD(uint32_t, qp1, 88, 24)                                                               \
	FIELD(uint32_t, qp2, 120, 24)                                                              \
	FIELD(uint64_t, gid1_prefix, 144, 64)                                                      \
	FIELD(uint64_t, gid1_guid, 208, 64)                                                        \
	FIELD(uint64_t, gid2_prefix, 272, 64)                                                      \
	FIELD(uint64_t, gid2_guid, 336, 64)

ATTRIBUTE_STRUCT(bad_key_details, BAD_KEY_DETAILS_FIELDS)

/* DataValid of trap 259. */
enum {
	SWITCH_PKEY_LID1 = 1 << 0,
	SWITCH_PKEY_LID2 = 1 << 1,
	SWITCH_PKEY_PKEY = 1 << 2,
	SWITCH_PKEY_SL = 1 << 3,
	SWITCH_PKEY_QP1 = 1 << 4,
	SWITCH_PKEY_QP2 = 1 << 5,
	SWITCH_PKEY_GID1 = 1 << 6,
	SWITCH_PKEY_GID2 = 1 << 7,
};

/* Details of trap 259. */
#define SWITCH_PKEY_DETAILS_FIELDS(FIELD)                                                          \
	FIELD(uint16_t, data_valid, 0, 16)                                                         \
	FIELD(uint16_t, lid1, 16, 16)                                                              \
	FIELD(uint16_t, lid2, 32, 16)                                                              \
	FIELD(uint16_t, pkey, 48, 16)                                                              \
	FIELD(uint8_t, sl, 64, 4)                                                                  \
	FIELD(uint32_t, qp1, 72, 24)                                                               \
	FIELD(uint32_t, qp2, 104, 24)                                                              \
	FIELD(uint64_t, gid1_prefix, 128, 64)                                                      \
	FIELD(uint64_t, gid1_guid, 192, 64)                                                        \
	FIELD(uint64_t, gid2_prefix, 256, 64)                                                      \
	FIELD(uint64_t, gid2_guid, 320, 64)                                                        \
	FIELD(uint16_t, switch_lid, 384, 16)                                                       \
	FIELD(uint8_t, port_number, 400, 8)

ATTRIBUTE_STRUCT(switch_pkey_details, SWITCH_PKEY_DETAILS_FIELDS)

#endif
