/* SPDX-License-Identifier: Apache-2.0 */
/* QP attributes: modify, query, and conversion between ibv_qp_attr and struct qp_attributes (vol 1,
 * chapter 11). */
#include "api/libibverbs/qp_attributes.h"

#include "api/libibverbs/verbs_address.h"
#include "api/libibverbs/diagnostics/fault_injection.h"
#include "api/libibverbs/objects/handles.h"
#include "api/libibverbs/diagnostics/misuse.h"
#include "api/libibverbs/objects/operations.h"
#include "api/libibverbs/objects/objects.h"
#include "runtime/xrc/shared_domains.h"

struct qp_capabilities capabilities_from(const struct ibv_qp_cap *cap)
{
	return (struct qp_capabilities){
		.send_requests_max = cap->max_send_wr,
		.receive_requests_max = cap->max_recv_wr,
		.send_sges_max = cap->max_send_sge,
		.receive_sges_max = cap->max_recv_sge,
		.inline_bytes_max = cap->max_inline_data,
	};
}

struct ibv_qp_cap capabilities_to(const struct qp_capabilities *capabilities)
{
	return (struct ibv_qp_cap){
		.max_send_wr = capabilities->send_requests_max,
		.max_recv_wr = capabilities->receive_requests_max,
		.max_send_sge = capabilities->send_sges_max,
		.max_recv_sge = capabilities->receive_sges_max,
		.max_inline_data = capabilities->inline_bytes_max,
	};
}

struct qp_attributes attributes_from(const struct ibv_qp_attr *attr)
{
	struct qp_attributes attributes = {
		.state = (enum qp_state)attr->qp_state,
		.current_state = (enum qp_state)attr->cur_qp_state,
		.drained_notify = attr->en_sqd_async_notify != 0,
		.access = attr->qp_access_flags,
		.pkey_index = attr->pkey_index,
		.port_number = attr->port_num,
		.qkey = attr->qkey,
		.address = address_from_attr(&attr->ah_attr),
		.path_mtu_code = (uint8_t)attr->path_mtu,
		.timeout = attr->timeout,
		.retry_count = attr->retry_cnt,
		.rnr_retry = attr->rnr_retry,
		.rq_psn = psn_from(attr->rq_psn),
		.sq_psn = psn_from(attr->sq_psn),
		.initiator_depth = attr->max_rd_atomic,
		.responder_resources = attr->max_dest_rd_atomic,
		.min_rnr_timer = attr->min_rnr_timer,
		.path_migration = (uint8_t)attr->path_mig_state,
		.destination_qpn = attr->dest_qp_num,
		.alternate_address = address_from_attr(&attr->alt_ah_attr),
		.alternate_pkey_index = attr->alt_pkey_index,
		.alternate_timeout = attr->alt_timeout,
		.rate_limit = attr->rate_limit,
	};

	attributes.alternate_address.port_number = attr->alt_port_num;
	return attributes;
}

struct ibv_qp_attr attributes_to(const struct qp_attributes *attributes)
{
	return (struct ibv_qp_attr){
		.qp_state = (enum ibv_qp_state)attributes->state,
		.cur_qp_state = (enum ibv_qp_state)attributes->state,
		.path_mtu = (enum ibv_mtu)attributes->path_mtu_code,
		.path_mig_state = (enum ibv_mig_state)attributes->path_migration,
		.qkey = attributes->qkey,
		.rq_psn = attributes->rq_psn.value,
		.sq_psn = attributes->sq_psn.value,
		.dest_qp_num = attributes->destination_qpn,
		.qp_access_flags = attributes->access,
		.ah_attr = address_to_attr(&attributes->address),
		.alt_ah_attr = address_to_attr(&attributes->alternate_address),
		.pkey_index = attributes->pkey_index,
		.alt_pkey_index = attributes->alternate_pkey_index,
		.en_sqd_async_notify = attributes->drained_notify,
		.sq_draining = attributes->is_draining,
		.max_rd_atomic = attributes->initiator_depth,
		.max_dest_rd_atomic = attributes->responder_resources,
		.min_rnr_timer = attributes->min_rnr_timer,
		.port_num = attributes->port_number,
		.timeout = attributes->timeout,
		.retry_cnt = attributes->retry_count,
		.rnr_retry = attributes->rnr_retry,
		.alt_port_num = attributes->alternate_address.port_number,
		.alt_timeout = attributes->alternate_timeout,
		.rate_limit = attributes->rate_limit,
	};
}

/* Programs set the same attributes on both ends of an XRC connection as on RC, and rdma-core
 * accepts that. Attributes of the half that an XRC QP lacks are ignored. */
static uint32_t attributes_that_count(enum ibv_qp_type type, int mask)
{
	const int of_responders = IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER;
	const int of_requesters = IBV_QP_MAX_QP_RD_ATOMIC | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY;

	if (type == IBV_QPT_XRC_SEND)
		mask &= ~of_responders;
	else if (type == IBV_QPT_XRC_RECV)
		mask &= ~of_requesters;
	return (uint32_t)mask;
}

int ibv_modify_qp(struct ibv_qp *public, struct ibv_qp_attr *attr, int mask)
{
	if (!handle_is_live(HANDLE_QP, public) || !attr)
		return verbs_result(-EINVAL);

	struct verbs_qp *qp = qp_of(public);
	const struct qp_attributes attributes = attributes_from(attr);
	int fault = injected_fault(VERB_MODIFY_QP);

	if (unlikely(fault))
		return verbs_result(fault);
	if (mask & IBV_QP_STATE && (unsigned)attr->qp_state > IBV_QPS_ERR)
		return verbs_result(-EINVAL);
	adapter_lock(qp->adapter);

	/* Another process may be using the XRC target. */
	int error = adapter_target_hold(qp->adapter, qp->object);

	if (error) {
		adapter_unlock(qp->adapter);
		return verbs_result(error);
	}

	time_ns now = adapter_now(qp->adapter);

	if (mask & IBV_QP_STATE &&
	    (attr->qp_state == IBV_QPS_ERR || attr->qp_state == IBV_QPS_RESET))
		adapter_last_answers(qp->adapter, qp->object, now);
	error = qp_object_modify(qp->object, now, &attributes,
				 attributes_that_count(public->qp_type, mask));
	adapter_target_release(qp->adapter, qp->object);
	if (!error && mask & IBV_QP_STATE)
	public->state = attr->qp_state;
	if (!error && mask & IBV_QP_STATE && attr->qp_state == IBV_QPS_RTR)
		adapter_prepare(qp->adapter, qp->object, now);
	if (unlikely(warnings_are_on && !error))
		misuse_modify_qp(qp, attr, (int)attributes_that_count(public->qp_type, mask));
	adapter_transmit(qp->adapter, now);
	adapter_unlock(qp->adapter);
	return verbs_result(error);
}

/* ibv_modify_qp can set the rate limit too; burst size and packet size only exist here. */
int verbs_modify_qp_rate_limit(struct ibv_qp *public, struct ibv_qp_rate_limit_attr *attr)
{
	if (!attr)
		return verbs_result(-EINVAL);

	struct verbs_qp *qp = qp_of(public);
	const struct qp_attributes attributes = {
		.rate_limit = attr->rate_limit,
		.burst_bytes = attr->max_burst_sz,
		.typical_packet_bytes = attr->typical_pkt_sz,
	};

	if (attr->comp_mask || public->qp_type == IBV_QPT_XRC_RECV)
		return verbs_result(-EINVAL);
	adapter_lock(qp->adapter);

	time_ns now = adapter_now(qp->adapter);
	int error = qp_object_modify(qp->object, now, &attributes, QP_HAS_RATE_LIMIT);

	adapter_transmit(qp->adapter, now);
	adapter_unlock(qp->adapter);
	return verbs_result(error);
}

int ibv_query_qp(struct ibv_qp *public, struct ibv_qp_attr *ret_attr, int mask,
		 struct ibv_qp_init_attr *ret_init_attr)
{
	if (!handle_is_live(HANDLE_QP, public) || !ret_attr || !ret_init_attr)
		return verbs_result(-EINVAL);

	struct verbs_qp *qp = qp_of(public);
	struct qp_attributes attributes;

	/* All attributes are returned whatever the mask asks for: that costs no more. */
	adapter_lock(qp->adapter);

	int error = adapter_target_hold(qp->adapter, qp->object);

	if (error) {
		adapter_unlock(qp->adapter);
		return verbs_result(error);
	}
	qp_query(&qp->object->qp, &attributes);
	adapter_target_release(qp->adapter, qp->object);

	const struct ibv_qp_cap cap = capabilities_to(&qp->object->qp.capabilities);
	bool signals_all = qp->object->qp.signal_all;

	adapter_unlock(qp->adapter);
	*ret_attr = attributes_to(&attributes);
	ret_attr->cap = cap;
	/* rdma-core updates state only if the mask asks for it, and programs compare state with
	 * what they set last: UCX queries other attributes of a QP that failed. */
	if (mask & IBV_QP_STATE)
	public->state = ret_attr->qp_state;
	*ret_init_attr = (struct ibv_qp_init_attr){
		.qp_context = public->qp_context,
		.send_cq = public->send_cq,
		.recv_cq = public->recv_cq,
		.srq = public->srq,
		.cap = cap,
		.qp_type = public->qp_type,
		.sq_sig_all = signals_all,
	};
	return 0;
}

/* softib may copy the bytes of one message in any order. */
int ibv_query_qp_data_in_order(struct ibv_qp *qp, enum ibv_wr_opcode opcode, uint32_t flags)
{
	(void)qp;
	(void)opcode;
	(void)flags;
	return 0;
}
