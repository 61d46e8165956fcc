/* SPDX-License-Identifier: Apache-2.0 */
/* Asking peers for RMA grants: see rma_grant_requests.h. */
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
	ASK_PAUSE_MAX = 4096, /* requests between two grant requests */
	ASKED_AHEAD = 64,     /* queue pairs for which a grant is requested ahead */
};

/* Indexes are used in turn, so that the progress word of a dropped queue pair stays unchanged for
 * long. */
static bool take_index(struct rma_peer *peer, uint32_t *ret_index)
{
	for (unsigned tried = 0; tried < RMA_QPS_MAX; tried++) {
		uint32_t index = peer->next_index++ % RMA_QPS_MAX;

		if (!peer->by_index[index]) {
			if (index >= peer->index_limit)
				peer->index_limit = index + 1;
			*ret_index = index;
			return true;
		}
	}
	return false;
}

struct rma *rma_make(struct qp *qp, struct channel *channel)
{
	struct rma *rma = qp->owner_rma;
	uint32_t index;

	if (likely(rma && rma->channel == channel))
		return rma;
	rma_forget(qp);
	if (!take_index(channel->peer, &index))
		return NULL;
	rma = calloc(1, sizeof(*rma));
	if (!rma)
		return NULL;
	rma->channel = channel;
	rma->index = index;
	channel->peer->by_index[index] = rma;
	peer_memory_try(&channel->peer->peer_memory);
	qp->owner_rma = rma;
	return rma;
}

/* Puts a grant request into the ring. Returns whether there was room. */
static bool put_question(struct adapter *adapter, struct qp *qp, const struct flow *flow,
			 struct rma *rma)
{
	struct channel *channel = rma->channel;
	struct packet packet;
	struct ring_record *record = ring_reserve(&channel->out, sizeof(struct rma_grant_request) +
									 PACKET_HEADER_BYTES_MAX);

	if (!record)
		return false;
	/* The progress word is not reset: the target may just be revoking an earlier grant and
	 * reading the word for the last time. Progress under the new grant begins at the PSN of the
	 * grant request. */
	rma->ask_number = ++channel->peer->ask_count;
	rma->message_count = 0;

	const struct rma_grant_request question = {.index = rma->index,
						   .ask_number = rma->ask_number};

	packet_address(qp, &qp->attributes.address, qp->attributes.destination_qpn, &packet);
	packet.bth.opcode = qp_transport(qp) | OPCODE_WRITE_ONLY;
	packet.bth.psn = qp->requester.next_psn;
	packet.reth = (struct reth){0};
	packet.packet_count = 1;
	packet_set_payload(&packet, NULL, 0);
	memcpy(record->body, &question, sizeof(question));
	record->kind = RECORD_RMA_GRANT_REQUEST;
	record->port = flow->destination_port;
	record->packet_count = 1;
	record->word = 0;
	record->byte_count = (uint32_t)(sizeof(question) +
					packet_encode(&packet, record->body + sizeof(question)));
	ring_commit(&channel->out, record);
	rma->asked_position = channel->out.tail;
	publish_later(adapter->runtime, channel);
	return true;
}

static struct qp *neighbour(const struct adapter *adapter, const struct qp *qp, int32_t distance)
{
	struct qp_object *object =
		index_table_get(&adapter->hca.qps, (qp->qpn + (uint32_t)distance) & 0xffffff);

	return object ? &object->qp : NULL;
}

/* No grant was requested for this queue pair yet, and it has no request in progress. */
static bool may_ask_ahead(const struct qp *qp, const struct flow *flow)
{
	const struct requester *requester = &qp->requester;
	const struct send_queue *queue = &requester->queue;

	return qp->type == QP_RC && qp->state == QP_RTS && qp->owner_route == flow &&
	       !qp->owner_rma && queue->done == queue->tail && requester->cursor == queue->tail &&
	       requester->hold == HOLD_NONE;
}

/* No RMA request follows such a grant request. A request that finds no grant yet calls
 * rma_grant_request. */
static void ask_ahead(struct adapter *adapter, const struct qp *qp, struct flow *flow)
{
	for (int32_t distance = 1; distance <= ASKED_AHEAD; distance++) {
		struct qp *other = neighbour(adapter, qp, distance);

		if (!other)
			return;
		if (!may_ask_ahead(other, flow))
			continue;

		struct rma *rma = rma_make(other, flow->channel);

		if (!rma)
			return;
		rma->flow = flow;
		rma->is_asked_ahead = put_question(adapter, other, flow, rma);
		if (!rma->is_asked_ahead) {
			rma_forget(other);
			return;
		}
	}
}

static bool is_second_in_row(const struct adapter *adapter, const struct qp *qp,
			     const struct flow *flow)
{
	const struct qp *before = neighbour(adapter, qp, -1);
	const struct rma *rma = before ? before->owner_rma : NULL;

	return rma && rma->flow == flow;
}

void rma_grant_request(struct adapter *adapter, struct qp *qp, struct flow *flow, struct rma *rma,
		       time_ns now)
{
	if (rma->has_asked && rma->ask_pause && rma->ask_pause--)
		return;

	const bool is_first = !rma->has_asked && !rma->is_asked_ahead;

	if (!rma->is_asked_ahead && !put_question(adapter, qp, flow, rma))
		return;
	rma->is_asked_ahead = false;
	rma->has_asked = true;
	rma->is_awaited = qp->type == QP_RC;
	rma->asked_request = qp->requester.cursor;
	rma->asked_at = now;
	rma->asked_pause =
		rma->asked_pause < ASK_PAUSE_MAX ? rma->asked_pause * 2 + 1 : ASK_PAUSE_MAX;
	rma->ask_pause = rma->asked_pause;
	if (is_first && is_second_in_row(adapter, qp, flow))
		ask_ahead(adapter, qp, flow);
}

/* Asks for the next queue pairs halfway through those already asked for, so that their grants come
 * before their first request. */
void rma_granted_in_time(struct adapter *adapter, const struct qp *qp, struct flow *flow)
{
	const struct qp *other = neighbour(adapter, qp, ASKED_AHEAD / 2);

	if (!other || other->owner_rma)
		return;
	ask_ahead(adapter, qp, flow);
	publish_all(adapter->runtime);
}
