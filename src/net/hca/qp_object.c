/* SPDX-License-Identifier: Apache-2.0 */
/* Queue pairs as an adapter's objects: number, queues' users, the ready list (vol 1, chapter 11).
 */
#include "net/hca/hca.h"

#include <errno.h>
#include <stdlib.h>
#include "net/hca/ee_contexts.h"
#include "net/hca/qpn_blocks.h"
#include "net/hca/raw_qps.h"
#include "net/memory/window.h"
#include "net/transport/rd/ee_context.h"
#include "net/transport/rd/rd_queue.h"

/* A work queue needs a CQ, and its keys need a protection domain. */
static bool has_what_its_type_needs(const struct qp_options *options)
{
	bool is_target = options->type == QP_XRC_TGT;

	bool has_domain = options->type == QP_RD || options->type == QP_EEC;

	if (options->xrcd ? !is_target : is_target)
		return false;
	if (options->rdd ? !has_domain : has_domain)
		return false;
	if (is_target || options->type == QP_EEC)
		return !options->pd && !options->send_cq && !options->receive_cq && !options->srq;
	if (options->type == QP_XRC_INI)
		return options->pd && options->send_cq && !options->receive_cq && !options->srq;
	/* Only a reliable connection can answer a rendezvous. */
	if (options->srq && options->srq->tags && options->type != QP_RC)
		return false;
	/* An XRC SRQ has its own CQ, and only XRC targets use it. */
	return options->pd && options->send_cq && options->receive_cq &&
	       !(options->srq && options->srq->xrcd);
}

/* The capabilities that are granted: a type without a queue gets 0 for it. */
static struct qp_capabilities granted_capabilities(const struct hca *hca,
						   const struct qp_options *options)
{
	struct qp_capabilities granted = options->capabilities;
	uint32_t room = send_queue_inline_room(granted.send_sges_max);

	if (options->type == QP_XRC_TGT || options->type == QP_EEC)
		return (struct qp_capabilities){0};
	if (options->srq && options->srq->tags) {
		granted.send_requests_max += TAG_SEND_REQUESTS;
		if (granted.send_sges_max == 0)
			granted.send_sges_max = 1;
		room = send_queue_inline_room(granted.send_sges_max);
	}
	/* UCX requests a round number and relies on adapters that grant slightly more. */
	if (room > hca->limits.inline_bytes_max)
		room = hca->limits.inline_bytes_max;
	if (granted.inline_bytes_max < room)
		granted.inline_bytes_max = room;
	if (options->srq || options->type == QP_XRC_INI) {
		granted.receive_requests_max = 0;
		granted.receive_sges_max = 0;
	}
	return granted;
}

static int check_options(const struct hca *hca, const struct qp_options *options)
{
	const struct qp_capabilities asked = granted_capabilities(hca, options);

	if (!has_what_its_type_needs(options))
		return -EINVAL;
	if (options->qpn && index_table_get(&hca->qps, options->qpn))
		return -EEXIST;
	if (options->capabilities.send_requests_max > hca->limits.requests_max ||
	    asked.send_sges_max > hca->limits.sges_max ||
	    asked.inline_bytes_max > hca->limits.inline_bytes_max ||
	    asked.receive_requests_max > hca->limits.requests_max ||
	    asked.receive_sges_max > hca->limits.sges_max)
		return -EINVAL;
	if (hca->qp_count >= hca->limits.qp_count_max)
		return -ENOMEM;
	return raw_qp_check(hca, options);
}

static int init_qp(struct hca *hca, const struct qp_options *options, struct qp_object *object)
{
	const struct qp_capabilities capabilities = granted_capabilities(hca, options);
	uint32_t qpn = options->qpn;
	int error = timer_queue_reserve(&hca->timers, hca->qp_count + 1);

	if (!error && !qpn)
		error = qpn_blocks_take(&hca->qpn_blocks, &qpn);
	if (error)
		return error;
	object->has_own_number = !options->qpn;
	error = qp_init(&object->qp, &hca->environment, options->type, qpn, options->pd,
			&capabilities, options->srq ? &options->srq->queue : NULL,
			options->signal_all);
	if (error)
		goto give_back_qpn;
	error = index_table_put(&hca->qps, qpn, object);
	if (error)
		goto release_qp;
	return 0;

release_qp:
	qp_release(&object->qp);
give_back_qpn:
	if (object->has_own_number)
		qpn_blocks_give_back(&hca->qpn_blocks, qpn);
	return error;
}

static void use(struct qp_object *object, const struct qp_options *options)
{
	if (object->send_cq) {
		object->send_cq->users++;
		object->qp.completions[SIDE_SEND] = &object->send_cq->ring;
	}
	if (object->receive_cq) {
		object->receive_cq->users++;
		/* With tag matching, tag_matching_complete makes the completions. */
		if (!object->srq || !object->srq->tags)
			object->qp.completions[SIDE_RECEIVE] = &object->receive_cq->ring;
	}
	if (object->qp.pd)
		object->qp.pd->users++;
	if (object->srq)
		object->srq->users++;
	if (object->xrcd) {
		object->xrcd->users++;
		list_append(&object->xrcd->targets, &object->xrcd_link);
	}
	if (options->rdd)
		eec_enter_domain(object, options->rdd);
	raw_qp_enter(object, options);
}

static void stop_using(struct qp_object *object)
{
	if (object->send_cq)
		object->send_cq->users--;
	if (object->receive_cq)
		object->receive_cq->users--;
	if (object->qp.pd)
		object->qp.pd->users--;
	if (object->srq)
		object->srq->users--;
	if (object->xrcd) {
		object->xrcd->users--;
		list_remove(&object->xrcd_link);
	}
	if (object->rdd)
		eec_leave_domain(object);
	raw_qp_leave(object);
}

int qp_object_create(struct hca *hca, const struct qp_options *options,
		     struct qp_object **ret_object)
{
	int error = hca->is_fatal ? -EIO : check_options(hca, options);

	if (error)
		return error;

	struct qp_object *object = calloc(1, sizeof(*object));

	if (!object)
		return -ENOMEM;
	error = init_qp(hca, options, object);
	if (error) {
		free(object);
		return error;
	}
	object->hca = hca;
	object->send_cq = options->send_cq;
	object->receive_cq = options->receive_cq;
	object->srq = options->srq;
	object->context = options->context;
	object->handle = hca->next_handle++;
	object->xrcd = options->xrcd;
	list_init(&object->multicast_memberships);
	list_init(&object->borrowed_link);
	use(object, options);
	hca->qp_count++;
	*ret_object = object;
	return 0;
}

/* The completions of an XRC target stay: they belong to the consumers that posted to the XRC SRQs.
 */
static void forget_completions(struct qp_object *object)
{
	if (object->send_cq)
		cq_forget(object->send_cq, object->qp.qpn);
	if (object->receive_cq && object->receive_cq != object->send_cq)
		cq_forget(object->receive_cq, object->qp.qpn);
}

/* Must come first: the RD objects that this one works with need its state. */
static void leave_datagrams(struct qp_object *object)
{
	if (object->qp.type == QP_RD)
		rd_queue_leave(&object->qp, 0);
	else if (object->qp.type == QP_EEC)
		eec_stop(&object->qp, 0);
}

int qp_object_destroy(struct qp_object *object)
{
	struct hca *hca = object->hca;
	uint32_t qpn = object->qp.qpn;

	if (!list_is_empty(&object->multicast_memberships))
		return -EBUSY;
	if (object->srq && object->srq->tags)
		tag_matching_forget(object);
	leave_datagrams(object);
	hca_ready_remove(hca, &object->qp);
	list_remove(&object->qp.undated_link);
	list_remove(&object->borrowed_link);
	timer_queue_cancel(&hca->timers, &object->qp.timer);
	forget_completions(object);
	index_table_remove(&hca->qps, qpn);
	/* Its number will be used by another queue pair. */
	windows_forget_qp(&hca->memory, qpn);
	stop_using(object);
	qp_release(&object->qp);
	if (object->has_own_number)
		qpn_blocks_give_back(&hca->qpn_blocks, qpn);
	hca->qp_count--;
	free(object);
	return 0;
}

int qp_object_modify(struct qp_object *object, time_ns now, const struct qp_attributes *attributes,
		     uint32_t mask)
{
	struct hca *hca = object->hca;
	const struct qp_ports ports = {
		.views = hca->port_views,
		.count = hca->port_count,
		.initiator_depth_max = hca->limits.initiator_depth_max,
		.responder_resources_max = hca->limits.responder_resources_max,
	};
	bool wants_to_work = mask & QP_HAS_STATE && attributes->state != QP_RESET &&
			     attributes->state != QP_ERROR;
	int error;

	if (hca->is_fatal && wants_to_work)
		error = -EIO;
	else if (hca->is_unprivileged && mask & QP_HAS_QKEY && qkey_is_controlled(attributes->qkey))
		error = -EPERM;
	else if (unlikely(object->raw_port))
		error = raw_qp_modify(object, now, &ports, attributes, mask);
	else
		error = qp_modify(&object->qp, now, &ports, attributes, mask);
	if (error)
		return error;
	if (object->qp.state == QP_RESET) {
		if (object->srq && object->srq->tags)
			tag_matching_forget(object);
		forget_completions(object);
		hca_ready_remove(hca, &object->qp);
	} else {
		hca_ready_add(hca, &object->qp);
	}
	return 0;
}

int qp_object_post_send(struct qp_object *object, time_ns now, const struct send_request *request)
{
	int error = qp_post_send(&object->qp, now, request);

	if (likely(!error))
		hca_ready_add(object->hca, &object->qp);
	return error;
}

int qp_object_post_receive(struct qp_object *object, time_ns now,
			   const struct receive_request *request)
{
	return qp_post_receive(&object->qp, now, request);
}
