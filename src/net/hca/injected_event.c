/* SPDX-License-Identifier: Apache-2.0 */
/* Asynchronous events that are raised on purpose, to test how a program handles them. */
#include "net/hca/injected_event.h"

#include <stdlib.h>

struct injection {
	struct hca *hca;
	time_ns now;
	enum hca_event_type type;
	const void **told; /* queues whose event is already raised; every queue pair that uses a
			      queue finds it */
	size_t told_count;
};

static void raise_event(const struct injection *injection, struct hca_event event)
{
	event.type = injection->type;
	injection->hca->owner.event(injection->hca->owner.context, &event);
}

static void break_qp(struct qp_object *object, time_ns now)
{
	const struct qp_attributes attributes = {.state = QP_ERROR};

	if (object->qp.state == QP_RESET || object->qp.state == QP_ERROR)
		return;

	int error = qp_object_modify(object, now, &attributes, QP_HAS_STATE);

	assert(error == 0);
	(void)error;
}

/* An EE context has no receive requests, and so none of their events. */
static bool has_event(const struct qp_object *object, enum hca_event_type type)
{
	return object->qp.type != QP_EEC ||
	       (type != HCA_EVENT_QP_REQUEST_ERROR && type != HCA_EVENT_QP_ACCESS_ERROR &&
		type != HCA_EVENT_LAST_REQUEST_REACHED);
}

static void inject_at_qp(struct qp_object *object, void *context)
{
	const struct injection *injection = context;

	if (!has_event(object, injection->type))
		return;
	raise_event(injection, (struct hca_event){.qp = object});
	if (injection->type == HCA_EVENT_QP_FATAL ||
	    injection->type == HCA_EVENT_QP_REQUEST_ERROR ||
	    injection->type == HCA_EVENT_QP_ACCESS_ERROR)
		break_qp(object, injection->now);
}

static bool tell_once(struct injection *injection, const void *queue)
{
	if (!queue)
		return false;
	for (size_t index = 0; index < injection->told_count; index++)
		if (injection->told[index] == queue)
			return false;
	injection->told[injection->told_count++] = queue;
	return true;
}

static void inject_at_cq(struct injection *injection, struct cq *cq)
{
	if (!tell_once(injection, cq))
		return;
	cq->ring.has_overflowed = true;
	raise_event(injection, (struct hca_event){.cq = cq});
}

static void inject_at_queues(struct qp_object *object, void *context)
{
	struct injection *injection = context;

	if (injection->type == HCA_EVENT_CQ_ERROR) {
		inject_at_cq(injection, object->send_cq);
		inject_at_cq(injection, object->receive_cq);
	} else if (tell_once(injection, object->srq)) {
		raise_event(injection, (struct hca_event){.srq = object->srq});
	}
}

static void inject_at_ports(const struct injection *injection)
{
	for (unsigned number = 1; number <= injection->hca->port_count; number++)
		raise_event(injection, (struct hca_event){.port_number = (uint8_t)number});
}

void hca_inject_event(struct hca *hca, time_ns now, enum hca_event_type type)
{
	struct injection injection = {.hca = hca, .now = now, .type = type};

	switch (type) {
	case HCA_EVENT_DEVICE_FATAL:
		hca_fail(hca, now);
		break;
	case HCA_EVENT_PORT_ACTIVE:
	case HCA_EVENT_PORT_ERROR:
	case HCA_EVENT_LID_CHANGE:
	case HCA_EVENT_PKEY_CHANGE:
	case HCA_EVENT_SM_CHANGE:
	case HCA_EVENT_CLIENT_REREGISTER:
	case HCA_EVENT_GID_CHANGE:
		inject_at_ports(&injection);
		break;
	case HCA_EVENT_CQ_ERROR:
	case HCA_EVENT_SRQ_ERROR:
	case HCA_EVENT_SRQ_LIMIT:
		injection.told = malloc((2 * (size_t)hca->qp_count + 1) * sizeof(*injection.told));
		if (injection.told)
			hca_for_each_qp(hca, inject_at_queues, &injection);
		free(injection.told);
		break;
	case HCA_EVENT_QP_FATAL:
	case HCA_EVENT_QP_REQUEST_ERROR:
	case HCA_EVENT_QP_ACCESS_ERROR:
	case HCA_EVENT_QP_ESTABLISHED:
	case HCA_EVENT_SQ_DRAINED:
	case HCA_EVENT_PATH_MIGRATED:
	case HCA_EVENT_PATH_MIGRATION_ERROR:
	case HCA_EVENT_LAST_REQUEST_REACHED:
		hca_for_each_qp(hca, inject_at_qp, &injection);
		break;
	}
}

void hca_break_qp(struct hca *hca, time_ns now, uint32_t qpn)
{
	struct qp_object *object = index_table_get(&hca->qps, qpn);

	if (object)
		break_qp(object, now);
}
