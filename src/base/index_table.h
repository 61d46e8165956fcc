/* SPDX-License-Identifier: Apache-2.0 */
/* A sparse array of pointers with 24-bit indexes (QPNs, memory keys): two levels, one load each. */
#ifndef SOFTIB_BASE_INDEX_TABLE_H
#define SOFTIB_BASE_INDEX_TABLE_H

#include <stdint.h>
#include "base/attributes.h"

enum {
	INDEX_TABLE_BITS = 24,
	INDEX_TABLE_LEAF_BITS = 10,
	INDEX_TABLE_LEAVES = 1 << (INDEX_TABLE_BITS - INDEX_TABLE_LEAF_BITS),
	INDEX_TABLE_LEAF_ENTRIES = 1 << INDEX_TABLE_LEAF_BITS,
};

struct index_table {
	void ***leaves; /* INDEX_TABLE_LEAVES pointers, NULL until the first entry */
	uint32_t count;
};

void index_table_init(struct index_table *table);
void index_table_release(struct index_table *table);

/* -ENOMEM, -EEXIST when taken, -EINVAL beyond 24 bits. */
MUST_USE int index_table_put(struct index_table *table, uint32_t index, void *entry);
void index_table_remove(struct index_table *table, uint32_t index);

static inline void *index_table_get(const struct index_table *table, uint32_t index)
{
	if (!table->leaves || index >> INDEX_TABLE_BITS)
		return NULL;

	void **leaf = table->leaves[index >> INDEX_TABLE_LEAF_BITS];

	return leaf ? leaf[index & (INDEX_TABLE_LEAF_ENTRIES - 1)] : NULL;
}

#endif
