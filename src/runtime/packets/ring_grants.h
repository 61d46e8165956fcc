/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What peers may send by direct rings (net/transport/packet_source.h).
 *
 * softibd says so in the down ring: RECORD_RING_OFFERED brings a grant, RECORD_RING_REVOKED takes
 * it back. A grant is in the down ring before the peer can know of the ring, so a packet that finds
 * no grant looks ahead in the down ring before it is dropped. Revocations are taken in order: what
 * the peer wrote before softibd revoked is still received.
 */
#ifndef SOFTIB_RUNTIME_PACKETS_RING_GRANTS_H
#define SOFTIB_RUNTIME_PACKETS_RING_GRANTS_H

#include <stdbool.h>
#include <stdint.h>
#include "base/attributes.h"

struct channel;
struct packet;
struct process_runtime;
struct qp;
struct ring_record;

/* Records of the down ring, which name a channel; NULL: there is none. */
void ring_grant_offered(struct process_runtime *runtime, struct channel *channel,
			const struct ring_record *record);
void ring_grant_revoked(struct process_runtime *runtime, struct channel *channel,
			const struct ring_record *record);

/* Whether the peer may send this packet, which is no longer in its reach, to that port
 * (record->port). */
MUST_USE bool ring_grant_allows(const struct process_runtime *runtime, struct channel *channel,
				uint16_t port, const struct packet *packet);
/* The same; counts a packet that it may not send. */
MUST_USE bool ring_grant_admits(struct process_runtime *runtime, struct channel *channel,
				uint16_t port, const struct packet *packet);
/* Whether the peer may be at the other end of this connection. */
MUST_USE bool ring_grant_is_of_peer(const struct process_runtime *runtime, struct channel *channel,
				    const struct qp *qp);

#endif
