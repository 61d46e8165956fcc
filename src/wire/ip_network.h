/* SPDX-License-Identifier: Apache-2.0 */
/* IP addresses that ports have for IP over InfiniBand: as text, and by softib's own rule. */
#ifndef SOFTIB_WIRE_IP_NETWORK_H
#define SOFTIB_WIRE_IP_NETWORK_H

#include <stdbool.h>
#include <stdint.h>
#include "base/attributes.h"

enum { IPV4_BITS = 32, IPV6_BITS = 128 };

/* An IPv4 address is in the last four bytes, the others zero. */
struct ip_address {
	uint8_t bytes[16];
};

/* A port's address and how much of it is its network's. */
struct ip_network {
	uint8_t ip_version; /* 4 or 6; 0: none */
	uint8_t prefix_bits;
	struct ip_address address;
};

/* "10.1.0.5", "10.1.0.5/16", "fd00::5", "fd00::5/64": without a prefix, 24 and 64 bits. false:
 * neither. */
MUST_USE bool ip_network_parse(const char *text, struct ip_network *ret_network);

/* 127.100.x.y/16 and fd5f:1b00::n/64 of the n-th adapter port of a fabric, from 1: 127/8 because
 * all of it reaches this machine. */
struct ip_network ip_network_of_port(uint8_t ip_version, uint32_t ordinal);

bool ip_address_equal(const struct ip_address *a, const struct ip_address *b);
bool ip_network_contains(const struct ip_network *network, uint8_t ip_version,
			 const struct ip_address *address);

/* Whether a port can have it: nobody's, loopback's and groups' addresses mean something else. */
bool ip_address_is_for_ports(uint8_t ip_version, const struct ip_address *address);

#endif
