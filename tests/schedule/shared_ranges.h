/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which addresses of this process are memory that other processes may share. A mapping whose place
 * the program leaves to the system gets one in a region of its own, so that one comparison tells;
 * mappings at fixed addresses stand in a table.
 */
#ifndef SOFTIB_TESTS_SCHEDULE_SHARED_RANGES_H
#define SOFTIB_TESTS_SCHEDULE_SHARED_RANGES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SHARED_REGION	    ((uintptr_t)0x100000000000)
#define SHARED_REGION_BYTES ((uintptr_t)0x080000000000)

/* The smallest range that covers all mappings at fixed addresses. */
extern uintptr_t fixed_begin, fixed_bytes;

/* Where in its mapping a shared address lies. */
uint64_t shared_place(const void *address);

bool shared_ranges_has_fixed(uintptr_t address, size_t byte_count);

static inline bool is_shared(const void *address, size_t byte_count)
{
	const uintptr_t at = (uintptr_t)address;

	if (at - SHARED_REGION < SHARED_REGION_BYTES)
		return true;
	return at + byte_count - fixed_begin < fixed_bytes + byte_count && fixed_bytes &&
	       shared_ranges_has_fixed(at, byte_count);
}

#endif
