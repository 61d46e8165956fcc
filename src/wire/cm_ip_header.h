/* SPDX-License-Identifier: Apache-2.0 */
/* IP addresses in connection requests: service ids of IP ports, and the header before the
 * consumer's private data in REQ and SIDR_REQ (vol 1, annex A11; management 7.6). */
#ifndef SOFTIB_WIRE_CM_IP_HEADER_H
#define SOFTIB_WIRE_CM_IP_HEADER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/attributes.h"
#include "wire/cm_message.h"
#include "wire/ip_network.h"

enum {
	CM_IP_HEADER_BYTES = 36,
	CM_IP_REQ_PRIVATE_BYTES = CM_REQ_PRIVATE_BYTES - CM_IP_HEADER_BYTES,
	CM_IP_SIDR_PRIVATE_BYTES = CM_SIDR_REQ_PRIVATE_BYTES - CM_IP_HEADER_BYTES,
};

/* (service id >> 16) of the ports that programs bind to. */
enum cm_port_space {
	CM_PORT_SPACE_IPOIB = 0x0002,
	CM_PORT_SPACE_TCP = 0x0106,
	CM_PORT_SPACE_UDP = 0x0111,
	CM_PORT_SPACE_IB = 0x013f,
};

struct cm_ip_header {
	uint8_t ip_version; /* 4 or 6 */
	uint16_t source_port;
	struct ip_address source;
	struct ip_address destination;
};

static inline uint64_t cm_ip_service_id(enum cm_port_space space, uint16_t port)
{
	return (uint64_t)space << 16 | port;
}

void cm_ip_header_encode(const struct cm_ip_header *header,
			 uint8_t ret_bytes[static CM_IP_HEADER_BYTES]);
/* False: not version 0 of the header, or neither IPv4 nor IPv6. */
MUST_USE bool cm_ip_header_decode(const uint8_t *bytes, size_t byte_count,
				  struct cm_ip_header *ret_header);

#endif
