/* SPDX-License-Identifier: Apache-2.0 */
/* Posting send requests: from the verbs' form to ours, and into the queues (vol 1, chapter 11). */
#include "api/libibverbs/objects/objects.h"

#include <stddef.h>
#include "api/libibverbs/objects/rd_objects.h"
#include "api/libibverbs/diagnostics/fault_injection.h"
#include "api/libibverbs/diagnostics/misuse.h"
#include "api/libibverbs/data/mw_requests.h"
#include "api/libibverbs/objects/operations.h"

/* Scatter/gather lists are handed on as they are. */
static_assert(sizeof(struct sge) == sizeof(struct ibv_sge), "SGEs are alike");
static_assert(offsetof(struct sge, byte_count) == offsetof(struct ibv_sge, length),
	      "SGEs are alike");
static_assert(offsetof(struct sge, lkey) == offsetof(struct ibv_sge, lkey), "SGEs are alike");

/* So is where a WRITE goes. */
static_assert(offsetof(struct ibv_send_wr, wr.rdma.rkey) -
			      offsetof(struct ibv_send_wr, wr.rdma.remote_addr) ==
		      offsetof(struct remote_place, key),
	      "remote places are alike");

/* Who made the requests: only the builder can ask for a flush, and only softib_post_rd_send says by
 * which EE context. */
enum post_origin { POSTED_BY_PROGRAM, POSTED_BY_BUILDER, POSTED_WITH_EEC };

/* The parts of a request that only some operations have. */
__attribute__((noinline)) static void build_operands(const struct ibv_send_wr *wr,
						     struct send_request *ret_request)
{
	switch ((unsigned)wr->opcode) {
	case IBV_WR_ATOMIC_CMP_AND_SWP:
	case IBV_WR_ATOMIC_FETCH_AND_ADD:
		ret_request->remote_key = wr->wr.atomic.rkey;
		ret_request->compare_or_add = wr->wr.atomic.compare_add;
		ret_request->swap = wr->wr.atomic.swap;
		break;
	case SEND_FLUSH:
		ret_request->remote_key = wr->wr.atomic.rkey;
		ret_request->flush_byte_count = (uint32_t)wr->wr.atomic.compare_add;
		ret_request->flush_placement = (uint8_t)wr->wr.atomic.swap;
		ret_request->flush_selectivity = (uint8_t)(wr->wr.atomic.swap >> 8);
		break;
	case IBV_WR_BIND_MW:
	case IBV_WR_LOCAL_INV:
		mw_build_request(wr, ret_request);
		break;
	default:
		break;
	}
}

/* The one translation of a work request. Fields that the operation does not have are not set. */
static inline void build_send(const struct verbs_qp *qp, const struct ibv_send_wr *wr,
			      struct send_request *ret_request)
{
	const enum qp_type type = qp->object->qp.type;

	ret_request->wr_id = wr->wr_id;
	ret_request->opcode = (enum send_opcode)wr->opcode;
	ret_request->flags = wr->send_flags;
	ret_request->immediate_or_rkey = wr->invalidate_rkey;
	ret_request->sge_count = (uint32_t)wr->num_sge;
	ret_request->sges = (const struct sge *)wr->sg_list;
	if (qp_is_datagram(&qp->object->qp)) {
		const struct ah *ah = likely(wr->wr.ud.ah) ? ah_of(wr->wr.ud.ah)->object : NULL;

		ret_request->address = ah ? &ah->vector : NULL;
		ret_request->address_pd = ah ? ah->pd : NULL;
		ret_request->remote_qpn = wr->wr.ud.remote_qpn;
		ret_request->remote_qkey = wr->wr.ud.remote_qkey;
		return;
	}
	ret_request->remote_qkey = 0;
	/* The remote address is first in all forms. */
	ret_request->remote_address = wr->wr.rdma.remote_addr;
	ret_request->remote_key = wr->wr.rdma.rkey;
	ret_request->remote_srqn = unlikely(type == QP_XRC_INI) ? wr->qp_type.xrc.remote_srqn : 0;
	if (unlikely(wr->opcode > IBV_WR_RDMA_READ))
		build_operands(wr, ret_request);
}

/* What a queue pair could not tell from its form alone. */
static bool may_post(const struct verbs_qp *qp, const struct ibv_send_wr *wr,
		     const struct send_request *request, enum post_origin origin)
{
	if (unlikely(qp_is_datagram(&qp->object->qp) && !request->address))
		return false;
	if (unlikely((qp->object->qp.type == QP_RD) != (origin == POSTED_WITH_EEC)))
		return false;
	if (unlikely((unsigned)wr->opcode == SEND_FLUSH))
		return origin == POSTED_BY_BUILDER;
	return likely(wr->opcode != IBV_WR_BIND_MW) || mw_request_is_valid(wr);
}

/* Posts the list up to the first request that is refused, which is told. The lock is held. */
static int post_sends(struct verbs_qp *qp, time_ns now, struct ibv_send_wr *requests,
		      enum post_origin origin, struct ibv_send_wr **ret_bad)
{
	for (struct ibv_send_wr *wr = requests; wr; wr = wr->next) {
		struct send_request request;
		int error;

		build_send(qp, wr, &request);
		if (unlikely(warnings_are_on))
			misuse_post_send(qp, &request);
		if (likely(may_post(qp, wr, &request, origin)))
			error = qp_post_send(&qp->object->qp, now, &request);
		else
			error = -EINVAL;
		if (unlikely(error)) {
			*ret_bad = wr;
			return error;
		}
	}
	return 0;
}

/* Only what is flushed at once, or left to somebody else, needs to know the time. */
static time_ns time_of_posting(const struct verbs_qp *qp)
{
	const struct qp *object = &qp->object->qp;

	return likely(object->state == QP_RTS && object->type != QP_RD) ? 0
									: adapter_now(qp->adapter);
}

static inline bool calls_are_watched(void)
{
	return unlikely(fault_injection_is_on || warnings_are_on);
}

__attribute__((noinline)) static bool post_send(const struct verbs_qp *qp,
						const struct ibv_send_wr *wr)
{
	struct send_request request;

	build_send(qp, wr, &request);
	return adapter_post(qp->adapter, qp->object, &request);
}

/* Posts and carries out one request. The lock is held. */
static inline bool post_one(const struct verbs_qp *qp, const struct ibv_send_wr *wr)
{
	const struct sge *sge = (const struct sge *)wr->sg_list;

	if (unlikely(wr->num_sge != 1))
		return false;
	if (wr->opcode == IBV_WR_SEND || wr->opcode == IBV_WR_SEND_WITH_IMM)
		return (wr->opcode == IBV_WR_SEND &&
			adapter_post_by_template(qp->adapter, qp->object, wr->wr_id, wr->send_flags,
						 sge)) ||
		       post_send(qp, wr);
	if (wr->opcode == IBV_WR_RDMA_WRITE || wr->opcode == IBV_WR_RDMA_READ)
		return adapter_rma(qp->adapter, qp->object,
				   &(struct rma_request){
					   .wr_id = wr->wr_id,
					   .flags = wr->send_flags,
					   .is_read = wr->opcode == IBV_WR_RDMA_READ,
					   .remote = (const struct remote_place *)&wr->wr.rdma,
				   },
				   sge);
	return false;
}

/* Posts and carries out the beginning of a list. Returns the requests that are left for the engine.
 * The lock is held. */
static inline struct ibv_send_wr *post_at_once(const struct verbs_qp *qp,
					       struct ibv_send_wr *requests)
{
	while (requests && likely(post_one(qp, requests)))
		requests = requests->next;
	return requests;
}

/* Posts the list by the engine. The lock is held. Not inline: requests that went at once have no
 * use for its registers. */
__attribute__((noinline)) static int
post_by_engine(struct verbs_qp *qp, struct ibv_send_wr *requests, struct ibv_send_wr **ret_bad)
{
	time_ns now = time_of_posting(qp);
	int error = injected_fault(VERB_POST_SEND);

	if (likely(!error))
		error = post_sends(qp, now, requests, POSTED_BY_PROGRAM, ret_bad);
	else
		*ret_bad = requests;

	adapter_send(qp->adapter, qp->object);
	return verbs_result(error);
}

int verbs_post_send(struct ibv_qp *public, struct ibv_send_wr *requests,
		    struct ibv_send_wr **ret_bad)
{
	struct verbs_qp *qp = qp_of(public);
	int error = 0;

	adapter_lock(qp->adapter);
	if (unlikely(calls_are_watched()))
		error = post_by_engine(qp, requests, ret_bad);
	else if (likely(!(requests = post_at_once(qp, requests))))
		adapter_posted(qp->adapter);
	else
		error = post_by_engine(qp, requests, ret_bad);
	adapter_unlock(qp->adapter);
	return error;
}

int verbs_post_whole(struct verbs_qp *qp, struct ibv_send_wr *requests)
{
	struct ibv_send_wr *bad;
	int error = 0;

	adapter_lock(qp->adapter);
	if (likely(!calls_are_watched() && !requests->next) && !post_at_once(qp, requests)) {
		adapter_posted(qp->adapter);
		adapter_unlock(qp->adapter);
		return 0;
	}
	error = post_sends(qp, time_of_posting(qp), requests, POSTED_BY_BUILDER, &bad);
	if (unlikely(error)) {
		uint32_t posted_count = 0;

		for (const struct ibv_send_wr *wr = requests; wr != bad; wr = wr->next)
			posted_count++;
		qp_retract_sends(&qp->object->qp, posted_count);
	}
	adapter_send(qp->adapter, qp->object);
	adapter_unlock(qp->adapter);
	return error;
}

static int post_rd_sends(struct verbs_qp *qp, time_ns now, struct softib_rd_send_wr *requests,
			 struct softib_rd_send_wr **ret_bad)
{
	for (struct softib_rd_send_wr *wr = requests; wr; wr = wr->next) {
		struct send_request request = {0};
		int error = -EINVAL;

		*ret_bad = wr;
		/* Before its fields are taken for those of another service. */
		if (qp->object->qp.type != QP_RD)
			return error;
		build_send(qp, &wr->wr, &request);
		request.eecn = wr->eec_num;
		request.remote_qpn = wr->remote_qpn;
		request.remote_qkey = wr->remote_qkey;
		if (unlikely(warnings_are_on))
			misuse_post_send(qp, &request);
		if (may_post(qp, &wr->wr, &request, POSTED_WITH_EEC))
			error = qp_object_post_send(qp->object, now, &request);
		if (error)
			return error;
	}
	return 0;
}

int softib_post_rd_send(struct ibv_qp *public, struct softib_rd_send_wr *requests,
			struct softib_rd_send_wr **ret_bad)
{
	struct verbs_qp *qp = qp_of(public);

	adapter_lock(qp->adapter);

	time_ns now = adapter_now(qp->adapter);
	int error = injected_fault(VERB_POST_SEND);

	if (likely(!error))
		error = post_rd_sends(qp, now, requests, ret_bad);
	else
		*ret_bad = requests;
	adapter_transmit(qp->adapter, now);
	adapter_unlock(qp->adapter);
	return verbs_result(error);
}
