/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Zcopy SENDs of reliable connections. The payload does not go through the ring: the record says
 * where it lies in the sender's shared pages (runtime/rma/shared_mr.h), and the receiver copies it
 * from there into the receive buffer. One copy instead of two.
 *
 * Only reliable connections send this way: the buffer belongs to the queue pair until the message
 * is acknowledged. If a request ends otherwise, the sender first changes the serial. The receiver
 * checks the serial after it has copied; if it changed, the receiver discards the copy and asks for
 * the message again, as after a gap. Pages that a zcopy message uses stay in place when their
 * region, or all sharing, ends. Neither side ever waits for the other.
 */
#ifndef SOFTIB_RUNTIME_ZCOPY_ZCOPY_SEND_H
#define SOFTIB_RUNTIME_ZCOPY_ZCOPY_SEND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/attributes.h"
#include "base/time.h"

struct adapter;
struct process_runtime;
struct channel;
struct rkey_export;
struct fast_packet;
struct flow;
struct qp;
struct ring_record;
struct send_request;

enum {
	/* A shorter payload is copied into the ring faster than the receiver's cache misses are
	 * over. */
	ZCOPY_BYTES_MIN = 512,
	/* Bytes that one round copies before other queue pairs get their turn. */
	ZCOPY_ROUND_BYTES = 1 << 17,
};

/* Tells the peer that this process takes zcopy messages from the channel, if it can. */
void zcopy_open(const struct process_runtime *runtime, struct channel *channel);

/* Whether the peer takes zcopy messages from this process. */
MUST_USE bool zcopy_peer_takes(const struct rkey_export *rkey_export, struct channel *channel);

/* Posts a request whose packet fast_may_post found. false: nothing was done. */
MUST_USE bool zcopy_post(struct adapter *adapter, struct qp *qp, struct flow *flow,
			 const struct send_request *request, struct fast_packet *packet,
			 time_ns now);
/* zcopy_post for the queued request at the cursor. */
MUST_USE bool zcopy_send_queued(struct adapter *adapter, struct qp *qp, struct flow *flow,
				time_ns now);

/* Revokes the zcopy messages of this queue pair: receivers must not use them any more. */
void zcopy_revoke(struct qp *qp);

/* Whether an unacknowledged zcopy message was sent from this memory. */
MUST_USE bool zcopy_is_sending_from(const struct process_runtime *runtime, const uint8_t *bytes,
				    size_t byte_count);

/* Receives a RECORD_ZCOPY; returns as short_receive_record does. */
MUST_USE struct qp *zcopy_receive(struct process_runtime *runtime, const struct channel *channel,
				  time_ns now, const struct ring_record *record);
/* Receives a RECORD_ZCOPY that the fast path does not take, as the packets that the message would
 * have been. */
void zcopy_receive_packets(struct process_runtime *runtime, struct channel *channel, time_ns now,
			   const struct ring_record *record);

#endif
