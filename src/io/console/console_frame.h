/* SPDX-License-Identifier: Apache-2.0 */
/* Datagrams between a console controller and its driver: a header, then text. */
#ifndef SOFTIB_IO_CONSOLE_CONSOLE_FRAME_H
#define SOFTIB_IO_CONSOLE_CONSOLE_FRAME_H

#include <stdbool.h>
#include "base/attributes.h"
#include "wire/attribute.h"

/* What a console controller says of itself in its IOControllerProfile (management 6.3): numbers of
 * a vendor, and services named by the slot. */
#define CONSOLE_ID_STRING      "softib console"
#define CONSOLE_SERVICE_PREFIX "console.softib:"
/* The vendor's service IDs: its OUI, then the slot (management 7.6). */
#define CONSOLE_SERVICE_ID_FIRST UINT64_C(0x10025f1b00010000)

enum {
	CONSOLE_VENDOR_ID = 0x025f1b,
	CONSOLE_DEVICE_ID = 0x10,
	CONSOLE_IO_CLASS = 0xfe01,
	CONSOLE_IO_SUBCLASS = 1,
	CONSOLE_PROTOCOL = 0xfe01,
	CONSOLE_PROTOCOL_VERSION = 1,
};

/* is_sequenced: the frame has the next sequence number, and is repeated until acknowledged. ends:
 * nothing follows it. expected: the sequence number that the sender waits for. */
#define CONSOLE_FRAME_FIELDS(FIELD)                                                                \
	FIELD(uint8_t, version, 0, 8)                                                              \
	FIELD(uint8_t, ends, 14, 1)                                                                \
	FIELD(uint8_t, is_sequenced, 15, 1)                                                        \
	FIELD(uint16_t, text_bytes, 16, 16)                                                        \
	FIELD(uint32_t, session, 32, 32)                                                           \
	FIELD(uint32_t, sequence, 64, 32)                                                          \
	FIELD(uint32_t, expected, 96, 32)

enum {
	CONSOLE_HEADER_BYTES = 16,
	CONSOLE_FRAME_BYTES_MAX = 256, /* the smallest MTU */
	CONSOLE_TEXT_BYTES_MAX = CONSOLE_FRAME_BYTES_MAX - CONSOLE_HEADER_BYTES,
};
ATTRIBUTE_STRUCT(console_frame, CONSOLE_FRAME_FIELDS)

/* Decodes the header of a frame; its text follows. false: not a frame of this version, or its
 * length is not the one that it says. */
MUST_USE bool console_frame_read(const uint8_t *bytes, size_t byte_count,
				 struct console_frame *ret_frame);

#endif
