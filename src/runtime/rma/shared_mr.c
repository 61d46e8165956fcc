/* SPDX-License-Identifier: Apache-2.0 */
/* Pages of the program that were moved into memory that its peers have too. */
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
	/* Moving costs as much as a copy, each way: a program pays for so much in its life. */
	REGION_BYTES_MAX = 128 << 20,
	MOVED_BYTES_MAX = 512 << 20,
	/* A program that registers for each message is better off without. */
	RETURNED_MAX = 16,
};

void adopted_memory_init(struct adopted_memory *adopted, int file)
{
	const char *value = getenv("SOFTIB_ADOPT");

	memset(adopted, 0, sizeof(*adopted));
	adopted->file = file;
	adopted->is_on =
		(!value || strcmp(value, "0") != 0) && sysconf(_SC_PAGESIZE) == EXPOSURE_PAGE_BYTES;
}

bool adopted_memory_hear_of_threads(void (*before_thread)(void))
{
	void (**place)(void) = (void (**)(void))dlsym(RTLD_DEFAULT, "softib_before_thread");

	if (!place)
		return false;
	__atomic_store_n(place, before_thread, __ATOMIC_RELEASE);
	return true;
}

/* The program may have unmapped, moved or protected it, whether it should or not. */
static bool is_still_there(const struct adopted_memory *adopted, const struct adopted_range *range)
{
	const uint64_t begin = (uintptr_t)range->address;

	return own_mapping_is_of(begin, begin + range->byte_count, adopted->file,
				 exposure_layout().shared_offset + range->place);
}

static bool take_place(struct adopted_memory *adopted, size_t page_count, size_t *ret_place)
{
	size_t free_count = 0;

	for (size_t page = 0; page < ADOPTED_PAGES_MAX; page++) {
		free_count = adopted->is_used[page] ? 0 : free_count + 1;
		if (free_count < page_count)
			continue;
		memset(&adopted->is_used[page + 1 - page_count], 1, page_count);
		*ret_place = (page + 1 - page_count) * EXPOSURE_PAGE_BYTES;
		return true;
	}
	return false;
}

static void give_place_back(struct adopted_memory *adopted, size_t place, size_t byte_count)
{
	const off_t offset = (off_t)(exposure_layout().shared_offset + place);

	(void)!fallocate(adopted->file, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, offset,
			 (off_t)byte_count);
	memset(&adopted->is_used[place / EXPOSURE_PAGE_BYTES], 0, byte_count / EXPOSURE_PAGE_BYTES);
}

/* Where a range lies in the file. */
static off_t offset_of(const struct adopted_range *range)
{
	return (off_t)(exposure_layout().shared_offset + range->place);
}

/* The pages that hold anything. */
static bool copy_in(struct adopted_memory *adopted, const struct adopted_range *range)
{
	const uint64_t address = (uintptr_t)range->address;
	struct own_pages pages = own_pages_open();
	uint64_t begin = address, end;
	bool is_copied = true;

	for (; is_copied && own_pages_next(&pages, &begin, address + range->byte_count, &end);
	     begin = end) {
		is_copied = pwrite(adopted->file, range->address + (begin - address), end - begin,
				   offset_of(range) + (off_t)(begin - address)) ==
			    (ssize_t)(end - begin);
		adopted->moved_bytes += end - begin;
	}
	own_pages_close(&pages);
	return is_copied;
}

/* What the program had at hand it has at hand again. Where that is not possible, it comes as it is
 * used. */
static void map_ahead(const struct adopted_memory *adopted, const struct adopted_range *range)
{
	const off_t first = offset_of(range);
	off_t begin = first, end;

	for (; memory_file_next_data(adopted->file, &begin, first + (off_t)range->byte_count, &end);
	     begin = end)
		(void)madvise(range->address + (begin - first), (size_t)(end - begin),
			      MADV_POPULATE_WRITE);
}

static bool move_in(struct adopted_memory *adopted, struct adopted_range *range)
{
	if (!copy_in(adopted, range))
		return false;
	if (mmap(range->address, range->byte_count, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED,
		 adopted->file, offset_of(range)) == MAP_FAILED)
		return false;
	map_ahead(adopted, range);
	/* A child that our handlers did not prepare must not share it with its parent. */
	(void)madvise(range->address, range->byte_count, MADV_DONTFORK);
	return true;
}

/* The same the other way, into fresh memory. */
static void copy_out(const struct adopted_memory *adopted, const struct adopted_range *range,
		     uint8_t *ret_bytes)
{
	const off_t first = offset_of(range);
	off_t begin = first, end;

	for (; memory_file_next_data(adopted->file, &begin, first + (off_t)range->byte_count, &end);
	     begin = end)
		memcpy(ret_bytes + (begin - first), range->address + (begin - first),
		       (size_t)(end - begin));
}

/* Into memory of the program's own again. With a second thread about, or where it is no more what
 * it was, it stays as it is and its place is lost; so is one that messages are still pulled from.
 */
static void move_out(struct adopted_memory *adopted, struct adopted_range *range)
{
	if (!own_thread_is_alone() || !is_still_there(adopted, range))
		return;

	void *copy = mmap(NULL, range->byte_count, PROT_READ | PROT_WRITE,
			  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (copy == MAP_FAILED)
		return;
	copy_out(adopted, range, copy);
	if (mremap(copy, range->byte_count, range->byte_count, MREMAP_MAYMOVE | MREMAP_FIXED,
		   range->address) == MAP_FAILED) {
		munmap(copy, range->byte_count);
		return;
	}
	/* Whatever the program does to its own from now on: there it stays as it was sent. */
	if (adopted->is_lent &&
	    adopted->is_lent(adopted->context, range->address, range->byte_count))
		return;
	give_place_back(adopted, range->place, range->byte_count);
}

static struct adopted_range *range_of(const struct adopted_memory *adopted, uint64_t begin,
				      uint64_t end)
{
	for (unsigned i = 0; i < adopted->range_count; i++) {
		const struct adopted_range *range = &adopted->ranges[i];
		const uint64_t address = (uintptr_t)range->address;

		if (!range->is_replaced && begin >= address && end <= address + range->byte_count)
			return (struct adopted_range *)(uintptr_t)range;
	}
	return NULL;
}

/* A peer might be writing there. */
static bool overlaps_others(const struct adopted_memory *adopted, const uint8_t *begin,
			    const uint8_t *end)
{
	for (unsigned i = 0; i < adopted->other_count; i++)
		if (adopted->others[i].is_reached && begin < adopted->others[i].end &&
		    adopted->others[i].begin < end)
			return true;
	return false;
}

static bool overlaps_any(const struct adopted_memory *adopted, const uint8_t *begin,
			 const uint8_t *end)
{
	for (unsigned i = 0; i < adopted->range_count; i++)
		if (begin < adopted->ranges[i].address + adopted->ranges[i].byte_count &&
		    adopted->ranges[i].address < end)
			return true;
	return overlaps_others(adopted, begin, end);
}

uint64_t adopted_memory_find(const struct adopted_memory *adopted, const uint8_t *bytes,
			     uint64_t byte_count)
{
	const uint64_t begin = adopted_begin((uintptr_t)bytes);
	const uint64_t end = adopted_end((uintptr_t)bytes, byte_count);
	const struct adopted_range *range =
		adopted->is_on && begin < end ? range_of(adopted, begin, end) : NULL;

	return range ? range->place + (begin - (uintptr_t)range->address) + 1 : 0;
}

bool adopted_memory_locate(const struct adopted_memory *adopted, const uint8_t *bytes,
			   uint64_t byte_count, uint64_t *ret_place)
{
	const uint64_t begin = (uintptr_t)bytes;
	const struct adopted_range *range =
		adopted->is_on ? range_of(adopted, begin, begin + byte_count) : NULL;

	if (!range || range->is_doubtful)
		return false;
	*ret_place = range->place + (begin - (uintptr_t)range->address);
	return true;
}

/* Regions that stay where they are: those that overlap them must too if peers reach them, and none
 * of them is a user of what is adopted around it later. With too many of them, all stay. */
static void note_other(struct adopted_memory *adopted, const uint8_t *bytes, uint64_t byte_count,
		       bool is_reached)
{
	if (adopted->other_count == ADOPTED_OTHERS_MAX) {
		adopted->returned_count = RETURNED_MAX;
		return;
	}
	adopted->others[adopted->other_count++] =
		(struct other_range){bytes, bytes + byte_count, is_reached};
}

static bool adopt(struct adopted_memory *adopted, uint8_t *begin, size_t byte_count)
{
	struct adopted_range *range = &adopted->ranges[adopted->range_count];

	*range = (struct adopted_range){.address = begin, .byte_count = byte_count, .users = 1};
	if (!take_place(adopted, byte_count / EXPOSURE_PAGE_BYTES, &range->place))
		return false;
	if (!move_in(adopted, range)) {
		give_place_back(adopted, range->place, byte_count);
		return false;
	}
	adopted->range_count++;
	return true;
}

static bool is_worth_moving(const struct adopted_memory *adopted, uint64_t begin, uint64_t end)
{
	return begin < end && end - begin <= REGION_BYTES_MAX &&
	       adopted->moved_bytes + (end - begin) <= MOVED_BYTES_MAX &&
	       adopted->returned_count < RETURNED_MAX &&
	       adopted->range_count < ADOPTED_RANGES_MAX &&
	       !overlaps_any(adopted, (const uint8_t *)begin, (const uint8_t *)end);
}

/* Of what a new region lies on. */
static void look_again(struct adopted_memory *adopted, const uint8_t *begin, const uint8_t *end)
{
	for (unsigned i = 0; i < adopted->range_count; i++) {
		struct adopted_range *range = &adopted->ranges[i];

		if (range->is_doubtful && begin < range->address + range->byte_count &&
		    range->address < end && !is_still_there(adopted, range))
			range->is_replaced = true;
	}
}

uint64_t adopted_memory_take(struct adopted_memory *adopted, uint8_t *bytes, uint64_t byte_count,
			     bool is_reached)
{
	if (!adopted->is_on)
		return 0;
	/* All of memory: peers may be writing anywhere. */
	if (byte_count == UINT64_MAX) {
		if (is_reached)
			adopted->returned_count = RETURNED_MAX;
		return 0;
	}
	look_again(adopted, bytes, bytes + byte_count);

	const uint64_t begin = adopted_begin((uintptr_t)bytes);
	const uint64_t end = adopted_end((uintptr_t)bytes, byte_count);
	struct adopted_range *range = begin < end ? range_of(adopted, begin, end) : NULL;
	bool is_adopted = range != NULL;

	if (range) {
		range->users++;
	} else if (is_worth_moving(adopted, begin, end)) {
		is_adopted = own_mappings_may_move() && own_mapping_is_movable(begin, end) &&
			     adopt(adopted, (uint8_t *)begin, (size_t)(end - begin));
		/* Looking has its price too. */
		if (!is_adopted)
			adopted->returned_count++;
	}
	if (!is_adopted && (is_reached || begin < end))
		note_other(adopted, bytes, byte_count, is_reached);
	return adopted_memory_find(adopted, bytes, byte_count);
}

static bool forget_other(struct adopted_memory *adopted, const uint8_t *bytes, uint64_t byte_count,
			 bool is_reached)
{
	for (unsigned i = 0; i < adopted->other_count; i++) {
		if (adopted->others[i].begin != bytes ||
		    adopted->others[i].end != bytes + byte_count ||
		    adopted->others[i].is_reached != is_reached)
			continue;
		adopted->others[i] = adopted->others[--adopted->other_count];
		return true;
	}
	return false;
}

bool adopted_memory_is_on_others(const struct adopted_memory *adopted, const uint8_t *bytes,
				 uint64_t byte_count)
{
	const struct adopted_range *range = range_of(adopted, adopted_begin((uintptr_t)bytes),
						     adopted_end((uintptr_t)bytes, byte_count));

	return range &&
	       overlaps_others(adopted, range->address, range->address + range->byte_count);
}

void adopted_memory_drop(struct adopted_memory *adopted, const uint8_t *bytes, uint64_t byte_count,
			 bool is_reached)
{
	if (byte_count == UINT64_MAX)
		return;

	const uint64_t begin = adopted_begin((uintptr_t)bytes);
	const uint64_t end = adopted_end((uintptr_t)bytes, byte_count);
	struct adopted_range *range = begin < end ? range_of(adopted, begin, end) : NULL;

	if (forget_other(adopted, bytes, byte_count, is_reached) || !range)
		return;
	if (--range->users) {
		range->is_doubtful = true;
		return;
	}
	move_out(adopted, range);
	adopted->returned_count++;
	*range = adopted->ranges[--adopted->range_count];
}

void adopted_memory_end(struct adopted_memory *adopted)
{
	adopted->is_on = false;
	while (adopted->range_count)
		move_out(adopted, &adopted->ranges[--adopted->range_count]);
	adopted->other_count = 0;
}
