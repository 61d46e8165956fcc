/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Memory windows: keys for peers that are bound to a part of a region and revoked without changing
 * the region (vol 1, chapter 10; transport 7.3). Type 2 is type 2B.
 */
#ifndef SOFTIB_NET_MEMORY_WINDOW_H
#define SOFTIB_NET_MEMORY_WINDOW_H

#include "net/memory/memory.h"

/* The numbers of the verbs. */
enum window_type { WINDOW_TYPE_1 = 1, WINDOW_TYPE_2 = 2 };

struct window {
	struct region grant;   /* first: the access that its key grants */
	struct region *region; /* the region that it is bound to; NULL: none */
	struct list link;      /* in memory->qp_windows */
	enum window_type type;
};

/* Makes a free window, with a key that its first bind may use. -ENOMEM. */
MUST_USE int window_create(struct memory *memory, struct protection_domain *pd,
			   enum window_type type, struct window **ret_window);
void window_destroy(struct memory *memory, struct window *window);

/* The request of a bind. The key names the window by its index and brings its new tag. */
struct window_binding {
	uint32_t key;
	uint32_t region_key;
	uint64_t address;
	uint64_t byte_count;
	uint32_t access;
};

/* Called by a queue pair of that domain and number. False: a rule is broken, and nothing is
 * changed. */
MUST_USE bool window_bind(struct memory *memory, const struct protection_domain *pd, uint32_t qpn,
			  const struct window_binding *binding);

/* Frees a bound type 2 window of that queue pair, for it or its peer. False: the key is not that of
 * a window that this queue pair may invalidate. */
MUST_USE bool window_invalidate(struct memory *memory, const struct protection_domain *pd,
				uint32_t qpn, uint32_t key);

/* The queue pair is gone: windows that were bound through it become free. */
void windows_forget_qp(struct memory *memory, uint32_t qpn);

#endif
