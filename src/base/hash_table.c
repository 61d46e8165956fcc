/* SPDX-License-Identifier: Apache-2.0 */
/* A hash table from 64-bit keys to pointers: open addressing with linear probing, at most three
 * quarters full. */
#include "base/hash_table.h"

#include <errno.h>
#include <stdlib.h>

enum { HASH_TABLE_CAPACITY_FIRST = 64 };

/* GUIDs of one vendor differ in a few bits only, so the hash depends on all bits. */
static uint64_t mix(uint64_t key)
{
	key = (key ^ (key >> 30)) * 0xbf58476d1ce4e5b9u;
	key = (key ^ (key >> 27)) * 0x94d049bb133111ebu;
	return key ^ (key >> 31);
}

static uint32_t home(uint64_t key, uint32_t capacity)
{
	return (uint32_t)mix(key) & (capacity - 1);
}

/* The key's slot, or the free one where it belongs. The table is never full. */
static uint32_t find(const struct hash_entry *entries, uint32_t capacity, uint64_t key)
{
	uint32_t slot = home(key, capacity);

	while (entries[slot].value && entries[slot].key != key)
		slot = (slot + 1) & (capacity - 1);
	return slot;
}

void hash_table_init(struct hash_table *table)
{
	*table = (struct hash_table){0};
}

void hash_table_release(struct hash_table *table)
{
	free(table->entries);
	hash_table_init(table);
}

static int grow(struct hash_table *table)
{
	uint32_t capacity = table->capacity ? table->capacity * 2 : HASH_TABLE_CAPACITY_FIRST;
	struct hash_entry *entries = calloc(capacity, sizeof(*entries));

	if (!entries)
		return -ENOMEM;
	for (uint32_t i = 0; i < table->capacity; i++) {
		if (table->entries[i].value)
			entries[find(entries, capacity, table->entries[i].key)] = table->entries[i];
	}
	free(table->entries);
	table->entries = entries;
	table->capacity = capacity;
	return 0;
}

int hash_table_put(struct hash_table *table, uint64_t key, void *value)
{
	assert(value);
	if (hash_table_get(table, key))
		return -EEXIST;
	if ((table->count + 1) * 4ull > table->capacity * 3ull) {
		int error = grow(table);

		if (error)
			return error;
	}
	table->entries[find(table->entries, table->capacity, key)] =
		(struct hash_entry){.key = key, .value = value};
	table->count++;
	return 0;
}

void hash_table_remove(struct hash_table *table, uint64_t key)
{
	if (!hash_table_get(table, key))
		return;

	uint32_t mask = table->capacity - 1;
	uint32_t hole = find(table->entries, table->capacity, key);

	/* Later entries of the run move up, unless that would put one before its home slot. */
	for (uint32_t next = (hole + 1) & mask; table->entries[next].value;
	     next = (next + 1) & mask) {
		uint32_t distance = (next - home(table->entries[next].key, table->capacity)) & mask;

		if (distance < ((next - hole) & mask))
			continue;
		table->entries[hole] = table->entries[next];
		hole = next;
	}
	table->entries[hole] = (struct hash_entry){0};
	table->count--;
}

void *hash_table_get(const struct hash_table *table, uint64_t key)
{
	return table->capacity ? table->entries[find(table->entries, table->capacity, key)].value
			       : NULL;
}
