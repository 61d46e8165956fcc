/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Registered memory that turned out to have no pages.
 *
 * An adapter pins the pages of a region. Here the program may unmap them while the region is
 * registered. The owner (host/memory_guard.h) then puts other pages in their place while they are
 * touched, and notes where. What is written to a gap is lost, as it would be lost in pages that
 * nobody maps; what is read from one are not the program's bytes, so whoever reads asks
 * memory_has_pages first.
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

/* Too many of them become one with the last. */
void memory_gaps_add(struct memory_gaps *gaps, uintptr_t begin, uintptr_t end);
bool memory_gaps_overlap(const struct memory_gaps *gaps, uintptr_t begin, uintptr_t end);

/* Touches each page of what a key was resolved to, and says whether all of them are the program's.
 */
MUST_USE bool memory_has_pages(const struct memory *memory, const uint8_t *bytes,
			       uint64_t byte_count);

/* Whether a byte of this process belongs to a region, and where the last region that it belongs to
 * ends. Takes no lock and calls nobody: for signal handlers of the thread that owns the memory. */
MUST_USE bool memory_is_registered(const struct memory *memory, uintptr_t address,
				   uintptr_t *ret_end);

#endif
