/* SPDX-License-Identifier: Apache-2.0 */
/* Memory regions, ordinary and over device memory. */
#ifndef SOFTIB_API_LIBIBVERBS_MR_H
#define SOFTIB_API_LIBIBVERBS_MR_H

#include "api/libibverbs/objects/objects.h"

/* Fills mr->region and the public part. -errno. */
MUST_USE int mr_register(struct verbs_mr *mr, struct ibv_pd *pd, void *bytes, size_t byte_count,
			 uint64_t iova, unsigned access);

/* Frees what a null region owns, after it is deregistered. */
void null_mr_release(struct verbs_mr *mr);

/* Unmaps an imported region's pages and its export entry. */
void mr_unmap(struct verbs_mr *mr);

#endif
