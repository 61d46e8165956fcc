/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Short WRITEs to pages that the peer has pinned for us (runtime/rma/pinned_range.h): the kernel's
 * ring of the peer's reads them from a pipe of ours.
 *
 * Nothing is written into the pipe. It holds pages of our own, which are read in order, as they are
 * when they are read: the bytes are put where the pipe goes on, and pages that have been read are
 * given to it again.
 */
#ifndef SOFTIB_RUNTIME_RMA_PINNED_WRITE_H
#define SOFTIB_RUNTIME_RMA_PINNED_WRITE_H

#include <stdbool.h>
#include <stdint.h>
#include "base/attributes.h"
#include "runtime/rma/kernel_ring.h"
#include "ipc/rma_area.h"

struct channel;
struct rma;
struct peer_memory;

enum {
	/* Longer ones are as quick, or quicker, without. */
	PINNED_WRITE_BYTES_MAX = 12288,
	PINNED_CANDIDATES = 16,
};

/* What a WRITE needs, if the rules allow it: between hazard_begin and hazard_end. */
struct pinned_request {
	const uint8_t *bytes;
	uint32_t byte_count; /* not 0, PINNED_WRITE_BYTES_MAX at most */
	uint32_t key;
	uint64_t key_id;  /* of what the key stands for now */
	uint64_t address; /* in the peer */
};

enum pinned_state {
	PINNED_UNKNOWN, /* nobody has asked yet */
	PINNED_CLOSED,	/* there is no ring of the peer's yet */
	PINNED_OPEN,
	PINNED_OFF, /* for good */
};

/* Of the peer's windows, as they were read. */
struct pinned_copy {
	uint64_t key_id;
	uint64_t begin;
	uint32_t byte_count;
	uint32_t serial; /* even: none */
};

/* A block of the peer's memory that short WRITEs went to. */
struct pinned_candidate {
	uint64_t block;
	uint32_t key;
	uint32_t count;
};

struct pinned_write {
	enum pinned_state state;
	unsigned last; /* the window that was used last */
	struct kernel_ring ring;
	int pipe; /* the end where pages go in */
	uint8_t *staging;
	uint32_t cursor;	  /* in the staging pages: where the pipe goes on */
	uint32_t asked, answered; /* numbers of questions */
	struct pinned_request asked_for;
	uint32_t refused_count; /* in a row */
	uint64_t proof;
	struct pinned_copy copies[PINNED_RANGES_MAX];
	struct pinned_candidate candidates[PINNED_CANDIDATES];
};

void pinned_write_close(struct pinned_write *pinned);
/* In the child of a fork. */
void pinned_write_abandon(struct pinned_write *pinned);

/* Returns how many of the bytes were moved, from the first on, or -EINPROGRESS: nobody knows. */
MUST_USE int pinned_write(const struct rma *rma, const struct pinned_request *request);

#endif
