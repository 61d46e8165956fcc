/* SPDX-License-Identifier: Apache-2.0 */
/* A memory barrier that one process executes for all: membarrier(2), where the system has it. */
#include "runtime/process_fence.h"

#include <linux/membarrier.h>
#include <sys/syscall.h>
#include <unistd.h>

static long membarrier(int command)
{
	return syscall(SYS_membarrier, command, 0, 0);
}

bool process_fence_register(void)
{
	return membarrier(MEMBARRIER_CMD_REGISTER_GLOBAL_EXPEDITED) == 0;
}

void process_fence(void)
{
	/* A registered process may always ask, so the call does not fail. */
	(void)membarrier(MEMBARRIER_CMD_GLOBAL_EXPEDITED);
}
