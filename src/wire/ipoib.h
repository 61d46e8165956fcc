/* SPDX-License-Identifier: Apache-2.0 */
/* IP over InfiniBand, the part that resolves addresses: link-layer addresses, ARP and neighbour
 * discovery, multicast groups (RFC 4391, RFC 4861; management 8.1). */
#ifndef SOFTIB_WIRE_IPOIB_H
#define SOFTIB_WIRE_IPOIB_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/attributes.h"
#include "wire/cm_ip_header.h"
#include "wire/gid.h"

enum {
	IPOIB_HEADER_BYTES = 4,
	IPOIB_HARDWARE_BYTES = 20,
	IPOIB_ARP_BYTES = IPOIB_HEADER_BYTES + 56,
	IPOIB_ND_BYTES = IPOIB_HEADER_BYTES + 40 + 24 + 24,
	IPOIB_QUESTION_BYTES_MAX = IPOIB_ND_BYTES,
};

#define IPOIB_QKEY_USUAL 0x00000b1bu

struct ipoib_hardware {
	uint32_t qpn;
	struct gid gid;
};

/* A request for an address, or its reply; one struct for ARP and neighbour discovery. */
struct ipoib_neighbour {
	uint8_t ip_version; /* 4: ARP, 6: neighbour discovery */
	bool is_answer;
	struct ipoib_hardware sender;
	struct ip_address sender_ip;
	struct ipoib_hardware target; /* ARP reply: the requester */
	/* The requested address; in a reply the requester's (ARP) or the sender's (ND). */
	struct ip_address target_ip;
};

/* Includes the encapsulation header. Returns the bytes written. */
size_t ipoib_neighbour_encode(const struct ipoib_neighbour *neighbour,
			      uint8_t ret_bytes[static IPOIB_QUESTION_BYTES_MAX]);
/* False: another protocol, or malformed. */
MUST_USE bool ipoib_neighbour_decode(const uint8_t *bytes, size_t byte_count,
				     struct ipoib_neighbour *ret_neighbour);

/* The group of all ports of a partition. */
struct gid ipoib_broadcast_gid(uint16_t pkey);
/* The group of an IP multicast address, with the signature of IPoIB or of connection management's
 * datagrams. */
enum ipoib_signature { IPOIB_SIGNATURE_IP, IPOIB_SIGNATURE_UDP };
struct gid ipoib_multicast_gid(uint8_t ip_version, const struct ip_address *address, uint16_t pkey,
			       enum ipoib_signature signature);

#endif
