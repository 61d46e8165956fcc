/* SPDX-License-Identifier: Apache-2.0 */
/* The fast path of RMA: short WRITEs and READs. */
#include "runtime/rma/rma_short.h"

#include <string.h>
#include "runtime/rma/shared_mr.h"
#include "base/cache_line.h"
#include "runtime/flows.h"
#include "runtime/packets/wire_bytes.h"
#include "runtime/memory/memory_guard.h"
#include "runtime/rma/rma_state.h"
#include "net/transport/payload_scatter.h"
#include "wire/packet.h"

enum {
	/* Limits of one call, since the peer may have to wait for hazard_end. */
	REQUESTS_MAX = 64,
	BYTES_MAX = 256 << 10,
	REQUEST_BYTES_MAX = 128 << 10,
};

static uint32_t access_of(const struct simple_request *request)
{
	return request->is_read ? ACCESS_REMOTE_READ : ACCESS_REMOTE_WRITE;
}

/* Checks the whole part of the region that is reached in the same way as the request that was just
 * allowed, so that later requests in that part skip the check. */
static void open_range(struct rma *rma, struct rma_range *range,
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
	*range = (struct rma_range){
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
static inline bool range_holds(const struct rma *rma, const struct rma_range *range,
			       const struct simple_request *request)
{
	const struct rkey_export_header *header = rma->channel->peer->peer_memory.header;

	return range->entry && range->key == request->remote_key &&
	       request->remote_address >= range->from && request->remote_address <= range->to &&
	       request->byte_count <= range->to - request->remote_address &&
	       __atomic_load_n(&range->entry->sequence, __ATOMIC_SEQ_CST) == range->sequence &&
	       !__atomic_load_n(range->shared ? &header->shared_is_off : &header->is_moving,
				__ATOMIC_SEQ_CST);
}

/* The place where the request acts; false: the request needs the full path. */
static inline bool find_target(struct rma *rma, const struct simple_request *request,
			       struct peer_target *ret_target)
{
	struct rma_range *range = request->is_read ? &rma->read_range : &rma->write_range;

	if (likely(range_holds(rma, range, request))) {
		const uint64_t offset = request->remote_address - range->from;

		ret_target->shared = range->shared ? range->shared + offset : NULL;
		ret_target->address = range->address + offset;
		return true;
	}

	const struct peer_request asked = {request->remote_key, access_of(request),
					   request->remote_address, request->byte_count};

	range->entry = NULL;
	if (!peer_memory_allows(&rma->channel->peer->peer_memory, &rma->grant, &rma->view, &asked,
				ret_target))
		return false;
	open_range(rma, range, request, ret_target);
	return true;
}

/* The identity of the region behind the key by which the target was just found. */
static uint64_t key_id(const struct rma *rma)
{
	const struct published_key *keys = rma->channel->peer->peer_memory.keys;
	const struct rma_range *range = &rma->write_range;
	const struct published_view *view = &rma->view;

	return range->entry ? published_key_id(keys, range->entry, range->sequence)
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
	struct rma_area *area = rma->channel->rma_out;
	struct books books = {0};
	struct simple_request request;
	struct peer_target target;
	uint32_t byte_count = 0;
	unsigned request_count = 0;
	bool is_cut_off = false;

	if (rma->piece_offset || !rma_bypass_simple(qp, REQUEST_BYTES_MAX, &request))
		return 0;
	hazard_begin(rma->channel);
	if (likely(rma->serial % 2 && rma_serial(area, rma) == rma->serial)) {
		do {
			if (unlikely(!find_target(rma, &request, &target)) ||
			    unlikely(!move(rma, &request, &target)))
				break;
			if (unlikely(!hazard_stands(area)) &&
			    !rma_may_be_lost(qp, request.is_read)) {
				is_cut_off = !request.is_read;
				break;
			}
			rma->message_count++;
			enter(&books, qp, &request, rma_bypass_done(qp, now));
			byte_count += request.byte_count;
		} while (qp->requester.cursor != qp->requester.queue.tail &&
			 ++request_count < REQUESTS_MAX && byte_count < BYTES_MAX &&
			 likely(!qp->has_failed_to_report) &&
			 rma_bypass_simple(qp, REQUEST_BYTES_MAX, &request));
		if (likely(byte_count))
			rma_show(area, qp, rma);
	}
	hazard_end(area);
	if (likely(byte_count))
		settle(qp, flow, &books, now);
	if (unlikely(is_cut_off) && qp->state == QP_RTS)
		rma_fail(qp);
	return byte_count;
}

/* Updates the queue pair after the request was carried out. */
static inline void posted(struct rma *rma, struct qp *qp, struct flow *flow,
			  const struct simple_request *request, time_ns now)
{
	struct books books = {0};

	rma->message_count++;
	enter(&books, qp, request, rma_bypass_posted(qp, now, request));

	struct rma_area *area = rma->channel->rma_out;

	rma_show(area, qp, rma);
	hazard_end(area);
	settle(qp, flow, &books, now);
}

/* The place of a request in shared pages of the last used range; NULL: it is not there. */
static inline uint8_t *shared_place(const struct rma_range *range, uint32_t byte_count,
				    const struct remote_place *remote)
{
	const uint64_t offset = remote->address - range->from;
	const uint64_t range_bytes = range->to - range->from;

	if (unlikely(!range->shared || range->key != remote->key || offset > range_bytes ||
		     byte_count > range_bytes - offset))
		return NULL;
	return range->shared + offset;
}

/* Whether the peer has neither revoked the key of the range nor moved its pages. */
static inline bool shared_place_holds(const struct rma *rma, const struct rma_range *range)
{
	const struct rkey_export_header *header = rma->channel->peer->peer_memory.header;

	return likely(range->entry &&
		      __atomic_load_n(&range->entry->sequence, __ATOMIC_SEQ_CST) ==
			      range->sequence &&
		      !__atomic_load_n(&header->shared_is_off, __ATOMIC_SEQ_CST));
}

/* The peer's memory, or ours, has the bytes already. Not inline: the code before it needs few
 * registers. */
__attribute__((noinline)) static bool book(struct rma *rma, struct qp *qp,
					   const struct rma_request *request, uint32_t byte_count,
					   time_ns now)
{
	const struct simple_request simple = {
		.byte_count = byte_count,
		.is_read = request->is_read,
		.flags = request->flags,
		.wr_id = request->wr_id,
	};

	posted(rma, qp, rma->flow, &simple, now);
	return true;
}

/* The access did not move the bytes (byte_count is 0), or may have been cut off. Not inline, as
 * book.
 */
__attribute__((noinline)) static bool end_otherwise(struct rma *rma, struct qp *qp,
						    const struct rma_request *request,
						    uint32_t byte_count, time_ns now)
{
	if (byte_count &&
	    (hazard_stands(rma->channel->rma_out) || rma_may_be_lost(qp, request->is_read)))
		return book(rma, qp, request, byte_count, now);
	hazard_end(rma->channel->rma_out);
	if (byte_count && !request->is_read)
		rma_fail(qp);
	return false;
}

/* Moves the bytes of a request that does not act in shared pages of the last used range. */
__attribute__((noinline)) static bool move_otherwise(struct rma *rma,
						     const struct rma_request *request,
						     const struct sge *sge, uint8_t *bytes)
{
	const struct simple_request simple = {
		.bytes = bytes,
		.remote_address = request->remote->address,
		.byte_count = sge->byte_count,
		.remote_key = request->remote->key,
		.is_read = request->is_read,
	};
	struct peer_target target;

	return find_target(rma, &simple, &target) && move(rma, &simple, &target);
}

/* In line: a call costs a tenth of a short WRITE. */
IN_LINE bool rma_short_post(struct rma *rma, struct qp *qp, const struct rma_request *request,
			    const struct sge *sge, time_ns now)
{
	const bool is_read = request->is_read;
	const struct rma_range *range = is_read ? &rma->read_range : &rma->write_range;
	uint8_t *place = shared_place(range, sge->byte_count, request->remote);
	bool is_moved = false;

	/* The peer's processor may look at that place all the time, and takes as long to give it
	 * away as the checks take. */
	if (likely(place) && !is_read)
		cache_line_want(place);

	uint8_t *bytes =
		rma_bypass_bytes(qp, is_read, request->flags, sge, REQUEST_BYTES_MAX, &rma->local);

	if (unlikely(!bytes || rma->piece_offset || !rma_bypass_is_next(qp)))
		return false;
	hazard_begin(rma->channel);
	if (likely(rma->serial % 2 && rma_serial(rma->channel->rma_out, rma) == rma->serial)) {
		if (unlikely(!place || !shared_place_holds(rma, range))) {
			is_moved = move_otherwise(rma, request, sge, bytes);
		} else if (is_read) {
			memcpy(bytes, place, sge->byte_count);
			is_moved = true;
		} else {
			bytes_write(bytes, sge->byte_count, place);
			is_moved = !memory_guard_has_gaps();
		}
	}
	if (likely(is_moved) && likely(hazard_stands_clearly(rma->channel->rma_out)))
		return book(rma, qp, request, sge->byte_count, now);
	return end_otherwise(rma, qp, request, is_moved ? sge->byte_count : 0, now);
}
