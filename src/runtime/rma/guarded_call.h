/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A system call into another process's memory that happens only while a word of shared memory
 * allows it.
 *
 * A process may be stopped between looking at the word and the call, for any time, and the other
 * process must not wait for it. So look and call are one restartable sequence (rseq(2)): if the
 * thread loses its processor or gets a signal in between, the kernel makes it look again. The call
 * itself ends without stopping, since a thread stops only where it returns from the kernel.
 *
 * Threads without rseq (started by a bare clone(2), or under valgrind) can't make such calls.
 */
#ifndef SOFTIB_RUNTIME_RMA_GUARDED_CALL_H
#define SOFTIB_RUNTIME_RMA_GUARDED_CALL_H

#include <stdint.h>
#include <sys/types.h>
#include "base/attributes.h"

struct guarded_call {
	long number;
	long arguments[6];
};

/* Makes the call unless RMA_HAZARD_CUT_OFF is set in the word. Returns what the kernel returns, a
 * negative errno on failure. -ECANCELED: the bit is set; -ENOSYS: this thread can't make such
 * calls; -EAGAIN: it was interrupted again and again. Without a word it is an ordinary call. */
MUST_USE ssize_t guarded_call(const struct guarded_call *call, const uint64_t *word);

#endif
