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
struct express_place {
	uint32_t key;
	uint64_t from, span;
	uint8_t *bytes; /* NULL: none is known */
};

struct express_run {
	struct qp *qp;
	const struct completion *like;
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
	struct express_place place;
};

/* How many may come before somebody is to be told. */
static inline uint32_t express_run_room(const struct qp *qp)
{
	const struct completion_ring *ring = qp->completions[SIDE_RECEIVE];
	const uint32_t requests = receive_queue_count(qp->receive_queue);

	if (unlikely(!completion_ring_takes(ring)))
		return 0;

	const uint32_t completions = ring->capacity - (ring->tail - ring->head);

	return requests < completions ? requests : completions;
}

/* Whether messages like the last one may come: its headers were remembered, and are still right. */
static inline bool express_run_is_open(const struct qp *qp, const struct express_seen *seen,
				       uint32_t byte_count)
{
	return seen->qp == qp && qp->express.changes == qp->environment->port_changes + 1 &&
	       ((seen->payload_bytes + 3) & ~3u) == byte_count &&
	       arrival_is_next(qp, qp->type, qp->responder.expected_psn.value);
}

/* The queue pair that is remembered there, if it received a packet with these headers last but for
 * the PSN, and this PSN is the next; NULL otherwise. */
static inline struct qp *express_run_receiver(const struct express_seen *seen, uint8_t port_number,
					      const uint8_t *headers, uint32_t byte_count,
					      struct psn psn)
{
	struct qp *qp = seen->qp;

	if (unlikely(!qp || !arrival_is_foreseen(qp, seen, port_number, headers, byte_count)) ||
	    (qp->type != QP_UD && unlikely(!psn_equal(psn, qp->responder.expected_psn))))
		return NULL;
	return qp;
}

/* Of messages like the one that it received just before by express.h, up to so many. byte_count:
 * with pad bytes. count_max is 0 if there may be none. */
static inline struct express_run express_run_begin(struct qp *qp, time_ns now, uint32_t byte_count,
						   uint32_t count_max)
{
	const struct express_seen *seen = express_seen(qp);
	struct express_run run = {.qp = qp};

	if (unlikely(!express_run_is_open(qp, seen, byte_count)))
		return run;

	const struct receive_queue *queue = qp->receive_queue;
	const struct completion_ring *ring = qp->completions[SIDE_RECEIVE];
	const uint32_t room = express_run_room(qp);

	if (unlikely(!room))
		return run;
	run.count_max = count_max < room ? count_max : room;
	run.like = &seen->completion;
	run.now = now;
	run.room = qp->type == QP_UD ? GRH_BYTES : 0;
	run.payload_bytes = seen->payload_bytes;
	run.is_shared = qp_is_shared(qp);
	run.slots = queue->slots;
	run.slot_bytes = queue->slot_bytes;
	run.slot_mask = queue->slot_count - 1;
	run.head = queue->head;
	run.completions = ring->slots;
	run.completion_mask = ring->slot_count - 1;
	run.tail = ring->tail;
	return run;
}

/* For messages of so many bytes; none if something about the region is unusual. By value: the run
 * itself is nobody's to point to, or a compiler would think that the program's memory may be it. */
struct express_place express_run_find_place(const struct qp *qp, uint32_t key, uint32_t byte_count);

/* The next message. false: nothing was done, and it is none of the run. */
MUST_USE static IN_LINE bool express_run_take(struct express_run *run, const uint8_t *payload)
{
	const struct receive_slot *slot =
		(const struct receive_slot *)(run->slots + (size_t)(run->head & run->slot_mask) *
								   run->slot_bytes);
	const struct sge *sge = &slot->sges[0];
	const uint32_t byte_count = run->room + run->payload_bytes;

	if (unlikely(slot->sge_count != 1 || sge->byte_count < byte_count || !byte_count))
		return false;
	if (unlikely(sge->lkey != run->place.key || !run->place.bytes))
		run->place = express_run_find_place(run->qp, sge->lkey, byte_count);

	const uint64_t offset = sge->address - run->place.from;

	if (unlikely(!run->place.bytes || offset > run->place.span))
		return false;
	express_copy(run->place.bytes + offset + run->room, payload, run->payload_bytes);
	completion_write_like(&run->completions[run->tail & run->completion_mask], run->like,
			      slot->wr_id, run->now);
	run->head++;
	run->tail++;
	run->count++;
	if (unlikely(run->is_shared)) {
		run->qp->receive_queue->head = run->head;
		run->qp->environment->shared_receive_taken(run->qp);
	}
	return true;
}

static inline void express_run_end(const struct express_run *run)
{
	struct qp *qp = run->qp;
	struct responder *responder = &qp->responder;

	if (unlikely(!run->count))
		return;
	qp->receive_queue->head = run->head;
	qp->completions[SIDE_RECEIVE]->tail = run->tail;
	if (qp->type == QP_UD)
		return;
	/* As if all but the last one had come already. */
	responder->expected_psn = psn_add(responder->expected_psn, run->count - 1);
	responder->msn = (responder->msn + (qp->type == QP_RC ? run->count - 1 : 0)) & 0xffffff;
	arrival_take_connected(qp, qp->type, 1u << 31 | responder->expected_psn.value,
			       run->payload_bytes);
}

#endif
