/* SPDX-License-Identifier: Apache-2.0 */
/* What both halves of express.h know of a queue pair: which there are, and the headers of its
 * packets, worked out once. And what its owner asks of it for each message, in line. */
#ifndef SOFTIB_NET_TRANSPORT_FAST_HEADER_CACHE_H
#define SOFTIB_NET_TRANSPORT_FAST_HEADER_CACHE_H

#include <string.h>
#include "base/bytes.h"
#include "net/transport/addressing.h"
#include "net/transport/completion.h"
#include "net/transport/fast/fast_path.h"
#include "net/transport/port_view.h"
#include "net/transport/qp_state.h"

enum {
	HEADER_CACHES = 16,
	FAST_BTH_MIGRATED = 0x40,
};

/* The headers of the SEND without immediate data that came last, of the queue pairs of an adapter
 * by their number: one that differs from it only in its PSN needs no second look at them. */
struct rx_header_cache {
	struct qp *qp; /* of one whose headers are known; NULL: of none */
	uint64_t lrh, bth;
	uint64_t deth; /* of a datagram */
	uint32_t byte_count;
	uint32_t payload_bytes;
	uint8_t port_number;
	struct completion completion; /* as it was but for wr_id and time */
};

/* The headers of the SEND that was posted last, as they lie in a packet, up to its PSN. */
struct tx_header_cache {
	const struct qp *qp; /* of one whose headers are known; NULL: of none */
	uint32_t payload_bytes;
	uint32_t flags; /* of the request */
	uint8_t bytes[FAST_PSN_OFFSET];
	uint64_t lrh, bth; /* the rest: of a datagram, without length and flags */
	uint32_t qpn;	   /* its sender's */
	uint32_t qkey;
};

struct header_caches {
	struct rx_header_cache cache[HEADER_CACHES];
	struct tx_header_cache sent[HEADER_CACHES];
};

static inline struct rx_header_cache *rx_header_cache(const struct qp *qp)
{
	return &qp->environment->header_caches->cache[qp->qpn % HEADER_CACHES];
}

/* The queue pair that received the last of the SENDs like this one, if any: at least its LRH and
 * BTH are there. */
static inline struct qp *fast_guess(const struct header_caches *memory, const uint8_t *bytes)
{
	uint32_t qpn = get_be32(bytes + LRH_BYTES + 4);

	return memory->cache[qpn % HEADER_CACHES].qp;
}

static inline struct tx_header_cache *tx_header_cache(const struct qp *qp)
{
	return &qp->environment->header_caches->sent[qp->qpn % HEADER_CACHES];
}

/* Built as numbers and stored whole: a byte at a time would cost more than all the rest. */
static inline uint64_t fast_lrh(const struct qp *qp, const struct address_vector *address)
{
	const struct port_view *port = qp->port;
	unsigned path_bits = address->source_path_bits & ((1u << port->lmc) - 1);

	return (uint64_t)(address->sl << 4 | LNH_LOCAL) << 48 | (uint64_t)address->dlid << 32 |
	       (uint16_t)(port->lid | path_bits);
}

static inline uint64_t fast_bth(const struct qp *qp, uint32_t destination_qpn)
{
	return (uint64_t)(qp_transport(qp) | OPCODE_SEND_ONLY) << 56 |
	       (uint64_t)FAST_BTH_MIGRATED << 48 | (uint64_t)qp_pkey(qp) << 32 |
	       (destination_qpn & 0xffffff);
}

/* Works the headers of a connection's packets out. false: there is something unusual about it. */
MUST_USE bool fast_work_out(struct qp *qp);

/* Whether a connection may send, and nothing but what changes with each request could be unusual.
 */
MUST_USE bool fast_work_out_sends(struct qp *qp);

/* The queue pair goes. */
static inline void fast_release(const struct qp *qp)
{
	if (rx_header_cache(qp)->qp == qp)
		rx_header_cache(qp)->qp = NULL;
	if (tx_header_cache(qp)->qp == qp)
		tx_header_cache(qp)->qp = NULL;
}

/* Whether what was worked out still holds; if not, it is worked out anew. */
static inline bool fast_headers_are_known(struct qp *qp)
{
	return likely(qp->header_cache.changes == qp->environment->port_changes + 1) ||
	       fast_work_out(qp);
}

/* Whether the headers of a connection's packets are the usual ones; qp->header_cache.route, which
 * is the caller's, is NULL again when they have changed. */
MUST_USE static inline bool fast_is_known(struct qp *qp)
{
	return qp->type == QP_RC &&
	       (likely(qp->header_cache.changes == qp->environment->port_changes + 1) ||
		(qp->port && fast_work_out(qp)));
}

/* Of one that fast_is_known: whether all that is to be answered is an ACK without a limit on
 * credits; it is taken as sent. */
MUST_USE static inline bool fast_take_ack(struct qp *qp, struct psn *ret_psn)
{
	struct responder *responder = &qp->responder;

	if (unlikely(!responder->ack_is_due ||
		     (responder->saved_pending || responder->nak_is_due) || qp->state == QP_ERROR ||
		     qp->promises_receives))
		return false;
	responder->ack_is_due = false;
	*ret_psn = responder->ack_psn;
	return true;
}

/* One word costs no call. */
static inline void fast_copy(uint8_t *place, const uint8_t *payload, uint32_t byte_count)
{
	if (byte_count == sizeof(uint64_t)) {
		memcpy(place, payload, sizeof(uint64_t));
		return;
	}
	/* A compiler that sees that it is no more than a packet copies word by word in line, which
	 * takes three times as long as the C library at 2 KiB. */
	__asm__("" : "+r"(byte_count));
	if (byte_count)
		memcpy(place, payload, byte_count);
}

static inline bool fast_is_plain_type(const struct qp *qp)
{
	return qp->type == QP_RC || qp->type == QP_UD || qp->type == QP_UC;
}

#endif
