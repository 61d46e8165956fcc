/* SPDX-License-Identifier: Apache-2.0 */
/* Sends that match the one before: see template_send.h. */
#include "runtime/fast/template_send.h"

#include <string.h>
#include "runtime/zcopy/ud_zcopy.h"
#include "ipc/doorbell.h"
#include "runtime/fast/flow_cache.h"
#include "runtime/memory/memory_guard.h"
#include "runtime/zcopy/zcopy_send.h"
#include "net/transport/fast/short_packets.h"
#include "wire/packet.h"

/* For datagrams. */
static inline void remember_destination(struct burst_out *burst, const struct send_request *request)
{
	burst->address = request->address;
	burst->remote_qpn = request->remote_qpn;
	burst->remote_qkey = request->remote_qkey;
}

static inline void remember_post(struct burst_out *burst, const struct qp *qp, struct flow *flow,
				 const struct send_request *request, bool is_template)
{
	burst->posts = burst_posts(burst, qp) + 1;
	burst->qp = burst->last = qp;
	burst->room = 0;
	burst->may_go_on = is_template;
	if (likely(!is_template))
		return;

	const struct ring_producer *out = &flow->channel->out;
	uint32_t room = ring_payloads_room(out, request->sges[0].byte_count);
	uint32_t requests = fast_payloads_room(qp);

	burst->room = room < requests ? room : requests;
	burst->flow = flow;
	burst->payload_bytes = request->sges[0].byte_count;
	burst->flags = request->flags;
	burst->is_lent = false;
	burst->end = out->tail;
	burst->next_psn = qp->requester.next_psn;
	if (qp->type == QP_UD)
		remember_destination(burst, request);
}

/* No template while the progress thread listens: each post must then check that it sees to timers.
 * No template for payloads that may go by zcopy either, since each post chooses the form. */
static inline void remember_sent(struct process_runtime *runtime, struct qp *qp, struct flow *flow,
				 const struct send_request *request,
				 const struct fast_packet *packet)
{
	struct send_template *template = &runtime->send_template;

	template->qp = NULL;
	if (runtime->burst.last != qp || request->opcode != SEND_SEND || !packet->payload_bytes ||
	    packet->payload_bytes >= ZCOPY_BYTES_MIN ||
	    runtime->progress_mode != PROGRESS_STAYING_OUT)
		return;
	*template = (struct send_template){
		.qp = qp,
		.flow = flow,
		.channel = flow->channel,
		.local = template_local(qp, request),
		.sizes = ring_sizes(packet->byte_count, RECORD_PACKET, flow->destination_port),
		.generation = flow->generation,
		.generation_at = &runtime->fabric_page->generation,
	};
	memcpy(template->headers, tx_header_cache(qp)->bytes, sizeof(template->headers));
}

void template_send_remember(struct process_runtime *runtime, struct qp *qp, struct flow *flow,
			    const struct send_request *request, const struct fast_packet *packet,
			    bool is_template)
{
	if (qp->type == QP_RC)
		remember_sent(runtime, qp, flow, request, packet);
	remember_post(&runtime->burst, qp, flow, request, is_template);
}

/* A UD zcopy has a PSN that payload records would not count: the next small datagram starts a new
 * template. */
void template_send_remember_zcopy(struct process_runtime *runtime, const struct qp *qp,
				  struct flow *flow, const struct send_request *request)
{
	runtime->burst = (struct burst_out){
		.qp = qp,
		.flow = flow,
		.room = request->opcode == SEND_SEND ? fast_payloads_room(qp) : 0,
		.payload_bytes = request->sges[0].byte_count,
		.flags = request->flags,
		.is_lent = true,
	};
	remember_destination(&runtime->burst, request);
}

/* Posts in a row go as a burst instead (runtime/fast/burst.h). */
static inline bool is_alone(const struct burst_out *burst, const struct qp *qp)
{
	return burst->qp != qp && burst_posts(burst, qp) < BURST_POSTS;
}

bool template_send_single(struct process_runtime *runtime, uint32_t flags, const struct sge *sge)
{
	const struct send_template *template = &runtime->send_template;
	const struct qp *qp = template->qp;
	struct ring_producer *out = &template->channel->out;
	const uint8_t *bytes = template_bytes(&template->local, flags, sge);
	uint8_t *body;

	if (unlikely(!bytes || !fast_may_post_by_template(qp) || list_is_linked(&qp->ready_link) ||
		     !is_alone(&runtime->burst, qp) ||
		     __atomic_load_n(template->generation_at, __ATOMIC_ACQUIRE) !=
			     template->generation ||
		     !list_is_empty(&template->channel->waiting)))
		return false;
	body = ring_reserve_stamped(out, (uint32_t) template->sizes);
	if (unlikely(!body))
		return false;
	memcpy(body, template->headers, sizeof(template->headers));
	put_be32(body + sizeof(template->headers), fast_psn_word(QP_RC, qp, true));
	fast_write_payload(bytes, sge->byte_count, body + FAST_HEADER_BYTES);
	if (memory_guard_has_gaps())
		return false;
	ring_commit_stamped_at(out, (uint64_t *)(body - RING_STAMPED_HEADER_BYTES), template->sizes,
			       1);
	return true;
}

/* A message by template, as the rest of the fast path takes it. */
struct template_message {
	struct send_request request;
	struct fast_packet packet;
};

static inline struct template_message template_message(const struct send_template *template,
						       uint64_t wr_id, uint32_t flags,
						       const struct sge *sge, const uint8_t *bytes)
{
	return (struct template_message){
		.request = {.wr_id = wr_id,
			    .opcode = SEND_SEND,
			    .flags = flags,
			    .sge_count = 1,
			    .sges = sge},
		.packet = {.payload = bytes,
			   .payload_bytes = sge->byte_count,
			   .byte_count = (uint32_t) template->sizes,
			   .packet_count = 1,
			   .asks_ack = true},
	};
}

void template_send_book(struct adapter *adapter, uint64_t wr_id, uint32_t flags,
			const struct sge *sge)
{
	struct process_runtime *runtime = adapter->runtime;
	const struct send_template *template = &runtime->send_template;
	const struct template_message message = template_message(
		template, wr_id, flags, sge, template_bytes(&template->local, flags, sge));
	struct qp *qp = template->qp;

	qp->owner_position = template->channel->out.tail;
	flow_count(template->flow, 1, (message.packet.byte_count + ICRC_BYTES) / 4);
	pingpong_sent(&template->channel->pingpong);
	fast_enqueue(qp, fast_path_time(runtime), &message.request, &message.packet);
	remember_post(&runtime->burst, qp, template->flow, &message.request, false);
	short_send_posted(adapter, qp, template->flow);
}

/* Whether the queue pair may send its next SEND at once; the checks that do not depend on the SEND.
 */
static bool sends_at_once(const struct process_runtime *runtime, const struct qp *qp)
{
	if (!fast_path_is_open(runtime, qp))
		return false;
	return qp->type == QP_UD
		       ? qp->state == QP_RTS && !qp->attributes.rate_limit && fast_sends_next(qp)
		       : fast_may_post_by_template(qp);
}

/* Whether nothing followed the burst in the ring, and no other request has taken a PSN. */
static bool burst_is_last(const struct burst_out *burst, const struct qp *qp)
{
	return burst->flow->channel->out.tail == burst->end &&
	       psn_equal(qp->requester.next_psn, burst->next_psn);
}

static uint32_t burst_room(const struct burst_out *burst, const struct qp *qp)
{
	struct ring_producer *out = &burst->flow->channel->out;
	uint32_t requests = fast_payloads_room(qp);
	uint32_t room = ring_payloads_room(out, burst->payload_bytes);

	if (!room && ring_room(out))
		room = ring_payloads_room(out, burst->payload_bytes);
	return room < requests ? room : requests;
}

bool template_send_resume_burst(struct process_runtime *runtime, struct qp *qp)
{
	struct burst_out *burst = &runtime->burst;

	if (burst_posts(burst, qp) < BURST_POSTS || burst->flow->state != FLOW_DIRECT ||
	    !sends_at_once(runtime, qp) || !burst_is_last(burst, qp) ||
	    !list_is_empty(&burst->flow->channel->waiting))
		return false;
	burst->room = burst_room(burst, qp);
	if (!burst->room)
		return false;
	burst->posts = burst_posts(burst, qp);
	burst->qp = qp;
	return true;
}

/* Sends a payload record. The timer and the note about it that the template's post left still hold.
 */
static inline bool repeat(struct adapter *adapter, struct qp *qp,
			  const struct send_request *request, const struct fast_packet *packet)
{
	struct process_runtime *runtime = adapter->runtime;
	struct burst_out *burst = &runtime->burst;
	struct channel *channel = burst->flow->channel;
	struct ring_producer *out = &channel->out;

	fast_write_payload(packet->payload, packet->payload_bytes,
			   ring_payload_place(out, packet->payload_bytes));
	if (memory_guard_has_gaps())
		return false;
	ring_commit_payload(out, packet->payload_bytes);
	qp->owner_position = out->tail;
	flow_count(burst->flow, 1, (packet->byte_count + ICRC_BYTES) / 4);
	fast_enqueue(qp, fast_path_time(runtime), request, packet);
	burst->end = out->tail;
	burst->next_psn = qp->requester.next_psn;
	burst->room--;
	/* The first payload record after a resume counts one post only, so that a program that
	 * posts one message at a time leaves the burst. */
	burst->posts = burst->posts == BURST_POSTS ? BURST_POSTS + 1 : BURST_POSTS_PAYLOAD;
	if (unlikely(ring_announce(out)))
		doorbell_ring(channel->doorbell);
	return true;
}

bool template_send_payload(struct adapter *adapter, uint64_t wr_id, uint32_t flags,
			   const struct sge *sge)
{
	const struct process_runtime *runtime = adapter->runtime;
	const struct send_template *template = &runtime->send_template;
	const struct burst_out *burst = &runtime->burst;
	const uint8_t *bytes = template_bytes(&template->local, flags, sge);

	/* send_template and burst are both of the previous post, so its record is the burst's
	 * template. */
	if (unlikely(!bytes || !burst->room || burst->is_lent ||
		     __atomic_load_n(template->generation_at, __ATOMIC_ACQUIRE) !=
			     template->generation))
		return false;

	const struct template_message message =
		template_message(template, wr_id, flags, sge, bytes);

	return repeat(adapter, template->qp, &message.request, &message.packet);
}

/* Not inlined: small messages would save registers that they do not use. */
__attribute__((noinline)) static bool repeat_loan(struct adapter *adapter, struct qp *qp,
						  struct flow *flow,
						  const struct send_request *request)
{
	struct fast_packet packet;

	if (unlikely(!fast_may_post_payload(qp, request, &packet) ||
		     !ud_zcopy_post_payload(adapter, qp, flow, request, &packet,
					    fast_path_time(adapter->runtime))))
		return false;
	adapter->runtime->burst.room--;
	short_send_posted(adapter, qp, flow);
	return true;
}

/* Whether this SEND has the burst's destination. */
static inline bool burst_goes_there(const struct burst_out *burst, const struct qp *qp,
				    const struct send_request *request)
{
	return qp->type != QP_UD ||
	       (request->address == burst->address && request->remote_qpn == burst->remote_qpn &&
		request->remote_qkey == burst->remote_qkey);
}

bool template_send_payload_any(struct adapter *adapter, struct qp *qp,
			       const struct send_request *request)
{
	struct process_runtime *runtime = adapter->runtime;
	struct burst_out *burst = &runtime->burst;
	struct flow *flow = burst->flow;
	struct fast_packet packet;

	if (burst->payload_bytes != request->sges[0].byte_count || unlikely(!burst->room) ||
	    (burst->flags ^ request->flags) & ~(uint32_t)SEND_SIGNALED ||
	    unlikely(!burst_goes_there(burst, qp, request)) ||
	    unlikely(flow->generation != runtime_generation(runtime)))
		return false;
	if (burst->is_lent)
		return repeat_loan(adapter, qp, flow, request);
	if (unlikely(!fast_may_post_payload(qp, request, &packet)))
		return false;

	return repeat(adapter, qp, request, &packet);
}
