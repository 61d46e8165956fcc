/* SPDX-License-Identifier: Apache-2.0 */
/* Registered memory whose pages the program has unmapped: see gaps.h. */
#include "net/memory/gaps.h"

#include "net/memory/memory.h"

enum { PAGE_BYTES = 4096 }; /* if pages are larger, some are touched twice */

void memory_gaps_add(struct memory_gaps *gaps, uintptr_t begin, uintptr_t end)
{
	struct memory_gap *last = gaps->count ? &gaps->gaps[gaps->count - 1] : NULL;

	if (last && (gaps->count == MEMORY_GAPS_MAX || begin == last->end)) {
		last->begin = begin < last->begin ? begin : last->begin;
		last->end = end > last->end ? end : last->end;
		return;
	}
	gaps->gaps[gaps->count++] = (struct memory_gap){begin, end};
}

bool memory_gaps_overlap(const struct memory_gaps *gaps, uintptr_t begin, uintptr_t end)
{
	for (uint32_t i = 0; i < gaps->count; i++)
		if (begin < gaps->gaps[i].end && gaps->gaps[i].begin < end)
			return true;
	return false;
}

bool memory_has_pages(const struct memory *memory, const uint8_t *bytes, uint64_t byte_count)
{
	const uintptr_t begin = (uintptr_t)bytes, end = begin + byte_count;

	if (!memory->gaps || !bytes || !byte_count)
		return true;
	for (uintptr_t at = begin; at < end; at = (at | (PAGE_BYTES - 1)) + 1)
		(void)*(const volatile uint8_t *)at;
	/* The owner adds gaps while this code runs. */
	return likely(!__atomic_load_n(&memory->gaps->count, __ATOMIC_RELAXED)) ||
	       !memory_gaps_overlap(memory->gaps, begin, end);
}

static bool is_in(const struct region *region, uintptr_t address)
{
	return (region->kind == KEY_REGION) &&
	       address - (uintptr_t)region->bytes < region->byte_count;
}

bool memory_is_registered(const struct memory *memory, uintptr_t address, uintptr_t *ret_end)
{
	const struct index_table *table = &memory->regions;
	bool is_registered = false;

	for (unsigned i = 0; table->leaves && i < INDEX_TABLE_LEAVES; i++)
		for (unsigned j = 0; table->leaves[i] && j < INDEX_TABLE_LEAF_ENTRIES; j++) {
			const struct region *region = table->leaves[i][j];

			if (!region || !is_in(region, address))
				continue;

			uint64_t left = region->byte_count - (address - (uintptr_t)region->bytes);
			uintptr_t end = left > UINTPTR_MAX - address ? UINTPTR_MAX : address + left;

			if (!is_registered || end > *ret_end)
				*ret_end = end;
			is_registered = true;
		}
	return is_registered;
}
