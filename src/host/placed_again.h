/* SPDX-License-Identifier: Apache-2.0 */
/*
 * WRITEs like the one before, in as few steps as they need.
 *
 * What was found about a WRITE that host/placement_lane.h carried out by plain stores is kept while
 * nothing but such WRITEs, and polls that find nothing new, happens under the lock: whoever leaves
 * the lock otherwise forgets it (attachment_unlock). What others can change without the lock is
 * asked each time: the way of the packets, the peer's grant, its key and its pages.
 *
 * There are no rules here. The peer spins on its memory: what is not asked here reaches it sooner.
 */
#ifndef SOFTIB_HOST_PLACED_AGAIN_H
#define SOFTIB_HOST_PLACED_AGAIN_H

#include <stdbool.h>
#include <stdint.h>
#include "base/attributes.h"

struct channel;
struct flow;
struct placement;
struct qp;

/* A run of memory of which requests of one length are made. */
struct again_range {
	uint64_t from, span; /* where they may begin, as keys count */
	uint8_t *bytes;	     /* where that is */
};

struct placed_again {
	struct qp *qp;	       /* NULL: none */
	const struct qp *last; /* whose WRITE was the last; only to be compared */
	struct placement *placement;
	struct flow *flow;
	const struct channel *channel;
	/* Of the request. */
	uint32_t flags; /* SEND_SIGNALED may differ */
	uint32_t byte_count;
	uint32_t local_key;	 /* these two: with SEND_INLINE any key, and all memory */
	uint32_t local_key_mask; /* the bits of it that count */
	struct again_range local;
	uint32_t remote_key;
	struct again_range remote; /* of the window (struct placement_window) */
	/* What others write, and what it has to be. */
	uint32_t generation, serial, sequence;
	const uint32_t *generation_at, *serial_at, *sequence_at;
	const uint32_t *is_off_at, *is_closed_at; /* 0 */
};

#endif
