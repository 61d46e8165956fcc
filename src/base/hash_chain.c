/* SPDX-License-Identifier: Apache-2.0 */
/* Chains of hash table entries with the same hash. */
#include "base/hash_chain.h"

#include <assert.h>

/* The first link of the chain is in the table. */
static void replace_first(struct hash_table *table, uint64_t hash, struct hash_link *first)
{
	int error;

	hash_table_remove(table, hash);
	if (!first)
		return;
	/* A slot was just freed, so this needs no memory. */
	error = hash_table_put(table, hash, first);
	assert(!error);
	(void)error;
}

int hash_chain_put(struct hash_table *table, uint64_t hash, struct hash_link *link)
{
	struct hash_link *first = hash_chain_first(table, hash);

	link->next = first;
	if (!first)
		return hash_table_put(table, hash, link);
	replace_first(table, hash, link);
	return 0;
}

void hash_chain_remove(struct hash_table *table, uint64_t hash, struct hash_link *link)
{
	struct hash_link *before = hash_chain_first(table, hash);

	if (before == link) {
		replace_first(table, hash, link->next);
		return;
	}
	while (before->next != link)
		before = before->next;
	before->next = link->next;
}
