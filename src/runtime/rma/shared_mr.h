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
	SHARED_MR_RANGES_MAX = 64,
	SHARED_MR_OTHERS_MAX = 64,
	SHARED_MR_PAGES_MAX = RKEY_EXPORT_SHARED_BYTES / RKEY_EXPORT_PAGE_BYTES,
};

struct shared_mr_range {
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

struct shared_mr {
	int file; /* of the exposure; borrowed */
	bool is_on;
	unsigned returned_count; /* ranges that moved back: who comes and goes is left alone */
	uint64_t moved_bytes;	 /* ever */
	unsigned range_count;
	unsigned other_count;
	/* If not NULL, says whether peers may still copy from there (runtime/zcopy/zcopy_send.h).
	 */
	bool (*is_lent)(void *context, const uint8_t *bytes, size_t byte_count);
	void *context;
	struct shared_mr_range ranges[SHARED_MR_RANGES_MAX];
	struct other_range others[SHARED_MR_OTHERS_MAX];
	uint8_t is_used[SHARED_MR_PAGES_MAX]; /* pages of the shared part */
};

/* The part of a region that is moved if any is. */
static inline uint64_t shared_pages_begin(uint64_t address)
{
	return (address + RKEY_EXPORT_PAGE_BYTES - 1) & ~(uint64_t)(RKEY_EXPORT_PAGE_BYTES - 1);
}

static inline uint64_t shared_pages_end(uint64_t address, uint64_t byte_count)
{
	return (address + byte_count) & ~(uint64_t)(RKEY_EXPORT_PAGE_BYTES - 1);
}

/* SOFTIB_ADOPT=0 turns it off, and so does a program that was started without our preload, which
 * tells of threads. */
void shared_mr_init(struct shared_mr *shared_mr, int file);

/* By the program's thread. Returns where the region's whole pages are in the shared part, plus 1;
 * 0: they stay where they are. is_reached: by peers in another way, if not in this one. */
uint64_t shared_mr_take(struct shared_mr *shared_mr, uint8_t *bytes, uint64_t byte_count,
			bool is_reached);
/* Whether pages of the region could move with it that peers reach in the other way, as parts of
 * other regions. */
bool shared_mr_is_on_others(const struct shared_mr *shared_mr, const uint8_t *bytes,
			    uint64_t byte_count);
/* The region goes; no peer uses it any more. */
void shared_mr_drop(struct shared_mr *shared_mr, const uint8_t *bytes, uint64_t byte_count,
		    bool is_reached);
/* Where a part of a region that was taken is, plus 1; 0: nowhere. */
uint64_t shared_mr_find(const struct shared_mr *shared_mr, const uint8_t *bytes,
			uint64_t byte_count);

/* Where these bytes are; false: not all of them are in one range. */
MUST_USE bool shared_mr_locate(const struct shared_mr *shared_mr, const uint8_t *bytes,
			       uint64_t byte_count, uint64_t *ret_place);

/* All pages move back, for good; no peer uses them any more. */
void shared_mr_end(struct shared_mr *shared_mr);

/* Has this called before a second thread begins; false: nobody would. */
bool shared_mr_hear_of_threads(void (*before_thread)(void));

#endif
