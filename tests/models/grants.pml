/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a receiver takes from a direct ring: grants that softibd offers and revokes, while paths come and go.
 *
 * softibd publishes the offer in the receiver's down ring before it answers the sender. A packet without a grant makes the receiver look ahead in the
 * down ring, unless it has looked that far. When paths have changed, softibd checks all grants after a grace period, which is longer than an honest
 * sender takes from looking at the generation to the end of its record. A grant whose path is broken is marked at one check and revoked at the next.
 * The receiver drains the ring before it takes a revocation.
 *
 * Claim: no record of an honest sender is dropped. Datagrams would be lost; a reliable connection would wait for a timer.
 */

#define RECORDS 3
#define CHANGES 3

mtype = { offered, revoked };

chan ring = [RECORDS] of { bool };
chan down = [4] of { mtype };
byte published; /* records ever put into the down ring */
byte generation;
bool path_is_fine = true;
bool is_known;	  /* softibd: the receiver has the grant */
bool is_ending;
bool is_due;	  /* a check of the grants is due after the grace period */
bool is_writing;  /* the sender has looked at the generation, and its record is not there yet */
bool is_old_write; /* it did so before the grace period began */

chan questions = [0] of { bool };
chan answers = [0] of { bool, byte };

/* short_send_post, transmit_direct; flow_answer */
active proctype sender()
{
	byte count, answered;
	bool is_direct;

	do
	:: count == RECORDS -> break
	:: count < RECORDS ->
		questions ! true;
		answers ? is_direct, answered;
		do
		:: count < RECORDS && is_direct ->
			atomic {
				if
				:: answered == generation -> is_writing = true
				:: else -> break
				fi
			}
			atomic { ring ! true; is_writing = false; is_old_write = false; count++ }
		:: break /* the answer is forgotten */
		od
	od
}

inline tell(kind)
{
	atomic { down ! kind; published++ }
}

/* decide and offer (direct_rings.c), flows_revoke, flows_check_grants and direct_rings_check */
active proctype softibd()
{
	byte changes;
	bool value;

end:	do
	:: questions ? value ->
		if
		:: !path_is_fine -> answers ! false(generation)
		:: path_is_fine && is_known -> is_ending = false; answers ! true(generation)
		:: path_is_fine && !is_known ->
#ifdef OFFER_LATER
			answers ! true(generation);
			tell(offered);
#else
			tell(offered);
			answers ! true(generation);
#endif
			is_known = true
		fi
	:: changes < CHANGES ->
		atomic {
			changes++;
			path_is_fine = !path_is_fine;
			generation++;
			if
			:: !is_due -> is_due = true; is_old_write = is_writing
			:: else
			fi
		}
#ifdef WITHOUT_GRACE
	:: is_due ->
#else
	:: is_due && !is_old_write ->
#endif
#ifdef GRACE_OF_FIRST_CHANGE
		/* As it was once: a path that broke just before the check had no grace. */
		is_due = false;
		if
		:: is_known && !path_is_fine -> tell(revoked); is_known = false
		:: else
		fi
#else
		if
		:: !is_known || (path_is_fine && !is_ending) -> is_due = false
		:: is_known && is_ending ->
			if
			:: tell(revoked); is_known = false; is_ending = false; is_due = false
			:: true /* no room in the down ring */
			fi
		:: is_known && !path_is_fine && !is_ending ->
			atomic { is_ending = true; is_old_write = is_writing }
		fi
#endif
	od
}

/* receive_all, ring_grant_admits, look_ahead, ring_grant_offered, ring_grant_revoked */
active proctype receiver()
{
	byte to_take, taken, read, grants_read;
	bool is_granted, value;
	mtype kind;

	do
	:: taken == RECORDS -> break
	:: taken < RECORDS ->
		nempty(ring) || nempty(down);
		to_take = len(down);
#ifdef REVOKED_OVERTAKES
		goto take_down;
#endif
drain:		do
		:: nempty(ring) ->
			ring ? value;
#ifndef WITHOUT_LOOK_AHEAD
			if
			:: !is_granted && published != grants_read ->
				atomic {
					if
					:: down ?? [offered] -> is_granted = true
					:: else
					fi;
					grants_read = published
				}
			:: else
			fi;
#endif
			assert(is_granted);
			taken++
		:: empty(ring) -> break
		od;
#ifdef REVOKED_OVERTAKES
		goto round_is_over;
#endif
take_down:	do
		:: to_take == 0 -> break
		:: to_take > 0 ->
			down ? kind;
			to_take--;
			if
			:: kind == offered -> is_granted = true
			:: kind == revoked ->
				is_granted = false;
#ifndef WITHOUT_RESET
				grants_read = 0
#endif
			fi
		od;
#ifdef REVOKED_OVERTAKES
		goto drain;
#endif
round_is_over:	read = 0
	od
}
