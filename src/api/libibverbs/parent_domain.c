/* SPDX-License-Identifier: Apache-2.0 */
/* Thread domains and parent domains. A thread domain promises that one thread uses its objects, and
 * needs no action here. A parent domain may carry the program's allocator for queue memory. */
#include "api/libibverbs/objects/objects.h"

#include <stdlib.h>
#include "api/libibverbs/objects/handles.h"
#include "api/libibverbs/objects/operations.h"

struct ibv_td *verbs_alloc_td(struct ibv_context *context, struct ibv_td_init_attr *attr)
{
	if (!attr)
		return verbs_null(-EINVAL);
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

/* A second handle of the parent's protection domain. */
struct ibv_pd *verbs_alloc_parent_domain(struct ibv_context *public,
					 struct ibv_parent_domain_init_attr *attr)
{
	if (!attr)
		return verbs_null(-EINVAL);

	const uint32_t known =
		IBV_PARENT_DOMAIN_INIT_ATTR_ALLOCATORS | IBV_PARENT_DOMAIN_INIT_ATTR_PD_CONTEXT;
	struct context_object *context = context_of(public);

	if (!attr->pd || attr->comp_mask & ~known)
		return verbs_null(-EINVAL);
	/* The program must give both functions of the allocator or neither. */
	if (attr->comp_mask & IBV_PARENT_DOMAIN_INIT_ATTR_ALLOCATORS && !attr->alloc != !attr->free)
		return verbs_null(-EINVAL);

	struct verbs_pd *pd = calloc(1, sizeof(*pd));

	if (!pd)
		return verbs_null(-ENOMEM);
	pd->domain = pd_of(attr->pd)->domain;
	pd->td = (struct verbs_td *)attr->td;
	pd->is_parent_domain = true;
	if (attr->comp_mask & IBV_PARENT_DOMAIN_INIT_ATTR_ALLOCATORS) {
		pd->allocate = attr->alloc;
		pd->release = attr->free;
	}
	if (attr->comp_mask & IBV_PARENT_DOMAIN_INIT_ATTR_PD_CONTEXT)
		pd->allocator_context = attr->pd_context;
	pd->pd.context = public;
	pd->pd.handle = attr->pd->handle;
	if (pd->td)
		__atomic_add_fetch(&pd->td->users, 1, __ATOMIC_RELAXED);
	adapter_lock(context->adapter);
	pd->domain->users++;
	context->object_count++;
	adapter_unlock(context->adapter);
	handle_add(HANDLE_PD, &pd->pd);
	return &pd->pd;
}
