/* SPDX-License-Identifier: Apache-2.0 */
/* Plain requests that softibd relays: see relay_send.h. */
#include "runtime/packets/relay_send.h"

#include "runtime/runtime_state.h"
#include "runtime/memory/memory_guard.h"
#include "net/transport/fast/fast_send.h"
#include "runtime/fast/send_form.h"
#include "net/transport/requester.h"

static uint16_t port_of(const struct adapter *adapter, const struct qp *qp)
{
	return (uint16_t)(adapter->description->index << 8 | qp->port->number);
}

/* Whether softibd relays the packets of this flow, by its last answer. */
static bool goes_by_fabric(const struct process_runtime *runtime, const struct flow *flow,
			   time_ns now)
{
	if (!flow || (flow->state != FLOW_FABRIC && flow->state != FLOW_FABRIC_ALWAYS))
		return false;
	return flow->state == FLOW_FABRIC_ALWAYS ||
	       (now < flow->ask_at && flow->generation == runtime_generation(runtime));
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

bool relay_send_post(struct adapter *adapter, struct qp *qp, const struct flow *flow,
		     const struct send_request *request, struct fast_packet *packet, time_ns now)
{
	struct process_runtime *runtime = adapter->runtime;
	struct channel *softibd = &runtime->softibd;

	if (!(runtime->forms >> FORM_RELAYED & 1) || !list_is_empty(&softibd->waiting) ||
	    !goes_by_fabric(runtime, flow, now))
		return false;

	struct ring_record *record = reserve(adapter, qp, packet->byte_count);

	if (unlikely(!record))
		return false;
	/* On the relayed path an ACK is a packet, so not every request asks for one. */
	packet->asks_ack = requester_asks(qp, request->flags, psn_add(qp->requester.next_psn, 1));
	fast_write(qp, qp->type, request, packet, record->body);
	if (memory_guard_has_gaps())
		return false;
	fast_enqueue(qp, qp->type, now, request, packet);
	ring_commit(&softibd->out, record);
	channel_publish(softibd);
	qp->owner_position = softibd->out.tail;
	hca_remember_undated(&adapter->hca, qp);
	runtime->sends_through_softibd = true;
	return true;
}
