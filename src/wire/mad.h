/* SPDX-License-Identifier: Apache-2.0 */
/* Management datagrams: the common header and the SMP forms (vol 1, chapters 13 and 14; management
 * 1.1, 2.1). */
#ifndef SOFTIB_WIRE_MAD_H
#define SOFTIB_WIRE_MAD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/attributes.h"

enum { MAD_BYTES = 256, MAD_HEADER_BYTES = 24, MAD_HOPS_MAX = 63 };

/* Offsets in the common header, for code that reads one field only. */
enum {
	MAD_CLASS_OFFSET = 1,
	MAD_VERSION_OFFSET = 2,
	MAD_METHOD_OFFSET = 3,
	MAD_STATUS_OFFSET = 4,
	MAD_HOP_POINTER_OFFSET = 6,
	MAD_HOP_COUNT_OFFSET = 7,
	MAD_TRANSACTION_ID_OFFSET = 8,
	MAD_ATTRIBUTE_MODIFIER_OFFSET = 20,
	/* D bit beside the status of a directed-route SMP: the SMP returns to the requester. */
	MAD_STATUS_DIRECTION = 0x8000,
};

enum mad_class {
	MAD_CLASS_SUBNET_LID = 0x01,
	MAD_CLASS_SUBNET_ADMINISTRATION = 0x03,
	MAD_CLASS_PERFORMANCE = 0x04,
	MAD_CLASS_BASEBOARD = 0x05,
	MAD_CLASS_DEVICE = 0x06,
	MAD_CLASS_COMMUNICATION = 0x07,
	MAD_CLASS_SNMP = 0x08,
	MAD_CLASS_VENDOR1_FIRST = 0x09,
	MAD_CLASS_VENDOR1_LAST = 0x0f,
	MAD_CLASS_DEVICE_ADMINISTRATION = 0x10,
	MAD_CLASS_BOOT_INFORMATION = 0x12,
	MAD_CLASS_CONGESTION_CONTROL = 0x21,
	MAD_CLASS_VENDOR2_FIRST = 0x30,
	MAD_CLASS_VENDOR2_LAST = 0x4f,
	MAD_CLASS_SUBNET_DIRECTED = 0x81,
};

enum mad_method {
	MAD_GET = 0x01,
	MAD_SET = 0x02,
	MAD_SEND = 0x03,
	MAD_TRAP = 0x05,
	MAD_REPORT = 0x06,
	MAD_TRAP_REPRESS = 0x07,
	MAD_GET_TABLE = 0x12,
	MAD_GET_TRACE_TABLE = 0x13,
	MAD_GET_MULTI = 0x14,
	MAD_DELETE = 0x15,
	MAD_RESPONSE = 0x80, /* the R bit */
	MAD_GET_RESPONSE = 0x81,
	MAD_REPORT_RESPONSE = 0x86,
	MAD_GET_TABLE_RESPONSE = 0x92,
	MAD_GET_MULTI_RESPONSE = 0x94,
	MAD_DELETE_RESPONSE = 0x95,
};

enum mad_status {
	MAD_STATUS_OK = 0,
	MAD_STATUS_BUSY = 0x0001,
	MAD_STATUS_REDIRECT = 0x0002,
	MAD_STATUS_BAD_VERSION = 0x0004,
	MAD_STATUS_BAD_METHOD = 0x0008,
	MAD_STATUS_BAD_METHOD_ATTRIBUTE = 0x000c,
	MAD_STATUS_BAD_FIELD = 0x001c,
};

enum mad_attribute {
	ATTRIBUTE_CLASS_PORT_INFO = 0x0001,
	ATTRIBUTE_NOTICE = 0x0002,
	ATTRIBUTE_NODE_DESCRIPTION = 0x0010,
	ATTRIBUTE_NODE_INFO = 0x0011,
	ATTRIBUTE_SWITCH_INFO = 0x0012,
	ATTRIBUTE_GUID_INFO = 0x0014,
	ATTRIBUTE_PORT_INFO = 0x0015,
	ATTRIBUTE_PKEY_TABLE = 0x0016,
	ATTRIBUTE_SL_TO_VL = 0x0017,
	ATTRIBUTE_VL_ARBITRATION = 0x0018,
	ATTRIBUTE_LINEAR_FORWARDING = 0x0019,
	ATTRIBUTE_RANDOM_FORWARDING = 0x001a,
	ATTRIBUTE_MULTICAST_FORWARDING = 0x001b,
	ATTRIBUTE_SM_INFO = 0x0020,
	ATTRIBUTE_VENDOR_DIAG = 0x0030,
	ATTRIBUTE_LED_INFO = 0x0031,
	ATTRIBUTE_PORT_INFO_EXTENDED = 0x0033,
	ATTRIBUTE_PORT_COUNTERS = 0x0012,	   /* class Performance */
	ATTRIBUTE_PORT_COUNTERS_EXTENDED = 0x001d, /* class Performance */
};

struct mad_header {
	uint8_t base_version;
	uint8_t management_class;
	uint8_t class_version;
	uint8_t method;
	uint16_t status;	 /* 15 bits in directed-route SMPs */
	bool is_returning;	 /* D of a directed-route SMP */
	uint8_t hop_pointer;	 /* directed route only */
	uint8_t hop_count;	 /* directed route only */
	uint16_t class_specific; /* other classes */
	uint64_t transaction_id;
	uint16_t attribute_id;
	uint32_t attribute_modifier;
};

/* Vendor classes whose MADs carry an OUI (management 1.9). */
static inline bool mad_class_has_oui(unsigned management_class)
{
	return management_class >= MAD_CLASS_VENDOR2_FIRST &&
	       management_class <= MAD_CLASS_VENDOR2_LAST;
}

/* The class says whether the header is that of a directed-route SMP. */
void mad_header_encode(const struct mad_header *header, uint8_t ret_bytes[static MAD_HEADER_BYTES]);
MUST_USE bool mad_header_decode(const uint8_t *bytes, size_t byte_count,
				struct mad_header *ret_header);

/* Offsets inside an SMP. */
enum {
	SMP_MKEY_OFFSET = 24,
	SMP_DR_SLID_OFFSET = 32,
	SMP_DR_DLID_OFFSET = 34,
	SMP_DATA_OFFSET = 64,
	SMP_DATA_BYTES = 64,
	SMP_INITIAL_PATH_OFFSET = 128,
	SMP_RETURN_PATH_OFFSET = 192,
	PERFORMANCE_DATA_OFFSET = 64,
	PERFORMANCE_DATA_BYTES = 192,
};

#endif
