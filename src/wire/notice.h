/* SPDX-License-Identifier: Apache-2.0 */
/* Notice, what traps and reports carry (vol 1, chapters 13 and 14). */
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

/* For a vendor's notice producer_type is the vendor's OUI and trap_number its device id. */
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

#endif
