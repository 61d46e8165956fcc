/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Protection domains, memory regions and their keys (vol 1, chapter 10).
 *
 * A key is index (24 bits) << 8 | tag (8 bits). L_Key and R_Key of a region are equal; the R_Key is
 * usable only for rights granted. Lookups are per work request or per message, never per byte.
 */
#ifndef SOFTIB_NET_MEMORY_MEMORY_H
#define SOFTIB_NET_MEMORY_MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/attributes.h"
#include "base/index_table.h"

/* The verbs' numbers. */
enum access {
	ACCESS_LOCAL_WRITE = 1 << 0,
	ACCESS_REMOTE_WRITE = 1 << 1,
	ACCESS_REMOTE_READ = 1 << 2,
	ACCESS_REMOTE_ATOMIC = 1 << 3,
	ACCESS_WINDOW_BIND = 1 << 4,
	ACCESS_ZERO_BASED = 1 << 5,
	ACCESS_ON_DEMAND = 1 << 6,
	ACCESS_HUGE_PAGES = 1 << 7,
	ACCESS_FLUSH_GLOBAL = 1 << 8,
	ACCESS_FLUSH_PERSISTENT = 1 << 9,
	ACCESS_KNOWN = 0x3ff,
	ACCESS_OPTIONAL = 0x3ff00000, /* accepted and ignored when unknown */
};

struct protection_domain {
	uint32_t handle;
	uint32_t users; /* regions, queue pairs, shared receive queues, address handles */
};

struct region {
	struct protection_domain *pd;
	uint8_t *bytes;	     /* where it is in this process */
	uint64_t iova;	     /* the address that keys use for its first byte */
	uint64_t byte_count; /* UINT64_MAX: all of memory (implicit on-demand paging) */
	uint32_t access;
	uint32_t key;
	uint32_t window_count; /* bound to it */
};

struct memory {
	struct index_table regions; /* by key >> 8 */
	uint32_t next_index;
	uint32_t region_count_max;
	uint8_t next_tag;
};

void memory_init(struct memory *memory, uint32_t region_count_max);
void memory_release(struct memory *memory);

/* -EINVAL: flags unknown, or remote write or atomic without local write; -ENOMEM: no key left. */
MUST_USE int region_register(struct memory *memory, struct protection_domain *pd, void *bytes,
			     uint64_t byte_count, uint64_t iova, uint32_t access,
			     struct region **ret_region);

/* -EBUSY while windows are bound to it. After this both keys are dead. */
MUST_USE int region_deregister(struct memory *memory, struct region *region);

/* The whole key must be the current one. */
struct region *memory_find(const struct memory *memory, uint32_t key);

enum memory_verdict {
	MEMORY_OK,
	MEMORY_BAD_KEY,
	MEMORY_BAD_PD,
	MEMORY_BAD_RIGHTS,
	MEMORY_BAD_BOUNDS
};

/* Checks key, domain, rights (all bits of access must be granted) and bounds, in the order of C10's
 * list, and says where the bytes are. */
MUST_USE enum memory_verdict memory_resolve(const struct memory *memory,
					    const struct protection_domain *pd, uint32_t key,
					    uint64_t address, uint64_t byte_count, uint32_t access,
					    uint8_t **ret_bytes);

#endif
