/* SPDX-License-Identifier: Apache-2.0 */
/* The express lane's requests like the one before: see express_again.h. */
#include "runtime/fast/template_send.h"

#include <string.h>
#include "runtime/zcopy/ud_zcopy.h"
#include "ipc/doorbell.h"
#include "runtime/fast/flow_cache.h"
#include "runtime/memory/memory_guard.h"
#include "runtime/zcopy/zcopy_send.h"
#include "net/transport/fast/short_packets.h"
#include "wire/packet.h"

/* Of a datagram. */
static inline void remember_destination(struct run_out *run, const struct send_request *request)
{
	run->address = request->address;
	run->remote_qpn = request->remote_qpn;
	run->remote_qkey = request->remote_qkey;
}

static inline void remember_post(struct run_out *run, const struct qp *qp, struct flow *flow,
				 const struct send_request *request, bool is_model)
{
	run->posts = run_posts(run, qp) + 1;
	run->qp = run->last = qp;
	run->room = 0;
	run->may_go_on = is_model;
	if (likely(!is_model))
		return;

	const struct ring_producer *out = &flow->channel->out;
	uint32_t room = ring_repeats_room(out, request->sges[0].byte_count);
	uint32_t requests = express_repeats_room(qp);

	run->room = room < requests ? room : requests;
	run->flow = flow;
	run->payload_bytes = request->sges[0].byte_count;
	run->flags = request->flags;
	run->is_lent = false;
	run->end = out->tail;
	run->next_psn = qp->requester.next_psn;
	if (qp->type == QP_UD)
		remember_destination(run, request);
}

/* Not if the helper had better be asked each time whether it looks after timers, or others whether
 * they pull it. */
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

void express_again_remember(struct attachment *attachment, struct qp *qp, struct flow *flow,
			    const struct send_request *request, const struct express_packet *packet,
			    bool is_model)
{
	if (qp->type == QP_RC)
		remember_sent(attachment, qp, flow, request, packet);
	remember_post(&attachment->run, qp, flow, request, is_model);
}

/* It has a PSN, which repeats of a model would not count: the next small one begins anew. */
void express_again_remember_loan(struct attachment *attachment, const struct qp *qp,
				 struct flow *flow, const struct send_request *request)
{
	attachment->run = (struct run_out){
		.qp = qp,
		.flow = flow,
		.room = request->opcode == SEND_SEND ? express_repeats_room(qp) : 0,
		.payload_bytes = request->sges[0].byte_count,
		.flags = request->flags,
		.is_lent = true,
	};
	remember_destination(&attachment->run, request);
}

/* Those that are posted in a row are another's (runtime/fast/burst.h). */
static inline bool is_alone(const struct run_out *run, const struct qp *qp)
{
	return run->qp != qp && run_posts(run, qp) < RUN_POSTS;
}

bool express_again_send(struct attachment *attachment, uint32_t flags, const struct sge *sge)
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
	put_be32(body + sizeof(again->headers), express_psn_word(QP_RC, qp, true));
	express_write_payload(bytes, sge->byte_count, body + EXPRESS_HEADER_BYTES);
	if (memory_guard_has_gaps())
		return false;
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
			   .packet_count = 1,
			   .asks_ack = true},
	};
}

void express_again_sent(struct adapter *adapter, uint64_t wr_id, uint32_t flags,
			const struct sge *sge)
{
	struct attachment *attachment = adapter->attachment;
	const struct sent_again *again = &attachment->sent_again;
	const struct message_again message =
		message_again(again, wr_id, flags, sge, again_bytes(&again->local, flags, sge));
	struct qp *qp = again->qp;

	qp->owner_position = again->channel->out.tail;
	flow_count(again->flow, 1, (message.packet.byte_count + ICRC_BYTES) / 4);
	dialogue_sent(&again->channel->dialogue);
	express_enqueue(qp, lane_time(attachment), &message.request, &message.packet);
	remember_post(&attachment->run, qp, again->flow, &message.request, false);
	express_posted(adapter, qp, again->flow);
}

/* Whether its next SEND may be sent at once, as far as that does not depend on the SEND. */
static bool sends_at_once(const struct attachment *attachment, const struct qp *qp)
{
	if (!express_is_open_to(attachment, qp))
		return false;
	return qp->type == QP_UD
		       ? qp->state == QP_RTS && !qp->attributes.rate_limit && express_sends_next(qp)
		       : express_may_post_again(qp);
}

/* Whether nothing came into the ring behind the run, and no other request has taken a PSN. */
static bool run_is_last(const struct run_out *run, const struct qp *qp)
{
	return run->flow->channel->out.tail == run->end &&
	       psn_equal(qp->requester.next_psn, run->next_psn);
}

static uint32_t room_of_run(const struct run_out *run, const struct qp *qp)
{
	struct ring_producer *out = &run->flow->channel->out;
	uint32_t requests = express_repeats_room(qp);
	uint32_t room = ring_repeats_room(out, run->payload_bytes);

	if (!room && ring_room(out))
		room = ring_repeats_room(out, run->payload_bytes);
	return room < requests ? room : requests;
}

bool express_again_go_on(struct attachment *attachment, struct qp *qp)
{
	struct run_out *run = &attachment->run;

	if (run_posts(run, qp) < RUN_POSTS || run->flow->state != FLOW_DIRECT ||
	    !sends_at_once(attachment, qp) || !run_is_last(run, qp) ||
	    !list_is_empty(&run->flow->channel->waiting))
		return false;
	run->room = room_of_run(run, qp);
	if (!run->room)
		return false;
	run->posts = run_posts(run, qp);
	run->qp = qp;
	return true;
}

/* What the model's post left behind, its timer and where it is noted, still holds. */
static inline bool repeat(struct adapter *adapter, struct qp *qp,
			  const struct send_request *request, const struct express_packet *packet)
{
	struct attachment *attachment = adapter->attachment;
	struct run_out *run = &attachment->run;
	struct channel *channel = run->flow->channel;
	struct ring_producer *out = &channel->out;

	express_write_payload(packet->payload, packet->payload_bytes,
			      ring_repeat_place(out, packet->payload_bytes));
	if (memory_guard_has_gaps())
		return false;
	ring_commit_repeat(out, packet->payload_bytes);
	qp->owner_position = out->tail;
	flow_count(run->flow, 1, (packet->byte_count + ICRC_BYTES) / 4);
	express_enqueue(qp, lane_time(attachment), request, packet);
	run->end = out->tail;
	run->next_psn = qp->requester.next_psn;
	run->room--;
	/* The first since it went on: who posts one at a time has no use for a run. */
	run->posts = run->posts == RUN_POSTS ? RUN_POSTS + 1 : RUN_POSTS_REPEATED;
	if (unlikely(ring_announce(out)))
		doorbell_ring(channel->doorbell);
	return true;
}

bool express_again_repeat(struct adapter *adapter, uint64_t wr_id, uint32_t flags,
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

	return repeat(adapter, again->qp, &message.request, &message.packet);
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
	express_posted(adapter, qp, flow);
	return true;
}

/* Whether it goes where the last one went. */
static inline bool run_goes_there(const struct run_out *run, const struct qp *qp,
				  const struct send_request *request)
{
	return qp->type != QP_UD ||
	       (request->address == run->address && request->remote_qpn == run->remote_qpn &&
		request->remote_qkey == run->remote_qkey);
}

bool express_again_repeat_any(struct adapter *adapter, struct qp *qp,
			      const struct send_request *request)
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

	return repeat(adapter, qp, request, &packet);
}
