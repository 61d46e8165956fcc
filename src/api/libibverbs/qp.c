/* SPDX-License-Identifier: Apache-2.0 */
/* Queue pairs: creation, attributes, destruction (vol 1, chapter 11). */
#include "api/libibverbs/objects.h"

#include <stdlib.h>
#include "api/libibverbs/address.h"
#include "api/libibverbs/events.h"
#include "api/libibverbs/operations.h"
#include "api/libibverbs/wr_builder.h"

/* Each try asks softibd for a block of numbers that another thread may use up meanwhile. */
enum { QPN_TRIES_MAX = 16 };

static struct qp_capabilities capabilities_from(const struct ibv_qp_cap *cap)
{
	return (struct qp_capabilities){
		.send_requests_max = cap->max_send_wr,
		.receive_requests_max = cap->max_recv_wr,
		.send_sges_max = cap->max_send_sge,
		.receive_sges_max = cap->max_recv_sge,
		.inline_bytes_max = cap->max_inline_data,
	};
}

static struct ibv_qp_cap capabilities_to(const struct qp_capabilities *capabilities)
{
	return (struct ibv_qp_cap){
		.max_send_wr = capabilities->send_requests_max,
		.max_recv_wr = capabilities->receive_requests_max,
		.max_send_sge = capabilities->send_sges_max,
		.max_recv_sge = capabilities->receive_sges_max,
		.max_inline_data = capabilities->inline_bytes_max,
	};
}

static int check_type(enum ibv_qp_type type)
{
	switch ((unsigned)type) {
	case IBV_QPT_RC:
	case IBV_QPT_UC:
	case IBV_QPT_UD:
		return 0;
	case IBV_QPT_RAW_PACKET:
	case IBV_QPT_XRC_SEND:
	case IBV_QPT_XRC_RECV:
	case IBV_QPT_DRIVER:
		return -EOPNOTSUPP;
	default:
		return -EINVAL;
	}
}

static int make_object(struct verbs_qp *qp, struct context_object *context,
		       const struct qp_options *options)
{
	struct hca *hca = adapter_hca(context->adapter);

	adapter_lock(context->adapter);

	int error = qp_object_create(hca, options, &qp->object);

	for (unsigned i = 0; error == -EAGAIN && i < QPN_TRIES_MAX; i++) {
		error = adapter_more_qpns(context->adapter);
		if (!error)
			error = qp_object_create(hca, options, &qp->object);
	}
	if (!error)
		context->object_count++;
	adapter_unlock(context->adapter);
	return error == -EAGAIN ? -ENOMEM : error;
}

/* What both ways to create begin with; the extended attributes begin with the plain ones. */
static struct verbs_qp *create(struct ibv_pd *pd, struct ibv_qp_init_attr *attr,
			       size_t public_bytes)
{
	struct context_object *context = context_of(pd->context);
	int error = check_type(attr->qp_type);

	if (error)
		return verbs_null(error);
	if (!attr->send_cq || !attr->recv_cq)
		return verbs_null(-EINVAL);

	struct verbs_qp *qp = calloc(1, offsetof(struct verbs_qp, qp) + public_bytes);

	if (!qp)
		return verbs_null(-ENOMEM);

	const struct qp_options options = {
		.type = (enum qp_type)attr->qp_type,
		.pd = pd_of(pd)->domain,
		.send_cq = cq_of(attr->send_cq)->object,
		.receive_cq = cq_of(attr->recv_cq)->object,
		.srq = attr->srq ? srq_of(attr->srq)->object : NULL,
		.signal_all = attr->sq_sig_all != 0,
		.capabilities = capabilities_from(&attr->cap),
		.context = qp,
	};

	qp->adapter = context->adapter;
	qp->qp.context = pd->context;
	error = make_object(qp, context, &options);
	if (error) {
		free(qp);
		return verbs_null(error);
	}
	qp->qp.qp_context = attr->qp_context;
	qp->qp.pd = pd;
	qp->qp.send_cq = attr->send_cq;
	qp->qp.recv_cq = attr->recv_cq;
	qp->qp.srq = attr->srq;
	qp->qp.handle = qp->object->handle;
	qp->qp.qp_num = qp->object->qp.qpn;
	qp->qp.state = IBV_QPS_RESET;
	qp->qp.qp_type = attr->qp_type;
	pthread_mutex_init(&qp->qp.mutex, NULL);
	pthread_cond_init(&qp->qp.cond, NULL);
	attr->cap = capabilities_to(&qp->object->qp.capabilities);
	return qp;
}

struct ibv_qp *ibv_create_qp(struct ibv_pd *pd, struct ibv_qp_init_attr *attr)
{
	struct verbs_qp *qp = create(pd, attr, sizeof(struct ibv_qp));

	return qp ? &qp->qp : NULL;
}

struct ibv_qp *verbs_create_qp_ex(struct ibv_context *context, struct ibv_qp_init_attr_ex *attr)
{
	const uint32_t known = IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_CREATE_FLAGS |
			       IBV_QP_INIT_ATTR_SEND_OPS_FLAGS;
	int error = check_type(attr->qp_type);

	(void)context;
	if (error)
		return verbs_null(error);
	if (attr->comp_mask & ~known ||
	    (attr->comp_mask & IBV_QP_INIT_ATTR_CREATE_FLAGS && attr->create_flags))
		return verbs_null(-EOPNOTSUPP);
	if (!(attr->comp_mask & IBV_QP_INIT_ATTR_PD) || !attr->pd)
		return verbs_null(-EINVAL);
	if (!(attr->comp_mask & IBV_QP_INIT_ATTR_SEND_OPS_FLAGS))
		return ibv_create_qp(attr->pd, (struct ibv_qp_init_attr *)attr);
	if (attr->send_ops_flags & ~wr_builder_operations(attr->qp_type))
		return verbs_null(-EOPNOTSUPP);

	struct verbs_qp *qp =
		create(attr->pd, (struct ibv_qp_init_attr *)attr, sizeof(struct softib_qp_ex));

	if (!qp)
		return NULL;
	error = wr_builder_attach(qp);
	if (error) {
		ibv_destroy_qp(&qp->qp);
		return verbs_null(error);
	}
	return &qp->qp;
}

struct ibv_qp_ex *ibv_qp_to_qp_ex(struct ibv_qp *public)
{
	struct verbs_qp *qp = qp_of(public);

	return qp->builder ? &qp_extended(qp)->base : NULL;
}

static struct qp_attributes attributes_from(const struct ibv_qp_attr *attr)
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

static struct ibv_qp_attr attributes_to(const struct qp_attributes *attributes)
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

int ibv_modify_qp(struct ibv_qp *public, struct ibv_qp_attr *attr, int mask)
{
	struct verbs_qp *qp = qp_of(public);
	const struct qp_attributes attributes = attributes_from(attr);

	if (mask & IBV_QP_STATE && (unsigned)attr->qp_state > IBV_QPS_ERR)
		return verbs_result(-EINVAL);
	adapter_lock(qp->adapter);

	time_ns now = adapter_now(qp->adapter);
	int error = qp_object_modify(qp->object, now, &attributes, (uint32_t)mask);

	if (!error && mask & IBV_QP_STATE)
	public->state = attr->qp_state;
	adapter_transmit(qp->adapter, now);
	adapter_unlock(qp->adapter);
	return verbs_result(error);
}

int ibv_query_qp(struct ibv_qp *public, struct ibv_qp_attr *ret_attr, int mask,
		 struct ibv_qp_init_attr *ret_init_attr)
{
	struct verbs_qp *qp = qp_of(public);
	struct qp_attributes attributes;

	(void)mask; /* all of it costs no more */
	adapter_lock(qp->adapter);
	qp_query(&qp->object->qp, &attributes);

	const struct ibv_qp_cap cap = capabilities_to(&qp->object->qp.capabilities);
	bool signals_all = qp->object->qp.signal_all;

	adapter_unlock(qp->adapter);
	*ret_attr = attributes_to(&attributes);
	ret_attr->cap = cap;
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

/* Bytes of one message may be copied in any order. */
int ibv_query_qp_data_in_order(struct ibv_qp *qp, enum ibv_wr_opcode opcode, uint32_t flags)
{
	(void)qp;
	(void)opcode;
	(void)flags;
	return 0;
}

int ibv_destroy_qp(struct ibv_qp *public)
{
	struct verbs_qp *qp = qp_of(public);
	struct context_object *context = context_of(public->context);
	int error = 0;

	adapter_lock(qp->adapter);
	/* Closing its device has destroyed the queue pair but not what the program holds of it. */
	if (qp->object)
		error = qp_object_destroy(qp->object);
	if (!error)
		context->object_count--;
	adapter_unlock(qp->adapter);
	if (error)
		return verbs_result(error);

	uint32_t handed_out = events_forget(context, public, &qp->async_events_handed_out);

	events_wait_acknowledged(&public->mutex, &public->cond, &public->events_completed,
				 handed_out);
	wr_builder_detach(qp);
	free(qp);
	return 0;
}
