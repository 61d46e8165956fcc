/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Registered memory that the program has unmapped, protected or truncated.
 *
 * An adapter has the pages of a region pinned, so a peer that is late or wrong hurts pages that
 * nobody sees. Here a processor makes the copies, and would fault. A handler of SIGSEGV and SIGBUS
 * puts a page there for the moment, if the thread that faults has the lock of the attachment and
 * the address belongs to a registered region. The page goes when that thread leaves the lock. So no
 * copy costs more, by whatever way it is made. All other faults go to the handler that the program
 * has.
 *
 * Unmapped: the page that peers share, if it was one (runtime/rma/shared_mr.h); else a page of a
 * file of ours, and a gap is noted (net/memory/gaps.h). Protected: the protection is lifted.
 * Truncated, or the protection can't be lifted: the page is moved aside, and there is a gap.
 */
#ifndef SOFTIB_RUNTIME_MEMORY_MEMORY_GUARD_H
#define SOFTIB_RUNTIME_MEMORY_MEMORY_GUARD_H

#include <stdbool.h>
#include <stdint.h>
#include "base/attributes.h"
#include "net/memory/gaps.h"

struct adapter;
struct process_runtime;

/* Of the process. Changed by the handler, in the thread that has the lock. */
extern struct memory_gaps memory_guard_gaps;

/* Whether bytes that were copied just now may not be the program's: whoever copied does not use
 * them, and goes the long way, which asks memory_has_pages. */
static inline bool memory_guard_has_gaps(void)
{
	return unlikely(__atomic_load_n(&memory_guard_gaps.count, __ATOMIC_RELAXED));
}

/* Its regions are guarded from now on. SOFTIB_GUARD=0: not. */
void memory_guard_begin(struct adapter *adapter);

/* A program may have installed handlers since: ours comes first again and theirs after it. */
void memory_guard_renew(void);

/* What the handler put there goes, if the thread that left the lock could not see to it. Not with
 * the lock. */
void memory_guard_take_back(struct process_runtime *runtime);

#endif
