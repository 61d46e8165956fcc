/* SPDX-License-Identifier: Apache-2.0 */
/* This process's exposure: the published keys, and waiting for those who use them. */
#include "runtime/rma/rkey_export.h"

#include <errno.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>
#include "runtime/rma/shared_mr.h"
#include "runtime/runtime_state.h"
#include "runtime/rma/cma.h"
#include "runtime/rma/pinned_range.h"
#include "ipc/rma_area.h"
#include "runtime/process_fence.h"
#include "runtime/zcopy/zcopy_send.h"
#include "runtime/zcopy/ud_zcopy.h"

/* A peer leaves within microseconds, unless it lost its core. */
enum { SPINS_BEFORE_YIELD = 200 };

int exposure_open(struct exposure *exposure, int file)
{
	struct exposure_layout layout = exposure_layout();
	struct stat status;
	uint64_t nonce;

	*exposure = (struct exposure){.file = file, .adopted = malloc(sizeof(*exposure->adopted))};
	if (!exposure->adopted)
		return -ENOMEM;
	adopted_memory_init(exposure->adopted, file);
	if (fstat(file, &status) != 0 || status.st_size != (off_t)layout.total_bytes)
		return -EPROTO;
	if (getrandom(&nonce, sizeof(nonce), 0) != (ssize_t)sizeof(nonce))
		return -EIO;

	uint8_t *memory =
		mmap(NULL, layout.shared_offset, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);

	if (memory == MAP_FAILED)
		return -errno;
	exposure->header = (struct exposure_header *)(void *)memory;
	exposure->keys = (struct published_key *)(void *)(memory + layout.keys_offset);
	*exposure->header = (struct exposure_header){
		.nonce = nonce,
		.nonce_address = cross_memory_is_allowed() ? (uintptr_t)&exposure->header->nonce : 0,
		.pid = (uint32_t)getpid(),
	};
	return 0;
}

void exposure_close(struct exposure *exposure)
{
	if (exposure->header)
		munmap(exposure->header, exposure_layout().shared_offset);
	if (exposure->file >= 0)
		close(exposure->file);
	free(exposure->adopted);
	*exposure = (struct exposure){.file = -1};
}

/* In a ring with itself the process holds its own lock. */
static bool may_be_busy(const struct channel *channel)
{
	return channel->state == CHANNEL_OPEN && channel->placed_in &&
	       channel->placed_out != channel->placed_in;
}

/* From here on peers see what was published before, and we see those that had not seen it. */
static void meet_peers(bool is_fenced)
{
	if (is_fenced)
		process_fence();
	else
		__atomic_thread_fence(__ATOMIC_SEQ_CST);
}

static void wait_until_idle(const struct channel *channel)
{
	const uint64_t *hazard = &channel->placed_in->hazard;
	uint64_t begun = __atomic_load_n(hazard, __ATOMIC_SEQ_CST);
	unsigned spins = 0;

	/* What it begins later, it begins with what is published now. A process that ended is not
	 * in the middle of anything: softibd closes its rings when its last thread is gone. */
	while (begun % 2 && __atomic_load_n(hazard, __ATOMIC_ACQUIRE) == begun &&
	       !ring_is_closed(channel->in.shared)) {
		if (++spins < SPINS_BEFORE_YIELD)
			__builtin_ia32_pause();
		else
			sched_yield();
	}
}

void exposure_wait_for(const struct channel *channel)
{
	if (!may_be_busy(channel))
		return;
	meet_peers(channel->out.is_fenced);
	wait_until_idle(channel);
}

static void exposure_wait(const struct attachment *attachment)
{
	bool has_met = false;

	for (unsigned i = 0; i < attachment->channel_count; i++) {
		if (!may_be_busy(attachment->channels[i]))
			continue;
		if (!has_met)
			meet_peers(attachment->is_fenced);
		has_met = true;
		wait_until_idle(attachment->channels[i]);
	}
}

/* Of what stands for no memory of the program's nobody needs to know. */
static bool is_memory(const struct region *region)
{
	return region->kind != KEY_WINDOW_FREE && region->kind != KEY_NULL_REGION && !region->guard;
}

/* Whether peers may act on it. What they may not, they may still pull messages from. */
static bool is_for_peers(const struct region *region)
{
	const uint32_t remote = ACCESS_REMOTE_READ | ACCESS_REMOTE_WRITE | ACCESS_REMOTE_ATOMIC;

	return region->access & remote;
}

static void key_granted(void *context, const struct region *region)
{
	const struct adapter *adapter = context;
	struct exposure *exposure = &adapter->attachment->exposure;

	if (!is_memory(region))
		return;
	/* A window is bound by whoever makes progress; a region is registered by the program. */
	uint64_t place =
		region->kind == KEY_REGION
			? adopted_memory_take(exposure->adopted, region->bytes, region->byte_count,
					      is_for_peers(region))
			: adopted_memory_find(exposure->adopted, region->bytes, region->byte_count);

	if (is_for_peers(region))
		published_keys_put(exposure->keys, adapter->description->index, region, place);
}

/* What a peer writes to pages while they are copied would be lost with what they were. */
static void set_moving(const struct exposure *exposure, bool is_moving)
{
	__atomic_store_n(&exposure->header->is_moving, is_moving, __ATOMIC_SEQ_CST);
}

static void key_revoked(void *context, const struct region *region)
{
	const struct adapter *adapter = context;
	struct attachment *attachment = adapter->attachment;
	const struct exposure *exposure = &attachment->exposure;

	/* After a fork the page is the parent's. */
	if (attachment->is_abandoned || !is_memory(region))
		return;

	const bool moves_others =
		region->kind == KEY_REGION &&
		adopted_memory_is_on_others(exposure->adopted, region->bytes, region->byte_count);
	const bool was_published =
		is_for_peers(region) &&
		published_keys_remove(exposure->keys, adapter->description->index, region->key);

	if (unlikely(moves_others))
		set_moving(exposure, true);
	if (was_published || moves_others)
		exposure_wait(attachment);
	pinned_window_end_key(adapter, region->key);
	if (region->kind != KEY_REGION)
		return;
	if (unlikely(moves_others))
		pinned_window_end_all(attachment);
	datagram_loans_take_back(attachment);
	adopted_memory_drop(exposure->adopted, region->bytes, region->byte_count,
			    is_for_peers(region));
	if (unlikely(moves_others))
		set_moving(exposure, false);
}

void exposure_end_sharing(struct attachment *attachment)
{
	struct exposure *exposure = &attachment->exposure;

	if (!exposure->header || !exposure->adopted->is_on)
		return;
	datagram_loans_take_back(attachment);
	set_moving(exposure, true);
	__atomic_store_n(&exposure->header->shared_is_off, 1, __ATOMIC_SEQ_CST);
	exposure_wait(attachment);
	pinned_window_end_all(attachment);
	adopted_memory_end(exposure->adopted);
	set_moving(exposure, false);
}

/* A process has one attachment. */
static struct attachment *exposed;

static bool is_lent(void *context, const uint8_t *bytes, size_t byte_count)
{
	return pull_lane_lends(context, bytes, byte_count);
}

static void before_thread(void)
{
	attachment_lock(exposed);
	if (!exposed->is_abandoned)
		exposure_end_sharing(exposed);
	attachment_unlock(exposed);
}

void exposure_watch(struct adapter *adapter)
{
	struct attachment *attachment = adapter->attachment;

	if (!attachment->exposure.header)
		return;
	exposed = attachment;
	attachment->exposure.adopted->is_lent = is_lent;
	attachment->exposure.adopted->context = attachment;
	if (attachment->exposure.adopted->is_on && !adopted_memory_hear_of_threads(before_thread))
		exposure_end_sharing(attachment);
	adapter->key_observer = (struct memory_observer){key_granted, key_revoked, adapter};
	adapter->hca.memory.observer = &adapter->key_observer;
}
