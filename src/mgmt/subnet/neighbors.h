/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Who is behind which port, as far as a manager has ever seen or was told.
 *
 * A port whose M_Key also guards reading does not say who it is before it is shown its own key. A
 * manager with a key per port finds that key by the neighbour that it remembers here.
 */
#ifndef SOFTIB_MGMT_SUBNET_NEIGHBORS_H
#define SOFTIB_MGMT_SUBNET_NEIGHBORS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/attributes.h"
#include "base/hash_table.h"

/* One end of a cable: a port GUID (a switch has one, port 0's) and a port number. */
struct neighbor_end {
	uint64_t port_guid;
	uint8_t port_number;
};

struct neighbors {
	struct hash_table by_end;
	bool is_changed; /* since its owner last wrote it down, and set it back */
};

void neighbors_init(struct neighbors *neighbors);
void neighbors_release(struct neighbors *neighbors);

/* A cable; each end finds the other. Without memory it is forgotten. */
void neighbors_remember(struct neighbors *neighbors, const struct neighbor_end *a,
			const struct neighbor_end *b);

/* The port GUID behind this end; 0: not known. */
uint64_t neighbors_find(const struct neighbors *neighbors, const struct neighbor_end *end);

/* As lines "0x<port guid>:<port number> 0x<port guid>:<port number>", the format of OpenSM's file
 * "neighbors". The text is the caller's to free; NULL without memory. */
char *neighbors_text(const struct neighbors *neighbors);
/* Returns how many lines make no sense. */
uint32_t neighbors_read(struct neighbors *neighbors, const char *text);

#endif
