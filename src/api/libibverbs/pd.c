/* SPDX-License-Identifier: Apache-2.0 */
/* Protection domains (vol 1, chapter 11). */
#include "api/libibverbs/objects/objects.h"

#include <stdlib.h>
#include "api/libibverbs/diagnostics/fault_injection.h"
#include "api/libibverbs/objects/handles.h"
#include "api/libibverbs/diagnostics/misuse.h"

struct ibv_pd *ibv_alloc_pd(struct ibv_context *public)
{
	if (!handle_is_live(HANDLE_CONTEXT, public))
		return verbs_null(-EINVAL);

	struct context_object *context = context_of(public);
	int fault = injected_fault(VERB_ALLOC_PD);

	if (unlikely(fault))
		return verbs_null(fault);

	struct verbs_pd *pd = calloc(1, sizeof(*pd));

	if (!pd)
		return verbs_null(-ENOMEM);
	pd->pd.context = public;
	adapter_lock(context->adapter);

	int error = hca_pd_alloc(adapter_hca(context->adapter), &pd->domain);

	if (!error) {
		pd->pd.handle = pd->domain->handle;
		context->object_count++;
		list_append(&context->device->pds, &pd->link);
		pd->export_slot = export_table_add(
			&context->exports,
			&(struct export_entry){.kind = EXPORT_PD, .handle = pd->pd.handle});
	}
	adapter_unlock(context->adapter);
	if (error) {
		free(pd);
		return verbs_null(error);
	}
	handle_add(HANDLE_PD, &pd->pd);
	return &pd->pd;
}

/* Handles of this PD that importing made can only be unimported from now on. */
static int dealloc_domain(struct context_object *context, struct verbs_pd *pd)
{
	struct protection_domain *domain = pd->domain;

	if (!domain)
		return -EINVAL;

	int error = hca_pd_dealloc(adapter_hca(context->adapter), domain);

	if (error)
		return error;
	list_remove(&pd->link);
	export_table_remove(&context->exports, pd->export_slot);
	if (!pd->is_shared)
		return 0;
	list_for_each (link, &context->device->pds) {
		struct verbs_pd *other = container_of(link, struct verbs_pd, link);

		if (other->domain == domain)
			other->domain = NULL;
	}
	return 0;
}

int ibv_dealloc_pd(struct ibv_pd *public)
{
	if (!handle_is_live(HANDLE_PD, public))
		return verbs_result(-EINVAL);

	struct context_object *context = context_of(public->context);
	struct verbs_pd *pd = pd_of(public);

	int error = 0;

	adapter_lock(context->adapter);
	if (pd->is_parent_domain && __atomic_load_n(&pd->user_count, __ATOMIC_RELAXED))
		error = -EBUSY;
	else if (pd->is_parent_domain)
		pd->domain->users--;
	else
		error = dealloc_domain(context, pd);
	adapter_unlock(context->adapter);
	if (unlikely(warnings_are_on && error == -EBUSY))
		misuse_busy("ibv_dealloc_pd", public->handle, pd->domain->users,
			    "regions, queue pairs, SRQs or address handles of it");
	if (error)
		return verbs_result(error);
	if (pd->td)
		__atomic_sub_fetch(&pd->td->users, 1, __ATOMIC_RELAXED);
	handle_remove(public);
	free(pd);
	context_object_gone(context);
	return 0;
}
