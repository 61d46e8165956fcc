/* SPDX-License-Identifier: Apache-2.0 */
/* The express lane, what is taken from a ring: see express_lane.h. */
#include "runtime/fast/short_receive.h"

#include <string.h>
#include "runtime/packets/ack_words.h"
#include "ipc/doorbell.h"
#include "runtime/fast/flow_cache.h"
#include "runtime/fast/short_send.h"
#include "runtime/zcopy/zcopy_send.h"
#include "runtime/packets/receive.h"
#include "runtime/zcopy/ud_zcopy.h"
#include "net/transport/fast/rx_burst.h"

enum {
	RECORDS_PER_ROUND = 64,
	WORDS_PER_RECORDS = 4,
	RECORDS_COUNTED = 16,
	PULLED_PER_RECORD = 1 << 14, /* bytes that take as long as a record or two */
};

static inline struct qp *receive_packet(const struct attachment *attachment, time_ns now,
					const struct ring_record *record)
{
	uint8_t headers[EXPRESS_HEADER_BYTES_MAX];
	struct adapter *adapter = attachment_adapter(attachment, record->port >> 8);

	if (unlikely(record->packet_count != 1 || record->byte_count < EXPRESS_HEADER_BYTES ||
		     !adapter))
		return NULL;
	/* Decided by a copy, which the peer can't change; a record takes that many bytes of a ring,
	 * and more. */
	memcpy(headers, record->body, sizeof(headers));
	__asm__ volatile("" : : "r"(headers) : "memory");
	return hca_receive_express(&adapter->hca, now, (uint8_t)record->port, headers, record->body,
				   record->byte_count);
}

struct qp *express_lane_receive(struct attachment *attachment, struct channel *channel, time_ns now,
				const struct ring_record *record)
{
	if (likely(record->kind == RECORD_PACKET))
		return receive_packet(attachment, now, record);
	return record->kind == RECORD_PULLED
		       ? pull_lane_receive(attachment, channel, now, record)
		       : datagram_loan_receive(attachment, channel, now, record);
}

/* A queue pair has received what there was for it, for now. */
static inline void acknowledge_one(struct qp *qp)
{
	struct hca *hca = container_of(qp, struct qp_object, qp)->hca;

	if (!qp->responder.ack_is_due)
		return;

	struct channel *channel = ack_word_send(container_of(hca, struct adapter, hca), qp);

	if (unlikely(!channel))
		hca_ready_add(hca, qp);
	else if (unlikely(ring_announce(&channel->out)))
		doorbell_ring(channel->doorbell);
}

/* The same of one that received by express_receive_like. */
static inline void acknowledge_like(const struct attachment *attachment, struct qp *qp)
{
	struct channel *channel = ack_word_answer(attachment, qp);

	if (unlikely(!channel))
		acknowledge_one(qp);
	else if (unlikely(ring_announce(&channel->out)))
		doorbell_ring(channel->doorbell);
}

/* What the lane does not take. Returns false if it stays in the ring. */
static bool take_unusual(struct attachment *attachment, struct channel *channel,
			 const struct ring_record *record)
{
	time_ns now = attachment_now();

	attachment_forget_requests(attachment);
	if (unlikely(receive_is_held_back(attachment, channel, now, record)))
		return false;
	receive_direct_record(attachment, channel, now, record);
	return true;
}

/* The queue pair that it may be for: the one that took the record before, if there was one, which
 * came by that port; or the one that takes what is like it. NULL: look it up. */
static inline struct qp *guess_receiver(const struct attachment *attachment,
					const struct ring_record *record, struct qp *before,
					uint16_t port)
{
	if (unlikely(record->kind != RECORD_PACKET || record->packet_count != 1))
		return NULL;
	if (before && record->port == port)
		return before;

	const struct adapter *adapter = attachment_adapter(attachment, record->port >> 8);

	return likely(adapter) ? express_guess(&adapter->hca.express, record->body) : NULL;
}

/* Takes up to so many messages that go on with a run, of which this queue pair took what came
 * before. Returns how many there were. */
__attribute__((noinline)) static unsigned take_run(struct channel *channel, struct qp *qp,
						   time_ns now, unsigned count_max)
{
	const uint32_t payload_bytes = channel->run_in.payload_bytes;
	struct ring_repeats repeats = ring_repeats_begin(&channel->in, payload_bytes);
	struct express_run run = express_run_begin(qp, now, payload_bytes, count_max);
	const uint8_t *payload;

	while (run.count < run.count_max && (payload = ring_repeats_peek(&repeats)) &&
	       likely(express_run_take(&run, payload)))
		ring_repeats_take(&repeats);
	express_run_end(&run);
	ring_repeats_end(&repeats, &channel->in);
	receive_release_some(channel);
	channel->run_in.repeats += run.count;
	return run.count;
}

/* The queue pair that took the model, if what lies next in the ring goes on with its run. */
static inline struct qp *run_receiver(const struct channel *channel)
{
	const struct run_in *run = &channel->run_in;

	if (!run->seen || !ring_has_repeat(&channel->in, run->payload_bytes))
		return NULL;
	return express_run_receiver(run->seen, (uint8_t)run->model.port, run->bytes,
				    run->model.byte_count, run_next_psn(run));
}

/* A program that is busy with what it finds polls less often, but needs no help. */
static inline void count_taken(struct attachment *attachment, unsigned records)
{
	attachment_count_polls(attachment, records < RECORDS_COUNTED ? records : RECORDS_COUNTED);
}

/* What is like the last of these is expected next. */
static inline void expect_like(struct channel *channel, const struct qp *qp)
{
	const struct ring_record *record = &channel->in.current;

	if (qp->type == QP_RC && record->kind == RECORD_PACKET)
		channel->like_in = (struct like_in){
			.sizes = ring_record_sizes(record),
			.seen = express_seen(qp),
		};
}

/* Takes what lies in the ring. owing: who has received something from it already, or NULL. Returns
 * whether there was anything, then or now. Not in
 * line: see express_records_take. */
__attribute__((noinline)) static bool
take_records(struct attachment *attachment, struct channel *channel, time_ns now, struct qp *owing)
{
	uint64_t first = channel->in.head;
	bool any = owing != NULL;
	const struct ring_record *record;
	struct qp *before = owing ? NULL : run_receiver(channel);
	uint16_t port = channel->run_in.model.port;
	unsigned i = 0;

	if (before) {
		i = take_run(channel, before, now, RECORDS_PER_ROUND);
		owing = i ? before : NULL;
	}
	for (; i < RECORDS_PER_ROUND; i++) {
		record = ring_next_stamped(&channel->in);
		if (!record)
			break;
		if (unlikely(record->kind != RECORD_PACKET))
			record = run_look(&channel->run_in, record);

		struct qp *qp = guess_receiver(attachment, record, before, port);

		if (unlikely(!qp || !express_receive_foreseen(qp, now, (uint8_t)record->port,
							      record->body, record->byte_count)))
			qp = express_lane_receive(attachment, channel, now, record);

		if (unlikely(!qp) && !take_unusual(attachment, channel, record))
			break;
		if (owing && owing != qp)
			acknowledge_one(owing);
		owing = before = qp;
		port = record->port;
		receive_release_some(channel);
		if (record == &channel->run_in.model && qp) {
			channel->run_in.seen = express_seen(qp);
			i += take_run(channel, qp, now, RECORDS_PER_ROUND - 1 - i);
		}
		if (unlikely(attachment->pulled_bytes >= PULL_LANE_ROUND_BYTES))
			break;
	}
	count_taken(attachment, i + (unsigned)(attachment->pulled_bytes / PULLED_PER_RECORD));
	attachment->pulled_bytes = 0;
	if (before)
		expect_like(channel, before);
	if (owing)
		acknowledge_one(owing);
	if (unlikely(channel_holds_back(channel)))
		patience_came_to(&channel->patience, channel->in.head, attachment_now());
	return any || channel->in.head != first;
}

/* Takes a message that is like the one before. Returns whose it was; NULL: it is not, or not there.
 */
static inline struct qp *take_like(struct channel *channel, time_ns now)
{
	const struct express_seen *seen = channel->like_in.seen;
	const uint64_t sizes = channel->like_in.sizes;

	if (unlikely(!seen))
		return NULL;

	const uint8_t *body = ring_peek_like(&channel->in, sizes);

	if (unlikely(!body))
		return NULL;

	struct qp *qp =
		express_receive_like(seen, now, (uint8_t)(sizes >> 48), body, (uint32_t)sizes);

	if (unlikely(!qp))
		return NULL;
	ring_take_like(&channel->in, sizes);
	receive_release_some(channel);
	return qp;
}

/* The commonest case: it is one, like the one before. Returns whether there was anything to take.
 */
static inline bool take_message(struct attachment *attachment, struct channel *channel, time_ns now)
{
	struct qp *qp = take_like(channel, now);

	if (unlikely(!qp))
		return take_records(attachment, channel, now, NULL);
	count_taken(attachment, 1);
	if (unlikely(ring_has_stamped(&channel->in) || channel_holds_back(channel)))
		return take_records(attachment, channel, now, qp);
	acknowledge_like(attachment, qp);
	return true;
}

/* Not in line: a round that finds nothing has no use for its registers. */
__attribute__((noinline)) bool express_records_take(struct attachment *attachment,
						    struct channel *channel, time_ns now)
{
	bool any = false;

	/* For the ACK, which would keep the program's answer waiting behind it. */
	word_ring_want(&channel->words_out);
	if (dialogue_is_held(&channel->dialogue))
		ring_want(&channel->out);
	dialogue_message_came(&channel->dialogue);
	/* A message is what somebody waits for; what it acknowledges can wait for the next round,
	 * but not for ever. */
	if (unlikely(++channel->rounds_with_records % WORDS_PER_RECORDS == 0) &&
	    !word_ring_is_empty(&channel->words_in))
		any = ack_words_take(attachment, channel, now);
	return take_message(attachment, channel, now) || any;
}
