/* SPDX-License-Identifier: Apache-2.0 */
/* Work requests that bind and invalidate memory windows (vol 1, chapters 10, 11). */
#include "api/libibverbs/data/mw_requests.h"

#include "net/memory/window.h"
#include "net/transport/work_request.h"

void mw_set_binding(const struct ibv_mw *mw, uint32_t asked_key,
		    const struct ibv_mw_bind_info *info, struct send_request *ret_request)
{
	const uint32_t tag_mask = (1u << KEY_TAG_BITS) - 1;

	ret_request->remote_key = (mw->handle & ~tag_mask) | (asked_key & tag_mask);
	ret_request->remote_address = info->addr;
	ret_request->bind_byte_count = info->length;
	ret_request->bind_region_key = info->mr ? info->mr->lkey : 0;
	ret_request->bind_access = info->mw_access_flags;
}

bool mw_request_is_valid(const struct ibv_send_wr *wr)
{
	const struct ibv_mw *mw = wr->bind_mw.mw;

	return mw && mw->type == IBV_MW_TYPE_2 && wr->bind_mw.bind_info.mr;
}

void mw_build_request(const struct ibv_send_wr *wr, struct send_request *ret_request)
{
	ret_request->sge_count = 0;
	ret_request->remote_srqn = 0;
	/* Posting refuses an invalid bind request later. */
	if (wr->opcode == IBV_WR_BIND_MW && mw_request_is_valid(wr))
		mw_set_binding(wr->bind_mw.mw, wr->bind_mw.rkey, &wr->bind_mw.bind_info,
			       ret_request);
}
