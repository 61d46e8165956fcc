/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A memory barrier that one process executes for all threads of all registered processes. A process
 * that goes to sleep fences for the senders, so that a send needs no fence.
 */
#ifndef SOFTIB_RUNTIME_PROCESS_FENCE_H
#define SOFTIB_RUNTIME_PROCESS_FENCE_H

#include <stdbool.h>

/* Once per process, before it sends. Returns whether the fences of other processes cover this one.
 */
bool process_fence_register(void);
/* Returns when every registered process has passed a barrier. Call only if registering worked. */
void process_fence(void);

#endif
