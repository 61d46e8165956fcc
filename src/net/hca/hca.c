/* SPDX-License-Identifier: Apache-2.0 */
/* The channel adapter: its tables, packets in, the ready list, timers (vol 1, chapters 10, 11). */
#include "net/hca/hca.h"

#include <errno.h>
#include <stdlib.h>
#include "net/hca/ee_contexts.h"
#include "base/bytes.h"
#include "net/hca/qpn_blocks.h"
#include "net/transport/fast/fast_receive.h"
#include "net/transport/fast/fast_send.h"
#include "net/transport/migration.h"
#include "net/transport/rd/rd_service.h"
#include "net/transport/retry.h"
#include "wire/packet.h"
#include "wire/pkey.h"

const struct hca_limits hca_limits_default = {
	/* All 24-bit numbers without the first and the last 1024, some of which are special
	 * (daemon/core/qpn_space.h). */
	.qp_count_max = (1 << 24) - 2 * 1024,
	.requests_max = 32768,
	.sges_max = 32,
	.cq_count_max = 262144,
	.cqes_max = 4194304,
	.region_count_max = 1 << 20,
	.pd_count_max = 262144,
	.srq_count_max = 65536,
	.srq_requests_max = 32768,
	.srq_sges_max = 32,
	.ah_count_max = 1 << 20,
	.xrcd_count_max = 65536,
	.rdd_count_max = 65536,
	.eec_count_max = 65536,
	.multicast_groups_max = 8192,
	.multicast_members_max = 4096,
	.multicast_total_members_max = 65536,
	.inline_bytes_max = 1024,
	.initiator_depth_max = 16,
	.responder_resources_max = 16,
	.ack_delay = 15,
};

static struct qp_object *object_of(struct qp *qp)
{
	return container_of(qp, struct qp_object, qp);
}

/* The shared receive queue that the message in progress takes from. */
static struct srq *srq_of(struct qp *qp)
{
	return container_of(qp->receive_queue, struct srq, queue);
}

static bool complete(struct qp *qp, enum queue_side side, const struct completion *completion)
{
	struct qp_object *object = object_of(qp);

	if (likely(side == SIDE_SEND))
		return cq_push(object->send_cq, completion);
	if (unlikely(qp->type == QP_EEC))
		return eec_complete(qp, completion);
	if (unlikely(object->srq && object->srq->tags))
		return tag_matching_complete(object, completion);
	if (likely(!object->xrcd))
		return cq_push(object->receive_cq, completion);
	return cq_push(srq_of(qp)->cq, completion);
}

static void raise_qp_event(struct qp *qp, enum qp_event event)
{
	struct qp_object *object = object_of(qp);
	struct hca *hca = object->hca;

	/* softibd passes the event on to all processes that have opened the target, including this
	 * one. */
	if (unlikely(object->is_shared)) {
		object->untold_events |= 1u << event;
		return;
	}
	hca->owner.event(hca->owner.context, &(struct hca_event){
						     .type = (enum hca_event_type)event,
						     .qp = object,
					     });
}

/* The limit is one-shot: it reads 0 once the event is raised (transport 5.7). */
static void check_srq_limit(struct qp *qp)
{
	struct srq *srq = srq_of(qp);

	/* An EE context copies requests from any queue, shared or not. */
	if (unlikely(qp->type == QP_EEC) && !eec_takes_from_srq(qp))
		return;
	if (unlikely(srq->tags))
		tag_matching_take(object_of(qp));
	if (likely(srq->limit == 0) || receive_queue_count(&srq->queue) >= srq->limit)
		return;
	srq->limit = 0;
	srq->hca->owner.event(srq->hca->owner.context,
			      &(struct hca_event){.type = HCA_EVENT_SRQ_LIMIT, .srq = srq});
}

static struct receive_queue *find_xrc_queue(const struct qp *qp, uint32_t srqn)
{
	const struct qp_object *object = container_of(qp, const struct qp_object, qp);
	struct srq *srq = index_table_get(&object->hca->xrc_srqs, srqn);

	return srq && srq->xrcd == object->xrcd ? &srq->queue : NULL;
}

int hca_init(struct hca *hca, const struct hca_limits *limits, const struct hca_owner *owner,
	     uint64_t node_guid, unsigned port_count)
{
	if (port_count == 0 || port_count > HCA_PORTS_MAX)
		return -EINVAL;
	*hca = (struct hca){
		.limits = *limits,
		.owner = *owner,
		.node_guid = node_guid,
		.system_image_guid = node_guid,
		.port_count = port_count,
		.next_handle = 1,
	};
	for (unsigned i = 0; i < port_count; i++)
		hca->port_views[i] = &hca->ports[i];
	memory_init(&hca->memory, limits->region_count_max);
	index_table_init(&hca->qps);
	index_table_init(&hca->xrc_srqs);
	list_init(&hca->xrcds);
	list_init(&hca->borrowed);
	multicast_init(&hca->multicast);
	list_init(&hca->qpn_blocks);
	list_init(&hca->ready);
	list_init(&hca->undated);
	timer_queue_init(&hca->timers);
	timer_queue_init(&hca->cq_timers);
	hca->environment = (struct qp_environment){
		.epoch = 1,
		.memory = &hca->memory,
		.timers = &hca->timers,
		.complete = complete,
		.event = raise_qp_event,
		.shared_receive_taken = check_srq_limit,
		.choose_receive = tag_matching_choose,
		.own_send_done = tag_matching_read_done,
		.find_xrc_queue = find_xrc_queue,
		.xrc_sges_max = limits->srq_sges_max > limits->sges_max ? limits->srq_sges_max
									: limits->sges_max,
		.rd = &rd_service,
		.find_qp = eec_find_qp,
		.ready = eec_ready,
	};
	hca->memory.epoch = &hca->environment.epoch;
	return 0;
}

void hca_release(struct hca *hca)
{
	assert(hca->qp_count == 0 && hca->cq_count == 0 && hca->srq_count == 0);
	assert(hca->xrcd_count == 0 && hca->rdd_count == 0);
	timer_queue_release(&hca->timers);
	timer_queue_release(&hca->cq_timers);
	qpn_blocks_release(&hca->qpn_blocks);
	index_table_release(&hca->xrc_srqs);
	index_table_release(&hca->qps);
	memory_release(&hca->memory);
}

int hca_add_qpns(struct hca *hca, uint32_t first, uint32_t count)
{
	return qpn_blocks_add(&hca->qpn_blocks, first, count);
}

void hca_for_each_qp(struct hca *hca, void (*visit)(struct qp_object *object, void *context),
		     void *context)
{
	if (!hca->qps.leaves)
		return;
	for (uint32_t i = 0; i < INDEX_TABLE_LEAVES; i++) {
		void **leaf = hca->qps.leaves[i];

		for (uint32_t j = 0; leaf && j < INDEX_TABLE_LEAF_ENTRIES; j++)
			if (leaf[j])
				visit(leaf[j], context);
	}
}

static void fail_qp(struct qp_object *object, void *context)
{
	const struct qp_attributes attributes = {.state = QP_ERROR};
	const time_ns *now = context;

	if (object->qp.state == QP_RESET)
		return;

	int error = qp_object_modify(object, *now, &attributes, QP_HAS_STATE);

	assert(error == 0);
	(void)error;
}

void hca_fail(struct hca *hca, time_ns now)
{
	if (hca->is_fatal)
		return;
	hca->is_fatal = true;
	hca_for_each_qp(hca, fail_qp, &now);
	hca->owner.event(hca->owner.context, &(struct hca_event){.type = HCA_EVENT_DEVICE_FATAL});
}

void hca_receive(struct hca *hca, time_ns now, uint8_t port_number, const struct packet *packet)
{
	/* The EE context receives a reliable datagram, not the queue pair. */
	bool is_by_eec = opcode_transport(packet->bth.opcode) == TRANSPORT_RD;
	struct qp_object *object = index_table_get(
		&hca->qps, unlikely(is_by_eec) ? packet->rdeth_eecn : packet->bth.destination_qpn);

	if (unlikely(port_number == 0 || port_number > hca->port_count)) {
		hca->drops[HCA_DROP_NO_SUCH_PORT]++;
		return;
	}
	if (unlikely(!object)) {
		if (packet->bth.destination_qpn != QPN_MULTICAST)
			hca->drops[HCA_DROP_NO_SUCH_QP]++;
		else if (!multicast_receive(hca, now, port_number, packet))
			hca->drops[HCA_DROP_MULTICAST_NOT_ATTACHED]++;
		return;
	}
	if (unlikely(!migration_admits_port(&object->qp, port_number, packet))) {
		hca->drops[HCA_DROP_WRONG_PORT]++;
		return;
	}
	if (unlikely(object->is_away)) {
		hca->drops[HCA_DROP_TARGET_AWAY]++;
		return;
	}
	qp_receive(&object->qp, now, packet);
	hca_ready_add(hca, &object->qp);
}

struct qp *hca_addressed_qp(const struct hca *hca, const uint8_t *headers)
{
	uint32_t qpn = get_be32(headers + LRH_BYTES + 4) & 0xffffff;
	struct qp_object *object = index_table_get(&hca->qps, qpn);

	return likely(object && !object->is_shared) ? &object->qp : NULL;
}

struct qp *hca_receive_fast(struct hca *hca, time_ns now, uint8_t port_number,
			    const struct packet_source *source, const uint8_t *bytes,
			    uint32_t byte_count)
{
	struct qp *qp = hca_addressed_qp(hca, bytes);

	return likely(qp && fast_receive(qp, now, port_number, source, bytes, byte_count)) ? qp
											   : NULL;
}

struct qp *hca_receive_zcopy(struct hca *hca, time_ns now, uint8_t port_number,
			     const struct packet_source *packets, const uint8_t *headers,
			     const struct zcopy_source *source)
{
	struct qp *qp = hca_addressed_qp(hca, headers);

	if (unlikely(!qp || !fast_receive_zcopy(qp, now, port_number, packets, headers, source)))
		return NULL;
	if (unlikely(qp->responder.nak_is_due))
		hca_ready_add(hca, qp);
	return qp;
}

void hca_zcopy_failed(struct hca *hca, uint8_t port_number, const struct packet_source *packets,
		      const uint8_t *headers)
{
	struct qp *qp = hca_addressed_qp(hca, headers);

	if (!qp)
		return;
	fast_zcopy_failed(qp, port_number, packets, headers);
	hca_ready_add(hca, qp);
}

bool hca_acknowledge_fast(struct hca *hca, time_ns now, struct qp *qp, struct psn psn)
{
	if (unlikely(!fast_acknowledge(qp, now, psn)))
		return false;
	hca_remember_undated(hca, qp);
	if (qp->requester.cursor != qp->requester.queue.tail)
		hca_ready_add(hca, qp);
	return true;
}

void hca_remember_undated(struct hca *hca, struct qp *qp)
{
	if (qp->requester.retry_deadline == RETRY_UNDATED && !list_is_linked(&qp->undated_link))
		list_append(&hca->undated, &qp->undated_link);
}

void hca_date(struct hca *hca, time_ns now)
{
	struct list *link;

	while ((link = list_pop(&hca->undated)))
		retry_date(container_of(link, struct qp, undated_link), now);
}

struct qp *hca_ready_first(struct hca *hca)
{
	struct list *link = list_first(&hca->ready);

	return link ? container_of(link, struct qp, ready_link) : NULL;
}

void hca_ready_add(struct hca *hca, struct qp *qp)
{
	if (!list_is_linked(&qp->ready_link))
		list_append(&hca->ready, &qp->ready_link);
}

void hca_ready_remove(struct hca *hca, struct qp *qp)
{
	(void)hca;
	if (list_is_linked(&qp->ready_link))
		list_remove(&qp->ready_link);
}

time_ns hca_deadline(const struct hca *hca)
{
	return time_earlier(timer_queue_deadline(&hca->timers),
			    timer_queue_deadline(&hca->cq_timers));
}

void hca_expire(struct hca *hca, time_ns now)
{
	for (struct timer *timer = timer_queue_pop(&hca->timers, now); timer;
	     timer = timer_queue_pop(&hca->timers, now)) {
		struct qp *qp = container_of(timer, struct qp, timer);

		qp_expire(qp, now);
		hca_ready_add(hca, qp);
	}
	for (struct timer *timer = timer_queue_pop(&hca->cq_timers, now); timer;
	     timer = timer_queue_pop(&hca->cq_timers, now))
		cq_expire(container_of(timer, struct cq, moderation_timer));
}

int hca_pd_alloc(struct hca *hca, struct protection_domain **ret_pd)
{
	if (hca->pd_count == hca->limits.pd_count_max)
		return -ENOMEM;

	struct protection_domain *pd = calloc(1, sizeof(*pd));

	if (!pd)
		return -ENOMEM;
	pd->handle = hca->next_handle++;
	hca->pd_count++;
	*ret_pd = pd;
	return 0;
}

int hca_pd_dealloc(struct hca *hca, struct protection_domain *pd)
{
	if (pd->users)
		return -EBUSY;
	hca->pd_count--;
	free(pd);
	return 0;
}
