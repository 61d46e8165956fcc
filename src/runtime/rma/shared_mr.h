/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Shared MRs: pages of the program that were moved, at the same address, into a memory file that
 * its peers map too. Peers access them by plain loads and stores, and by the processor's atomics.
 *
 * No thread may touch a page while it moves. So pages move only while the program has one thread
 * besides our progress thread, which does not access registered memory while the lock is held. Only
 * whole pages within a region move, since the rest of a page may hold other data. The pages move
 * back when the region is deregistered, before a second thread starts, and before a fork; after a
 * second thread or a fork no more pages move.
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
	size_t place; /* in the shared part of the rkey export file */
	unsigned users;
	/* Some regions on this range are gone and others remain: the program may have mapped other
	 * memory in place of the deregistered part. */
	bool is_doubtful;
	bool is_replaced; /* other memory is mapped there: no new region uses this range */
};

/* A region whose pages do not move. */
struct other_range {
	const uint8_t *begin, *end;
	bool is_reached; /* peers access it by CMA */
};

struct shared_mr {
	int file; /* the rkey export file; not owned */
	bool is_on;
	unsigned returned_count; /* ranges that moved back; above a limit no more pages move */
	uint64_t moved_bytes;	 /* in total */
	unsigned range_count;
	unsigned other_count;
	/* Optional: whether peers may still copy zcopy payloads from there
	 * (runtime/zcopy/zcopy_send.h). */
	bool (*is_external)(void *context, const uint8_t *bytes, size_t byte_count);
	void *context;
	struct shared_mr_range ranges[SHARED_MR_RANGES_MAX];
	struct other_range others[SHARED_MR_OTHERS_MAX];
	uint8_t is_used[SHARED_MR_PAGES_MAX]; /* pages of the shared part */
};

/* The whole pages of a region: the part that moves, if the region moves at all. */
static inline uint64_t shared_pages_begin(uint64_t address)
{
	return (address + RKEY_EXPORT_PAGE_BYTES - 1) & ~(uint64_t)(RKEY_EXPORT_PAGE_BYTES - 1);
}

static inline uint64_t shared_pages_end(uint64_t address, uint64_t byte_count)
{
	return (address + byte_count) & ~(uint64_t)(RKEY_EXPORT_PAGE_BYTES - 1);
}

/* SOFTIB_ADOPT=0 turns sharing off. So does a program that was started without our preload library,
 * which reports new threads. */
void shared_mr_init(struct shared_mr *shared_mr, int file);

/* The program's thread registers a region. Returns the offset of the region's whole pages in the
 * shared part, plus 1; 0: the pages do not move. is_reached: peers access the region by CMA if it
 * is not shared. */
uint64_t shared_mr_take(struct shared_mr *shared_mr, uint8_t *bytes, uint64_t byte_count,
			bool is_reached);
/* Whether moving this region's pages back would also move pages of other regions that peers access
 * by CMA. */
bool shared_mr_is_on_others(const struct shared_mr *shared_mr, const uint8_t *bytes,
			    uint64_t byte_count);
/* The region is deregistered; no peer uses it any more. */
void shared_mr_drop(struct shared_mr *shared_mr, const uint8_t *bytes, uint64_t byte_count,
		    bool is_reached);
/* The offset in the shared part of a part of a region that was taken, plus 1; 0: it is not shared.
 */
uint64_t shared_mr_find(const struct shared_mr *shared_mr, const uint8_t *bytes,
			uint64_t byte_count);

/* The offset of these bytes in the shared part; false: not all of them are in one range. */
MUST_USE bool shared_mr_locate(const struct shared_mr *shared_mr, const uint8_t *bytes,
			       uint64_t byte_count, uint64_t *ret_place);

/* Moves all pages back and turns sharing off; no peer uses the pages any more. */
void shared_mr_end(struct shared_mr *shared_mr);

/* Has before_thread called before a second thread starts. false: the preload library that would
 * call it is missing. */
bool shared_mr_hear_of_threads(void (*before_thread)(void));

#endif
