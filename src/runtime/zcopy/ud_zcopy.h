/* SPDX-License-Identifier: Apache-2.0 */
/*
 * UD zcopy: datagrams whose payload does not go through the ring. The record says where the payload
 * lies in the sender's shared pages (runtime/rma/shared_mr.h), and reserves room for it. The
 * receiver copies the payload from the shared pages into the receive buffer.
 *
 * A datagram is not acknowledged. Its request stays open until the reader of the ring has shown
 * that it is past the record. A sender that can't wait so long takes back all zcopies of the ring:
 * it copies the payloads into the reserved room, and only then changes the ring's serial. The
 * receiver checks the serial before and after it copies. If the serial differs from the record's,
 * the payload is in the ring. Neither side waits for the other, and a process that is killed leaves
 * either the shared pages or the ring valid.
 *
 * Only a polling program sends UD zcopies: its polls end their requests. All zcopies are taken back
 * before another thread works for the program, before its pages move, and before its requests end
 * otherwise. A program that waits for each request, and receives nothing meanwhile, is faster with
 * copies.
 */
#ifndef SOFTIB_RUNTIME_ZCOPY_UD_ZCOPY_H
#define SOFTIB_RUNTIME_ZCOPY_UD_ZCOPY_H

#include <stdbool.h>
#include <stdint.h>
#include "base/attributes.h"
#include "base/time.h"
#include "runtime/zcopy/ud_zcopy_state.h"

struct adapter;
struct process_runtime;
struct channel;
struct fast_packet;
struct flow;
struct qp;
struct ring_record;
struct send_request;

/* Idle rounds until a receiver shows how far it has read: datagrams that come one by one are
 * released in batches. */
enum { UD_ZCOPY_IDLE_ROUNDS = 8 };

/* Posts a request whose packet fast_may_post found. false: nothing was done. */
MUST_USE bool ud_zcopy_post(struct adapter *adapter, struct qp *qp, struct flow *flow,
			    const struct send_request *request, struct fast_packet *packet,
			    time_ns now);

/* Ends the requests whose records have been read. Returns whether there were any. */
bool ud_zcopies_return(struct process_runtime *runtime, time_ns now);
/* ud_zcopies_return by the clock, now and then: zcopies to receivers that take nothing are taken
 * back. */
bool ud_zcopies_watch(struct process_runtime *runtime, time_ns now);

/* Takes all zcopies back; their requests end with the next ud_zcopies_return. */
void ud_zcopies_take_back(struct process_runtime *runtime);
/* ud_zcopies_take_back; the requests of this queue pair end in another way. */
void ud_zcopies_take_back_from(struct process_runtime *runtime, const struct qp *qp);
/* Takes all zcopies back and ends their requests; ud_zcopies_close does so for a channel that
 * closes. */
void ud_zcopies_end(struct process_runtime *runtime, time_ns now);
void ud_zcopies_close(struct process_runtime *runtime, struct channel *channel, time_ns now);

/* Receives a RECORD_UD_ZCOPY; returns as short_receive_record does. */
MUST_USE struct qp *ud_zcopy_receive(struct process_runtime *runtime, struct channel *channel,
				     time_ns now, const struct ring_record *record);
/* Receives a RECORD_UD_ZCOPY that the fast path does not take, as the packet that it would have
 * been. */
void ud_zcopy_receive_packet(struct process_runtime *runtime, struct channel *channel, time_ns now,
			     const struct ring_record *record);
/* If the record is a RECORD_UD_ZCOPY: its headers as those of a packet, without the payload. */
struct ring_record ud_zcopy_headers(const struct ring_record *record);

#endif
