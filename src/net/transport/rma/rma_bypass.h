/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One-sided requests that the requester's owner carries out itself at the responder's memory,
 * instead of sending packets (docs/architecture.md, "One-sided requests").
 *
 * They use the PSNs that their packets would have used, and end at once. The responder's half hears
 * of them by a word that the requester's owner writes, and takes them for received when the next
 * packet's PSN shows that there were some. Only a request before which everything has been
 * acknowledged goes this way, so that none overtakes another.
 */
#ifndef SOFTIB_NET_TRANSPORT_RMA_RMA_BYPASS_H
#define SOFTIB_NET_TRANSPORT_RMA_RMA_BYPASS_H

#include <stdbool.h>
#include <stdint.h>
#include "base/attributes.h"
#include "base/time.h"
#include "wire/packet.h"

struct qp;
struct send_request;

/* The request at the head of the send queue. */
struct bypass {
	uint8_t opcode;	 /* enum send_opcode: a WRITE, READ or atomic */
	uint32_t access; /* that its key must grant */
	uint32_t remote_key;
	uint64_t remote_address;
	uint32_t byte_count;
	uint32_t psn_count;
	uint64_t compare_or_add;
	uint64_t swap;
	struct payload payload; /* the local bytes; a READ or atomic writes there */
};

/* False: the next request can't go past the packets, or not now. */
MUST_USE bool rma_bypass_next(struct qp *qp, struct bypass *ret_bypass);
/* The same if it is a WRITE or a READ of one run of local bytes, so many at most, told in a few
 * words. */
struct simple_request {
	uint8_t *bytes;
	uint64_t remote_address;
	uint32_t byte_count; /* not 0 */
	uint32_t remote_key;
	bool is_read;
	uint32_t flags; /* these two: of one that is not posted yet */
	uint64_t wr_id;
};
MUST_USE bool rma_bypass_simple(struct qp *qp, uint32_t byte_count_max,
				struct simple_request *ret_request);
/* Returns how many PSNs it took up. */
uint32_t rma_bypass_simple_done(struct qp *qp, time_ns now);

/* The same two for a request that is not posted yet, to a queue with nothing in it that is not
 * done: it is carried out instead of being posted, and its slot is only counted. */
MUST_USE bool rma_bypass_may_post(const struct qp *qp, const struct send_request *request,
				  uint32_t byte_count_max, struct simple_request *ret_request);
uint32_t rma_bypass_posted(struct qp *qp, time_ns now, const struct simple_request *request);

/* It was carried out: its PSNs are used, and it is completed. qp_settle is to be called afterwards,
 * when nobody waits for this process any more. */
void rma_bypass_done(struct qp *qp, time_ns now);

/* How far the requester has come, as its owner writes it and the responder's reads it. A word with
 * another tag is about something else. */
static inline uint64_t rma_progress_word(uint32_t psn, uint32_t message_count, uint32_t tag)
{
	return (uint64_t)(tag & 0xffff) << 48 | (uint64_t)(message_count & 0xffffff) << 24 |
	       (psn & 0xffffff);
}

static inline bool rma_words_have_one_tag(uint64_t word, uint64_t other)
{
	return (word ^ other) >> 48 == 0;
}

struct rma_progress {
	const uint64_t *word; /* a stranger's */
	uint64_t seen;	      /* of it */
};

/* Takes what was placed since the last look for received. Returns whether there was anything. */
bool rma_bypass_catch_up(struct qp *qp);

#endif
