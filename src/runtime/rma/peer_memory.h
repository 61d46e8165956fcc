/* SPDX-License-Identifier: Apache-2.0 */
/* A peer's memory: which accesses the peer's exported rkeys allow, and moving the bytes, in mapped
 * pages or by CMA (ipc/rma_area.h). */
#ifndef SOFTIB_RUNTIME_RMA_PEER_MEMORY_H
#define SOFTIB_RUNTIME_RMA_PEER_MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/attributes.h"
#include "runtime/rma/copy_method.h"
#include "runtime/rma/cma.h"
#include "ipc/rma_area.h"

enum {
	PEER_MEMORY_BLOCK_BYTES = 1 << 16,
	PEER_MEMORY_LENGTHS = 6, /* message lengths up to 2 MiB, up to 4 MiB, up to 8 MiB, ... */
};

struct rkey_export_header;
struct rma_grant;
struct published_key;
struct published_view;
struct bypass;

struct peer_memory {
	const struct rkey_export_header *header;
	const struct published_key *keys;
	uint8_t *shared;	/* this process's mapping of the shared part of the peer's file */
	struct cma memory;	/* closed until peer_memory_try, and where CMA is not allowed */
	const uint64_t *hazard; /* our hazard word there, for CMA; NULL: none */
	bool has_tried;
	/* Which blocks of the shared part already have page table entries in this process. */
	bool is_mapped[RKEY_EXPORT_SHARED_BYTES / PEER_MEMORY_BLOCK_BYTES];
	struct copy_method writes[PEER_MEMORY_LENGTHS], reads[PEER_MEMORY_LENGTHS]; /* by length */
};

/* Maps the peer's rkey export file; the caller keeps the file. false: it is not such a file. */
MUST_USE bool peer_memory_open(struct peer_memory *peer_memory, int rkey_export_file);
void peer_memory_close(struct peer_memory *peer_memory);
/* Finds out, once, whether the system allows CMA to this peer. */
void peer_memory_try(struct peer_memory *peer_memory);

struct peer_request {
	uint32_t key;
	uint32_t access; /* the one right that the request needs */
	uint64_t address;
	uint32_t byte_count;
};

/* Where a request acts. */
struct peer_target {
	uint64_t address; /* in the peer */
	uint8_t *shared;  /* mapped in this process; NULL: the bytes are not shared */
};

/* Makes the responder's checks from what the peer exported (transport 5.4). false: the access is
 * not allowed, or this process can't reach the memory. view caches the entry of the R_Key that the
 * caller used last. */
MUST_USE bool peer_memory_allows(const struct peer_memory *peer_memory,
				 const struct rma_grant *grant, struct published_view *view,
				 const struct peer_request *request,
				 struct peer_target *ret_target);

/* Moves the next piece of the request, from offset on. */
MUST_USE bool peer_memory_move(struct peer_memory *peer_memory, const struct bypass *bypass,
			       const struct peer_target *target, size_t offset,
			       size_t *ret_byte_count);

#endif
