/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The keys of a process and their regions, in memory that its peers can read. A peer with the right
 * to can so access the process's memory by itself, under the rule of net/memory/memory.h.
 *
 * One process writes, any number read. The sequence of an entry is odd while it is being written
 * and never has the same value for two contents, so a reader that has read an entry rechecks only
 * that word. A key whose slot is taken by another is not published, which costs only speed.
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
	uint64_t pd;  /* the owner's pointer: compared, never dereferenced */
	uint64_t bytes;
	uint64_t iova;
	uint64_t byte_count;
	uint32_t access;
	uint32_t qpn;
	uint16_t kind; /* enum key_kind */
	uint16_t adapter_index;
	uint32_t reserved;
	uint64_t shared_place; /* offset in memory that peers map too, plus 1; 0: not shared */
};

static_assert(sizeof(struct published_key) == 64, "one cache line");

/* A copy of an entry. */
struct published_view {
	const struct published_key *entry;
	uint32_t sequence;
	struct region region; /* its pd is the owner's pointer */
	uint64_t shared_place;
};

/* Called by the owner; false: another key has the slot. */
bool published_keys_put(struct published_key *keys, unsigned adapter_index,
			const struct region *region, uint64_t shared_place);
/* False: it was not published. From now on readers of the entry see that it is gone. */
bool published_keys_remove(struct published_key *keys, unsigned adapter_index, uint32_t key);

/* Called by a peer; false: not published. The entry is untrusted input: the owner wrote it. */
MUST_USE bool published_keys_read(const struct published_key *keys, unsigned adapter_index,
				  uint32_t key, struct published_view *ret_view);

/* Identifies the entry and its content: no two contents have the same id. */
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
