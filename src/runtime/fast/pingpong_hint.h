/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Two programs that take turns: each sends when the other's message has come, and that one comes
 * behind the ACK of what was sent before.
 *
 * A line of memory at which one processor looks all the time must be taken away from it before the
 * other can write there, which takes as long as to fetch it afterwards. So whoever has sent and takes
 * turns looks at the ACKs only, until one comes; the line of the message stays with its writer. It is
 * a guess: now and then it looks at both, and a message that was there before its ACK ends it.
 *
 * Nor does it look at the ACKs before one is due: the peer's processor would have to wait for that line,
 * and with it for all that it writes behind the ACK, its answer among them. The first look comes so late
 * that it finds the ACK four times out of five; that is soon enough, since the answer takes longer.
 */
#ifndef SOFTIB_RUNTIME_FAST_PINGPONG_HINT_H
#define SOFTIB_RUNTIME_FAST_PINGPONG_HINT_H

#include <stdbool.h>
#include <stdint.h>

enum {
	DIALOGUE_TURNS = 4,	 /* so many make one */
	DIALOGUE_LOOKS = 16, /* one of so many looks is at both */
};

enum {
	DIALOGUE_WAIT_MAX = 2048, /* of cycles, about: less than a microsecond */
	DIALOGUE_LATER = 8,
	DIALOGUE_SOONER = 4 * DIALOGUE_LATER,
};

enum dialogue_phase { DIALOGUE_SILENT, DIALOGUE_SENT, DIALOGUE_ACKNOWLEDGED };

/* With one peer. All zero: it has not begun. */
struct dialogue {
	uint8_t phase;
	uint8_t turns;
	bool has_waited; /* since it sent */
	uint16_t wait;	 /* before the first look then */
};

static inline bool dialogue_is_held(const struct dialogue *dialogue)
{
	return dialogue->turns >= DIALOGUE_TURNS;
}

static inline void dialogue_sent(struct dialogue *dialogue)
{
	dialogue->phase = DIALOGUE_SENT;
	dialogue->has_waited = false;
}

static inline void dialogue_acknowledged(struct dialogue *dialogue)
{
	if (dialogue->phase == DIALOGUE_SENT)
		dialogue->phase = DIALOGUE_ACKNOWLEDGED;
}

static inline void dialogue_message_came(struct dialogue *dialogue)
{
	if (dialogue->phase != DIALOGUE_ACKNOWLEDGED)
		dialogue->turns = 0;
	else if (dialogue->turns < DIALOGUE_TURNS)
		dialogue->turns++;
	dialogue->phase = DIALOGUE_SILENT;
}

/* Waits until an ACK is due. false: it was for some time. */
static inline bool dialogue_wait(struct dialogue *dialogue)
{
	if (dialogue->phase != DIALOGUE_SENT || dialogue->has_waited)
		return false;
	dialogue->has_waited = true;
	for (unsigned left = dialogue->wait; left; left--)
		__asm__ volatile("" : "+r"(left));
	return true;
}

/* What the look behind such a wait found. */
static inline void dialogue_learn(struct dialogue *dialogue, bool was_there)
{
	unsigned wait = dialogue->wait;

	wait = was_there ? wait - wait / DIALOGUE_SOONER : wait + wait / DIALOGUE_LATER + 1;
	dialogue->wait = (uint16_t)(wait < DIALOGUE_WAIT_MAX ? wait : DIALOGUE_WAIT_MAX);
}

/* Whether the look of this number had better be at the ACKs only. */
static inline bool dialogue_awaits_ack(const struct dialogue *dialogue, unsigned look)
{
	return dialogue->phase == DIALOGUE_SENT && dialogue_is_held(dialogue) &&
	       look % DIALOGUE_LOOKS;
}

#endif
