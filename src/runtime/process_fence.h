/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A memory barrier that one process executes for all: who goes to sleep waits for everybody's
 * stores, so that those who send need not.
 */
#ifndef SOFTIB_RUNTIME_PROCESS_FENCE_H
#define SOFTIB_RUNTIME_PROCESS_FENCE_H

#include <stdbool.h>

/* Once per process, before it sends: whether the fences of others reach it. */
bool process_fence_register(void);
/* Returns when every registered process has passed a barrier. Only where registering worked. */
void process_fence(void);

#endif
