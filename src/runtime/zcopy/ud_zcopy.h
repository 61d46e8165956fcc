/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Datagrams whose payload does not go through the ring: the record has room for it, and says where
 * it lies in the memory that the sender shares (runtime/rma/shared_mr.h). The receiver copies it
 * from there to where it belongs.
 *
 * Nobody acknowledges a datagram. Its memory is lent until the reader of the ring has shown that it
 * is past the record, and that long its request is not done. A sender that won't wait takes back
 * all that it lent by this ring: it puts the payloads into the room that was kept for them, and
 * only then changes the ring's serial. A receiver looks at the serial before and after it copies;
 * where it is not the one that the record names, the payload is in the ring. Nobody waits for
 * anybody, and whoever is killed leaves either the memory or the ring as it should be.
 *
 * Only a program that polls lends anything: it gets its memory back in its polls. Before anybody
 * else works for it, before its pages move and before its requests end, all is taken back. One that
 * waits for each request, and does not get an answer meanwhile, is better off with copies.
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

/* Rounds in which nothing came, until a receiver shows how far it has read: what comes one by one
 * is shown in batches. */
enum { UD_ZCOPY_IDLE_ROUNDS = 8 };

/* Posts a request, the packet of which was found by fast_may_post. false: nothing was done. */
MUST_USE bool ud_zcopy_post(struct adapter *adapter, struct qp *qp, struct flow *flow,
			    const struct send_request *request, struct fast_packet *packet,
			    time_ns now);

/* The same of a request that is posted right behind such a one, while nothing else was done, and
 * differs from it only in its payload (fast_may_post_payload). */
MUST_USE bool ud_zcopy_post_payload(struct adapter *adapter, struct qp *qp, struct flow *flow,
				    const struct send_request *request, struct fast_packet *packet,
				    time_ns now);

/* Ends the requests whose memory is free again. Returns whether there were any. */
bool ud_zcopies_return(struct process_runtime *runtime, time_ns now);
/* The same now and then, by the clock: receivers that take nothing are not waited for. */
bool ud_zcopies_watch(struct process_runtime *runtime, time_ns now);

/* Nothing is lent from here on; what was lent ends with the next ud_zcopies_return. */
void ud_zcopies_take_back(struct process_runtime *runtime);
/* The same, and those of this queue pair end in another way. */
void ud_zcopies_take_back_from(struct process_runtime *runtime, const struct qp *qp);
/* Nothing is lent, and all that was has ended; of a channel: for good. */
void ud_zcopies_end(struct process_runtime *runtime, time_ns now);
void ud_zcopies_close(struct process_runtime *runtime, struct channel *channel, time_ns now);

/* A RECORD_UD_ZCOPY. As short_receive_record. */
MUST_USE struct qp *ud_zcopy_receive(struct process_runtime *runtime, struct channel *channel,
				     time_ns now, const struct ring_record *record);
/* One that is unusual: as the packet that it would have been. */
void ud_zcopy_receive_packet(struct process_runtime *runtime, struct channel *channel, time_ns now,
			     const struct ring_record *record);
/* The headers as a packet has them, if that is what the record is; its payload is not there. */
struct ring_record ud_zcopy_headers(const struct ring_record *record);

#endif
