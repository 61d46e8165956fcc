/* SPDX-License-Identifier: Apache-2.0 */
/* Binding a window and local invalidate (vol 1, chapter 10). */
#include "net/transport/local_operation.h"

#include "net/memory/window.h"
#include "net/transport/qp_error.h"
#include "net/transport/qp_state.h"
#include "net/transport/report.h"

static enum completion_status perform(const struct qp *qp, const struct send_slot *slot)
{
	struct memory *memory = qp->environment->memory;

	if (slot->opcode == SEND_LOCAL_INVALIDATE)
		return window_invalidate(memory, qp->pd, qp->qpn, slot->immediate_or_rkey)
			       ? COMPLETION_SUCCESS
			       : COMPLETION_LOCAL_QP_OPERATION;

	const struct window_binding binding = {
		.key = slot->remote_key,
		.region_key = slot->bind_region_key,
		.address = slot->remote_address,
		.byte_count = slot->bind_byte_count,
		.access = slot->bind_access,
	};

	return window_bind(memory, qp->pd, qp->qpn, &binding) ? COMPLETION_SUCCESS
							      : COMPLETION_WINDOW_BIND;
}

bool local_operation_execute(struct qp *qp, time_ns now, const struct send_slot *slot)
{
	enum completion_status status = perform(qp, slot);

	if (status != COMPLETION_SUCCESS) {
		qp_fail_send(qp, now, status);
		return false;
	}
	qp->requester.queue.started++;
	qp->requester.cursor++;
	report_send(qp, now, COMPLETION_SUCCESS);
	return true;
}
