/* SPDX-License-Identifier: Apache-2.0 */
/* Small WRITEs to memory that the peer shares. */
#include "host/placement_lane.h"

#include "host/adopted_memory.h"
#include "host/express_lane.h"
#include "host/flows.h"
#include "host/placement_state.h"
#include "net/transport/placement.h"
#include "wire/packet.h"

enum {
	REQUESTS_MAX = 64, /* while the peer may have to wait */
	WRITE_HEADER_BYTES = LRH_BYTES + BTH_BYTES + RETH_BYTES + ICRC_BYTES,
	ACK_BYTES = LRH_BYTES + BTH_BYTES + AETH_BYTES + ICRC_BYTES,
};

static bool is_open(void)
{
	static int choice; /* 0: not asked yet */

	if (unlikely(!choice))
		choice = express_lane_is_allowed() ? 1 : -1;
	return choice > 0;
}

/* Asks for all of the region's shared pages at once. */
static void open_window(struct placement *placement)
{
	const struct published_view *view = &placement->view;
	const struct region *region = &view->region;
	const uint64_t begin = adopted_begin((uintptr_t)region->bytes);
	const uint64_t end = adopted_end((uintptr_t)region->bytes, region->byte_count);
	const uint64_t from = region->iova + (begin - (uintptr_t)region->bytes);
	struct reach_target target;

	placement->window.entry = NULL;
	if (begin >= end || end - begin > UINT32_MAX)
		return;

	const struct reach_request request = {region->key, ACCESS_REMOTE_WRITE, from,
					      (uint32_t)(end - begin)};

	if (reach_allows(&placement->channel->peer->reach, &placement->grant, &placement->view,
			 &request, &target) &&
	    target.shared)
		placement->window = (struct placement_window){
			.entry = view->entry,
			.sequence = view->sequence,
			.key = region->key,
			.from = from,
			.to = from + (end - begin),
			.bytes = target.shared,
		};
}

/* The peer may have taken the key back, or its pages, since the last request. */
static bool window_holds(const struct placement *placement, const struct small_write *write)
{
	const struct placement_window *window = &placement->window;
	const struct published_view *view = &placement->view;

	return window->entry && window->entry == view->entry && window->key == write->remote_key &&
	       window->sequence == view->sequence && write->remote_address >= window->from &&
	       write->remote_address <= window->to &&
	       write->byte_count <= window->to - write->remote_address &&
	       published_view_is_current(view) &&
	       !__atomic_load_n(&placement->channel->peer->reach.header->shared_is_off,
				__ATOMIC_SEQ_CST);
}

/* Where the bytes go; NULL: what is asked for is not usual. */
static uint8_t *target_of(struct placement *placement, const struct small_write *write)
{
	const struct placement_window *window = &placement->window;
	const struct reach_request request = {write->remote_key, ACCESS_REMOTE_WRITE,
					      write->remote_address, write->byte_count};
	struct reach_target target;

	if (likely(window_holds(placement, write)))
		return window->bytes + (write->remote_address - window->from);
	if (!reach_allows(&placement->channel->peer->reach, &placement->grant, &placement->view,
			  &request, &target) ||
	    !target.shared)
		return NULL;
	open_window(placement);
	return target.shared;
}

/* There and, of a connection that acknowledges, back. */
static void count(struct flow *flow, const struct qp *qp, unsigned request_count,
		  uint64_t payload_bytes)
{
	const uint64_t grh_bytes = qp->attributes.address.is_global ? GRH_BYTES : 0;

	flow_count(flow, request_count,
		   (request_count * (WRITE_HEADER_BYTES + grh_bytes) + payload_bytes) / 4);
	if (qp_is_reliable(qp))
		flow_count_returned(flow, request_count,
				    request_count * (ACK_BYTES + grh_bytes) / 4);
}

unsigned placement_lane_run(struct placement *placement, struct qp *qp, struct flow *flow,
			    time_ns now)
{
	const struct channel *channel = placement->channel;
	struct small_write write;
	uint64_t payload_bytes = 0;
	unsigned request_count = 0;

	if (!is_open() || !shortcut_small_write(qp, &write) || placement->piece_offset)
		return 0;
	hazard_begin(channel);
	if (likely(placement->serial % 2 && placement_serial(placement) == placement->serial)) {
		do {
			uint8_t *target = target_of(placement, &write);

			if (unlikely(!target))
				break;
			bytes_write(write.bytes, write.byte_count, target);
			payload_bytes += (write.byte_count + 3) & ~3u;
			request_count++;
			placement->message_count++;
			shortcut_small_done(qp, now);
		} while (request_count < REQUESTS_MAX && likely(!qp->has_failed_to_report) &&
			 shortcut_small_write(qp, &write));
		if (likely(request_count))
			placement_show(qp, placement);
	}
	hazard_end(channel);
	if (unlikely(!request_count))
		return 0;
	count(flow, qp, request_count, payload_bytes);
	/* A completion that found no room ends the queue pair, and the placement. */
	if (unlikely(qp->has_failed_to_report))
		qp_settle(qp, now);
	return request_count;
}
