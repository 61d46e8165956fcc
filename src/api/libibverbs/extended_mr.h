/* SPDX-License-Identifier: Apache-2.0 */
/* Registration by a struct (IBVERBS_1.15), declared by rdma-core's headers since 59. */
#ifndef SOFTIB_API_LIBIBVERBS_EXTENDED_MR_H
#define SOFTIB_API_LIBIBVERBS_EXTENDED_MR_H

#include <infiniband/verbs.h>

#ifndef ABI_HAS_ALLOC_DMAH
struct ibv_dmah;

enum ibv_mr_init_attr_mask {
	IBV_REG_MR_MASK_IOVA = 1 << 0,
	IBV_REG_MR_MASK_ADDR = 1 << 1,
	IBV_REG_MR_MASK_FD = 1 << 2,
	IBV_REG_MR_MASK_FD_OFFSET = 1 << 3,
	IBV_REG_MR_MASK_DMAH = 1 << 4,
};

struct ibv_mr_init_attr {
	size_t length;
	int access;
	uint64_t comp_mask;
	uint64_t iova;
	void *addr;
	int fd;
	uint64_t fd_offset;
	struct ibv_dmah *dmah;
};

struct ibv_mr *ibv_reg_mr_ex(struct ibv_pd *pd, struct ibv_mr_init_attr *attr);
#endif

#endif
