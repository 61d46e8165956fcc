/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Two programs that take turns: each sends when the other's message has come, and that one comes
 * behind the ACK of what was sent before.
 *
 * A line of memory at which one processor looks all the time must be taken away from it before the
 * other can write there, which takes as long as to fetch it afterwards. So whoever has sent and
 * takes turns looks at the ACKs only, until one comes; the line of the message stays with its
 * writer. It is a guess: now and then it looks at both, and a message that was there before its ACK
 * ends it.
 *
 * Nor does it look at the ACKs before one is due: the peer's processor would have to wait for that
 * line, and with it for all that it writes behind the ACK, its answer among them. The first look
 * comes so late that it finds the ACK four times out of five; that is soon enough, since the answer
 * takes longer.
 */
#ifndef SOFTIB_RUNTIME_FAST_PINGPONG_HINT_H
#define SOFTIB_RUNTIME_FAST_PINGPONG_HINT_H

#include <stdbool.h>
#include <stdint.h>

enum {
	PINGPONG_TURNS = 4,  /* so many make one */
	PINGPONG_LOOKS = 16, /* one of so many looks is at both */
};

enum {
	PINGPONG_WAIT_MAX = 2048, /* of cycles, about: less than a microsecond */
	PINGPONG_LATER = 8,
	PINGPONG_SOONER = 4 * PINGPONG_LATER,
};

enum pingpong_phase { PINGPONG_SILENT, PINGPONG_SENT, PINGPONG_ACKNOWLEDGED };

/* With one peer. All zero: it has not begun. */
struct pingpong {
	uint8_t phase;
	uint8_t turns;
	bool has_waited; /* since it sent */
	uint16_t wait;	 /* before the first look then */
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

/* Waits until an ACK is due. false: it was for some time. */
static inline bool pingpong_wait(struct pingpong *pingpong)
{
	if (pingpong->phase != PINGPONG_SENT || pingpong->has_waited)
		return false;
	pingpong->has_waited = true;
	for (unsigned left = pingpong->wait; left; left--)
		__asm__ volatile("" : "+r"(left));
	return true;
}

/* What the look behind such a wait found. */
static inline void pingpong_learn(struct pingpong *pingpong, bool was_there)
{
	unsigned wait = pingpong->wait;

	wait = was_there ? wait - wait / PINGPONG_SOONER : wait + wait / PINGPONG_LATER + 1;
	pingpong->wait = (uint16_t)(wait < PINGPONG_WAIT_MAX ? wait : PINGPONG_WAIT_MAX);
}

/* Whether the look of this number had better be at the ACKs only. */
static inline bool pingpong_awaits_ack(const struct pingpong *pingpong, unsigned look)
{
	return pingpong->phase == PINGPONG_SENT && pingpong_is_held(pingpong) &&
	       look % PINGPONG_LOOKS;
}

#endif
