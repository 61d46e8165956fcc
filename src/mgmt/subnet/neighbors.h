/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The neighbor of each port, as far as the manager has ever seen it or read it from a file.
 *
 * At protection levels 2 and 3 a port answers no Get without its M_Key, not even NodeInfo. A
 * manager with a key per port finds the key by the neighbor that is stored here.
 */
#ifndef SOFTIB_MGMT_SUBNET_NEIGHBORS_H
#define SOFTIB_MGMT_SUBNET_NEIGHBORS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/attributes.h"
#include "base/hash_table.h"

/* One end of a link: a port GUID (of port 0 for a switch) and a port number. */
struct neighbor_end {
	uint64_t port_guid;
	uint8_t port_number;
};

struct neighbors {
	struct hash_table by_end;
	bool is_changed; /* since the owner last saved it and cleared the flag */
};

void neighbors_init(struct neighbors *neighbors);
void neighbors_release(struct neighbors *neighbors);

/* Stores a link, so that each end finds the other. Without memory it is not stored. */
void neighbors_remember(struct neighbors *neighbors, const struct neighbor_end *a,
			const struct neighbor_end *b);

/* The port GUID at the other end. 0: unknown. */
uint64_t neighbors_find(const struct neighbors *neighbors, const struct neighbor_end *end);

/* Lines "0x<port guid>:<port number> 0x<port guid>:<port number>", the format of OpenSM's file
 * "neighbors". The caller frees the text. NULL: no memory. */
char *neighbors_text(const struct neighbors *neighbors);
/* Returns the number of malformed lines. */
uint32_t neighbors_read(struct neighbors *neighbors, const char *text);

#endif
