/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An adapter in this process: its struct hca, the rings that it sends and receives on, the lock
 * that serialises both, and the progress thread that takes over when the program does not poll.
 *
 * Every call on the hca or its objects is made with the lock held. The lock is never held across a
 * system call that can block.
 */
#ifndef SOFTIB_RUNTIME_ADAPTER_H
#define SOFTIB_RUNTIME_ADAPTER_H

#include <stdbool.h>
#include <stdint.h>
#include "base/attributes.h"
#include "base/time.h"
#include "net/hca/hca.h"

struct adapter;
struct session;

/* One struct adapter per adapter and process, shared by all contexts that open it (counted). Events
 * go to the owner given with the first open. */
MUST_USE int adapter_open(struct session *session, unsigned index, const struct hca_owner *owner,
			  struct adapter **ret_adapter);
void adapter_close(struct adapter *adapter);

struct hca *adapter_hca(struct adapter *adapter);

void adapter_lock(struct adapter *adapter);
/* false: the lock can't be taken by plain stores (biased_lock_try). */
MUST_USE bool adapter_try_lock(struct adapter *adapter);
void adapter_unlock(struct adapter *adapter);

/* The clock, read once per entry by the caller (lock held). */
time_ns adapter_now(const struct adapter *adapter);

/* Transmits what is ready, and receives what has arrived. Call after posting. */
void adapter_transmit(struct adapter *adapter, time_ns now);
/* Posts one request and carries it out at once: a SEND as a record (runtime/fast/short_send.h), a
 * WRITE or READ by RMA. false: nothing was done; the caller uses qp_post_send and adapter_send.
 * After the last request of a call the caller calls adapter_posted, if all went this way. */
MUST_USE bool adapter_post(struct adapter *adapter, struct qp_object *qp,
			   const struct send_request *request);
/* adapter_post for a SEND of one SGE that matches the last one of its queue pair. */
MUST_USE bool adapter_post_by_template(struct adapter *adapter, struct qp_object *qp,
				       uint64_t wr_id, uint32_t flags, const struct sge *sge);
MUST_USE bool adapter_rma(struct adapter *adapter, struct qp_object *qp,
			  const struct rma_request *request, const struct sge *sge);
void adapter_posted(struct adapter *adapter);
/* adapter_transmit after posting to one queue pair; reads the clock only if it must. */
void adapter_send(struct adapter *adapter, struct qp_object *qp);
/* After a queue pair was told its peer: asks softibd for the flow. adapter_transmit comes next. */
void adapter_prepare(struct adapter *adapter, struct qp_object *qp, time_ns now);
/* Before a queue pair stops: sends the responses that it owes its peer. */
void adapter_last_answers(struct adapter *adapter, struct qp_object *qp, time_ns now);

/* Reads the rings, expires timers, transmits. Returns whether anything happened. Call when a poll
 * finds nothing. */
bool adapter_progress(struct adapter *adapter, time_ns now);
/* adapter_progress for a program that polls: reads the clock only now and then, or if it must. */
bool adapter_poll(struct adapter *adapter);
/* Some completion queue shows timestamps. */
void adapter_want_time(struct adapter *adapter);

/* Whether the last packets were relayed by softibd. Lock held. */
bool adapter_sends_through_softibd(const struct adapter *adapter);

/* How many programs of the fabric share each core that this process may use; at least 1. */
unsigned adapter_programs_per_core(const struct adapter *adapter);
/* Whether links take time (--paced), so that static rates hold. */
bool adapter_is_paced(const struct adapter *adapter);
/* Makes the program sleep for a moment, less than a second, though it has not asked to. Not with
 * the lock held. */
void adapter_nap(struct adapter *adapter, time_ns nap_ns);

/* The program is going to wait for an event instead of polling. */
void adapter_expect_silence(struct adapter *adapter);

/* Asks softibd for more QPNs. The lock is held on entry and on return, and released while waiting.
 */
MUST_USE int adapter_more_qpns(struct adapter *adapter);

#endif
