/* SPDX-License-Identifier: Apache-2.0 */
/* A sparse array of pointers in two levels. */
#include "base/index_table.h"

#include <errno.h>
#include <stdlib.h>

void index_table_init(struct index_table *table)
{
	*table = (struct index_table){0};
}

void index_table_release(struct index_table *table)
{
	if (table->leaves)
		for (uint32_t leaf = 0; leaf < INDEX_TABLE_LEAVES; leaf++)
			free(table->leaves[leaf]);
	free(table->leaves);
	*table = (struct index_table){0};
}

int index_table_put(struct index_table *table, uint32_t index, void *entry)
{
	if (index >> INDEX_TABLE_BITS || !entry)
		return -EINVAL;
	if (!table->leaves)
		table->leaves = calloc(INDEX_TABLE_LEAVES, sizeof(*table->leaves));
	if (!table->leaves)
		return -ENOMEM;

	void ***leaf = &table->leaves[index >> INDEX_TABLE_LEAF_BITS];

	if (!*leaf)
		*leaf = calloc(INDEX_TABLE_LEAF_ENTRIES, sizeof(**leaf));
	if (!*leaf)
		return -ENOMEM;

	void **slot = &(*leaf)[index & (INDEX_TABLE_LEAF_ENTRIES - 1)];

	if (*slot)
		return -EEXIST;
	*slot = entry;
	table->count++;
	return 0;
}

void index_table_remove(struct index_table *table, uint32_t index)
{
	if (!index_table_get(table, index))
		return;
	table->leaves[index >> INDEX_TABLE_LEAF_BITS][index & (INDEX_TABLE_LEAF_ENTRIES - 1)] =
		NULL;
	table->count--;
}
