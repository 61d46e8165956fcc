/* SPDX-License-Identifier: Apache-2.0 */
/* What both halves of express.h know of a queue pair: which there are, and the headers of its
 * packets, worked out once. And what its owner asks of it for each message, in line. */
#ifndef SOFTIB_NET_TRANSPORT_EXPRESS_HEADERS_H
#define SOFTIB_NET_TRANSPORT_EXPRESS_HEADERS_H

#include <string.h>
#include "net/transport/express.h"
#include "net/transport/qp.h"

/* Works the headers of a connection's packets out. false: there is something unusual about it. */
MUST_USE bool express_work_out(struct qp *qp);

/* Whether what was worked out still holds; if not, it is worked out anew. */
static inline bool express_headers_are_known(struct qp *qp)
{
	return likely(qp->express.changes == qp->environment->port_changes + 1) ||
	       express_work_out(qp);
}

/* Whether the headers of a connection's packets are the usual ones; qp->express.route, which is the
 * caller's, is NULL again when they have changed. */
MUST_USE static inline bool express_is_known(struct qp *qp)
{
	return qp->type == QP_RC && qp->port && express_headers_are_known(qp);
}

/* Whether all that is to be answered is an ACK without a limit on credits; it is taken as sent. */
MUST_USE static inline bool express_take_ack(struct qp *qp, struct psn *ret_psn)
{
	struct responder *responder = &qp->responder;

	if (unlikely(!responder->ack_is_due || responder->nak_is_due || responder->saved_pending ||
		     qp->type != QP_RC || qp->state == QP_ERROR || qp->promises_receives ||
		     qp->attributes.path_migration != PATH_MIGRATED ||
		     qp->attributes.address.is_global))
		return false;
	responder->ack_is_due = false;
	*ret_psn = responder->ack_psn;
	return true;
}

/* One word costs no call. */
static inline void express_copy(uint8_t *place, const uint8_t *payload, uint32_t byte_count)
{
	if (byte_count == sizeof(uint64_t)) {
		memcpy(place, payload, sizeof(uint64_t));
		return;
	}
	/* A compiler that sees that it is no more than a packet copies word by word in line, which
	 * takes three times as long as the C library at 2 KiB. */
	__asm__("" : "+r"(byte_count));
	if (byte_count)
		memcpy(place, payload, byte_count);
}

static inline bool express_is_plain_type(const struct qp *qp)
{
	return qp->type == QP_RC || qp->type == QP_UD || qp->type == QP_UC;
}

#endif
