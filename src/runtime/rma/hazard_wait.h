/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Waiting for the accesses that peers have begun to this process's memory, without depending on the
 * peers (docs/security.md, "A peer that stops").
 *
 * A peer that does not end its access in time is cut off: its grants end, and a bit in its hazard
 * word says that the access has failed. A system call that the peer begins later does not begin
 * (runtime/rma/guarded_call.h); one that it is in has ended once the peer's threads have left the
 * kernel. Stores into shared pages can't be stopped, so the caller must move those pages away.
 */
#ifndef SOFTIB_RUNTIME_RMA_HAZARD_WAIT_H
#define SOFTIB_RUNTIME_RMA_HAZARD_WAIT_H

#include <stdbool.h>
#include "base/attributes.h"

struct channel;

/* Returns when every access that these peers began before the call has ended or is cut off, at the
 * latest after half a second. A peer that is cut off stays so, and is never waited for again.
 * Returns whether a peer was cut off: then shared pages and pinned ranges have to go. is_fenced:
 * process_fence() covers the peers. Lock held. */
MUST_USE bool hazard_wait(struct channel *const channels[], unsigned count, bool is_fenced);

#endif
