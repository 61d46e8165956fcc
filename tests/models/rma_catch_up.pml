/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One-sided requests that change between packets and RMA, with the grant given, taken back and given again.
 *
 * A request goes by RMA only if all before it are acknowledged. RMA acts in the target's memory, uses the PSN of the packet that it replaces, and
 * shows its progress in a word with the tag of its grant, before the access ends. The responder reads the word when a packet's PSN is not the expected
 * one, and once more when it has taken the grant back and the access has ended. Packets may be lost and sent again.
 *
 * Claims: each request acts once and in order; and the connection goes on: no request is sent again and again in vain.
 */

#define REQUESTS 4
#define ASKS	 2
#define TRIES	 3

mtype = { packet, ask };

chan ring = [8] of { mtype, byte, byte };
byte acted;		/* requests that have acted */
byte acknowledged;	/* the last ACK word */
byte word_psn, word_tag; /* placed[]; written by the initiator */
bool is_granted;
byte granted_tag;
bool hazard;
bool is_over;

inline act(number)
{
	assert(number == acted);
	acted++
}

/* rma_run, take_step, rma_short_post, rma_grant_request; the engine's packets and its retry timer */
active proctype initiator()
{
	byte next, done, tag, tries, resends, psn;

	do
	:: atomic { acknowledged > done -> done = acknowledged; tries = 0 }
	:: done == REQUESTS -> is_over = true; break
	:: next < REQUESTS -> ring ! packet(next, 0); next++
	:: tag < ASKS && next < REQUESTS && len(ring) < 6 -> tag++; ring ! ask(next, tag)
#ifdef WITHOUT_WAIT
	:: next < REQUESTS && tag ->
#else
	:: next < REQUESTS && done == next && tag ->
#endif
		hazard = true;
		if
		:: is_granted && granted_tag == tag ->
			act(next);
			next++;
			done = next;
#ifdef SHOW_LATE
			hazard = false;
			atomic { word_psn = next; word_tag = tag }
#else
			atomic { word_psn = next; word_tag = tag };
			hazard = false
#endif
		:: else -> hazard = false
		fi
	:: resends < 1 && done < next && len(ring) < 6 -> resends++; ring ! packet(done, 0)
	:: timeout ->
		/* All from the oldest on, as after a lost packet. */
		assert(tries < TRIES);
		tries++;
		psn = done;
		do
		:: psn < next -> ring ! packet(psn, 0); psn++
		:: else -> break
		od;
		psn = 0
	od
}

/* rma_bypass_catch_up */
inline catch_up()
{
	atomic {
		if
#ifdef WITHOUT_TAG
		:: word_psn != seen ->
#else
		:: word_tag == placed_tag && word_psn != seen ->
#endif
			seen = word_psn;
			expected = word_psn
		:: else
		fi
	}
}

/* end: revoke, rkey_export_wait_for, finish */
inline end_grant()
{
	is_granted = false;
#ifndef WITHOUT_HAZARD_WAIT
	!hazard;
#endif
#ifndef WITHOUT_LAST_LOOK
	catch_up();
#endif
	placed_tag = 0
}

/* responder_receive (check_psn), rma_target_requested, make, rma_target_end */
active proctype target()
{
	byte expected, psn, tag, placed_tag, seen, losses, revocations;

	do
	:: is_over -> break
	:: ring ? packet(psn, _) ->
		if
		:: losses < 1 -> losses++
		:: true ->
#ifndef WITHOUT_CATCH_UP
			if
			:: psn != expected && placed_tag -> catch_up()
			:: else
			fi;
#endif
			if
			:: psn == expected -> act(psn); expected++
			:: psn != expected
			fi;
			if
			:: psn < expected && expected > acknowledged -> acknowledged = expected
			:: else
			fi
		fi
	:: ring ? ask(psn, tag) ->
		if
		:: placed_tag -> end_grant()
		:: else
		fi;
		/* may_grant: all before it has come. */
		if
		:: psn == expected ->
			placed_tag = tag;
			seen = expected;
			granted_tag = tag;
			is_granted = true
		:: else
		fi
	:: revocations < 1 && placed_tag -> revocations++; end_grant()
	od
}
