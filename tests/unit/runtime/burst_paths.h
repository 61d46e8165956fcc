/* SPDX-License-Identifier: Apache-2.0 */
/* Queue pairs of each type between the two ends of a runtime_pair, for tests of bursts
 * (runtime/fast/burst.h). A path is the queue pairs of one type at both ends. Messages are
 * numbered, posted in a row and checked at the other end. The test holds the lock. */
#ifndef SOFTIB_TESTS_RUN_LANES_H
#define SOFTIB_TESTS_RUN_LANES_H

#include "runtime/fast/burst.h"
#include "unit/runtime/runtime_pair.h"

enum {
	LANES_RUN = 40, /* posts; the first ones and the template are no payload records */
	LANES_REPEATS = LANES_RUN - BURST_POSTS - 1,
	LANES_HALF = 10,
};

/* One queue pair of each type at both ends, and a second RC connection. */
enum { LANE_RC, LANE_UC, LANE_UD, LANE_TYPES, LANE_OTHER = LANE_TYPES, LANES };

extern struct pair_end lanes[LANES][2];

struct lane_message {
	enum send_opcode opcode;
	uint32_t byte_count;
	uint32_t flags;
	uint32_t lkey; /* 0: the buffer's key */
};

/* A signaled SEND of 8 bytes. */
extern const struct lane_message lane_plain;

/* Group setup; setup and teardown of a test, which gets new queue pairs. */
int lanes_start(void **state);
int lanes_begin(void **state);
int lanes_end(void **state);
#define lane_test(name) cmocka_unit_test_setup_teardown(name, lanes_begin, lanes_end)

bool lane_is_datagram(unsigned lane);
/* The bytes of the message with this number, at the sender and at the receiver. */
uint8_t *lanes_bytes_of(uint32_t number);

void lane_post_receives(unsigned lane, uint32_t first, uint32_t count);
/* Posts a message as the next one of a list given to ibv_post_send. Returns whether it went as a
 * payload record. */
bool lane_post(unsigned lane, uint32_t number, const struct lane_message *message);
/* Returns the number of payload records. */
unsigned lane_post_plain(unsigned lane, uint32_t first, uint32_t count);

/* Ends the burst, as leaving the lock does. The progress thread, which would then take the lock,
 * stays out. */
void lanes_end_run(void);
/* Does what a poll between two posts does. */
void lanes_look_elsewhere(void);
/* Receives until the ring is empty, by the fast path where it applies. */
void lanes_take(void);

void lane_expect_received(unsigned lane, uint32_t number, const struct lane_message *message);
void lane_expect_plain(unsigned lane, uint32_t first, uint32_t count);
void lanes_expect_sent(uint32_t number, enum completion_status status);
void lanes_expect_all_sent(uint32_t first, uint32_t count);
void lanes_expect_nothing(void);

#endif
