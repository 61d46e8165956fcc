/* SPDX-License-Identifier: Apache-2.0 */
/* This process's exported rkeys, and waiting for the peers that use them. */
#include "runtime/rma/rkey_export.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>
#include "runtime/rma/shared_mr.h"
#include "runtime/runtime_state.h"
#include "runtime/rma/cma.h"
#include "runtime/rma/hazard_wait.h"
#include "runtime/rma/pinned_range.h"
#include "ipc/rma_area.h"
#include "runtime/zcopy/zcopy_send.h"
#include "runtime/zcopy/ud_zcopy.h"

int rkey_export_open(struct rkey_export *rkey_export, int file)
{
	struct rkey_export_layout layout = rkey_export_layout();
	struct stat status;
	uint64_t nonce;

	*rkey_export = (struct rkey_export){.file = file,
					    .shared_mr = malloc(sizeof(*rkey_export->shared_mr))};
	if (!rkey_export->shared_mr)
		return -ENOMEM;
	shared_mr_init(rkey_export->shared_mr, file);
	if (fstat(file, &status) != 0 || status.st_size != (off_t)layout.total_bytes)
		return -EPROTO;
	if (getrandom(&nonce, sizeof(nonce), 0) != (ssize_t)sizeof(nonce))
		return -EIO;

	uint8_t *memory =
		mmap(NULL, layout.shared_offset, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);

	if (memory == MAP_FAILED)
		return -errno;
	rkey_export->header = (struct rkey_export_header *)(void *)memory;
	rkey_export->keys = (struct published_key *)(void *)(memory + layout.keys_offset);
	*rkey_export->header = (struct rkey_export_header){
		.nonce = nonce,
		.nonce_address = cma_is_allowed() ? (uintptr_t)&rkey_export->header->nonce : 0,
		.pid = (uint32_t)getpid(),
	};
	return 0;
}

void rkey_export_close(struct rkey_export *rkey_export)
{
	if (rkey_export->header)
		munmap(rkey_export->header, rkey_export_layout().shared_offset);
	if (rkey_export->file >= 0)
		close(rkey_export->file);
	free(rkey_export->shared_mr);
	*rkey_export = (struct rkey_export){.file = -1};
}

static void move_all_back(struct process_runtime *runtime);

/* Afterwards no access reaches what was revoked before the call. */
static void wait_for(struct process_runtime *runtime, struct channel *const channels[],
		     unsigned count, bool is_fenced)
{
	if (unlikely(hazard_wait(channels, count, is_fenced)))
		move_all_back(runtime);
}

static void wait_for_all(struct process_runtime *runtime)
{
	wait_for(runtime, runtime->direct.channels, runtime->direct.count, runtime->is_fenced);
}

/* A key that stands for no memory of the program need not be exported. */
static bool is_memory(const struct region *region)
{
	return region->kind != KEY_WINDOW_FREE && region->kind != KEY_NULL_REGION && !region->guard;
}

/* Whether the key gives peers any right. Peers may still copy zcopy payloads from a region that
 * gives none. */
static bool is_for_peers(const struct region *region)
{
	const uint32_t remote = ACCESS_REMOTE_READ | ACCESS_REMOTE_WRITE | ACCESS_REMOTE_ATOMIC;

	return region->access & remote;
}

static void key_granted(void *context, const struct region *region)
{
	const struct adapter *adapter = context;
	struct rkey_export *rkey_export = &adapter->runtime->rkey_export;

	if (!is_memory(region))
		return;
	/* The thread that makes progress binds a memory window, but the program itself registers a
	 * region. Only the latter may move pages. */
	uint64_t place =
		region->kind == KEY_REGION
			? shared_mr_take(rkey_export->shared_mr, region->bytes, region->byte_count,
					 is_for_peers(region))
			: shared_mr_find(rkey_export->shared_mr, region->bytes, region->byte_count);

	if (is_for_peers(region))
		published_keys_put(rkey_export->keys, adapter->description->index, region, place);
}

/* While this is set peers do not write by CMA. A write to a page while it is copied would be lost.
 */
static void set_moving(const struct rkey_export *rkey_export, bool is_moving)
{
	__atomic_store_n(&rkey_export->header->is_moving, is_moving, __ATOMIC_SEQ_CST);
}

static void key_revoked(void *context, const struct region *region)
{
	const struct adapter *adapter = context;
	struct process_runtime *runtime = adapter->runtime;
	const struct rkey_export *rkey_export = &runtime->rkey_export;

	/* After a fork the shared page belongs to the parent. */
	if (runtime->is_abandoned || !is_memory(region))
		return;

	const bool moves_others =
		region->kind == KEY_REGION &&
		shared_mr_is_on_others(rkey_export->shared_mr, region->bytes, region->byte_count);
	/* Peers can write to the table: whether the key is there says nothing of who uses it. */
	const bool was_for_peers = is_for_peers(region);

	if (was_for_peers)
		published_keys_remove(rkey_export->keys, adapter->description->index, region->key);

	if (unlikely(moves_others)) {
		set_moving(rkey_export, true);
		pinned_range_withdraw_all(runtime);
	}
	if (was_for_peers || moves_others)
		wait_for_all(runtime);
	pinned_range_end_key(adapter, region->key);
	if (region->kind != KEY_REGION)
		return;
	if (unlikely(moves_others))
		pinned_range_end_all(runtime);
	ud_zcopies_take_back(runtime);
	shared_mr_drop(rkey_export->shared_mr, region->bytes, region->byte_count,
		       is_for_peers(region));
	if (unlikely(moves_others))
		set_moving(rkey_export, false);
}

/* Shares no more pages. A peer that was cut off may still write to their place in the file, so it
 * is never used again. */
static void move_all_back(struct process_runtime *runtime)
{
	struct rkey_export *rkey_export = &runtime->rkey_export;

	if (!rkey_export->header)
		return;
	ud_zcopies_take_back(runtime);
	set_moving(rkey_export, true);
	__atomic_store_n(&rkey_export->header->shared_is_off, 1, __ATOMIC_SEQ_CST);
	pinned_range_withdraw_all(runtime);
	/* A peer that is cut off only now loses the same pages. */
	(void)!hazard_wait(runtime->direct.channels, runtime->direct.count, runtime->is_fenced);
	pinned_range_end_all(runtime);
	shared_mr_end(rkey_export->shared_mr);
	set_moving(rkey_export, false);
}

void rkey_export_end_sharing(struct process_runtime *runtime)
{
	if (runtime->rkey_export.header && runtime->rkey_export.shared_mr->is_on)
		move_all_back(runtime);
}

/* A process has one runtime. */
static struct process_runtime *exposed;

void rkey_export_wait_for(struct channel *channel)
{
	wait_for(exposed, &channel, 1, channel->out.is_fenced);
}

void rkey_export_wait_for_all(struct process_runtime *runtime)
{
	wait_for_all(runtime);
}

static bool is_external(void *context, const uint8_t *bytes, size_t byte_count)
{
	return zcopy_is_sending_from(context, bytes, byte_count);
}

static void before_thread(void)
{
	runtime_lock(exposed);
	if (!exposed->is_abandoned)
		rkey_export_end_sharing(exposed);
	runtime_unlock(exposed);
}

void rkey_export_watch(struct adapter *adapter)
{
	struct process_runtime *runtime = adapter->runtime;

	if (!runtime->rkey_export.header)
		return;
	exposed = runtime;
	runtime->rkey_export.shared_mr->is_external = is_external;
	runtime->rkey_export.shared_mr->context = runtime;
	if (runtime->rkey_export.shared_mr->is_on && !shared_mr_hear_of_threads(before_thread))
		rkey_export_end_sharing(runtime);
	adapter->key_observer = (struct memory_observer){key_granted, key_revoked, adapter};
	adapter->hca.memory.observer = &adapter->key_observer;
}
