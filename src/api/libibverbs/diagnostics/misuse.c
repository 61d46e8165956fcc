/* SPDX-License-Identifier: Apache-2.0 */
/* Checks for misuse that verbs make when warnings are on. */
#include "api/libibverbs/diagnostics/misuse.h"

#include <stdio.h>
#include "wire/transport_headers.h"

enum { GRH_ROOM_BYTES = 40, DEAD_KEYS_MAX = 256 };

/* The keys deregistered last, to tell a stale key from a wrong one. */
static uint32_t dead_keys[DEAD_KEYS_MAX];
static unsigned dead_key_count; /* free-running */

static bool key_is_dead(uint32_t key)
{
	for (unsigned i = 0; i < DEAD_KEYS_MAX && i < dead_key_count; i++)
		if (dead_keys[i] == key)
			return true;
	return false;
}

static const struct memory *memory_of(const struct verbs_qp *qp)
{
	return &qp->object->hca->memory;
}

/* Warns at once about an SGE that will make the request fail later. */
static void check_sge(const char *call, const struct memory *memory,
		      const struct protection_domain *pd, const struct sge *sge, uint32_t access)
{
	uint32_t key = sge->lkey;
	uint8_t *bytes;

	switch (memory_resolve(memory, pd, key, sge->address, sge->byte_count, access, &bytes)) {
	case MEMORY_OK:
		break;
	case MEMORY_BAD_KEY:
		if (key_is_dead(key))
			warn(WARN_KEY_AFTER_DEREG, call, key,
			     "L_Key 0x%x is used after ibv_dereg_mr", key);
		else
			warn(WARN_KEY_UNKNOWN, call, key, "L_Key 0x%x belongs to no region", key);
		break;
	case MEMORY_BAD_PD:
		warn(WARN_OTHER_PD, call, key,
		     "the region of L_Key 0x%x is in another protection domain than the queue",
		     key);
		break;
	case MEMORY_BAD_RIGHTS:
		warn(WARN_RIGHTS_MISSING, call, key,
		     "the region of L_Key 0x%x lacks IBV_ACCESS_LOCAL_WRITE, and this request "
		     "writes to it",
		     key);
		break;
	case MEMORY_BAD_BOUNDS:
		warn(WARN_OUT_OF_BOUNDS, call, key,
		     "%u bytes at 0x%llx are not all in the region of L_Key 0x%x", sge->byte_count,
		     (unsigned long long)sge->address, key);
		break;
	}
}

static void check_sges(const char *call, const struct memory *memory,
		       const struct protection_domain *pd, const struct sge *sges,
		       uint32_t sge_count, uint32_t access)
{
	for (uint32_t i = 0; sges && i < sge_count; i++)
		if (sges[i].byte_count)
			check_sge(call, memory, pd, &sges[i], access);
}

static bool is_atomic(const struct send_request *request)
{
	return request->opcode == SEND_COMPARE_SWAP || request->opcode == SEND_FETCH_ADD;
}

static bool reads(const struct send_request *request)
{
	return request->opcode == SEND_RDMA_READ || is_atomic(request);
}

/* An unsignaled request keeps its slot until a later signaled request completes. */
static void check_signaling(const char *call, const struct qp *qp,
			    const struct send_request *request)
{
	const struct send_queue *queue = &qp->requester.queue;

	if (qp->signal_all || request->flags & SEND_SIGNALED ||
	    queue->tail - queue->head + 1 != queue->requests_max)
		return;
	for (uint32_t position = queue->head; position != queue->tail; position++)
		if (send_queue_slot(queue, position)->flags & SEND_SIGNALED)
			return;
	warn(WARN_UNSIGNALED_FILLS, call, qp->qpn,
	     "the send queue of queue pair 0x%06x is now full of %u unsignaled requests: without a "
	     "signaled one no slot comes back",
	     qp->qpn, queue->requests_max);
}

static void check_operation(const char *call, const struct qp *qp,
			    const struct send_request *request)
{
	if (qp->state == QP_RESET || qp->state == QP_INIT || qp->state == QP_RTR)
		warn(WARN_NOT_READY_TO_SEND, call, qp->qpn,
		     "queue pair 0x%06x takes no send requests before it is in RTS", qp->qpn);
	else if (reads(request) && qp->type != QP_RD && qp->attributes.initiator_depth == 0)
		warn(WARN_NO_READS_ALLOWED, call, qp->qpn,
		     "queue pair 0x%06x has max_rd_atomic 0: no RDMA READ or atomic can start",
		     qp->qpn);
	if (is_atomic(request) &&
	    (request->remote_address % ATOMIC_BYTES || request->sge_count != 1 ||
	     request->sges[0].byte_count != ATOMIC_BYTES))
		warn(WARN_ATOMIC_SHAPE, call, qp->qpn,
		     "an atomic needs an 8-byte aligned remote address and one SGE of 8 bytes");
}

void misuse_post_send(const struct verbs_qp *verbs_qp, const struct send_request *request)
{
	const struct qp *qp = &verbs_qp->object->qp;
	const char *call = verbs_qp->builder ? "ibv_wr_complete" : "ibv_post_send";

	check_operation(call, qp, request);
	check_signaling(call, qp, request);
	if (!(request->flags & SEND_INLINE))
		check_sges(call, memory_of(verbs_qp), qp->pd, request->sges, request->sge_count,
			   reads(request) ? ACCESS_LOCAL_WRITE : 0);
}

static void check_dry(const char *call, const struct qp *qp)
{
	if (qp->responder.nak_was_sent && qp->responder.nak_syndrome >> 5 == AETH_RNR_NAK)
		warn(WARN_RECEIVE_QUEUE_DRY, call, qp->qpn,
		     "a message came to queue pair 0x%06x when no receive was posted: the peer was "
		     "told to wait (RNR NAK)",
		     qp->qpn);
}

void misuse_post_receive(const struct verbs_qp *verbs_qp, const struct receive_request *request)
{
	const struct qp *qp = &verbs_qp->object->qp;
	const char *call = "ibv_post_recv";
	uint64_t byte_count = 0;

	check_dry(call, qp);
	check_sges(call, memory_of(verbs_qp), qp->pd, request->sges, request->sge_count,
		   ACCESS_LOCAL_WRITE);
	for (uint32_t i = 0; request->sges && i < request->sge_count; i++)
		byte_count += request->sges[i].byte_count;
	if (qp->type == QP_UD && byte_count < GRH_ROOM_BYTES)
		warn(WARN_NO_ROOM_FOR_GRH, call, qp->qpn,
		     "a receive of datagram queue pair 0x%06x has %u bytes: the first 40 are for "
		     "the GRH, so that nothing fits",
		     qp->qpn, (unsigned)byte_count);
}

void misuse_post_shared(const struct verbs_srq *srq, const struct receive_request *request)
{
	check_sges("ibv_post_srq_recv", &srq->object->hca->memory, srq->object->queue.pd,
		   request->sges, request->sge_count, ACCESS_LOCAL_WRITE);
}

static uint64_t entries_needed(const struct context_object *context, const struct cq *cq)
{
	uint64_t needed = 0;

	for (const struct list *link = context->qps.next; link != &context->qps;
	     link = link->next) {
		const struct qp_object *object =
			container_of(link, struct verbs_qp, context_link)->object;

		if (object->send_cq == cq)
			needed += object->qp.capabilities.send_requests_max;
		if (object->receive_cq == cq && !object->srq)
			needed += object->qp.capabilities.receive_requests_max;
	}
	return needed;
}

static void check_cq_room(const struct context_object *context, const struct cq *cq)
{
	uint64_t needed = cq ? entries_needed(context, cq) : 0;

	if (cq && needed > cq->ring.capacity)
		warn(WARN_CQ_TOO_SMALL, "ibv_create_qp", cq->handle,
		     "up to %llu requests can complete into a CQ of %u entries",
		     (unsigned long long)needed, cq->ring.capacity);
}

void misuse_create_qp(const struct verbs_qp *qp)
{
	const struct context_object *context = context_of(qp->qp.context);

	check_cq_room(context, qp->object->send_cq);
	if (qp->object->receive_cq != qp->object->send_cq)
		check_cq_room(context, qp->object->receive_cq);
}

void misuse_address(const struct context_object *context, const char *call, uint32_t object,
		    const struct ibv_ah_attr *attr)
{
	if (attr->static_rate != IBV_RATE_MAX && !adapter_is_paced(context->adapter))
		warn(WARN_STATIC_RATE, call, object,
		     "static_rate %u slows nothing down: the fabric is not paced (softib up --paced)",
		     attr->static_rate);
}

void misuse_modify_qp(const struct verbs_qp *qp, const struct ibv_qp_attr *attr, int mask)
{
	uint32_t qpn = qp->object->qp.qpn;

	if (mask & IBV_QP_TIMEOUT && attr->timeout == 0)
		warn(WARN_NO_TIMEOUT, "ibv_modify_qp", qpn,
		     "queue pair 0x%06x has timeout 0: it waits for ever for a lost packet", qpn);
	if (mask & IBV_QP_RETRY_CNT && attr->retry_cnt == 0)
		warn(WARN_NO_RETRIES, "ibv_modify_qp", qpn,
		     "queue pair 0x%06x has retry_cnt 0: the first lost packet breaks it", qpn);
	if (mask & IBV_QP_RNR_RETRY && attr->rnr_retry == 0)
		warn(WARN_NO_RNR_RETRIES, "ibv_modify_qp", qpn,
		     "queue pair 0x%06x has rnr_retry 0: a peer without a posted receive breaks it",
		     qpn);
	if (mask & IBV_QP_AV)
		misuse_address(context_of(qp->qp.context), "ibv_modify_qp", qpn, &attr->ah_attr);
	if (mask & IBV_QP_ALT_PATH)
		misuse_address(context_of(qp->qp.context), "ibv_modify_qp", qpn,
			       &attr->alt_ah_attr);
}

void misuse_event(const struct hca_event *event)
{
	if (event->type == HCA_EVENT_CQ_ERROR && event->cq) {
		warn(WARN_CQ_OVERRUN, "ibv_create_cq", event->cq->handle,
		     "a CQ of %u entries has overrun: it is too small or polled too seldom",
		     event->cq->ring.capacity);
	} else if (event->type == HCA_EVENT_QP_ACCESS_ERROR && event->qp) {
		const struct qp *qp = &event->qp->qp;

		warn(WARN_PEER_REFUSED, "ibv_modify_qp", qp->qpn,
		     "queue pair 0x%06x refused a peer's RDMA request: its qp_access_flags 0x%x, "
		     "or the key, range or access flags of the region forbid it",
		     qp->qpn, qp->attributes.access);
	}
}

void misuse_wait_event(struct verbs_channel *channel)
{
	struct context_object *context = context_of(channel->channel.context);
	bool is_any_armed = false, is_any_overlooked = false, is_any_waiting = false;

	adapter_lock(context->adapter);
	event_queue_lock(&channel->events);
	for (struct list *link = channel->cqs.next; link != &channel->cqs; link = link->next) {
		const struct verbs_cq *cq = container_of(link, struct verbs_cq, channel_link);
		bool is_armed = cq->object->ring.armed != CQ_NOT_ARMED;

		is_any_waiting |= cq->events_waiting > 0;
		is_any_armed |= is_armed;
		is_any_overlooked |= is_armed && cq_first(cq->object);
	}
	event_queue_unlock(&channel->events);
	adapter_unlock(context->adapter);
	if (is_any_waiting || (is_any_armed && !is_any_overlooked))
		return;
	if (is_any_armed)
		warn(WARN_COMPLETIONS_OVERLOOKED, "ibv_get_cq_event", (uint64_t)channel->channel.fd,
		     "an armed CQ holds completions that raise no event: poll it once more after "
		     "arming");
	else
		warn(WARN_NOTHING_ARMED, "ibv_get_cq_event", (uint64_t)channel->channel.fd,
		     "no CQ of this channel is armed: no event can come before ibv_req_notify_cq");
}

void misuse_busy(const char *call, uint32_t handle, uint32_t user_count, const char *users)
{
	warn(WARN_STILL_IN_USE, call, handle, "refused with EBUSY: %u %s must be destroyed first",
	     user_count, users);
}

void misuse_wait_acknowledged(const char *call, uint32_t handle, uint32_t completed,
			      uint32_t handed_out)
{
	if (completed != handed_out)
		warn(WARN_EVENTS_UNACKNOWLEDGED, call, handle,
		     "%u events are not acknowledged: the call waits until they are",
		     handed_out - completed);
}

void misuse_event_unread(const struct ibv_async_event *event, const void *element)
{
	switch ((unsigned)event->event_type) {
	case IBV_EVENT_CQ_ERR:
	case IBV_EVENT_QP_FATAL:
	case IBV_EVENT_QP_REQ_ERR:
	case IBV_EVENT_QP_ACCESS_ERR:
	case IBV_EVENT_PATH_MIG_ERR:
	case IBV_EVENT_SRQ_ERR:
	case IBV_EVENT_DEVICE_FATAL:
		warn(WARN_EVENT_NEVER_READ, "ibv_get_async_event", (uintptr_t)element,
		     "an asynchronous event was never read: %s",
		     ibv_event_type_str(event->event_type));
		break;
	default:
		break;
	}
}

static bool sges_use(const struct sge *sges, uint32_t sge_count, uint32_t key)
{
	for (uint32_t i = 0; i < sge_count; i++)
		if (sges[i].lkey == key && sges[i].byte_count)
			return true;
	return false;
}

static uint32_t requests_using(const struct qp *qp, uint32_t key)
{
	const struct send_queue *sends = &qp->requester.queue;
	uint32_t count = 0;

	for (uint32_t position = sends->done; position != sends->tail; position++) {
		struct send_slot *slot = send_queue_slot(sends, position);

		count += sges_use(send_slot_sges(slot), slot->sge_count, key);
	}
	/* Requests in a shared receive queue belong to no QP. */
	if (qp->type == QP_XRC_INI || qp->type == QP_XRC_TGT || qp_is_shared(qp))
		return count;
	for (uint32_t position = qp->receive_queue->head; position != qp->receive_queue->tail;
	     position++) {
		const struct receive_slot *slot = receive_queue_slot(qp->receive_queue, position);

		count += sges_use(slot->sges, slot->sge_count, key);
	}
	return count;
}

void misuse_deregister(const struct context_object *context, const struct region *region)
{
	uint32_t count = 0;

	if (region->window_count) {
		misuse_busy("ibv_dereg_mr", region->key, region->window_count, "windows on it");
		return;
	}
	for (const struct list *link = context->qps.next; link != &context->qps; link = link->next)
		count += requests_using(
			&container_of(link, struct verbs_qp, context_link)->object->qp,
			region->key);
	dead_keys[dead_key_count++ % DEAD_KEYS_MAX] = region->key;
	if (count)
		warn(WARN_REGION_HAS_REQUESTS, "ibv_dereg_mr", region->key,
		     "%u posted requests still use the region of L_Key 0x%x", count, region->key);
}

static uint32_t datagrams_using(const struct qp *qp, const struct ah *ah)
{
	const struct send_queue *sends = &qp->requester.queue;
	uint32_t count = 0;

	if (qp->type != QP_UD)
		return 0;
	for (uint32_t position = sends->done; position != sends->tail; position++)
		count += send_queue_slot(sends, position)->address_origin == &ah->vector;
	return count;
}

void misuse_destroy_ah(const struct context_object *context, const struct ah *ah)
{
	uint32_t count = 0;

	for (const struct list *link = context->qps.next; link != &context->qps; link = link->next)
		count += datagrams_using(
			&container_of(link, struct verbs_qp, context_link)->object->qp, ah);
	if (count)
		warn(WARN_AH_HAS_REQUESTS, "ibv_destroy_ah", ah->handle,
		     "%u posted requests still use the address handle", count);
}

void misuse_destroy_qp(const struct verbs_qp *qp)
{
	if (qp->object)
		check_dry("ibv_destroy_qp", &qp->object->qp);
}

void misuse_close(struct context_object *context)
{
	const struct hca *hca = adapter_hca(context->adapter);

	if (context->object_count)
		warn(WARN_OBJECTS_LEFT, "ibv_close_device", (uintptr_t)context,
		     "%u PDs, CQs, SRQs or queue pairs are left", context->object_count);
	for (unsigned i = 0; i < hca->port_count; i++) {
		const struct port_view *port = hca->port_views[i];

		if (port->pkey_violations)
			warn(WARN_PKEY_DROPS, "ibv_close_device", port->number,
			     "port %u dropped %u packets with a P_Key that is not the queue pair's",
			     port->number, port->pkey_violations);
		if (port->qkey_violations)
			warn(WARN_QKEY_DROPS, "ibv_close_device", port->number,
			     "port %u dropped %u datagrams with a Q_Key that is not the queue "
			     "pair's",
			     port->number, port->qkey_violations);
	}
}
