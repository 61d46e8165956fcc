/* SPDX-License-Identifier: Apache-2.0 */
/* ibv_post_srq_ops: the tagged buffers of an SRQ that matches tags. */
#include "api/libibverbs/objects/objects.h"

#include "api/libibverbs/objects/operations.h"

static const enum tag_operation_kind kinds[] = {
	[IBV_WR_TAG_ADD] = TAG_ADD,
	[IBV_WR_TAG_DEL] = TAG_DELETE,
	[IBV_WR_TAG_SYNC] = TAG_SYNC,
};

static int post_one(struct srq *srq, time_ns now, struct ibv_ops_wr *wr)
{
	const int known_flags = IBV_OPS_SIGNALED | IBV_OPS_TM_SYNC;

	if ((unsigned)wr->opcode > IBV_WR_TAG_SYNC || wr->flags & ~known_flags)
		return -EINVAL;

	struct tag_operation operation = {
		.kind = kinds[wr->opcode],
		.wr_id = wr->wr_id,
		.is_signaled = wr->flags & IBV_OPS_SIGNALED,
		.reports_unexpected = wr->flags & IBV_OPS_TM_SYNC,
		.unexpected_count = wr->tm.unexpected_cnt,
		.handle = wr->tm.handle,
	};

	if (operation.kind == TAG_ADD) {
		if (wr->tm.add.num_sge < 0 || (wr->tm.add.num_sge && !wr->tm.add.sg_list))
			return -EINVAL;
		operation.tag = wr->tm.add.tag;
		operation.mask = wr->tm.add.mask;
		operation.receive_wr_id = wr->tm.add.recv_wr_id;
		operation.sge_count = (uint32_t)wr->tm.add.num_sge;
		if (operation.sge_count)
			operation.sge =
				(struct sge){wr->tm.add.sg_list->addr, wr->tm.add.sg_list->length,
					     wr->tm.add.sg_list->lkey};
	}
	return srq_post_tag(srq, now, &operation, &wr->tm.handle);
}

int verbs_post_srq_ops(struct ibv_srq *public, struct ibv_ops_wr *requests,
		       struct ibv_ops_wr **ret_bad)
{
	struct verbs_srq *srq = srq_of(public);
	struct ibv_ops_wr *wr;
	int error = 0;

	adapter_lock(srq->adapter);

	time_ns now = adapter_now(srq->adapter);

	for (wr = requests; wr; wr = wr->next) {
		error = post_one(srq->object, now, wr);
		if (error)
			break;
	}
	adapter_unlock(srq->adapter);
	if (error)
		*ret_bad = wr;
	return verbs_result(error);
}
