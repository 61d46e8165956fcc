/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The express lane: small messages between queue pairs and direct rings, without the clock and
 * without the steps that only unusual packets need (net/transport/fast/fast_path.h).
 *
 * Whatever does not fit it is left for the long way (runtime/packets/transmit.h,
 * runtime/packets/receive.h), which the callers take then. SOFTIB_FAST=0 in the environment closes
 * it for good.
 *
 * ACKs go as words beside the ring (runtime/packets/ack_words.h).
 */
#ifndef SOFTIB_RUNTIME_FAST_SHORT_SEND_H
#define SOFTIB_RUNTIME_FAST_SHORT_SEND_H

#include <stdbool.h>
#include "base/attributes.h"
#include "base/time.h"

struct adapter;
struct process_runtime;
struct channel;
struct qp;
struct ring_record;
struct send_request;

/* Reads the environment. */
bool fast_path_is_allowed(void);

/* Posts and sends one request. false: nothing was done, it is to be posted as any other. */
bool short_send_post(struct adapter *adapter, struct qp *qp, const struct send_request *request);

/* Sends what was posted to this queue pair. Returns whether that was all of it. */
bool short_send_queued(struct adapter *adapter, struct qp *qp);

/* One round without the clock: takes what has come by direct rings, and acknowledges it. */
enum poll_round {
	POLL_ROUND_IDLE, /* there was nothing to do */
	POLL_ROUND_DONE, /* and nothing is left to do */
	POLL_ROUND_FULL, /* a round of runtime_progress is needed */
};
enum poll_round poll_round_run(struct process_runtime *runtime);

/* The queue pair that took a packet, or a message that is pulled (runtime/zcopy/zcopy_send.h),
 * which came by this channel; NULL: nothing was done. */
struct qp *short_receive_record(struct process_runtime *runtime, struct channel *channel,
				time_ns now, const struct ring_record *record);

#endif
