/* SPDX-License-Identifier: Apache-2.0 */
/* IP addresses of ports for IP over InfiniBand: their text form, and softib's default addresses. */
#ifndef SOFTIB_WIRE_IP_NETWORK_H
#define SOFTIB_WIRE_IP_NETWORK_H

#include <stdbool.h>
#include <stdint.h>
#include "base/attributes.h"

enum { IPV4_BITS = 32, IPV6_BITS = 128, IPV4_OFFSET = 12 };

/* An IPv4 address is at IPV4_OFFSET; the other bytes are zero. */
struct ip_address {
	uint8_t bytes[16];
};

/* A port's address and the prefix length of its network. */
struct ip_network {
	uint8_t ip_version; /* 4 or 6; 0: none */
	uint8_t prefix_bits;
	struct ip_address address;
};

/* "10.1.0.5", "10.1.0.5/16", "fd00::5", "fd00::5/64": without a prefix length, 24 and 64 bits.
 * False: neither. */
MUST_USE bool ip_network_parse(const char *text, struct ip_network *ret_network);

/* The default address of the n-th adapter port of a fabric, from 1: 127.100.x.y/16 or
 * fd5f:1b00::n/64. 127/8 is used because all of it is local to this machine. */
struct ip_network ip_network_of_port(uint8_t ip_version, uint32_t ordinal);

bool ip_address_equal(const struct ip_address *a, const struct ip_address *b);
bool ip_network_contains(const struct ip_network *network, uint8_t ip_version,
			 const struct ip_address *address);

/* Whether a port can have it: not the unspecified address, loopback or multicast. */
bool ip_address_is_for_ports(uint8_t ip_version, const struct ip_address *address);

#endif
