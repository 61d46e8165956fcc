/* SPDX-License-Identifier: Apache-2.0 */
/* Large pages for the heap, by glibc's malloc and madvise. */
#include "launch/large_pages.h"

#include <malloc.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

enum {
	ROOM_BYTES = 1 << 29, /* by how much the heap grows at once: the advice covers that much */
	OWN_MAPPING_BYTES = 1 << 24, /* only larger blocks do not come from the heap */
	FIRST_BLOCK_BYTES = 1 << 20,
};

void large_pages_for_heap(void)
{
	mallopt(M_MMAP_THRESHOLD, OWN_MAPPING_BYTES);
	mallopt(M_TRIM_THRESHOLD, ROOM_BYTES);
	mallopt(M_TOP_PAD, ROOM_BYTES);

	uintptr_t page_bytes = (uintptr_t)sysconf(_SC_PAGESIZE);
	uintptr_t start = ((uintptr_t)sbrk(0) + page_bytes - 1) / page_bytes * page_bytes;
	void *volatile block = malloc(FIRST_BLOCK_BYTES);
	uintptr_t end = (uintptr_t)sbrk(0);

	free(block);
	/* If the heap did not grow, or there are no large pages, only speed is lost. */
	if (end > start)
		(void)madvise((void *)start, end - start, MADV_HUGEPAGE);
}
