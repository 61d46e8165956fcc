/* SPDX-License-Identifier: Apache-2.0 */
/* Rings between two processes: made here, handed to those two only, closed when one of them goes.
 */
#ifndef SOFTIB_DAEMON_PACKETS_DIRECT_RINGS_H
#define SOFTIB_DAEMON_PACKETS_DIRECT_RINGS_H

#include <stdint.h>
#include "base/attributes.h"

struct client;

/* The ring that two processes share, made and offered to the destination if there is none. -EAGAIN:
 * it has no room for the offer now. */
MUST_USE int direct_ring_between(struct client *source, struct client *destination,
				 uint32_t *ret_id);

/* What one end needs; the descriptors stay softibd's. */
struct direct_share {
	int memory_file;
	int peer_doorbell;
	int peer_rkey_export;
	unsigned outgoing; /* index of the way to send on; the other is read */
	unsigned incoming;
};

/* -ENOENT: not a ring of this client. */
MUST_USE int direct_ring_share(struct client *client, uint32_t id, struct direct_share *ret_share);
/* The share went out: the memory file is not kept longer than both ends need it. */
void direct_ring_shared(struct client *client, uint32_t id);

/* The client could not keep the ring it fetched: the ring is closed, and no new one has it as an
 * end. */
void direct_ring_refuse(struct client *client, uint32_t id);

/* The process is gone: its peers are told by the closed word. */
void direct_rings_close(struct client *client);

#endif
