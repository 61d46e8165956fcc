/* SPDX-License-Identifier: Apache-2.0 */
/* softib's own vendor class, of range 2: the log of a node, and identify (docs/vendor-class.md). */
#ifndef SOFTIB_WIRE_VENDOR_SOFTIB_H
#define SOFTIB_WIRE_VENDOR_SOFTIB_H

#include "wire/attribute.h"

enum {
	MAD_CLASS_SOFTIB = 0x40,
	SOFTIB_CLASS_VERSION = 1,
	SOFTIB_OUI = 0x025f1b, /* also the vendor id of softib's nodes */
	VENDOR_OUI_OFFSET = 37,
	VENDOR_DATA_OFFSET = 40,

	ATTRIBUTE_NODE_LOG = 0x0010, /* the modifier is the number of the first entry wanted */
	ATTRIBUTE_IDENTIFY = 0x0011,
};

enum node_event {
	NODE_EVENT_PORT_STATE = 1,    /* code: the new PortState */
	NODE_EVENT_TRAP = 2,	      /* code: the trap number; subject: the class */
	NODE_EVENT_KEY_VIOLATION = 3, /* code: enum node_key; subject: the LID that it came from */
	NODE_EVENT_SET = 4,	      /* code: the attribute; subject: the class */
	NODE_EVENT_IDENTIFY = 5,      /* code: 1 on, 0 off; subject: for how many seconds */
	NODE_EVENT_POWER = 6,	      /* code: the new power state */
};

enum node_key { NODE_KEY_M = 1, NODE_KEY_P = 2, NODE_KEY_Q = 3, NODE_KEY_CC = 4, NODE_KEY_B = 5 };

/* NodeLog: a header, then entry_count entries from number first on. */
#define NODE_LOG_HEADER_FIELDS(FIELD)                                                              \
	FIELD(uint64_t, now_ns, 0, 64)                                                             \
	FIELD(uint32_t, oldest, 64, 32)                                                            \
	FIELD(uint32_t, next, 96, 32)                                                              \
	FIELD(uint32_t, first, 128, 32)                                                            \
	FIELD(uint8_t, entry_count, 160, 8)

enum { NODE_LOG_HEADER_BYTES = 24, NODE_LOG_ENTRIES_PER_MAD = 8 };
ATTRIBUTE_STRUCT(node_log_header, NODE_LOG_HEADER_FIELDS)

/* Equal events in a row are one entry with the time of the last one. */
#define NODE_LOG_ENTRY_FIELDS(FIELD)                                                               \
	FIELD(uint64_t, time_ns, 0, 64)                                                            \
	FIELD(uint8_t, event, 64, 8)                                                               \
	FIELD(uint8_t, port_number, 72, 8)                                                         \
	FIELD(uint16_t, code, 80, 16)                                                              \
	FIELD(uint32_t, count, 96, 32)                                                             \
	FIELD(uint64_t, subject, 128, 64)

enum { NODE_LOG_ENTRY_BYTES = 24 };
ATTRIBUTE_STRUCT(node_log_entry, NODE_LOG_ENTRY_FIELDS)

/* Set: seconds is how long it stays on, 0: until it is set off. Get: how long it still will. */
#define IDENTIFY_FIELDS(FIELD)                                                                     \
	FIELD(uint8_t, is_on, 0, 1)                                                                \
	FIELD(uint32_t, seconds, 32, 32)

enum { IDENTIFY_BYTES = 8 };
ATTRIBUTE_STRUCT(identify, IDENTIFY_FIELDS)

#endif
