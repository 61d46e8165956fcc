/* SPDX-License-Identifier: Apache-2.0 */
/* Queue pairs of each type between the two ends of a runtime_pair, for tests of runs
 * (runtime/fast/burst.h): messages that are posted in a row, numbered, and looked for at the other
 * end. The lock is the test's. */
#ifndef SOFTIB_TESTS_RUN_LANES_H
#define SOFTIB_TESTS_RUN_LANES_H

#include "runtime/fast/burst.h"
#include "unit/runtime/runtime_pair.h"

enum {
	LANES_RUN = 40, /* posts; the first ones, and the model, are no repeats */
	LANES_REPEATS = LANES_RUN - BURST_POSTS - 1,
	LANES_HALF = 10,
};

/* One queue pair of each type at both ends; and another connection. */
enum { LANE_RC, LANE_UC, LANE_UD, LANE_TYPES, LANE_OTHER = LANE_TYPES, LANES };

extern struct pair_end lanes[LANES][2];

struct lane_message {
	enum send_opcode opcode;
	uint32_t byte_count;
	uint32_t flags;
	uint32_t lkey; /* 0: the buffer's */
};

/* A SEND of 8 bytes that is signaled. */
extern const struct lane_message lane_plain;

/* Group setup; setup and teardown of a test, with new queue pairs. */
int lanes_start(void **state);
int lanes_begin(void **state);
int lanes_end(void **state);
#define lane_test(name) cmocka_unit_test_setup_teardown(name, lanes_begin, lanes_end)

bool lane_is_datagram(unsigned lane);
/* Where the message of a number is sent from, and received. */
uint8_t *lanes_bytes_of(uint32_t number);

void lane_post_receives(unsigned lane, uint32_t first, uint32_t count);
/* As the next one of a list that ibv_post_send was given. Returns whether it is a repeat. */
bool lane_post(unsigned lane, uint32_t number, const struct lane_message *message);
/* Returns how many are repeats. */
unsigned lane_post_plain(unsigned lane, uint32_t first, uint32_t count);

/* As leaving the lock does. The helper, which would take it then, stays out whatever it is told. */
void lanes_end_run(void);
/* As when the program polls between two posts. */
void lanes_look_elsewhere(void);
/* Until there is nothing to take, by the lane as far as that goes. */
void lanes_take(void);

void lane_expect_received(unsigned lane, uint32_t number, const struct lane_message *message);
void lane_expect_plain(unsigned lane, uint32_t first, uint32_t count);
void lanes_expect_sent(uint32_t number, enum completion_status status);
void lanes_expect_all_sent(uint32_t first, uint32_t count);
void lanes_expect_nothing(void);

#endif
