/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The fast path: a SEND of one packet, its arrival, and an ACK without a credit limit (vol 1,
 * chapter 9).
 *
 * This file has no rules of its own. Each function first checks that the common case applies:
 * packets in order, no timer due, room in the queues, valid keys, nothing else in progress. If a
 * check fails the function changes nothing and its caller uses the engine. Otherwise it does what
 * the engine would have done: tests/unit/net/transport/fast/fast_path_test.c compares the two.
 */
#ifndef SOFTIB_NET_TRANSPORT_FAST_FAST_PATH_H
#define SOFTIB_NET_TRANSPORT_FAST_FAST_PATH_H

#include <stdbool.h>
#include <stdint.h>
#include "base/attributes.h"
#include "base/time.h"
#include "wire/lrh.h"
#include "wire/psn.h"
#include "wire/transport_headers.h"

struct rx_header_cache;
struct qp;
struct send_request;

enum {
	/* LRH and BTH, and the most that may follow: DETH and immediate data. */
	FAST_HEADER_BYTES = LRH_BYTES + BTH_BYTES,
	FAST_PSN_OFFSET = LRH_BYTES + BTH_PSN_OFFSET,
	FAST_HEADER_BYTES_MAX = FAST_HEADER_BYTES + DETH_BYTES + IMMEDIATE_BYTES,
	FAST_ZCOPY_BYTES_MAX = 1 << 20,
};

/* A packet that is to be sent: filled in by fast_next, written by fast_write. */
struct fast_packet {
	const uint8_t *payload;
	uint32_t payload_bytes;
	uint32_t header_bytes;
	uint32_t byte_count;   /* LRH to the last pad byte */
	uint32_t packet_count; /* more than 1 only with zcopy */
	bool asks_ack;	       /* set by default: on a direct ring an ACK costs no packet */
	bool is_zcopy; /* the receiver's owner copies the payload; only the headers are written */
};

/* Whether the next packet to transmit qualifies for the fast path. */
MUST_USE bool fast_next(struct qp *qp, struct fast_packet *ret_packet);
/* Writes byte_count bytes and counts the packet as sent. now: for completions only. The caller must
 * have retry_date called with the right time soon after. */
void fast_write(struct qp *qp, time_ns now, const struct fast_packet *packet, uint8_t *ret_bytes);

/* The same for a request that is being posted: whether it is such a packet and may be sent at once.
 */
MUST_USE bool fast_may_post(struct qp *qp, const struct send_request *request,
			    struct fast_packet *ret_packet);
/* To be called in this order after fast_may_post. The first writes the packet, which the peer may
 * see at once. The second posts the request, with that packet already sent. */
void fast_post_packet(const struct qp *qp, const struct send_request *request,
		      const struct fast_packet *packet, uint8_t *ret_bytes);
void fast_post_request(struct qp *qp, time_ns now, const struct send_request *request,
		       const struct fast_packet *packet);

/* The same for zcopy messages of a reliable connection, of any number of packets up to
 * FAST_ZCOPY_BYTES_MAX. The payload stays in place until it is acknowledged, as for a
 * retransmission. If the request ends in another way, environment->take_back is called first. */
MUST_USE bool fast_next_zcopy(struct qp *qp, struct fast_packet *ret_packet);
MUST_USE bool fast_may_post_zcopy(struct qp *qp, const struct send_request *request,
				  struct fast_packet *ret_packet);

/* A datagram by zcopy: the caller sets is_zcopy in the packet that fast_may_post found, and
 * fast_post_packet leaves the room for the payload unwritten. The request is done when the owner
 * calls this for the oldest zcopy datagram. environment->take_back: as above. */
void fast_ud_zcopy_done(struct qp *qp, time_ns now);

/* A packet for this queue pair that came by this port. headers: a copy of the packet's first bytes,
 * at least FAST_HEADER_BYTES_MAX or all of it. false: nothing was done. */
MUST_USE bool fast_receive(struct qp *qp, time_ns now, uint8_t port_number, const uint8_t *headers,
			   const uint8_t *bytes, uint32_t byte_count);

/* The same if all header fields but the PSN match the packet that the queue pair received before.
 * bytes may change concurrently; at least FAST_HEADER_BYTES_MAX of them are valid. */
MUST_USE bool fast_receive_predicted(struct qp *qp, time_ns now, uint8_t port_number,
				     const uint8_t *bytes, uint32_t byte_count);

/* The same for a packet that probably is for the queue pair in this cache entry (header_cache.h),
 * if that is a reliable connection. Returns the queue pair; NULL: nothing was done. */
MUST_USE struct qp *fast_receive_expected(const struct rx_header_cache *cache, time_ns now,
					  uint8_t port_number, const uint8_t *bytes,
					  uint32_t byte_count);

/* Bursts of messages with consecutive PSNs that match the last one: rx_burst.h. */

/* A whole zcopy message: the receiver's owner copies its payload from the sender's memory. */
struct zcopy_source {
	uint32_t byte_count;
	uint32_t packet_count;
	/* false: the payload is no longer there, so the message is lost and the sender must resend
	 * it. The payload of a datagram is always there. */
	bool (*fetch)(const struct zcopy_source *pull, uint8_t *ret_bytes);
};
/* As fast_receive; headers: LRH, BTH, DETH of a datagram, and immediate data. */
MUST_USE bool fast_receive_zcopy(struct qp *qp, time_ns now, uint8_t port_number,
				 const uint8_t *headers, const struct zcopy_source *pull);

/* A zcopy message did not qualify for the fast path, and its payload could not be copied for the
 * engine. The sender may have no timer, and no later packet may show the gap, so this sends the
 * sequence NAK at once (transport 5.2). */
void fast_zcopy_failed(struct qp *qp, uint8_t port_number, const uint8_t *headers);

/* The requester's side of fast_take_ack (header_cache.h); now and the timer as with fast_write.
 * false: nothing was done. */
MUST_USE bool fast_acknowledge(struct qp *qp, time_ns now, struct psn psn);

#endif
