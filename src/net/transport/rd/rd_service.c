/* SPDX-License-Identifier: Apache-2.0 */
/* Reliable Datagram as the engine calls it: see rd_hooks.h. */
#include "net/transport/rd/rd_service.h"

#include "net/transport/qp_state.h"
#include "net/transport/rd/ee_context.h"
#include "net/transport/rd/rd_queue.h"
#include "net/transport/rd/rd_responder.h"

static void stop(struct qp *qp, time_ns now)
{
	if (qp->type == QP_EEC)
		eec_stop(qp, now);
	else
		rd_queue_leave(qp, now);
}

const struct rd_hooks rd_service = {
	.request_done = eec_request_done,
	.request_failed = eec_request_failed,
	.request_not_ready = eec_request_not_ready,
	.address_request = eec_address_request,
	.settle = eec_settle,
	.stop = stop,
	.check_destination = rd_check_destination,
	.choose_destination = rd_choose_destination,
	.refuse = rd_refuse,
	.refuse_again = rd_refuse_again,
	.fault = rd_fault,
	.saved_domain = rd_saved_domain,
};
