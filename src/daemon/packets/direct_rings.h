/* SPDX-License-Identifier: Apache-2.0 */
/* Direct rings: memory that two processes exchange packets through. softibd creates a ring, hands
 * it to these two only, and closes it when one of them ends. */
#ifndef SOFTIB_DAEMON_PACKETS_DIRECT_RINGS_H
#define SOFTIB_DAEMON_PACKETS_DIRECT_RINGS_H

#include <stdbool.h>
#include <stdint.h>
#include "base/attributes.h"
#include "ipc/protocol.h"

struct client;

/* Packets that the destination may take from the ring: struct packet_grant for those of this
 * source_port (adapter index << 8 | port number). */
struct ring_grant {
	struct packet_grant packets;
	uint16_t source_port;
	bool is_ending; /* its path was gone at a check; the destination has not been told yet */
};

/* Finds or makes the ring between two processes, and tells the destination of it and of the grant.
 * -EAGAIN: the destination's down ring has no room. -ENOSPC: there are too many rings or grants. */
MUST_USE int direct_ring_between(struct client *source, struct client *destination,
				 const struct ring_grant *grant, uint32_t *ret_id);

typedef bool (*ring_grant_holds)(struct client *source, const struct client *destination,
				 const struct ring_grant *grant);
/* Revokes the grants to this client that did not hold at the last check: a path that has just gone
 * may have a record of its sender under way, so the grant ends with the next check. Returns how
 * many were looked at; ret_is_done becomes false if another check is needed. */
unsigned direct_rings_check(struct client *destination, ring_grant_holds holds, bool *ret_is_done);

/* What one end needs to map the ring; the descriptors stay softibd's. */
struct direct_share {
	int memory_file;
	int peer_doorbell;
	unsigned outgoing; /* index of the direction to send on; the other one is read */
	unsigned incoming;
};

/* -ENOENT: not a ring of this client. */
MUST_USE int direct_ring_share(struct client *client, uint32_t id, struct direct_share *ret_share);
/* The client lets its peer on that ring map its exported rkeys (ipc/rma_area.h). -EAGAIN: the
 * peer's down ring has no room. */
MUST_USE int direct_ring_expose(struct client *client, uint32_t id);
/* The peer's exported rkeys; the file stays the peer's. -ENOENT: it has not exposed them. */
MUST_USE int direct_ring_exposure(struct client *client, uint32_t id, int *ret_file);
/* The share has been sent: this end does not get it again. */
void direct_ring_shared(struct client *client, uint32_t id);

/* The client could not map the ring that it fetched: closes the ring, and makes no new ones for
 * this client. -ENOENT: the client has no such ring. */
MUST_USE int direct_ring_refuse(struct client *client, uint32_t id);

/* The process ended: its peers read that in the ring's closed word. */
void direct_rings_close(struct client *client);

#endif
