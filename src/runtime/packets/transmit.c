/* SPDX-License-Identifier: Apache-2.0 */
/* Transmits packets. The flow decides the ring; a full ring makes the queue pair wait. */
#include "runtime/packets/transmit.h"
#include "runtime/channel_queues.h"

#include "runtime/exposure.h"
#include "runtime/packets/ack_words.h"
#include "runtime/runtime_state.h"
#include "runtime/packets/wire_bytes.h"
#include "runtime/rma/rma.h"
#include "runtime/zcopy/zcopy_send.h"
#include "wire/packet.h"
#include "net/transport/requester.h"
#include "net/transport/responses.h"

enum {
	BATCH_PACKETS = 16, /* of one queue pair before the next gets its turn */
	ROUNDS_MAX = 64,    /* per call, so that a call ends while the peer keeps making room */
	PUBLISH_BYTES = 1 << 16, /* the reader starts while we continue to write */
};

/* The size of a train's packets on a link, in words of four bytes. */
static uint64_t wire_words(const struct packet *packet, size_t byte_count)
{
	const struct opcode_info *info = opcode_info(packet->bth.opcode);
	uint64_t total = wire_bytes_of_train(byte_count, packet->packet_count, packet->has_grh);

	/* READ responses carry an AETH in the first and the last packet. */
	if (packet->packet_count > 1 && info->has_aeth && info->starts_message &&
	    info->ends_message)
		total += AETH_BYTES;
	return total / 4;
}

/* The caller has checked the room before it made the packets, so there is room. */
static void write_packet(struct channel *channel, uint16_t port, uint32_t word,
			 const struct packet *packet, size_t byte_count)
{
	struct ring_record *record = ring_reserve(&channel->out, (uint32_t)byte_count);

	if (unlikely(!record))
		return;
	record->kind = RECORD_PACKET;
	record->port = port;
	record->packet_count = packet->packet_count;
	record->word = word;
	packet_encode(packet, record->body);
	ring_commit(&channel->out, record);
	if (channel->out.tail - channel->out.published >= PUBLISH_BYTES)
		channel_publish(channel);
}

/* How many of the largest packets surely fit. */
static unsigned packets_that_fit(struct channel *channel, uint32_t record_bytes)
{
	uint64_t count =
		ring_room_at_least(&channel->out, channel->out.data_bytes / 4) / record_bytes;

	if (count < 2)
		return 0;
	return count - 1 < BATCH_PACKETS ? (unsigned)count - 1 : BATCH_PACKETS;
}

static void park(struct process_runtime *runtime, struct hca *hca, struct qp *qp,
		 struct channel *channel, time_ns now)
{
	channel_publish(channel);
	channel_is_full(channel, now);
	/* While the progress thread sleeps, only a doorbell tells of room; a polling program checks
	 * by itself. */
	if (runtime->progress.mode == PROGRESS_LISTENING &&
	    channel_wait_for_room(channel, TRANSMIT_ROOM_BYTES))
		return;
	hca_ready_remove(hca, qp);
	list_append(&channel->waiting, &qp->ready_link);
}

/* Records for softibd name the port that they leave by. */
static uint16_t source_port(const struct adapter *adapter, const struct qp_route *route)
{
	return (uint16_t)(adapter->description->index << 8 | route->port_number);
}

/* Lets a queue pair transmit into a channel; flow is NULL if softibd relays. false: the queue pair
 * was parked instead. */
static bool transmit_into(struct adapter *adapter, struct qp *qp, const struct qp_route *route,
			  struct channel *channel, struct flow *flow, time_ns now)
{
	struct process_runtime *runtime = adapter->runtime;
	uint16_t port = flow ? flow->destination_port : source_port(adapter, route);
	struct packet packets[BATCH_PACKETS];
	unsigned packets_max = packets_that_fit(channel, TRANSMIT_RECORD_BYTES);
	bool has_room = packets_max != 0;

	if (unlikely(!has_room && !channel->is_stalled)) {
		park(runtime, &adapter->hca, qp, channel, now);
		return false;
	}

	unsigned count = 0;

	/* On a direct ring an ACK is a word, not a packet. */
	qp->asks_always = flow;
	if (!has_room || responses_are_due(qp) || requester_is_ready(qp))
		count = qp_transmit(qp, now, has_room ? packets_max : BATCH_PACKETS,
				    flow ? TRAIN_BYTES_MAX : 1, packets);

	for (unsigned i = 0; i < count; i++) {
		size_t byte_count = packet_bytes(&packets[i]);
		/* A switch on the path would have dropped a packet above the MTU of its links. */
		bool fits_path = !flow || packets[i].payload.byte_count <=
						  (uint64_t)flow->mtu * packets[i].packet_count;

		if (unlikely(!has_room || !fits_path || packets[i].packet_count == 0)) {
			runtime->drops.discarded++;
			continue;
		}
		write_packet(channel, port, record_packet_word(route->static_rate, qp->qpn),
			     &packets[i], byte_count);
		if (flow)
			flow_count(flow, packets[i].packet_count,
				   wire_words(&packets[i], byte_count));
	}
	runtime->sends_through_softibd = !flow;
	qp->owner_position = channel->out.tail;
	publish_later(runtime, channel);
	return true;
}

bool transmit_is_underway(const struct qp *qp, time_ns now)
{
	const struct flow *flow = qp->owner_route;
	struct hca *hca = container_of(qp, struct qp_object, qp)->hca;
	struct adapter *adapter = container_of(hca, struct adapter, hca);

	if (!flow)
		return false;
	return channel_is_underway(flow->state == FLOW_DIRECT ? flow->channel
							      : &adapter->runtime->softibd,
				   qp->owner_position, now);
}

static void ask(struct process_runtime *runtime, struct flow *flow)
{
	struct channel *softibd = &runtime->softibd;
	struct ring_record *record = ring_reserve(&softibd->out, sizeof(struct resolve_request));

	if (!record)
		return;

	struct resolve_request request = flow_ask(flow, runtime_generation(runtime));

	record->kind = RECORD_RESOLVE;
	record->port = request.source_port;
	record->byte_count = sizeof(request);
	__builtin_memcpy(record->body, &request, sizeof(request));
	ring_commit(&softibd->out, record);
	publish_later(runtime, softibd);
}

static void forget_route(struct qp_object *object, void *context)
{
	(void)context;
	object->qp.owner_route = NULL;
}

static void forget_idle_flows(struct process_runtime *runtime)
{
	for (unsigned i = 0; i < runtime->adapter_limit; i++)
		if (runtime->adapters[i] && runtime->adapters[i]->has_hca)
			hca_for_each_qp(&runtime->adapters[i]->hca, forget_route, NULL);
	runtime_invalidate(runtime);
	flow_table_forget_idle(&runtime->flows);
}

/* Whether the peer of this queue pair may need our memory: for zcopy SENDs, which only reliable
 * connections have, or for RMA. */
static bool shares_memory(const struct qp *qp)
{
	const uint32_t remote = ACCESS_REMOTE_READ | ACCESS_REMOTE_WRITE | ACCESS_REMOTE_ATOMIC;

	return qp->type == QP_RC || (qp->type == QP_UC && qp->attributes.access & remote);
}

static struct flow *flow_of(struct adapter *adapter, struct qp *qp, const struct qp_route *route)
{
	flow_key key = flow_key_of(adapter->description->index, route);
	struct flow *flow = qp->owner_route;

	if (likely(flow && flow->key == key))
		return flow;
	if (unlikely(flow_table_is_full(&adapter->runtime->flows)))
		forget_idle_flows(adapter->runtime);
	flow = flow_table_get(&adapter->runtime->flows, key, route->destination_qpn);
	qp->owner_route = flow;
	if (flow && shares_memory(qp)) {
		flow->is_connection = true;
		if (flow->channel)
			exposure_give(adapter->runtime, flow->channel);
	}
	return flow;
}

/* An answer holds for one generation, and "relay, for now" holds for a while. */
static inline void forget_old_answer(struct flow *flow, uint32_t generation, time_ns now)
{
	if (flow->state != FLOW_DIRECT && flow->state != FLOW_FABRIC)
		return;
	if (unlikely(flow->generation != generation ||
		     (flow->state == FLOW_FABRIC && now >= flow->ask_at)))
		flow->state = FLOW_UNRESOLVED;
}

/* Transmits by the direct ring, by zcopy, or by RMA. */
static bool transmit_direct(struct adapter *adapter, struct qp *qp, const struct qp_route *route,
			    struct flow *flow, time_ns now)
{
	bool has_turn = true, is_zcopy = false;

	if (rma_is_next(qp) && rma_run(adapter, qp, flow, now) == RMA_GOES_ON)
		qp->requester.hold = HOLD_ALL;
	while (zcopy_send_queued(adapter, qp, flow, now))
		is_zcopy = true;
	if (is_zcopy) {
		hca_remember_undated(&adapter->hca, qp);
		hca_date(&adapter->hca, now);
		adapter->runtime->sends_through_softibd = false;
		publish_later(adapter->runtime, flow->channel);
	}
	/* Nothing may be left, or only responses. */
	if (responses_are_due(qp) || requester_is_ready(qp))
		has_turn = transmit_into(adapter, qp, route, flow->channel, flow, now);
	if (qp->requester.hold == HOLD_ALL)
		qp->requester.hold = HOLD_NONE;
	return has_turn;
}

/* No direct ring leads through a router, and the router's DLID may be another port's here. Packets
 * of a shared XRC target are relayed, because the responses of its next process must not overtake
 * ours. Raw packets name no process. */
static bool never_has_a_flow(struct qp *qp, const struct qp_route *route)
{
	return route->leaves_subnet || container_of(qp, struct qp_object, qp)->is_shared ||
	       qp_type_is_raw(qp->type);
}

/* An ACK does not wait until softibd has answered about the flow: the program has been told of the
 * message, and may end before. Packets that overtake the ACK in a ring do no harm, because the next
 * ACK or response acknowledges as much. Returns whether the queue pair has nothing else to send. */
static bool relay_ack(struct adapter *adapter, struct qp *qp, const struct qp_route *route,
		      time_ns now)
{
	const struct responder *responder = &qp->responder;
	struct channel *softibd = &adapter->runtime->softibd;
	struct qp_route next;
	struct packet ack;

	if (likely(!responder->ack_is_due) || responder->saved_pending || responder->nak_is_due ||
	    !packets_that_fit(softibd, TRANSMIT_RECORD_BYTES) ||
	    !responses_transmit(qp, now, 1, 1, &ack))
		return false;
	write_packet(softibd, source_port(adapter, route),
		     record_packet_word(route->static_rate, qp->qpn), &ack, packet_bytes(&ack));
	publish_later(adapter->runtime, softibd);
	return !qp_next_route(qp, now, &next);
}

/* Returns whether the queue pair got its turn; if not, it waits in some list. */
static bool transmit_qp(struct adapter *adapter, struct qp *qp, const struct qp_route *route,
			time_ns now)
{
	struct process_runtime *runtime = adapter->runtime;

	qp->requester.hold = HOLD_NONE;
	if (unlikely(never_has_a_flow(qp, route))) {
		qp->owner_route = NULL;
		return transmit_into(adapter, qp, route, &runtime->softibd, NULL, now);
	}

	struct flow *flow = flow_of(adapter, qp, route);

	if (unlikely(!flow)) {
		/* No memory for the flow: relaying needs none. */
		return transmit_into(adapter, qp, route, &runtime->softibd, NULL, now);
	}
	forget_old_answer(flow, runtime_generation(runtime), now);
	switch (flow->state) {
	case FLOW_DIRECT:
		return transmit_direct(adapter, qp, route, flow, now);
	case FLOW_FABRIC:
	case FLOW_FABRIC_ALWAYS:
		return transmit_into(adapter, qp, route, &runtime->softibd, NULL, now);
	case FLOW_UNRESOLVED:
		ask(runtime, flow);
		if (flow->state == FLOW_UNRESOLVED) {
			park(runtime, &adapter->hca, qp, &runtime->softibd, now);
			return false;
		}
		break;
	case FLOW_RESOLVING:
	case FLOW_HOLDING:
	case FLOW_RING_WANTED:
		break;
	}
	const bool has_nothing_left = relay_ack(adapter, qp, route, now);

	hca_ready_remove(&adapter->hca, qp);
	if (!has_nothing_left)
		list_append(&flow->waiting, &qp->ready_link);
	return false;
}

void transmit_prepare(struct adapter *adapter, struct qp *qp, time_ns now)
{
	struct process_runtime *runtime = adapter->runtime;
	struct qp_route route;

	if (!runtime_is_usable(runtime) || (qp->type != QP_RC && qp->type != QP_UC))
		return;
	requester_route(qp, &route);
	if (never_has_a_flow(qp, &route))
		return;

	struct flow *flow = flow_of(adapter, qp, &route);

	if (!flow)
		return;
	forget_old_answer(flow, runtime_generation(runtime), now);
	if (flow->state == FLOW_UNRESOLVED)
		ask(runtime, flow);
}

void transmit_last_answers(struct adapter *adapter, struct qp *qp, time_ns now)
{
	const struct flow *flow = qp->owner_route;
	struct qp_route route;

	if (!runtime_is_usable(adapter->runtime) || (flow && flow->state == FLOW_DIRECT))
		return;
	for (unsigned round = 0; round < ROUNDS_MAX && responses_are_due(qp); round++) {
		if (!qp_next_route(qp, now, &route) ||
		    !transmit_into(adapter, qp, &route, &adapter->runtime->softibd, NULL, now))
			return;
	}
}

bool transmit_adapter(struct adapter *adapter, time_ns now)
{
	struct hca *hca = &adapter->hca;
	struct qp_route route;
	struct qp *qp;
	bool any = false;

	for (unsigned round = 0; round < ROUNDS_MAX && (qp = hca_ready_first(hca)); round++) {
		if (unlikely(adapter->runtime->rounds.rma_bytes >= RUNTIME_RMA_BYTES_MAX))
			break;
		if (!qp_next_route(qp, now, &route)) {
			hca_ready_remove(hca, qp);
			continue;
		}
		if (ack_word_write(adapter, qp) && !qp_next_route(qp, now, &route)) {
			hca_ready_remove(hca, qp);
			any = true;
			continue;
		}
		if (!transmit_qp(adapter, qp, &route, now))
			continue;
		any = true;
		/* To the end of the ready list. */
		hca_ready_remove(hca, qp);
		hca_ready_add(hca, qp);
	}
	return any;
}
