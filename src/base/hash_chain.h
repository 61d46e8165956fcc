/* SPDX-License-Identifier: Apache-2.0 */
/* Entries of a hash table whose keys are longer than 64 bits, and so may have the same hash. The
 * entries of one hash form a chain; a lookup walks it and compares the whole key. */
#ifndef SOFTIB_BASE_HASH_CHAIN_H
#define SOFTIB_BASE_HASH_CHAIN_H

#include "base/hash_table.h"

/* Part of an entry. */
struct hash_link {
	struct hash_link *next; /* NULL: the last one */
};

/* The newest entry becomes the first of its chain. -ENOMEM: nothing has changed. */
MUST_USE int hash_chain_put(struct hash_table *table, uint64_t hash, struct hash_link *link);
/* The entry must be in the table. */
void hash_chain_remove(struct hash_table *table, uint64_t hash, struct hash_link *link);

/* NULL when no entry has the hash. */
static inline struct hash_link *hash_chain_first(const struct hash_table *table, uint64_t hash)
{
	return (struct hash_link *)hash_table_get(table, hash);
}

#endif
