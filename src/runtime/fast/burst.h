/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Runs: small SENDs of one queue pair, one behind the other in a direct ring, that differ in
 * nothing but PSN and payload.
 *
 * The first is a RECORD_TEMPLATE, of which the receiver keeps a copy. The others say only their
 * payload (base/ring_payloads.h): each is the packet before it with the next PSN. Four of 8 bytes
 * fit into a cache line, and neither end looks at their headers. Whoever posts one message and
 * waits for the answer begins no run: its message is alone on its line, at which nobody else looks.
 * A run may go on behind polls and other queue pairs' posts without another model.
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
	BURST_POSTS = 4,		       /* so many in a row begin one */
	BURST_POSTS_PAYLOAD = 2 * BURST_POSTS, /* what a run counts for */
	BURST_TEMPLATE_BYTES_MAX = LRH_BYTES + BTH_BYTES + DETH_BYTES + RING_PAYLOAD_BYTES_MAX,
};

struct address_vector;
struct rx_header_cache;
struct flow;
struct qp;

/* The sender's side: SENDs that were posted one behind the other, while nobody else had the lock
 * and nothing else was done. What was found about the last of them still holds. */
struct burst_out {
	const struct qp *qp; /* NULL: none */
	struct flow *flow;
	unsigned posts; /* in a row, as far as it matters */
	uint32_t room;	/* so many repeats may follow the last one: by the ring, the send queue, and
			   PSNs. 0 also if it was neither a model nor lent, and the rest means
			   nothing */
	uint32_t payload_bytes;
	uint32_t flags;
	/* Of datagrams: where they go. The vector lives while this holds. */
	const struct address_vector *address;
	uint32_t remote_qpn, remote_qkey;
	const struct qp *last; /* whose posts these are: qp, or what it was; only to be compared */
	bool is_lent; /* a datagram: those like it are lent, too (runtime/zcopy/ud_zcopy.h) */
	/* Of repeats: whether more may follow behind what was done in between; not once anything
	 * about the queue pair may have changed. The receiver counts a repeat's PSN from its model,
	 * so one may only follow where nothing else was written to the ring since the last record
	 * of the run, and no other request has taken a PSN. */
	bool may_go_on;
	uint64_t end;	     /* of its last record in the ring */
	struct psn next_psn; /* behind its last message */
};

/* How many the queue pair has posted in a row. Of those before it looked elsewhere half still
 * count: who had a run is likely to begin another. */
static inline unsigned burst_posts(const struct burst_out *burst, const struct qp *qp)
{
	if (likely(burst->qp == qp))
		return burst->posts;
	return burst->last == qp ? burst->posts / 2 : 0;
}

/* The receiver's side. All zero: there is no model. */
struct burst_in {
	struct ring_record template;	    /* a RECORD_PACKET */
	uint32_t psn_word;		    /* of the model's BTH */
	uint32_t repeats;		    /* since then */
	uint32_t payload_bytes;		    /* and pad bytes; 0: none that could be repeated */
	const struct rx_header_cache *seen; /* by the one that took it; NULL: by none */
	uint8_t bytes[BURST_TEMPLATE_BYTES_MAX];
};

/* A packet of a connection that came alone, which the next one is likely to be like. All zero:
 * none. */
struct rx_expected {
	uint64_t sizes;			    /* ring_record_sizes */
	const struct rx_header_cache *seen; /* where its queue pair remembers it */
};

/* The packet that a RECORD_TEMPLATE or RING_RECORD_PAYLOAD stands for; nonsense is returned as it
 * is.
 */
const struct ring_record *burst_read(struct burst_in *burst, const struct ring_record *record);
/* The same of any record of a direct ring, or none. */
static inline const struct ring_record *burst_look(struct burst_in *burst,
						   const struct ring_record *record)
{
	return likely(!record ||
		      (record->kind != RECORD_TEMPLATE && record->kind != RING_RECORD_PAYLOAD))
		       ? record
		       : burst_read(burst, record);
}
/* The PSN of the next repeat. */
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
