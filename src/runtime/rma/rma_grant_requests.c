/* SPDX-License-Identifier: Apache-2.0 */
/* Asking peers whether requests may go past the packets: see placement_questions.h. */
#include "runtime/rma/rma_grant_requests.h"

#include <stdlib.h>
#include <string.h>
#include "runtime/runtime_state.h"
#include "runtime/channel_queues.h"
#include "runtime/rma/rma.h"
#include "runtime/rma/rma_state.h"
#include "net/transport/addressing.h"
#include "wire/mtu.h"
#include "wire/packet.h"

enum {
	ASK_PAUSE_MAX = 4096, /* requests between two questions */
	ASKED_AHEAD = 64,     /* queue pairs */
};

/* In turn, so that the word of one that was given up stays as it is for long. */
static bool take_index(struct placement_peer *peer, uint32_t *ret_index)
{
	for (unsigned tried = 0; tried < PLACEMENTS_MAX; tried++) {
		uint32_t index = peer->next_index++ % PLACEMENTS_MAX;

		if (!peer->by_index[index]) {
			if (index >= peer->index_limit)
				peer->index_limit = index + 1;
			*ret_index = index;
			return true;
		}
	}
	return false;
}

struct placement *placement_make(struct qp *qp, struct channel *channel)
{
	struct placement *placement = qp->owner_placement;
	uint32_t index;

	if (likely(placement && placement->channel == channel))
		return placement;
	placement_forget(qp);
	if (!take_index(channel->peer, &index))
		return NULL;
	placement = calloc(1, sizeof(*placement));
	if (!placement)
		return NULL;
	placement->channel = channel;
	placement->index = index;
	channel->peer->by_index[index] = placement;
	reach_try(&channel->peer->reach);
	qp->owner_placement = placement;
	return placement;
}

/* Returns whether there was room for it. */
static bool put_question(struct adapter *adapter, struct qp *qp, const struct flow *flow,
			 struct placement *placement)
{
	struct channel *channel = placement->channel;
	struct packet packet;
	struct ring_record *record =
		ring_reserve(&channel->out, sizeof(struct placement_ask) + PACKET_HEADER_BYTES_MAX);

	if (!record)
		return false;
	/* The word stays: the target may just be taking a grant back and look for the last time how
	 * far we came by it. What comes by the next one begins at the question's PSN. */
	placement->ask_number = ++channel->peer->ask_count;
	placement->message_count = 0;

	const struct placement_ask question = {.index = placement->index,
					       .ask_number = placement->ask_number};

	packet_address(qp, &qp->attributes.address, qp->attributes.destination_qpn, &packet);
	packet.bth.opcode = qp_transport(qp) | OPCODE_WRITE_ONLY;
	packet.bth.psn = qp->requester.next_psn;
	packet.reth = (struct reth){0};
	packet.packet_count = 1;
	packet_set_payload(&packet, NULL, 0);
	memcpy(record->body, &question, sizeof(question));
	record->kind = RECORD_PLACEMENT_ASKED;
	record->port = flow->destination_port;
	record->packet_count = 1;
	record->word = 0;
	record->byte_count = (uint32_t)(sizeof(question) +
					packet_encode(&packet, record->body + sizeof(question)));
	ring_commit(&channel->out, record);
	placement->asked_position = channel->out.tail;
	publish_later(adapter->attachment, channel);
	return true;
}

static struct qp *neighbour(const struct adapter *adapter, const struct qp *qp, int32_t distance)
{
	struct qp_object *object =
		index_table_get(&adapter->hca.qps, (qp->qpn + (uint32_t)distance) & 0xffffff);

	return object ? &object->qp : NULL;
}

/* Nothing was ever asked for it, and nothing is under way. */
static bool may_ask_ahead(const struct qp *qp, const struct flow *flow)
{
	const struct requester *requester = &qp->requester;
	const struct send_queue *queue = &requester->queue;

	return qp->type == QP_RC && qp->state == QP_RTS && qp->owner_route == flow &&
	       !qp->owner_placement && queue->done == queue->tail &&
	       requester->cursor == queue->tail && requester->hold == HOLD_NONE;
}

/* Nothing follows such a question; a request that finds no answer yet will (placement_ask). */
static void ask_ahead(struct adapter *adapter, const struct qp *qp, struct flow *flow)
{
	for (int32_t distance = 1; distance <= ASKED_AHEAD; distance++) {
		struct qp *other = neighbour(adapter, qp, distance);

		if (!other)
			return;
		if (!may_ask_ahead(other, flow))
			continue;

		struct placement *placement = placement_make(other, flow->channel);

		if (!placement)
			return;
		placement->flow = flow;
		placement->is_asked_ahead = put_question(adapter, other, flow, placement);
		if (!placement->is_asked_ahead) {
			placement_forget(other);
			return;
		}
	}
}

static bool is_second_in_row(const struct adapter *adapter, const struct qp *qp,
			     const struct flow *flow)
{
	const struct qp *before = neighbour(adapter, qp, -1);
	const struct placement *placement = before ? before->owner_placement : NULL;

	return placement && placement->flow == flow;
}

void placement_ask(struct adapter *adapter, struct qp *qp, struct flow *flow,
		   struct placement *placement, time_ns now)
{
	if (placement->has_asked && placement->ask_pause && placement->ask_pause--)
		return;

	const bool is_first = !placement->has_asked && !placement->is_asked_ahead;

	if (!placement->is_asked_ahead && !put_question(adapter, qp, flow, placement))
		return;
	placement->is_asked_ahead = false;
	placement->has_asked = true;
	placement->is_awaited = qp->type == QP_RC;
	placement->asked_request = qp->requester.cursor;
	placement->asked_at = now;
	placement->asked_pause = placement->asked_pause < ASK_PAUSE_MAX
					 ? placement->asked_pause * 2 + 1
					 : ASK_PAUSE_MAX;
	placement->ask_pause = placement->asked_pause;
	if (is_first && is_second_in_row(adapter, qp, flow))
		ask_ahead(adapter, qp, flow);
}

/* The answers to the next ones come in time too if they are asked before the first is wanted. */
void placement_asked_in_time(struct adapter *adapter, const struct qp *qp, struct flow *flow)
{
	const struct qp *other = neighbour(adapter, qp, ASKED_AHEAD / 2);

	if (!other || other->owner_placement)
		return;
	ask_ahead(adapter, qp, flow);
	publish_all(adapter->attachment);
}
