/* SPDX-License-Identifier: Apache-2.0 */
/* Receives records. What a ring holds is untrusted input. */
#include "runtime/packets/receive.h"

#include <limits.h>
#include <string.h>
#include "runtime/packets/ack_words.h"
#include "runtime/packets/ring_grants.h"
#include "runtime/alternate_paths.h"
#include "runtime/runtime_state.h"
#include "runtime/channel_queues.h"
#include "runtime/direct_channels.h"
#include "runtime/exposure.h"
#include "runtime/fast/short_send.h"
#include "runtime/rma/pinned_range.h"
#include "runtime/rma/rma_target.h"
#include "runtime/zcopy/zcopy_send.h"
#include "runtime/xrc/leased_targets.h"
#include "ipc/verb_faults.h"
#include "runtime/zcopy/ud_zcopy.h"
#include "net/hca/injected_event.h"
#include "net/hca/raw_qps.h"
#include "net/hca/shared_target.h"
#include "wire/mtu.h"
#include "wire/packet.h"
#include "wire/raw_packet.h"

enum { SMALLEST_MTU_BYTES = 256 };

/* Records per call for a polling program, which has posted receives for about so many. The rest
 * waits in the ring, where it keeps the peer from sending. */
enum { RECORDS_PER_CALL = 64 };

/* The headers are decoded from a copy, since the peer can change the ring's bytes between a check
 * and a use. The payload stays in the ring: its content is the peer's business. */
static bool decode(const struct ring_record *record, struct packet *ret_packet)
{
	uint8_t headers[PACKET_HEADER_BYTES_MAX + 4];
	size_t copied = record->byte_count < sizeof(headers) ? record->byte_count : sizeof(headers);

	/* Every packet of a train but the last has at least the smallest MTU. */
	if (unlikely(record->packet_count > 1 + record->byte_count / SMALLEST_MTU_BYTES))
		return false;
	memcpy(headers, record->body, copied);
	__asm__ volatile(""
			 :
			 : "r"(headers)
			 : "memory"); /* the compiler must not read the ring twice */
	if (unlikely(packet_decode(headers, record->byte_count, record->packet_count, ret_packet) !=
		     PACKET_OK))
		return false;

	size_t payload_offset = (size_t)(ret_packet->payload.single.bytes - headers);

	ret_packet->payload.single.bytes = record->body + payload_offset;
	return true;
}

/* A hint: the bytes are read where the peer can change them. */
static bool looks_unreliable(const struct ring_record *record)
{
	size_t offset = LRH_BYTES + ((record->body[1] & 3) == LNH_LOCAL ? 0 : GRH_BYTES);
	unsigned transport =
		record->byte_count > offset ? opcode_transport(record->body[offset]) : TRANSPORT_RC;

	return record->kind == RECORD_PACKET &&
	       (transport == TRANSPORT_UD || transport == TRANSPORT_UC);
}

/* Whether the record is a message that nobody would retransmit, for a queue pair that lacks only a
 * receive request for it. */
static bool lacks_only_a_receive(const struct process_runtime *runtime, struct channel *channel,
				 const struct ring_record *record)
{
	struct adapter *adapter = runtime_adapter(runtime, record->port >> 8);
	struct packet packet;

	if (likely(record->byte_count < LRH_BYTES || !looks_unreliable(record)) || !adapter ||
	    !decode(record, &packet) || !opcode_info(packet.bth.opcode)->takes_receive)
		return false;

	const struct qp_object *object =
		index_table_get(&adapter->hca.qps, packet.bth.destination_qpn);
	const struct qp *qp = object ? &object->qp : NULL;

	return qp && (qp->type == QP_UD || qp->type == QP_UC) &&
	       opcode_transport(packet.bth.opcode) == qp_transport(qp) && qp->state >= QP_RTR &&
	       qp->state != QP_ERROR && !receive_queue_first(qp->receive_queue) &&
	       !qp->responder.has_receive &&
	       (qp->type != QP_UD || packet.deth.qkey == qp->attributes.qkey) &&
	       ring_grant_allows(runtime, channel, record->port, &packet);
}

/* Whether the record is a SEND to a reliable connection that has no receive request, while the
 * program has receive completions to poll, or has polled some and works on them: it is about to
 * repost their requests. An RNR NAK would make the peer wait for a timer, though the program is
 * about to post. A hint, since the BTH is read where the peer can change it; all the peer can do is
 * to let its own ring wait. */
static bool awaits_repost(const struct process_runtime *runtime, const struct ring_record *record)
{
	struct adapter *adapter = runtime_adapter(runtime, record->port >> 8);
	struct bth bth;

	if ((record->kind != RECORD_PACKET && record->kind != RECORD_ZCOPY) || !adapter ||
	    record->byte_count < LRH_BYTES)
		return false;

	size_t offset = LRH_BYTES + ((record->body[1] & 3) == LNH_LOCAL ? 0 : GRH_BYTES);

	if (record->byte_count < offset ||
	    !bth_decode(record->body + offset, record->byte_count - offset, &bth))
		return false;

	if (opcode_transport(bth.opcode) != TRANSPORT_RC || !opcode_info(bth.opcode)->takes_receive)
		return false;

	const struct qp_object *object = index_table_get(&adapter->hca.qps, bth.destination_qpn);
	const struct qp *qp = object ? &object->qp : NULL;
	const struct completion_ring *completions = qp ? qp->completions[SIDE_RECEIVE] : NULL;

	return qp && qp->type == QP_RC && qp->state >= QP_RTR && qp->state != QP_ERROR &&
	       !receive_queue_first(qp->receive_queue) && !qp->responder.has_receive &&
	       psn_equal(bth.psn, qp->responder.expected_psn) && completions &&
	       (runtime->rounds.is_posting || completions->head != completions->tail);
}

/* Whether the record that was read last from the channel may wait there, or continue to wait. */
static bool waits_for_receive(const struct process_runtime *runtime, struct channel *channel,
			      time_ns now, const struct ring_record *record)
{
	const struct ring_record packet = ud_zcopy_headers(record);

	if (unlikely(lacks_only_a_receive(runtime, channel, &packet)))
		return rnr_hold_waits(&channel->rnr_hold, ring_position(&channel->in), now);
	return unlikely(awaits_repost(runtime, record)) &&
	       rnr_hold_waits_reliable(&channel->rnr_hold, ring_position(&channel->in), now);
}

bool receive_is_held_back(const struct process_runtime *runtime, struct channel *channel,
			  time_ns now, const struct ring_record *record)
{
	if (likely(!waits_for_receive(runtime, channel, now, record)))
		return false;
	burst_put_back(&channel->burst_in, &channel->in.current);
	ring_put_back(&channel->in);
	/* The sender must see that its ring is being read. */
	channel_release(channel);
	return true;
}

static void receive_packet(struct process_runtime *runtime, struct channel *channel, time_ns now,
			   const struct ring_record *record)
{
	struct adapter *adapter = runtime_adapter(runtime, record->port >> 8);
	struct packet packet;

	if (unlikely(!adapter))
		return;
	if (unlikely(!decode(record, &packet))) {
		runtime->drops.malformed++;
		return;
	}
	if (unlikely(!ring_grant_admits(runtime, channel, record->port, &packet)))
		return;
	if (likely(record->kind == RECORD_PACKET)) {
		hca_receive(&adapter->hca, now, (uint8_t)record->port, &packet);
		return;
	}

	struct qp_object *target = index_table_get(&adapter->hca.qps, packet.bth.destination_qpn);

	if (target && target->is_shared)
		shared_target_receive(target, now, (uint8_t)record->port, &packet);
}

/* Only softibd sends these records, and nobody else writes to its ring: no copy is needed. */
static void receive_raw(struct process_runtime *runtime, time_ns now,
			const struct ring_record *record)
{
	struct adapter *adapter = runtime_adapter(runtime, record->port >> 8);
	struct packet packet;

	if (!adapter)
		return;
	if (raw_packet_decode((uint8_t *)record->body, record->byte_count, &packet) == PACKET_OK)
		hca_receive_raw(&adapter->hca, now, (uint8_t)record->port, &packet);
	else
		runtime->drops.malformed++;
}

void receive_direct_record(struct process_runtime *runtime, struct channel *channel, time_ns now,
			   const struct ring_record *record)
{
	if (likely(record->kind == RECORD_PACKET))
		receive_packet(runtime, channel, now, record);
	else if (record->kind == RECORD_ZCOPY)
		zcopy_receive_packets(runtime, channel, now, record);
	else if (record->kind == RECORD_UD_ZCOPY)
		ud_zcopy_receive_packet(runtime, channel, now, record);
	else if (record->kind == RECORD_RMA_GRANT_REQUEST)
		rma_target_requested(runtime, channel, record);
	else if (record->kind == RECORD_PIN_ASKED)
		pinned_range_asked(runtime, channel, record);
	else
		runtime->drops.malformed++;
}

/* The most frequent packets take fewer steps. */
static bool receive_fast(struct process_runtime *runtime, struct channel *channel, time_ns now,
			 const struct ring_record *record)
{
	struct qp *qp =
		runtime->may_go_fast ? short_receive_record(runtime, channel, now, record) : NULL;

	if (qp && qp->responder.ack_is_due)
		hca_ready_add(container_of(qp, struct qp_object, qp)->hca, qp);
	return qp != NULL;
}

/* false: the record stays in the ring. */
static bool take_record(struct process_runtime *runtime, struct channel *channel, time_ns now,
			const struct ring_record *record)
{
	if (likely(receive_fast(runtime, channel, now, record)))
		return true;
	if (unlikely(receive_is_held_back(runtime, channel, now, record)))
		return false;
	receive_direct_record(runtime, channel, now, record);
	return true;
}

static bool receive_some(struct process_runtime *runtime, struct channel *channel, time_ns now,
			 unsigned record_count)
{
	/* At most one ring full, so that a call ends while the peer keeps writing. */
	uint64_t end = channel->in.head + channel->in.data_bytes;
	const struct ring_record *record;
	bool any = false;

	while (record_count-- && (int64_t)(end - channel->in.head) > 0 &&
	       (record = burst_look(&channel->burst_in, ring_next(&channel->in))) &&
	       take_record(runtime, channel, now, record)) {
		rnr_hold_came_to(&channel->rnr_hold, channel->in.head, now);
		receive_release_some(channel);
		any = true;
	}
	return any;
}

bool receive_direct(struct process_runtime *runtime, struct channel *channel, time_ns now)
{
	rnr_hold_lose(&channel->rnr_hold, now);
	return receive_some(runtime, channel, now, UINT_MAX);
}

static void receive_answer(struct process_runtime *runtime, time_ns now,
			   const struct ring_record *record)
{
	struct resolve_answer answer;
	struct channel *channel = NULL;

	if (record->byte_count < sizeof(answer))
		return;
	memcpy(&answer, record->body, sizeof(answer));

	struct flow *flow = flow_table_at(&runtime->flows, answer.request_id);

	if (!flow)
		return;
	if (answer.verdict == RESOLVED_DIRECT)
		channel = direct_channel_get(runtime, answer.ring_id);
	flow_answer(&runtime->flows, flow, &answer, channel, runtime_generation(runtime), now);
	if (flow->is_connection && flow->channel)
		exposure_give(runtime, flow->channel);
	runtime_invalidate(runtime); /* bursts and RMA rest on channel and port of their flow */
	if (flow->state == FLOW_DIRECT || flow->state == FLOW_FABRIC)
		waiting_wake(&flow->waiting);
}

static void receive_port_update(struct process_runtime *runtime, const struct ring_record *record)
{
	struct port_update update;

	if (record->byte_count < sizeof(update))
		return;
	memcpy(&update, record->body, sizeof(update));

	struct adapter *adapter = runtime_adapter(runtime, update.adapter_index);

	if (!adapter)
		return;
	/* Grants rest on partitions and addresses, which were checked once per grant. */
	rma_target_end_all(runtime);
	hca_port_update(&adapter->hca, &update.view, update.client_reregister != 0);
}

/* Every adapter raises events. The other faults are for the verbs, which all adapters share, so
 * they are reported once. */
static void receive_fault(struct process_runtime *runtime, time_ns now,
			  const struct ring_record *record)
{
	struct verb_fault fault;
	bool is_told = false;

	if (record->byte_count < sizeof(fault))
		return;
	memcpy(&fault, record->body, sizeof(fault));
	for (unsigned index = 0; index < runtime->adapter_limit; index++) {
		struct adapter *adapter = runtime_adapter(runtime, index);

		if (!adapter)
			continue;
		if (fault.kind == VERB_FAULT_EVENT && fault.event < ASYNC_EVENT_COUNT)
			hca_inject_event(&adapter->hca, now, (enum hca_event_type)fault.event);
		else if (adapter->hca.owner.fault && !is_told)
			adapter->hca.owner.fault(adapter->hca.owner.context, &fault);
		is_told = true;
	}
}

static void receive_from_softibd(struct process_runtime *runtime, time_ns now,
				 const struct ring_record *record)
{
	switch (record->kind) {
	case RECORD_PACKET:
		if (unlikely(!receive_fast(runtime, &runtime->softibd, now, record)))
			receive_packet(runtime, &runtime->softibd, now, record);
		break;
	case RECORD_TARGET_PACKET:
		receive_packet(runtime, &runtime->softibd, now, record);
		break;
	case RECORD_RAW_PACKET:
		receive_raw(runtime, now, record);
		break;
	case RECORD_RESOLVED:
		receive_answer(runtime, now, record);
		break;
	case RECORD_RING_OFFERED:
		ring_grant_offered(runtime, direct_channel_get(runtime, record->word), record);
		break;
	case RECORD_RING_REVOKED:
		ring_grant_revoked(runtime, direct_channel_find(runtime, record->word), record);
		break;
	case RECORD_EXPOSED:
		direct_channel_exposed(runtime, record->word);
		break;
	case RECORD_PORT_UPDATE:
		receive_port_update(runtime, record);
		break;
	case RECORD_TARGET_LEASED:
	case RECORD_TARGET_RECALLED:
	case RECORD_TARGET_EVENT:
		xrc_leases_receive(runtime, record);
		break;
	case RECORD_VERB_FAULT:
		receive_fault(runtime, now, record);
		break;
	case RECORD_ALTERNATE_PATH:
		alternate_path_receive(runtime, now, record);
		break;
	default:
		runtime->drops.malformed++;
	}
}

bool receive_has_more(const struct process_runtime *runtime)
{
	bool has_more = !ring_is_empty(&runtime->softibd.in);

	for (unsigned i = 0; i < runtime->direct.count; i++)
		if (runtime->direct.channels[i]->state == CHANNEL_OPEN)
			has_more |= channel_has_more(runtime->direct.channels[i]);
	return has_more;
}

/* is_all: takes all records, because records in the down ring may have to come after them. */
static bool receive_channel(struct process_runtime *runtime, struct channel *channel, time_ns now,
			    bool is_all)
{
	bool any = ack_words_take(runtime, channel, now);

	any |= receive_some(runtime, channel, now, is_all ? UINT_MAX : RECORDS_PER_CALL);
	if (unlikely(channel->release_in))
		channel_release(channel);
	return any;
}

/* Answers about our own sends have no order with packets that we receive. */
static bool may_overtake(const struct ring_record *record)
{
	return record->kind == RECORD_RESOLVED || record->kind == RECORD_RING_OFFERED;
}

/* Datagrams from softibd do not wait: softibd must not be held up for packets that may be lost. */
static bool softibd_waits(struct process_runtime *runtime, time_ns now,
			  const struct ring_record *record)
{
	struct channel *softibd = &runtime->softibd;

	return record->kind == RECORD_PACKET && unlikely(awaits_repost(runtime, record)) &&
	       rnr_hold_waits_reliable(&softibd->rnr_hold, ring_position(&softibd->in), now);
}

bool receive_all(struct process_runtime *runtime, time_ns now)
{
	struct channel *softibd = &runtime->softibd;
	/* The end of the down ring is read first. Packets that a peer sent through softibd after
	 * its direct ring was revoked come after those in the direct ring, so they must be received
	 * after them. */
	uint64_t snapshot = ring_snapshot(&softibd->in);
	const struct ring_record *record;
	bool has_down = snapshot != softibd->in.head;
	bool any = false, holds_back = false;

	for (unsigned i = 0; i < runtime->direct.count; i++) {
		struct channel *channel = runtime->direct.channels[i];

		if (channel->state != CHANNEL_OPEN)
			continue;
		any |= receive_channel(runtime, channel, now, has_down);
		holds_back |= channel_holds_back(channel);
	}

	/* A ring that is known but can't be read yet, or not further, may hold packets that come
	 * before the next ones in the down ring. */
	while (!runtime->direct.wanted_count &&
	       (record = ring_next_until(&softibd->in, snapshot))) {
		if (unlikely((holds_back && !may_overtake(record)) ||
			     softibd_waits(runtime, now, record))) {
			ring_put_back(&softibd->in);
			break;
		}
		receive_from_softibd(runtime, now, record);
		rnr_hold_came_to(&softibd->rnr_hold, softibd->in.head, now);
		if (softibd->in.head - softibd->in.released >= RECEIVE_RELEASE_BYTES)
			channel_release(softibd);
		any = true;
	}
	channel_release(softibd);
	return any;
}
