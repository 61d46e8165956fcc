/* SPDX-License-Identifier: Apache-2.0 */
/* The operation codes of the transports, as one table (vol 1, chapter 9; transport 2.1, 2.2). */
#include "wire/opcode.h"

#include "wire/transport_headers.h"

/* The columns of the rows below. */
enum {
	NO_HEADER = 0,
	RDETH = 1 << 0,
	DETH = 1 << 1,
	XRCETH = 1 << 2,
	FETH = 1 << 3,
	RETH = 1 << 4,
	ATOMICETH = 1 << 5,
	AETH = 1 << 6,
	ATOMICACKETH = 1 << 7,
	IMMDT = 1 << 8,
	IETH = 1 << 9,
	PAYLOAD = 1 << 10,

	FIRST = 1,
	MIDDLE = 0,
	LAST = 2,
	ONLY = FIRST | LAST,

	KEEPS_RECEIVE = 0,
	TAKES_RECEIVE = 1,
};

#define IF_HEADER(headers, header, bytes) (((headers) & (header)) ? (bytes) : 0)

#define ETH_BYTES(h)                                                                               \
	(IF_HEADER(h, RDETH, RDETH_BYTES) + IF_HEADER(h, DETH, DETH_BYTES) +                       \
	 IF_HEADER(h, XRCETH, XRCETH_BYTES) + IF_HEADER(h, FETH, FETH_BYTES) +                     \
	 IF_HEADER(h, RETH, RETH_BYTES) + IF_HEADER(h, ATOMICETH, ATOMIC_ETH_BYTES) +              \
	 IF_HEADER(h, AETH, AETH_BYTES) + IF_HEADER(h, ATOMICACKETH, ATOMIC_ACK_ETH_BYTES) +       \
	 IF_HEADER(h, IMMDT, IMMEDIATE_BYTES) + IF_HEADER(h, IETH, IETH_BYTES))

#define ENTRY(transport, operation, kind_, position, receive, headers)                             \
	[TRANSPORT_##transport | OPCODE_##operation] = {                                           \
		.name = #transport "_" #operation,                                                 \
		.kind = OPCODE_KIND_##kind_,                                                       \
		.starts_message = ((position)&FIRST) != 0,                                         \
		.ends_message = ((position)&LAST) != 0,                                            \
		.is_response = IS_RESPONSE(kind_),                                                 \
		.has_rdeth = ((headers)&RDETH) != 0,                                               \
		.has_deth = ((headers)&DETH) != 0,                                                 \
		.has_xrceth = ((headers)&XRCETH) != 0,                                             \
		.has_reth = ((headers)&RETH) != 0,                                                 \
		.has_atomic_eth = ((headers)&ATOMICETH) != 0,                                      \
		.has_feth = ((headers)&FETH) != 0,                                                 \
		.has_aeth = ((headers)&AETH) != 0,                                                 \
		.has_atomic_ack_eth = ((headers)&ATOMICACKETH) != 0,                               \
		.has_immediate = ((headers)&IMMDT) != 0,                                           \
		.has_ieth = ((headers)&IETH) != 0,                                                 \
		.has_payload = ((headers)&PAYLOAD) != 0,                                           \
		.takes_receive = (receive) == TAKES_RECEIVE,                                       \
		.eth_bytes = ETH_BYTES(headers),                                                   \
	},

#define IS_RESPONSE(kind)                                                                          \
	(OPCODE_KIND_##kind == OPCODE_KIND_READ_RESPONSE ||                                        \
	 OPCODE_KIND_##kind == OPCODE_KIND_ACKNOWLEDGE ||                                          \
	 OPCODE_KIND_##kind == OPCODE_KIND_ATOMIC_ACKNOWLEDGE)

/* clang-format off */
/* 0x00 - 0x0b: all connected transports. */
#define SEND_WRITE_ROWS(ROW)                                                                       \
	ROW(SEND_FIRST,            SEND,  FIRST,  TAKES_RECEIVE, PAYLOAD)                          \
	ROW(SEND_MIDDLE,           SEND,  MIDDLE, KEEPS_RECEIVE, PAYLOAD)                          \
	ROW(SEND_LAST,             SEND,  LAST,   KEEPS_RECEIVE, PAYLOAD)                          \
	ROW(SEND_LAST_IMMEDIATE,   SEND,  LAST,   KEEPS_RECEIVE, IMMDT | PAYLOAD)                  \
	ROW(SEND_ONLY,             SEND,  ONLY,   TAKES_RECEIVE, PAYLOAD)                          \
	ROW(SEND_ONLY_IMMEDIATE,   SEND,  ONLY,   TAKES_RECEIVE, IMMDT | PAYLOAD)                  \
	ROW(WRITE_FIRST,           WRITE, FIRST,  KEEPS_RECEIVE, RETH | PAYLOAD)                   \
	ROW(WRITE_MIDDLE,          WRITE, MIDDLE, KEEPS_RECEIVE, PAYLOAD)                          \
	ROW(WRITE_LAST,            WRITE, LAST,   KEEPS_RECEIVE, PAYLOAD)                          \
	ROW(WRITE_LAST_IMMEDIATE,  WRITE, LAST,   TAKES_RECEIVE, IMMDT | PAYLOAD)                  \
	ROW(WRITE_ONLY,            WRITE, ONLY,   KEEPS_RECEIVE, RETH | PAYLOAD)                   \
	ROW(WRITE_ONLY_IMMEDIATE,  WRITE, ONLY,   TAKES_RECEIVE, RETH | IMMDT | PAYLOAD)

/* 0x0c, 0x13, 0x14: requests of the reliable transports. */
#define READ_ATOMIC_ROWS(ROW)                                                                      \
	ROW(READ_REQUEST,          READ,   ONLY,  KEEPS_RECEIVE, RETH)                             \
	ROW(COMPARE_SWAP,          ATOMIC, ONLY,  KEEPS_RECEIVE, ATOMICETH)                        \
	ROW(FETCH_ADD,             ATOMIC, ONLY,  KEEPS_RECEIVE, ATOMICETH)

/* 0x0d - 0x12: responses of the reliable transports. */
#define RESPONSE_ROWS(ROW)                                                                         \
	ROW(READ_RESPONSE_FIRST,   READ_RESPONSE,      FIRST,  KEEPS_RECEIVE, AETH | PAYLOAD)      \
	ROW(READ_RESPONSE_MIDDLE,  READ_RESPONSE,      MIDDLE, KEEPS_RECEIVE, PAYLOAD)             \
	ROW(READ_RESPONSE_LAST,    READ_RESPONSE,      LAST,   KEEPS_RECEIVE, AETH | PAYLOAD)      \
	ROW(READ_RESPONSE_ONLY,    READ_RESPONSE,      ONLY,   KEEPS_RECEIVE, AETH | PAYLOAD)      \
	ROW(ACKNOWLEDGE,           ACKNOWLEDGE,        ONLY,   KEEPS_RECEIVE, AETH)                \
	ROW(ATOMIC_ACKNOWLEDGE,    ATOMIC_ACKNOWLEDGE, ONLY,   KEEPS_RECEIVE, AETH | ATOMICACKETH)

/* 0x16, 0x17: RC and XRC only. */
#define INVALIDATE_ROWS(ROW)                                                                       \
	ROW(SEND_LAST_INVALIDATE,  SEND, LAST, KEEPS_RECEIVE, IETH | PAYLOAD)                      \
	ROW(SEND_ONLY_INVALIDATE,  SEND, ONLY, TAKES_RECEIVE, IETH | PAYLOAD)

/* 0x1c, 0x1d: memory placement, annex A19. */
#define PLACEMENT_ROWS(ROW)                                                                        \
	ROW(FLUSH,                 FLUSH,        ONLY, KEEPS_RECEIVE, FETH | RETH)                 \
	ROW(ATOMIC_WRITE,          ATOMIC_WRITE, ONLY, KEEPS_RECEIVE, RETH | PAYLOAD)

/* clang-format on */

/* How a transport uses the rows: the same headers, with its own before them. */
#define RC(operation, kind, position, receive, headers)                                            \
	ENTRY(RC, operation, kind, position, receive, headers)
#define UC(operation, kind, position, receive, headers)                                            \
	ENTRY(UC, operation, kind, position, receive, headers)
#define RD_REQUEST(operation, kind, position, receive, headers)                                    \
	ENTRY(RD, operation, kind, position, receive, RDETH | DETH | headers)
#define RD_BARE(operation, kind, position, receive, headers)                                       \
	ENTRY(RD, operation, kind, position, receive, RDETH | headers)
#define UD(operation, kind, position, receive, headers)                                            \
	ENTRY(UD, operation, kind, position, receive, DETH | headers)
#define XRC_REQUEST(operation, kind, position, receive, headers)                                   \
	ENTRY(XRC, operation, kind, position, receive, XRCETH | headers)
#define XRC_RESPONSE(operation, kind, position, receive, headers)                                  \
	ENTRY(XRC, operation, kind, position, receive, headers)

/* clang-format off */
const struct opcode_info opcode_table[256] = {
	SEND_WRITE_ROWS(RC)
	READ_ATOMIC_ROWS(RC)
	RESPONSE_ROWS(RC)
	INVALIDATE_ROWS(RC)
	PLACEMENT_ROWS(RC)

	SEND_WRITE_ROWS(UC)

	SEND_WRITE_ROWS(RD_REQUEST)
	READ_ATOMIC_ROWS(RD_REQUEST)
	RESPONSE_ROWS(RD_BARE)
	RD_REQUEST(RESYNC, RESYNC, ONLY, KEEPS_RECEIVE, NO_HEADER)
	PLACEMENT_ROWS(RD_REQUEST)

	UD(SEND_ONLY, SEND, ONLY, TAKES_RECEIVE, PAYLOAD)
	UD(SEND_ONLY_IMMEDIATE, SEND, ONLY, TAKES_RECEIVE, IMMDT | PAYLOAD)

	SEND_WRITE_ROWS(XRC_REQUEST)
	READ_ATOMIC_ROWS(XRC_REQUEST)
	RESPONSE_ROWS(XRC_RESPONSE)
	INVALIDATE_ROWS(XRC_REQUEST)
	PLACEMENT_ROWS(XRC_REQUEST)

	[TRANSPORT_CNP] = {
		.name = "CNP",
		.kind = OPCODE_KIND_CONGESTION,
		.starts_message = true,
		.ends_message = true,
	},
};
/* clang-format on */
