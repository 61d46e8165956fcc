/* SPDX-License-Identifier: Apache-2.0 */
/* A hash table from 64-bit keys (GUIDs) to pointers: open addressing, grows by doubling. */
#ifndef SOFTIB_BASE_HASH_TABLE_H
#define SOFTIB_BASE_HASH_TABLE_H

#include <stdint.h>
#include "base/attributes.h"

struct hash_entry {
	uint64_t key;
	void *value; /* NULL: the slot is free */
};

struct hash_table {
	struct hash_entry *entries; /* NULL until the first entry */
	uint32_t capacity;	    /* a power of two */
	uint32_t count;
};

void hash_table_init(struct hash_table *table);
void hash_table_release(struct hash_table *table);

/* value is not NULL. -EEXIST when the key is taken, -ENOMEM. */
MUST_USE int hash_table_put(struct hash_table *table, uint64_t key, void *value);
void hash_table_remove(struct hash_table *table, uint64_t key);

/* NULL when the key is not there. */
void *hash_table_get(const struct hash_table *table, uint64_t key);

#endif
