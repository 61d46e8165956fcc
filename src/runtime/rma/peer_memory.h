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
	REACH_WINDOW_BYTES = 1 << 16,
	REACH_LENGTHS = 6, /* 2 MiB, up to 4, up to 8, ... */
};

struct exposure_header;
struct placement_grant;
struct published_key;
struct published_view;
struct shortcut;

struct reach {
	const struct exposure_header *header;
	const struct published_key *keys;
	uint8_t *shared;	    /* the shared part of its exposure */
	struct cross_memory memory; /* closed until it is tried, and where it is not allowed */
	bool has_tried;
	/* Of the shared part: what this process has mapped already, in windows. */
	bool is_mapped[EXPOSURE_SHARED_BYTES / REACH_WINDOW_BYTES];
	struct copy_trials writes[REACH_LENGTHS], reads[REACH_LENGTHS]; /* by length */
};

/* The file stays the caller's. false: it is none. */
MUST_USE bool reach_open(struct reach *reach, int exposure_file);
void reach_close(struct reach *reach);
/* Looks once whether the system lets us at what is not shared. */
void reach_try(struct reach *reach);

struct reach_request {
	uint32_t key;
	uint32_t access; /* one right: what it does */
	uint64_t address;
	uint32_t byte_count;
};

/* Where a request acts. */
struct reach_target {
	uint64_t address; /* in the peer */
	uint8_t *shared;  /* here; NULL: that is not shared */
};

/* What the responder would check, by what it published; false also where we can't get there. The
 * view is the caller's memory of the key that it used last. */
MUST_USE bool reach_allows(const struct reach *reach, const struct placement_grant *grant,
			   struct published_view *view, const struct reach_request *request,
			   struct reach_target *ret_target);

/* Does the next piece of what is asked, from offset on. */
MUST_USE bool reach_move(struct reach *reach, const struct shortcut *shortcut,
			 const struct reach_target *target, size_t offset, size_t *ret_byte_count);

#endif
