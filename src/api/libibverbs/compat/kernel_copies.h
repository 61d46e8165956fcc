/* SPDX-License-Identifier: Apache-2.0 */
/* Conversions between the kernel's structures and the public ones, which rdma-core's own librdmacm
 * imports. */
#ifndef SOFTIB_API_LIBIBVERBS_COMPAT_KERNEL_COPIES_H
#define SOFTIB_API_LIBIBVERBS_COMPAT_KERNEL_COPIES_H

#include <infiniband/sa.h>
#include <infiniband/verbs.h>
#include <rdma/ib_user_sa.h>
#include <rdma/ib_user_verbs.h>

/* The order of parameters is the ABI's. */
void ibv_copy_ah_attr_from_kern(struct ibv_ah_attr *ret_attr, struct ib_uverbs_ah_attr *kernel);
void ibv_copy_qp_attr_from_kern(struct ibv_qp_attr *ret_attr, struct ib_uverbs_qp_attr *kernel);
void ibv_copy_path_rec_from_kern(struct ibv_sa_path_rec *ret_path, struct ib_user_path_rec *kernel);
void ibv_copy_path_rec_to_kern(struct ib_user_path_rec *ret_kernel, struct ibv_sa_path_rec *path);

#endif
