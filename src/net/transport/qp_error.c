/* SPDX-License-Identifier: Apache-2.0 */
/* The states that errors lead to, and how every call on a queue pair ends (vol 1, chapter 10). */
#include "net/transport/qp_error.h"

#include "net/transport/qp_state.h"
#include "net/transport/rd/rd_hooks.h"
#include "net/transport/report.h"

void qp_enter_error(struct qp *qp, time_ns now)
{
	if (qp->state == QP_ERROR)
		return;
	qp_end_rma(qp);
	qp->state = QP_ERROR;
	invalidate(qp->environment);
	qp->attributes.is_draining = false;
	qp->responder.ack_is_due = false;
	if (qp->type == QP_EEC || qp->type == QP_RD)
		qp->environment->rd->stop(qp, now);
	if (qp->type == QP_EEC)
		return;
	report_flush_sends(qp, now);
	report_flush_receives(qp, now);
	if (qp_is_shared(qp))
		qp->environment->event(qp, QP_EVENT_LAST_REQUEST_REACHED);
}

void qp_fail_send(struct qp *qp, time_ns now, enum completion_status status)
{
	if (unlikely(qp->type == QP_EEC)) {
		qp->environment->rd->request_failed(qp, now, status);
		return;
	}
	report_revoke_zcopy(qp);
	report_send(qp, now, status);
	if (qp_is_reliable(qp) && qp->type != QP_RD) {
		qp_enter_error(qp, now);
		return;
	}
	qp->state = QP_SQE;
	invalidate(qp->environment);
	report_flush_sends(qp, now);
}

void qp_settle(struct qp *qp, time_ns now)
{
	if (unlikely(qp->type == QP_EEC))
		qp->environment->rd->settle(qp, now);
	if (likely(!qp->has_failed_to_report))
		return;
	qp->answers_last_nak = false;
	qp->environment->event(qp, QP_EVENT_FATAL);
	qp_enter_error(qp, now);
	qp->has_failed_to_report = false;
}
