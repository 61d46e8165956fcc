/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A run of arrivals, in line: messages for one queue pair that differ in nothing but PSN and
 * payload, one behind the other, with nothing else in between (express.h).
 *
 * What they have in common is asked once, and what they change together is written once, when the
 * run ends: in between nobody may look at the queue pair, its completions or its requests.
 */
#ifndef SOFTIB_NET_TRANSPORT_FAST_RX_BURST_H
#define SOFTIB_NET_TRANSPORT_FAST_RX_BURST_H

#include "net/transport/fast/rx_short.h"

/* Where messages may begin in the region with this key. */
struct rx_burst_place {
	uint32_t key;
	uint64_t from, span;
	uint8_t *bytes; /* NULL: none is known */
};

struct rx_burst {
	struct qp *qp;
	const struct completion *expected;
	time_ns now;
	uint32_t room; /* before the payload */
	uint32_t payload_bytes;
	uint32_t count, count_max;
	bool is_shared;
	/* Copies of the receive queue's and the completion ring's: nothing that is written to the
	 * program's memory can change them, which a compiler would not know of the originals. */
	const uint8_t *slots;
	uint32_t slot_bytes, slot_mask, head;
	struct completion *completions;
	uint32_t completion_mask, tail;
	struct rx_burst_place place;
};

/* How many may come before somebody is to be told. */
static inline uint32_t rx_burst_room(const struct qp *qp)
{
	const struct completion_ring *ring = qp->completions[SIDE_RECEIVE];
	const uint32_t requests = receive_queue_count(qp->receive_queue);

	if (unlikely(!completion_ring_takes(ring)))
		return 0;

	const uint32_t completions = ring->capacity - (ring->tail - ring->head);

	return requests < completions ? requests : completions;
}

/* Whether messages like the last one may come: its headers were remembered, and are still right. */
static inline bool rx_burst_is_open(const struct qp *qp, const struct rx_header_cache *cache,
				    uint32_t byte_count)
{
	return cache->qp == qp && qp->header_cache.changes == qp->environment->port_changes + 1 &&
	       ((cache->payload_bytes + 3) & ~3u) == byte_count &&
	       arrival_is_next(qp, qp->type, qp->responder.expected_psn.value);
}

/* The queue pair that is remembered there, if it received a packet with these headers last but for
 * the PSN, and this PSN is the next; NULL otherwise. */
static inline struct qp *rx_burst_receiver(const struct rx_header_cache *cache, uint8_t port_number,
					   const uint8_t *headers, uint32_t byte_count,
					   struct psn psn)
{
	struct qp *qp = cache->qp;

	if (unlikely(!qp || !arrival_is_predicted(qp, cache, port_number, headers, byte_count)) ||
	    (qp->type != QP_UD && unlikely(!psn_equal(psn, qp->responder.expected_psn))))
		return NULL;
	return qp;
}

/* Of messages like the one that it received just before by express.h, up to so many. byte_count:
 * with pad bytes. count_max is 0 if there may be none. */
static inline struct rx_burst rx_burst_begin(struct qp *qp, time_ns now, uint32_t byte_count,
					     uint32_t count_max)
{
	const struct rx_header_cache *cache = rx_header_cache(qp);
	struct rx_burst burst = {.qp = qp};

	if (unlikely(!rx_burst_is_open(qp, cache, byte_count)))
		return burst;

	const struct receive_queue *queue = qp->receive_queue;
	const struct completion_ring *ring = qp->completions[SIDE_RECEIVE];
	const uint32_t room = rx_burst_room(qp);

	if (unlikely(!room))
		return burst;
	burst.count_max = count_max < room ? count_max : room;
	burst.expected = &cache->completion;
	burst.now = now;
	burst.room = qp->type == QP_UD ? GRH_BYTES : 0;
	burst.payload_bytes = cache->payload_bytes;
	burst.is_shared = qp_is_shared(qp);
	burst.slots = queue->slots;
	burst.slot_bytes = queue->slot_bytes;
	burst.slot_mask = queue->slot_count - 1;
	burst.head = queue->head;
	burst.completions = ring->slots;
	burst.completion_mask = ring->slot_count - 1;
	burst.tail = ring->tail;
	return burst;
}

/* For messages of so many bytes; none if something about the region is unusual. By value: the run
 * itself is nobody's to point to, or a compiler would think that the program's memory may be it. */
struct rx_burst_place rx_burst_find_place(const struct qp *qp, uint32_t key, uint32_t byte_count);

/* The next message. false: nothing was done, and it is none of the run. */
MUST_USE static IN_LINE bool rx_burst_take(struct rx_burst *burst, const uint8_t *payload)
{
	const struct receive_slot *slot =
		(const struct receive_slot *)(burst->slots +
					      (size_t)(burst->head & burst->slot_mask) *
						      burst->slot_bytes);
	const struct sge *sge = &slot->sges[0];
	const uint32_t byte_count = burst->room + burst->payload_bytes;

	if (unlikely(slot->sge_count != 1 || sge->byte_count < byte_count || !byte_count))
		return false;
	if (unlikely(sge->lkey != burst->place.key || !burst->place.bytes))
		burst->place = rx_burst_find_place(burst->qp, sge->lkey, byte_count);

	const uint64_t offset = sge->address - burst->place.from;

	if (unlikely(!burst->place.bytes || offset > burst->place.span))
		return false;
	fast_copy(burst->place.bytes + offset + burst->room, payload, burst->payload_bytes);
	completion_write_from(&burst->completions[burst->tail & burst->completion_mask],
			      burst->expected, slot->wr_id, burst->now);
	burst->head++;
	burst->tail++;
	burst->count++;
	if (unlikely(burst->is_shared)) {
		burst->qp->receive_queue->head = burst->head;
		burst->qp->environment->shared_receive_taken(burst->qp);
	}
	return true;
}

static inline void rx_burst_end(const struct rx_burst *burst)
{
	struct qp *qp = burst->qp;
	struct responder *responder = &qp->responder;

	if (unlikely(!burst->count))
		return;
	qp->receive_queue->head = burst->head;
	qp->completions[SIDE_RECEIVE]->tail = burst->tail;
	if (qp->type == QP_UD)
		return;
	/* As if all but the last one had come already. */
	responder->expected_psn = psn_add(responder->expected_psn, burst->count - 1);
	responder->msn = (responder->msn + (qp->type == QP_RC ? burst->count - 1 : 0)) & 0xffffff;
	arrival_take_connected(qp, qp->type, 1u << 31 | responder->expected_psn.value,
			       burst->payload_bytes);
}

#endif
