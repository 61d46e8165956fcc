/* SPDX-License-Identifier: Apache-2.0 */
/* Memory regions, their keys and the checks on them (vol 1, chapter 10; transport 7.1, 7.2). */
#include "net/memory/memory.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { KEY_INDEX_FIRST = 1, KEY_INDEX_LAST = 0xfffffe };

void memory_init(struct memory *memory, uint32_t region_count_max)
{
	index_table_init(&memory->regions);
	list_init(&memory->qp_windows);
	memory->window_count = 0;
	memory->next_index = KEY_INDEX_FIRST;
	memory->region_count_max = region_count_max;
	memory->next_tag = 1;
	memory->observer = NULL;
	memory->epoch = NULL;
	memory->gaps = NULL;
}

void memory_release(struct memory *memory)
{
	for (uint32_t index = KEY_INDEX_FIRST; memory->regions.count && index <= KEY_INDEX_LAST;
	     index++) {
		struct region *region = index_table_get(&memory->regions, index);

		if (region) {
			memory_tell_revoked(memory, region);
			region->pd->users--;
			index_table_remove(&memory->regions, index);
			free(region);
		}
	}
	index_table_release(&memory->regions);
}

void memory_begin_keys(struct memory *memory, uint32_t seed)
{
	memory->next_index =
		KEY_INDEX_FIRST + seed % (uint32_t)(KEY_INDEX_LAST - KEY_INDEX_FIRST + 1);
}

static bool access_is_valid(uint32_t access)
{
	if (access & ~(uint32_t)(ACCESS_KNOWN | ACCESS_OPTIONAL))
		return false;
	/* HUGETLB is allowed with ON_DEMAND only (transport 7.1). */
	if ((access & ACCESS_HUGE_PAGES) && !(access & ACCESS_ON_DEMAND))
		return false;
	return !(access & (ACCESS_REMOTE_WRITE | ACCESS_REMOTE_ATOMIC)) ||
	       (access & ACCESS_LOCAL_WRITE);
}

/* Indexes are used round robin, so that a stale key finds an empty slot for as long as possible. */
static uint32_t free_index(const struct memory *memory)
{
	uint32_t index = memory->next_index;

	for (uint32_t tries = 0; tries <= memory->regions.count; tries++) {
		if (!index_table_get(&memory->regions, index))
			return index;
		index = index == KEY_INDEX_LAST ? KEY_INDEX_FIRST : index + 1;
	}
	return 0;
}

int memory_add(struct memory *memory, struct region *region)
{
	uint32_t index = free_index(memory);

	if (!index)
		return -ENOMEM;

	int error = index_table_put(&memory->regions, index, region);

	if (error)
		return error;
	region->key = index << KEY_TAG_BITS | memory->next_tag;
	memory->next_index = index == KEY_INDEX_LAST ? KEY_INDEX_FIRST : index + 1;
	memory->next_tag++;
	region->pd->users++;
	memory_tell_granted(memory, region);
	return 0;
}

void memory_remove(struct memory *memory, struct region *region)
{
	memory_tell_revoked(memory, region);
	index_table_remove(&memory->regions, region->key >> KEY_TAG_BITS);
	region->pd->users--;
}

static int add_region(struct memory *memory, const struct region *template,
		      struct region **ret_region)
{
	if (memory->regions.count - memory->window_count >= memory->region_count_max)
		return -ENOMEM;

	struct region *region = malloc(sizeof(*region));

	if (!region)
		return -ENOMEM;
	*region = *template;

	int error = memory_add(memory, region);

	if (error) {
		free(region);
		return error;
	}
	*ret_region = region;
	return 0;
}

int region_register(struct memory *memory, struct protection_domain *pd, void *bytes,
		    uint64_t byte_count, uint64_t iova, uint32_t access, struct region **ret_region)
{
	const struct region region = {
		.pd = pd,
		.bytes = bytes,
		.iova = access & ACCESS_ZERO_BASED ? 0 : iova,
		.byte_count = byte_count,
		.access = access,
		.kind = KEY_REGION,
	};

	return access_is_valid(access) ? add_region(memory, &region, ret_region) : -EINVAL;
}

int region_register_as(struct memory *memory, struct protection_domain *pd,
		       const struct region *region, uint32_t key, struct region **ret_region)
{
	struct region template = *region;
	uint32_t next_index = memory->next_index;
	uint8_t next_tag = memory->next_tag;
	uint32_t index = key >> KEY_TAG_BITS;
	bool is_free = index >= KEY_INDEX_FIRST && index <= KEY_INDEX_LAST &&
		       !index_table_get(&memory->regions, index);

	template.pd = pd;
	template.kind = KEY_REGION;
	if (is_free) {
		memory->next_index = index;
		memory->next_tag = (uint8_t)key;
	}

	int error = access_is_valid(template.access) ? add_region(memory, &template, ret_region)
						     : -EINVAL;

	if (is_free) {
		memory->next_index = next_index;
		memory->next_tag = next_tag;
	}
	return error;
}

int region_register_null(struct memory *memory, struct protection_domain *pd, void *zeros,
			 struct region **ret_region)
{
	const struct region region = {
		.pd = pd,
		.bytes = zeros,
		.byte_count = UINT64_MAX,
		.access = ACCESS_LOCAL_WRITE,
		.kind = KEY_NULL_REGION,
	};

	return add_region(memory, &region, ret_region);
}

int region_deregister(struct memory *memory, struct region *region)
{
	if (region->window_count)
		return -EBUSY;
	memory_remove(memory, region);
	free(region);
	return 0;
}

void regions_swap(struct memory *memory, struct region *region, struct region *other)
{
	struct region before = *region;

	memory_tell_revoked(memory, region);
	memory_tell_revoked(memory, other);
	*region = *other;
	region->key = before.key;
	before.key = other->key;
	*other = before;
	memory_tell_granted(memory, region);
	memory_tell_granted(memory, other);
}

static struct region *find(const struct memory *memory, uint32_t key)
{
	struct region *region = index_table_get(&memory->regions, key >> KEY_TAG_BITS);

	return region && region->key == key ? region : NULL;
}

struct region *memory_find(const struct memory *memory, uint32_t key)
{
	struct region *region = find(memory, key);

	return region && region->kind <= KEY_NULL_REGION ? region : NULL;
}

bool region_covers(const struct region *region, uint64_t address, uint64_t byte_count)
{
	if (region->byte_count == UINT64_MAX)
		return address + byte_count >= address;
	if (address < region->iova || address - region->iova > region->byte_count)
		return false;
	return byte_count <= region->byte_count - (address - region->iova);
}

/* The checks that all keys share. */
static enum memory_verdict check_range(const struct region *region,
				       const struct protection_domain *pd, uint64_t address,
				       uint64_t byte_count, uint32_t access, uint8_t **ret_bytes)
{
	if (region->pd != pd)
		return MEMORY_BAD_PD;
	if ((region->access & access) != access)
		return MEMORY_BAD_RIGHTS;
	if (!region_covers(region, address, byte_count))
		return MEMORY_BAD_BOUNDS;
	if (unlikely(region->guard) &&
	    __atomic_load_n(region->guard, __ATOMIC_ACQUIRE) != region->guard_value)
		return MEMORY_BAD_KEY;
	*ret_bytes = (uint8_t *)((uintptr_t)region->bytes + (uintptr_t)(address - region->iova));
	return MEMORY_OK;
}

enum memory_verdict memory_resolve(const struct memory *memory, const struct protection_domain *pd,
				   uint32_t key, uint64_t address, uint64_t byte_count,
				   uint32_t access, uint8_t **ret_bytes)
{
	const struct region *region = memory_find(memory, key);

	if (unlikely(!region))
		return MEMORY_BAD_KEY;

	enum memory_verdict verdict =
		check_range(region, pd, address, byte_count, access, ret_bytes);

	/* Every address of a null region maps to the same bytes. */
	if (unlikely(region->kind == KEY_NULL_REGION) && verdict == MEMORY_OK)
		*ret_bytes = access & ACCESS_LOCAL_WRITE ? NULL : region->bytes;
	return verdict;
}

enum memory_verdict memory_resolve_remote(const struct memory *memory,
					  const struct protection_domain *pd, uint32_t qpn,
					  uint32_t key, uint64_t address, uint64_t byte_count,
					  uint32_t access, uint8_t **ret_bytes)
{
	const struct region *region = find(memory, key);

	return region ? region_resolve_remote(region, pd, qpn, address, byte_count, access,
					      ret_bytes)
		      : MEMORY_BAD_KEY;
}

enum memory_verdict region_resolve_remote(const struct region *region,
					  const struct protection_domain *pd, uint32_t qpn,
					  uint64_t address, uint64_t byte_count, uint32_t access,
					  uint8_t **ret_bytes)
{
	if (region->kind == KEY_WINDOW_FREE)
		return MEMORY_BAD_KEY;
	if (region->kind == KEY_WINDOW_OF_QP && region->qpn != qpn)
		return MEMORY_BAD_PD;
	return check_range(region, pd, address, byte_count, access, ret_bytes);
}
