/* SPDX-License-Identifier: Apache-2.0 */
/* Posting receive requests: from the verbs' form to ours (post.c says that SGEs are alike), and
 * into the queues (vol 1, chapter 11). */
#include "api/libibverbs/objects/objects.h"

#include "api/libibverbs/diagnostics/fault_injection.h"
#include "api/libibverbs/diagnostics/misuse.h"
#include "api/libibverbs/objects/operations.h"

static struct receive_request build_receive(const struct ibv_recv_wr *wr)
{
	return (struct receive_request){
		.wr_id = wr->wr_id,
		.sge_count = (uint32_t)wr->num_sge,
		.sges = (const struct sge *)wr->sg_list,
	};
}

/* Not in line: what usually happens has no use for its registers. */
__attribute__((noinline)) static void warn_of_receive(struct verbs_qp *qp,
						      const struct ibv_recv_wr *wr)
{
	const struct receive_request request = build_receive(wr);

	misuse_post_receive(qp, &request);
}

/* With the lock, which it leaves. */
__attribute__((noinline)) static int post_receives_locked(struct verbs_qp *qp,
							  struct ibv_recv_wr *requests,
							  struct ibv_recv_wr **ret_bad)
{
	/* Only a request that is flushed at once has a time of completion. */
	struct qp *object = &qp->object->qp;
	time_ns now = unlikely(object->state == QP_ERROR) ? adapter_now(qp->adapter) : 0;
	struct ibv_recv_wr *wr;
	int error = 0;

	for (wr = requests; wr; wr = wr->next) {
		const struct receive_request request = build_receive(wr);

		if (unlikely(warnings_are_on))
			warn_of_receive(qp, wr);
		error = qp_post_receive(object, now, &request);
		if (unlikely(error))
			break;
	}
	adapter_unlock(qp->adapter);
	if (unlikely(error))
		*ret_bad = wr;
	return verbs_result(error);
}

__attribute__((noinline)) static int
post_receives(struct verbs_qp *qp, struct ibv_recv_wr *requests, struct ibv_recv_wr **ret_bad)
{
	int error = injected_fault(VERB_POST_RECV);

	if (unlikely(error)) {
		*ret_bad = requests;
		return verbs_result(error);
	}
	adapter_lock(qp->adapter);
	return post_receives_locked(qp, requests, ret_bad);
}

/* The commonest case comes without a call. What is not that is left to the functions above, which
 * say what is wrong, if anything is. */
int verbs_post_recv(struct ibv_qp *public, struct ibv_recv_wr *requests,
		    struct ibv_recv_wr **ret_bad)
{
	struct verbs_qp *qp = qp_of(public);
	const struct ibv_recv_wr *wr = requests;

	if (unlikely(!wr || wr->next || wr->num_sge != 1 || fault_injection_is_on ||
		     warnings_are_on || !adapter_try_lock(qp->adapter)))
		return post_receives(qp, requests, ret_bad);

	struct qp *object = &qp->object->qp;
	const struct receive_request request = {
		.wr_id = wr->wr_id,
		.sge_count = 1,
		.sges = (const struct sge *)wr->sg_list,
	};

	if (unlikely(object->state == QP_ERROR || qp_post_receive(object, 0, &request)))
		return post_receives_locked(qp, requests, ret_bad);
	adapter_unlock(qp->adapter);
	return 0;
}

int verbs_post_srq_recv(struct ibv_srq *public, struct ibv_recv_wr *requests,
			struct ibv_recv_wr **ret_bad)
{
	struct verbs_srq *srq = srq_of(public);
	struct ibv_recv_wr *wr;
	int error = injected_fault(VERB_POST_SRQ_RECV);

	if (unlikely(error)) {
		*ret_bad = requests;
		return verbs_result(error);
	}
	adapter_lock(srq->adapter);
	for (wr = requests; wr; wr = wr->next) {
		const struct receive_request request = build_receive(wr);

		if (unlikely(warnings_are_on))
			misuse_post_shared(srq, &request);
		error = srq_post(srq->object, &request);
		if (unlikely(error))
			break;
	}
	adapter_unlock(srq->adapter);
	if (unlikely(error))
		*ret_bad = wr;
	return verbs_result(error);
}
