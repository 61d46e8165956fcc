/* SPDX-License-Identifier: Apache-2.0 */
/* The fast path of RMA: short WRITEs and READs. */
#include "runtime/rma/rma_short.h"

#include <string.h>
#include "runtime/rma/shared_mr.h"
#include "runtime/fast/short_send.h"
#include "runtime/flows.h"
#include "runtime/packets/wire_bytes.h"
#include "runtime/memory/memory_guard.h"
#include "runtime/fast/send_template.h"
#include "runtime/rma/rma_state.h"
#include "net/transport/payload_scatter.h"
#include "wire/packet.h"

enum {
	/* Limits of one call, since the peer may have to wait for hazard_end. */
	REQUESTS_MAX = 64,
	BYTES_MAX = 256 << 10,
	REQUEST_BYTES_MAX = 128 << 10,
};

static bool is_open(void)
{
	static int choice; /* 0: not decided yet */

	if (unlikely(!choice))
		choice = fast_path_is_allowed() ? 1 : -1;
	return choice > 0;
}

static uint32_t access_of(const struct simple_request *request)
{
	return request->is_read ? ACCESS_REMOTE_READ : ACCESS_REMOTE_WRITE;
}

/* Checks the whole part of the region that is reached in the same way as the request that was just
 * allowed, so that later requests in that part skip the check. */
static void open_range(struct rma *rma, struct rma_range *window,
		       const struct simple_request *request, const struct peer_target *target)
{
	const struct published_view *view = &rma->view;
	const struct region *region = &view->region;
	uint64_t begin = (uintptr_t)region->bytes, end = begin + region->byte_count;
	struct peer_target all;

	/* The shared part has whole pages only; the rest of the region is reached by CMA. */
	if (target->shared) {
		begin = shared_pages_begin((uintptr_t)region->bytes);
		end = shared_pages_end((uintptr_t)region->bytes, region->byte_count);
	} else if (view->shared_place) {
		return;
	}
	if (begin >= end || end - begin > UINT32_MAX)
		return;

	const uint64_t from = region->iova + (begin - (uintptr_t)region->bytes);
	const struct peer_request whole = {region->key, access_of(request), from,
					   (uint32_t)(end - begin)};

	if (!peer_memory_allows(&rma->channel->peer->peer_memory, &rma->grant, &rma->view, &whole,
				&all) ||
	    !all.shared != !target->shared)
		return;
	*window = (struct rma_range){
		.entry = view->entry,
		.sequence = view->sequence,
		.key = region->key,
		.from = from,
		.to = from + (end - begin),
		.shared = all.shared,
		.address = all.address,
	};
}

/* The peer may have revoked the key, or moved its pages, since the last request. */
static inline bool range_holds(const struct rma *rma, const struct rma_range *window,
			       const struct simple_request *request)
{
	const struct rkey_export_header *header = rma->channel->peer->peer_memory.header;

	return window->entry && window->key == request->remote_key &&
	       request->remote_address >= window->from && request->remote_address <= window->to &&
	       request->byte_count <= window->to - request->remote_address &&
	       __atomic_load_n(&window->entry->sequence, __ATOMIC_SEQ_CST) == window->sequence &&
	       !__atomic_load_n(window->shared ? &header->shared_is_off : &header->is_moving,
				__ATOMIC_SEQ_CST);
}

/* The place where the request acts; false: the request needs the full path. */
static inline bool find_target(struct rma *rma, const struct simple_request *request,
			       struct peer_target *ret_target)
{
	struct rma_range *window = request->is_read ? &rma->read_range : &rma->write_range;

	if (likely(range_holds(rma, window, request))) {
		const uint64_t offset = request->remote_address - window->from;

		ret_target->shared = window->shared ? window->shared + offset : NULL;
		ret_target->address = window->address + offset;
		return true;
	}

	const struct peer_request asked = {request->remote_key, access_of(request),
					   request->remote_address, request->byte_count};

	window->entry = NULL;
	if (!peer_memory_allows(&rma->channel->peer->peer_memory, &rma->grant, &rma->view, &asked,
				ret_target))
		return false;
	open_range(rma, window, request, ret_target);
	return true;
}

/* The identity of the region behind the key by which the target was just found. */
static uint64_t key_id(const struct rma *rma)
{
	const struct published_key *keys = rma->channel->peer->peer_memory.keys;
	const struct rma_range *window = &rma->write_range;
	const struct published_view *view = &rma->view;

	return window->entry ? published_key_id(keys, window->entry, window->sequence)
			     : published_key_id(keys, view->entry, view->sequence);
}

static bool write_far(const struct rma *rma, const struct simple_request *request,
		      const struct peer_target *target)
{
	struct iovec part = {request->bytes, request->byte_count};
	uint32_t moved = 0;

	if (request->byte_count <= PINNED_WRITE_BYTES_MAX) {
		const struct pinned_request pinned = {
			.bytes = request->bytes,
			.byte_count = request->byte_count,
			.key = request->remote_key,
			.key_id = key_id(rma),
			.address = target->address,
		};
		const int result = pinned_write(rma, &pinned);

		if (likely(result == (int)request->byte_count))
			return true;
		/* Packets can carry the WRITE again. */
		if (result < 0)
			return false;
		moved = (uint32_t)result;
		part = (struct iovec){request->bytes + moved, request->byte_count - moved};
	}
	return cma_write(&rma->channel->peer->peer_memory.memory, target->address + moved, &part, 1,
			 part.iov_len);
}

/* Out of line, so that requests which need no system call have no cost from it. */
__attribute__((noinline)) static bool move_far(const struct rma *rma,
					       const struct simple_request *request,
					       const struct peer_target *target)
{
	struct rma_peer *peer = rma->channel->peer;
	const struct iovec part = {request->bytes, request->byte_count};
	const bool has_moved = request->is_read
				       ? cma_read(&peer->peer_memory.memory, target->address, &part,
						  1, request->byte_count)
				       : write_far(rma, request, target);

	peer->failures += !has_moved;
	return has_moved;
}

static bool move(const struct rma *rma, const struct simple_request *request,
		 const struct peer_target *target)
{
	if (unlikely(!target->shared))
		return move_far(rma, request, target);
	if (request->is_read)
		memcpy(request->bytes, target->shared, request->byte_count);
	else
		bytes_write(request->bytes, request->byte_count, target->shared);
	return request->is_read || !memory_guard_has_gaps();
}

/* Packets and bytes that the requests would have put on the links, in both directions
 * (runtime/rma/rma_counters.c). */
struct books {
	uint32_t packets, returned_packets;
	uint64_t bytes, returned_bytes;
};

static inline void enter(struct books *books, const struct qp *qp,
			 const struct simple_request *request, uint32_t packet_count)
{
	const uint32_t packet_bytes = wire_bytes_bare(qp->attributes.address.is_global);
	const uint32_t payload_bytes = (request->byte_count + 3) & ~3u;

	if (request->is_read) {
		const uint32_t aeths = packet_count > 1 ? 2 : 1;

		books->packets++;
		books->bytes += packet_bytes + RETH_BYTES;
		books->returned_packets += packet_count;
		books->returned_bytes +=
			packet_count * packet_bytes + payload_bytes + aeths * AETH_BYTES;
		return;
	}
	books->packets += packet_count;
	books->bytes += packet_count * packet_bytes + RETH_BYTES + payload_bytes;
	books->returned_packets++;
	books->returned_bytes += packet_bytes + AETH_BYTES;
}

/* After hazard_end, when no peer waits for this process any more. */
static inline void settle(struct qp *qp, struct flow *flow, const struct books *books, time_ns now)
{
	flow_count(flow, books->packets, books->bytes / 4);
	if (qp_is_reliable(qp))
		flow_count_returned(flow, books->returned_packets, books->returned_bytes / 4);
	/* A completion that finds no room in the CQ puts the queue pair into Error and ends its
	 * RMA. */
	if (unlikely(qp->has_failed_to_report))
		qp_settle(qp, now);
}

uint32_t rma_short_run(struct rma *rma, struct qp *qp, struct flow *flow, time_ns now)
{
	const struct channel *channel = rma->channel;
	struct books books = {0};
	struct simple_request request;
	struct peer_target target;
	uint32_t byte_count = 0;
	unsigned request_count = 0;

	if (!is_open() || rma->piece_offset || !rma_bypass_simple(qp, REQUEST_BYTES_MAX, &request))
		return 0;
	hazard_begin(channel);
	if (likely(rma->serial % 2 && rma_serial(rma) == rma->serial)) {
		do {
			if (unlikely(!find_target(rma, &request, &target)) ||
			    unlikely(!move(rma, &request, &target)))
				break;
			rma->message_count++;
			enter(&books, qp, &request, rma_bypass_simple_done(qp, now));
			byte_count += request.byte_count;
		} while (qp->requester.cursor != qp->requester.queue.tail &&
			 ++request_count < REQUESTS_MAX && byte_count < BYTES_MAX &&
			 likely(!qp->has_failed_to_report) &&
			 rma_bypass_simple(qp, REQUEST_BYTES_MAX, &request));
		if (likely(byte_count))
			rma_show(qp, rma);
	}
	hazard_end(channel);
	if (unlikely(!byte_count))
		return 0;
	settle(qp, flow, &books, now);
	return byte_count;
}

/* Updates the queue pair after the request was carried out. */
static inline void posted(struct rma *rma, struct qp *qp, struct flow *flow,
			  const struct simple_request *request, time_ns now)
{
	struct books books = {0};

	rma->message_count++;
	enter(&books, qp, request, rma_bypass_posted(qp, now, request));
	rma_show(qp, rma);
	hazard_end(rma->channel);
	settle(qp, flow, &books, now);
}

bool rma_short_post(struct rma *rma, struct qp *qp, struct flow *flow,
		    const struct send_request *request, time_ns now)
{
	struct simple_request simple;
	struct peer_target target;

	if (unlikely(!is_open() || rma->piece_offset ||
		     !rma_bypass_may_post(qp, request, REQUEST_BYTES_MAX, &simple)))
		return false;
	hazard_begin(rma->channel);
	if (likely(rma->serial % 2 && rma_serial(rma) == rma->serial &&
		   find_target(rma, &simple, &target) && move(rma, &simple, &target))) {
		posted(rma, qp, flow, &simple, now);
		return true;
	}
	hazard_end(rma->channel);
	return false;
}

void rma_short_remember(struct rma_template *template, struct rma *rma, struct qp *qp,
			struct flow *flow, const struct send_request *request,
			const uint32_t *generation_at)
{
	const struct rma_range *window = &rma->write_range;
	const struct channel *channel = rma->channel;
	const struct sge *sge = request->sges;

	if (request->opcode != SEND_RDMA_WRITE || !window->entry || !window->shared ||
	    window->to - window->from < sge->byte_count)
		return;
	*template = (struct rma_template){
		.qp = qp,
		.last = qp,
		.rma = rma,
		.flow = flow,
		.channel = channel,
		.local = template_local(qp, request),
		.remote_key = window->key,
		.remote = {window->from, window->to - window->from - sge->byte_count,
			   window->shared},
		.generation = flow->generation,
		.serial = rma->serial,
		.sequence = window->sequence,
		.generation_at = generation_at,
		.serial_at = &channel->rma_out->grants[rma->index].serial,
		.sequence_at = &window->entry->sequence,
		.is_off_at = &channel->peer->peer_memory.header->shared_is_off,
		.is_closed_at = &channel->out.shared->closed,
	};
}

void rma_short_book(struct rma_template *template, uint64_t wr_id, uint32_t flags, time_ns now)
{
	const struct simple_request request = {
		.byte_count = template->local.byte_count,
		.flags = flags,
		.wr_id = wr_id,
	};
	struct qp *qp = template->qp;

	posted(template->rma, qp, template->flow, &request, now);
	if (unlikely(qp->state != QP_RTS))
		template->qp = NULL;
}
