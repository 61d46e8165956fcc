/* SPDX-License-Identifier: Apache-2.0 */
/* Base and extended transport headers (vol 1, chapter 9; transport 1.4, 1.5). */
#ifndef SOFTIB_WIRE_TRANSPORT_HEADERS_H
#define SOFTIB_WIRE_TRANSPORT_HEADERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/attributes.h"
#include "wire/psn.h"

enum {
	BTH_BYTES = 12,
	BTH_PSN_OFFSET = 8, /* of the word whose last three bytes are the PSN */
	RDETH_BYTES = 4,
	DETH_BYTES = 8,
	XRCETH_BYTES = 4,
	RETH_BYTES = 16,
	ATOMIC_ETH_BYTES = 28,
	FETH_BYTES = 4,
	AETH_BYTES = 4,
	ATOMIC_ACK_ETH_BYTES = 8,
	IMMEDIATE_BYTES = 4,
	IETH_BYTES = 4,
};

struct bth {
	uint8_t opcode;
	uint8_t pad_bytes;
	uint8_t version;
	bool solicited;
	bool migrated; /* MigReq */
	bool fecn;
	bool becn;
	bool ack_request;
	uint16_t pkey;
	uint32_t destination_qpn;
	struct psn psn;
};

struct deth {
	uint32_t qkey;
	uint32_t source_qpn;
};

struct reth {
	uint64_t address;
	uint32_t rkey;
	uint32_t bytes; /* DMALen: length of the whole message */
};

struct atomic_eth {
	uint64_t address;
	uint32_t rkey;
	uint64_t swap_or_add;
	uint64_t compare;
};

struct feth {
	uint8_t selectivity;
	uint8_t placement;
};

struct aeth {
	uint8_t syndrome;
	uint32_t msn; /* 24 bits */
};

/* Bits 6:5 of the syndrome; bits 4:0 are its value (transport 3.1). */
enum aeth_kind { AETH_ACK = 0, AETH_RNR_NAK = 1, AETH_RESERVED = 2, AETH_NAK = 3 };

/* Values of a NAK (transport 3.4). */
enum nak_code {
	NAK_PSN_SEQUENCE = 0,
	NAK_INVALID_REQUEST = 1,
	NAK_REMOTE_ACCESS = 2,
	NAK_REMOTE_OPERATIONAL = 3,
	NAK_INVALID_RD_REQUEST = 4,
};

enum { AETH_CREDITS_UNLIMITED = 0x1f };

static inline uint8_t aeth_syndrome(enum aeth_kind kind, unsigned value)
{
	return (uint8_t)((unsigned)kind << 5 | (value & 0x1f));
}

static inline enum aeth_kind aeth_kind(uint8_t syndrome)
{
	return (enum aeth_kind)(syndrome >> 5 & 3);
}

static inline unsigned aeth_value(uint8_t syndrome)
{
	return syndrome & 0x1f;
}

void bth_encode(const struct bth *bth, uint8_t ret_bytes[static BTH_BYTES]);
MUST_USE bool bth_decode(const uint8_t *bytes, size_t byte_count, struct bth *ret_bth);
void deth_encode(const struct deth *deth, uint8_t ret_bytes[static DETH_BYTES]);
void deth_decode(const uint8_t bytes[static DETH_BYTES], struct deth *ret_deth);
void reth_encode(const struct reth *reth, uint8_t ret_bytes[static RETH_BYTES]);
void reth_decode(const uint8_t bytes[static RETH_BYTES], struct reth *ret_reth);
void atomic_eth_encode(const struct atomic_eth *eth, uint8_t ret_bytes[static ATOMIC_ETH_BYTES]);
void atomic_eth_decode(const uint8_t bytes[static ATOMIC_ETH_BYTES], struct atomic_eth *ret_eth);
void aeth_encode(const struct aeth *aeth, uint8_t ret_bytes[static AETH_BYTES]);
void aeth_decode(const uint8_t bytes[static AETH_BYTES], struct aeth *ret_aeth);
void feth_encode(const struct feth *feth, uint8_t ret_bytes[static FETH_BYTES]);
void feth_decode(const uint8_t bytes[static FETH_BYTES], struct feth *ret_feth);

#endif
