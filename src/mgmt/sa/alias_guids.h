/* SPDX-License-Identifier: Apache-2.0 */
/* GUIDs that ports have beside their own: which port has which, at which index (vol 1, chapters 14
 * and 15). */
#ifndef SOFTIB_MGMT_SA_ALIAS_GUIDS_H
#define SOFTIB_MGMT_SA_ALIAS_GUIDS_H

#include <stdint.h>
#include "base/attributes.h"
#include "base/hash_table.h"
#include "base/list.h"
#include "wire/smp_tables.h"

enum { ALIAS_GUIDS_PER_PORT = 256 };

struct alias_guids {
	struct list ports; /* that have any */
	struct hash_table by_port_guid;
	struct hash_table by_guid;
	uint64_t unique_next; /* for those that we choose */
};

void alias_guids_init(struct alias_guids *aliases);
void alias_guids_release(struct alias_guids *aliases);

/* The port GUID of who has this one; 0: nobody. */
uint64_t alias_guids_owner(const struct alias_guids *aliases, uint64_t guid);

/* A block of the port's table; the first entry of the first block is its own GUID. */
void alias_guids_block(const struct alias_guids *aliases, uint64_t port_guid, unsigned block,
		       uint64_t ret_guids[static GUIDS_PER_BLOCK]);
/* Replaces a block. Nobody else has any of them; the first entry of the first one is left alone.
 * -ENOMEM: then some of them are there. */
MUST_USE int alias_guids_set_block(struct alias_guids *aliases, uint64_t port_guid, unsigned block,
				   const uint64_t guids[static GUIDS_PER_BLOCK]);
void alias_guids_drop_port(struct alias_guids *aliases, uint64_t port_guid);

/* A locally administered GUID that this table has not. */
uint64_t alias_guids_choose(struct alias_guids *aliases);

#endif
