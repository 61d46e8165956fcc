/* SPDX-License-Identifier: Apache-2.0 */
/* The express lane: see express_lane.h. */
#include "host/express_lane.h"

#include <stdlib.h>
#include <string.h>
#include "host/attachment.h"
#include "host/receive.h"
#include "host/transmit.h"
#include "net/transport/addressing.h"
#include "net/transport/express.h"
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

/* --- sending --- */

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

static bool send_one(struct adapter *adapter, struct qp *qp, time_ns now)
{
	struct express_packet packet;

	if (!express_next(qp, &packet))
		return false;

	struct flow *flow = flow_of_next(adapter, qp);

	if (unlikely(!flow || packet.payload_bytes > flow->mtu ||
		     !list_is_empty(&flow->channel->waiting)))
		return false;

	struct channel *channel = flow->channel;
	uint8_t *body = ring_reserve_stamped(&channel->out, packet.byte_count);

	if (unlikely(!body)) {
		struct ring_record *record = ring_reserve(&channel->out, packet.byte_count);

		if (!record || !channel->out.stamp_seed)
			return false;
		body = record->body;
	}
	express_write(qp, now, &packet, body);
	ring_commit_stamped(&channel->out, packet.byte_count, RECORD_PACKET, flow->destination_port,
			    1);
	flow_count(flow, 1, (packet.byte_count + ICRC_BYTES) / 4);
	qp->owner_position = channel->out.tail;
	transmit_mark_dirty(adapter->attachment, channel);
	return true;
}

bool express_lane_send(struct adapter *adapter, struct qp *qp)
{
	struct attachment *attachment = adapter->attachment;
	const struct requester *requester = &qp->requester;

	if (unlikely(!attachment_is_express(attachment) ||
		     !attachment_is_looked_after(attachment) ||
		     list_is_linked(&qp->ready_link)))
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

/* --- acknowledging --- */

bool express_lane_acknowledge(struct adapter *adapter, struct qp *qp)
{
	struct psn psn;

	if (!adapter->attachment->may_express || !qp->responder.ack_is_due || !qp->owner_route ||
	    !express_is_known(qp))
		return false;

	struct flow *flow = connected_flow(adapter, qp);

	if (!flow || !word_ring_has_room(&flow->channel->words_out) || !express_take_ack(qp, &psn))
		return false;
	word_ring_put(&flow->channel->words_out,
		      (uint64_t)psn.value << QPN_BITS | qp->attributes.destination_qpn);
	flow_count(flow, 1, ACK_WORDS);
	transmit_mark_dirty(adapter->attachment, flow->channel);
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
		const struct flow *flow = object ? object->qp.owner_route : NULL;

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

/* --- one round --- */

/* The queue pair that took it; NULL: nothing was done. */
static struct qp *receive_record(struct attachment *attachment, time_ns now,
				 const struct ring_record *record)
{
	uint8_t headers[EXPRESS_HEADER_BYTES_MAX];
	unsigned index = record->port >> 8;
	struct adapter *adapter =
		index < SESSION_ADAPTERS_MAX ? attachment->adapters[index] : NULL;

	if (unlikely(record->kind != RECORD_PACKET || record->packet_count != 1 ||
		     record->byte_count < EXPRESS_HEADER_BYTES || !adapter || !adapter->has_hca))
		return NULL;
	/* Decided by a copy, which the peer can't change; a line has that many bytes. */
	memcpy(headers, record->body, sizeof(headers));
	__asm__ volatile("" : : "r"(headers) : "memory");
	return hca_receive_express(&adapter->hca, now, (uint8_t)record->port, headers,
				   record->body, record->byte_count);
}

/* A queue pair has received what there was for it, for now. */
static void acknowledge_one(struct qp *qp)
{
	struct hca *hca = container_of(qp, struct qp_object, qp)->hca;

	if (qp->responder.ack_is_due &&
	    !express_lane_acknowledge(container_of(hca, struct adapter, hca), qp))
		hca_ready_add(hca, qp);
}

/* Not in line: a round that finds nothing has no use for its registers. */
__attribute__((noinline)) static void take_channel(struct attachment *attachment, struct channel *channel, time_ns now)
{
	const struct ring_record *record;
	struct qp *owing = NULL;

	/* A message is what somebody waits for; what it acknowledges can wait for the next round,
	 * but not for ever. */
	if (!ring_has_stamped(&channel->in) || ++channel->rounds_with_records % WORDS_PER_RECORDS == 0)
		(void)express_lane_take_words(attachment, channel, now);
	for (unsigned i = 0; i < RECORDS_PER_ROUND && (record = ring_next(&channel->in)); i++) {
		struct qp *qp = receive_record(attachment, now, record);

		if (unlikely(!qp))
			receive_direct_record(attachment, channel, attachment_now(), record);
		if (owing && owing != qp)
			acknowledge_one(owing);
		owing = qp;
		receive_release_some(channel);
	}
	if (owing)
		acknowledge_one(owing);
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
	take_channel(attachment, channel, now);
	if (unlikely(index >= BUSY_CHANNELS))
		move_forward(attachment, index);
	return true;
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

enum express_round express_lane_round(struct attachment *attachment)
{
	if (!attachment_is_express(attachment) || !ring_is_empty(&attachment->softibd.in))
		return EXPRESS_LONG_WAY;

	bool any = take_channels(attachment, lane_time(attachment));
	bool is_done = true;

	for (unsigned i = 0; i < attachment->adapter_limit; i++)
		if (attachment->adapters[i] && attachment->adapters[i]->has_hca &&
		    unlikely(!list_is_empty(&attachment->adapters[i]->hca.ready)))
			is_done &= acknowledge_all(attachment->adapters[i]);
	if (any || !is_done)
		transmit_flush(attachment);
	if (!is_done)
		return EXPRESS_LONG_WAY;
	return any ? EXPRESS_DONE : EXPRESS_NOTHING;
}
