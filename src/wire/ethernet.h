/* SPDX-License-Identifier: Apache-2.0 */
/* The header of an Ethernet II frame (IEEE 802.3, without preamble and FCS). */
#ifndef SOFTIB_WIRE_ETHERNET_H
#define SOFTIB_WIRE_ETHERNET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/attributes.h"

enum {
	MAC_BYTES = 6,
	ETHERNET_HEADER_BYTES = 14,
	ETHERTYPE_MIN = 0x600, /* below: the length of an 802.3 frame */
	ETHERTYPE_IPV6 = 0x86dd,
};

struct mac {
	uint8_t bytes[MAC_BYTES];
};

struct ethernet_header {
	struct mac destination;
	struct mac source;
	uint16_t ethertype;
};

void ethernet_header_encode(const struct ethernet_header *header,
			    uint8_t ret_bytes[static ETHERNET_HEADER_BYTES]);
/* False: too short, or an 802.3 frame with a length. */
MUST_USE bool ethernet_header_decode(const uint8_t *bytes, size_t byte_count,
				     struct ethernet_header *ret_header);

#endif
