/* SPDX-License-Identifier: Apache-2.0 */
/* Fork functions that only provider libraries call; rdma-core does not install the header that
 * declares them. */
#ifndef SOFTIB_API_LIBIBVERBS_COMPAT_FORK_H
#define SOFTIB_API_LIBIBVERBS_COMPAT_FORK_H

#include <stddef.h>

#include <infiniband/verbs.h>

int ibv_dontfork_range(void *base, size_t size);
int ibv_dofork_range(void *base, size_t size);

#endif
