/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The commonest case, in as few steps as it needs: a SEND of one packet, its arrival, and an ACK
 * that says no more than how far it goes (vol 1, chapter 9).
 *
 * There are no rules here. Each function first asks whether all of the rules' usual answers hold
 * (in order, in time, room for it, keys that are valid, nothing else under way), changes nothing if
 * one does not, and its caller goes the long way. What it does otherwise is what the long way would
 * have done: tests/unit/net/transport/fast/fast_path_test.c compares the two.
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

/* What is to be written: found by fast_next, written by fast_write. */
struct fast_packet {
	const uint8_t *payload;
	uint32_t payload_bytes;
	uint32_t header_bytes;
	uint32_t byte_count;   /* LRH to the last pad byte */
	uint32_t packet_count; /* more than 1 only if it is pulled */
	bool asks_ack; /* as it was found, it does: on a direct ring an ACK costs no packet */
	bool is_zcopy; /* the receiver's owner fetches the payload: only the headers are written */
};

/* Whether the next thing to transmit is such a packet. */
MUST_USE bool fast_next(struct qp *qp, struct fast_packet *ret_packet);
/* Writes byte_count bytes; it has been sent. now: for completions only. The caller sees to it that
 * retry_date is called with the right time soon after. */
void fast_write(struct qp *qp, time_ns now, const struct fast_packet *packet, uint8_t *ret_bytes);

/* The same for a request that is only now posted: whether it is such a packet and may go at once.
 */
MUST_USE bool fast_may_post(struct qp *qp, const struct send_request *request,
			    struct fast_packet *ret_packet);
/* Then, one after the other: writes the packet, which may be shown to the peer at once; and posts
 * the request, of which that packet has been sent. */
void fast_post_packet(const struct qp *qp, const struct send_request *request,
		      const struct fast_packet *packet, uint8_t *ret_bytes);
void fast_post_request(struct qp *qp, time_ns now, const struct send_request *request,
		       const struct fast_packet *packet);

/* The same for messages of a reliable connection, of any number of packets up to
 * FAST_ZCOPY_BYTES_MAX, whose payload is pulled: it stays where it is until it is acknowledged,
 * as for a retransmission; if the request ends in another way, environment->take_back is called
 * first. */
MUST_USE bool fast_next_zcopy(struct qp *qp, struct fast_packet *ret_packet);
MUST_USE bool fast_may_post_zcopy(struct qp *qp, const struct send_request *request,
				  struct fast_packet *ret_packet);

/* Datagrams are lent: is_zcopy is set in what fast_may_post found, fast_post_packet leaves
 * the room for the payload as it is, and the request is not done before the owner says so, of the
 * oldest that is lent. environment->take_back: as above. */
void fast_ud_zcopy_done(struct qp *qp, time_ns now);

/* A packet for this queue pair that came by this port. headers: a copy of its first bytes, at
 * least FAST_HEADER_BYTES_MAX or all of it. false: nothing was done. */
MUST_USE bool fast_receive(struct qp *qp, time_ns now, uint8_t port_number, const uint8_t *headers,
			   const uint8_t *bytes, uint32_t byte_count);

/* The same, at once, if all but the PSN is as in the packet that it received before. Of bytes,
 * which may change, at least FAST_HEADER_BYTES_MAX are there. */
MUST_USE bool fast_receive_predicted(struct qp *qp, time_ns now, uint8_t port_number,
				     const uint8_t *bytes, uint32_t byte_count);

/* The same of a packet that is expected to be for the queue pair that is remembered there
 * (header_cache.h), if it is one of a reliable connection. Returns it; NULL: nothing was done. */
MUST_USE struct qp *fast_receive_expected(const struct rx_header_cache *cache, time_ns now,
					  uint8_t port_number, const uint8_t *bytes,
					  uint32_t byte_count);

/* Messages that are like the one that it received just before, with the next PSN: rx_burst.h. */

/* A whole message whose payload is fetched by the owner. */
struct zcopy_source {
	uint32_t byte_count;
	uint32_t packet_count;
	/* false: it is no longer there, and the message is lost: it is asked for again. Datagrams
	 * are always there. */
	bool (*fetch)(const struct zcopy_source *pull, uint8_t *ret_bytes);
};
/* As above; headers: LRH, BTH, DETH of a datagram, and immediate data. */
MUST_USE bool fast_receive_zcopy(struct qp *qp, time_ns now, uint8_t port_number,
				 const uint8_t *headers, const struct zcopy_source *pull);

/* A message of which the payload could not be fetched on another way. There may be no timer at the
 * other end, and nothing that comes later: it is asked for again, as after a gap. */
void fast_zcopy_failed(struct qp *qp, uint8_t port_number, const uint8_t *headers);

/* The peer's half of fast_take_ack (header_cache.h); now and the timer as with fast_write.
 * false: nothing was done. */
MUST_USE bool fast_acknowledge(struct qp *qp, time_ns now, struct psn psn);

#endif
