/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Pages of this process that a peer writes to by the kernel's ring (runtime/rma/kernel_ring.h),
 * without the kernel's having to look up whose they are and where: windows of a region that many
 * short WRITEs go to, pinned when the peer asks.
 *
 * Whoever has the ring can write to the windows, and the ring can be had by those who may trace
 * this process, which are those who can write to all of its memory anyway. What they may write to,
 * peers find out as for any other WRITE; a window only says that it can go this way. It ends with
 * its key's entry, and before our own pages move (runtime/rma/shared_mr.h). What the program itself
 * puts in place of registered memory is not noticed, as by an adapter: so memory that is
 * registered on demand is not pinned.
 *
 * SOFTIB_PIN=0: nothing is pinned, here or for us.
 */
#ifndef SOFTIB_RUNTIME_RMA_PINNED_RANGE_H
#define SOFTIB_RUNTIME_RMA_PINNED_RANGE_H

#include <stdbool.h>
#include <stdint.h>

struct adapter;
struct process_runtime;
struct channel;
struct ring_record;

/* A peer asks for one; it gets it, or not, and is told that it was heard. */
void pinned_range_asked(struct process_runtime *runtime, struct channel *channel,
			const struct ring_record *record);
/* The key stands for nothing any more, and no peer uses it. */
void pinned_range_end_key(const struct adapter *adapter, uint32_t key);
/* Pages are about to move. */
void pinned_range_end_all(struct process_runtime *runtime);
/* The channel goes. */
void pinned_range_close(struct process_runtime *runtime, struct channel *channel);
/* In the child of a fork, whose pages are others. */
void pinned_range_abandon(struct channel *channel);

#endif
