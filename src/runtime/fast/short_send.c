/* SPDX-License-Identifier: Apache-2.0 */
/* The express lane, what goes out by it: see express_lane.h. */
#include "runtime/fast/short_send.h"

#include <stdlib.h>
#include <string.h>
#include "runtime/zcopy/ud_zcopy.h"
#include "runtime/fast/direct_records.h"
#include "runtime/fast/template_send.h"
#include "runtime/fast/flow_cache.h"
#include "runtime/channel_queues.h"
#include "runtime/packets/relay_send.h"
#include "runtime/memory/memory_guard.h"
#include "runtime/zcopy/zcopy_send.h"
#include "net/transport/fast/short_packets.h"
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
			publish_later(adapter->attachment, flow->channel);
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
	publish_later(adapter->attachment, flow->channel);
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

/* By another way than as a packet in the ring: it has PSNs, too, which repeats would not count. */
static inline void posted_otherwise(struct adapter *adapter, struct qp *qp, struct flow *flow)
{
	adapter->attachment->run.qp = NULL;
	express_posted(adapter, qp, flow);
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

	if (unlikely(!express_is_open_to(attachment, qp)))
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
			express_again_remember_loan(attachment, qp, flow, request);
			express_posted(adapter, qp, flow);
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
	if (memory_guard_has_gaps())
		return false;
	commit(qp, flow, packet.byte_count, is_model ? RECORD_MODEL : RECORD_PACKET);
	if (qp->type == QP_RC)
		dialogue_sent(&flow->channel->dialogue);
	express_enqueue(qp, lane_time(attachment), request, &packet);
	express_again_remember(attachment, qp, flow, request, &packet, is_model);
	express_posted(adapter, qp, flow);
	return true;
}

bool express_lane_send(struct adapter *adapter, struct qp *qp)
{
	struct attachment *attachment = adapter->attachment;
	const struct requester *requester = &qp->requester;

	if (unlikely(!express_is_open_to(attachment, qp)))
		return false;

	time_ns now = lane_time(attachment);
	bool any = false;

	while (requester->cursor != requester->queue.tail && send_one(adapter, qp, now))
		any = true;
	if (any) {
		hca_remember_undated(&adapter->hca, qp);
		attachment->sends_through_softibd = false;
		publish_all(attachment);
	}
	return requester->cursor == requester->queue.tail;
}
