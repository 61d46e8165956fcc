/* SPDX-License-Identifier: Apache-2.0 */
/* Buffers that the library allocates for a program (IBVERBS_1.17), declared by rdma-core's headers
 * since 64. */
#ifndef SOFTIB_API_LIBIBVERBS_BUFFER_H
#define SOFTIB_API_LIBIBVERBS_BUFFER_H

#include <stddef.h>

#include <infiniband/verbs.h>

struct ibv_buf;

/* Page aligned and zeroed. The handle lives until ibv_free_buf(). */
void *ibv_alloc_buf(struct ibv_pd *pd, size_t size, struct ibv_buf **ret_buffer);
void ibv_free_buf(struct ibv_buf *buffer);
struct ibv_mr *ibv_reg_buf_mr(struct ibv_pd *pd, struct ibv_buf *buffer, void *addr, size_t length,
			      int access);

#endif
