/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Protection domains, memory regions and their keys (vol 1, chapter 10).
 *
 * A key is index (24 bits) << 8 | tag (8 bits). L_Key and R_Key of a region are equal; the R_Key is
 * usable only for rights granted. Windows (net/memory/window.h) have keys of the same space, for
 * peers only. Lookups are per work request or per message, never per byte.
 */
#ifndef SOFTIB_NET_MEMORY_MEMORY_H
#define SOFTIB_NET_MEMORY_MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/attributes.h"
#include "base/index_table.h"
#include "base/list.h"

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

enum {
	KEY_TAG_BITS = 8,
	MEMORY_RECENT = 16,
};

struct memory_gaps;

struct protection_domain {
	uint32_t handle;
	uint32_t users; /* regions, windows, queue pairs, shared receive queues, address handles */
};

/* What a key stands for, and so who may use it. */
enum key_kind {
	KEY_REGION,
	KEY_NULL_REGION,      /* reads as zero, forgets what is written; for local use */
	KEY_WINDOW_FREE,      /* bound to nothing */
	KEY_WINDOW_OF_DOMAIN, /* type 1, bound: for all queue pairs of its protection domain */
	KEY_WINDOW_OF_QP,     /* type 2B, bound: for one of them */
};

struct region {
	struct protection_domain *pd;
	uint8_t *bytes;	     /* where it is in this process */
	uint64_t iova;	     /* the address that keys use for its first byte */
	uint64_t byte_count; /* UINT64_MAX: all of memory (implicit on-demand paging) */
	uint32_t access;
	uint32_t key;
	uint32_t window_count; /* bound to it */
	uint32_t qpn;	       /* KEY_WINDOW_OF_QP: whose */
	/* Of a region that another process registered: a word of that process's, and what it reads
	 * as long as the region is there. NULL: it is this process's own. */
	const uint32_t *guard;
	uint32_t guard_value;
	enum key_kind kind;
};

/* Somebody who keeps a copy of what keys stand for (net/memory/published_keys.h). */
struct memory_observer {
	/* The key stands for this from now on. */
	void (*granted)(void *context, const struct region *region);
	/* It is about to stand for nothing: returns when nobody uses the copy any more. */
	void (*revoked)(void *context, const struct region *region);
	void *context;
};

struct memory {
	struct index_table regions; /* by key >> 8; those of windows too */
	struct list qp_windows;	    /* struct window by link: all KEY_WINDOW_OF_QP */
	uint32_t next_index;
	uint32_t region_count_max; /* and as many windows */
	uint32_t window_count;
	uint8_t next_tag;
	/* Regions about which nothing is unusual that were used lately, by key >> 8. */
	const struct region *recent[MEMORY_RECENT];
	const struct memory_observer *observer; /* NULL: nobody watches */
	/* Noted by the owner (net/memory/gaps.h); NULL: pages stay where they are. */
	const struct memory_gaps *gaps;
};

void memory_init(struct memory *memory, uint32_t region_count_max);
void memory_release(struct memory *memory);
/* The first key to be given: different for each process, so that those of one are seldom another's. */
void memory_begin_keys(struct memory *memory, uint32_t seed);

/* -EINVAL: flags unknown, or remote write or atomic without local write; -ENOMEM: no key left. */
MUST_USE int region_register(struct memory *memory, struct protection_domain *pd, void *bytes,
			     uint64_t byte_count, uint64_t iova, uint32_t access,
			     struct region **ret_region);

/* The same with a key that another process uses for it, if that is free here; else with another. */
MUST_USE int region_register_as(struct memory *memory, struct protection_domain *pd,
				const struct region *region, uint32_t key,
				struct region **ret_region);

/* A region of any length that reads as zero and forgets what is written to it. zeros: bytes that
 * are and stay zero, as many as one message may have. -ENOMEM. */
MUST_USE int region_register_null(struct memory *memory, struct protection_domain *pd, void *zeros,
				  struct region **ret_region);

/* -EBUSY while windows are bound to it. After this both keys are dead. */
MUST_USE int region_deregister(struct memory *memory, struct region *region);

/* Both keep their keys and get what the other's stood for. */
void regions_swap(struct memory *memory, struct region *region, struct region *other);

/* The whole key must be the current one. A window's is not found. */
struct region *memory_find(const struct memory *memory, uint32_t key);

/* For net/memory: gives a new region its key and enters it. -ENOMEM. */
MUST_USE int memory_add(struct memory *memory, struct region *region);
void memory_remove(struct memory *memory, struct region *region);

static inline void memory_tell_granted(const struct memory *memory, const struct region *region)
{
	if (memory->observer)
		memory->observer->granted(memory->observer->context, region);
}

static inline void memory_tell_revoked(const struct memory *memory, const struct region *region)
{
	if (memory->observer)
		memory->observer->revoked(memory->observer->context, region);
}

enum memory_verdict {
	MEMORY_OK,
	MEMORY_BAD_KEY,
	MEMORY_BAD_PD,
	MEMORY_BAD_RIGHTS,
	MEMORY_BAD_BOUNDS
};

bool region_covers(const struct region *region, uint64_t address, uint64_t byte_count);

/* For an L_Key: checks key, domain, rights (all bits of access must be granted) and bounds, in the
 * order of C10's list, and says where the bytes are; NULL: writes to there are forgotten. */
MUST_USE enum memory_verdict memory_resolve(const struct memory *memory,
					    const struct protection_domain *pd, uint32_t key,
					    uint64_t address, uint64_t byte_count, uint32_t access,
					    uint8_t **ret_bytes);

/* For memory_place: the region, which is among the recent ones from now on; NULL: there is none, or
 * something about it is unusual. */
const struct region *memory_find_plain(struct memory *memory, uint32_t key);

/* memory_resolve where nothing is unusual about key, rights and bounds; NULL: that one says what. */
static inline uint8_t *memory_place(struct memory *memory, const struct protection_domain *pd,
				    uint32_t key, uint64_t address, uint32_t byte_count,
				    uint32_t access)
{
	const struct region *region = memory->recent[(key >> KEY_TAG_BITS) % MEMORY_RECENT];

	if (unlikely(!region || region->key != key)) {
		region = memory_find_plain(memory, key);
		if (!region)
			return NULL;
	}

	uint64_t offset = address - region->iova;

	if (unlikely(region->pd != pd || (~region->access & access) ||
		     offset > region->byte_count || byte_count > region->byte_count - offset))
		return NULL;
	return (uint8_t *)((uintptr_t)region->bytes + (uintptr_t)offset);
}

/* The same for an R_Key that the peer of a queue pair uses, which may be a window's. */
MUST_USE enum memory_verdict memory_resolve_remote(const struct memory *memory,
						   const struct protection_domain *pd, uint32_t qpn,
						   uint32_t key, uint64_t address,
						   uint64_t byte_count, uint32_t access,
						   uint8_t **ret_bytes);

/* The same once it is known what the key stands for: the one rule about what a peer may reach. */
MUST_USE enum memory_verdict region_resolve_remote(const struct region *region,
						   const struct protection_domain *pd, uint32_t qpn,
						   uint64_t address, uint64_t byte_count,
						   uint32_t access, uint8_t **ret_bytes);

#endif
