/* SPDX-License-Identifier: Apache-2.0 */
/* Attaching UD QPs to multicast groups (vol 1, chapter 11). */
#include "api/libibverbs/objects/objects.h"

#include <string.h>
#include "api/libibverbs/diagnostics/fault_injection.h"
#include "api/libibverbs/objects/handles.h"

static struct gid gid_from_public(const union ibv_gid *public)
{
	struct gid gid;

	memcpy(gid.bytes, public->raw, sizeof(gid.bytes));
	return gid;
}

int ibv_attach_mcast(struct ibv_qp *public, const union ibv_gid *public_gid, uint16_t lid)
{
	if (!handle_is_live(HANDLE_QP, public) || !public_gid)
		return verbs_result(-EINVAL);

	struct verbs_qp *qp = qp_of(public);
	const struct gid gid = gid_from_public(public_gid);
	int error = injected_fault(VERB_ATTACH_MCAST);

	if (unlikely(error))
		return verbs_result(error);
	adapter_lock(qp->adapter);
	error = multicast_attach(qp->object, &gid, lid);

	adapter_unlock(qp->adapter);
	return verbs_result(error);
}

int ibv_detach_mcast(struct ibv_qp *public, const union ibv_gid *public_gid, uint16_t lid)
{
	if (!handle_is_live(HANDLE_QP, public) || !public_gid)
		return verbs_result(-EINVAL);

	struct verbs_qp *qp = qp_of(public);
	const struct gid gid = gid_from_public(public_gid);

	adapter_lock(qp->adapter);

	int error = multicast_detach(qp->object, &gid, lid);

	adapter_unlock(qp->adapter);
	return verbs_result(error);
}
