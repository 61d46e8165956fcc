/* SPDX-License-Identifier: Apache-2.0 */
/* Queue pairs of each type between the two ends of a runtime_pair, for tests of bursts
 * (runtime/fast/burst.h). A path is the queue pairs of one type at both ends. Messages are
 * numbered, posted in a row and checked at the other end. The test holds the lock. */
#ifndef SOFTIB_TESTS_BURST_PATHS_H
#define SOFTIB_TESTS_BURST_PATHS_H

#include "runtime/fast/burst.h"
#include "unit/runtime/runtime_pair.h"

enum {
	PATHS_BURST = 40, /* posts; the first ones and the template are no payload records */
	PATHS_PAYLOADS = PATHS_BURST - BURST_POSTS - 1,
	PATHS_HALF = 10,
	PATHS_NUMBERS = 64, /* of messages: from 0 */
};

/* One queue pair of each type at both ends, and a second RC connection and UD pair. */
enum { PATH_RC, PATH_UC, PATH_UD, PATH_TYPES, PATH_OTHER = PATH_TYPES, PATH_OTHER_UD, PATHS };

extern struct pair_end paths[PATHS][2];

struct path_message {
	enum send_opcode opcode;
	uint32_t byte_count;
	uint32_t flags;
	uint32_t lkey; /* 0: the buffer's key */
};

/* Bits of the Q_Key that are wrong in the next posts. */
extern uint32_t paths_wrong_qkey_bits;

/* A signaled SEND of 8 bytes. */
extern const struct path_message path_plain;

/* Group setup; setup and teardown of a test, which gets new queue pairs. */
int paths_start(void **state);
int paths_begin(void **state);
int paths_end(void **state);
#define path_test(name) cmocka_unit_test_setup_teardown(name, paths_begin, paths_end)

bool path_is_datagram(unsigned path);
/* The bytes of the message with this number, at the sender and at the receiver. */
uint8_t *paths_bytes_of(uint32_t number);

void path_post_receives(unsigned path, uint32_t first, uint32_t count);
/* Posts a message as the next one of a list given to ibv_post_send. Returns whether it went as a
 * payload record. Datagrams carry the Q_Key of their receiver. */
bool path_post(unsigned path, uint32_t number, const struct path_message *message);
/* A datagram to the receiver of another path. */
bool path_post_to(unsigned from, unsigned to, uint32_t number, const struct path_message *message);
/* Returns the number of payload records. */
unsigned path_post_plain(unsigned path, uint32_t first, uint32_t count);

/* Ends the bursts of all queue pairs, as if each had just been made. The progress thread stays out.
 */
void paths_end_bursts(void);
/* Does what a poll between two posts does to bursts: it takes the lock, as the next post does. */
void paths_poll_between(void);
/* Receives until the ring is empty, by the fast path where it applies. */
void paths_take(void);

void path_expect_received(unsigned path, uint32_t number, const struct path_message *message);
void path_expect_from(unsigned from, unsigned to, uint32_t number,
		      const struct path_message *message);
void path_expect_plain(unsigned path, uint32_t first, uint32_t count);
void paths_expect_sent(uint32_t number, enum completion_status status);
void paths_expect_all_sent(uint32_t first, uint32_t count);
/* The requests of several queue pairs. */
void paths_expect_all_sent_in_any_order(uint32_t first, uint32_t count);
void paths_expect_nothing(void);

#endif
