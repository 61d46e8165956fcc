/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A burst of arrivals, in line: consecutive messages for one queue pair that differ only in PSN and
 * payload (runtime/fast/burst.h).
 *
 * Checks that the messages have in common are made once. State that they change together is written
 * once, when the burst ends: until then nobody may read the queue pair, its completions or its
 * receive queue.
 */
#ifndef SOFTIB_NET_TRANSPORT_FAST_RX_BURST_H
#define SOFTIB_NET_TRANSPORT_FAST_RX_BURST_H

#include "net/transport/fast/arrival.h"

/* The addresses at which messages may begin in the region with this key. */
struct rx_burst_place {
	uint32_t key;
	uint64_t from, span;
	uint8_t *bytes; /* NULL: no region is known */
};

struct rx_burst {
	struct qp *qp;
	struct arrival arrival; /* of the next message */
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
	struct completion completion; /* of every message, but for wr_id and time */
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

/* Begins a burst of up to count_max messages. headers: those of the next message, which came by
 * this port from this source and has byte_count bytes in all; they don't change. count_max of the
 * result is 0 if the queue pair can't take the message now. */
static inline struct rx_burst rx_burst_begin(struct qp *qp, time_ns now, uint8_t port_number,
					     const struct packet_source *source,
					     const uint8_t *headers, uint32_t byte_count,
					     uint32_t count_max)
{
	const bool is_datagram = qp->type == QP_UD;
	struct rx_burst burst = {.qp = qp, .arrival = arrival_read(headers, is_datagram)};
	struct arrival *arrival = &burst.arrival;

	if (unlikely(
		    arrival->bth & BTH_WORD_IMMEDIATE || !arrival_measure(arrival, byte_count) ||
		    !receive_template_admits(qp, port_number, source, arrival->lrh, arrival->bth) ||
		    !arrival_is_next(qp, arrival, is_datagram) ||
		    arrival->payload_bytes > qp->templates->receive.mtu))
		return burst;

	const struct receive_queue *queue = qp->receive_queue;
	const struct completion_ring *ring = qp->completions[SIDE_RECEIVE];
	const uint32_t room = rx_burst_room(qp);

	if (unlikely(!room))
		return burst;
	burst.count_max = count_max < room ? count_max : room;
	burst.now = now;
	burst.room = arrival_room(is_datagram);
	burst.payload_bytes = arrival->payload_bytes;
	burst.is_shared = qp_is_shared(qp);
	burst.slots = queue->slots;
	burst.slot_bytes = queue->slot_bytes;
	burst.slot_mask = queue->slot_count - 1;
	burst.head = queue->head;
	burst.completions = ring->slots;
	burst.completion_mask = ring->slot_count - 1;
	burst.tail = ring->tail;
	completion_write(&burst.completion, arrival_completion(qp, arrival, is_datagram));
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
			      &burst->completion, slot->wr_id, burst->now);
	burst->head++;
	burst->tail++;
	burst->count++;
	if (unlikely(burst->is_shared)) {
		burst->qp->receive_queue->head = burst->head;
		burst->qp->environment->shared_receive_taken(burst->qp);
	}
	return true;
}

static inline void rx_burst_end(struct rx_burst *burst)
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
	if (qp->type == QP_RC)
		responder->msn = (responder->msn + burst->count - 1) & 0xffffff;
	arrival_accept(qp, &burst->arrival, burst->count);
}

#endif
