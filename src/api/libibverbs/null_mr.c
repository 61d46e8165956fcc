/* SPDX-License-Identifier: Apache-2.0 */
/* The null region: SGEs that use it read zeros and discard what is written. */
#include "api/libibverbs/mr.h"

#include <stdlib.h>
#include <sys/mman.h>
#include "api/libibverbs/objects/handles.h"
#include "api/libibverbs/objects/operations.h"

/* As many zeros as the longest message needs. All pages are the kernel's zero page. */
static void *map_zeros(void)
{
	void *zeros = mmap(NULL, MESSAGE_BYTES_MAX, PROT_READ,
			   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	return zeros == MAP_FAILED ? NULL : zeros;
}

struct ibv_mr *verbs_alloc_null_mr(struct ibv_pd *pd)
{
	struct context_object *context = context_of(pd->context);
	struct verbs_mr *mr = calloc(1, sizeof(*mr));
	void *zeros = map_zeros();
	int error = mr && zeros ? 0 : -ENOMEM;

	if (!error) {
		adapter_lock(context->adapter);
		if (pd_of(pd)->domain)
			error = region_register_null(&adapter_hca(context->adapter)->memory,
						     pd_of(pd)->domain, zeros, &mr->region);
		else
			error = -EINVAL;
		adapter_unlock(context->adapter);
	}
	if (error) {
		if (zeros)
			munmap(zeros, MESSAGE_BYTES_MAX);
		free(mr);
		return verbs_null(error);
	}
	mr->zeros = zeros;
	/* Peers cannot use a null region, so it has no R_Key. */
	mr->mr = (struct ibv_mr){
		.context = pd->context,
		.pd = pd,
		.length = SIZE_MAX,
		.handle = mr->region->key,
		.lkey = mr->region->key,
	};
	handle_add(HANDLE_MR, &mr->mr);
	return &mr->mr;
}

void null_mr_release(struct verbs_mr *mr)
{
	if (mr->zeros)
		munmap(mr->zeros, MESSAGE_BYTES_MAX);
}
