/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A ring that is full: the producer sleeps until there is room, and the consumer's room is shown in pieces.
 *
 * The producer needs ROOM free units at once (TRANSMIT_ROOM_BYTES). It sets producer_waiting and looks at the head again; the consumer shows a new
 * head and looks at producer_waiting. Both stores pass a store buffer unless they are sequentially consistent, as ring_release and
 * ring_wait_for_room have them. The consumer rings once per flag, at the first piece, which may be less than ROOM: the producer asks again.
 *
 * Claim: all is written. A lost wake-up leaves the producer asleep, an invalid end state.
 */

#define RING	4
#define ROOM	2
#define WRITES	4 /* of ROOM units each */

byte tail, head;	 /* in memory */
bool producer_waiting;
bool has_rung;

chan buffer = [8] of { byte }; /* heads that the consumer has stored */

active proctype consumer_store_buffer()
{
	byte value;

end:	do
	:: atomic { buffer ? value; head = value; value = 0 }
	od
}

/* transmit_into, park, arm_channel (channel_wait_for_room), retry_full (channel_should_retry) */
active proctype producer()
{
	byte writes;
#ifdef WITHOUT_REARM
	bool has_asked;
#endif

	do
	:: writes == WRITES -> break
	:: writes < WRITES ->
		if
		:: RING - (tail - head) >= ROOM -> tail = tail + ROOM; writes++
#ifdef WITHOUT_REARM
			has_asked = false
#endif
		:: else ->
#ifdef WITHOUT_REARM
			/* Not again when the room that it was woken for is too little. */
			if
			:: !has_asked -> producer_waiting = true; has_asked = true
			:: else
			fi;
#else
			producer_waiting = true;
#endif
#ifndef WITHOUT_RECHECK
			if
			:: RING - (tail - head) >= ROOM -> producer_waiting = false
			:: else ->
#endif
				atomic { has_rung -> has_rung = false }
#ifndef WITHOUT_RECHECK
			fi
#endif
		fi
	od
}

/* receive_some, receive_release_some, channel_release */
active proctype consumer()
{
	byte taken;
	bool was_waiting;

	do
	:: taken == WRITES * ROOM -> break
	:: taken < tail ->
		taken++;
		buffer ! taken;
#ifndef WITHOUT_FENCE
		empty(buffer);
#endif
		if
		:: !producer_waiting
		:: producer_waiting ->
			atomic { empty(buffer) -> was_waiting = producer_waiting; producer_waiting = false }
			if
			:: was_waiting -> has_rung = true
			:: else
			fi
		fi
	od
}
