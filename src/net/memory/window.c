/* SPDX-License-Identifier: Apache-2.0 */
/* Memory windows: binding, invalidation, and their rules (vol 1, chapter 10; transport 7.3). */
#include "net/memory/window.h"

#include <errno.h>
#include <stdlib.h>

enum {
	WINDOW_RIGHTS = ACCESS_REMOTE_READ | ACCESS_REMOTE_WRITE | ACCESS_REMOTE_ATOMIC |
			ACCESS_FLUSH_GLOBAL | ACCESS_FLUSH_PERSISTENT,
	/* Means nothing for a window, but programs set it. */
	WINDOW_RIGHTS_IGNORED = ACCESS_LOCAL_WRITE,
};

int window_create(struct memory *memory, struct protection_domain *pd, enum window_type type,
		  struct window **ret_window)
{
	if (memory->window_count >= memory->region_count_max)
		return -ENOMEM;

	struct window *window = calloc(1, sizeof(*window));

	if (!window)
		return -ENOMEM;
	window->grant.pd = pd;
	window->grant.kind = KEY_WINDOW_FREE;
	window->type = type;
	list_init(&window->link);

	int error = memory_add(memory, &window->grant);

	if (error) {
		free(window);
		return error;
	}
	memory->window_count++;
	*ret_window = window;
	return 0;
}

static void unbind(struct memory *memory, struct window *window)
{
	if (window->region) {
		memory_tell_revoked(memory, &window->grant);
		window->region->window_count--;
	}
	window->region = NULL;
	window->grant.kind = KEY_WINDOW_FREE;
	list_remove(&window->link);
}

void window_destroy(struct memory *memory, struct window *window)
{
	unbind(memory, window);
	memory_remove(memory, &window->grant);
	memory->window_count--;
	free(window);
}

/* By the index alone, because a bind brings a new tag. */
static struct window *find_window(const struct memory *memory, uint32_t key)
{
	struct region *region = index_table_get(&memory->regions, key >> KEY_TAG_BITS);

	return region && region->kind > KEY_NULL_REGION ? container_of(region, struct window, grant)
							: NULL;
}

static bool state_allows_bind(const struct window *window, const struct window_binding *binding)
{
	if (window->type == WINDOW_TYPE_1)
		return !(binding->access & ACCESS_ZERO_BASED);
	/* A bound window must be invalidated first, and only type 1 is unbound by a zero-length
	 * bind (transport 7.3). */
	return window->grant.kind == KEY_WINDOW_FREE && binding->byte_count;
}

static bool rights_allow_bind(const struct region *region, uint32_t access)
{
	const uint32_t known = WINDOW_RIGHTS | WINDOW_RIGHTS_IGNORED | ACCESS_ZERO_BASED;

	if (access & ~known || !(region->access & ACCESS_WINDOW_BIND) ||
	    region->access & ACCESS_ZERO_BASED)
		return false;
	/* The bind needs local write on the region, not its remote rights (transport 7.3). */
	return !(access & (ACCESS_REMOTE_WRITE | ACCESS_REMOTE_ATOMIC)) ||
	       region->access & ACCESS_LOCAL_WRITE;
}

static void set_grant(struct memory *memory, struct window *window, struct region *region,
		      uint32_t qpn, const struct window_binding *binding)
{
	struct region *grant = &window->grant;

	unbind(memory, window);
	grant->key = binding->key;
	grant->bytes = (uint8_t *)((uintptr_t)region->bytes +
				   (uintptr_t)(binding->address - region->iova));
	grant->iova = binding->access & ACCESS_ZERO_BASED ? 0 : binding->address;
	grant->byte_count = binding->byte_count;
	grant->access = binding->access & WINDOW_RIGHTS;
	grant->qpn = qpn;
	grant->kind = KEY_WINDOW_OF_DOMAIN;
	window->region = region;
	region->window_count++;
	if (window->type == WINDOW_TYPE_2) {
		grant->kind = KEY_WINDOW_OF_QP;
		list_append(&memory->qp_windows, &window->link);
	}
	memory_tell_granted(memory, grant);
}

bool window_bind(struct memory *memory, const struct protection_domain *pd, uint32_t qpn,
		 const struct window_binding *binding)
{
	struct window *window = find_window(memory, binding->key);

	if (!window || window->grant.pd != pd || !state_allows_bind(window, binding))
		return false;
	/* A zero-length bind needs no region: it unbinds type 1. */
	if (!binding->byte_count) {
		unbind(memory, window);
		window->grant.key = binding->key;
		return true;
	}

	struct region *region = memory_find(memory, binding->region_key);

	if (!region || region->pd != pd || !rights_allow_bind(region, binding->access) ||
	    !region_covers(region, binding->address, binding->byte_count))
		return false;
	set_grant(memory, window, region, qpn, binding);
	return true;
}

bool window_invalidate(struct memory *memory, const struct protection_domain *pd, uint32_t qpn,
		       uint32_t key)
{
	struct window *window = find_window(memory, key);

	if (!window || window->grant.key != key || window->grant.kind != KEY_WINDOW_OF_QP ||
	    window->grant.pd != pd || window->grant.qpn != qpn)
		return false;
	unbind(memory, window);
	return true;
}

void windows_forget_qp(struct memory *memory, uint32_t qpn)
{
	list_for_each_safe (link, &memory->qp_windows) {
		struct window *window = container_of(link, struct window, link);

		if (window->grant.qpn == qpn)
			unbind(memory, window);
	}
}
