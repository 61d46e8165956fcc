/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Memory windows: keys for peers that are bound to a part of a region and taken back without
 * touching the region (vol 1, chapter 10). Type 2 is of the kind that is called 2B.
 */
#ifndef SOFTIB_NET_MEMORY_WINDOW_H
#define SOFTIB_NET_MEMORY_WINDOW_H

#include "net/memory/memory.h"

/* The verbs' numbers. */
enum window_type { WINDOW_TYPE_1 = 1, WINDOW_TYPE_2 = 2 };

struct window {
	struct region grant;   /* first: what its key gives access to */
	struct region *region; /* it is bound to; NULL: none */
	struct list link;      /* in memory->qp_windows */
	enum window_type type;
};

/* Free, with a key that its first bind may use. -ENOMEM. */
MUST_USE int window_create(struct memory *memory, struct protection_domain *pd,
			   enum window_type type, struct window **ret_window);
void window_destroy(struct memory *memory, struct window *window);

/* What a bind asks for. The key names the window by its index and brings its new tag. */
struct window_binding {
	uint32_t key;
	uint32_t region_key;
	uint64_t address;
	uint64_t byte_count;
	uint32_t access;
};

/* By a queue pair of that domain and number. false: a rule is broken, and nothing is changed. */
MUST_USE bool window_bind(struct memory *memory, const struct protection_domain *pd, uint32_t qpn,
			  const struct window_binding *binding);

/* Frees a bound type 2 window of that queue pair, asked by it or its peer. false: the key is of
 * nothing that could be invalidated there. */
MUST_USE bool window_invalidate(struct memory *memory, const struct protection_domain *pd,
				uint32_t qpn, uint32_t key);

/* The queue pair is gone: windows that were bound through it are free. */
void windows_forget_qp(struct memory *memory, uint32_t qpn);

#endif
