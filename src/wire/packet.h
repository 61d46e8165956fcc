/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A whole IBA packet in host order.
 *
 * Engines work with trains: packet_count packets of one message, with consecutive PSNs, handled as
 * one. The opcode of a train is that of a single packet which starts and ends the message where the
 * train does (Only, First, Middle, Last). On a fabric link packet_count is always 1; only rings
 * between two processes carry longer trains.
 */
#ifndef SOFTIB_WIRE_PACKET_H
#define SOFTIB_WIRE_PACKET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/attributes.h"
#include "wire/grh.h"
#include "wire/lrh.h"
#include "wire/opcode.h"
#include "wire/transport_headers.h"

enum {
	ICRC_BYTES = 4,
	VCRC_BYTES = 2,
	/* In a packet without a GRH. */
	MAD_OFFSET_IN_PACKET = LRH_BYTES + BTH_BYTES + DETH_BYTES,
};

/* A run of bytes in this process. */
struct span {
	uint8_t *bytes;
	size_t byte_count;
};

/* Payload by reference: byte_count bytes that begin offset bytes into the spans. */
struct payload {
	const struct span *spans;
	uint32_t span_count;
	uint32_t byte_count;
	size_t offset;
	struct span single; /* storage for a payload of one span: spans == &single */
};

/* Raw packets have an LRH and a payload, but no transport headers (wire/raw_packet.h). */
enum packet_kind { PACKET_IBA, PACKET_RAW_ETHERTYPE, PACKET_RAW_IPV6 };

struct packet {
	struct lrh lrh; /* the link fills in vl and words; lnh follows has_grh */
	struct bth bth; /* the encoder fills in pad_bytes */
	struct deth deth;
	union {
		struct reth reth;
		struct atomic_eth atomic_eth;
	};
	struct aeth aeth;
	uint64_t atomic_ack; /* the value before the atomic */
	uint32_t immediate;  /* four opaque bytes, in the order of memory */
	uint32_t invalidate_rkey;
	uint32_t xrc_srqn;
	uint32_t rdeth_eecn;
	struct feth feth;
	uint32_t packet_count; /* of the train, 1 or more */
	bool has_grh;
	uint8_t kind;	    /* enum packet_kind */
	uint16_t ethertype; /* PACKET_RAW_ETHERTYPE */
	struct grh grh;
	struct payload payload;
};

/* Sets a payload that is one run of bytes. The spans point into the packet itself, so it must not
 * be copied afterwards. */
void packet_set_payload(struct packet *packet, uint8_t *bytes, uint32_t byte_count);

/* Copies bytes [from, from + byte_count) of the payload. */
void payload_copy(const struct payload *payload, size_t from, size_t byte_count,
		  uint8_t *ret_bytes);

/* LRH to the last extended header. */
size_t packet_header_bytes(const struct packet *packet);

/* LRH to the last pad byte; no CRCs. */
size_t packet_bytes(const struct packet *packet);

/* Writes headers, payload and pad; ret_bytes has room for packet_bytes(). Returns the bytes
 * written. For packet_count 1 LRH.PktLen counts the ICRC that follows; for longer trains it is
 * 0. */
size_t packet_encode(const struct packet *packet, uint8_t *ret_bytes);

enum packet_error {
	PACKET_OK,
	PACKET_TOO_SHORT,
	PACKET_BAD_LENGTH,
	PACKET_BAD_VERSION,
	PACKET_BAD_NEXT_HEADER,
	PACKET_BAD_OPCODE,
	PACKET_BAD_PAD,
};

const char *packet_error_name(enum packet_error error);

/* Decodes the bytes that packet_encode() wrote (no CRCs). Raw packets give PACKET_BAD_NEXT_HEADER.
 * The payload refers to the given bytes, which must stay; the caller knows packet_count. With
 * packet_count 1 the length must agree with LRH.PktLen. Fields that decide about lengths are read
 * once, so the bytes may be memory that a peer can still write. Headers that the opcode does not
 * have are left unchanged in ret_packet. */
MUST_USE enum packet_error packet_decode(uint8_t *bytes, size_t byte_count, uint32_t packet_count,
					 struct packet *ret_packet);

#endif
