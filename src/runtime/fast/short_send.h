/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The fast path's sends: a message goes from the program's request straight into a record of the
 * direct ring, without the clock and without the steps that only unusual requests need
 * (net/transport/fast/fast_send.h). send_form.h says in which form.
 *
 * A SEND takes this path if the fast path is on (SOFTIB_FAST=0 turns it off, and SOFTIB_SEND_FORMS
 * names the forms that are allowed), the progress thread sees to timers, and the queue pair has
 * nothing queued. Any other SEND goes to the engine (runtime/packets/transmit.h).
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
struct sge;

/* Read the environment: SOFTIB_FAST, and the set of enum send_form of SOFTIB_SEND_FORMS. */
bool fast_path_is_allowed(void);
unsigned send_forms_allowed(void);

/* Posts and sends one request. false: nothing was done; the caller posts it to the engine. */
bool short_send_post(struct adapter *adapter, struct qp *qp, const struct send_request *request);

/* short_send_post for a SEND of one SGE on a reliable connection that matches the last SEND of its
 * queue pair (net/transport/fast/templates.h). */
MUST_USE bool short_send_post_by_template(struct adapter *adapter, struct qp *qp, uint64_t wr_id,
					  uint32_t flags, const struct sge *sge);

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
