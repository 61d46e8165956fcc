/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the keys of a process stand for, in memory that its peers can read: so that who has the
 * right to can act on the process's memory by itself, under the rule of net/memory/memory.h.
 *
 * One process writes, any number read. An entry's sequence is odd while it is being written and
 * never has the same value for two contents: who has read an entry needs to look at that word only.
 * Keys whose place is taken by another are not published, which costs speed only.
 */
#ifndef SOFTIB_NET_MEMORY_PUBLISHED_KEYS_H
#define SOFTIB_NET_MEMORY_PUBLISHED_KEYS_H

#include <stdbool.h>
#include <stdint.h>
#include "base/attributes.h"
#include "net/memory/memory.h"

enum { PUBLISHED_KEYS = 1 << 14 };

struct published_key {
	uint32_t sequence;
	uint32_t key; /* 0: none */
	uint64_t pd;  /* the owner's: compared, never followed */
	uint64_t bytes;
	uint64_t iova;
	uint64_t byte_count;
	uint32_t access;
	uint32_t qpn;
	uint16_t kind; /* enum key_kind */
	uint16_t adapter_index;
	uint32_t reserved;
	uint64_t shared_place; /* where it is in memory that peers have too, plus 1; 0: not there */
};

static_assert(sizeof(struct published_key) == 64, "one cache line");

/* An entry as it was read. */
struct published_view {
	const struct published_key *entry;
	uint32_t sequence;
	struct region region; /* its pd is the owner's */
	uint64_t shared_place;
};

/* By the owner; false: another key has its place. */
bool published_keys_put(struct published_key *keys, unsigned adapter_index,
			const struct region *region, uint64_t shared_place);
/* Returns false if it was not there. Whoever reads the entry from now on sees that it is gone. */
bool published_keys_remove(struct published_key *keys, unsigned adapter_index, uint32_t key);

/* By a peer; false: not published. What the owner wrote is a stranger's word. */
MUST_USE bool published_keys_read(const struct published_key *keys, unsigned adapter_index,
				  uint32_t key, struct published_view *ret_view);

/* Names the entry and its content: no two contents have the same. */
static inline uint64_t published_key_id(const struct published_key *keys,
					const struct published_key *entry, uint32_t sequence)
{
	return (uint64_t)(entry - keys) << 32 | sequence;
}

static inline bool published_view_is_current(const struct published_view *view)
{
	return __atomic_load_n(&view->entry->sequence, __ATOMIC_SEQ_CST) == view->sequence;
}

#endif
