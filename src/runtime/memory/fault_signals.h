/* SPDX-License-Identifier: Apache-2.0 */
/*
 * SIGSEGV and SIGBUS, shared with the program.
 *
 * A handler of ours sees each fault first. What it does not resolve goes to the handler that the
 * program has, with the mask and flags that the program asked for, or ends the program as the
 * default does. A program that installs its own handler later is found by fault_signals_renew; if
 * that handler calls the one before it, which is ours, what was there before us is called.
 */
#ifndef SOFTIB_RUNTIME_MEMORY_FAULT_SIGNALS_H
#define SOFTIB_RUNTIME_MEMORY_FAULT_SIGNALS_H

#include <stdbool.h>
#include <stdint.h>

enum fault_kind {
	FAULT_UNMAPPED,
	FAULT_PROTECTED,
	FAULT_TRUNCATED, /* mapped, but there is no such page in the file */
};

/* In a signal handler, of the thread that faulted. true: the instruction is tried again. */
typedef bool fault_resolver(uintptr_t address, enum fault_kind kind);

/* For all faults from now on, once per process; later calls change nothing. */
void fault_signals_handle(fault_resolver *resolver);
void fault_signals_renew(void);

#endif
