/* SPDX-License-Identifier: Apache-2.0 */
/* Memory windows (vol 1, chapters 10, 11). */
#include "api/libibverbs/data/mw_requests.h"

#include <stdlib.h>
#include "api/libibverbs/diagnostics/fault_injection.h"
#include "api/libibverbs/objects/objects.h"
#include "api/libibverbs/objects/operations.h"
#include "net/memory/window.h"

struct verbs_mw {
	struct ibv_mw mw; /* first */
	struct window *window;
};

struct ibv_mw *verbs_alloc_mw(struct ibv_pd *pd, enum ibv_mw_type type)
{
	int fault = injected_fault(VERB_ALLOC_MW);

	if (unlikely(fault))
		return verbs_null(fault);
	if (type != IBV_MW_TYPE_1 && type != IBV_MW_TYPE_2)
		return verbs_null(-EINVAL);

	struct context_object *context = context_of(pd->context);
	struct verbs_mw *mw = calloc(1, sizeof(*mw));

	if (!mw)
		return verbs_null(-ENOMEM);

	int error = -EINVAL;

	adapter_lock(context->adapter);
	if (pd_of(pd)->domain)
		error = window_create(&adapter_hca(context->adapter)->memory, pd_of(pd)->domain,
				      (enum window_type)type, &mw->window);
	adapter_unlock(context->adapter);
	if (error) {
		free(mw);
		return verbs_null(error);
	}
	mw->mw = (struct ibv_mw){
		.context = pd->context,
		.pd = pd,
		.rkey = mw->window->grant.key,
		.handle = mw->window->grant.key,
		.type = type,
	};
	return &mw->mw;
}

int verbs_dealloc_mw(struct ibv_mw *public)
{
	struct verbs_mw *mw = (struct verbs_mw *)public;
	struct context_object *context = context_of(public->context);

	adapter_lock(context->adapter);
	window_destroy(&adapter_hca(context->adapter)->memory, mw->window);
	adapter_unlock(context->adapter);
	free(mw);
	return 0;
}

/* The program gets the new key at once. The key becomes valid when the request completes. */
int verbs_bind_mw(struct ibv_qp *public, struct ibv_mw *mw, struct ibv_mw_bind *bind)
{
	struct verbs_qp *qp = qp_of(public);
	struct send_request request = {
		.wr_id = bind->wr_id,
		.opcode = SEND_BIND_WINDOW,
		.flags = bind->send_flags,
	};

	if (mw->type != IBV_MW_TYPE_1)
		return verbs_result(-EINVAL);
	adapter_lock(qp->adapter);
	mw_set_binding(mw, ibv_inc_rkey(mw->rkey), &bind->bind_info, &request);

	time_ns now = adapter_now(qp->adapter);
	int error = qp_object_post_send(qp->object, now, &request);

	if (!error)
		mw->rkey = request.remote_key;
	adapter_transmit(qp->adapter, now);
	adapter_unlock(qp->adapter);
	return verbs_result(error);
}
