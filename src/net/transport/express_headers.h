/* SPDX-License-Identifier: Apache-2.0 */
/* What both halves of express.h know of a queue pair: which there are, and the headers of its
 * packets, worked out once. */
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
