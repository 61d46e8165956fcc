/* SPDX-License-Identifier: Apache-2.0 */
/* SNMP tunnelling: the header of a MAD that carries a piece of an SNMP message (vol 1, chapter 16;
 * management 6.4). */
#ifndef SOFTIB_WIRE_SNMP_TUNNEL_H
#define SOFTIB_WIRE_SNMP_TUNNEL_H

#include "wire/attribute.h"

enum {
	SNMP_CLASS_VERSION = 1,
	SNMP_HEADER_OFFSET = 24,
	SNMP_DATA_OFFSET = 64,
	SNMP_DATA_BYTES = 192,
	SNMP_COMMUNITY_BYTES = 64, /* zero padded */

	ATTRIBUTE_COMMUNITY_INFO = 0x0010, /* segment 0 */
	ATTRIBUTE_PDU_INFO = 0x0011,	   /* segments 1, 2, ... */

	SNMP_SEGMENT_MAX = 255, /* SegmentNumber has 8 bits */
	SNMP_MESSAGE_BYTES_MAX = SNMP_SEGMENT_MAX * SNMP_DATA_BYTES,
};

/* AttributeModifier: which way the message goes. An answer goes to the requester by its transaction
 * id, everything else to the agent or manager of the port (docs/decisions.md). */
enum snmp_direction {
	SNMP_TO_AGENT = 0,
	SNMP_ANSWER = 1,
	SNMP_NOTIFICATION = 2,
};

#define SNMP_HEADER_FIELDS(FIELD)                                                                  \
	FIELD(uint32_t, raddress, 256, 32)                                                         \
	FIELD(uint8_t, payload_length, 288, 8)                                                     \
	FIELD(uint8_t, segment_number, 296, 8)                                                     \
	FIELD(uint16_t, source_lid, 304, 16)

enum { SNMP_HEADER_BYTES = 40 };
ATTRIBUTE_STRUCT(snmp_header, SNMP_HEADER_FIELDS)

#endif
