/* SPDX-License-Identifier: Apache-2.0 */
/* The operation codes of the transports, as one table (vol 1, chapter 9; transport 2.1, 2.2). */
#ifndef SOFTIB_WIRE_OPCODE_H
#define SOFTIB_WIRE_OPCODE_H

#include <stdbool.h>
#include <stdint.h>

/* BTH.OpCode bits 7:5. */
enum transport {
	TRANSPORT_RC = 0x00,
	TRANSPORT_UC = 0x20,
	TRANSPORT_RD = 0x40,
	TRANSPORT_UD = 0x60,
	TRANSPORT_CNP = 0x80,
	TRANSPORT_XRC = 0xa0,
};

/* BTH.OpCode bits 4:0. */
enum opcode {
	OPCODE_SEND_FIRST = 0x00,
	OPCODE_SEND_MIDDLE = 0x01,
	OPCODE_SEND_LAST = 0x02,
	OPCODE_SEND_LAST_IMMEDIATE = 0x03,
	OPCODE_SEND_ONLY = 0x04,
	OPCODE_SEND_ONLY_IMMEDIATE = 0x05,
	OPCODE_WRITE_FIRST = 0x06,
	OPCODE_WRITE_MIDDLE = 0x07,
	OPCODE_WRITE_LAST = 0x08,
	OPCODE_WRITE_LAST_IMMEDIATE = 0x09,
	OPCODE_WRITE_ONLY = 0x0a,
	OPCODE_WRITE_ONLY_IMMEDIATE = 0x0b,
	OPCODE_READ_REQUEST = 0x0c,
	OPCODE_READ_RESPONSE_FIRST = 0x0d,
	OPCODE_READ_RESPONSE_MIDDLE = 0x0e,
	OPCODE_READ_RESPONSE_LAST = 0x0f,
	OPCODE_READ_RESPONSE_ONLY = 0x10,
	OPCODE_ACKNOWLEDGE = 0x11,
	OPCODE_ATOMIC_ACKNOWLEDGE = 0x12,
	OPCODE_COMPARE_SWAP = 0x13,
	OPCODE_FETCH_ADD = 0x14,
	OPCODE_RESYNC = 0x15,
	OPCODE_SEND_LAST_INVALIDATE = 0x16,
	OPCODE_SEND_ONLY_INVALIDATE = 0x17,
	OPCODE_FLUSH = 0x1c,
	OPCODE_ATOMIC_WRITE = 0x1d,
};

enum opcode_kind {
	OPCODE_KIND_NONE, /* reserved */
	OPCODE_KIND_SEND,
	OPCODE_KIND_WRITE,
	OPCODE_KIND_READ,
	OPCODE_KIND_ATOMIC,
	OPCODE_KIND_FLUSH,
	OPCODE_KIND_ATOMIC_WRITE,
	OPCODE_KIND_RESYNC,
	OPCODE_KIND_READ_RESPONSE,
	OPCODE_KIND_ACKNOWLEDGE,
	OPCODE_KIND_ATOMIC_ACKNOWLEDGE,
	OPCODE_KIND_CONGESTION,
};

/* One row of the specification's opcode table, for one transport. */
struct opcode_info {
	const char *name; /* "RC_SEND_FIRST"; NULL when the code is reserved */
	enum opcode_kind kind;
	bool starts_message; /* First or Only; an operation with a single form counts as Only */
	bool ends_message;   /* Last or Only */
	bool is_response;
	bool has_rdeth, has_deth, has_xrceth, has_reth, has_atomic_eth, has_feth;
	bool has_aeth, has_atomic_ack_eth, has_immediate, has_ieth;
	bool has_payload;
	bool takes_receive; /* consumes a receive work request in this packet */
	uint8_t eth_bytes;  /* of all extended headers together */
};

extern const struct opcode_info opcode_table[256];

static inline const struct opcode_info *opcode_info(uint8_t code)
{
	return &opcode_table[code];
}

static inline enum transport opcode_transport(uint8_t code)
{
	return (enum transport)(code & 0xe0);
}

#endif
