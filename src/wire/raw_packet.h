/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Raw packets: no IBA transport behind the LRH, only a VCRC at the end (vol 1, chapters 5 and 7).
 *
 * Of a raw EtherType packet the payload is what follows the raw header; of a raw IPv6 packet the
 * IPv6 header is the payload's first part, since it is the consumer's.
 */
#ifndef SOFTIB_WIRE_RAW_PACKET_H
#define SOFTIB_WIRE_RAW_PACKET_H

#include <stddef.h>
#include <stdint.h>
#include "base/attributes.h"
#include "wire/packet.h"

enum {
	RWH_BYTES = 4,
	IPV6_HEADER_BYTES = 40,
	RAW_PACKET_BYTES_MIN = 20, /* PktLen 5, the least that a port takes */
	RAW_ETHERTYPE_BYTES_MIN = RAW_PACKET_BYTES_MIN - LRH_BYTES - RWH_BYTES,
};

/* What a port has at most one receiver of each for. */
enum raw_kind { RAW_IPV6, RAW_ETHERTYPE, RAW_KINDS };

/* Whether these are the first bytes of an IPv6 packet that is byte_count bytes long when filled up
 * to a word: the only pad that a raw packet may have, since nothing in it counts one. */
enum packet_error raw_check_ipv6(const uint8_t header[static IPV6_HEADER_BYTES], size_t byte_count);

/* As packet_bytes and packet_encode, which call these for raw packets. PktLen counts no ICRC. */
size_t raw_packet_bytes(const struct packet *packet);
size_t raw_packet_encode(const struct packet *packet, uint8_t *ret_bytes);

/* As packet_decode, for LNH 0 and 1 only: a packet has either transport headers or none, and who
 * expects the one kind has no use for the other. */
MUST_USE enum packet_error raw_packet_decode(uint8_t *bytes, size_t byte_count,
					     struct packet *ret_packet);

#endif
