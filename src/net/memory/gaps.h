/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Registered memory whose pages the program has unmapped.
 *
 * An adapter pins the pages of a region. Here the program may unmap them while the region is
 * registered. The owner (runtime/memory/memory_guard.h) then maps other pages in their place when
 * they are touched, and records the range as a gap. Writes to a gap are lost, as writes to unmapped
 * pages would be. Reads from a gap do not give the program's bytes, so a reader calls
 * memory_has_pages() first.
 */
#ifndef SOFTIB_NET_MEMORY_GAPS_H
#define SOFTIB_NET_MEMORY_GAPS_H

#include <stdbool.h>
#include <stdint.h>
#include "base/attributes.h"

struct memory;

enum { MEMORY_GAPS_MAX = 256 };

struct memory_gap {
	uintptr_t begin, end;
};

struct memory_gaps {
	uint32_t count;
	struct memory_gap gaps[MEMORY_GAPS_MAX];
};

/* When there are too many gaps, the new one is merged with the last. */
void memory_gaps_add(struct memory_gaps *gaps, uintptr_t begin, uintptr_t end);
bool memory_gaps_overlap(const struct memory_gaps *gaps, uintptr_t begin, uintptr_t end);

/* Touches each page of a resolved range, and says whether all of them are the program's. */
MUST_USE bool memory_has_pages(const struct memory *memory, const uint8_t *bytes,
			       uint64_t byte_count);

/* Whether an address of this process belongs to a region, and where the last region that covers it
 * ends. Takes no lock and calls no function outside: for signal handlers of the thread that owns
 * the memory. */
MUST_USE bool memory_is_registered(const struct memory *memory, uintptr_t address,
				   uintptr_t *ret_end);

#endif
