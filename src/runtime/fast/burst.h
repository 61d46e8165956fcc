/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Bursts: small SENDs of one queue pair, posted in a row, that differ only in PSN and payload.
 *
 * The first message of a burst is a RECORD_TEMPLATE; the receiver keeps a copy of its packet. Each
 * message that follows is a payload record (base/ring_payloads.h): a stamp and the payload. Its
 * packet is the template with the next PSN. Four payload records of 8 bytes fit into one cache
 * line, and neither side checks their headers.
 *
 * A queue pair starts a burst after BURST_POSTS posts in a row. A program that posts one message
 * and waits for the answer never gets there: its message has a cache line to itself, which no other
 * record shares.
 *
 * The receiver counts the PSN of a payload record from the template. So the sender may write one
 * only if its burst's last record is still the last in the ring, no other request has taken a PSN,
 * and the send template (net/transport/fast/templates.h) is the one of the burst's template record.
 * burst_continues checks the first two; making a send template clears the burst.
 *
 * Payload records that are posted in a row need fewer checks: see burst_is_running.
 */
#ifndef SOFTIB_RUNTIME_FAST_BURST_H
#define SOFTIB_RUNTIME_FAST_BURST_H

#include <stdbool.h>
#include <stdint.h>
#include "base/bytes.h"
#include "base/ring_payloads.h"
#include "ipc/protocol.h"
#include "net/transport/qp_state.h"
#include "net/transport/requester.h"
#include "wire/lrh.h"
#include "wire/psn.h"
#include "wire/transport_headers.h"

enum {
	BURST_POSTS = 4,		       /* posts in a row that start a burst */
	BURST_POSTS_PAYLOAD = 2 * BURST_POSTS, /* the streak of a running burst */
	BURST_TEMPLATE_BYTES_MAX = LRH_BYTES + BTH_BYTES + DETH_BYTES + RING_PAYLOAD_BYTES_MAX,
};

/* How many SENDs the queue pair has posted in a row, if nothing else was written to the ring.
 * After the program did something else, half of them still count: a program that had a burst is
 * likely to start another. */
static IN_LINE uint32_t burst_streak_before(const struct send_burst *burst, uint64_t turn)
{
	return turn - burst->turn <= 1 ? burst->streak : burst->streak / 2;
}

/* The same; 0 if anything else was written to the ring. */
static IN_LINE uint32_t burst_streak(const struct send_burst *burst,
				     const struct ring_producer *out, uint64_t turn)
{
	return burst->end == out->tail ? burst_streak_before(burst, turn) : 0;
}

/* Whether a SEND of one SGE without immediate data differs from the messages of its connection's
 * burst only in PSN and payload. */
static IN_LINE bool burst_matches(const struct send_burst *burst, uint32_t flags,
				  const struct sge *sge)
{
	return burst->payload_bytes == sge->byte_count && burst->payload_bytes &&
	       !((burst->flags ^ flags) & ~(uint32_t)SEND_SIGNALED);
}

/* Whether this SEND may be a payload record. */
static IN_LINE bool burst_continues(const struct send_burst *burst, const struct ring_producer *out,
				    const struct send_request *request, uint64_t turn,
				    struct psn next_psn)
{
	return burst_matches(burst, request->flags, request->sges) &&
	       request->opcode == SEND_SEND && burst->qkey == request->remote_qkey &&
	       psn_equal(burst->next_psn, next_psn) &&
	       burst_streak(burst, out, turn) >= BURST_POSTS;
}

/* Whether this SEND may be the template of a burst. */
static IN_LINE bool burst_may_begin(const struct send_request *request)
{
	return request->opcode == SEND_SEND &&
	       request->sges[0].byte_count - 1 < RING_PAYLOAD_BYTES_MAX;
}

/* A SEND was posted as a record of its own, after so many in a row; its end is the ring's tail. */
static IN_LINE void burst_posted(struct send_burst *burst, const struct ring_producer *out,
				 uint64_t turn, uint32_t streak)
{
	burst->end = out->tail;
	burst->turn = turn;
	burst->payload_bytes = 0;
	burst->room = 0;
	burst->streak = streak < BURST_POSTS ? streak + 1 : streak;
}

/* How many payload records of a burst the ring, the send queue and the PSN space allow. */
static inline uint32_t burst_room(const struct requester *requester,
				  const struct ring_producer *out, uint32_t payload_bytes)
{
	const struct send_queue *queue = &requester->queue;
	const uint32_t requests = queue->requests_max - (queue->tail - queue->head);
	const uint32_t psns = PSNS_OUTSTANDING_MAX -
			      (uint32_t)psn_distance(requester->oldest_psn, requester->next_psn);
	const uint32_t records = ring_payloads_room(out, payload_bytes);
	const uint32_t room = requests < psns ? requests : psns;

	return records < room ? records : room;
}

/* That record was a template. */
static inline void burst_begin(struct send_burst *burst, const struct requester *requester,
			       const struct ring_producer *out, const struct send_request *request)
{
	burst->payload_bytes = request->sges[0].byte_count;
	burst->flags = request->flags;
	burst->qkey = request->remote_qkey;
	burst->next_psn = requester->next_psn;
	burst->room = burst_room(requester, out, burst->payload_bytes);
}

/* Whether the queue pair's last payload record, or the burst's template, was the last thing that
 * this process did. Then every check that was made for it still holds, except for what other
 * processes can change. */
static IN_LINE bool burst_is_running(const struct send_burst *burst, uint64_t turn)
{
	return burst->room && turn - burst->turn <= 1;
}

/* A payload record was posted, and nothing else since the one before it. */
static IN_LINE void burst_went_on(struct send_burst *burst, const struct ring_producer *out,
				  uint64_t turn, struct psn next_psn)
{
	burst->end = out->tail;
	burst->turn = turn;
	burst->next_psn = next_psn;
	burst->room--;
	burst->streak = BURST_POSTS_PAYLOAD;
}

/* A payload record was posted after whatever else. It counts as one post only, so that a program
 * that posts one message at a time leaves the burst. */
static inline void burst_continued(struct send_burst *burst, const struct ring_producer *out,
				   uint64_t turn, struct psn next_psn)
{
	const bool is_in_row = turn - burst->turn <= 1;

	burst_went_on(burst, out, turn, next_psn);
	if (!is_in_row)
		burst->streak = BURST_POSTS + 1;
}

/* The receiver's side. All zero: there is no template. */
struct burst_in {
	struct ring_record template; /* a RECORD_PACKET */
	uint32_t psn_word;	     /* of the template's BTH */
	uint32_t payloads;	     /* payload records since the template */
	uint32_t payload_bytes; /* with pad bytes; 0: no payload record can follow this template */
	uint8_t bytes[BURST_TEMPLATE_BYTES_MAX];
};

/* Returns the packet that a RECORD_TEMPLATE or RING_RECORD_PAYLOAD stands for. A malformed record
 * is returned as it is. */
const struct ring_record *burst_read(struct burst_in *burst, const struct ring_record *record);
/* burst_read for any record of a direct ring, or NULL. */
static inline const struct ring_record *burst_look(struct burst_in *burst,
						   const struct ring_record *record)
{
	return likely(!record ||
		      (record->kind != RECORD_TEMPLATE && record->kind != RING_RECORD_PAYLOAD))
		       ? record
		       : burst_read(burst, record);
}
/* The PSN of the next payload record, and writing it into the copied headers. */
static inline struct psn burst_next_psn(const struct burst_in *burst)
{
	return psn_add(psn_from(burst->psn_word), burst->payloads + 1);
}

static inline void burst_write_psn(struct burst_in *burst, struct psn psn)
{
	put_be32(burst->bytes + LRH_BYTES + BTH_PSN_OFFSET,
		 (burst->psn_word & 0xff000000u) | psn.value);
}

/* The record that was read last goes back into the ring. */
static inline void burst_put_back(struct burst_in *burst, const struct ring_record *record)
{
	burst->payloads -= record->kind == RING_RECORD_PAYLOAD;
}

#endif
