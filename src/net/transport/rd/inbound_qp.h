/* SPDX-License-Identifier: Apache-2.0 */
/* Which queue pair a request is for: the queue pair itself, or the destination of an EE context's
 * message. */
#ifndef SOFTIB_NET_TRANSPORT_RD_INBOUND_QP_H
#define SOFTIB_NET_TRANSPORT_RD_INBOUND_QP_H

#include "net/transport/qp_state.h"
#include "net/transport/rd/rd_state.h"

/* The protection domain of the peer's R_Keys. */
static inline const struct protection_domain *qp_inbound_pd(const struct qp *qp)
{
	if (unlikely(qp->type == QP_EEC))
		return qp->eec->destination->qp->pd;
	return qp->type == QP_XRC_TGT ? qp->receive_queue->pd : qp->pd;
}

/* The queue pair number for receive completions and memory windows. */
static inline uint32_t qp_inbound_qpn(const struct qp *qp)
{
	return unlikely(qp->type == QP_EEC) ? qp->eec->destination->qp->qpn : qp->qpn;
}

#endif
