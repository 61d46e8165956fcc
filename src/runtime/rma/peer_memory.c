/* SPDX-License-Identifier: Apache-2.0 */
/* A peer's memory: access checks by its exported rkeys, and moving the bytes. */
#include "runtime/rma/peer_memory.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include "runtime/rma/shared_mr.h"
#include "runtime/runtime_state.h"
#include "runtime/memory/memory_guard.h"
#include "ipc/rma_area.h"
#include "runtime/rma/stream_copy.h"
#include "net/transport/payload_scatter.h"
#include "net/transport/rma/rma_bypass.h"
#include "net/transport/work_request.h"

enum {
	/* A peer that revokes a key waits for one piece at most. */
	PIECE_BYTES = 1 << 20,
	PARTS_MAX = 64,
	/* Longer messages do not fit into a core's own cache beside the rest of the program's data.
	 */
	LONG_BYTES_MIN = 2 << 20,
	LAST_BYTES = 64,
};

bool peer_memory_open(struct peer_memory *peer_memory, int rkey_export_file)
{
	struct rkey_export_layout layout = rkey_export_layout();
	struct stat status;

	*peer_memory = (struct peer_memory){.memory.file = -1};
	if (fstat(rkey_export_file, &status) != 0 || status.st_size != (off_t)layout.total_bytes)
		return false;

	const uint8_t *memory =
		mmap(NULL, layout.shared_offset, PROT_READ, MAP_SHARED, rkey_export_file, 0);
	void *shared = mmap(NULL, RKEY_EXPORT_SHARED_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED,
			    rkey_export_file, (off_t)layout.shared_offset);

	if (memory != MAP_FAILED && shared != MAP_FAILED) {
		peer_memory->header = (const struct rkey_export_header *)(const void *)memory;
		peer_memory->keys =
			(const struct published_key *)(const void *)(memory + layout.keys_offset);
		peer_memory->shared = shared;
		return true;
	}
	if (memory != MAP_FAILED)
		munmap((void *)(uintptr_t)memory, layout.shared_offset);
	if (shared != MAP_FAILED)
		munmap(shared, RKEY_EXPORT_SHARED_BYTES);
	return false;
}

void peer_memory_close(struct peer_memory *peer_memory)
{
	cma_close(&peer_memory->memory);
	munmap((void *)(uintptr_t)peer_memory->header, rkey_export_layout().shared_offset);
	munmap(peer_memory->shared, RKEY_EXPORT_SHARED_BYTES);
}

/* A refusal is no error: the requests go by packets. */
void peer_memory_try(struct peer_memory *peer_memory)
{
	if (peer_memory->has_tried)
		return;
	peer_memory->has_tried = true;
	if (cma_is_allowed() && peer_memory->header->nonce_address &&
	    cma_open(&peer_memory->memory, (pid_t)peer_memory->header->pid,
		     peer_memory->header->nonce, peer_memory->header->nonce_address) != 0)
		peer_memory->memory.file = -1;
	peer_memory->memory.hazard = peer_memory->hazard;
}

/* Where a part of an exported region is mapped here; NULL: it is not shared. The peer's numbers are
 * not trusted. */
static uint8_t *shared_bytes(const struct peer_memory *peer_memory,
			     const struct published_view *view, uint64_t address,
			     uint32_t byte_count)
{
	const struct region *region = &view->region;
	const uint64_t begin = shared_pages_begin((uintptr_t)region->bytes);
	const uint64_t end = shared_pages_end((uintptr_t)region->bytes, region->byte_count);

	if (!view->shared_place || view->shared_place > RKEY_EXPORT_SHARED_BYTES ||
	    address < begin || address + byte_count > end ||
	    __atomic_load_n(&peer_memory->header->shared_is_off, __ATOMIC_SEQ_CST))
		return NULL;

	const uint64_t place = view->shared_place - 1 + (address - begin);

	return place < RKEY_EXPORT_SHARED_BYTES && byte_count <= RKEY_EXPORT_SHARED_BYTES - place
		       ? peer_memory->shared + place
		       : NULL;
}

bool peer_memory_allows(const struct peer_memory *peer_memory, const struct rma_grant *grant,
			struct published_view *view, const struct peer_request *request,
			struct peer_target *ret_target)
{
	const struct protection_domain *pd = (const struct protection_domain *)(uintptr_t)grant->pd;
	uint8_t *target;

	if ((grant->access & request->access) != request->access)
		return false;
	if (unlikely(!view->entry || view->region.key != request->key ||
		     !published_view_is_current(view)) &&
	    !published_keys_read(peer_memory->keys, grant->adapter_index, request->key, view)) {
		view->entry = NULL;
		return false;
	}
	if (region_resolve_remote(&view->region, pd, grant->qpn, request->address,
				  request->byte_count, request->access, &target) != MEMORY_OK)
		return false;
	ret_target->address = (uintptr_t)target;
	ret_target->shared =
		shared_bytes(peer_memory, view, ret_target->address, request->byte_count);
	/* The responder must refuse a misaligned atomic, so such a request goes by packets. And
	 * only the processor can change a word atomically, so the word must be shared. */
	if (request->access == ACCESS_REMOTE_ATOMIC)
		return ret_target->shared && request->address % sizeof(uint64_t) == 0 &&
		       ret_target->address % sizeof(uint64_t) == 0;
	return ret_target->shared ||
	       (peer_memory->memory.file >= 0 &&
		!__atomic_load_n(&peer_memory->header->is_moving, __ATOMIC_SEQ_CST));
}

/* The spans of the local bytes that begin at offset, and how many bytes they have. */
static unsigned cut(const struct payload *payload, size_t offset, size_t byte_count,
		    struct iovec ret_parts[static PARTS_MAX], size_t *ret_byte_count)
{
	unsigned count = 0;
	size_t total = 0;

	for (uint32_t i = 0; i < payload->span_count && total < byte_count && count < PARTS_MAX;
	     i++) {
		const struct span *span = &payload->spans[i];

		if (offset >= span->byte_count) {
			offset -= span->byte_count;
			continue;
		}

		size_t piece = span->byte_count - offset;

		if (piece > byte_count - total)
			piece = byte_count - total;
		ret_parts[count++] = (struct iovec){span->bytes + offset, piece};
		total += piece;
		offset = 0;
	}
	*ret_byte_count = total;
	return count;
}

static void copy_from(const uint8_t *from, const struct iovec *parts, unsigned part_count)
{
	for (unsigned i = 0; i < part_count; i++) {
		memcpy(parts[i].iov_base, from, parts[i].iov_len);
		from += parts[i].iov_len;
	}
}

static void do_atomic(const struct bypass *bypass, uint8_t *shared)
{
	uint64_t *word = (uint64_t *)(void *)shared;
	uint64_t found = bypass->compare_or_add;
	struct iovec parts[PARTS_MAX];
	size_t byte_count;

	if (bypass->opcode == SEND_FETCH_ADD)
		found = __atomic_fetch_add(word, bypass->compare_or_add, __ATOMIC_SEQ_CST);
	else
		__atomic_compare_exchange_n(word, &found, bypass->swap, false, __ATOMIC_SEQ_CST,
					    __ATOMIC_SEQ_CST);
	copy_from((const uint8_t *)&found, parts,
		  cut(&bypass->payload, 0, sizeof(found), parts, &byte_count));
}

static bool move_far(const struct peer_memory *peer_memory, const struct bypass *bypass,
		     uint64_t address, size_t offset, size_t wanted, size_t *ret_byte_count)
{
	struct iovec parts[PARTS_MAX];
	unsigned part_count = cut(&bypass->payload, offset, wanted, parts, ret_byte_count);

	if (bypass->opcode == SEND_RDMA_READ)
		return cma_read(&peer_memory->memory, address + offset, parts, part_count,
				*ret_byte_count);
	return cma_write(&peer_memory->memory, address + offset, parts, part_count,
			 *ret_byte_count);
}

/* Touches each block of the shared part with a load before the first store. The kernel maps a page
 * that is stored to alone, which takes longer than copying it; around a page that is loaded from,
 * it maps all present pages of the block. */
static void map_blocks(struct peer_memory *peer_memory, const uint8_t *shared, size_t byte_count)
{
	size_t place = (size_t)(shared - peer_memory->shared);
	const size_t end = place + byte_count;

	while (place < end) {
		const size_t block = place / PEER_MEMORY_BLOCK_BYTES;

		if (unlikely(!peer_memory->is_mapped[block])) {
			(void)*(const volatile uint8_t *)(peer_memory->shared + place);
			peer_memory->is_mapped[block] = true;
		}
		place = (block + 1) * PEER_MEMORY_BLOCK_BYTES;
	}
}

/* Copies a part of a message with stores that bypass the caches. */
static void stream(const struct bypass *bypass, uint8_t *shared, size_t offset,
		   size_t *ret_byte_count)
{
	struct iovec parts[PARTS_MAX];
	unsigned part_count = cut(&bypass->payload, offset, *ret_byte_count, parts, ret_byte_count);

	for (unsigned i = 0; i < part_count; i++) {
		if (bypass->opcode == SEND_RDMA_WRITE)
			stream_copy(parts[i].iov_base, parts[i].iov_len, shared);
		else
			stream_copy(shared, parts[i].iov_len, parts[i].iov_base);
		shared += parts[i].iov_len;
	}
}

static void copy(const struct bypass *bypass, uint8_t *shared, size_t offset,
		 size_t *ret_byte_count)
{
	struct iovec parts[PARTS_MAX];

	if (bypass->opcode == SEND_RDMA_WRITE)
		payload_write(&bypass->payload, offset, *ret_byte_count, shared);
	else if (bypass->opcode == SEND_RDMA_READ)
		copy_from(shared, parts,
			  cut(&bypass->payload, offset, *ret_byte_count, parts, ret_byte_count));
	else
		do_atomic(bypass, shared);
}

static struct copy_method *trials_of(struct peer_memory *peer_memory, const struct bypass *bypass)
{
	unsigned length = 0;

	while (length < PEER_MEMORY_LENGTHS - 1 && bypass->byte_count > (uint64_t)LONG_BYTES_MIN
										<< length)
		length++;
	return bypass->opcode == SEND_RDMA_READ ? &peer_memory->reads[length]
						: &peer_memory->writes[length];
}

/* Copies a part of a message that does not fit into a core's own cache. */
static void copy_long(struct peer_memory *peer_memory, const struct bypass *bypass, uint8_t *shared,
		      size_t offset, size_t *ret_byte_count)
{
	struct copy_method *trials = trials_of(peer_memory, bypass);
	const time_ns begin = runtime_now();

	/* The last bytes of a WRITE go by the normal copy, which writes them last: programs watch
	 * them. */
	if (trials->way == COPY_PAST_CACHE && *ret_byte_count > LAST_BYTES) {
		*ret_byte_count -= LAST_BYTES;
		stream(bypass, shared, offset, ret_byte_count);
	} else {
		copy(bypass, shared, offset, ret_byte_count);
	}
	copy_method_note(trials, bypass->byte_count, *ret_byte_count, runtime_now() - begin);
}

bool peer_memory_move(struct peer_memory *peer_memory, const struct bypass *bypass,
		      const struct peer_target *target, size_t offset, size_t *ret_byte_count)
{
	size_t wanted = bypass->byte_count - offset;

	if (wanted > PIECE_BYTES)
		wanted = PIECE_BYTES;
	if (!target->shared)
		return move_far(peer_memory, bypass, target->address, offset, wanted,
				ret_byte_count);
	*ret_byte_count = wanted;
	if (bypass->opcode == SEND_RDMA_WRITE)
		map_blocks(peer_memory, target->shared + offset, wanted);
	if (bypass->byte_count >= LONG_BYTES_MIN)
		copy_long(peer_memory, bypass, target->shared + offset, offset, ret_byte_count);
	else
		copy(bypass, target->shared + offset, offset, ret_byte_count);
	return bypass->opcode != SEND_RDMA_WRITE || !memory_guard_has_gaps();
}
