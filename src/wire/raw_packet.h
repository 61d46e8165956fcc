/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Raw packets: no IBA transport after the LRH, only a VCRC at the end (vol 1, chapters 5 and 7;
 * transport 1.1, 9.4).
 *
 * The payload of a raw EtherType packet follows the raw header. The payload of a raw IPv6 packet
 * begins with the IPv6 header, because the consumer writes it.
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
	RAW_PACKET_BYTES_MIN = 20, /* PktLen 5, the least that a port accepts */
	RAW_ETHERTYPE_BYTES_MIN = RAW_PACKET_BYTES_MIN - LRH_BYTES - RWH_BYTES,
};

/* A port has at most one receiver of each kind (transport 9.4). */
enum raw_kind { RAW_IPV6, RAW_ETHERTYPE, RAW_KINDS };

/* Whether these are the first bytes of an IPv6 packet whose length, rounded up to a word, is
 * byte_count. A raw packet can have no other pad, because no field counts it. */
enum packet_error raw_check_ipv6(const uint8_t header[static IPV6_HEADER_BYTES], size_t byte_count);

/* packet_bytes() and packet_encode() call these for raw packets. PktLen counts no ICRC. */
size_t raw_packet_bytes(const struct packet *packet);
size_t raw_packet_encode(const struct packet *packet, uint8_t *ret_bytes);

/* packet_decode() for LNH 0 and 1. It is separate because a receiver expects packets either with
 * transport headers or without. */
MUST_USE enum packet_error raw_packet_decode(uint8_t *bytes, size_t byte_count,
					     struct packet *ret_packet);

#endif
