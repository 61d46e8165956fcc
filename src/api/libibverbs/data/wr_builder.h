/* SPDX-License-Identifier: Apache-2.0 */
/* The ibv_wr_* interface: work requests put together call by call, then posted as one list. */
#ifndef SOFTIB_API_LIBIBVERBS_DATA_WR_BUILDER_H
#define SOFTIB_API_LIBIBVERBS_DATA_WR_BUILDER_H

#include "api/libibverbs/objects/objects.h"

/* The IBV_QP_EX_WITH_* operations that a type offers. */
uint64_t wr_builder_operations(enum ibv_qp_type type);

/* Gives the queue pair a builder and fills its function pointers. */
MUST_USE int wr_builder_attach(struct verbs_qp *qp);
void wr_builder_detach(struct verbs_qp *qp);

#endif
