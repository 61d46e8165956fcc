/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Short WRITEs to pages that the peer has pinned for us (runtime/rma/pinned_range.h): the peer's
 * io_uring reads the bytes from a pipe of ours.
 *
 * Nothing is written into the pipe. It holds references to staging pages of our own, which are read
 * in order, with the content that they have at that time. A WRITE puts its bytes where the pipe
 * reads next, and pages that have been read are put into the pipe again.
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
	/* Longer WRITEs are as fast or faster by CMA. */
	PINNED_WRITE_BYTES_MAX = 12288,
	PINNED_CANDIDATES = 16,
};

/* A WRITE that has passed the access checks, between hazard_begin and hazard_end. */
struct pinned_request {
	const uint8_t *bytes;
	uint32_t byte_count; /* not 0, PINNED_WRITE_BYTES_MAX at most */
	uint32_t key;
	uint64_t key_id;  /* names what the key stands for now (published_key_id) */
	uint64_t address; /* in the peer */
};

enum pinned_state {
	PINNED_UNKNOWN, /* nothing was asked yet */
	PINNED_CLOSED,	/* the peer has not made a ring yet */
	PINNED_OPEN,
	PINNED_OFF, /* for the life of the channel */
};

/* A copy of one of the peer's pinned ranges. */
struct pinned_copy {
	uint64_t key_id;
	uint64_t begin;
	uint32_t byte_count;
	uint32_t serial; /* even: the range is not valid */
};

/* A block of the peer's memory that received short WRITEs. */
struct pinned_candidate {
	uint64_t block;
	uint32_t key;
	uint32_t count;
};

struct pinned_write {
	enum pinned_state state;
	unsigned last; /* index of the range that was used last */
	struct kernel_ring ring;
	int pipe; /* the write end */
	uint8_t *staging;
	uint32_t cursor;	  /* in the staging pages: what the pipe reads next */
	uint32_t asked, answered; /* numbers of pin requests */
	struct pinned_request asked_for;
	uint32_t refused_count; /* in a row */
	uint64_t proof;
	struct pinned_copy copies[PINNED_RANGES_MAX];
	struct pinned_candidate candidates[PINNED_CANDIDATES];
};

void pinned_write_close(struct pinned_write *pinned);
/* In the child of a fork. */
void pinned_write_abandon(struct pinned_write *pinned);

/* Returns how many of the bytes were moved, from the first on. -EINPROGRESS: it is not known how
 * many. */
MUST_USE int pinned_write(const struct rma *rma, const struct pinned_request *request);

#endif
