/* SPDX-License-Identifier: Apache-2.0 */
/* Destroying QPs: by ibv_destroy_qp, or when the program closes their device (vol 1, chapter
 * 11). */
#include "api/libibverbs/objects/objects.h"

#include <stdlib.h>
#include "api/libibverbs/async_events.h"
#include "api/libibverbs/objects/handles.h"
#include "api/libibverbs/diagnostics/misuse.h"
#include "api/libibverbs/data/wr_builder.h"
#include "runtime/raw_claims.h"
#include "runtime/xrc/shared_domains.h"
#include "net/hca/raw_qps.h"

int verbs_qp_detach(struct verbs_qp *qp)
{
	int error = 0;

	/* Closing the device destroyed the QP; only the program's handle is left. */
	if (!qp->object)
		return 0;
	if (list_is_linked(&qp->sharers)) {
		qp->object->context = container_of(qp->sharers.next, struct verbs_qp, sharers);
		list_remove(&qp->sharers);
	} else {
		uint8_t raw_port = qp->object->raw_port;

		if (qp->object->xrcd && qp->object->xrcd->id)
			adapter_target_close(qp->adapter, qp->object);
		error = qp_object_destroy(qp->object);
		if (!error && raw_port)
			adapter_raw_release(qp->adapter, raw_port,
					    raw_kind_of((enum qp_type)qp->qp.qp_type));
	}
	if (error)
		return error;
	qp->object = NULL;
	list_remove(&qp->context_link);
	return 0;
}

int ibv_destroy_qp(struct ibv_qp *public)
{
	if (!handle_is_live(HANDLE_QP, public))
		return verbs_result(-EINVAL);

	struct verbs_qp *qp = qp_of(public);
	struct context_object *context = context_of(public->context);

	adapter_lock(qp->adapter);
	if (unlikely(warnings_are_on))
		misuse_destroy_qp(qp);
	/* NULL if closing the device destroyed the QP. */
	if (qp->object)
		adapter_last_answers(qp->adapter, qp->object, adapter_now(qp->adapter));

	int error = verbs_qp_detach(qp);

	adapter_unlock(qp->adapter);
	if (error)
		return verbs_result(error);
	if (unlikely(qp_type_is_raw((enum qp_type) public->qp_type)))
		adapter_raw_settle(qp->adapter);

	uint32_t handed_out = events_forget(context, public, &qp->async_events_handed_out);

	if (unlikely(warnings_are_on))
		misuse_wait_acknowledged("ibv_destroy_qp", public->qp_num, public->events_completed,
					 handed_out);
	events_wait_acknowledged(&public->mutex, &public->cond, &public->events_completed,
				 handed_out);
	wr_builder_detach(qp);
	queue_memory_free(&qp->queue_memory);
	handle_remove(public);
	free(qp);
	context_object_gone(context);
	return 0;
}
