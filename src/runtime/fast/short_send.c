/* SPDX-License-Identifier: Apache-2.0 */
/* Posts a SEND and sends it at once: see short_send.h. */
#include "runtime/fast/short_send.h"

#include <stdlib.h>
#include <string.h>
#include "net/transport/fast/fast_send.h"
#include "runtime/fast/direct_records.h"
#include "runtime/fast/send_flow.h"
#include "runtime/fast/send_form.h"
#include "runtime/memory/memory_guard.h"
#include "runtime/packets/relay_send.h"
#include "runtime/zcopy/ud_zcopy.h"
#include "runtime/zcopy/zcopy_send.h"

bool fast_path_is_allowed(void)
{
	const char *choice = getenv("SOFTIB_FAST");

	return !choice || strcmp(choice, "0") != 0;
}

unsigned send_forms_allowed(void)
{
	static const char *const names[FORM_COUNT] = {
		[FORM_SHORT] = "short",
		[FORM_PAYLOAD_ONLY] = "payload-only",
		[FORM_BY_REFERENCE] = "by-reference",
		[FORM_RELAYED] = "relayed",
	};
	const char *choice = getenv("SOFTIB_SEND_FORMS");
	unsigned forms = 1u << FORM_PACKETS;

	if (!choice)
		return SEND_FORMS_ALL;
	for (unsigned form = 0; form < FORM_COUNT; form++)
		if (names[form] && strstr(choice, names[form]))
			forms |= 1u << form;
	return forms;
}

struct flow *send_flow_find(struct adapter *adapter, struct qp *qp)
{
	struct send_template *template = &qp->templates->send;
	const flow_key key = flow_key_make(adapter->description->index, qp->port->number,
					   lrh_word_sl(template->lrh), lrh_word_dlid(template->lrh),
					   bth_word_pkey(template->bth),
					   (uint32_t)(template->bth & BTH_WORD_QPN));
	struct flow *flow = flow_table_find(&adapter->runtime->flows, key);

	if (flow)
		qp->owner_route = template->route = flow;
	return flow;
}

/* Writes the whole packet. The peer waits for it: our own queues are updated afterwards. */
static IN_LINE bool post_short(struct process_runtime *runtime, struct qp *qp, enum qp_type type,
			       struct flow *flow, const struct send_request *request,
			       const struct fast_packet *packet)
{
	struct channel *channel = flow->channel;
	struct ring_producer *out = &channel->out;
	const uint32_t streak = burst_streak(&qp->templates->burst, out, runtime->turn);
	const bool is_template = unlikely(streak >= BURST_POSTS) &&
				 runtime->forms >> FORM_PAYLOAD_ONLY & 1 &&
				 burst_may_begin(request);
	uint8_t *body = direct_record_reserve(channel, packet->byte_count);

	if (unlikely(!body))
		return false;
	fast_write(qp, type, request, packet, body);
	if (memory_guard_has_gaps())
		return false;
	direct_record_commit(qp, flow, packet->byte_count,
			     is_template ? RECORD_TEMPLATE : RECORD_PACKET, 1);
	flow_count(flow, 1, (packet->byte_count + ICRC_BYTES) / 4);
	if (type == QP_RC)
		pingpong_sent(&channel->pingpong);
	fast_enqueue(qp, type, fast_path_time(runtime), request, packet);
	if (type == QP_RC && packet->payload_bytes < ZCOPY_BYTES_MIN)
		fast_remember(qp, request, body);
	burst_posted(&qp->templates->burst, out, runtime->turn, streak);
	if (unlikely(is_template))
		burst_begin(&qp->templates->burst, &qp->requester, out, request);
	return true;
}

/* Writes nothing but the payload, for which the ring has room. */
static IN_LINE bool post_payload(struct process_runtime *runtime, struct qp *qp, enum qp_type type,
				 struct flow *flow, const struct send_request *request,
				 const struct fast_packet *packet)
{
	struct ring_producer *out = &flow->channel->out;

	fast_write_payload(packet->payload, packet->payload_bytes,
			   ring_payload_place(out, packet->payload_bytes));
	if (memory_guard_has_gaps())
		return false;
	ring_commit_payload(out, packet->payload_bytes);
	qp->owner_position = out->tail;
	flow_count(flow, 1, (packet->byte_count + ICRC_BYTES) / 4);
	fast_enqueue(qp, type, fast_path_time(runtime), request, packet);
	return true;
}

/* Continues a burst, after whatever was done since its last record. */
static IN_LINE bool resume_burst(struct process_runtime *runtime, struct qp *qp, enum qp_type type,
				 struct flow *flow, const struct send_request *request,
				 const struct fast_packet *packet)
{
	struct ring_producer *out = &flow->channel->out;

	if (unlikely(!ring_has_room_for_payload(out, packet->payload_bytes) ||
		     !list_is_empty(&flow->channel->waiting)) ||
	    !post_payload(runtime, qp, type, flow, request, packet))
		return false;
	burst_continued(&qp->templates->burst, out, runtime->turn, qp->requester.next_psn);
	qp->templates->burst.room = burst_room(&qp->requester, out, packet->payload_bytes);
	return true;
}

/* Not inline, and the packet by value: short messages would save registers that they do not use,
 * and keep the packet in memory. */
__attribute__((noinline)) static bool post_by_reference(struct adapter *adapter, struct qp *qp,
							struct flow *flow,
							const struct send_request *request,
							struct fast_packet packet)
{
	const time_ns now = fast_path_time(adapter->runtime);

	return qp->type == QP_UD ? ud_zcopy_post(adapter, qp, flow, request, &packet, now)
				 : zcopy_post(adapter, qp, flow, request, &packet, now);
}

__attribute__((noinline)) static bool post_relayed(struct adapter *adapter, struct qp *qp,
						   const struct flow *flow,
						   const struct send_request *request,
						   struct fast_packet packet)
{
	return relay_send_post(adapter, qp, flow, request, &packet,
			       fast_path_time(adapter->runtime));
}

/* type: the queue pair's. */
static IN_LINE bool post(struct adapter *adapter, struct qp *qp, enum qp_type type,
			 const struct send_request *request)
{
	struct process_runtime *runtime = adapter->runtime;
	struct fast_packet packet;

	if (unlikely(!fast_path_is_open(runtime, qp) || !fast_may_post(qp, type, request, &packet)))
		return false;

	struct flow *flow = send_flow(adapter, qp);
	const struct send_facts facts = {
		.type = type,
		.burst = &qp->templates->burst,
		.next_psn = qp->requester.next_psn,
		.mtu = qp->templates->send.mtu,
		.flow = flow_is_direct(runtime, flow) ? flow : NULL,
		.turn = runtime->turn,
		.forms = runtime->forms,
	};
	bool is_posted = false;

	switch (send_form_choose(&facts, request, packet.packet_count)) {
	case FORM_PAYLOAD_ONLY:
		is_posted = resume_burst(runtime, qp, type, flow, request, &packet);
		break;
	case FORM_BY_REFERENCE:
		is_posted = post_by_reference(adapter, qp, flow, request, packet);
		break;
	case FORM_RELAYED:
		return post_relayed(adapter, qp, flow, request, packet);
	case FORM_PACKETS:
		return false;
	case FORM_SHORT:
	case FORM_COUNT:
		break;
	}
	/* The form of most SENDs, and of those for which another turned out impossible. */
	if (!is_posted && (packet.packet_count > 1 || !(runtime->forms >> FORM_SHORT & 1) ||
			   !post_short(runtime, qp, type, flow, request, &packet)))
		return false;
	short_send_posted(adapter, qp, flow);
	return true;
}

/* A SEND without immediate data on a reliable connection, as fast_enqueue reads it. The other
 * fields are not set: clearing them takes longer than everything else. */
static IN_LINE void make_request(uint64_t wr_id, uint32_t flags, const struct sge *sge,
				 struct send_request *ret_request)
{
	ret_request->wr_id = wr_id;
	ret_request->opcode = SEND_SEND;
	ret_request->flags = flags;
	ret_request->immediate_or_rkey = 0;
	ret_request->sges = sge;
}

/* Posts the next message of a burst, if it directly follows the last one. false: nothing was done.
 */
static IN_LINE bool post_in_burst(struct adapter *adapter, struct qp *qp, uint64_t wr_id,
				  uint32_t flags, const struct sge *sge)
{
	struct process_runtime *runtime = adapter->runtime;
	struct send_burst *burst = &qp->templates->burst;
	struct flow *flow = qp->templates->send.route;
	struct send_request request;
	struct fast_packet packet;

	make_request(wr_id, flags, sge, &request);
	if (!burst_is_running(burst, runtime->turn) || !burst_matches(burst, flags, sge) ||
	    qp->templates->send.epoch != qp->environment->epoch ||
	    flow->generation != runtime_generation(runtime) ||
	    !psn_equal(burst->next_psn, qp->requester.next_psn) ||
	    flow->channel->out.tail != burst->end || !fast_find_payload(qp, &request, &packet))
		return false;

	struct channel *channel = flow->channel;

	fast_measure(QP_RC, &request, 1, &packet);
	if (!post_payload(runtime, qp, QP_RC, flow, &request, &packet))
		return false;
	burst_went_on(burst, &channel->out, runtime->turn, qp->requester.next_psn);
	if (unlikely(ring_announce(&channel->out)))
		doorbell_ring(channel->doorbell);
	return true;
}

/* Updates the queue pair; the peer has the message already. Not inline: the code before it needs
 * few registers. */
__attribute__((noinline)) static bool book(struct adapter *adapter, struct qp *qp, uint64_t wr_id,
					   uint32_t flags, const struct sge *sge,
					   const uint8_t *payload)
{
	struct process_runtime *runtime = adapter->runtime;
	struct flow *flow = qp->templates->send.route;
	struct ring_producer *out = &flow->channel->out;
	struct fast_packet packet = {.payload = payload, .payload_bytes = sge->byte_count};
	struct send_request request;

	make_request(wr_id, flags, sge, &request);
	fast_measure(QP_RC, &request, 1, &packet);
	flow_count(flow, 1, (packet.byte_count + ICRC_BYTES) / 4);
	pingpong_sent(&flow->channel->pingpong);
	fast_enqueue(qp, QP_RC, fast_path_time(runtime), &request, &packet);
	burst_posted(&qp->templates->burst, out, runtime->turn,
		     burst_streak_before(&qp->templates->burst, runtime->turn));
	short_send_posted(adapter, qp, flow);
	return true;
}

bool short_send_post_by_template(struct adapter *adapter, struct qp *qp, uint64_t wr_id,
				 uint32_t flags, const struct sge *sge)
{
	/* A burst has that length, too. */
	if (qp->templates->send.byte_count != sge->byte_count)
		return false;
	if (post_in_burst(adapter, qp, wr_id, flags, sge))
		return true;

	struct process_runtime *runtime = adapter->runtime;
	struct flow *flow = qp->templates->send.route;
	const uint8_t *payload = (const uint8_t *)(uintptr_t)sge->address;
	const uint32_t byte_count =
		FAST_HEADER_BYTES + ((qp->templates->send.byte_count + 3) & ~3u);

	if (unlikely(!fast_path_is_open(runtime, qp) ||
		     !fast_may_post_by_template(qp, flags, sge) || !flow_is_direct(runtime, flow)))
		return false;
	if (!(flags & SEND_INLINE))
		payload = template_place(&qp->templates->send.region, qp->environment->memory,
					 qp->pd, sge, sge->byte_count, 0);

	struct channel *channel = flow->channel;

	/* Posts in a row become a burst instead. */
	if (unlikely(!payload || sge->byte_count > flow->mtu || !list_is_empty(&channel->waiting) ||
		     burst_streak(&qp->templates->burst, &channel->out, runtime->turn) >=
			     BURST_POSTS))
		return false;

	uint8_t *body = ring_reserve_stamped(&channel->out, byte_count);

	if (unlikely(!body))
		return false;
	fast_write_by_template(qp, payload, body);
	if (memory_guard_has_gaps())
		return false;
	if (qp->templates->burst.end != channel->out.tail)
		qp->templates->burst.streak = 0;
	direct_record_commit(qp, flow, byte_count, RECORD_PACKET, 1);
	return book(adapter, qp, wr_id, flags, sge, payload);
}

bool short_send_post(struct adapter *adapter, struct qp *qp, const struct send_request *request)
{
	return qp->type == QP_RC ? post(adapter, qp, QP_RC, request)
				 : post(adapter, qp, qp->type, request);
}
