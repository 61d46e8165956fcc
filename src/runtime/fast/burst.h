/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Bursts: small SENDs of one queue pair, posted in a row, that differ only in PSN and payload.
 *
 * The first message of a burst is a RECORD_TEMPLATE; the receiver keeps a copy of its packet. Each
 * message that follows is a payload record (base/ring_repeats.h): a stamp and the payload. Its
 * packet is the template with the next PSN. Four payload records of 8 bytes fit into one cache
 * line, and neither side checks their headers.
 *
 * A queue pair starts a burst after BURST_POSTS posts in a row. A program that posts one message
 * and waits for the answer never gets there: its message has a cache line to itself, which no other
 * record shares.
 *
 * The sender may write a payload record while burst_out.qp is set: only posts of this queue pair
 * happened since the last record (runtime_unlock_posted keeps it, runtime_forget_templates and
 * every poll clear it). After polls, or posts of other queue pairs, template_send_resume_burst
 * continues the burst without a new template, if may_go_on is set and its checks hold. The
 * generation word is compared at every post.
 */
#ifndef SOFTIB_RUNTIME_FAST_BURST_H
#define SOFTIB_RUNTIME_FAST_BURST_H

#include <stdbool.h>
#include <stdint.h>
#include "base/ring_payloads.h"
#include "ipc/protocol.h"
#include "wire/lrh.h"
#include "wire/psn.h"
#include "wire/transport_headers.h"

enum {
	BURST_POSTS = 4,		       /* posts in a row that start a burst */
	BURST_POSTS_PAYLOAD = 2 * BURST_POSTS, /* the value of posts in a running burst */
	BURST_TEMPLATE_BYTES_MAX = LRH_BYTES + BTH_BYTES + DETH_BYTES + RING_PAYLOAD_BYTES_MAX,
};

struct address_vector;
struct rx_header_cache;
struct flow;
struct qp;

/* The sender's side: the SENDs that were posted in a row, while no other thread had the lock and
 * the program did nothing else. The checks of the last SEND still hold. */
struct burst_out {
	const struct qp *qp; /* NULL: none */
	struct flow *flow;
	unsigned posts; /* in a row; counted only up to where it matters */
	uint32_t room;	/* payload records that may follow, limited by ring, send queue and PSN
			   space. 0 also if the last post was neither a template nor a UD zcopy; only
			   qp, posts and last hold then */
	uint32_t payload_bytes;
	uint32_t flags;
	/* The destination of a datagram. The address vector lives as long as the burst may
	 * continue. */
	const struct address_vector *address;
	uint32_t remote_qpn, remote_qkey;
	const struct qp *last; /* the queue pair that posted them: qp, or qp before it was cleared;
				  only compared */
	bool is_lent;	       /* a UD zcopy: datagrams that match go by zcopy, too
				  (runtime/zcopy/ud_zcopy.h) */
	/* Whether more payload records may follow after polls or other queue pairs' posts; false
	 * once anything about the queue pair may have changed. The receiver counts a payload
	 * record's PSN from the template. So a payload record may follow only if nothing else was
	 * written to the ring since the burst's last record, and no other request has taken a PSN.
	 */
	bool may_go_on;
	uint64_t end;	     /* of the burst's last record in the ring */
	struct psn next_psn; /* after the burst's last message */
};

/* The number of posts in a row of this queue pair. After the program polled or did something else,
 * half of them still count: a program that had a burst is likely to start another. */
static inline unsigned burst_posts(const struct burst_out *burst, const struct qp *qp)
{
	if (likely(burst->qp == qp))
		return burst->posts;
	return burst->last == qp ? burst->posts / 2 : 0;
}

/* The receiver's side. All zero: there is no template. */
struct burst_in {
	struct ring_record template; /* a RECORD_PACKET */
	uint32_t psn_word;	     /* of the template's BTH */
	uint32_t repeats;	     /* payload records since the template */
	uint32_t payload_bytes; /* with pad bytes; 0: no payload record can follow this template */
	const struct rx_header_cache
		*seen; /* of the queue pair that received the template; NULL: none did */
	uint8_t bytes[BURST_TEMPLATE_BYTES_MAX];
};

/* The last packet of a connection that was no part of a burst. The next packet is likely to match
 * it. All zero: none. */
struct rx_expected {
	uint64_t sizes;			    /* ring_record_sizes */
	const struct rx_header_cache *seen; /* the header cache of its queue pair */
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
/* The PSN of the next payload record. */
static inline struct psn burst_next_psn(const struct burst_in *burst)
{
	return psn_add(psn_from(burst->psn_word), burst->repeats + 1);
}

/* The record that was read last goes back into the ring. */
static inline void burst_put_back(struct burst_in *burst, const struct ring_record *record)
{
	burst->repeats -= record->kind == RING_RECORD_PAYLOAD;
}

#endif
