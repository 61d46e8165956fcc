/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The fast path's sends: a small message goes from the queue pair straight into a record of the
 * direct ring, without the clock and without the steps that only unusual packets need
 * (net/transport/fast/fast_path.h).
 *
 * A SEND takes this path if the fast path is on (SOFTIB_FAST=0 turns it off), the progress thread
 * sees to timers, the queue pair has nothing queued, and its flow is offloaded. Any other SEND
 * returns false; the caller posts it to the engine (runtime/packets/transmit.h). Messages of
 * ZCOPY_BYTES_MIN bytes and more go by zcopy from here, and packets of a flow that is not offloaded
 * by relay_send.
 *
 * This file does all checks. If a SEND matches the one before it, template_send.h sends it with
 * fewer. The queue pair's headers and flow are remembered (flow_cache.h) until qp_invalidate, a
 * port change or a new generation.
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

/* Posts and sends one request. false: nothing was done; the caller posts it to the engine. */
bool short_send_post(struct adapter *adapter, struct qp *qp, const struct send_request *request);

/* Sends the queued requests of this queue pair. Returns whether it sent all of them. */
bool short_send_queued(struct adapter *adapter, struct qp *qp);

/* One round without the clock: takes what direct rings have brought, and acknowledges it
 * (poll_round.c). */
enum poll_round {
	POLL_ROUND_IDLE, /* there was nothing to do */
	POLL_ROUND_DONE, /* and nothing is left to do */
	POLL_ROUND_FULL, /* a round of runtime_progress is needed */
};
enum poll_round poll_round_run(struct process_runtime *runtime);

/* Receives a packet, or a zcopy message (runtime/zcopy/zcopy_send.h), that came by this channel.
 * Returns the queue pair that took it; NULL: nothing was done. */
struct qp *short_receive_record(struct process_runtime *runtime, struct channel *channel,
				time_ns now, const struct ring_record *record);

#endif
