/* SPDX-License-Identifier: Apache-2.0 */
/* Pages of this process that a peer writes to by the kernel's ring. */
#include "runtime/rma/pinned_range.h"

#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>
#include "runtime/runtime_state.h"
#include "runtime/rma/cma.h"
#include "runtime/rma/rkey_export.h"
#include "runtime/rma/kernel_ring.h"
#include "ipc/rma_area.h"
#include "runtime/rma/rma_state.h"

static_assert((int)PINNED_WINDOWS_MAX <= (int)KERNEL_RING_BUFFERS, "each has a buffer");

enum {
	/* Of all channels. The limit is the user's, for all that he runs. */
	PINNED_BYTES_MAX = 1 << 20,
	PART_OF_LIMIT = 8,
	RINGS_MAX = 64, /* files of the program's */
};

struct pin {
	const struct adapter *adapter; /* NULL: none */
	uint32_t key;
	uint32_t byte_count; /* of whole pages */
};

struct pin_table {
	int ring;
	struct pin pins[PINNED_WINDOWS_MAX];
};

static void set_serial(struct pinned_window *shared, uint32_t serial)
{
	__atomic_store_n(&shared->serial, serial, __ATOMIC_SEQ_CST);
}

static void withdraw(const struct channel *channel, unsigned index)
{
	struct pinned_window *shared = &channel->placed_in->pinned.windows[index];

	set_serial(shared, (shared->serial | 1) + 1);
}

/* Nobody uses it any more. */
static void end(struct attachment *attachment, struct channel *channel, unsigned index)
{
	struct pin *pin = &channel->pins->pins[index];

	/* Where it fails the pages stay, which costs memory only. */
	(void)!kernel_ring_unpin(channel->pins->ring, index);
	attachment->pinned_bytes -= pin->byte_count;
	pin->adapter = NULL;
}

static bool has_pins(const struct channel *channel)
{
	/* The child of a fork leaves its parent's alone. */
	return channel->pins && channel->placed_in;
}

void pinned_window_end_key(const struct adapter *adapter, uint32_t key)
{
	struct attachment *attachment = adapter->attachment;

	if (likely(!attachment->pinned_bytes))
		return;
	for (unsigned i = 0; i < attachment->channel_count; i++) {
		struct channel *channel = attachment->channels[i];

		for (unsigned index = 0; has_pins(channel) && index < PINNED_WINDOWS_MAX; index++) {
			const struct pin *pin = &channel->pins->pins[index];

			if (pin->adapter != adapter || pin->key != key)
				continue;
			withdraw(channel, index);
			end(attachment, channel, index);
		}
	}
}

static void end_those_of(struct attachment *attachment, struct channel *channel)
{
	bool any = false;

	if (!has_pins(channel))
		return;
	for (unsigned index = 0; index < PINNED_WINDOWS_MAX; index++) {
		if (!channel->pins->pins[index].adapter)
			continue;
		withdraw(channel, index);
		any = true;
	}
	if (any)
		exposure_wait_for(channel);
	for (unsigned index = 0; any && index < PINNED_WINDOWS_MAX; index++)
		if (channel->pins->pins[index].adapter)
			end(attachment, channel, index);
}

void pinned_window_end_all(struct attachment *attachment)
{
	if (likely(!attachment->pinned_bytes))
		return;
	for (unsigned i = 0; i < attachment->channel_count; i++)
		end_those_of(attachment, attachment->channels[i]);
}

void pinned_window_close(struct attachment *attachment, struct channel *channel)
{
	if (!channel->pins)
		return;
	end_those_of(attachment, channel);
	pinned_window_abandon(channel);
	attachment->pin_ring_count--;
}

void pinned_window_abandon(struct channel *channel)
{
	if (!channel->pins)
		return;
	close(channel->pins->ring);
	free(channel->pins);
	channel->pins = NULL;
}

/* What the peer is to see before it has us write by its calls: we could do so anyway. */
static bool find_proof(struct channel *channel, uint64_t address, uint64_t *ret_proof)
{
	struct iovec here = {ret_proof, sizeof(*ret_proof)};

	if (!channel->peer)
		return false;

	struct reach *reach = &channel->peer->reach;

	reach_try(reach);
	return reach->memory.file >= 0 && !reach->memory.is_self &&
	       cross_memory_read(&reach->memory, address, &here, 1, sizeof(*ret_proof));
}

static bool open_ring(struct attachment *attachment, struct channel *channel,
		      const struct pin_ask *ask)
{
	struct pinned_windows *shared = &channel->placed_in->pinned;
	uint64_t proof;

	if (channel->pins)
		return true;
	if (attachment->pin_ring_count >= RINGS_MAX ||
	    !find_proof(channel, ask->proof_address, &proof))
		return false;

	struct pin_table *pins = calloc(1, sizeof(*pins));

	if (!pins)
		return false;
	pins->ring = kernel_ring_create();
	if (pins->ring < 0) {
		free(pins);
		return false;
	}
	channel->pins = pins;
	attachment->pin_ring_count++;
	shared->proof = proof;
	__atomic_store_n(&shared->ring_number, (uint32_t)pins->ring + 1, __ATOMIC_RELEASE);
	return true;
}

static uint64_t bytes_max(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_MEMLOCK, &limit) != 0 ||
	    limit.rlim_cur / PART_OF_LIMIT > PINNED_BYTES_MAX)
		return PINNED_BYTES_MAX;
	return limit.rlim_cur / PART_OF_LIMIT;
}

/* The part of the region that lies in the same block as the address. */
struct part {
	uint64_t begin, end;
};

static bool find_part(const struct region *region, uint64_t address, struct part *ret_part)
{
	const uint64_t begin = (uintptr_t)region->bytes;
	const uint64_t block = address & ~(uint64_t)(PINNED_WINDOW_BYTES - 1);

	if (!(region->access & ACCESS_REMOTE_WRITE) || (region->access & ACCESS_ON_DEMAND) ||
	    region->kind != KEY_REGION || region->guard || region->byte_count > SIZE_MAX - begin ||
	    address < begin || address - begin >= region->byte_count)
		return false;

	const uint64_t end = begin + region->byte_count;

	ret_part->begin = begin > block ? begin : block;
	ret_part->end = end - block < PINNED_WINDOW_BYTES ? end : block + PINNED_WINDOW_BYTES;
	return true;
}

static bool has_window(const struct pinned_windows *shared, const struct pin_table *pins,
		       uint64_t key_id, uint64_t begin)
{
	for (unsigned index = 0; index < PINNED_WINDOWS_MAX; index++)
		if (pins->pins[index].adapter && shared->windows[index].key_id == key_id &&
		    shared->windows[index].begin == begin)
			return true;
	return false;
}

static void make(struct channel *channel, const struct adapter *adapter, uint32_t key,
		 uint64_t key_id, const struct part *part)
{
	struct attachment *attachment = adapter->attachment;
	struct pin_table *pins = channel->pins;
	const uint64_t first = part->begin & ~(uint64_t)(EXPOSURE_PAGE_BYTES - 1);
	const uint64_t last =
		(part->end + EXPOSURE_PAGE_BYTES - 1) & ~(uint64_t)(EXPOSURE_PAGE_BYTES - 1);
	const uint32_t byte_count = (uint32_t)(last - first);
	unsigned index = 0;

	if (has_window(&channel->placed_in->pinned, pins, key_id, part->begin) ||
	    attachment->pinned_bytes + byte_count > bytes_max())
		return;
	while (index < PINNED_WINDOWS_MAX && pins->pins[index].adapter)
		index++;
	if (index == PINNED_WINDOWS_MAX ||
	    kernel_ring_pin(pins->ring, index, (const uint8_t *)(uintptr_t)first, byte_count) != 0)
		return;
	pins->pins[index] = (struct pin){adapter, key, byte_count};
	attachment->pinned_bytes += byte_count;

	struct pinned_window *shared = &channel->placed_in->pinned.windows[index];

	shared->key_id = key_id;
	shared->begin = part->begin;
	shared->byte_count = (uint32_t)(part->end - part->begin);
	set_serial(shared, shared->serial | 1);
}

static void pin_for(struct channel *channel, const struct adapter *adapter,
		    const struct pin_ask *ask)
{
	struct attachment *attachment = adapter->attachment;
	const struct published_key *keys = attachment->exposure.keys;
	const struct region *region = memory_find(&adapter->hca.memory, ask->key);
	struct published_view view;
	struct part part;

	/* Where peers have the pages themselves they need no other way. */
	if (!region || !find_part(region, ask->address, &part) ||
	    !published_keys_read(keys, adapter->description->index, ask->key, &view) ||
	    view.shared_place || !open_ring(attachment, channel, ask))
		return;
	make(channel, adapter, ask->key, published_key_id(keys, view.entry, view.sequence), &part);
}

void pinned_window_asked(struct attachment *attachment, struct channel *channel,
			 const struct ring_record *record)
{
	const struct adapter *adapter = attachment_adapter(attachment, record->port >> 8);
	struct pin_ask ask;

	if (!adapter || !attachment->exposure.header || !channel->placed_in ||
	    record->byte_count != sizeof(ask))
		return;
	memcpy(&ask, record->body, sizeof(ask));
	if (cross_memory_is_allowed() && kernel_ring_is_allowed())
		pin_for(channel, adapter, &ask);
	__atomic_store_n(&channel->placed_in->pinned.answered, ask.ask_number, __ATOMIC_RELEASE);
}
