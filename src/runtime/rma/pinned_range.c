/* SPDX-License-Identifier: Apache-2.0 */
/* Pinned ranges: pages of this process that a peer writes to by io_uring. */
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

static_assert((int)PINNED_RANGES_MAX <= (int)KERNEL_RING_BUFFERS, "each has a buffer");

enum {
	/* For all channels together. RLIMIT_MEMLOCK counts for all processes of the user. */
	PINNED_BYTES_MAX = 1 << 20,
	PART_OF_LIMIT = 8,
	RINGS_MAX = 64, /* each ring takes one file of the program's limit */
};

struct pin {
	const struct adapter *adapter; /* NULL: none */
	uint32_t key;
	uint32_t byte_count; /* whole pages */
};

struct pin_table {
	int ring;
	struct pin pins[PINNED_RANGES_MAX];
};

static void set_serial(struct pinned_range *shared, uint32_t serial)
{
	__atomic_store_n(&shared->serial, serial, __ATOMIC_SEQ_CST);
}

static void withdraw(const struct channel *channel, unsigned index)
{
	struct pinned_range *shared = &channel->rma_in->pinned.ranges[index];

	set_serial(shared, (shared->serial | 1) + 1);
}

/* The caller has made sure that no peer uses the range any more. */
static void end(struct process_runtime *runtime, struct channel *channel, unsigned index)
{
	struct pin *pin = &channel->pins->pins[index];

	/* If unpinning fails the pages stay pinned, which only costs memory. */
	(void)!kernel_ring_unpin(channel->pins->ring, index);
	runtime->pins.byte_count -= pin->byte_count;
	pin->adapter = NULL;
}

static bool has_pins(const struct channel *channel)
{
	/* The child of a fork must not touch its parent's shared memory. */
	return channel->pins && channel->rma_in;
}

void pinned_range_end_key(const struct adapter *adapter, uint32_t key)
{
	struct process_runtime *runtime = adapter->runtime;

	if (likely(!runtime->pins.byte_count))
		return;
	for (unsigned i = 0; i < runtime->direct.count; i++) {
		struct channel *channel = runtime->direct.channels[i];

		for (unsigned index = 0; has_pins(channel) && index < PINNED_RANGES_MAX; index++) {
			const struct pin *pin = &channel->pins->pins[index];

			if (pin->adapter != adapter || pin->key != key)
				continue;
			withdraw(channel, index);
			end(runtime, channel, index);
		}
	}
}

static void withdraw_those_of(const struct channel *channel)
{
	for (unsigned index = 0; has_pins(channel) && index < PINNED_RANGES_MAX; index++)
		if (channel->pins->pins[index].adapter)
			withdraw(channel, index);
}

static void end_those_of(struct process_runtime *runtime, struct channel *channel)
{
	for (unsigned index = 0; has_pins(channel) && index < PINNED_RANGES_MAX; index++)
		if (channel->pins->pins[index].adapter)
			end(runtime, channel, index);
}

void pinned_range_withdraw_all(struct process_runtime *runtime)
{
	if (likely(!runtime->pins.byte_count))
		return;
	for (unsigned i = 0; i < runtime->direct.count; i++)
		withdraw_those_of(runtime->direct.channels[i]);
}

void pinned_range_end_all(struct process_runtime *runtime)
{
	if (likely(!runtime->pins.byte_count))
		return;
	for (unsigned i = 0; i < runtime->direct.count; i++)
		end_those_of(runtime, runtime->direct.channels[i]);
}

void pinned_range_close(struct process_runtime *runtime, struct channel *channel)
{
	if (!channel->pins)
		return;
	withdraw_those_of(channel);
	rkey_export_wait_for(channel);
	end_those_of(runtime, channel);
	pinned_range_abandon(channel);
	runtime->pins.ring_count--;
}

void pinned_range_abandon(struct channel *channel)
{
	if (!channel->pins)
		return;
	close(channel->pins->ring);
	free(channel->pins);
	channel->pins = NULL;
}

/* Reads the proof from the peer's memory. The owner of a ring can change requests that the peer
 * submits, so the peer uses the ring only after this process has shown that it can access the
 * peer's memory anyway. */
static bool find_proof(struct channel *channel, uint64_t address, uint64_t *ret_proof)
{
	struct iovec here = {ret_proof, sizeof(*ret_proof)};

	if (!channel->peer)
		return false;

	struct peer_memory *peer_memory = &channel->peer->peer_memory;

	peer_memory_try(peer_memory);
	return peer_memory->memory.file >= 0 && !peer_memory->memory.is_self &&
	       cma_read(&peer_memory->memory, address, &here, 1, sizeof(*ret_proof));
}

static bool open_ring(struct process_runtime *runtime, struct channel *channel,
		      const struct pin_ask *ask)
{
	struct pinned_ranges *shared = &channel->rma_in->pinned;
	uint64_t proof;

	if (channel->pins)
		return true;
	if (runtime->pins.ring_count >= RINGS_MAX ||
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
	runtime->pins.ring_count++;
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

/* The part of the region in the block of PINNED_RANGE_BYTES that has the address. */
struct part {
	uint64_t begin, end;
};

static bool find_part(const struct region *region, uint64_t address, struct part *ret_part)
{
	const uint64_t begin = (uintptr_t)region->bytes;
	const uint64_t block = address & ~(uint64_t)(PINNED_RANGE_BYTES - 1);

	if (!(region->access & ACCESS_REMOTE_WRITE) || (region->access & ACCESS_ON_DEMAND) ||
	    region->kind != KEY_REGION || region->guard || region->byte_count > SIZE_MAX - begin ||
	    address < begin || address - begin >= region->byte_count)
		return false;

	const uint64_t end = begin + region->byte_count;

	ret_part->begin = begin > block ? begin : block;
	ret_part->end = end - block < PINNED_RANGE_BYTES ? end : block + PINNED_RANGE_BYTES;
	return true;
}

static bool has_window(const struct pinned_ranges *shared, const struct pin_table *pins,
		       uint64_t key_id, uint64_t begin)
{
	for (unsigned index = 0; index < PINNED_RANGES_MAX; index++)
		if (pins->pins[index].adapter && shared->ranges[index].key_id == key_id &&
		    shared->ranges[index].begin == begin)
			return true;
	return false;
}

static void make(struct channel *channel, const struct adapter *adapter, uint32_t key,
		 uint64_t key_id, const struct part *part)
{
	struct process_runtime *runtime = adapter->runtime;
	struct pin_table *pins = channel->pins;
	const uint64_t first = part->begin & ~(uint64_t)(RKEY_EXPORT_PAGE_BYTES - 1);
	const uint64_t last =
		(part->end + RKEY_EXPORT_PAGE_BYTES - 1) & ~(uint64_t)(RKEY_EXPORT_PAGE_BYTES - 1);
	const uint32_t byte_count = (uint32_t)(last - first);
	unsigned index = 0;

	if (has_window(&channel->rma_in->pinned, pins, key_id, part->begin) ||
	    runtime->pins.byte_count + byte_count > bytes_max())
		return;
	while (index < PINNED_RANGES_MAX && pins->pins[index].adapter)
		index++;
	if (index == PINNED_RANGES_MAX ||
	    kernel_ring_pin(pins->ring, index, (const uint8_t *)(uintptr_t)first, byte_count) != 0)
		return;
	pins->pins[index] = (struct pin){adapter, key, byte_count};
	runtime->pins.byte_count += byte_count;

	struct pinned_range *shared = &channel->rma_in->pinned.ranges[index];

	shared->key_id = key_id;
	shared->begin = part->begin;
	shared->byte_count = (uint32_t)(part->end - part->begin);
	set_serial(shared, shared->serial | 1);
}

static void pin_for(struct channel *channel, const struct adapter *adapter,
		    const struct pin_ask *ask)
{
	struct process_runtime *runtime = adapter->runtime;
	const struct published_key *keys = runtime->rkey_export.keys;
	const struct region *region = memory_find(&adapter->hca.memory, ask->key);
	struct published_view view;
	struct part part;

	/* Where peers map the pages themselves they need no pinned range. */
	if (!region || !find_part(region, ask->address, &part) ||
	    !published_keys_read(keys, adapter->description->index, ask->key, &view) ||
	    view.shared_place || !open_ring(runtime, channel, ask))
		return;
	make(channel, adapter, ask->key, published_key_id(keys, view.entry, view.sequence), &part);
}

void pinned_range_asked(struct process_runtime *runtime, struct channel *channel,
			const struct ring_record *record)
{
	const struct adapter *adapter = runtime_adapter(runtime, record->port >> 8);
	struct pin_ask ask;

	if (!adapter || !runtime->rkey_export.header || !channel->rma_in ||
	    channel->hazard.is_cut_off || record->byte_count != sizeof(ask))
		return;
	memcpy(&ask, record->body, sizeof(ask));
	if (cma_is_allowed() && kernel_ring_is_allowed())
		pin_for(channel, adapter, &ask);
	__atomic_store_n(&channel->rma_in->pinned.answered, ask.ask_number, __ATOMIC_RELEASE);
}
