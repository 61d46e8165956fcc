/* SPDX-License-Identifier: Apache-2.0 */
/* The express lane, what goes out by it: see express_lane.h. */
#include "host/express_lane.h"

#include <stdlib.h>
#include <string.h>
#include "host/direct_records.h"
#include "host/doorbell.h"
#include "host/express_flow.h"
#include "host/fabric_lane.h"
#include "host/pull_lane.h"
#include "host/transmit.h"
#include "net/transport/express_packets.h"
#include "net/transport/requester.h"
#include "wire/packet.h"

bool express_lane_is_allowed(void)
{
	const char *choice = getenv("SOFTIB_FAST");

	return !choice || strcmp(choice, "0") != 0;
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
static inline void commit(struct qp *qp, struct flow *flow, uint32_t byte_count,
			  enum record_kind kind)
{
	direct_record_commit(qp, flow, byte_count, kind, 1);
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
	commit(qp, flow, packet.byte_count, RECORD_PACKET);
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

/* Not in line: what is small has no use for its registers. */
__attribute__((noinline)) static bool repeat_loan(struct adapter *adapter, struct qp *qp,
						  struct flow *flow,
						  const struct send_request *request)
{
	struct express_packet packet;

	if (unlikely(!express_may_repeat(qp, request, &packet) ||
		     !datagram_loan_repeat(adapter, qp, flow, request, &packet,
					   lane_time(adapter->attachment))))
		return false;
	adapter->attachment->run.room--;
	posted(adapter, qp, flow);
	return true;
}

/* What the model's post left behind, its timer and where it is noted, still holds. */
static inline void repeat(struct adapter *adapter, struct qp *qp, const struct send_request *request,
			  const struct express_packet *packet)
{
	struct attachment *attachment = adapter->attachment;
	struct run_out *run = &attachment->run;
	struct channel *channel = run->flow->channel;
	struct ring_producer *out = &channel->out;

	express_write_payload(packet->payload, packet->payload_bytes, ring_repeat_place(out));
	ring_commit_repeat(out, packet->payload_bytes);
	qp->owner_position = out->tail;
	flow_count(run->flow, 1, (packet->byte_count + ICRC_BYTES) / 4);
	express_enqueue(qp, lane_time(attachment), request, packet);
	run->room--;
	run->posts = RUN_POSTS_REPEATED;
	if (unlikely(ring_announce(out)))
		doorbell_ring(channel->doorbell);
}

/* Whether it goes where the last one went. */
static inline bool run_goes_there(const struct run_out *run, const struct qp *qp,
				  const struct send_request *request)
{
	return qp->type != QP_UD ||
	       (request->address == run->address && request->remote_qpn == run->remote_qpn &&
		request->remote_qkey == run->remote_qkey);
}

bool express_lane_repeat(struct adapter *adapter, struct qp *qp, const struct send_request *request)
{
	struct attachment *attachment = adapter->attachment;
	struct run_out *run = &attachment->run;
	struct flow *flow = run->flow;
	struct express_packet packet;

	if (run->payload_bytes != request->sges[0].byte_count || unlikely(!run->room) ||
	    (run->flags ^ request->flags) & ~(uint32_t)SEND_SIGNALED ||
	    unlikely(!run_goes_there(run, qp, request)) ||
	    unlikely(flow->generation != attachment_generation(attachment)))
		return false;
	if (run->is_lent)
		return repeat_loan(adapter, qp, flow, request);
	if (unlikely(!express_may_repeat(qp, request, &packet)))
		return false;

	repeat(adapter, qp, request, &packet);
	return true;
}

/* Whether the others that are posted in a row with this one had better say no more than their
 * payload. */
static inline bool begins_run(const struct run_out *run, const struct qp *qp,
			      const struct send_request *request)
{
	return run_posts(run, qp) >= RUN_POSTS && request->opcode == SEND_SEND &&
	       request->sges[0].byte_count - 1 < RING_REPEAT_BYTES_MAX;
}

static inline void remember_post(struct run_out *run, const struct qp *qp, struct flow *flow,
				 const struct send_request *request, bool is_model)
{
	run->posts = run_posts(run, qp) + 1;
	run->qp = run->last = qp;
	run->room = 0;
	if (likely(!is_model))
		return;

	uint32_t room = ring_repeats_room(&flow->channel->out, request->sges[0].byte_count);
	uint32_t requests = express_repeats_room(qp);

	run->room = room < requests ? room : requests;
	run->flow = flow;
	run->payload_bytes = request->sges[0].byte_count;
	run->flags = request->flags;
	run->is_lent = false;
	if (qp->type != QP_UD)
		return;
	run->address = request->address;
	run->remote_qpn = request->remote_qpn;
	run->remote_qkey = request->remote_qkey;
}

/* Not if the helper had better be asked each time whether it looks after timers, or others whether they
 * pull it. */
static inline void remember_sent(struct attachment *attachment, struct qp *qp, struct flow *flow,
				 const struct send_request *request,
				 const struct express_packet *packet)
{
	struct sent_again *again = &attachment->sent_again;

	again->qp = NULL;
	if (attachment->run.last != qp || request->opcode != SEND_SEND || !packet->payload_bytes ||
	    packet->payload_bytes >= PULL_LANE_BYTES_MIN ||
	    attachment->helper_mode != HELPER_STAYING_OUT)
		return;
	*again = (struct sent_again){
		.qp = qp,
		.flow = flow,
		.channel = flow->channel,
		.local = again_local(qp, request),
		.sizes = ring_sizes(packet->byte_count, RECORD_PACKET, flow->destination_port),
		.generation = flow->generation,
		.generation_at = &attachment->fabric_page->generation,
	};
	memcpy(again->headers, express_sent(qp)->bytes, sizeof(again->headers));
}

/* It has a PSN, which repeats of a model would not count: the next small one begins anew. */
static inline void remember_loan(struct run_out *run, const struct qp *qp, struct flow *flow,
				 const struct send_request *request)
{
	*run = (struct run_out){
		.qp = qp,
		.flow = flow,
		.room = request->opcode == SEND_SEND ? express_repeats_room(qp) : 0,
		.payload_bytes = request->sges[0].byte_count,
		.flags = request->flags,
		.address = request->address,
		.remote_qpn = request->remote_qpn,
		.remote_qkey = request->remote_qkey,
		.is_lent = true,
	};
}

/* By another way than as a packet in the ring: it has PSNs, too, which repeats would not count. */
static inline void posted_otherwise(struct adapter *adapter, struct qp *qp, struct flow *flow)
{
	adapter->attachment->run.qp = NULL;
	posted(adapter, qp, flow);
}

/* A message of several packets goes at once only if it is pulled. */
static bool post_long(struct adapter *adapter, struct qp *qp, const struct send_request *request)
{
	struct express_packet packet;
	struct flow *flow;

	if (!express_may_post_pulled(qp, request, &packet))
		return false;
	flow = connected_flow(adapter, qp);
	if (!flow ||
	    !pull_lane_post(adapter, qp, flow, request, &packet, lane_time(adapter->attachment)))
		return false;
	posted_otherwise(adapter, qp, flow);
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

	if (unlikely(!flow)) {
		attachment->run.qp = NULL;
		return fabric_lane_post(adapter, qp, request, &packet, lane_time(attachment));
	}
	if (packet.payload_bytes >= PULL_LANE_BYTES_MIN) {
		if (pull_lane_post(adapter, qp, flow, request, &packet, lane_time(attachment))) {
			posted_otherwise(adapter, qp, flow);
			return true;
		}
		if (datagram_loan_post(adapter, qp, flow, request, &packet,
				       lane_time(attachment))) {
			remember_loan(&attachment->run, qp, flow, request);
			posted(adapter, qp, flow);
			return true;
		}
	}
	if (unlikely(packet.payload_bytes > flow->mtu))
		return false;

	bool is_model = begins_run(&attachment->run, qp, request);
	uint8_t *body = direct_record_reserve(flow->channel, packet.byte_count);

	if (unlikely(!body))
		return false;
	/* The peer waits for it: what it means for our own queues comes after. */
	express_write_posted(qp, request, &packet, body);
	commit(qp, flow, packet.byte_count, is_model ? RECORD_MODEL : RECORD_PACKET);
	if (qp->type == QP_RC)
		dialogue_sent(&flow->channel->dialogue);
	express_enqueue(qp, lane_time(attachment), request, &packet);
	if (qp->type == QP_RC)
		remember_sent(attachment, qp, flow, request, &packet);
	remember_post(&attachment->run, qp, flow, request, is_model);
	posted(adapter, qp, flow);
	return true;
}

/* Those that are posted in a row are another's (host/runs.h). */
static inline bool is_alone(const struct run_out *run, const struct qp *qp)
{
	return run->qp != qp && run_posts(run, qp) < RUN_POSTS;
}

bool express_lane_again(struct attachment *attachment, uint32_t flags, const struct sge *sge)
{
	const struct sent_again *again = &attachment->sent_again;
	const struct qp *qp = again->qp;
	struct ring_producer *out = &again->channel->out;
	const uint8_t *bytes = again_bytes(&again->local, flags, sge);
	uint8_t *body;

	if (unlikely(!bytes || !express_may_post_again(qp) || list_is_linked(&qp->ready_link) ||
		     !is_alone(&attachment->run, qp) ||
		     __atomic_load_n(again->generation_at, __ATOMIC_ACQUIRE) != again->generation ||
		     !list_is_empty(&again->channel->waiting)))
		return false;
	body = ring_reserve_stamped(out, (uint32_t)again->sizes);
	if (unlikely(!body))
		return false;
	memcpy(body, again->headers, sizeof(again->headers));
	put_be32(body + sizeof(again->headers), express_psn_word(QP_RC, qp));
	express_write_payload(bytes, sge->byte_count, body + EXPRESS_HEADER_BYTES);
	ring_commit_stamped_at(out, (uint64_t *)(body - RING_STAMPED_HEADER_BYTES), again->sizes,
			       1);
	return true;
}

/* Such a message, as the rest of the lane has it. */
struct message_again {
	struct send_request request;
	struct express_packet packet;
};

static inline struct message_again message_again(const struct sent_again *again, uint64_t wr_id,
						 uint32_t flags, const struct sge *sge,
						 const uint8_t *bytes)
{
	return (struct message_again){
		.request = {.wr_id = wr_id,
			    .opcode = SEND_SEND,
			    .flags = flags,
			    .sge_count = 1,
			    .sges = sge},
		.packet = {.payload = bytes,
			   .payload_bytes = sge->byte_count,
			   .byte_count = (uint32_t)again->sizes,
			   .packet_count = 1},
	};
}

void express_lane_sent(struct adapter *adapter, uint64_t wr_id, uint32_t flags,
		       const struct sge *sge)
{
	struct attachment *attachment = adapter->attachment;
	const struct sent_again *again = &attachment->sent_again;
	const struct message_again message = message_again(again, wr_id, flags, sge,
							   again_bytes(&again->local, flags, sge));
	struct qp *qp = again->qp;

	qp->owner_position = again->channel->out.tail;
	flow_count(again->flow, 1, (message.packet.byte_count + ICRC_BYTES) / 4);
	dialogue_sent(&again->channel->dialogue);
	express_enqueue(qp, lane_time(attachment), &message.request, &message.packet);
	remember_post(&attachment->run, qp, again->flow, &message.request, false);
	posted(adapter, qp, again->flow);
}

bool express_lane_repeat_again(struct adapter *adapter, uint64_t wr_id, uint32_t flags,
			       const struct sge *sge)
{
	const struct attachment *attachment = adapter->attachment;
	const struct sent_again *again = &attachment->sent_again;
	const struct run_out *run = &attachment->run;
	const uint8_t *bytes = again_bytes(&again->local, flags, sge);

	/* The model is what is remembered: both are of the post before it. */
	if (unlikely(!bytes || !run->room || run->is_lent ||
		     __atomic_load_n(again->generation_at, __ATOMIC_ACQUIRE) != again->generation))
		return false;

	const struct message_again message = message_again(again, wr_id, flags, sge, bytes);

	repeat(adapter, again->qp, &message.request, &message.packet);
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
