/* SPDX-License-Identifier: Apache-2.0 */
/* Mapping IP addresses and GIDs to ports. The addresses that the topology gives, or else
 * 127.100.x.y and fd5f:1b00::n, are ports of the fabric; loopback and the machine's own addresses
 * are the program's own host. */
#ifndef SOFTIB_DAEMON_CM_CM_ADDRESS_H
#define SOFTIB_DAEMON_CM_CM_ADDRESS_H

#include <stdbool.h>
#include <stdint.h>
#include "daemon/cm/cm_objects.h"
#include "wire/cm_ip_header.h"

enum cm_scope {
	CM_SCOPE_UNREACHABLE, /* not on this fabric */
	CM_SCOPE_ANY,
	CM_SCOPE_LOCAL,	    /* a port of the host itself */
	CM_SCOPE_REMOTE,    /* another host's port, if it exists */
	CM_SCOPE_MULTICAST, /* a multicast address */
};

/* Sets ret_port for CM_SCOPE_LOCAL only. */
enum cm_scope cm_address_scope(struct cm_host *host, const struct cm_address *address,
			       struct cm_port **ret_port);

bool cm_address_is_any(const struct cm_address *address);
/* Compares family and bytes; ports do not count. */
bool cm_address_equal(const struct cm_address *a, const struct cm_address *b);

/* The IP address of a port of the fabric. */
void cm_address_of(const struct endpoint *endpoint, enum cm_address_family family,
		   struct cm_address *ret_address);
/* Whether an IPv4 or IPv6 address is that of the port. */
bool cm_address_is_of(const struct endpoint *endpoint, uint8_t ip_version,
		      const struct ip_address *address);

uint8_t cm_address_ip_version(const struct cm_address *address);
struct ip_address cm_address_ip(const struct cm_address *address);
void cm_address_from_ip(uint8_t ip_version, const struct ip_address *ip, uint16_t port,
			struct cm_address *ret_address);
/* The service id of an address and port number in a port space. */
uint64_t cm_address_service_id(const struct cm_address *address, uint32_t port_space);

#endif
