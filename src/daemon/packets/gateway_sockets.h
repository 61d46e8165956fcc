/* SPDX-License-Identifier: Apache-2.0 */
/* The outer side of each router's gateway: a UDP socket on loopback, or a tap device. A datagram is
 * an Ethernet frame, as in QEMU's "-netdev dgram". */
#ifndef SOFTIB_DAEMON_PACKETS_GATEWAY_SOCKETS_H
#define SOFTIB_DAEMON_PACKETS_GATEWAY_SOCKETS_H

#include <jansson.h>
#include "base/attributes.h"

struct daemon_core;
struct gateway_socket;

enum { GATEWAYS_MAX = 8 };

struct gateway_sockets {
	struct gateway_socket *sockets;
	unsigned count;
};

/* Opens the sockets that these options name (launch/gateway_option.h), once the fabric is built.
 * Reports its own errors. */
MUST_USE int gateway_sockets_open(struct gateway_sockets *sockets, struct daemon_core *core,
				  const char *const options[], unsigned option_count);
void gateway_sockets_close(struct gateway_sockets *sockets);

/* Sends the frames that the fabric put into the gateways. A frame that finds no room is lost, as on
 * any LAN. */
void gateway_sockets_send(struct gateway_sockets *sockets);

/* For "softib status". */
json_t *gateway_sockets_describe(const struct gateway_sockets *sockets);

#endif
