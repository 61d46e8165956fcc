/* SPDX-License-Identifier: Apache-2.0 */
/* Thread domains and parent domains: promises of a program about its threads, which cost nothing to
 * accept. */
#include "api/libibverbs/objects.h"

#include <stdlib.h>
#include "api/libibverbs/operations.h"

struct ibv_td *verbs_alloc_td(struct ibv_context *context, struct ibv_td_init_attr *attr)
{
	if (attr->comp_mask)
		return verbs_null(-EINVAL);

	struct verbs_td *td = calloc(1, sizeof(*td));

	if (!td)
		return verbs_null(-ENOMEM);
	td->td.context = context;
	return &td->td;
}

int verbs_dealloc_td(struct ibv_td *public)
{
	struct verbs_td *td = (struct verbs_td *)public;

	if (__atomic_load_n(&td->users, __ATOMIC_RELAXED))
		return verbs_result(-EBUSY);
	free(td);
	return 0;
}

/*
 * Another name for the protection domain of its parent. Allocators are accepted and not called:
 * they are for buffers that a device reads, and there are none.
 */
struct ibv_pd *verbs_alloc_parent_domain(struct ibv_context *public,
					 struct ibv_parent_domain_init_attr *attr)
{
	const uint32_t known =
		IBV_PARENT_DOMAIN_INIT_ATTR_ALLOCATORS | IBV_PARENT_DOMAIN_INIT_ATTR_PD_CONTEXT;
	struct context_object *context = context_of(public);

	if (!attr->pd || attr->comp_mask & ~known)
		return verbs_null(-EINVAL);

	struct verbs_pd *pd = calloc(1, sizeof(*pd));

	if (!pd)
		return verbs_null(-ENOMEM);
	pd->domain = pd_of(attr->pd)->domain;
	pd->td = (struct verbs_td *)attr->td;
	pd->is_parent_domain = true;
	pd->pd.context = public;
	pd->pd.handle = attr->pd->handle;
	if (pd->td)
		__atomic_add_fetch(&pd->td->users, 1, __ATOMIC_RELAXED);
	adapter_lock(context->adapter);
	pd->domain->users++;
	context->object_count++;
	adapter_unlock(context->adapter);
	return &pd->pd;
}
