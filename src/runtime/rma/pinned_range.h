/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Pinned ranges: pages of this process that a peer writes to by io_uring
 * (runtime/rma/kernel_ring.h), so that the kernel need not look up the process and its pages for
 * each WRITE. A range is 64 KiB of a region that receives many short WRITEs; it is pinned when the
 * peer asks.
 *
 * A process that has the ring can write to the pinned ranges. Only a process that may trace this
 * one can get the ring, and such a process can write to all of this memory anyway. Peers check each
 * WRITE by the exported rkey as for any other WRITE; a pinned range only says that the WRITE can
 * take this path. A range ends with its key's entry, and before our own pages move
 * (runtime/rma/shared_mr.h). If the program maps other memory in place of registered memory, the
 * pinned range does not notice, and neither does a hardware adapter; so on-demand regions are not
 * pinned.
 *
 * SOFTIB_PIN=0: this process neither pins ranges nor asks peers to pin theirs.
 */
#ifndef SOFTIB_RUNTIME_RMA_PINNED_RANGE_H
#define SOFTIB_RUNTIME_RMA_PINNED_RANGE_H

#include <stdbool.h>
#include <stdint.h>

struct adapter;
struct process_runtime;
struct channel;
struct ring_record;

/* A peer asks for a pinned range. The range is pinned or not, and the peer is told that its request
 * was read. */
void pinned_range_asked(struct process_runtime *runtime, struct channel *channel,
			const struct ring_record *record);
/* The key is revoked, and no peer uses it any more. */
void pinned_range_end_key(const struct adapter *adapter, uint32_t key);
/* Pages are about to move: no peer begins to use a range. */
void pinned_range_withdraw_all(struct process_runtime *runtime);
/* No peer uses a range any more, except one that was cut off: its next call finds none. */
void pinned_range_end_all(struct process_runtime *runtime);
/* The channel closes. */
void pinned_range_close(struct process_runtime *runtime, struct channel *channel);
/* In the child of a fork, whose pages are not the pinned ones. */
void pinned_range_abandon(struct channel *channel);

#endif
