/* SPDX-License-Identifier: Apache-2.0 */
/* QPs of ids: the attributes that each state needs, and the state transitions. */
#include <errno.h>
#include <string.h>

#include "api/librdmacm/identifier.h"
#include "base/bytes.h"

enum { ACCESS_PEER = IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC };

static const struct {
	enum ibv_qp_type type;
	enum cm_qp_type kind;
} kinds[] = {
	{IBV_QPT_RC, CM_QP_RC},
	{IBV_QPT_UC, CM_QP_UC},
	{IBV_QPT_UD, CM_QP_UD},
	{IBV_QPT_XRC_SEND, CM_QP_XRC_SEND},
	{IBV_QPT_XRC_RECV, CM_QP_XRC_RECEIVE},
};

enum cm_qp_type queue_pair_kind(enum ibv_qp_type type)
{
	for (unsigned index = 0; index < ARRAY_COUNT(kinds); index++) {
		if (kinds[index].type == type)
			return kinds[index].kind;
	}
	return CM_QP_RC;
}

enum ibv_qp_type queue_pair_type(uint8_t kind)
{
	for (unsigned index = 0; index < ARRAY_COUNT(kinds); index++) {
		if (kinds[index].kind == kind)
			return kinds[index].type;
	}
	return IBV_QPT_RC;
}

static bool is_unreliable(const struct identifier *identifier)
{
	return identifier->public.qp_type == IBV_QPT_UC;
}

static void fill_init(const struct identifier *identifier, struct ibv_qp_attr *ret_attr,
		      int *ret_mask)
{
	ret_attr->pkey_index = identifier->pkey_index;
	ret_attr->port_num = identifier->public.port_num;
	*ret_mask = IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT;
	if (identifier->public.qp_type == IBV_QPT_UD) {
		ret_attr->qkey = identifier->qkey;
		*ret_mask |= IBV_QP_QKEY;
		return;
	}
	/* No remote access before the peer is known. */
	ret_attr->qp_access_flags = 0;
	if (identifier->terms.remote_qpn)
		ret_attr->qp_access_flags =
			is_unreliable(identifier) ? IBV_ACCESS_REMOTE_WRITE : ACCESS_PEER;
	*ret_mask |= IBV_QP_ACCESS_FLAGS;
}

static void fill_vector(const struct identifier *identifier, struct ibv_ah_attr *ret_attr)
{
	const struct cm_vector *vector = &identifier->terms.vector;

	*ret_attr = (struct ibv_ah_attr){.dlid = vector->dlid,
					 .sl = vector->sl,
					 .src_path_bits = vector->path_bits,
					 .static_rate = vector->rate,
					 .is_global = vector->has_grh,
					 .port_num = identifier->public.port_num};
	memcpy(ret_attr->grh.dgid.raw, vector->dgid.bytes, sizeof(vector->dgid.bytes));
	ret_attr->grh.flow_label = vector->flow_label;
	ret_attr->grh.hop_limit = vector->hop_limit;
	ret_attr->grh.traffic_class = vector->traffic_class;
}

static void fill_rtr(const struct identifier *identifier, struct ibv_qp_attr *ret_attr,
		     int *ret_mask)
{
	const struct cm_terms *terms = &identifier->terms;

	*ret_mask = IBV_QP_STATE;
	if (identifier->public.qp_type == IBV_QPT_UD)
		return;
	fill_vector(identifier, &ret_attr->ah_attr);
	ret_attr->path_mtu = (enum ibv_mtu)terms->path_mtu;
	ret_attr->dest_qp_num = terms->remote_qpn;
	ret_attr->rq_psn = terms->receive_psn;
	*ret_mask |= IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN;
	if (is_unreliable(identifier) || identifier->public.qp_type == IBV_QPT_XRC_SEND)
		return;
	ret_attr->max_dest_rd_atomic = terms->responder_resources;
	ret_attr->min_rnr_timer = 0;
	*ret_mask |= IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER;
}

static void fill_rts(const struct identifier *identifier, struct ibv_qp_attr *ret_attr,
		     int *ret_mask)
{
	const struct cm_terms *terms = &identifier->terms;

	*ret_mask = IBV_QP_STATE | IBV_QP_SQ_PSN;
	ret_attr->sq_psn = terms->send_psn;
	if (identifier->public.qp_type == IBV_QPT_UD || is_unreliable(identifier))
		return;
	ret_attr->timeout = terms->ack_timeout;
	*ret_mask |= IBV_QP_TIMEOUT;
	if (identifier->public.qp_type == IBV_QPT_XRC_RECV)
		return;
	ret_attr->retry_cnt = terms->retry_count;
	ret_attr->rnr_retry = terms->rnr_retry_count;
	ret_attr->max_rd_atomic = terms->initiator_depth;
	*ret_mask |= IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY | IBV_QP_MAX_QP_RD_ATOMIC;
}

int rdma_init_qp_attr(struct rdma_cm_id *id, struct ibv_qp_attr *qp_attr, int *qp_attr_mask)
{
	const struct identifier *identifier = identifier_of(id);

	if (!qp_attr || !qp_attr_mask)
		return rdma_result(-EINVAL);
	if (!id->verbs)
		return rdma_result(-EINVAL);
	if (qp_attr->qp_state == IBV_QPS_INIT) {
		fill_init(identifier, qp_attr, qp_attr_mask);
		return 0;
	}
	/* The peer's QPN comes with its request or response. */
	if (id->qp_type != IBV_QPT_UD && !identifier->terms.remote_qpn)
		return rdma_result(-EINVAL);
	if (qp_attr->qp_state == IBV_QPS_RTR)
		fill_rtr(identifier, qp_attr, qp_attr_mask);
	else if (qp_attr->qp_state == IBV_QPS_RTS)
		fill_rts(identifier, qp_attr, qp_attr_mask);
	else
		return rdma_result(-EINVAL);
	return 0;
}

int queue_pair_to_rtr(struct identifier *identifier, uint8_t responder_resources)
{
	struct ibv_qp *qp = identifier->public.qp;
	struct ibv_qp_attr attr = {.qp_state = IBV_QPS_INIT};
	int mask;

	/* INIT to INIT, to set the access flags for the peer. */
	fill_init(identifier, &attr, &mask);

	int error = ibv_modify_qp(qp, &attr, mask);

	if (error)
		return error;
	attr = (struct ibv_qp_attr){.qp_state = IBV_QPS_RTR};
	fill_rtr(identifier, &attr, &mask);
	if (responder_resources != RDMA_MAX_RESP_RES)
		attr.max_dest_rd_atomic = responder_resources;
	return ibv_modify_qp(qp, &attr, mask);
}

int queue_pair_to_rts(struct identifier *identifier, uint8_t initiator_depth)
{
	struct ibv_qp_attr attr = {.qp_state = IBV_QPS_RTS};
	int mask;

	fill_rts(identifier, &attr, &mask);
	if (initiator_depth != RDMA_MAX_INIT_DEPTH)
		attr.max_rd_atomic = initiator_depth;
	return ibv_modify_qp(identifier->public.qp, &attr, mask);
}

void queue_pair_to_error(struct identifier *identifier)
{
	struct ibv_qp_attr attr = {.qp_state = IBV_QPS_ERR};

	if (identifier->public.qp)
		ibv_modify_qp(identifier->public.qp, &attr, IBV_QP_STATE);
}
