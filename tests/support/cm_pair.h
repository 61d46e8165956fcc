/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Two connection managers on a virtual clock and a wire that records the messages and loses the
 * ones it is told to.
 *
 * A record of the wire reads "REQ REP! REP RTU": each message as it was sent, ! after a lost one.
 */
#ifndef SOFTIB_TESTS_SUPPORT_CM_PAIR_H
#define SOFTIB_TESTS_SUPPORT_CM_PAIR_H

#include <stdbool.h>
#include <stdint.h>
#include "mgmt/cm/cm.h"

enum { CM_SIDE_EVENTS_MAX = 64, CM_RECORD_BYTES = 512, CM_PRIVATE_KEPT = 16 };

#define CM_SERVICE 0x0000000001061234u

struct cm_seen {
	enum cm_event_kind kind;
	struct cm_connection *connection;
	uint16_t reason;
	uint8_t private_data[CM_PRIVATE_KEPT];
	uint32_t vendor_options;
};

struct cm_pair;

struct cm_side {
	struct cm_pair *pair;
	struct cm *cm;
	uint64_t ca_guid;
	uint16_t lid;
	struct cm_seen events[CM_SIDE_EVENTS_MAX];
	unsigned event_count;
	char sent[CM_RECORD_BYTES]; /* the messages that it sent */
	unsigned sent_count;
	unsigned lost[8]; /* numbers of its messages that the wire loses, from 1 */
	unsigned lost_count;
};

struct cm_pair {
	time_ns now;
	struct cm_side a, b;
};

void cm_pair_init(struct cm_pair *pair);
void cm_pair_release(struct cm_pair *pair);

/* The wire loses this side's nth message, from 1. */
void cm_side_lose(struct cm_side *side, unsigned nth);
void cm_side_forget_record(struct cm_side *side);

/* Lets messages cross until none is in flight; time does not advance. */
void cm_pair_exchange(struct cm_pair *pair);
/* cm_pair_exchange() for this long, with time advancing from timer to timer. */
void cm_pair_run_for(struct cm_pair *pair, time_ns duration);

/* Sends a REQ from one side to the other, with qpn as the caller's queue pair. */
struct cm_connection *cm_side_call(struct cm_side *side, uint64_t service_id, uint32_t qpn);
/* Answers the newest REQ; the REP carries this queue pair. */
void cm_side_accept(struct cm_side *side, struct cm_connection *connection, uint32_t qpn);
/* Makes a connection from a to b, established on both sides, and empties the records. */
void cm_pair_connect(struct cm_pair *pair, struct cm_connection **ret_a,
		     struct cm_connection **ret_b);

/* The newest event, which must be of this kind. */
const struct cm_seen *cm_side_expect(const struct cm_side *side, enum cm_event_kind kind);
void cm_side_expect_sent(const struct cm_side *side, const char *record);
void cm_pair_expect_empty(struct cm_pair *pair);

#endif
