/* SPDX-License-Identifier: Apache-2.0 */
/* Creating and opening QPs (vol 1, chapter 11). */
#include "api/libibverbs/objects/objects.h"

#include <stdlib.h>
#include <infiniband/ofa_verbs.h>
#include "api/libibverbs/ece.h"
#include "api/libibverbs/objects/rd_objects.h"
#include "api/libibverbs/diagnostics/fault_injection.h"
#include "api/libibverbs/objects/handles.h"
#include "api/libibverbs/diagnostics/misuse.h"
#include "api/libibverbs/objects/operations.h"
#include "api/libibverbs/objects/qpn_supply.h"
#include "api/libibverbs/qp_attributes.h"
#include "api/libibverbs/data/wr_builder.h"
#include "runtime/raw_claims.h"
#include "runtime/xrc/shared_domains.h"
#include "net/hca/raw_qps.h"

static int check_type(enum ibv_qp_type type)
{
	switch ((unsigned)type) {
	case IBV_QPT_RC:
	case IBV_QPT_UC:
	case IBV_QPT_UD:
	case IBV_QPT_XRC_SEND:
	case IBV_QPT_XRC_RECV:
		return 0;
	case IBV_QPT_RAW_PACKET:
	case IBV_QPT_DRIVER:
		return -EOPNOTSUPP;
	default:
		return -EINVAL;
	}
}

/* A handle without a QP yet; NULL with errno. */
static struct verbs_qp *allocate(struct ibv_context *public, size_t public_bytes)
{
	struct verbs_qp *qp = calloc(1, offsetof(struct verbs_qp, qp) + public_bytes);

	if (!qp)
		return verbs_null(-ENOMEM);
	qp->adapter = context_of(public)->adapter;
	list_init(&qp->context_link);
	list_init(&qp->sharers);
	qp->qp.context = public;
	pthread_mutex_init(&qp->qp.mutex, NULL);
	pthread_cond_init(&qp->qp.cond, NULL);
	return qp;
}

static void show_object(struct verbs_qp *qp, enum ibv_qp_type type, void *qp_context)
{
	qp->qp.qp_context = qp_context;
	qp->qp.handle = qp->object->handle;
	qp->qp.qp_num = qp->object->qp.qpn;
	qp->qp.state = (enum ibv_qp_state)qp->object->qp.state;
	qp->qp.qp_type = type;
}

static int make_object(struct verbs_qp *qp, struct context_object *context,
		       const struct qp_options *options)
{
	struct hca *hca = adapter_hca(context->adapter);
	bool is_known_to_others = options->xrcd && options->xrcd->id;
	int error = is_known_to_others
			    ? adapter_target_create(context->adapter, options, &qp->object)
			    : 0;

	if (error)
		return error;
	adapter_lock(context->adapter);
	if (!is_known_to_others) {
		unsigned tries = 0;

		do
			error = qp_object_create(hca, options, &qp->object);
		while (qpn_supply_refilled(context->adapter, &tries, &error));
	}
	if (!error) {
		context->object_count++;
		list_append(&context->qps, &qp->context_link);
		if (unlikely(warnings_are_on))
			misuse_create_qp(qp);
	}
	adapter_unlock(context->adapter);
	return error;
}

static struct cq *cq_object(struct ibv_cq *cq)
{
	return cq ? cq_of(cq)->object : NULL;
}

/* The options that the attributes ask for. Fields that the QP type does not use are ignored,
 * because programs fill them in anyway. */
static struct qp_options options_from(const struct ibv_qp_init_attr_ex *attr)
{
	struct qp_options options = {.type = (enum qp_type)attr->qp_type};

	if (attr->qp_type == IBV_QPT_XRC_RECV) {
		if (attr->comp_mask & IBV_QP_INIT_ATTR_XRCD && attr->xrcd)
			options.xrcd = xrcd_of(attr->xrcd)->domain;
		return options;
	}
	if (attr->comp_mask & IBV_QP_INIT_ATTR_PD && attr->pd)
		options.pd = pd_of(attr->pd)->domain;
	options.send_cq = cq_object(attr->send_cq);
	options.signal_all = attr->sq_sig_all != 0;
	options.capabilities = capabilities_from(&attr->cap);
	if (attr->qp_type == IBV_QPT_XRC_SEND)
		return options;
	options.receive_cq = cq_object(attr->recv_cq);
	options.srq = attr->srq ? srq_of(attr->srq)->object : NULL;
	return options;
}

/* Uses memory from the parent domain's allocator, if the program gave one. -ENOMEM. */
static int take_queue_memory(struct verbs_qp *qp, struct ibv_pd *pd)
{
	struct send_queue *sends = &qp->object->qp.requester.queue;
	struct receive_queue *receives = &qp->object->qp.own_receives;
	const size_t sizes[QUEUE_MEMORY_PIECES] = {send_queue_bytes(sends),
						   receive_queue_bytes(receives)};
	int error = queue_memory_allocate(&qp->queue_memory, pd, QUEUE_MEMORY_FOR_QP, sizes);

	if (error)
		return error;
	adapter_lock(qp->adapter);
	if (qp->queue_memory.pieces[0])
		send_queue_use_memory(sends, qp->queue_memory.pieces[0]);
	if (qp->queue_memory.pieces[1])
		receive_queue_use_memory(receives, qp->queue_memory.pieces[1]);
	adapter_unlock(qp->adapter);
	return 0;
}

/* Arguments of softib's own calls, which have no field in ibv_qp_init_attr_ex. */
struct beyond_verbs {
	struct rdd *rdd;     /* of an RD queue pair; NULL for all others */
	uint8_t port_number; /* of a raw QP; 0 for all others */
};

static const struct beyond_verbs plain;

static struct verbs_qp *create(struct ibv_context *public, struct ibv_qp_init_attr_ex *attr,
			       const struct beyond_verbs *beyond, size_t public_bytes)
{
	int fault = injected_fault(VERB_CREATE_QP);

	if (unlikely(fault))
		return verbs_null(fault);

	struct verbs_qp *qp = allocate(public, public_bytes);

	if (!qp)
		return NULL;

	struct qp_options options = options_from(attr);

	options.context = qp;
	options.rdd = beyond->rdd;
	options.port_number = beyond->port_number;

	int error = make_object(qp, context_of(public), &options);

	if (error) {
		free(qp);
		return verbs_null(error);
	}
	handle_add(HANDLE_QP, &qp->qp);
	show_object(qp, attr->qp_type, attr->qp_context);
	qp->qp.pd = options.pd ? attr->pd : NULL;
	qp->qp.send_cq = options.send_cq ? attr->send_cq : NULL;
	qp->qp.recv_cq = options.receive_cq ? attr->recv_cq : NULL;
	qp->qp.srq = options.srq ? attr->srq : NULL;
	if (take_queue_memory(qp, qp->qp.pd) != 0) {
		ibv_destroy_qp(&qp->qp);
		return verbs_null(-ENOMEM);
	}
	ece_set_default(&qp->object->qp);
	attr->cap = capabilities_to(&qp->object->qp.capabilities);
	return qp;
}

/* The caller has checked the type and the PD. */
static struct ibv_qp *create_plain(struct ibv_pd *pd, struct ibv_qp_init_attr *attr,
				   enum ibv_qp_type type, const struct beyond_verbs *beyond)
{
	struct ibv_qp_init_attr_ex extended = {
		.qp_context = attr->qp_context,
		.send_cq = attr->send_cq,
		.recv_cq = attr->recv_cq,
		.srq = attr->srq,
		.cap = attr->cap,
		.qp_type = type,
		.sq_sig_all = attr->sq_sig_all,
		.comp_mask = IBV_QP_INIT_ATTR_PD,
		.pd = pd,
	};
	struct verbs_qp *qp = create(pd->context, &extended, beyond, sizeof(struct ibv_qp));

	if (!qp)
		return NULL;
	attr->cap = extended.cap;
	return &qp->qp;
}

struct ibv_qp *ibv_create_qp(struct ibv_pd *pd, struct ibv_qp_init_attr *attr)
{
	if (!handle_is_live(HANDLE_PD, pd) || !attr)
		return verbs_null(-EINVAL);
	/* IBV_QPT_XRC is OFED's old name of IBV_QPT_XRC_SEND. */
	enum ibv_qp_type type = attr->qp_type == IBV_QPT_XRC ? IBV_QPT_XRC_SEND : attr->qp_type;
	int error = check_type(type);

	return error ? verbs_null(error) : create_plain(pd, attr, type, &plain);
}

struct ibv_qp *softib_create_rd_qp(struct ibv_pd *pd, struct softib_rdd *rdd,
				   struct ibv_qp_init_attr *attr)
{
	if (!pd || !rdd || !attr || attr->qp_type != SOFTIB_QPT_RD ||
	    context_of(pd->context)->adapter != context_of(rdd->context)->adapter)
		return verbs_null(-EINVAL);
	return create_plain(pd, attr, SOFTIB_QPT_RD, &(struct beyond_verbs){.rdd = rdd_of(rdd)});
}

/* Claims the port's raw packets before it creates the QP. The claim ends with the QP. */
struct ibv_qp *softib_create_raw_qp(struct ibv_pd *pd, uint8_t port_num,
				    struct ibv_qp_init_attr *attr)
{
	if (!handle_is_live(HANDLE_PD, pd) || !attr || attr->srq ||
	    !qp_type_is_raw((enum qp_type)attr->qp_type))
		return verbs_null(-EINVAL);

	struct adapter *adapter = context_of(pd->context)->adapter;
	enum raw_kind kind = raw_kind_of((enum qp_type)attr->qp_type);
	int error = adapter_raw_claim(adapter, port_num, kind);

	if (error)
		return verbs_null(error);

	struct ibv_qp *qp = create_plain(pd, attr, attr->qp_type,
					 &(struct beyond_verbs){.port_number = port_num});

	if (!qp) {
		error = errno;
		adapter_lock(adapter);
		adapter_raw_release(adapter, port_num, kind);
		adapter_unlock(adapter);
		errno = error;
	}
	return qp;
}

struct ibv_qp *verbs_create_qp_ex(struct ibv_context *context, struct ibv_qp_init_attr_ex *attr)
{
	const uint32_t known_flags =
		IBV_QP_CREATE_BLOCK_SELF_MCAST_LB | IBV_QP_CREATE_PCI_WRITE_END_PADDING;
	const uint32_t known = IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_XRCD |
			       IBV_QP_INIT_ATTR_CREATE_FLAGS | IBV_QP_INIT_ATTR_SEND_OPS_FLAGS;
	bool is_extended = attr->comp_mask & IBV_QP_INIT_ATTR_SEND_OPS_FLAGS;
	int error = check_type(attr->qp_type);

	if (error)
		return verbs_null(error);
	if (attr->comp_mask & ~known ||
	    (attr->comp_mask & IBV_QP_INIT_ATTR_CREATE_FLAGS && attr->create_flags & ~known_flags))
		return verbs_null(-EOPNOTSUPP);
	if (is_extended && attr->send_ops_flags & ~wr_builder_operations(attr->qp_type))
		return verbs_null(-EOPNOTSUPP);
	/* An ATOMIC WRITE carries its value inline in the request. */
	if (is_extended && attr->send_ops_flags & IBV_QP_EX_WITH_ATOMIC_WRITE &&
	    attr->cap.max_inline_data < ATOMIC_BYTES)
		attr->cap.max_inline_data = ATOMIC_BYTES;

	struct verbs_qp *qp =
		create(context, attr, &plain,
		       is_extended ? sizeof(struct softib_qp_ex) : sizeof(struct ibv_qp));

	if (!qp)
		return NULL;
	if (attr->comp_mask & IBV_QP_INIT_ATTR_CREATE_FLAGS)
		qp->object->blocks_own_multicast =
			attr->create_flags & IBV_QP_CREATE_BLOCK_SELF_MCAST_LB;
	error = is_extended ? wr_builder_attach(qp) : 0;
	if (error) {
		ibv_destroy_qp(&qp->qp);
		return verbs_null(error);
	}
	return &qp->qp;
}

struct ibv_qp_ex *ibv_qp_to_qp_ex(struct ibv_qp *public)
{
	if (!public)
		return NULL;

	struct verbs_qp *qp = qp_of(public);

	return qp->builder ? &qp_extended(qp)->base : NULL;
}

/* Adds a handle to an XRC target that this process has opened before. The adapter's lock is
 * held. */
static void share_handle(struct verbs_qp *qp, struct qp_object *object)
{
	struct verbs_qp *sharer = object->context;

	qp->object = object;
	list_append(&sharer->sharers, &qp->sharers);
}

static int open_target(struct verbs_qp *qp, struct xrcd *domain, uint32_t qpn)
{
	adapter_lock(qp->adapter);

	struct qp_object *object = xrcd_target(domain, qpn);
	bool is_here = object && object->context;

	if (is_here)
		share_handle(qp, object);
	adapter_unlock(qp->adapter);
	if (is_here)
		return 0;
	return domain->id ? adapter_target_open(qp->adapter, domain, qpn, qp, &qp->object)
			  : -EINVAL;
}

/* Opens another handle of an XRC target. The target lives until its last handle in any process is
 * destroyed. */
struct ibv_qp *verbs_open_qp(struct ibv_context *public, struct ibv_qp_open_attr *attr)
{
	if (!attr)
		return verbs_null(-EINVAL);

	const uint32_t needed =
		IBV_QP_OPEN_ATTR_NUM | IBV_QP_OPEN_ATTR_XRCD | IBV_QP_OPEN_ATTR_TYPE;
	struct context_object *context = context_of(public);

	if (attr->comp_mask >= IBV_QP_OPEN_ATTR_RESERVED)
		return verbs_null(-EOPNOTSUPP);
	if ((attr->comp_mask & needed) != needed || attr->qp_type != IBV_QPT_XRC_RECV)
		return verbs_null(-EINVAL);

	struct verbs_qp *qp = allocate(public, sizeof(struct ibv_qp));

	if (!qp)
		return NULL;

	int error = open_target(qp, xrcd_of(attr->xrcd)->domain, attr->qp_num);

	if (error) {
		free(qp);
		return verbs_null(error);
	}
	adapter_lock(context->adapter);
	list_append(&context->qps, &qp->context_link);
	context->object_count++;
	show_object(qp, attr->qp_type,
		    attr->comp_mask & IBV_QP_OPEN_ATTR_CONTEXT ? attr->qp_context : NULL);
	adapter_unlock(context->adapter);
	handle_add(HANDLE_QP, &qp->qp);
	return &qp->qp;
}
