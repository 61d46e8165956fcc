/* SPDX-License-Identifier: Apache-2.0 */
/* Plain requests that softibd relays: see relay_send.h. */
#include "runtime/packets/relay_send.h"

#include "runtime/runtime_state.h"
#include "runtime/memory/memory_guard.h"
#include "net/transport/fast/fast_path.h"
#include "net/transport/requester.h"

static uint16_t port_of(const struct adapter *adapter, const struct qp *qp)
{
	return (uint16_t)(adapter->description->index << 8 | qp->port->number);
}

/* Whether softibd relays the packets of this connection, by its last answer. */
static bool goes_by_fabric(const struct adapter *adapter, const struct qp *qp, time_ns now)
{
	const struct address_vector *address = &qp->attributes.address;
	const struct flow *flow = qp->owner_route;
	uint16_t pkey = qp->port->pkeys[qp->attributes.pkey_index];

	if (!flow || (flow->state != FLOW_FABRIC && flow->state != FLOW_FABRIC_ALWAYS))
		return false;
	if (flow->state == FLOW_FABRIC &&
	    (now >= flow->ask_at || flow->generation != runtime_generation(adapter->runtime)))
		return false;
	return flow->key == flow_key_make(adapter->description->index, qp->port->number,
					  address->sl, address->dlid, pkey,
					  qp->attributes.destination_qpn);
}

/* Reserves a packet record of so many bytes; NULL: no room. */
static struct ring_record *reserve(struct adapter *adapter, const struct qp *qp,
				   uint32_t byte_count)
{
	struct ring_record *record = ring_reserve(&adapter->runtime->softibd.out, byte_count);

	if (unlikely(!record))
		return NULL;
	record->kind = RECORD_PACKET;
	record->port = port_of(adapter, qp);
	record->packet_count = 1;
	record->word = record_packet_word(qp->attributes.address.static_rate, qp->qpn);
	return record;
}

/* On the relayed path an ACK is a packet, so not every request asks for one. */
static bool asks_ack(const struct qp *qp, uint32_t flags)
{
	return requester_asks(qp, flags, psn_add(qp->requester.next_psn, 1));
}

bool relay_send_post(struct adapter *adapter, struct qp *qp, const struct send_request *request,
		     const struct fast_packet *found, time_ns now)
{
	struct process_runtime *runtime = adapter->runtime;
	struct channel *softibd = &runtime->softibd;

	if (qp->type == QP_UD || !list_is_empty(&softibd->waiting) ||
	    !goes_by_fabric(adapter, qp, now))
		return false;

	struct ring_record *record = reserve(adapter, qp, found->byte_count);

	if (unlikely(!record))
		return false;

	struct fast_packet packet = *found;

	packet.asks_ack = asks_ack(qp, request->flags);
	fast_post_packet(qp, request, &packet, record->body);
	if (memory_guard_has_gaps())
		return false;
	fast_post_request(qp, now, request, &packet);
	ring_commit(&softibd->out, record);
	channel_publish(softibd);
	qp->owner_position = softibd->out.tail;
	hca_remember_undated(&adapter->hca, qp);
	runtime->sends_through_softibd = true;
	return true;
}

unsigned relay_send_queued(struct adapter *adapter, struct qp *qp, const struct qp_route *route,
			   unsigned packets_max, time_ns now)
{
	struct fast_packet packet;
	unsigned count = 0;

	if (!adapter->runtime->may_go_fast || qp->type == QP_UD ||
	    route->port_number != qp->port->number)
		return 0;
	while (count < packets_max && fast_next(qp, &packet)) {
		struct ring_record *record = reserve(adapter, qp, packet.byte_count);
		const struct requester *requester = &qp->requester;

		if (unlikely(!record))
			break;
		packet.asks_ack =
			asks_ack(qp, send_queue_slot(&requester->queue, requester->cursor)->flags);
		fast_write(qp, now, &packet, record->body);
		ring_commit(&adapter->runtime->softibd.out, record);
		count++;
	}
	if (count) {
		hca_remember_undated(&adapter->hca, qp);
		hca_date(&adapter->hca, now);
	}
	return count;
}
