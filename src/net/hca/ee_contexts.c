/* SPDX-License-Identifier: Apache-2.0 */
/* EE contexts and RD queue pairs as an adapter's objects (vol 1, chapters 9 and 10). */
#include "net/hca/ee_contexts.h"

#include <errno.h>
#include "net/hca/hca.h"
#include "net/hca/rdd.h"
#include "net/transport/rd/ee_context.h"
#include "net/transport/rd/rd_queue.h"

int eec_create(struct rdd *rdd, void *context, struct qp_object **ret_object)
{
	struct hca *hca = rdd->hca;
	const struct qp_options options = {.type = QP_EEC, .rdd = rdd, .context = context};

	if (hca->eec_count == hca->limits.eec_count_max)
		return -ENOMEM;
	return qp_object_create(hca, &options, ret_object);
}

void eec_enter_domain(struct qp_object *object, struct rdd *rdd)
{
	object->rdd = rdd;
	rdd->users++;
	if (object->qp.type == QP_EEC) {
		object->qp.eec->domain = rdd;
		object->hca->eec_count++;
	} else {
		object->qp.rd_queue->domain = rdd;
	}
}

void eec_leave_domain(struct qp_object *object)
{
	object->rdd->users--;
	if (object->qp.type == QP_EEC)
		object->hca->eec_count--;
}

struct qp *eec_find_qp(const struct qp *qp, uint32_t qpn)
{
	const struct qp_object *asker = container_of(qp, const struct qp_object, qp);
	struct qp_object *found = index_table_get(&asker->hca->qps, qpn);

	return found ? &found->qp : NULL;
}

void eec_ready(struct qp *qp)
{
	hca_ready_add(container_of(qp, struct qp_object, qp)->hca, qp);
}

static struct qp_object *destination_of(const struct qp *channel)
{
	return container_of(channel->eec->destination->qp, struct qp_object, qp);
}

bool eec_complete(struct qp *channel, const struct completion *completion)
{
	return cq_push(destination_of(channel)->receive_cq, completion);
}

bool eec_takes_from_srq(const struct qp *channel)
{
	return destination_of(channel)->srq;
}
