/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Takes records and ACKs from a direct ring. Payload records of a burst are taken many at once
 * (take_burst), any other record by the queue pair that it names (short_receive_record). What
 * neither takes goes to the engine (take_unusual).
 */
#include "runtime/fast/short_receive.h"

#include <string.h>
#include "runtime/fast/ack_word_put.h"
#include "runtime/packets/ack_words.h"
#include "ipc/doorbell.h"
#include "runtime/runtime_state.h"
#include "runtime/fast/short_send.h"
#include "runtime/zcopy/zcopy_send.h"
#include "runtime/packets/receive.h"
#include "runtime/zcopy/ud_zcopy.h"
#include "net/transport/fast/fast_receive.h"
#include "net/transport/fast/rx_burst.h"

enum {
	RECORDS_PER_ROUND = 64,
	WORDS_PER_RECORDS = 4,
	RECORDS_COUNTED = 16,
	ZCOPY_BYTES_PER_RECORD = 1 << 14, /* bytes whose copy takes as long as a record or two */
};

/* Receives one packet. Every record takes at least FAST_HEADER_BYTES_MAX of the ring. */
static inline struct qp *receive_packet(const struct process_runtime *runtime,
					const struct channel *channel, time_ns now, uint16_t port,
					const uint8_t *body, uint32_t byte_count)
{
	struct adapter *adapter = runtime_adapter(runtime, port >> 8);

	if (unlikely(!adapter || byte_count < FAST_HEADER_BYTES))
		return NULL;
	return hca_receive_fast(&adapter->hca, now, (uint8_t)port, &channel->source, body,
				byte_count);
}

struct qp *short_receive_record(struct process_runtime *runtime, struct channel *channel,
				time_ns now, const struct ring_record *record)
{
	if (likely(record->kind == RECORD_PACKET))
		return record->packet_count == 1
			       ? receive_packet(runtime, channel, now, record->port, record->body,
						record->byte_count)
			       : NULL;
	return record->kind == RECORD_ZCOPY ? zcopy_receive(runtime, channel, now, record)
					    : ud_zcopy_receive(runtime, channel, now, record);
}

/* Sends the ACK that a queue pair owes, where its send template does not say how. */
__attribute__((noinline)) static struct channel *acknowledge_slowly(struct qp *qp)
{
	struct hca *hca = container_of(qp, struct qp_object, qp)->hca;
	struct channel *channel = ack_word_send(container_of(hca, struct adapter, hca), qp);

	if (!channel)
		hca_ready_add(hca, qp);
	return channel;
}

/* The queue pair has received all that there was for it, for now: sends the ACK that it owes. */
static inline void acknowledge_one(const struct process_runtime *runtime, struct qp *qp)
{
	struct channel *channel = NULL;

	if (!qp->responder.ack_is_due)
		return;
	if (likely(qp->templates->send.epoch == qp->environment->epoch))
		channel = ack_word_put(runtime, qp);
	if (unlikely(!channel))
		channel = acknowledge_slowly(qp);
	if (likely(channel) && unlikely(ring_announce(&channel->out)))
		doorbell_ring(channel->doorbell);
}

/* Passes a record that the fast path does not take to the engine. false: the record stays in the
 * ring. */
static bool take_unusual(struct process_runtime *runtime, struct channel *channel,
			 const struct ring_record *record)
{
	time_ns now = runtime_now();

	if (unlikely(receive_is_held_back(runtime, channel, now, record)))
		return false;
	receive_direct_record(runtime, channel, now, record);
	return true;
}

/* The queue pair to which a burst goes; NULL: there is none. */
static inline struct qp *burst_receiver(const struct process_runtime *runtime,
					const struct burst_in *burst)
{
	struct adapter *adapter = runtime_adapter(runtime, burst->template.port >> 8);

	return likely(adapter) ? hca_addressed_qp(&adapter->hca, burst->bytes) : NULL;
}

/* Takes up to count_max payload records of the channel's burst. Returns how many it took; ret_qp:
 * who took them. */
__attribute__((noinline)) static unsigned take_burst(const struct process_runtime *runtime,
						     struct channel *channel, time_ns now,
						     unsigned count_max, struct qp **ret_qp)
{
	struct burst_in *burst_in = &channel->burst_in;

	if (!burst_in->payload_bytes || !ring_has_payload(&channel->in, burst_in->payload_bytes))
		return 0;

	struct qp *qp = burst_receiver(runtime, burst_in);

	if (unlikely(!qp))
		return 0;

	struct ring_payloads payloads = ring_payloads_begin(&channel->in, burst_in->payload_bytes);
	const uint8_t *payload;

	burst_write_psn(burst_in, burst_next_psn(burst_in));

	struct rx_burst burst =
		rx_burst_begin(qp, now, (uint8_t)burst_in->template.port, &channel->source,
			       burst_in->bytes, burst_in->template.byte_count, count_max);

	while (burst.count < burst.count_max && (payload = ring_payloads_peek(&payloads)) &&
	       likely(rx_burst_take(&burst, payload)))
		ring_payloads_take(&payloads);
	rx_burst_end(&burst);
	ring_payloads_end(&payloads, &channel->in);
	burst_in->payloads += burst.count;
	*ret_qp = qp;
	return burst.count;
}

/* A program that is busy with the records it finds polls less often, but does not need the progress
 * thread. So records count as polls. */
static inline void count_taken(struct process_runtime *runtime, unsigned records)
{
	runtime_count_polls(runtime, records < RECORDS_COUNTED ? records : RECORDS_COUNTED);
}

/* The next packet of the channel is likely to be for the same queue pair. */
static inline void expect_next(struct channel *channel, struct qp *qp)
{
	channel->receiver = qp;
	channel->receiver_epoch_at = &qp->environment->epoch;
	channel->receiver_epoch = qp->environment->epoch;
}

static inline struct qp *expected_receiver(const struct channel *channel)
{
	return likely(channel->receiver && *channel->receiver_epoch_at == channel->receiver_epoch)
		       ? channel->receiver
		       : NULL;
}

/* Looks up the receiver of a packet. Returns it if it took the packet. */
__attribute__((noinline)) static struct qp *receive_by_qpn(const struct process_runtime *runtime,
							   struct channel *channel, time_ns now,
							   uint64_t sizes, const uint8_t *body)
{
	struct qp *qp = receive_packet(runtime, channel, now, (uint16_t)(sizes >> 48), body,
				       (uint32_t)sizes);

	if (likely(qp) && qp != channel->receiver && qp->type != QP_UD)
		expect_next(channel, qp);
	return qp;
}

/* Takes the next record, if it is a packet that the fast path takes. Returns its receiver; NULL:
 * nothing was done. */
static inline struct qp *take_packet(const struct process_runtime *runtime, struct channel *channel,
				     time_ns now)
{
	uint64_t sizes;
	const uint8_t *body = ring_peek_single(&channel->in, RECORD_PACKET, &sizes);

	if (unlikely(!body))
		return NULL;

	struct qp *qp = expected_receiver(channel);

	if (unlikely(!qp || !fast_receive_by_template(qp, now, (uint8_t)(sizes >> 48), body,
						      (uint32_t)sizes)))
		qp = receive_by_qpn(runtime, channel, now, sizes, body);
	if (likely(qp))
		ring_take_single(&channel->in, sizes);
	return qp;
}

/* Takes the next record of any other kind. Returns whether there was one that could be taken;
 * ret_qp: who took it, NULL if the engine did. */
__attribute__((noinline)) static bool take_record(struct process_runtime *runtime,
						  struct channel *channel, time_ns now,
						  struct qp **ret_qp)
{
	const struct ring_record *record = ring_next_stamped(&channel->in);

	if (!record)
		return false;
	record = burst_look(&channel->burst_in, record);
	*ret_qp = short_receive_record(runtime, channel, now, record);
	return likely(*ret_qp) || take_unusual(runtime, channel, record);
}

/* Takes the records in the ring. Returns whether there was anything. */
static bool take_records(struct process_runtime *runtime, struct channel *channel, time_ns now)
{
	const uint64_t first = channel->in.head;
	struct qp *owing = NULL; /* has received, and may owe an ACK */
	unsigned count = 0;

	runtime->rounds.zcopy_bytes = 0; /* other rounds count there, too */
	do {
		struct qp *qp = take_packet(runtime, channel, now);
		unsigned taken = 1;

		if (unlikely(!qp)) {
			taken = take_burst(runtime, channel, now, RECORDS_PER_ROUND - count, &qp);
			if (!taken && !take_record(runtime, channel, now, &qp))
				break;
			taken += !taken;
		}
		if (owing && owing != qp)
			acknowledge_one(runtime, owing);
		owing = qp;
		count += taken;
		receive_release_some(channel);
	} while (ring_has_stamped(&channel->in) && count < RECORDS_PER_ROUND &&
		 runtime->rounds.zcopy_bytes < ZCOPY_ROUND_BYTES);
	if (unlikely(runtime->rounds.zcopy_bytes)) {
		count += (unsigned)(runtime->rounds.zcopy_bytes / ZCOPY_BYTES_PER_RECORD);
		runtime->rounds.zcopy_bytes = 0;
	}
	count_taken(runtime, count);
	if (owing)
		acknowledge_one(runtime, owing);
	if (unlikely(channel_holds_back(channel)))
		rnr_hold_came_to(&channel->rnr_hold, channel->in.head, runtime_now());
	return channel->in.head != first;
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
	return take_records(runtime, channel, now) || any;
}
