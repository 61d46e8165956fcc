/* SPDX-License-Identifier: Apache-2.0 */
/* Direct rings: memory that two processes exchange packets through. softibd creates a ring, hands
 * it to these two only, and closes it when one of them ends. */
#ifndef SOFTIB_DAEMON_PACKETS_DIRECT_RINGS_H
#define SOFTIB_DAEMON_PACKETS_DIRECT_RINGS_H

#include <stdint.h>
#include "base/attributes.h"

struct client;

/* Finds or makes the ring between two processes, and offers it to the destination. -EAGAIN: the
 * destination's down ring has no room for the offer. */
MUST_USE int direct_ring_between(struct client *source, struct client *destination,
				 uint32_t *ret_id);

/* What one end needs to map the ring; the descriptors stay softibd's. */
struct direct_share {
	int memory_file;
	int peer_doorbell;
	int peer_rkey_export;
	unsigned outgoing; /* index of the direction to send on; the other one is read */
	unsigned incoming;
};

/* -ENOENT: not a ring of this client. */
MUST_USE int direct_ring_share(struct client *client, uint32_t id, struct direct_share *ret_share);
/* The share has been sent: this end does not get it again. */
void direct_ring_shared(struct client *client, uint32_t id);

/* The client could not map the ring that it fetched: closes the ring, and makes no new ones for
 * this client. */
void direct_ring_refuse(struct client *client, uint32_t id);

/* The process ended: its peers read that in the ring's closed word. */
void direct_rings_close(struct client *client);

#endif
