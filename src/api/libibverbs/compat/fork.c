/* SPDX-License-Identifier: Apache-2.0 */
/* Fork protection: softib pins no pages and maps no device, so copy-on-write in a child does no
 * harm. */
#include "api/libibverbs/compat/fork.h"

int ibv_fork_init(void)
{
	return 0;
}

enum ibv_fork_status ibv_is_fork_initialized(void)
{
	return IBV_FORK_UNNEEDED;
}

int ibv_dontfork_range(void *base, size_t size)
{
	(void)base;
	(void)size;
	return 0;
}

int ibv_dofork_range(void *base, size_t size)
{
	(void)base;
	(void)size;
	return 0;
}
