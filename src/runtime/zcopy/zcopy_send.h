/* SPDX-License-Identifier: Apache-2.0 */
/*
 * SENDs whose payload does not go through the ring: the record says where it lies in the memory
 * that the sender shares (runtime/rma/shared_mr.h), and the receiver copies it from there to where
 * it belongs. One copy instead of two.
 *
 * Only messages of reliable connections go this way: their memory is the queue pair's until they
 * are acknowledged. Where a request ends otherwise, its serial is changed first, and a receiver
 * looks at that after it has copied: what it copied then is thrown away and asked for again, as
 * after a gap. Pages that are lent stay as they are when their region or all sharing ends. Nobody
 * waits for anybody.
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
	/* Shorter ones are in the ring sooner than the receiver's misses are over. */
	ZCOPY_BYTES_MIN = 512,
	/* What the copies of a round may come to before others get their turn. */
	ZCOPY_ROUND_BYTES = 1 << 17,
};

/* This process takes such messages from the channel, if it can. */
void zcopy_open(const struct process_runtime *runtime, struct channel *channel);

/* And the other end, from this one. */
MUST_USE bool zcopy_peer_takes(const struct rkey_export *rkey_export, struct channel *channel);

/* Posts a request, the packet of which was found by fast_may_post or fast_may_post_zcopy.
 * false: nothing was done. */
MUST_USE bool zcopy_post(struct adapter *adapter, struct qp *qp, struct flow *flow,
			 const struct send_request *request, struct fast_packet *packet,
			 time_ns now);
/* The same with the request at the cursor. */
MUST_USE bool zcopy_send_queued(struct adapter *adapter, struct qp *qp, struct flow *flow,
				time_ns now);

/* What this queue pair sent is not to be pulled any more. */
void zcopy_revoke(struct qp *qp);

/* Whether something that was sent from there has not been acknowledged, and may be pulled. */
MUST_USE bool zcopy_is_sending_from(const struct process_runtime *runtime, const uint8_t *bytes,
				    size_t byte_count);

/* A RECORD_ZCOPY. As short_receive_record. */
MUST_USE struct qp *zcopy_receive(struct process_runtime *runtime, const struct channel *channel,
				  time_ns now, const struct ring_record *record);
/* One that is unusual: as the packets that the message would have been. */
void zcopy_receive_packets(struct process_runtime *runtime, struct channel *channel, time_ns now,
			   const struct ring_record *record);

#endif
