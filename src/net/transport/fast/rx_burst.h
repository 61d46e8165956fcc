/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A burst of arrivals, in line: consecutive messages for one queue pair that differ only in PSN and
 * payload (fast_path.h).
 *
 * Checks that the messages have in common are made once. State that they change together is written
 * once, when the burst ends: until then nobody may read the queue pair, its completions or its
 * receive queue.
 */
#ifndef SOFTIB_NET_TRANSPORT_FAST_RX_BURST_H
#define SOFTIB_NET_TRANSPORT_FAST_RX_BURST_H

#include "net/transport/fast/rx_short.h"

/* The addresses at which messages may begin in the region with this key. */
struct rx_burst_place {
	uint32_t key;
	uint64_t from, span;
	uint8_t *bytes; /* NULL: no region is known */
};

struct rx_burst {
	struct qp *qp;
	const struct completion *expected;
	time_ns now;
	uint32_t room; /* bytes before the payload: the GRH of a datagram */
	uint32_t payload_bytes;
	uint32_t count, count_max;
	bool is_shared;
	/* Copies of fields of the receive queue and the completion ring. The compiler knows that
	 * stores to the program's memory can't change these copies; it can't know that of the
	 * originals. */
	const uint8_t *slots;
	uint32_t slot_bytes, slot_mask, head;
	struct completion *completions;
	uint32_t completion_mask, tail;
	struct rx_burst_place place;
};

/* How many messages fit before a receive request, room for a completion, or a wait for an event
 * stops the burst. */
static inline uint32_t rx_burst_room(const struct qp *qp)
{
	const struct completion_ring *ring = qp->completions[SIDE_RECEIVE];
	const uint32_t requests = receive_queue_count(qp->receive_queue);

	if (unlikely(!completion_ring_takes(ring)))
		return 0;

	const uint32_t completions = ring->capacity - (ring->tail - ring->head);

	return requests < completions ? requests : completions;
}

/* Whether messages that match the last one may follow: its headers are in the cache, and the entry
 * is still valid. */
static inline bool rx_burst_is_open(const struct qp *qp, const struct rx_header_cache *cache,
				    uint32_t byte_count)
{
	return cache->qp == qp && qp->header_cache.changes == qp->environment->port_changes + 1 &&
	       ((cache->payload_bytes + 3) & ~3u) == byte_count &&
	       arrival_is_next(qp, qp->type, qp->responder.expected_psn.value);
}

/* The queue pair of this cache entry, if its last packet had these headers except for the PSN, and
 * this PSN is the next; NULL otherwise. */
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

/* Begins a burst of up to count_max messages that match the last one. byte_count: with pad bytes.
 * count_max of the result is 0 if none may follow. */
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

/* For messages of byte_count bytes; bytes is NULL if the fast path does not cover the region.
 * Returns by value: if a pointer to the burst existed, the compiler would assume that stores to the
 * program's memory may change the burst. */
struct rx_burst_place rx_burst_find_place(const struct qp *qp, uint32_t key, uint32_t byte_count);

/* Receives the next message. false: nothing was done, and the message does not belong to the burst.
 */
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
	/* As if all messages but the last one had been received one by one. */
	responder->expected_psn = psn_add(responder->expected_psn, burst->count - 1);
	responder->msn = (responder->msn + (qp->type == QP_RC ? burst->count - 1 : 0)) & 0xffffff;
	arrival_take_connected(qp, qp->type, 1u << 31 | responder->expected_psn.value,
			       burst->payload_bytes);
}

#endif
