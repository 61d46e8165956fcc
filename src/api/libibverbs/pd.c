/* SPDX-License-Identifier: Apache-2.0 */
/* Protection domains (vol 1, chapter 11). */
#include "api/libibverbs/objects.h"

#include <stdlib.h>

struct ibv_pd *ibv_alloc_pd(struct ibv_context *public)
{
	struct context_object *context = context_of(public);
	struct verbs_pd *pd = calloc(1, sizeof(*pd));

	if (!pd)
		return verbs_null(-ENOMEM);
	adapter_lock(context->adapter);

	int error = hca_pd_alloc(adapter_hca(context->adapter), &pd->domain);

	if (!error)
		context->object_count++;
	adapter_unlock(context->adapter);
	if (error) {
		free(pd);
		return verbs_null(error);
	}
	pd->pd.context = public;
	pd->pd.handle = pd->domain->handle;
	return &pd->pd;
}

int ibv_dealloc_pd(struct ibv_pd *public)
{
	struct context_object *context = context_of(public->context);
	struct verbs_pd *pd = pd_of(public);

	int error = 0;

	adapter_lock(context->adapter);
	if (pd->is_parent_domain)
		pd->domain->users--;
	else
		error = hca_pd_dealloc(adapter_hca(context->adapter), pd->domain);
	adapter_unlock(context->adapter);
	if (error)
		return verbs_result(error);
	if (pd->td)
		__atomic_sub_fetch(&pd->td->users, 1, __ATOMIC_RELAXED);
	free(pd);
	context_object_gone(context);
	return 0;
}
