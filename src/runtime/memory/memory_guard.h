/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Registered memory that the program has unmapped, protected or truncated.
 *
 * A hardware adapter has the pages of a region pinned, so a late or wrong peer writes to pages that
 * no program maps. In softib a processor makes the copies, and would fault. A handler of SIGSEGV
 * and SIGBUS puts a page there for the moment, if the faulting thread holds the lock of the process
 * runtime and the address belongs to a registered region. The page is removed when that thread
 * releases the lock. So the guard costs nothing on a copy that does not fault. All other faults go
 * to the handler that the program has.
 *
 * Unmapped: the handler maps the page of the shared MR, if it was one (runtime/rma/shared_mr.h);
 * otherwise it maps a page of a file of ours and notes a gap (net/memory/gaps.h). Protected: the
 * handler lifts the protection. Truncated, or the protection can't be lifted: the handler moves the
 * page aside and notes a gap.
 */
#ifndef SOFTIB_RUNTIME_MEMORY_MEMORY_GUARD_H
#define SOFTIB_RUNTIME_MEMORY_MEMORY_GUARD_H

#include <stdbool.h>
#include <stdint.h>
#include "base/attributes.h"
#include "net/memory/gaps.h"

struct adapter;
struct process_runtime;

/* One per process. Changed by the handler, in the thread that holds the lock. */
extern struct memory_gaps memory_guard_gaps;

/* Whether bytes that were just copied may not be the program's. The caller then discards the copy
 * and takes the full path, which calls memory_has_pages. */
static inline bool memory_guard_has_gaps(void)
{
	return unlikely(__atomic_load_n(&memory_guard_gaps.count, __ATOMIC_RELAXED));
}

/* Guards the adapter's regions from now on, unless SOFTIB_GUARD=0. */
void memory_guard_begin(struct adapter *adapter);

/* The program may have installed handlers since. Puts ours in front of them again. */
void memory_guard_renew(void);

/* Removes the handler's pages, if the thread that released the lock could not do so. Called without
 * the lock. */
void memory_guard_take_back(struct process_runtime *runtime);

#endif
