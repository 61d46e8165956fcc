/* SPDX-License-Identifier: Apache-2.0 */
/* Subnet administration MADs: the SA header, methods, status codes and attributes (vol 1, chapter
 * 15; management 4.1 to 4.3). */
#ifndef SOFTIB_WIRE_SA_MAD_H
#define SOFTIB_WIRE_SA_MAD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/attributes.h"
#include "wire/mad.h"

/* Offsets inside an SA MAD; the RMPP header is at MAD_HEADER_BYTES. */
enum {
	SA_CLASS_VERSION = 2,
	SA_HEADER_OFFSET = 36,
	SA_HEADER_BYTES = 20,
	SA_DATA_OFFSET = 56,
	SA_DATA_BYTES = 200,
	SA_RECORD_UNIT = 8, /* unit of AttributeOffset */
};

/* The class part of the MAD status (management 4.2). */
enum sa_status_code {
	SA_STATUS_NO_RESOURCES = 0x0100,
	SA_STATUS_REQ_INVALID = 0x0200,
	SA_STATUS_NO_RECORDS = 0x0300,
	SA_STATUS_TOO_MANY_RECORDS = 0x0400,
	SA_STATUS_INVALID_GID = 0x0500,
	SA_STATUS_INSUFFICIENT_COMPONENTS = 0x0600,
	SA_STATUS_DENIED = 0x0700,
	SA_STATUS_PRIORITY_SUGGESTED = 0x0800,
};

enum sa_attribute {
	SA_CLASS_PORT_INFO = 0x0001,
	SA_NOTICE = 0x0002,
	SA_INFORM_INFO = 0x0003,
	SA_NODE_RECORD = 0x0011,
	SA_PORT_INFO_RECORD = 0x0012,
	SA_SL_TO_VL_RECORD = 0x0013,
	SA_SWITCH_INFO_RECORD = 0x0014,
	SA_LINEAR_FORWARDING_RECORD = 0x0015,
	SA_RANDOM_FORWARDING_RECORD = 0x0016,
	SA_MULTICAST_FORWARDING_RECORD = 0x0017,
	SA_SM_INFO_RECORD = 0x0018,
	SA_LINK_RECORD = 0x0020,
	SA_GUID_INFO_RECORD = 0x0030,
	SA_SERVICE_RECORD = 0x0031,
	SA_PKEY_TABLE_RECORD = 0x0033,
	SA_PATH_RECORD = 0x0035,
	SA_VL_ARBITRATION_RECORD = 0x0036,
	SA_MC_MEMBER_RECORD = 0x0038,
	SA_TRACE_RECORD = 0x0039,
	SA_MULTI_PATH_RECORD = 0x003a,
	SA_SERVICE_ASSOCIATION_RECORD = 0x003b,
	SA_INFORM_INFO_RECORD = 0x00f3,
};

/* Bits of the SA's ClassPortInfo. */
enum sa_capability {
	SA_CAPABILITY_MASK2 = 1 << 2, /* CapabilityMask2 is used */
	SA_CAPABILITY_OPTIONAL_RECORDS = 1 << 8,
	SA_CAPABILITY_MULTICAST = 1 << 9,
	SA_CAPABILITY_MULTI_PATH = 1 << 10,
	SA_CAPABILITY_REINIT = 1 << 11,
	SA_CAPABILITY_PORT_INFO_MASK_MATCH = 1 << 13,
};

enum sa_capability2 {
	SA_CAPABILITY2_QOS = 1 << 1,
	SA_CAPABILITY2_MULTICAST_TOP = 1 << 3,
	SA_CAPABILITY2_ALIAS_GUID = 1 << 5,
	SA_CAPABILITY2_FULL_PORT_INFO = 1 << 6,
	SA_CAPABILITY2_EXTENDED_SPEEDS = 1 << 7,
	SA_CAPABILITY2_SEND_ONLY_FULL_MEMBER = 1 << 12,
};

struct sa_header {
	uint64_t sm_key;	   /* 0: an untrusted request, and every response */
	uint16_t attribute_offset; /* stride of the records in SA_RECORD_UNIT; tables only */
	uint64_t component_mask;   /* bit n: component n of the attribute is valid */
};

void sa_header_encode(const struct sa_header *header, uint8_t ret_bytes[static SA_HEADER_BYTES]);
MUST_USE bool sa_header_decode(const uint8_t *bytes, size_t byte_count,
			       struct sa_header *ret_header);

#endif
