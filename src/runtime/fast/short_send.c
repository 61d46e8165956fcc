/* SPDX-License-Identifier: Apache-2.0 */
/* Sends short messages, and hands longer ones to zcopy: see short_send.h. */
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

bool fast_path_is_allowed(void)
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

/* The reserved record is written: shows it to the peer, and counts it. */
static inline void commit(struct qp *qp, struct flow *flow, uint32_t byte_count,
			  enum record_kind kind)
{
	direct_record_commit(qp, flow, byte_count, kind, 1);
	flow_count(flow, 1, (byte_count + ICRC_BYTES) / 4);
}

static bool send_one(struct adapter *adapter, struct qp *qp, time_ns now)
{
	struct fast_packet packet;

	if (qp->type == QP_RC) {
		struct flow *flow = connected_flow(adapter, qp);

		if (flow && zcopy_send_queued(adapter, qp, flow, now)) {
			publish_later(adapter->runtime, flow->channel);
			return true;
		}
	}

	if (!fast_next(qp, &packet))
		return false;

	struct flow *flow = flow_of_next(adapter, qp);

	if (unlikely(!flow || packet.payload_bytes > flow->mtu))
		return false;

	uint8_t *body = direct_record_reserve(flow->channel, packet.byte_count);

	if (unlikely(!body))
		return false;
	fast_write(qp, now, &packet, body);
	commit(qp, flow, packet.byte_count, RECORD_PACKET);
	publish_later(adapter->runtime, flow->channel);
	return true;
}

/* Whether this SEND becomes the template of a burst, so that the next ones need only their payload.
 */
static inline bool begins_burst(const struct burst_out *burst, const struct qp *qp,
				const struct send_request *request)
{
	return burst_posts(burst, qp) >= BURST_POSTS && request->opcode == SEND_SEND &&
	       request->sges[0].byte_count - 1 < RING_PAYLOAD_BYTES_MAX;
}

/* The message went by zcopy. It takes PSNs that payload records would not count, so the burst ends.
 */
static inline void posted_otherwise(struct adapter *adapter, struct qp *qp, struct flow *flow)
{
	adapter->runtime->burst.qp = NULL;
	short_send_posted(adapter, qp, flow);
}

/* A message of several packets is sent at once only by zcopy. */
static bool post_long(struct adapter *adapter, struct qp *qp, const struct send_request *request)
{
	struct fast_packet packet;
	struct flow *flow;

	if (!fast_may_post_zcopy(qp, request, &packet))
		return false;
	flow = connected_flow(adapter, qp);
	if (!flow ||
	    !zcopy_post(adapter, qp, flow, request, &packet, fast_path_time(adapter->runtime)))
		return false;
	posted_otherwise(adapter, qp, flow);
	return true;
}

bool short_send_post(struct adapter *adapter, struct qp *qp, const struct send_request *request)
{
	struct process_runtime *runtime = adapter->runtime;
	struct fast_packet packet;

	if (unlikely(!fast_path_is_open(runtime, qp)))
		return false;
	if (unlikely(!fast_may_post(qp, request, &packet)))
		return post_long(adapter, qp, request);

	struct flow *flow =
		qp->type == QP_UD ? direct_flow(adapter, qp, request->address, request->remote_qpn)
				  : connected_flow(adapter, qp);

	if (unlikely(!flow)) {
		runtime->burst.qp = NULL;
		return relay_send_post(adapter, qp, request, &packet, fast_path_time(runtime));
	}
	if (packet.payload_bytes >= ZCOPY_BYTES_MIN) {
		if (zcopy_post(adapter, qp, flow, request, &packet, fast_path_time(runtime))) {
			posted_otherwise(adapter, qp, flow);
			return true;
		}
		if (ud_zcopy_post(adapter, qp, flow, request, &packet, fast_path_time(runtime))) {
			template_send_remember_zcopy(runtime, qp, flow, request);
			short_send_posted(adapter, qp, flow);
			return true;
		}
	}
	if (unlikely(packet.payload_bytes > flow->mtu))
		return false;

	bool is_template = begins_burst(&runtime->burst, qp, request);
	uint8_t *body = direct_record_reserve(flow->channel, packet.byte_count);

	if (unlikely(!body))
		return false;
	/* The peer waits for the packet: our own queues are updated afterwards. */
	fast_write_posted(qp, request, &packet, body);
	if (memory_guard_has_gaps())
		return false;
	commit(qp, flow, packet.byte_count, is_template ? RECORD_TEMPLATE : RECORD_PACKET);
	if (qp->type == QP_RC)
		pingpong_sent(&flow->channel->pingpong);
	fast_enqueue(qp, fast_path_time(runtime), request, &packet);
	template_send_remember(runtime, qp, flow, request, &packet, is_template);
	short_send_posted(adapter, qp, flow);
	return true;
}

bool short_send_queued(struct adapter *adapter, struct qp *qp)
{
	struct process_runtime *runtime = adapter->runtime;
	const struct requester *requester = &qp->requester;

	if (unlikely(!fast_path_is_open(runtime, qp)))
		return false;

	time_ns now = fast_path_time(runtime);
	bool any = false;

	while (requester->cursor != requester->queue.tail && send_one(adapter, qp, now))
		any = true;
	if (any) {
		hca_remember_undated(&adapter->hca, qp);
		runtime->sends_through_softibd = false;
		publish_all(runtime);
	}
	return requester->cursor == requester->queue.tail;
}
