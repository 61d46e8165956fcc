/* SPDX-License-Identifier: Apache-2.0 */
/* Address handles, also for answering a received datagram (vol 1, chapter 11). */
#include "api/libibverbs/objects/objects.h"

#include <stdlib.h>
#include <string.h>
#include "api/libibverbs/verbs_address.h"
#include "api/libibverbs/diagnostics/fault_injection.h"
#include "api/libibverbs/objects/handles.h"
#include "api/libibverbs/diagnostics/misuse.h"
#include "base/bytes.h"

enum { HOP_LIMIT_OF_ANSWERS = 0xff };

struct ibv_ah *ibv_create_ah(struct ibv_pd *pd, struct ibv_ah_attr *attr)
{
	if (!handle_is_live(HANDLE_PD, pd) || !attr)
		return verbs_null(-EINVAL);

	struct context_object *context = context_of(pd->context);
	const struct address_vector vector = address_from_attr(attr);
	int fault = injected_fault(VERB_CREATE_AH);

	if (unlikely(fault))
		return verbs_null(fault);

	struct verbs_ah *ah = calloc(1, sizeof(*ah));

	if (!ah)
		return verbs_null(-ENOMEM);
	adapter_lock(context->adapter);

	int error =
		ah_create(adapter_hca(context->adapter), pd_of(pd)->domain, &vector, &ah->object);

	adapter_unlock(context->adapter);
	if (error) {
		free(ah);
		return verbs_null(error);
	}
	if (unlikely(warnings_are_on))
		misuse_address(context, "ibv_create_ah", attr->dlid, attr);
	ah->ah.context = pd->context;
	ah->ah.pd = pd;
	ah->ah.handle = ah->object->handle;
	handle_add(HANDLE_AH, &ah->ah);
	return &ah->ah;
}

int ibv_destroy_ah(struct ibv_ah *public)
{
	if (!handle_is_live(HANDLE_AH, public))
		return verbs_result(-EINVAL);

	struct context_object *context = context_of(public->context);
	struct verbs_ah *ah = ah_of(public);

	adapter_lock(context->adapter);
	if (unlikely(warnings_are_on))
		misuse_destroy_ah(context, ah->object);
	ah_destroy(ah->object);
	adapter_unlock(context->adapter);
	handle_remove(public);
	free(ah);
	return 0;
}

/* The index of a GID in the port's GID table. For a multicast GID, which is in no port's table,
 * index 0. */
static int find_gid_index(const struct port_view *port, const union ibv_gid *gid)
{
	if (gid->raw[0] == 0xff)
		return 0;
	for (unsigned i = 0; i < port->gid_count && i < PORT_GIDS_MAX; i++)
		if (memcmp(port->gids[i].bytes, gid->raw, sizeof(gid->raw)) == 0)
			return (int)i;
	return -1;
}

int ibv_init_ah_from_wc(struct ibv_context *public, uint8_t port_number, struct ibv_wc *wc,
			struct ibv_grh *grh, struct ibv_ah_attr *ret_attr)
{
	if (!public || !wc || !ret_attr || (wc->wc_flags & IBV_WC_GRH && !grh)) {
		errno = EINVAL;
		return -1;
	}

	struct context_object *context = context_of(public);
	const struct hca *hca = adapter_hca(context->adapter);
	struct ibv_ah_attr attr = {
		.dlid = wc->slid,
		.sl = wc->sl,
		.src_path_bits = wc->dlid_path_bits,
		.port_num = port_number,
	};

	if (port_number == 0 || port_number > hca->port_count) {
		errno = EINVAL;
		return -1;
	}
	if (wc->wc_flags & IBV_WC_GRH) {
		uint32_t word = get_be32((const uint8_t *)&grh->version_tclass_flow);

		adapter_lock(context->adapter);

		int gid_index = find_gid_index(hca->port_views[port_number - 1], &grh->dgid);

		adapter_unlock(context->adapter);
		if (gid_index < 0) {
			errno = EINVAL;
			return -1;
		}
		attr.is_global = 1;
		attr.grh.dgid = grh->sgid;
		attr.grh.sgid_index = (uint8_t)gid_index;
		attr.grh.flow_label = word & 0xfffff;
		attr.grh.traffic_class = (uint8_t)(word >> 20);
		attr.grh.hop_limit = HOP_LIMIT_OF_ANSWERS;
	}
	*ret_attr = attr;
	return 0;
}

struct ibv_ah *ibv_create_ah_from_wc(struct ibv_pd *pd, struct ibv_wc *wc, struct ibv_grh *grh,
				     uint8_t port_number)
{
	if (!pd || !wc)
		return verbs_null(-EINVAL);

	struct ibv_ah_attr attr;

	if (ibv_init_ah_from_wc(pd->context, port_number, wc, grh, &attr))
		return NULL;
	return ibv_create_ah(pd, &attr);
}
