/* SPDX-License-Identifier: Apache-2.0 */
/* Calls that create and destroy the verbs objects of an id: QP, CQs, SRQ. */
#include <errno.h>
#include <string.h>

#include <rdma/rdma_verbs.h>

#include "api/librdmacm/identifier.h"

static void destroy_cqs(struct identifier *identifier)
{
	struct rdma_cm_id *id = &identifier->public;

	if (!identifier->has_own_cqs)
		return;
	identifier->has_own_cqs = false;
	if (id->recv_cq)
		ibv_destroy_cq(id->recv_cq);
	if (id->send_cq && id->send_cq != id->recv_cq)
		ibv_destroy_cq(id->send_cq);
	if (id->recv_cq_channel)
		ibv_destroy_comp_channel(id->recv_cq_channel);
	if (id->send_cq_channel && id->send_cq_channel != id->recv_cq_channel)
		ibv_destroy_comp_channel(id->send_cq_channel);
	id->recv_cq = NULL;
	id->send_cq = NULL;
	id->recv_cq_channel = NULL;
	id->send_cq_channel = NULL;
}

static int make_cq(struct rdma_cm_id *id, uint32_t entries, struct ibv_comp_channel **ret_channel,
		   struct ibv_cq **ret_cq)
{
	*ret_channel = ibv_create_comp_channel(id->verbs);
	if (!*ret_channel)
		return -errno;
	*ret_cq = ibv_create_cq(id->verbs, entries ? (int)entries : 1, id, *ret_channel, 0);
	return *ret_cq ? 0 : -errno;
}

/* Creates the CQs that the program did not supply. */
static int make_cqs(struct identifier *identifier, uint32_t send_entries, uint32_t receive_entries)
{
	struct rdma_cm_id *id = &identifier->public;
	int error = 0;

	identifier->has_own_cqs = true;
	if (receive_entries)
		error = make_cq(id, receive_entries, &id->recv_cq_channel, &id->recv_cq);
	if (!error && send_entries)
		error = make_cq(id, send_entries, &id->send_cq_channel, &id->send_cq);
	if (error)
		destroy_cqs(identifier);
	return error;
}

static int move_to_init(struct identifier *identifier, struct ibv_qp *qp)
{
	struct ibv_qp_attr attr = {.qp_state = IBV_QPS_INIT};
	int mask;

	if (rdma_init_qp_attr(&identifier->public, &attr, &mask) != 0)
		return errno;
	return ibv_modify_qp(qp, &attr, mask);
}

/* A UD QP needs no peer, so it goes to RTS at once. */
static int move_to_send(struct identifier *identifier, struct ibv_qp *qp)
{
	struct ibv_qp_attr attr = {.qp_state = IBV_QPS_RTR};
	int error = move_to_init(identifier, qp);

	if (!error)
		error = ibv_modify_qp(qp, &attr, IBV_QP_STATE);
	if (error)
		return error;
	attr = (struct ibv_qp_attr){.qp_state = IBV_QPS_RTS, .sq_psn = 0};
	return ibv_modify_qp(qp, &attr, IBV_QP_STATE | IBV_QP_SQ_PSN);
}

static int complete_attributes(struct identifier *identifier, struct ibv_qp_init_attr_ex *attr)
{
	struct rdma_cm_id *id = &identifier->public;

	if (!(attr->comp_mask & IBV_QP_INIT_ATTR_PD) && attr->qp_type != IBV_QPT_XRC_RECV) {
		attr->comp_mask |= IBV_QP_INIT_ATTR_PD;
		attr->pd = id->pd;
	}
	if (attr->qp_type == IBV_QPT_XRC_RECV && !(attr->comp_mask & IBV_QP_INIT_ATTR_XRCD)) {
		attr->comp_mask |= IBV_QP_INIT_ATTR_XRCD;
		attr->xrcd = devices_xrcd(id->verbs);
		if (!attr->xrcd)
			return -errno;
	}

	bool needs_receive = !attr->recv_cq && !attr->srq && attr->qp_type != IBV_QPT_XRC_SEND &&
			     attr->qp_type != IBV_QPT_XRC_RECV;
	bool needs_send = !attr->send_cq && attr->qp_type != IBV_QPT_XRC_RECV;

	/* If the id has an SRQ with a CQ, that CQ takes the receive completions. */
	if (!attr->recv_cq && attr->srq && id->recv_cq)
		attr->recv_cq = id->recv_cq;
	else if (!attr->recv_cq && attr->srq)
		needs_receive = true;
	if (needs_send || needs_receive) {
		uint32_t receives = attr->cap.max_recv_wr ? attr->cap.max_recv_wr : 1;
		uint32_t sends = attr->cap.max_send_wr ? attr->cap.max_send_wr : 1;
		int error =
			make_cqs(identifier, needs_send ? sends : 0, needs_receive ? receives : 0);

		if (error)
			return error;
	}
	if (needs_send)
		attr->send_cq = id->send_cq;
	if (needs_receive)
		attr->recv_cq = id->recv_cq;
	if (!attr->recv_cq)
		attr->recv_cq = attr->send_cq;
	return 0;
}

int rdma_create_qp_ex(struct rdma_cm_id *id, struct ibv_qp_init_attr_ex *attr)
{
	struct identifier *identifier = identifier_of(id);

	if (!id->verbs || id->qp || !attr)
		return rdma_result(-EINVAL);
	if ((attr->comp_mask & IBV_QP_INIT_ATTR_PD) && attr->pd && attr->pd->context != id->verbs)
		return rdma_result(-EINVAL);
	if ((attr->recv_cq && id->recv_cq && !attr->srq) || (attr->send_cq && id->send_cq))
		return rdma_result(-EINVAL);

	int error = complete_attributes(identifier, attr);

	if (error)
		return rdma_result(error);

	struct ibv_qp *qp = ibv_create_qp_ex(id->verbs, attr);

	error = qp ? 0 : errno;
	if (!error)
		error = attr->qp_type == IBV_QPT_UD ? move_to_send(identifier, qp)
						    : move_to_init(identifier, qp);
	if (error) {
		if (qp)
			ibv_destroy_qp(qp);
		destroy_cqs(identifier);
		return rdma_result(-error);
	}
	if (attr->comp_mask & IBV_QP_INIT_ATTR_PD)
		id->pd = attr->pd;
	id->qp = qp;
	if (!id->srq && attr->srq)
		id->srq = attr->srq;
	if (!id->send_cq)
		id->send_cq = attr->send_cq;
	if (!id->recv_cq)
		id->recv_cq = attr->recv_cq;
	return 0;
}

int rdma_create_qp(struct rdma_cm_id *id, struct ibv_pd *pd, struct ibv_qp_init_attr *qp_init_attr)
{
	struct ibv_qp_init_attr_ex attr = {0};

	if (!qp_init_attr)
		return rdma_result(-EINVAL);
	/* The common fields have the same offsets in both structs. */
	memcpy(&attr, qp_init_attr, sizeof(*qp_init_attr));
	attr.comp_mask = pd ? IBV_QP_INIT_ATTR_PD : 0;
	attr.pd = pd;

	int result = rdma_create_qp_ex(id, &attr);

	if (result == 0)
		memcpy(qp_init_attr, &attr, sizeof(*qp_init_attr));
	return result;
}

void rdma_destroy_qp(struct rdma_cm_id *id)
{
	struct identifier *identifier = identifier_of(id);

	if (!id->qp)
		return;
	ibv_destroy_qp(id->qp);
	id->qp = NULL;
	if (identifier->has_own_cqs) {
		destroy_cqs(identifier);
	} else {
		id->send_cq = NULL;
		id->recv_cq = NULL;
	}
	id->pd = identifier->default_pd;
}

int rdma_create_srq_ex(struct rdma_cm_id *id, struct ibv_srq_init_attr_ex *attr)
{
	struct identifier *identifier = identifier_of(id);
	bool is_xrc = (attr->comp_mask & IBV_SRQ_INIT_ATTR_TYPE) && attr->srq_type == IBV_SRQT_XRC;

	if (!id->verbs || id->srq)
		return rdma_result(-EINVAL);
	if (!(attr->comp_mask & IBV_SRQ_INIT_ATTR_PD) || !attr->pd) {
		attr->pd = id->pd;
		attr->comp_mask |= IBV_SRQ_INIT_ATTR_PD;
	}
	if (is_xrc && (!(attr->comp_mask & IBV_SRQ_INIT_ATTR_XRCD) || !attr->xrcd)) {
		attr->xrcd = devices_xrcd(id->verbs);
		if (!attr->xrcd)
			return -1;
		attr->comp_mask |= IBV_SRQ_INIT_ATTR_XRCD;
	}
	if (is_xrc && (!(attr->comp_mask & IBV_SRQ_INIT_ATTR_CQ) || !attr->cq)) {
		int error = make_cqs(identifier, 0, attr->attr.max_wr);

		if (error)
			return rdma_result(error);
		attr->cq = id->recv_cq;
		attr->comp_mask |= IBV_SRQ_INIT_ATTR_CQ;
	}

	struct ibv_srq *srq = ibv_create_srq_ex(id->verbs, attr);

	if (!srq) {
		int error = errno;

		destroy_cqs(identifier);
		return rdma_result(-error);
	}
	if (!id->pd)
		id->pd = attr->pd;
	id->srq = srq;
	return 0;
}

int rdma_create_srq(struct rdma_cm_id *id, struct ibv_pd *pd, struct ibv_srq_init_attr *attr)
{
	struct ibv_srq_init_attr_ex extended = {0};

	if (!attr)
		return rdma_result(-EINVAL);
	memcpy(&extended, attr, sizeof(*attr));
	extended.comp_mask = IBV_SRQ_INIT_ATTR_TYPE | IBV_SRQ_INIT_ATTR_PD;
	/* The receive side of XRC uses an XRC SRQ. */
	extended.srq_type = id->qp_type == IBV_QPT_XRC_RECV ? IBV_SRQT_XRC : IBV_SRQT_BASIC;
	extended.pd = pd;

	int result = rdma_create_srq_ex(id, &extended);

	if (result == 0)
		memcpy(attr, &extended, sizeof(*attr));
	return result;
}

void rdma_destroy_srq(struct rdma_cm_id *id)
{
	struct identifier *identifier = identifier_of(id);

	if (!id->srq)
		return;
	ibv_destroy_srq(id->srq);
	id->srq = NULL;
	if (!id->qp)
		destroy_cqs(identifier);
}
