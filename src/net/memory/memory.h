/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Protection domains, memory regions and their keys (vol 1, chapter 10; transport 7.1, 7.2).
 *
 * A key is index (24 bits) << 8 | tag (8 bits). L_Key and R_Key of a region are equal; the R_Key
 * allows only the remote rights that were granted. Windows (net/memory/window.h) have keys of the
 * same space, for peers only. Keys are looked up per work request or per message, never per byte.
 */
#ifndef SOFTIB_NET_MEMORY_MEMORY_H
#define SOFTIB_NET_MEMORY_MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/attributes.h"
#include "base/index_table.h"
#include "base/list.h"

/* The numbers of the verbs (transport 7.1). */
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
	ACCESS_OPTIONAL = 0x3ff00000, /* unknown ones are accepted and ignored */
};

enum {
	KEY_TAG_BITS = 8,
};

struct memory_gaps;

struct protection_domain {
	uint32_t handle;
	uint32_t users; /* number of regions, windows, QPs, SRQs and AHs */
};

/* The kind of object behind a key decides who may use the key. */
enum key_kind {
	KEY_REGION,
	KEY_NULL_REGION,      /* reads as zero, ignores writes; for local use */
	KEY_WINDOW_FREE,      /* bound to nothing */
	KEY_WINDOW_OF_DOMAIN, /* type 1, bound: for all queue pairs of its protection domain */
	KEY_WINDOW_OF_QP,     /* type 2B, bound: for one queue pair */
};

struct region {
	struct protection_domain *pd;
	uint8_t *bytes;	     /* its first byte in this process */
	uint64_t iova;	     /* the address that keys use for its first byte */
	uint64_t byte_count; /* UINT64_MAX: all of memory (implicit on-demand paging) */
	uint32_t access;
	uint32_t key;
	uint32_t window_count; /* bound to it */
	uint32_t qpn;	       /* KEY_WINDOW_OF_QP: the queue pair that may use it */
	/* For a region that another process registered: points at a word of that process, and the
	 * value that the word has while the region is registered. NULL: a region of this
	 * process. */
	const uint32_t *guard;
	uint32_t guard_value;
	enum key_kind kind;
};

/* Keeps a copy of the keys and their regions (net/memory/published_keys.h). */
struct memory_observer {
	/* The key is valid from now on. */
	void (*granted)(void *context, const struct region *region);
	/* The key is about to become invalid: returns when no process uses the copy any more. */
	void (*revoked)(void *context, const struct region *region);
	void *context;
};

struct memory {
	struct index_table regions; /* by key >> 8; also of windows */
	struct list qp_windows;	    /* struct window by link: all KEY_WINDOW_OF_QP */
	uint32_t next_index;
	uint32_t region_count_max; /* and the same number of windows */
	uint32_t window_count;
	uint8_t next_tag;
	const struct memory_observer *observer; /* NULL: none */
	/* The owner's count, which goes up when a region ends or changes: whoever has kept a
	 * region's place looks it up again (net/transport/fast/templates.h). NULL: nobody keeps
	 * any. */
	uint64_t *epoch;
	/* Recorded by the owner (net/memory/gaps.h); NULL: pages stay mapped. */
	const struct memory_gaps *gaps;
};

void memory_init(struct memory *memory, uint32_t region_count_max);
void memory_release(struct memory *memory);
/* Sets the first key: different for each process, so that a key of one process is seldom valid in
 * another. */
void memory_begin_keys(struct memory *memory, uint32_t seed);

/* -EINVAL: unknown flags, or remote write or atomic without local write (transport 7.1); -ENOMEM:
 * no key left. */
MUST_USE int region_register(struct memory *memory, struct protection_domain *pd, void *bytes,
			     uint64_t byte_count, uint64_t iova, uint32_t access,
			     struct region **ret_region);

/* region_register() with the key that another process uses for the region, if that key is free
 * here; else with a new one. */
MUST_USE int region_register_as(struct memory *memory, struct protection_domain *pd,
				const struct region *region, uint32_t key,
				struct region **ret_region);

/* Registers a region of any length that reads as zero and ignores writes. zeros: bytes that stay
 * zero, as many as one message may have. -ENOMEM. */
MUST_USE int region_register_null(struct memory *memory, struct protection_domain *pd, void *zeros,
				  struct region **ret_region);

/* -EBUSY while windows are bound to it. Afterwards both keys are invalid (transport 7.2). */
MUST_USE int region_deregister(struct memory *memory, struct region *region);

/* Exchanges all but the keys of two regions. */
void regions_swap(struct memory *memory, struct region *region, struct region *other);

/* The whole key, tag included, must be current. Windows are not found. */
struct region *memory_find(const struct memory *memory, uint32_t key);

/* For net/memory only: gives a new region its key and adds it to the table. -ENOMEM. */
MUST_USE int memory_add(struct memory *memory, struct region *region);
void memory_remove(struct memory *memory, struct region *region);

static inline void memory_tell_granted(const struct memory *memory, const struct region *region)
{
	if (memory->observer)
		memory->observer->granted(memory->observer->context, region);
}

static inline void memory_tell_revoked(const struct memory *memory, const struct region *region)
{
	if (memory->epoch)
		++*memory->epoch;
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

/* Checks an L_Key: key, domain, rights (all bits of access must be granted) and bounds, in the
 * order of C10's list. ret_bytes NULL: writes are ignored. */
MUST_USE enum memory_verdict memory_resolve(const struct memory *memory,
					    const struct protection_domain *pd, uint32_t key,
					    uint64_t address, uint64_t byte_count, uint32_t access,
					    uint8_t **ret_bytes);

/* The region of this key, if it is one of this process and no window; NULL: memory_resolve() says
 * why. */
static inline const struct region *memory_find_plain(const struct memory *memory, uint32_t key)
{
	const struct region *region = index_table_get(&memory->regions, key >> KEY_TAG_BITS);

	if (unlikely(!region || region->key != key || region->kind != KEY_REGION || region->guard))
		return NULL;
	return region;
}

/* memory_resolve() for a plain region, inline; NULL: call memory_resolve(), which says why. */
static inline uint8_t *memory_place(const struct memory *memory, const struct protection_domain *pd,
				    uint32_t key, uint64_t address, uint32_t byte_count,
				    uint32_t access)
{
	const struct region *region = memory_find_plain(memory, key);

	if (unlikely(!region))
		return NULL;

	uint64_t offset = address - region->iova;

	if (unlikely(region->pd != pd || (~region->access & access) ||
		     offset > region->byte_count || byte_count > region->byte_count - offset))
		return NULL;
	return (uint8_t *)((uintptr_t)region->bytes + (uintptr_t)offset);
}

/* Checks an R_Key that the peer of a queue pair uses; it may be a window's. */
MUST_USE enum memory_verdict memory_resolve_remote(const struct memory *memory,
						   const struct protection_domain *pd, uint32_t qpn,
						   uint32_t key, uint64_t address,
						   uint64_t byte_count, uint32_t access,
						   uint8_t **ret_bytes);

/* The part of memory_resolve_remote() after the key is found: the one rule about what a peer may
 * access. */
MUST_USE enum memory_verdict region_resolve_remote(const struct region *region,
						   const struct protection_domain *pd, uint32_t qpn,
						   uint64_t address, uint64_t byte_count,
						   uint32_t access, uint8_t **ret_bytes);

#endif
