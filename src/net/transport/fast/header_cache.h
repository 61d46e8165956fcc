/* SPDX-License-Identifier: Apache-2.0 */
/* The header caches of a queue pair, for both halves of the fast path, and the inline functions
 * that its owner calls for each message. */
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

/* The headers of the last SEND without immediate data, by QPN, for the queue pairs of an adapter. A
 * packet that differs only in its PSN needs no further header checks. */
struct rx_header_cache {
	struct qp *qp; /* whose headers these are; NULL: the entry is empty */
	uint64_t lrh, bth;
	uint64_t deth; /* datagrams only */
	uint32_t byte_count;
	uint32_t payload_bytes;
	uint8_t port_number;
	struct completion completion; /* complete but for wr_id and time */
};

/* The headers of the SEND that was posted last, in wire order, up to its PSN. */
struct tx_header_cache {
	const struct qp *qp; /* whose headers these are; NULL: the entry is empty */
	uint32_t payload_bytes;
	uint32_t flags; /* of the request */
	uint8_t bytes[FAST_PSN_OFFSET];
	uint64_t lrh, bth; /* these and the next two: of a datagram, without length and flags */
	uint32_t qpn;	   /* of the sending queue pair */
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

/* The queue pair that received the last SEND with this cache index, if any. bytes has at least LRH
 * and BTH. */
static inline struct qp *fast_guess(const struct header_caches *memory, const uint8_t *bytes)
{
	uint32_t qpn = get_be32(bytes + LRH_BYTES + 4);

	return memory->cache[qpn % HEADER_CACHES].qp;
}

static inline struct tx_header_cache *tx_header_cache(const struct qp *qp)
{
	return &qp->environment->header_caches->sent[qp->qpn % HEADER_CACHES];
}

/* Headers are built as 64-bit numbers and stored whole: storing single bytes would cost more than
 * everything else. */
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

/* Fills the header cache of a connection. false: the fast path does not cover this connection. */
MUST_USE bool fast_work_out(struct qp *qp);

/* Whether the connection may send and nothing rules out the fast path except for what changes with
 * each request. */
MUST_USE bool fast_work_out_sends(struct qp *qp);

/* The queue pair is destroyed. */
static inline void fast_release(const struct qp *qp)
{
	if (rx_header_cache(qp)->qp == qp)
		rx_header_cache(qp)->qp = NULL;
	if (tx_header_cache(qp)->qp == qp)
		tx_header_cache(qp)->qp = NULL;
}

/* Whether the header cache is valid; if not, fills it anew. */
static inline bool fast_headers_are_known(struct qp *qp)
{
	return likely(qp->header_cache.changes == qp->environment->port_changes + 1) ||
	       fast_work_out(qp);
}

/* Whether the header cache of a reliable connection is valid. qp->header_cache.route belongs to the
 * caller; it is reset to NULL when the headers change. */
MUST_USE static inline bool fast_is_known(struct qp *qp)
{
	return qp->type == QP_RC &&
	       (likely(qp->header_cache.changes == qp->environment->port_changes + 1) ||
		(qp->port && fast_work_out(qp)));
}

/* Whether the only response that is due is an ACK without a credit limit. The ACK then counts as
 * sent. fast_is_known must be true. */
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

/* A copy of eight bytes needs no call. */
static inline void fast_copy(uint8_t *place, const uint8_t *payload, uint32_t byte_count)
{
	if (byte_count == sizeof(uint64_t)) {
		memcpy(place, payload, sizeof(uint64_t));
		return;
	}
	/* Hides the size from the compiler. A compiler that knows the limit of one packet copies
	 * word by word in line, which takes three times as long as the C library at 2 KiB. */
	__asm__("" : "+r"(byte_count));
	if (byte_count)
		memcpy(place, payload, byte_count);
}

static inline bool fast_is_plain_type(const struct qp *qp)
{
	return qp->type == QP_RC || qp->type == QP_UD || qp->type == QP_UC;
}

#endif
