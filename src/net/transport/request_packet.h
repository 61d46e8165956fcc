/* SPDX-License-Identifier: Apache-2.0 */
/* A posted request as packets: how many it needs, and the content of each (vol 1, chapter 9). */
#ifndef SOFTIB_NET_TRANSPORT_REQUEST_PACKET_H
#define SOFTIB_NET_TRANSPORT_REQUEST_PACKET_H

#include <stdint.h>
#include "net/transport/port_view.h"
#include "net/transport/qp_state.h"
#include "net/transport/raw.h"
#include "net/transport/send_queue.h"
#include "wire/mtu.h"

struct packet;

/* The most payload bytes of one request packet of this queue pair. */
static inline uint32_t request_mtu(const struct qp *qp)
{
	if (unlikely(qp_type_is_raw(qp->type)))
		return raw_bytes_max(qp);
	return qp->type == QP_UD ? mtu_bytes(qp->port->mtu_code) : qp->path_mtu;
}

/* The number of PSNs that a request uses: for its own packets, or for the responses to it
 * (transport 4.1). */
static inline uint32_t request_packet_count(const struct qp *qp, const struct send_slot *slot)
{
	uint32_t mtu = request_mtu(qp);

	if (send_slot_is_atomic(slot) || slot->byte_count <= mtu)
		return 1;
	return (slot->byte_count + mtu - 1) / mtu;
}

/* The destination QPN of a datagram. */
uint32_t request_destination_qpn(const struct send_slot *slot);

/* Whether the memory for the packet or train that request_build would build at the cursor has pages
 * (net/memory/gaps.h). The slot's spans must be resolved. */
MUST_USE bool request_has_pages(const struct qp *qp, struct send_slot *slot,
				uint32_t train_bytes_max);

/* Payload bytes of the packet at the cursor. */
uint32_t request_next_payload_bytes(const struct qp *qp, const struct send_slot *slot);

/* The slot's spans must be resolved. */
void request_set_payload(struct send_slot *slot, uint32_t offset, uint32_t byte_count,
			 struct packet *ret_packet);

/* Builds the packet or train at the cursor, with at most train_bytes_max payload bytes if that is
 * more than one packet's, and returns how many PSNs it uses. */
void request_build(const struct qp *qp, struct send_slot *slot, uint32_t train_bytes_max,
		   struct packet *ret_packet, uint32_t *ret_psn_count);

#endif
