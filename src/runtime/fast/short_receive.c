/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Takes records and ACKs from a direct ring. Three ways, fastest first:
 *
 * take_expected: a single packet whose size and headers match the last one of this channel.
 *
 * take_burst: payload records, whose headers were checked with their template.
 *
 * take_records: any record; the header cache of the queue pair (fast_receive_predicted) or the
 * lookup by QPN (short_receive_record) decides, and what neither takes goes to the engine
 * (take_unusual).
 *
 * The channel remembers only a pointer to the receiver's header cache and the record's size. The
 * receive functions of net/transport/fast compare the cached headers with the packet each time, and
 * qp_invalidate, a port change and the destruction of the queue pair make the cache stale. So
 * nothing here has to be cleared.
 */
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
	ZCOPY_BYTES_PER_RECORD = 1 << 14, /* bytes whose copy takes as long as a record or two */
};

static inline struct qp *receive_packet(const struct process_runtime *runtime, time_ns now,
					const struct ring_record *record)
{
	uint8_t headers[FAST_HEADER_BYTES_MAX];
	struct adapter *adapter = runtime_adapter(runtime, record->port >> 8);

	if (unlikely(record->packet_count != 1 || record->byte_count < FAST_HEADER_BYTES ||
		     !adapter))
		return NULL;
	/* The checks use a copy, which the peer can't change. Every record takes at least so many
	 * bytes of the ring. */
	memcpy(headers, record->body, sizeof(headers));
	__asm__ volatile("" : : "r"(headers) : "memory");
	return hca_receive_fast(&adapter->hca, now, (uint8_t)record->port, headers, record->body,
				record->byte_count);
}

struct qp *short_receive_record(struct process_runtime *runtime, struct channel *channel,
				time_ns now, const struct ring_record *record)
{
	if (likely(record->kind == RECORD_PACKET))
		return receive_packet(runtime, now, record);
	return record->kind == RECORD_ZCOPY ? zcopy_receive(runtime, channel, now, record)
					    : ud_zcopy_receive(runtime, channel, now, record);
}

/* The queue pair has received all that there was for it, for now: sends the ACK that it owes. */
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

/* acknowledge_one for a queue pair that received by fast_receive_expected. */
static inline void acknowledge_expected(const struct process_runtime *runtime, struct qp *qp)
{
	struct channel *channel = ack_word_answer(runtime, qp);

	if (unlikely(!channel))
		acknowledge_one(qp);
	else if (unlikely(ring_announce(&channel->out)))
		doorbell_ring(channel->doorbell);
}

/* Passes a record that the fast path does not take to the engine. false: the record stays in the
 * ring. */
static bool take_unusual(struct process_runtime *runtime, struct channel *channel,
			 const struct ring_record *record)
{
	time_ns now = runtime_now();

	runtime_forget_templates(runtime);
	if (unlikely(receive_is_held_back(runtime, channel, now, record)))
		return false;
	receive_direct_record(runtime, channel, now, record);
	return true;
}

/* Guesses the receiver: the queue pair that took the previous record, if both came by one port;
 * else the queue pair in the header cache. NULL: look it up. */
static inline struct qp *guess_receiver(const struct process_runtime *runtime,
					const struct ring_record *record, struct qp *before,
					uint16_t port)
{
	if (unlikely(record->kind != RECORD_PACKET || record->packet_count != 1))
		return NULL;
	if (before && record->port == port)
		return before;

	const struct adapter *adapter = runtime_adapter(runtime, record->port >> 8);

	return likely(adapter) ? fast_guess(&adapter->hca.header_caches, record->body) : NULL;
}

/* Takes up to count_max payload records of a burst whose previous message this queue pair took.
 * Returns how many it took. */
__attribute__((noinline)) static unsigned take_burst(struct channel *channel, struct qp *qp,
						     time_ns now, unsigned count_max)
{
	const uint32_t payload_bytes = channel->burst_in.payload_bytes;
	struct ring_payloads repeats = ring_payloads_begin(&channel->in, payload_bytes);
	struct rx_burst burst = rx_burst_begin(qp, now, payload_bytes, count_max);
	const uint8_t *payload;

	while (burst.count < burst.count_max && (payload = ring_payloads_peek(&repeats)) &&
	       likely(rx_burst_take(&burst, payload)))
		ring_payloads_take(&repeats);
	rx_burst_end(&burst);
	ring_payloads_end(&repeats, &channel->in);
	receive_release_some(channel);
	channel->burst_in.repeats += burst.count;
	return burst.count;
}

/* The queue pair that took the template, if the next record in the ring continues its burst. */
static inline struct qp *burst_receiver(const struct channel *channel)
{
	const struct burst_in *burst = &channel->burst_in;

	if (!burst->seen || !ring_has_payload(&channel->in, burst->payload_bytes))
		return NULL;
	return rx_burst_receiver(burst->seen, (uint8_t)burst->template.port, burst->bytes,
				 burst->template.byte_count, burst_next_psn(burst));
}

/* A program that is busy with the records it finds polls less often, but does not need the progress
 * thread. So records count as polls. */
static inline void count_taken(struct process_runtime *runtime, unsigned records)
{
	runtime_count_polls(runtime, records < RECORDS_COUNTED ? records : RECORDS_COUNTED);
}

/* The next record is expected to match the last one that was taken. */
static inline void expect_next(struct channel *channel, const struct qp *qp)
{
	const struct ring_record *record = &channel->in.current;

	if (qp->type == QP_RC && record->kind == RECORD_PACKET)
		channel->rx_expected = (struct rx_expected){
			.sizes = ring_record_sizes(record),
			.seen = rx_header_cache(qp),
		};
}

/* Takes the records in the ring. owing: the queue pair that has received from this ring already and
 * owes an ACK, or NULL. Returns whether there was anything, then or now. Not inlined: see
 * short_receive_take. */
__attribute__((noinline)) static bool take_records(struct process_runtime *runtime,
						   struct channel *channel, time_ns now,
						   struct qp *owing)
{
	uint64_t first = channel->in.head;
	bool any = owing != NULL;
	const struct ring_record *record;
	struct qp *before = owing ? NULL : burst_receiver(channel);
	uint16_t port = channel->burst_in.template.port;
	unsigned i = 0;

	if (before) {
		i = take_burst(channel, before, now, RECORDS_PER_ROUND);
		owing = i ? before : NULL;
	}
	for (; i < RECORDS_PER_ROUND; i++) {
		record = ring_next_stamped(&channel->in);
		if (!record)
			break;
		if (unlikely(record->kind != RECORD_PACKET))
			record = burst_look(&channel->burst_in, record);

		struct qp *qp = guess_receiver(runtime, record, before, port);

		if (unlikely(!qp || !fast_receive_predicted(qp, now, (uint8_t)record->port,
							    record->body, record->byte_count)))
			qp = short_receive_record(runtime, channel, now, record);

		if (unlikely(!qp) && !take_unusual(runtime, channel, record))
			break;
		if (owing && owing != qp)
			acknowledge_one(owing);
		owing = before = qp;
		port = record->port;
		receive_release_some(channel);
		if (record == &channel->burst_in.template && qp) {
			channel->burst_in.seen = rx_header_cache(qp);
			i += take_burst(channel, qp, now, RECORDS_PER_ROUND - 1 - i);
		}
		if (unlikely(runtime->zcopy_bytes >= ZCOPY_ROUND_BYTES))
			break;
	}
	count_taken(runtime, i + (unsigned)(runtime->zcopy_bytes / ZCOPY_BYTES_PER_RECORD));
	runtime->zcopy_bytes = 0;
	if (before)
		expect_next(channel, before);
	if (owing)
		acknowledge_one(owing);
	if (unlikely(channel_holds_back(channel)))
		rnr_hold_came_to(&channel->rnr_hold, channel->in.head, runtime_now());
	return any || channel->in.head != first;
}

/* Takes a message that matches the previous one. Returns its receiver; NULL: no message, or no
 * match. */
static inline struct qp *take_expected(struct channel *channel, time_ns now)
{
	const struct rx_header_cache *seen = channel->rx_expected.seen;
	const uint64_t sizes = channel->rx_expected.sizes;

	if (unlikely(!seen))
		return NULL;

	const uint8_t *body = ring_peek_expected(&channel->in, sizes);

	if (unlikely(!body))
		return NULL;

	struct qp *qp =
		fast_receive_expected(seen, now, (uint8_t)(sizes >> 48), body, (uint32_t)sizes);

	if (unlikely(!qp))
		return NULL;
	ring_take_expected(&channel->in, sizes);
	receive_release_some(channel);
	return qp;
}

/* The most frequent case: one message, which matches the previous one. Returns whether there was
 * anything to take. */
static inline bool take_message(struct process_runtime *runtime, struct channel *channel,
				time_ns now)
{
	struct qp *qp = take_expected(channel, now);

	if (unlikely(!qp))
		return take_records(runtime, channel, now, NULL);
	count_taken(runtime, 1);
	if (unlikely(ring_has_stamped(&channel->in) || channel_holds_back(channel)))
		return take_records(runtime, channel, now, qp);
	acknowledge_expected(runtime, qp);
	return true;
}

/* Not inlined: the caller's idle round would save registers that it does not use. */
__attribute__((noinline)) bool short_receive_take(struct process_runtime *runtime,
						  struct channel *channel, time_ns now)
{
	bool any = false;

	/* Fetches the line for the ACK early; the program's answer would wait behind that store. */
	word_ring_want(&channel->words_out);
	if (pingpong_is_held(&channel->pingpong))
		ring_want(&channel->out);
	pingpong_message_came(&channel->pingpong);
	/* Records come before ACK words, since a program waits for a message. ACK words may wait
	 * for the next round, but not forever. */
	if (unlikely(++channel->rounds_with_records % WORDS_PER_RECORDS == 0) &&
	    !word_ring_is_empty(&channel->words_in))
		any = ack_words_take(runtime, channel, now);
	return take_message(runtime, channel, now) || any;
}
