/* SPDX-License-Identifier: Apache-2.0 */
/* Alias GUIDs of ports: their owner and their index in the GUID table (management 4.8). */
#ifndef SOFTIB_MGMT_SA_ALIAS_GUIDS_H
#define SOFTIB_MGMT_SA_ALIAS_GUIDS_H

#include <stdint.h>
#include "base/attributes.h"
#include "base/hash_table.h"
#include "base/list.h"
#include "wire/smp_tables.h"

enum { ALIAS_GUIDS_PER_PORT = 256 };

struct alias_guids {
	struct list ports; /* ports with alias GUIDs */
	struct hash_table by_port_guid;
	struct hash_table by_guid;
	uint64_t unique_next; /* for GUIDs that the SA chooses */
};

void alias_guids_init(struct alias_guids *aliases);
void alias_guids_release(struct alias_guids *aliases);

/* The port GUID of the owner. 0: none. */
uint64_t alias_guids_owner(const struct alias_guids *aliases, uint64_t guid);

/* A block of the port's GUID table. The first entry of the first block is the port GUID. */
void alias_guids_block(const struct alias_guids *aliases, uint64_t port_guid, unsigned block,
		       uint64_t ret_guids[static GUIDS_PER_BLOCK]);
/* Replaces a block. No other port may have any of the GUIDs. The first entry of the first block
 * stays. -ENOMEM: some entries may be set. */
MUST_USE int alias_guids_set_block(struct alias_guids *aliases, uint64_t port_guid, unsigned block,
				   const uint64_t guids[static GUIDS_PER_BLOCK]);
void alias_guids_drop_port(struct alias_guids *aliases, uint64_t port_guid);

/* A locally administered GUID that is not in the table. */
uint64_t alias_guids_choose(struct alias_guids *aliases);

#endif
