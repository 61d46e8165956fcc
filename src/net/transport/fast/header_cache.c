/* SPDX-License-Identifier: Apache-2.0 */
/* The headers of a queue pair's packets, worked out once: see express_headers.h. */
#include "net/transport/fast/header_cache.h"

#include "wire/pkey.h"

bool express_work_out(struct qp *qp)
{
	struct express_headers *express = &qp->express;
	const struct address_vector *address = &qp->attributes.address;

	/* Between limited members nothing is admitted. */
	if (address->is_global || qp->attributes.path_migration != PATH_MIGRATED ||
	    !pkey_matches(qp_pkey(qp), qp_pkey(qp)))
		return false;
	express->lrh = express_lrh(qp, address);
	express->bth = express_bth(qp, qp->attributes.destination_qpn);
	express->route = NULL;
	express->changes = qp->environment->port_changes + 1;
	express->sends = 0;
	express_seen(qp)->qp = NULL;
	express_sent(qp)->qp = NULL;
	return true;
}

bool express_work_out_sends(struct qp *qp)
{
	if (qp->state != QP_RTS || (qp->type != QP_RC && qp->type != QP_UC) ||
	    qp->attributes.rate_limit || !qp->requester.queue.sges_max ||
	    !express_headers_are_known(qp))
		return false;
	qp->express.sends = qp->express.changes;
	return true;
}
