/* SPDX-License-Identifier: Apache-2.0 */
/* Two connected queue pairs, a wire each way and a virtual clock, for dialogue tests. */
#ifndef SOFTIB_TESTS_SUPPORT_RC_PAIR_H
#define SOFTIB_TESTS_SUPPORT_RC_PAIR_H

#include "support/endpoint.h"
#include "support/qp_wire.h"

/* Named after its main use; UC and UD pairs work the same way. */
struct rc_pair {
	struct endpoint a, b;
	struct qp_wire a_to_b, b_to_a;
	time_ns now;
	uint32_t train_bytes_max; /* 1: single packets */
	unsigned batch;		  /* packets per qp_transmit */
	/* The owner is often busy elsewhere, and cuts trains when its ring is full. */
	bool is_fitful;
	struct random random;
	time_ns busy_until;
};

/* Default options, both in RTS, PSNs from 0. */
void rc_pair_connect(struct rc_pair *pair, unsigned mtu_code);
void rc_pair_connect_with(struct rc_pair *pair, const struct endpoint_options *options);
/* In RESET, for tests of the transitions to RTS. */
void rc_pair_init(struct rc_pair *pair, const struct endpoint_options *a,
		  const struct endpoint_options *b);
/* Takes both from RESET to RTS. */
void rc_pair_bring_up(struct rc_pair *pair);
/* Random trains, batches and owners, and a wire that loses, duplicates, delays and corrupts. */
void rc_pair_disturb(struct rc_pair *pair, struct random *random);
void rc_pair_release(struct rc_pair *pair);

/* Lets both transmit as much as they can now. */
void rc_pair_transmit(struct rc_pair *pair);
/* Runs until no packet is in flight, nothing is transmitted and no timer is armed. */
void run_until_idle(struct rc_pair *pair);
/* run_until_idle(), but not beyond a time. */
void run_until(struct rc_pair *pair, time_ns end);

/* Sends a pattern from the outbox and returns the sent bytes. wr_id counts up from 1 per endpoint
 * unless given. */
const uint8_t *post_send(struct rc_pair *pair, struct endpoint *endpoint, uint32_t byte_count);
const uint8_t *post_send_as(struct rc_pair *pair, struct endpoint *endpoint,
			    enum send_opcode opcode, uint32_t flags, uint32_t byte_count);
/* WRITE to and READ from the start of the peer's window. */
const uint8_t *post_write(struct rc_pair *pair, struct endpoint *endpoint,
			  const struct endpoint *peer, uint32_t offset, uint32_t byte_count);
uint8_t *post_read(struct rc_pair *pair, struct endpoint *endpoint, const struct endpoint *peer,
		   uint32_t offset, uint32_t byte_count);
uint64_t *post_atomic(struct rc_pair *pair, struct endpoint *endpoint, const struct endpoint *peer,
		      enum send_opcode opcode, uint64_t compare_or_add, uint64_t swap);
/* Posts any request. */
int post(struct rc_pair *pair, struct endpoint *endpoint, const struct send_request *request);

uint8_t *post_receive(struct rc_pair *pair, struct endpoint *endpoint, uint32_t byte_count);

/* The next completion that the test has not checked yet. */
const struct completion *expect_completion(struct endpoint *endpoint,
					   enum completion_status status);
const struct completion *expect_received(struct endpoint *endpoint, enum completion_status status);
void expect_no_completion(const struct endpoint *endpoint);
void expect_nothing_received(const struct endpoint *endpoint);

#endif
