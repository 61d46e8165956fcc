/* SPDX-License-Identifier: Apache-2.0 */
/* A peer's memory, as its exposure lets this process reach it: what is allowed there, and the
 * moving of bytes (ipc/rma_area.h). */
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
	PEER_MEMORY_LENGTHS = 6, /* 2 MiB, up to 4, up to 8, ... */
};

struct rkey_export_header;
struct rma_grant;
struct published_key;
struct published_view;
struct bypass;

struct peer_memory {
	const struct rkey_export_header *header;
	const struct published_key *keys;
	uint8_t *shared;   /* the shared part of its exposure */
	struct cma memory; /* closed until it is tried, and where it is not allowed */
	bool has_tried;
	/* Of the shared part: what this process has mapped already, in windows. */
	bool is_mapped[RKEY_EXPORT_SHARED_BYTES / PEER_MEMORY_BLOCK_BYTES];
	struct copy_method writes[PEER_MEMORY_LENGTHS], reads[PEER_MEMORY_LENGTHS]; /* by length */
};

/* The file stays the caller's. false: it is none. */
MUST_USE bool peer_memory_open(struct peer_memory *peer_memory, int rkey_export_file);
void peer_memory_close(struct peer_memory *peer_memory);
/* Looks once whether the system lets us at what is not shared. */
void peer_memory_try(struct peer_memory *peer_memory);

struct peer_request {
	uint32_t key;
	uint32_t access; /* one right: what it does */
	uint64_t address;
	uint32_t byte_count;
};

/* Where a request acts. */
struct peer_target {
	uint64_t address; /* in the peer */
	uint8_t *shared;  /* here; NULL: that is not shared */
};

/* What the responder would check, by what it published; false also where we can't get there. The
 * view is the caller's memory of the key that it used last. */
MUST_USE bool peer_memory_allows(const struct peer_memory *peer_memory,
				 const struct rma_grant *grant, struct published_view *view,
				 const struct peer_request *request,
				 struct peer_target *ret_target);

/* Does the next piece of what is asked, from offset on. */
MUST_USE bool peer_memory_move(struct peer_memory *peer_memory, const struct bypass *bypass,
			       const struct peer_target *target, size_t offset,
			       size_t *ret_byte_count);

#endif
