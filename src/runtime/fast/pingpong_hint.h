/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The ping-pong hint: the guess that this program and its peer take turns. Each sends when the
 * other's message has come, and that message comes after the ACK of the previous one.
 *
 * While the guess holds and the program has sent, a poll watches only the ACK words until an ACK
 * comes (runtime/fast/poll_round.c). It leaves the ring's next record alone: a cache line that one
 * core polls must be taken away from that core before another can write it, which takes as long as
 * fetching it afterwards. So the line of the message stays with its writer.
 *
 * Nor does the poll read the ACK words before an ACK is due. The peer's store of the ACK would have
 * to wait for the line, and all stores behind it, its answer among them, would wait too. The delay
 * before the first read is learned so that the read finds the ACK four times out of five. That is
 * soon enough, since the answer takes longer.
 *
 * The hint changes only which line is read first, never the result: every PINGPONG_LOOKS-th look
 * reads both lines, and a message that comes before its ACK ends the guess.
 */
#ifndef SOFTIB_RUNTIME_FAST_PINGPONG_HINT_H
#define SOFTIB_RUNTIME_FAST_PINGPONG_HINT_H

#include <stdbool.h>
#include <stdint.h>

enum {
	PINGPONG_TURNS = 4,  /* turns after which the guess holds */
	PINGPONG_LOOKS = 16, /* every so many looks, one reads ACKs and records */
};

enum {
	PINGPONG_WAIT_MAX = 2048, /* about cycles: less than a microsecond */
	PINGPONG_LATER = 8,
	PINGPONG_SOONER = 4 * PINGPONG_LATER,
};

enum pingpong_phase { PINGPONG_SILENT, PINGPONG_SENT, PINGPONG_ACKNOWLEDGED };

/* The state with one peer. All zero: no turn yet. */
struct pingpong {
	uint8_t phase;
	uint8_t turns;
	bool has_waited; /* since the last send */
	uint16_t wait;	 /* before the first look after a send */
};

static inline bool pingpong_is_held(const struct pingpong *pingpong)
{
	return pingpong->turns >= PINGPONG_TURNS;
}

static inline void pingpong_sent(struct pingpong *pingpong)
{
	pingpong->phase = PINGPONG_SENT;
	pingpong->has_waited = false;
}

static inline void pingpong_acknowledged(struct pingpong *pingpong)
{
	if (pingpong->phase == PINGPONG_SENT)
		pingpong->phase = PINGPONG_ACKNOWLEDGED;
}

static inline void pingpong_message_came(struct pingpong *pingpong)
{
	if (pingpong->phase != PINGPONG_ACKNOWLEDGED)
		pingpong->turns = 0;
	else if (pingpong->turns < PINGPONG_TURNS)
		pingpong->turns++;
	pingpong->phase = PINGPONG_SILENT;
}

/* Waits until an ACK is due. false: no ACK is expected, or the wait is over already. */
static inline bool pingpong_wait(struct pingpong *pingpong)
{
	if (pingpong->phase != PINGPONG_SENT || pingpong->has_waited)
		return false;
	pingpong->has_waited = true;
	for (unsigned left = pingpong->wait; left; left--)
		__asm__ volatile("" : "+r"(left));
	return true;
}

/* was_there: whether the look after the wait found anything. */
static inline void pingpong_learn(struct pingpong *pingpong, bool was_there)
{
	unsigned wait = pingpong->wait;

	wait = was_there ? wait - wait / PINGPONG_SOONER : wait + wait / PINGPONG_LATER + 1;
	pingpong->wait = (uint16_t)(wait < PINGPONG_WAIT_MAX ? wait : PINGPONG_WAIT_MAX);
}

/* Whether this look should read the ACK words only. */
static inline bool pingpong_awaits_ack(const struct pingpong *pingpong, unsigned look)
{
	return pingpong->phase == PINGPONG_SENT && pingpong_is_held(pingpong) &&
	       look % PINGPONG_LOOKS;
}

#endif
