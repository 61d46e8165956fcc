/* SPDX-License-Identifier: Apache-2.0 */
/* Shared MRs: pages of the program that were moved into a memory file that its peers map too. */
#include "runtime/rma/shared_mr.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include "ipc/memory_file.h"
#include "runtime/memory/own_mappings.h"

#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23 /* Linux 5.14 */
#endif

enum {
	/* Moving a page costs as much as copying it, in each direction. These limits bound the cost
	 * over the life of a program. */
	REGION_BYTES_MAX = 128 << 20,
	MOVED_BYTES_MAX = 512 << 20,
	/* A program that registers and deregisters for each message is faster without sharing. */
	RETURNED_MAX = 16,
};

void shared_mr_init(struct shared_mr *shared_mr, int file)
{
	const char *value = getenv("SOFTIB_ADOPT");

	memset(shared_mr, 0, sizeof(*shared_mr));
	shared_mr->file = file;
	shared_mr->is_on = (!value || strcmp(value, "0") != 0) &&
			   sysconf(_SC_PAGESIZE) == RKEY_EXPORT_PAGE_BYTES;
}

bool shared_mr_hear_of_threads(void (*before_thread)(void))
{
	void (**place)(void) = (void (**)(void))dlsym(RTLD_DEFAULT, "softib_before_thread");

	if (!place)
		return false;
	__atomic_store_n(place, before_thread, __ATOMIC_RELEASE);
	return true;
}

/* The program may have unmapped, moved or protected the pages, whether that is allowed or not. */
static bool is_still_there(const struct shared_mr *shared_mr, const struct shared_mr_range *range)
{
	const uint64_t begin = (uintptr_t)range->address;

	return own_mapping_is_of(begin, begin + range->byte_count, shared_mr->file,
				 rkey_export_layout().shared_offset + range->place);
}

static bool take_place(struct shared_mr *shared_mr, size_t page_count, size_t *ret_place)
{
	size_t free_count = 0;

	for (size_t page = 0; page < SHARED_MR_PAGES_MAX; page++) {
		free_count = shared_mr->is_used[page] ? 0 : free_count + 1;
		if (free_count < page_count)
			continue;
		memset(&shared_mr->is_used[page + 1 - page_count], 1, page_count);
		*ret_place = (page + 1 - page_count) * RKEY_EXPORT_PAGE_BYTES;
		return true;
	}
	return false;
}

static void give_place_back(struct shared_mr *shared_mr, size_t place, size_t byte_count)
{
	const off_t offset = (off_t)(rkey_export_layout().shared_offset + place);

	(void)!fallocate(shared_mr->file, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, offset,
			 (off_t)byte_count);
	memset(&shared_mr->is_used[place / RKEY_EXPORT_PAGE_BYTES], 0,
	       byte_count / RKEY_EXPORT_PAGE_BYTES);
}

/* The offset of a range in the file. */
static off_t offset_of(const struct shared_mr_range *range)
{
	return (off_t)(rkey_export_layout().shared_offset + range->place);
}

/* Copies only the pages that hold data. */
static bool copy_in(struct shared_mr *shared_mr, const struct shared_mr_range *range)
{
	const uint64_t address = (uintptr_t)range->address;
	struct own_pages pages = own_pages_open();
	uint64_t begin = address, end;
	bool is_copied = true;

	for (; is_copied && own_pages_next(&pages, &begin, address + range->byte_count, &end);
	     begin = end) {
		is_copied = pwrite(shared_mr->file, range->address + (begin - address), end - begin,
				   offset_of(range) + (off_t)(begin - address)) ==
			    (ssize_t)(end - begin);
		shared_mr->moved_bytes += end - begin;
	}
	own_pages_close(&pages);
	return is_copied;
}

/* Maps the pages that the program had in memory, so that it sees no new page faults. If the kernel
 * can't do that, pages fault in when they are used. */
static void map_ahead(const struct shared_mr *shared_mr, const struct shared_mr_range *range)
{
	const off_t first = offset_of(range);
	off_t begin = first, end;

	for (;
	     memory_file_next_data(shared_mr->file, &begin, first + (off_t)range->byte_count, &end);
	     begin = end)
		(void)madvise(range->address + (begin - first), (size_t)(end - begin),
			      MADV_POPULATE_WRITE);
}

static bool move_in(struct shared_mr *shared_mr, struct shared_mr_range *range)
{
	if (!copy_in(shared_mr, range))
		return false;
	if (mmap(range->address, range->byte_count, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED,
		 shared_mr->file, offset_of(range)) == MAP_FAILED)
		return false;
	map_ahead(shared_mr, range);
	/* A child that our fork handlers did not prepare must not share the pages with its parent.
	 */
	(void)madvise(range->address, range->byte_count, MADV_DONTFORK);
	return true;
}

/* Copies the pages that hold data into fresh memory. */
static void copy_out(const struct shared_mr *shared_mr, const struct shared_mr_range *range,
		     uint8_t *ret_bytes)
{
	const off_t first = offset_of(range);
	off_t begin = first, end;

	for (;
	     memory_file_next_data(shared_mr->file, &begin, first + (off_t)range->byte_count, &end);
	     begin = end)
		memcpy(ret_bytes + (begin - first), range->address + (begin - first),
		       (size_t)(end - begin));
}

/* Moves the pages back into private memory of the program. If there is a second thread, or if the
 * mapping is no longer ours, the pages stay as they are and their place in the file is lost. The
 * place also stays in use while zcopy messages are still read from it. */
static void move_out(struct shared_mr *shared_mr, struct shared_mr_range *range)
{
	if (!own_thread_is_alone() || !is_still_there(shared_mr, range))
		return;

	void *copy = mmap(NULL, range->byte_count, PROT_READ | PROT_WRITE,
			  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (copy == MAP_FAILED)
		return;
	copy_out(shared_mr, range, copy);
	if (mremap(copy, range->byte_count, range->byte_count, MREMAP_MAYMOVE | MREMAP_FIXED,
		   range->address) == MAP_FAILED) {
		munmap(copy, range->byte_count);
		return;
	}
	/* The program may now change its own copy. The file keeps the bytes as they were sent. */
	if (shared_mr->is_external &&
	    shared_mr->is_external(shared_mr->context, range->address, range->byte_count))
		return;
	give_place_back(shared_mr, range->place, range->byte_count);
}

static struct shared_mr_range *range_of(const struct shared_mr *shared_mr, uint64_t begin,
					uint64_t end)
{
	for (unsigned i = 0; i < shared_mr->range_count; i++) {
		const struct shared_mr_range *range = &shared_mr->ranges[i];
		const uint64_t address = (uintptr_t)range->address;

		if (!range->is_replaced && begin >= address && end <= address + range->byte_count)
			return (struct shared_mr_range *)(uintptr_t)range;
	}
	return NULL;
}

/* A peer might be writing to those pages by CMA. */
static bool overlaps_others(const struct shared_mr *shared_mr, const uint8_t *begin,
			    const uint8_t *end)
{
	for (unsigned i = 0; i < shared_mr->other_count; i++)
		if (shared_mr->others[i].is_reached && begin < shared_mr->others[i].end &&
		    shared_mr->others[i].begin < end)
			return true;
	return false;
}

static bool overlaps_any(const struct shared_mr *shared_mr, const uint8_t *begin,
			 const uint8_t *end)
{
	for (unsigned i = 0; i < shared_mr->range_count; i++)
		if (begin < shared_mr->ranges[i].address + shared_mr->ranges[i].byte_count &&
		    shared_mr->ranges[i].address < end)
			return true;
	return overlaps_others(shared_mr, begin, end);
}

uint64_t shared_mr_find(const struct shared_mr *shared_mr, const uint8_t *bytes,
			uint64_t byte_count)
{
	const uint64_t begin = shared_pages_begin((uintptr_t)bytes);
	const uint64_t end = shared_pages_end((uintptr_t)bytes, byte_count);
	const struct shared_mr_range *range =
		shared_mr->is_on && begin < end ? range_of(shared_mr, begin, end) : NULL;

	return range ? range->place + (begin - (uintptr_t)range->address) + 1 : 0;
}

bool shared_mr_locate(const struct shared_mr *shared_mr, const uint8_t *bytes, uint64_t byte_count,
		      uint64_t *ret_place)
{
	const uint64_t begin = (uintptr_t)bytes;
	const struct shared_mr_range *range =
		shared_mr->is_on ? range_of(shared_mr, begin, begin + byte_count) : NULL;

	if (!range || range->is_doubtful)
		return false;
	*ret_place = range->place + (begin - (uintptr_t)range->address);
	return true;
}

/* Remembers a region whose pages do not move. If peers access it by CMA, regions that overlap it
 * must not move either. It does not count as a user of a range that is shared around it later. With
 * too many such regions, no more pages move. */
static void note_other(struct shared_mr *shared_mr, const uint8_t *bytes, uint64_t byte_count,
		       bool is_reached)
{
	if (shared_mr->other_count == SHARED_MR_OTHERS_MAX) {
		shared_mr->returned_count = RETURNED_MAX;
		return;
	}
	shared_mr->others[shared_mr->other_count++] =
		(struct other_range){bytes, bytes + byte_count, is_reached};
}

static bool share(struct shared_mr *shared_mr, uint8_t *begin, size_t byte_count)
{
	struct shared_mr_range *range = &shared_mr->ranges[shared_mr->range_count];

	*range = (struct shared_mr_range){.address = begin, .byte_count = byte_count, .users = 1};
	if (!take_place(shared_mr, byte_count / RKEY_EXPORT_PAGE_BYTES, &range->place))
		return false;
	if (!move_in(shared_mr, range)) {
		give_place_back(shared_mr, range->place, byte_count);
		return false;
	}
	shared_mr->range_count++;
	return true;
}

static bool is_worth_moving(const struct shared_mr *shared_mr, uint64_t begin, uint64_t end)
{
	return begin < end && end - begin <= REGION_BYTES_MAX &&
	       shared_mr->moved_bytes + (end - begin) <= MOVED_BYTES_MAX &&
	       shared_mr->returned_count < RETURNED_MAX &&
	       shared_mr->range_count < SHARED_MR_RANGES_MAX &&
	       !overlaps_any(shared_mr, (const uint8_t *)begin, (const uint8_t *)end);
}

/* Checks the doubtful ranges that a new region overlaps. */
static void look_again(struct shared_mr *shared_mr, const uint8_t *begin, const uint8_t *end)
{
	for (unsigned i = 0; i < shared_mr->range_count; i++) {
		struct shared_mr_range *range = &shared_mr->ranges[i];

		if (range->is_doubtful && begin < range->address + range->byte_count &&
		    range->address < end && !is_still_there(shared_mr, range))
			range->is_replaced = true;
	}
}

uint64_t shared_mr_take(struct shared_mr *shared_mr, uint8_t *bytes, uint64_t byte_count,
			bool is_reached)
{
	if (!shared_mr->is_on)
		return 0;
	/* An MR over all of memory: peers may be writing anywhere. */
	if (byte_count == UINT64_MAX) {
		if (is_reached)
			shared_mr->returned_count = RETURNED_MAX;
		return 0;
	}
	look_again(shared_mr, bytes, bytes + byte_count);

	const uint64_t begin = shared_pages_begin((uintptr_t)bytes);
	const uint64_t end = shared_pages_end((uintptr_t)bytes, byte_count);
	struct shared_mr_range *range = begin < end ? range_of(shared_mr, begin, end) : NULL;
	bool is_shared_mr = range != NULL;

	if (range) {
		range->users++;
	} else if (is_worth_moving(shared_mr, begin, end)) {
		is_shared_mr = own_mappings_may_move() && own_mapping_is_movable(begin, end) &&
			       share(shared_mr, (uint8_t *)begin, (size_t)(end - begin));
		/* The checks are slow too, so a failed attempt counts against the limit. */
		if (!is_shared_mr)
			shared_mr->returned_count++;
	}
	if (!is_shared_mr && (is_reached || begin < end))
		note_other(shared_mr, bytes, byte_count, is_reached);
	return shared_mr_find(shared_mr, bytes, byte_count);
}

static bool forget_other(struct shared_mr *shared_mr, const uint8_t *bytes, uint64_t byte_count,
			 bool is_reached)
{
	for (unsigned i = 0; i < shared_mr->other_count; i++) {
		if (shared_mr->others[i].begin != bytes ||
		    shared_mr->others[i].end != bytes + byte_count ||
		    shared_mr->others[i].is_reached != is_reached)
			continue;
		shared_mr->others[i] = shared_mr->others[--shared_mr->other_count];
		return true;
	}
	return false;
}

bool shared_mr_is_on_others(const struct shared_mr *shared_mr, const uint8_t *bytes,
			    uint64_t byte_count)
{
	const struct shared_mr_range *range =
		range_of(shared_mr, shared_pages_begin((uintptr_t)bytes),
			 shared_pages_end((uintptr_t)bytes, byte_count));

	return range &&
	       overlaps_others(shared_mr, range->address, range->address + range->byte_count);
}

void shared_mr_drop(struct shared_mr *shared_mr, const uint8_t *bytes, uint64_t byte_count,
		    bool is_reached)
{
	if (byte_count == UINT64_MAX)
		return;

	const uint64_t begin = shared_pages_begin((uintptr_t)bytes);
	const uint64_t end = shared_pages_end((uintptr_t)bytes, byte_count);
	struct shared_mr_range *range = begin < end ? range_of(shared_mr, begin, end) : NULL;

	if (forget_other(shared_mr, bytes, byte_count, is_reached) || !range)
		return;
	if (--range->users) {
		range->is_doubtful = true;
		return;
	}
	move_out(shared_mr, range);
	shared_mr->returned_count++;
	*range = shared_mr->ranges[--shared_mr->range_count];
}

void shared_mr_end(struct shared_mr *shared_mr)
{
	shared_mr->is_on = false;
	while (shared_mr->range_count)
		move_out(shared_mr, &shared_mr->ranges[--shared_mr->range_count]);
	shared_mr->other_count = 0;
}
