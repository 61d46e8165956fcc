/* SPDX-License-Identifier: Apache-2.0 */
/*
 * SIGSEGV and SIGBUS, shared with the program.
 *
 * Our handler sees each fault first. A fault that it does not resolve goes to the program's
 * handler, with the mask and flags that the program asked for, or ends the program as the default
 * action does. fault_signals_renew finds a handler that the program has installed later; if that
 * handler calls the one before it, which is ours, the handler from before ours is called.
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

/* Called in a signal handler, in the thread that faulted. true: the instruction is tried again. */
typedef bool fault_resolver(uintptr_t address, enum fault_kind kind);

/* Installs the handler, once per process; later calls change nothing. */
void fault_signals_handle(fault_resolver *resolver);
void fault_signals_renew(void);

#endif
