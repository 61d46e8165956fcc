/* SPDX-License-Identifier: Apache-2.0 */
/* Registered memory that the program has unmapped, protected or truncated: see memory_guard.h. */
#include "runtime/memory/memory_guard.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include "runtime/rma/shared_mr.h"
#include "runtime/runtime_state.h"
#include "ipc/doorbell.h"
#include "runtime/memory/fault_signals.h"
#include "ipc/memory_file.h"
#include "runtime/memory/own_mappings.h"

#ifndef MAP_FIXED_NOREPLACE
#define MAP_FIXED_NOREPLACE 0x100000
#endif

enum {
	PAGE_BYTES = RKEY_EXPORT_PAGE_BYTES,
	SPARE_BYTES = 64 << 10, /* most that is mapped for one fault */
	GUARD_PAGES_MAX = 1024,
};

enum guard_page_kind {
	PAGE_SPARE,  /* a page of our file */
	PAGE_SHARED, /* a page of the rkey export file: the shared MR's page that was unmapped */
	PAGE_ASIDE,  /* a page of our file; the program's page is moved aside */
	PAGE_UNPROTECTED, /* the program's page, with its protection lifted */
};

struct guard_page {
	uintptr_t begin, end;
	enum guard_page_kind kind;
	int rights;	 /* PAGE_UNPROTECTED: the rights before */
	uint64_t offset; /* in the file */
	void *aside;
};

struct memory_gaps memory_guard_gaps;

/* Protected by the lock of the process runtime. */
static struct {
	struct process_runtime *runtime;
	int file; /* SPARE_BYTES */
	struct guard_page pages[GUARD_PAGES_MAX];
	unsigned page_count;
} guard = {.file = -1};

static bool has_room(void)
{
	return guard.page_count < GUARD_PAGES_MAX;
}

/* If there is no room the entry is dropped and its pages stay mapped. That does no harm if they are
 * pages of our files. */
static void note(const struct guard_page *guard_page)
{
	if (guard_page->kind == PAGE_SPARE || guard_page->kind == PAGE_ASIDE)
		memory_gaps_add(&memory_guard_gaps, guard_page->begin, guard_page->end);
	if (!has_room())
		return;
	guard.pages[guard.page_count] = *guard_page;
	__atomic_store_n(&guard.page_count, guard.page_count + 1, __ATOMIC_RELEASE);
}

static bool map(uintptr_t begin, size_t byte_count, int file, uint64_t offset)
{
	void *place = (void *)begin;
	void *found = mmap(place, byte_count, PROT_READ | PROT_WRITE,
			   MAP_SHARED | MAP_FIXED_NOREPLACE, file, (off_t)offset);

	/* A kernel that does not know the flag treats the address as a hint. */
	if (found != MAP_FAILED && found != place) {
		munmap(found, byte_count);
		errno = EEXIST;
		return false;
	}
	return found != MAP_FAILED;
}

/* Maps pages where nothing is mapped. end: the end of the region. */
static bool fill_hole(uintptr_t page, uintptr_t end)
{
	const struct shared_mr *shared_mr = guard.runtime->rkey_export.shared_mr;
	const size_t room = (end - page + PAGE_BYTES - 1) & ~(size_t)(PAGE_BYTES - 1);
	struct guard_page guard_page = {.begin = page, .end = page + PAGE_BYTES};
	uint64_t place;

	if (shared_mr && shared_mr_locate(shared_mr, (const uint8_t *)page, PAGE_BYTES, &place)) {
		guard_page.kind = PAGE_SHARED;
		guard_page.offset = rkey_export_layout().shared_offset + place;
		if (!map(page, PAGE_BYTES, shared_mr->file, guard_page.offset))
			return errno == EEXIST;
		note(&guard_page);
		return true;
	}
	guard_page.kind = PAGE_SPARE;
	if (room > PAGE_BYTES)
		guard_page.end = page + (room < SPARE_BYTES ? room : SPARE_BYTES);
	if (!map(page, guard_page.end - page, guard.file, 0)) {
		guard_page.end = page + PAGE_BYTES;
		/* EEXIST: another thread of the program has mapped something there in the meantime.
		 */
		if (!map(page, PAGE_BYTES, guard.file, 0))
			return errno == EEXIST;
	}
	note(&guard_page);
	return true;
}

static bool set_aside(uintptr_t page)
{
	struct guard_page guard_page = {
		.begin = page, .end = page + PAGE_BYTES, .kind = PAGE_ASIDE};
	void *place;

	/* Without an entry the program's page would never be moved back. */
	if (!has_room())
		return false;
	place = mmap(NULL, PAGE_BYTES, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (place == MAP_FAILED)
		return false;
	guard_page.aside =
		mremap((void *)page, PAGE_BYTES, PAGE_BYTES, MREMAP_MAYMOVE | MREMAP_FIXED, place);
	if (guard_page.aside == MAP_FAILED) {
		munmap(place, PAGE_BYTES);
		return false;
	}
	if (map(page, PAGE_BYTES, guard.file, 0)) {
		note(&guard_page);
		return true;
	}
	/* Another thread of the program has mapped something there in the meantime, so the old page
	 * is no longer needed. */
	if (errno == EEXIST) {
		munmap(guard_page.aside, PAGE_BYTES);
		return true;
	}
	(void)!mremap(guard_page.aside, PAGE_BYTES, PAGE_BYTES, MREMAP_MAYMOVE | MREMAP_FIXED,
		      (void *)page);
	return false;
}

/* The entry that ends just before this page, if its pages had the same rights; NULL: there is none.
 */
static struct guard_page *opened_before(uintptr_t page, int rights)
{
	struct guard_page *last = guard.page_count ? &guard.pages[guard.page_count - 1] : NULL;

	return last && last->kind == PAGE_UNPROTECTED && last->end == page && last->rights == rights
		       ? last
		       : NULL;
}

static bool lift_protection(uintptr_t page)
{
	struct guard_page guard_page = {
		.begin = page, .end = page + PAGE_BYTES, .kind = PAGE_UNPROTECTED};

	if (!own_mapping_rights(page, &guard_page.rights))
		return false;
	/* The rights have changed since the fault. */
	if ((guard_page.rights & (PROT_READ | PROT_WRITE)) == (PROT_READ | PROT_WRITE))
		return true;

	struct guard_page *before = opened_before(page, guard_page.rights);

	if ((!before && !has_room()) ||
	    mprotect((void *)page, PAGE_BYTES, guard_page.rights | PROT_READ | PROT_WRITE) != 0)
		return false;
	if (before)
		before->end += PAGE_BYTES;
	else
		note(&guard_page);
	return true;
}

static bool is_registered(const struct process_runtime *runtime, uintptr_t address,
			  uintptr_t *ret_end)
{
	for (unsigned i = 0; i < runtime->adapter_limit; i++) {
		const struct adapter *adapter = runtime->adapters[i];

		if (adapter && adapter->has_hca &&
		    memory_is_registered(&adapter->hca.memory, address, ret_end))
			return true;
	}
	return false;
}

/* Runs in a signal handler. Returns whether the instruction may be tried again. */
static bool resolve(uintptr_t address, enum fault_kind kind)
{
	struct process_runtime *runtime = __atomic_load_n(&guard.runtime, __ATOMIC_ACQUIRE);
	const uintptr_t page = address & ~(uintptr_t)(PAGE_BYTES - 1);
	uintptr_t end;
	bool is_resolved;

	if (!runtime || !biased_lock_is_mine(&runtime->lock) ||
	    !is_registered(runtime, address, &end))
		return false;
	if (kind == FAULT_UNMAPPED)
		is_resolved = fill_hole(page, end);
	else
		is_resolved = (kind == FAULT_PROTECTED && lift_protection(page)) || set_aside(page);
	/* Otherwise the progress thread removes the pages; it waits for the lock. */
	if (is_resolved && !biased_lock_will_leave_slowly(&runtime->lock))
		doorbell_ring(runtime->doorbell);
	return is_resolved;
}

/* Removes a page only if it is still mapped as we left it. */
static void return_one(const struct guard_page *guard_page, bool is_at_once)
{
	const int file = guard_page->kind == PAGE_SHARED
				 ? guard.runtime->rkey_export.shared_mr->file
				 : guard.file;

	if (guard_page->kind == PAGE_UNPROTECTED) {
		/* Later there may be another mapping, which looks the same. */
		if (is_at_once)
			(void)mprotect((void *)guard_page->begin,
				       guard_page->end - guard_page->begin, guard_page->rights);
		return;
	}
	if (!own_mapping_is_of(guard_page->begin, guard_page->end, file, guard_page->offset))
		return;
	if (guard_page->kind == PAGE_ASIDE)
		(void)!mremap(guard_page->aside, PAGE_BYTES, PAGE_BYTES,
			      MREMAP_MAYMOVE | MREMAP_FIXED, (void *)guard_page->begin);
	else
		munmap((void *)guard_page->begin, guard_page->end - guard_page->begin);
}

/* The lock is held. */
static void return_all(bool is_at_once)
{
	for (unsigned i = 0; i < guard.page_count; i++)
		return_one(&guard.pages[i], is_at_once);
	__atomic_store_n(&guard.page_count, 0, __ATOMIC_RELEASE);
	__atomic_store_n(&memory_guard_gaps.count, 0, __ATOMIC_RELAXED);
}

/* Runs before the program can do anything else with its memory. */
static void before_leaving(struct biased_lock *lock)
{
	if (unlikely(guard.page_count) && lock == &guard.runtime->lock)
		return_all(true);
}

void memory_guard_begin(struct adapter *adapter)
{
	const char *value = getenv("SOFTIB_GUARD");

	if ((value && strcmp(value, "0") == 0) || sysconf(_SC_PAGESIZE) != PAGE_BYTES)
		return;
	if (guard.file < 0)
		guard.file = memfd_create("softib-unmapped", MFD_CLOEXEC);
	if (guard.file < 0 || memory_file_resize(guard.file, SPARE_BYTES) != 0)
		return;
	adapter->hca.memory.gaps = &memory_guard_gaps;
	adapter->runtime->lock.before_leaving = before_leaving;
	__atomic_store_n(&guard.runtime, adapter->runtime, __ATOMIC_RELEASE);
	fault_signals_handle(resolve);
}

void memory_guard_renew(void)
{
	fault_signals_renew();
}

void memory_guard_take_back(struct process_runtime *runtime)
{
	if (likely(!__atomic_load_n(&guard.page_count, __ATOMIC_ACQUIRE)) ||
	    guard.runtime != runtime)
		return;
	runtime_lock(runtime);
	return_all(false);
	runtime_unlock(runtime);
}
