/* SPDX-License-Identifier: Apache-2.0 */
/* The header caches of a queue pair: see header_cache.h. */
#include "net/transport/fast/header_cache.h"

#include "wire/pkey.h"

bool fast_work_out(struct qp *qp)
{
	struct header_cache *express = &qp->header_cache;
	const struct address_vector *address = &qp->attributes.address;

	/* Two limited members of a partition can't talk to each other (transport 10.3). */
	if (address->is_global || qp->attributes.path_migration != PATH_MIGRATED ||
	    !pkey_matches(qp_pkey(qp), qp_pkey(qp)))
		return false;
	express->lrh = fast_lrh(qp, address);
	express->bth = fast_bth(qp, qp->attributes.destination_qpn);
	express->route = NULL;
	express->changes = qp->environment->port_changes + 1;
	express->sends = 0;
	rx_header_cache(qp)->qp = NULL;
	tx_header_cache(qp)->qp = NULL;
	return true;
}

bool fast_work_out_sends(struct qp *qp)
{
	if (qp->state != QP_RTS || (qp->type != QP_RC && qp->type != QP_UC) ||
	    qp->attributes.rate_limit || !qp->requester.queue.sges_max ||
	    !fast_headers_are_known(qp))
		return false;
	qp->header_cache.sends = qp->header_cache.changes;
	return true;
}
