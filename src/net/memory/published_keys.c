/* SPDX-License-Identifier: Apache-2.0 */
/* The keys of a process and their regions, in memory that its peers can read. */
#include "net/memory/published_keys.h"

/* Indexes are assigned one after the other, so keys of about the same age are neighbours here. */
static unsigned place_of(unsigned adapter_index, uint32_t key)
{
	return ((key >> KEY_TAG_BITS) + adapter_index * (PUBLISHED_KEYS / 8 + 1)) &
	       (PUBLISHED_KEYS - 1);
}

#define STORE(member, value) __atomic_store_n(&entry->member, (value), __ATOMIC_RELAXED)
#define LOAD(member)	     __atomic_load_n(&entry->member, __ATOMIC_RELAXED)

static void begin(struct published_key *entry)
{
	__atomic_store_n(&entry->sequence, entry->sequence + 1, __ATOMIC_SEQ_CST);
}

static void end(struct published_key *entry)
{
	__atomic_store_n(&entry->sequence, entry->sequence + 1, __ATOMIC_SEQ_CST);
}

bool published_keys_put(struct published_key *keys, unsigned adapter_index,
			const struct region *region, uint64_t shared_place)
{
	struct published_key *entry = &keys[place_of(adapter_index, region->key)];

	if (entry->key && (entry->key >> KEY_TAG_BITS != region->key >> KEY_TAG_BITS ||
			   entry->adapter_index != adapter_index))
		return false;
	begin(entry);
	STORE(key, region->key);
	STORE(pd, (uintptr_t)region->pd);
	STORE(bytes, (uintptr_t)region->bytes);
	STORE(iova, region->iova);
	STORE(byte_count, region->byte_count);
	STORE(access, region->access);
	STORE(qpn, region->qpn);
	STORE(kind, (uint16_t)region->kind);
	STORE(adapter_index, (uint16_t)adapter_index);
	STORE(shared_place, shared_place);
	end(entry);
	return true;
}

bool published_keys_remove(struct published_key *keys, unsigned adapter_index, uint32_t key)
{
	struct published_key *entry = &keys[place_of(adapter_index, key)];

	if (entry->key != key || entry->adapter_index != adapter_index)
		return false;
	begin(entry);
	STORE(key, 0);
	end(entry);
	return true;
}

bool published_keys_read(const struct published_key *keys, unsigned adapter_index, uint32_t key,
			 struct published_view *ret_view)
{
	const struct published_key *entry = &keys[place_of(adapter_index, key)];
	uint32_t sequence = __atomic_load_n(&entry->sequence, __ATOMIC_ACQUIRE);
	struct published_view view = {
		.entry = entry,
		.sequence = sequence,
		.region =
			{
				.pd = (struct protection_domain *)(uintptr_t)LOAD(pd),
				.bytes = (uint8_t *)(uintptr_t)LOAD(bytes),
				.iova = LOAD(iova),
				.byte_count = LOAD(byte_count),
				.access = LOAD(access),
				.key = LOAD(key),
				.qpn = LOAD(qpn),
				.kind = (enum key_kind)LOAD(kind),
			},
		.shared_place = LOAD(shared_place),
	};
	bool is_for = view.region.key == key && LOAD(adapter_index) == adapter_index;

	__atomic_thread_fence(__ATOMIC_ACQUIRE);
	if (sequence % 2 || __atomic_load_n(&entry->sequence, __ATOMIC_RELAXED) != sequence)
		return false;
	if (!is_for || !key || view.region.kind > KEY_WINDOW_OF_QP)
		return false;
	*ret_view = view;
	return true;
}
