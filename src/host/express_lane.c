/* SPDX-License-Identifier: Apache-2.0 */
/* The express lane: see express_lane.h. */
#include "host/express_lane.h"

#include <stdlib.h>
#include <string.h>
#include "host/attachment.h"
#include "host/direct_records.h"
#include "host/doorbell.h"
#include "host/fabric_lane.h"
#include "host/pull_lane.h"
#include "host/receive.h"
#include "host/transmit.h"
#include "net/transport/addressing.h"
#include "net/transport/express.h"
#include "net/transport/express_headers.h"
#include "net/transport/requester.h"
#include "net/transport/responses.h"
#include "wire/packet.h"

enum {
	QPN_BITS = 24,
	/* Peers that sent something lately are looked at in each round, the others in turn. */
	BUSY_CHANNELS = 4,
	IDLE_CHANNELS_PER_ROUND = 4,
	/* LRH, BTH, AETH and ICRC, in words of a link. */
	ACK_WORDS = (LRH_BYTES + BTH_BYTES + AETH_BYTES + ICRC_BYTES) / 4,
	RECORDS_PER_ROUND = 64,
	WORDS_PER_RECORDS = 4,
	PULLED_PER_RECORD = 1 << 14, /* bytes that take as long as a record or two */
};

bool express_lane_is_allowed(void)
{
	const char *choice = getenv("SOFTIB_FAST");

	return !choice || strcmp(choice, "0") != 0;
}

/* For completions, whose time is only asked for where the clock is read each time. */
static time_ns lane_time(const struct attachment *attachment)
{
	return unlikely(attachment->wants_time) ? attachment_now() : attachment->last_now;
}

/* The flow that the queue pair used last, if its packets still go that way and past the fabric. */
static struct flow *direct_flow(const struct adapter *adapter, const struct qp *qp,
				const struct address_vector *address, uint32_t destination_qpn)
{
	struct flow *flow = qp->owner_route;
	uint16_t pkey = qp->port->pkeys[qp->attributes.pkey_index];

	if (!flow || flow->state != FLOW_DIRECT ||
	    flow->key != flow_key_make(adapter->description->index, qp->port->number, address->sl,
				       address->dlid, pkey, destination_qpn) ||
	    flow->generation != attachment_generation(adapter->attachment))
		return NULL;
	return flow;
}

/* Of a connection: looked up once for as long as its headers stay the same. */
static struct flow *connected_flow(const struct adapter *adapter, struct qp *qp)
{
	struct flow *flow = qp->owner_route;

	if (likely(flow && flow == qp->express.route && flow->state == FLOW_DIRECT &&
		   flow->generation == attachment_generation(adapter->attachment)))
		return flow;
	flow = direct_flow(adapter, qp, &qp->attributes.address, qp->attributes.destination_qpn);
	qp->express.route = flow;
	return flow;
}

static struct flow *flow_of_next(const struct adapter *adapter, struct qp *qp)
{
	const struct requester *requester = &qp->requester;

	if (qp->type != QP_UD)
		return connected_flow(adapter, qp);

	const struct send_slot *slot = send_queue_slot(&requester->queue, requester->cursor);

	return direct_flow(adapter, qp, &slot->address, slot->remote_qpn);
}

/* What was reserved has been written: the other end sees it. */
static inline void commit(struct qp *qp, struct flow *flow, uint32_t byte_count)
{
	direct_record_commit(qp, flow, byte_count, RECORD_PACKET, 1);
	flow_count(flow, 1, (byte_count + ICRC_BYTES) / 4);
}

static bool send_one(struct adapter *adapter, struct qp *qp, time_ns now)
{
	struct express_packet packet;

	if (qp->type == QP_RC) {
		struct flow *flow = connected_flow(adapter, qp);

		if (flow && pull_lane_send(adapter, qp, flow, now)) {
			transmit_mark_dirty(adapter->attachment, flow->channel);
			return true;
		}
	}

	if (!express_next(qp, &packet))
		return false;

	struct flow *flow = flow_of_next(adapter, qp);

	if (unlikely(!flow || packet.payload_bytes > flow->mtu))
		return false;

	uint8_t *body = direct_record_reserve(flow->channel, packet.byte_count);

	if (unlikely(!body))
		return false;
	express_write(qp, now, &packet, body);
	commit(qp, flow, packet.byte_count);
	transmit_mark_dirty(adapter->attachment, flow->channel);
	return true;
}

/* Whether this queue pair's packets may be sent without the clock, as far as its owner knows. */
static inline bool is_open_to(const struct attachment *attachment, const struct qp *qp)
{
	return attachment_is_express(attachment) && attachment_is_looked_after(attachment) &&
	       !list_is_linked(&qp->ready_link);
}

/* A record of this queue pair's is in the ring, and the first that was not shown. */
static inline void posted(struct adapter *adapter, struct qp *qp, struct flow *flow)
{
	if (unlikely(ring_announce(&flow->channel->out)))
		doorbell_ring(flow->channel->doorbell);
	hca_remember_undated(&adapter->hca, qp);
	adapter->attachment->sends_through_softibd = false;
}

/* A message of several packets goes at once only if it is pulled. */
static bool post_long(struct adapter *adapter, struct qp *qp, const struct send_request *request)
{
	struct express_packet packet;
	struct flow *flow;

	if (!express_may_post_pulled(qp, request, &packet))
		return false;
	flow = connected_flow(adapter, qp);
	if (!flow || !pull_lane_post(adapter, qp, flow, request, &packet,
				     lane_time(adapter->attachment)))
		return false;
	posted(adapter, qp, flow);
	return true;
}

bool express_lane_post(struct adapter *adapter, struct qp *qp, const struct send_request *request)
{
	struct attachment *attachment = adapter->attachment;
	struct express_packet packet;

	if (unlikely(!is_open_to(attachment, qp)))
		return false;
	if (unlikely(!express_may_post(qp, request, &packet)))
		return post_long(adapter, qp, request);

	struct flow *flow =
		qp->type == QP_UD ? direct_flow(adapter, qp, request->address, request->remote_qpn)
				  : connected_flow(adapter, qp);

	if (unlikely(!flow))
		return fabric_lane_post(adapter, qp, request, &packet, lane_time(attachment));
	if (packet.payload_bytes >= PULL_LANE_BYTES_MIN &&
	    pull_lane_post(adapter, qp, flow, request, &packet, lane_time(attachment))) {
		posted(adapter, qp, flow);
		return true;
	}
	if (unlikely(packet.payload_bytes > flow->mtu))
		return false;

	uint8_t *body = direct_record_reserve(flow->channel, packet.byte_count);

	if (unlikely(!body))
		return false;
	/* The peer waits for it: what it means for our own queues comes after. */
	express_post_packet(qp, request, &packet, body);
	commit(qp, flow, packet.byte_count);
	express_post_request(qp, lane_time(attachment), request, &packet);
	posted(adapter, qp, flow);
	return true;
}

bool express_lane_send(struct adapter *adapter, struct qp *qp)
{
	struct attachment *attachment = adapter->attachment;
	const struct requester *requester = &qp->requester;

	if (unlikely(!is_open_to(attachment, qp)))
		return false;

	time_ns now = lane_time(attachment);
	bool any = false;

	while (requester->cursor != requester->queue.tail && send_one(adapter, qp, now))
		any = true;
	if (any) {
		hca_remember_undated(&adapter->hca, qp);
		attachment->sends_through_softibd = false;
		transmit_flush(attachment);
	}
	return requester->cursor == requester->queue.tail;
}

/* The channel that the word went by; NULL: it is more than a word. */
static inline struct channel *acknowledge(struct adapter *adapter, struct qp *qp)
{
	struct psn psn;

	if (unlikely(!adapter->attachment->may_express || !qp->responder.ack_is_due ||
		     !qp->owner_route || !express_is_known(qp)))
		return NULL;

	struct flow *flow = connected_flow(adapter, qp);

	if (unlikely(!flow || !word_ring_has_room(&flow->channel->words_out) ||
		     !express_take_ack(qp, &psn)))
		return NULL;
	word_ring_put(&flow->channel->words_out,
		      (uint64_t)psn.value << QPN_BITS | qp->attributes.destination_qpn);
	flow_count(flow, 1, ACK_WORDS);
	return flow->channel;
}

bool express_lane_acknowledge(struct adapter *adapter, struct qp *qp)
{
	struct channel *channel = acknowledge(adapter, qp);

	if (!channel)
		return false;
	transmit_mark_dirty(adapter->attachment, channel);
	return true;
}

/* The packet that the word stands for, for what is unusual at this end. */
static void receive_ack_packet(struct hca *hca, time_ns now, const struct qp *qp, struct psn psn)
{
	struct packet packet = {
		.lrh = {.sl = qp->attributes.address.sl,
			.lnh = LNH_LOCAL,
			.dlid = qp->port->lid,
			.slid = qp->attributes.address.dlid},
		.bth = {.opcode = TRANSPORT_RC | OPCODE_ACKNOWLEDGE,
			.migrated = true,
			.pkey = qp_pkey(qp),
			.destination_qpn = qp->qpn,
			.psn = psn},
		.aeth = {.syndrome = aeth_syndrome(AETH_ACK, AETH_CREDITS_UNLIMITED)},
		.packet_count = 1,
	};

	hca_receive(hca, now, qp->port->number, &packet);
}

/* What a queue pair can be told by this channel: one whose own packets go by another ring hears
 * nothing from here. */
static struct qp_object *find_acknowledged(const struct attachment *attachment,
					   const struct channel *channel, uint32_t qpn)
{
	for (unsigned i = 0; i < attachment->adapter_limit; i++) {
		const struct adapter *adapter = attachment->adapters[i];

		if (!adapter || !adapter->has_hca)
			continue;

		struct qp_object *object = index_table_get(&adapter->hca.qps, qpn);
		struct flow *flow = object ? object->qp.owner_route : NULL;

		if (!object || object->qp.type != QP_RC || !object->qp.port)
			continue;
		if (!flow || flow->state != FLOW_DIRECT || flow->channel == channel)
			return object;
	}
	return NULL;
}

/* Takes one word. An answer to a READ that the peer sent before this ACK lies in the ring: it is
 * read first, or the ACK would say that it was lost. */
static void take_word(struct attachment *attachment, struct channel *channel, time_ns now,
		      uint64_t number)
{
	struct qp_object *object = find_acknowledged(attachment, channel,
						     (uint32_t)number & ((1u << QPN_BITS) - 1));
	struct psn psn = psn_from((uint32_t)(number >> QPN_BITS));

	if (unlikely(!object)) {
		attachment->malformed++;
		return;
	}
	if (likely(hca_acknowledge_express(object->hca, now, &object->qp, psn)))
		return;
	now = attachment_now();
	receive_direct(attachment, channel, now);
	receive_ack_packet(object->hca, now, &object->qp, psn);
}

bool express_lane_take_words(struct attachment *attachment, struct channel *channel, time_ns now)
{
	uint64_t number;
	unsigned count = 0;

	while (count < WORD_RING_COUNT && word_ring_take(&channel->words_in, &number)) {
		take_word(attachment, channel, now, number);
		count++;
	}
	return count != 0;
}

struct qp *express_lane_receive(struct attachment *attachment, time_ns now,
				const struct ring_record *record)
{
	uint8_t headers[EXPRESS_HEADER_BYTES_MAX];
	unsigned index = record->port >> 8;
	struct adapter *adapter =
		index < SESSION_ADAPTERS_MAX ? attachment->adapters[index] : NULL;

	if (unlikely(record->kind != RECORD_PACKET || record->packet_count != 1 ||
		     record->byte_count < EXPRESS_HEADER_BYTES || !adapter || !adapter->has_hca))
		return NULL;
	/* Decided by a copy, which the peer can't change; a record takes that many bytes of a ring,
	 * and more. */
	memcpy(headers, record->body, sizeof(headers));
	__asm__ volatile("" : : "r"(headers) : "memory");
	return hca_receive_express(&adapter->hca, now, (uint8_t)record->port, headers,
				   record->body, record->byte_count);
}

/* A queue pair has received what there was for it, for now. */
static inline void acknowledge_one(struct qp *qp)
{
	struct hca *hca = container_of(qp, struct qp_object, qp)->hca;

	if (!qp->responder.ack_is_due)
		return;

	struct channel *channel = acknowledge(container_of(hca, struct adapter, hca), qp);

	if (unlikely(!channel))
		hca_ready_add(hca, qp);
	else if (unlikely(ring_announce(&channel->out)))
		doorbell_ring(channel->doorbell);
}

/* What the lane does not take. Returns false if it stays in the ring. */
static bool take_unusual(struct attachment *attachment, struct channel *channel,
			 const struct ring_record *record)
{
	time_ns now = attachment_now();

	if (unlikely(receive_is_held_back(attachment, channel, now, record)))
		return false;
	receive_direct_record(attachment, channel, now, record);
	return true;
}

/* Not in line: a round that finds nothing has no use for its registers. Returns whether there was
 * anything to take. */
__attribute__((noinline)) static bool take_channel(struct attachment *attachment,
						   struct channel *channel, time_ns now)
{
	uint64_t before = channel->in.head;
	const struct ring_record *record;
	struct qp *owing = NULL;
	bool any = false;
	unsigned i;

	/* A message is what somebody waits for; what it acknowledges can wait for the next round,
	 * but not for ever. */
	if (++channel->rounds_with_records % WORDS_PER_RECORDS == 0)
		any = express_lane_take_words(attachment, channel, now);
	for (i = 0; i < RECORDS_PER_ROUND; i++) {
		record = ring_next_stamped(&channel->in);
		if (!record)
			break;

		struct qp *qp = likely(record->kind != RECORD_PULLED)
					? express_lane_receive(attachment, now, record)
					: pull_lane_receive(attachment, channel, now, record);

		if (unlikely(!qp) && !take_unusual(attachment, channel, record))
			break;
		if (owing && owing != qp)
			acknowledge_one(owing);
		owing = qp;
		receive_release_some(channel);
		if (unlikely(attachment->pulled_bytes >= PULL_LANE_ROUND_BYTES))
			break;
	}
	attachment->taken_records += i + (unsigned)(attachment->pulled_bytes / PULLED_PER_RECORD);
	attachment->pulled_bytes = 0;
	if (owing)
		acknowledge_one(owing);
	if (unlikely(channel_holds_back(channel)))
		patience_came_to(&channel->patience, channel->in.head, attachment_now());
	return any || channel->in.head != before;
}

/* Those that sent something lately stand first. */
static void move_forward(struct attachment *attachment, unsigned index)
{
	unsigned to = attachment->busy_next++ % BUSY_CHANNELS;
	struct channel *channel = attachment->channels[index];

	attachment->channels[index] = attachment->channels[to];
	attachment->channels[to] = channel;
}

static bool channel_has_news(const struct channel *channel)
{
	return ring_has_stamped(&channel->in) || !word_ring_is_empty(&channel->words_in);
}

static bool look_at(struct attachment *attachment, unsigned index, time_ns now)
{
	struct channel *channel = attachment->channels[index];

	if (likely(channel->state != CHANNEL_OPEN || !channel_has_news(channel)))
		return false;

	/* Nothing but an ACK: what it completes is waited for. */
	bool any = ring_has_stamped(&channel->in)
			   ? take_channel(attachment, channel, now)
			   : express_lane_take_words(attachment, channel, now);

	if (unlikely(index >= BUSY_CHANNELS))
		move_forward(attachment, index);
	return any;
}

static bool take_channels(struct attachment *attachment, time_ns now)
{
	unsigned count = attachment->channel_count;
	bool any = false;

	for (unsigned i = 0; i < count && i < BUSY_CHANNELS; i++)
		any |= look_at(attachment, i, now);
	for (unsigned i = 0; i < IDLE_CHANNELS_PER_ROUND && count > BUSY_CHANNELS; i++)
		any |= look_at(attachment,
			       BUSY_CHANNELS + attachment->idle_next++ % (count - BUSY_CHANNELS),
			       now);
	return any;
}

/* What those that received something owe. false: there is more than words can say. */
static bool acknowledge_all(struct adapter *adapter)
{
	struct qp *qp;

	while ((qp = hca_ready_first(&adapter->hca))) {
		(void)express_lane_acknowledge(adapter, qp);
		if (responses_are_due(qp) || qp->requester.cursor != qp->requester.queue.tail)
			return false;
		hca_ready_remove(&adapter->hca, qp);
	}
	return true;
}

static inline bool softibd_is_silent(const struct attachment *attachment)
{
	const struct ring_consumer *in = &attachment->softibd.in;

	return likely(__atomic_load_n(&in->shared->tail, __ATOMIC_ACQUIRE) == in->head) ||
	       ring_is_empty(in);
}

enum express_round express_lane_round(struct attachment *attachment)
{
	if (!attachment_is_express(attachment) || !softibd_is_silent(attachment))
		return EXPRESS_LONG_WAY;

	bool any = take_channels(attachment, lane_time(attachment));
	bool is_done = true;

	for (unsigned i = 0; i < attachment->adapter_limit; i++)
		if (attachment->adapters[i] && attachment->adapters[i]->has_hca &&
		    unlikely(!list_is_empty(&attachment->adapters[i]->hca.ready)))
			is_done &= acknowledge_all(attachment->adapters[i]);
	if (unlikely(!list_is_empty(&attachment->dirty)))
		transmit_flush(attachment);
	if (!is_done)
		return EXPRESS_LONG_WAY;
	return any ? EXPRESS_DONE : EXPRESS_NOTHING;
}
