/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Pages of the program that were moved, at the same address, into memory that its peers have too:
 * so that they reach them by plain loads and stores, and by the processor's atomics.
 *
 * Nobody may touch a page while it moves, so pages move only while the program has one thread
 * beside our helper, which keeps off registered memory while the lock is held. Only whole pages
 * within a region move, since what else lies on a page may be anybody's. They move back when the
 * region goes, before a second thread begins, and before a fork; after the latter two nothing is
 * adopted any more.
 */
#ifndef SOFTIB_RUNTIME_RMA_SHARED_MR_H
#define SOFTIB_RUNTIME_RMA_SHARED_MR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/attributes.h"
#include "ipc/rma_area.h"

enum {
	ADOPTED_RANGES_MAX = 64,
	ADOPTED_OTHERS_MAX = 64,
	ADOPTED_PAGES_MAX = EXPOSURE_SHARED_BYTES / EXPOSURE_PAGE_BYTES,
};

struct adopted_range {
	uint8_t *address;
	size_t byte_count;
	size_t place; /* in the shared part of the exposure */
	unsigned users;
	/* Users have gone, and others not: the program may put other memory where they were. */
	bool is_doubtful;
	bool is_replaced; /* it has: nothing new is there */
};

/* A region that stays where it is. */
struct other_range {
	const uint8_t *begin, *end;
	bool is_reached; /* by peers in the other way */
};

struct adopted_memory {
	int file; /* of the exposure; borrowed */
	bool is_on;
	unsigned returned_count; /* ranges that moved back: who comes and goes is left alone */
	uint64_t moved_bytes;	 /* ever */
	unsigned range_count;
	unsigned other_count;
	/* If not NULL, says whether peers may still copy from there (runtime/zcopy/zcopy_send.h). */
	bool (*is_lent)(void *context, const uint8_t *bytes, size_t byte_count);
	void *context;
	struct adopted_range ranges[ADOPTED_RANGES_MAX];
	struct other_range others[ADOPTED_OTHERS_MAX];
	uint8_t is_used[ADOPTED_PAGES_MAX]; /* pages of the shared part */
};

/* The part of a region that is moved if any is. */
static inline uint64_t adopted_begin(uint64_t address)
{
	return (address + EXPOSURE_PAGE_BYTES - 1) & ~(uint64_t)(EXPOSURE_PAGE_BYTES - 1);
}

static inline uint64_t adopted_end(uint64_t address, uint64_t byte_count)
{
	return (address + byte_count) & ~(uint64_t)(EXPOSURE_PAGE_BYTES - 1);
}

/* SOFTIB_ADOPT=0 turns it off, and so does a program that was started without our preload, which
 * tells of threads. */
void adopted_memory_init(struct adopted_memory *adopted, int file);

/* By the program's thread. Returns where the region's whole pages are in the shared part, plus 1;
 * 0: they stay where they are. is_reached: by peers in another way, if not in this one. */
uint64_t adopted_memory_take(struct adopted_memory *adopted, uint8_t *bytes, uint64_t byte_count,
			     bool is_reached);
/* Whether pages of the region could move with it that peers reach in the other way, as parts of other
 * regions. */
bool adopted_memory_is_on_others(const struct adopted_memory *adopted, const uint8_t *bytes,
				 uint64_t byte_count);
/* The region goes; no peer uses it any more. */
void adopted_memory_drop(struct adopted_memory *adopted, const uint8_t *bytes, uint64_t byte_count,
			 bool is_reached);
/* Where a part of a region that was taken is, plus 1; 0: nowhere. */
uint64_t adopted_memory_find(const struct adopted_memory *adopted, const uint8_t *bytes,
			     uint64_t byte_count);

/* Where these bytes are; false: not all of them are in one range. */
MUST_USE bool adopted_memory_locate(const struct adopted_memory *adopted, const uint8_t *bytes,
				    uint64_t byte_count, uint64_t *ret_place);

/* All pages move back, for good; no peer uses them any more. */
void adopted_memory_end(struct adopted_memory *adopted);

/* Has this called before a second thread begins; false: nobody would. */
bool adopted_memory_hear_of_threads(void (*before_thread)(void));

#endif
