/* SPDX-License-Identifier: Apache-2.0 */
/* The headers that say where a packet goes, from an address vector and the port (vol 1, chapters 7,
 * 8, 9). */
#ifndef SOFTIB_NET_TRANSPORT_ADDRESSING_H
#define SOFTIB_NET_TRANSPORT_ADDRESSING_H

#include <stdbool.h>
#include <stdint.h>

struct address_vector;
struct packet;
struct port_view;
struct qp;

/* Fills LRH, GRH and the parts of the BTH that do not depend on the operation; no payload, one
 * packet, no flags. */
void packet_address(const struct qp *qp, const struct address_vector *address,
		    uint32_t destination_qpn, struct packet *ret_packet);

/* Whether packets to this address go through a router: its GID is in another subnet than the port.
 */
bool address_leaves_subnet(const struct port_view *port, const struct address_vector *address);

/* The P_Key that this queue pair sends. */
uint16_t qp_pkey(const struct qp *qp);

#endif
