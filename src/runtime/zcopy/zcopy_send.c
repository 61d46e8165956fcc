/* SPDX-License-Identifier: Apache-2.0 */
/* Zcopy SENDs of reliable connections: see zcopy_send.h. */
#include "runtime/zcopy/zcopy_send.h"

#include <stdlib.h>
#include <string.h>
#include "runtime/rma/shared_mr.h"
#include "runtime/runtime_state.h"
#include "runtime/fast/direct_records.h"
#include "runtime/fast/send_form.h"
#include "runtime/packets/wire_bytes.h"
#include "runtime/rma/rma_state.h"
#include "runtime/zcopy/ud_zcopy.h"
#include "net/memory/memory.h"
#include "net/transport/fast/fast_send.h"
#include "wire/packet.h"

void zcopy_open(const struct process_runtime *runtime, struct channel *channel)
{
	if (channel->peer && runtime->may_go_fast)
		__atomic_store_n(&channel->rma_out->takes_zcopy, 1, __ATOMIC_RELEASE);
}

/* The peer says so once and never takes it back. */
bool zcopy_peer_takes(const struct rkey_export *rkey_export, struct channel *channel)
{
	if (unlikely(!channel->peer_takes_zcopy))
		channel->peer_takes_zcopy =
			rkey_export->header && channel->rma_in &&
			__atomic_load_n(&channel->rma_in->takes_zcopy, __ATOMIC_ACQUIRE);
	return channel->peer_takes_zcopy;
}

static uint16_t serial_index(const struct qp *qp)
{
	return (uint16_t)(qp->qpn % RKEY_EXPORT_ZCOPY_SERIALS);
}

void zcopy_revoke(struct qp *qp)
{
	const struct hca *hca = container_of(qp, struct qp_object, qp)->hca;
	struct process_runtime *runtime = container_of(hca, struct adapter, hca)->runtime;

	/* In the child of a fork the serials are the parent's. */
	if (qp->type == QP_UD)
		ud_zcopies_take_back_from(runtime, qp);
	else if (!runtime->is_abandoned)
		(void)__atomic_add_fetch(
			&runtime->rkey_export.header->zcopy_serials[serial_index(qp)], 1,
			__ATOMIC_SEQ_CST);
}

/* Part of memory, and whether a zcopy message is being sent from it. */
struct zcopy {
	const uint8_t *begin, *end;
	bool is_sending;
};

static void look_for_send(struct qp_object *object, void *context)
{
	struct zcopy *zcopy = context;
	const struct qp *qp = &object->qp;
	const struct send_queue *queue = &qp->requester.queue;

	/* The caller has taken UD zcopies back already. */
	if (!qp->requester.has_zcopy || qp->type == QP_UD)
		return;
	for (uint32_t i = queue->done; i != queue->started; i++) {
		struct send_slot *slot = send_queue_slot(queue, i);
		const struct sge *sge = send_slot_sges(slot);
		const uint8_t *bytes;

		/* Only a message of one SGE goes by zcopy. */
		if (slot->sge_count != 1 || slot->byte_count < ZCOPY_BYTES_MIN)
			continue;
		bytes = memory_place(qp->environment->memory, qp->pd, sge->lkey, sge->address,
				     sge->byte_count, 0);
		zcopy->is_sending |=
			!bytes || (bytes < zcopy->end && zcopy->begin < bytes + sge->byte_count);
	}
}

bool zcopy_is_sending_from(const struct process_runtime *runtime, const uint8_t *bytes,
			   size_t byte_count)
{
	struct zcopy zcopy = {bytes, bytes + byte_count, false};

	for (unsigned i = 0; i < SESSION_ADAPTERS_MAX; i++)
		if (runtime->adapters[i] && runtime->adapters[i]->has_hca)
			hca_for_each_qp(&runtime->adapters[i]->hca, look_for_send, &zcopy);
	return zcopy.is_sending;
}

/* Says where the payload lies; false: not in memory that the peer can read. */
static bool make_ticket(const struct process_runtime *runtime, const struct qp *qp,
			struct channel *channel, const struct fast_packet *packet,
			struct zcopy_ticket *ret_ticket)
{
	const struct rkey_export *rkey_export = &runtime->rkey_export;

	if (packet->payload_bytes < ZCOPY_BYTES_MIN || !zcopy_peer_takes(rkey_export, channel) ||
	    !shared_mr_locate(rkey_export->shared_mr, packet->payload, packet->payload_bytes,
			      &ret_ticket->place))
		return false;
	ret_ticket->byte_count = packet->payload_bytes;
	ret_ticket->serial_index = serial_index(qp);
	ret_ticket->serial = (uint16_t)__atomic_load_n(
		&rkey_export->header->zcopy_serials[ret_ticket->serial_index], __ATOMIC_RELAXED);
	return true;
}

/* Counts the message by its size on a link. */
static void count(struct flow *flow, const struct fast_packet *packet)
{
	uint64_t byte_count = wire_bytes_of_train(packet->byte_count, packet->packet_count, false);

	flow_count(flow, packet->packet_count, byte_count / 4);
}

static void commit(struct qp *qp, struct flow *flow, const struct fast_packet *packet,
		   const struct zcopy_ticket *ticket, uint8_t *body)
{
	memcpy(body + packet->header_bytes, ticket, sizeof(*ticket));
	direct_record_commit(qp, flow, packet->header_bytes + (uint32_t)sizeof(*ticket),
			     RECORD_ZCOPY, packet->packet_count);
	count(flow, packet);
}

bool zcopy_post(struct adapter *adapter, struct qp *qp, struct flow *flow,
		const struct send_request *request, struct fast_packet *packet, time_ns now)
{
	struct zcopy_ticket ticket;

	if (!make_ticket(adapter->runtime, qp, flow->channel, packet, &ticket))
		return false;

	uint8_t *body = direct_record_reserve(flow->channel,
					      packet->header_bytes + (uint32_t)sizeof(ticket));

	if (unlikely(!body))
		return false;
	packet->is_zcopy = true;
	fast_write(qp, QP_RC, request, packet, body);
	fast_enqueue(qp, QP_RC, now, request, packet);
	commit(qp, flow, packet, &ticket, body);
	return true;
}

bool zcopy_send_queued(struct adapter *adapter, struct qp *qp, struct flow *flow, time_ns now)
{
	struct fast_packet packet;
	struct zcopy_ticket ticket;

	if (!adapter->runtime->may_go_fast || !(adapter->runtime->forms >> FORM_BY_REFERENCE & 1) ||
	    qp->path_mtu > flow->mtu || !fast_next_zcopy(qp, &packet) ||
	    !make_ticket(adapter->runtime, qp, flow->channel, &packet, &ticket))
		return false;

	uint8_t *body = direct_record_reserve(flow->channel,
					      packet.header_bytes + (uint32_t)sizeof(ticket));

	if (unlikely(!body))
		return false;
	fast_write_next(qp, &packet, body);
	fast_advance(qp, QP_RC, now, send_queue_slot(&qp->requester.queue, qp->requester.cursor),
		     &packet);
	commit(qp, flow, &packet, &ticket, body);
	return true;
}
