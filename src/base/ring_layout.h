/* SPDX-License-Identifier: Apache-2.0 */
/* The layout of records in a ring, for producer and consumer: see ring.h. */
#ifndef SOFTIB_BASE_RING_LAYOUT_H
#define SOFTIB_BASE_RING_LAYOUT_H

#include "base/ring.h"

/* A record's header in the ring: two words, each loaded and stored whole. */
struct ring_header {
	uint64_t sizes; /* byte_count, kind << 32, port << 48 */
	uint64_t users; /* packet_count, word << 32 */
};

_Static_assert(sizeof(struct ring_header) == RING_ALIGNMENT,
	       "a filler may be as small as a header");

/* A record's header in a stamped ring. The stamp is written last and read first. */
struct ring_stamped_header {
	uint64_t stamp;
	struct ring_header header;
};

_Static_assert(sizeof(struct ring_stamped_header) == RING_STAMPED_HEADER_BYTES,
	       "as the header file says");

/* Both doorbell flags work alike: one side reads the flag after it stored the position, and the
 * waiter reads the position after it set the flag. All four accesses are sequentially consistent,
 * so one of the two sees the other. */
static inline bool ring_take_flag(uint32_t *flag)
{
	if (likely(!__atomic_load_n(flag, __ATOMIC_SEQ_CST)))
		return false;
	return __atomic_exchange_n(flag, 0, __ATOMIC_SEQ_CST) != 0;
}

/* The size of a record in a ring of either kind. */
static inline uint64_t ring_bytes_of(uint64_t stamp_seed, uint32_t byte_count)
{
	return stamp_seed ? ring_stamped_bytes(byte_count) : ring_record_bytes(byte_count);
}

#endif
