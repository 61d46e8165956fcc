/* SPDX-License-Identifier: Apache-2.0 */
/* SENDs whose payload the receiver copies from the sender's memory. */
#include "runtime/zcopy/zcopy_send.h"

#include <stdlib.h>
#include <string.h>
#include "runtime/rma/shared_mr.h"
#include "runtime/runtime_state.h"
#include "runtime/fast/direct_records.h"
#include "runtime/packets/wire_bytes.h"
#include "runtime/rma/rma_state.h"
#include "runtime/zcopy/ud_zcopy.h"
#include "net/memory/memory.h"
#include "net/transport/fast/short_packets.h"
#include "wire/packet.h"

void pull_lane_open(const struct attachment *attachment, struct channel *channel)
{
	if (channel->peer && attachment->may_express)
		__atomic_store_n(&channel->placed_out->may_pull, 1, __ATOMIC_RELEASE);
}

/* The other end says so once and for all. */
bool pull_lane_peer_pulls(const struct exposure *exposure, struct channel *channel)
{
	if (unlikely(!channel->peer_pulls))
		channel->peer_pulls = exposure->header && channel->placed_in &&
				      __atomic_load_n(&channel->placed_in->may_pull, __ATOMIC_ACQUIRE);
	return channel->peer_pulls;
}

static uint16_t serial_index(const struct qp *qp)
{
	return (uint16_t)(qp->qpn % EXPOSURE_PULL_SERIALS);
}

void pull_lane_take_back(struct qp *qp)
{
	const struct hca *hca = container_of(qp, struct qp_object, qp)->hca;
	struct attachment *attachment = container_of(hca, struct adapter, hca)->attachment;

	/* In the child of a fork they are the parent's. */
	if (qp->type == QP_UD)
		datagram_loans_take_back_from(attachment, qp);
	else if (!attachment->is_abandoned)
		(void)__atomic_add_fetch(
			&attachment->exposure.header->pull_serials[serial_index(qp)], 1,
			__ATOMIC_SEQ_CST);
}

/* Memory, and whether a message is pulled from it. */
struct loan {
	const uint8_t *begin, *end;
	bool is_lent;
};

static void look_for_loan(struct qp_object *object, void *context)
{
	struct loan *loan = context;
	const struct qp *qp = &object->qp;
	const struct send_queue *queue = &qp->requester.queue;

	/* Datagrams have been taken back before. */
	if (!qp->requester.has_lent || qp->type == QP_UD)
		return;
	for (uint32_t i = queue->done; i != queue->started; i++) {
		struct send_slot *slot = send_queue_slot(queue, i);
		const struct sge *sge = send_slot_sges(slot);
		const uint8_t *bytes;

		/* Only what is of one piece is pulled. */
		if (slot->sge_count != 1 || slot->byte_count < PULL_LANE_BYTES_MIN)
			continue;
		bytes = memory_place(qp->environment->memory, qp->pd, sge->lkey, sge->address,
				     sge->byte_count, 0);
		loan->is_lent |= !bytes || (bytes < loan->end && loan->begin < bytes + sge->byte_count);
	}
}

bool pull_lane_lends(const struct attachment *attachment, const uint8_t *bytes, size_t byte_count)
{
	struct loan loan = {bytes, bytes + byte_count, false};

	for (unsigned i = 0; i < SESSION_ADAPTERS_MAX; i++)
		if (attachment->adapters[i] && attachment->adapters[i]->has_hca)
			hca_for_each_qp(&attachment->adapters[i]->hca, look_for_loan, &loan);
	return loan.is_lent;
}

/* Says where the payload is; false: it is not where the peer could get it. */
static bool make_ticket(const struct attachment *attachment, const struct qp *qp,
			struct channel *channel, const struct express_packet *packet, struct pull_ticket *ret_ticket)
{
	const struct exposure *exposure = &attachment->exposure;

	if (packet->payload_bytes < PULL_LANE_BYTES_MIN || !pull_lane_peer_pulls(exposure, channel) ||
	    !adopted_memory_locate(exposure->adopted, packet->payload, packet->payload_bytes,
				   &ret_ticket->place))
		return false;
	ret_ticket->byte_count = packet->payload_bytes;
	ret_ticket->serial_index = serial_index(qp);
	ret_ticket->serial = (uint16_t)__atomic_load_n(
		&exposure->header->pull_serials[ret_ticket->serial_index], __ATOMIC_RELAXED);
	return true;
}

/* What the message would have weighed on a link. */
static void count(struct flow *flow, const struct express_packet *packet)
{
	uint64_t byte_count = link_weight_of_train(packet->byte_count, packet->packet_count, false);

	flow_count(flow, packet->packet_count, byte_count / 4);
}

static void commit(struct qp *qp, struct flow *flow, const struct express_packet *packet,
		   const struct pull_ticket *ticket, uint8_t *body)
{
	memcpy(body + packet->header_bytes, ticket, sizeof(*ticket));
	direct_record_commit(qp, flow, packet->header_bytes + (uint32_t)sizeof(*ticket),
			     RECORD_PULLED, packet->packet_count);
	count(flow, packet);
}

bool pull_lane_post(struct adapter *adapter, struct qp *qp, struct flow *flow,
		    const struct send_request *request, struct express_packet *packet, time_ns now)
{
	struct pull_ticket ticket;

	if (qp->type != QP_RC || request->flags & SEND_INLINE || qp->path_mtu > flow->mtu ||
	    !make_ticket(adapter->attachment, qp, flow->channel, packet, &ticket))
		return false;

	uint8_t *body = direct_record_reserve(flow->channel,
					      packet->header_bytes + (uint32_t)sizeof(ticket));

	if (unlikely(!body))
		return false;
	packet->is_pulled = true;
	express_write_posted(qp, request, packet, body);
	express_enqueue(qp, now, request, packet);
	commit(qp, flow, packet, &ticket, body);
	return true;
}

bool pull_lane_send(struct adapter *adapter, struct qp *qp, struct flow *flow, time_ns now)
{
	struct express_packet packet;
	struct pull_ticket ticket;

	if (!adapter->attachment->may_express || qp->path_mtu > flow->mtu ||
	    !express_next_pulled(qp, &packet) ||
	    !make_ticket(adapter->attachment, qp, flow->channel, &packet, &ticket))
		return false;

	uint8_t *body = direct_record_reserve(flow->channel,
					      packet.header_bytes + (uint32_t)sizeof(ticket));

	if (unlikely(!body))
		return false;
	express_write(qp, now, &packet, body);
	commit(qp, flow, &packet, &ticket, body);
	return true;
}
