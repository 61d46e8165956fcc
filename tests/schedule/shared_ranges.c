/* SPDX-License-Identifier: Apache-2.0 */
/* mmap and its like, and the table of shared memory at fixed addresses. */
#include "shared_ranges.h"

#include <errno.h>
#include <stdarg.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include "interpose.h"
#include "raw_call.h"
#include "turns.h"

enum { RANGES_MAX = 256, GAP_BYTES = 1 << 16, PLACES_MAX = 1024 };

struct range {
	uintptr_t begin, end;
};

static struct range ranges[RANGES_MAX];
static unsigned range_count;
static uintptr_t region_used;
static uintptr_t places[PLACES_MAX]; /* where mappings of the region begin, in their order */
static unsigned place_count;

uintptr_t fixed_begin, fixed_bytes;

bool shared_ranges_has_fixed(uintptr_t address, size_t byte_count)
{
	for (unsigned i = 0; i < range_count; i++)
		if (address < ranges[i].end && address + byte_count > ranges[i].begin)
			return true;
	return false;
}

static void cover(void)
{
	uintptr_t begin = UINTPTR_MAX, end = 0;

	for (unsigned i = 0; i < range_count; i++) {
		begin = ranges[i].begin < begin ? ranges[i].begin : begin;
		end = ranges[i].end > end ? ranges[i].end : end;
	}
	fixed_begin = range_count ? begin : 0;
	fixed_bytes = range_count ? end - begin : 0;
}

static void add(uintptr_t begin, uintptr_t end)
{
	if (range_count == RANGES_MAX)
		turns_fail("too many shared mappings at fixed addresses");
	ranges[range_count++] = (struct range){begin, end};
}

static void forget(uintptr_t begin, uintptr_t end)
{
	for (unsigned i = range_count; i-- > 0;) {
		const struct range range = ranges[i];

		if (range.end <= begin || end <= range.begin)
			continue;
		ranges[i] = ranges[--range_count];
		if (range.begin < begin)
			add(range.begin, begin);
		if (end < range.end)
			add(end, range.end);
	}
}

/* An unmapped or protected page is one that all processors have been told of. */
static void change_mappings(const void *code)
{
	point_system_call(code);
	if (own)
		drain_process(own->process);
}

uint64_t shared_place(const void *address)
{
	const uintptr_t at = (uintptr_t)address;
	unsigned low = 0, high = place_count;

	if (at - SHARED_REGION >= SHARED_REGION_BYTES)
		return at;
	while (low + 1 < high) {
		const unsigned middle = (low + high) / 2;

		if (places[middle] <= at)
			low = middle;
		else
			high = middle;
	}
	return at - places[low];
}

static void *place_for(size_t byte_count)
{
	const uintptr_t begin = SHARED_REGION + region_used;

	if (place_count == PLACES_MAX)
		turns_fail("too many shared mappings");
	places[place_count++] = begin;

	region_used += (byte_count + GAP_BYTES) & ~(uintptr_t)4095;
	return (void *)begin;
}

EXPORT void *mmap(void *address, size_t byte_count, int rights, int flags, int file, off_t offset)
{
	const bool is_fixed = flags & MAP_FIXED;
	/* A mapping that is private to the processes of a fork is shared by none of ours. */
	const bool shares = own && flags & MAP_SHARED && !(flags & MAP_ANONYMOUS);

	if (is_fixed || shares)
		change_mappings(CODE);
	if (shares && !is_fixed && !address)
		address = place_for(byte_count);

	long result =
		raw_call(SYS_mmap, (long)address, (long)byte_count, rights, flags, file, offset);

	if (result < 0 && result > -4096) {
		errno = (int)-result;
		return MAP_FAILED;
	}
	if (is_fixed)
		forget((uintptr_t)result, (uintptr_t)result + byte_count);
	if (shares && (uintptr_t)result - SHARED_REGION >= SHARED_REGION_BYTES)
		add((uintptr_t)result, (uintptr_t)result + byte_count);
	cover();
	return (void *)result;
}

EXPORT void *mmap64(void *address, size_t byte_count, int rights, int flags, int file, off_t offset)
	__attribute__((alias("mmap")));

EXPORT int munmap(void *address, size_t byte_count)
{
	change_mappings(CODE);
	forget((uintptr_t)address, (uintptr_t)address + byte_count);
	cover();
	return (int)RETURN(raw_call(SYS_munmap, (long)address, (long)byte_count, 0, 0, 0, 0));
}

EXPORT int mprotect(void *address, size_t byte_count, int rights)
{
	change_mappings(CODE);
	return (int)RETURN(
		raw_call(SYS_mprotect, (long)address, (long)byte_count, rights, 0, 0, 0));
}

EXPORT void *mremap(void *address, size_t byte_count, size_t new_bytes, int flags, ...)
{
	va_list arguments;
	void *target;

	va_start(arguments, flags);
	target = flags & MREMAP_FIXED ? va_arg(arguments, void *) : NULL;
	va_end(arguments);
	change_mappings(CODE);
	/* softib moves private memory only. */
	forget((uintptr_t)address, (uintptr_t)address + byte_count);
	if (target)
		forget((uintptr_t)target, (uintptr_t)target + new_bytes);
	cover();
	return (void *)RETURN(raw_call(SYS_mremap, (long)address, (long)byte_count, (long)new_bytes,
				       flags, (long)target, 0));
}
