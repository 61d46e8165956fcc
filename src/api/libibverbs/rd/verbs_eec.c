/* SPDX-License-Identifier: Apache-2.0 */
/* RD domains and EE contexts: the calls of softib/verbs.h that create, modify and destroy them (vol
 * 1, chapters 10, 11). */
#include "api/libibverbs/objects/rd_objects.h"

#include <stdlib.h>
#include "api/libibverbs/async_events.h"
#include "api/libibverbs/objects/qpn_supply.h"
#include "api/libibverbs/qp_attributes.h"
#include "net/hca/ee_contexts.h"
#include "net/hca/rdd.h"

enum { EVENT_BASE = 0x1000 };

static_assert(SOFTIB_EVENT_EEC_FATAL == EVENT_BASE + HCA_EVENT_QP_FATAL, "events are alike");
static_assert(SOFTIB_EVENT_EEC_COMM_EST == EVENT_BASE + HCA_EVENT_QP_ESTABLISHED,
	      "events are alike");
static_assert(SOFTIB_EVENT_EEC_PATH_MIG_ERR == EVENT_BASE + HCA_EVENT_PATH_MIGRATION_ERROR,
	      "events are alike");

enum softib_event_type eec_event_type(enum hca_event_type type)
{
	return (enum softib_event_type)(EVENT_BASE + type);
}

struct softib_rdd *softib_alloc_rdd(struct ibv_context *public)
{
	struct context_object *context;
	struct verbs_rdd *rdd;

	if (!public)
		return verbs_null(-EINVAL);
	context = context_of(public);
	rdd = calloc(1, sizeof(*rdd));
	if (!rdd)
		return verbs_null(-ENOMEM);
	adapter_lock(context->adapter);

	int error = rdd_alloc(adapter_hca(context->adapter), &rdd->domain);

	if (!error)
		context->object_count++;
	adapter_unlock(context->adapter);
	if (error) {
		free(rdd);
		return verbs_null(error);
	}
	rdd->rdd.context = public;
	rdd->rdd.handle = rdd->domain->handle;
	return &rdd->rdd;
}

int softib_dealloc_rdd(struct softib_rdd *public)
{
	struct context_object *context;

	if (!public)
		return verbs_result(-EINVAL);
	context = context_of(public->context);
	adapter_lock(context->adapter);

	int error = rdd_dealloc(rdd_of(public));

	adapter_unlock(context->adapter);
	if (error)
		return verbs_result(error);
	free(public);
	context_object_gone(context);
	return 0;
}

static int make_object(struct verbs_eec *eec, struct context_object *context, struct rdd *rdd)
{
	unsigned tries = 0;
	int error;

	adapter_lock(context->adapter);
	do
		error = eec_create(rdd, eec, &eec->object);
	while (qpn_supply_refilled(context->adapter, &tries, &error));
	if (!error) {
		context->object_count++;
		list_append(&context->eecs, &eec->context_link);
	}
	adapter_unlock(context->adapter);
	return error;
}

struct softib_eec *softib_create_eec(struct softib_rdd *rdd, void *eec_context)
{
	struct context_object *context;
	struct verbs_eec *eec;

	if (!rdd)
		return verbs_null(-EINVAL);
	context = context_of(rdd->context);
	eec = calloc(1, sizeof(*eec));
	if (!eec)
		return verbs_null(-ENOMEM);
	eec->adapter = context->adapter;
	eec->eec.context = rdd->context;
	eec->eec.rdd = rdd;
	eec->eec.eec_context = eec_context;
	list_init(&eec->context_link);

	int error = make_object(eec, context, rdd_of(rdd));

	if (error) {
		free(eec);
		return verbs_null(error);
	}
	eec->eec.handle = eec->object->handle;
	eec->eec.eec_num = eec->object->qp.qpn;
	eec->eec.state = IBV_QPS_RESET;
	pthread_mutex_init(&eec->eec.mutex, NULL);
	pthread_cond_init(&eec->eec.cond, NULL);
	return &eec->eec;
}

int softib_modify_eec(struct softib_eec *public, struct ibv_qp_attr *attr, int mask)
{
	struct verbs_eec *eec = eec_of(public);

	if (!public || !attr || (mask & IBV_QP_STATE && (unsigned)attr->qp_state > IBV_QPS_ERR))
		return verbs_result(-EINVAL);

	const struct qp_attributes attributes = attributes_from(attr);

	adapter_lock(eec->adapter);
	if (!eec->object) {
		adapter_unlock(eec->adapter);
		return verbs_result(-EINVAL);
	}

	time_ns now = adapter_now(eec->adapter);

	if (mask & IBV_QP_STATE &&
	    (attr->qp_state == IBV_QPS_ERR || attr->qp_state == IBV_QPS_RESET))
		adapter_last_answers(eec->adapter, eec->object, now);

	int error = qp_object_modify(eec->object, now, &attributes, (uint32_t)mask);

	public->state = (enum ibv_qp_state)eec->object->qp.state;
	adapter_transmit(eec->adapter, now);
	adapter_unlock(eec->adapter);
	return verbs_result(error);
}

int softib_query_eec(struct softib_eec *public, struct ibv_qp_attr *ret_attr, int mask)
{
	struct verbs_eec *eec = eec_of(public);
	struct qp_attributes attributes;

	(void)mask; /* returning all attributes costs no more */
	if (!public || !ret_attr)
		return verbs_result(-EINVAL);
	adapter_lock(eec->adapter);
	if (!eec->object) {
		adapter_unlock(eec->adapter);
		return verbs_result(-EINVAL);
	}
	qp_query(&eec->object->qp, &attributes);
	adapter_unlock(eec->adapter);
	/* These two belong to the QP that the context served last. */
	attributes.access = 0;
	attributes.min_rnr_timer = 0;
	*ret_attr = attributes_to(&attributes);
	public->state = ret_attr->qp_state;
	return 0;
}

static int detach(struct verbs_eec *eec)
{
	int error = eec->object ? qp_object_destroy(eec->object) : 0;

	if (error)
		return error;
	eec->object = NULL;
	list_remove(&eec->context_link);
	return 0;
}

void eecs_detach_leftover(struct context_object *context)
{
	for (struct list *link = list_first(&context->eecs); link;
	     link = list_first(&context->eecs))
		if (detach(container_of(link, struct verbs_eec, context_link)))
			return;
}

int softib_destroy_eec(struct softib_eec *public)
{
	struct verbs_eec *eec = eec_of(public);
	struct context_object *context;

	if (!public)
		return verbs_result(-EINVAL);
	context = context_of(public->context);
	adapter_lock(eec->adapter);
	if (eec->id_count) {
		adapter_unlock(eec->adapter);
		return verbs_result(-EBUSY);
	}
	if (eec->object)
		adapter_last_answers(eec->adapter, eec->object, adapter_now(eec->adapter));

	int error = detach(eec);

	adapter_unlock(eec->adapter);
	if (error)
		return verbs_result(error);
	events_wait_acknowledged(&public->mutex, &public->cond, &public->events_completed,
				 events_forget(context, public, &eec->async_events_handed_out));
	free(eec);
	context_object_gone(context);
	return 0;
}
