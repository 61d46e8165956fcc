/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A flow that changes from its direct ring to softibd's relay and back, with messages under way in both.
 *
 * The sender asks softibd about its flow, in band with its packets (up ring). softibd answers "direct" only while the flow is not watched and no
 * earlier packet is inside the fabric or in the receiver's down ring. Each change advances the generation, and the sender asks again. The receiver
 * looks at the end of the down ring, drains the direct ring, and takes the down ring up to that end; packets there wait while a ring is offered but
 * not mapped, and while a record is held back for a receive request.
 *
 * The rings are queues: what the sender wrote to the direct ring before it wrote to the up ring is visible to whoever has seen the latter (stamps and
 * tails are released and acquired, also across softibd). The messages are datagrams: nothing would repair a wrong order.
 *
 * Claim: every message arrives once and in order. A message that never arrives leaves the receiver waiting, an invalid end state.
 */

#define MESSAGES 4
#define CHANGES	 3

mtype = { packet, resolve, offered, direct, by_fabric, retry };

chan ring = [MESSAGES] of { byte };
chan up = [MESSAGES + 1] of { mtype, byte };
chan fabric = [MESSAGES] of { byte };
chan down = [MESSAGES + 1] of { mtype, byte };
chan answers = [1] of { mtype, byte };

byte generation;
bool is_watched;
bool is_offered;	/* softibd has made the ring */
byte unreleased;	/* packets in the down ring that the receiver has not released: delivery.last_packet_end and the ring's head */
bool is_wanted, is_mapped; /* the receiver's channel */

/* transmit_qp, relay_send_post, short_send_post; forget_old_answer, flow_ask, flow_answer */
active proctype sender()
{
	byte message = 1, answered;
	mtype state = retry; /* FLOW_UNRESOLVED */
	mtype verdict;

	do
	:: message > MESSAGES -> break
	:: message <= MESSAGES && state == retry ->
		up ! resolve(generation);
		do
		:: atomic {
			answers ? verdict, answered;
			state = (answered == generation -> verdict : retry)
		   }
		   if
		   :: state == retry -> state = by_fabric; answered = generation /* relaying is always allowed */
		   :: state == retry /* ask again later */
		   :: else
		   fi;
		   break
#ifdef WITHOUT_WAIT
		/* The flow's queue pairs do not wait for the answer. */
		:: message < MESSAGES -> up ! packet(message); message++
#endif
		od
	:: message <= MESSAGES && state != retry ->
		if
		:: answered != generation -> state = retry
		:: answered == generation && state == by_fabric -> state = retry /* ask_at has come */
		:: answered == generation && state == by_fabric -> up ! packet(message); message++
		:: answered == generation && state == direct -> ring ! message; message++
		fi
	od
}

/* ingress_read (take_packet, take_resolve_request), fabric_step and delivery_make, flows_revoke */
active proctype softibd()
{
	byte value, changes;
	bool is_free;

end:	do
	:: up ? packet(value) -> fabric ! value
	:: up ? resolve(value) ->
		/* decide, fabric_path_is_empty */
		is_free = true;
#ifndef WITHOUT_INSIDE_CHECK
		is_free = is_free && len(fabric) == 0;
#endif
#ifndef WITHOUT_HEAD_CHECK
		is_free = is_free && unreleased == 0;
#endif
		if
		:: is_watched -> answers ! by_fabric(generation)
		:: !is_watched && !is_free -> answers ! retry(generation)
		:: !is_watched && is_free ->
			if
			:: !is_offered -> is_offered = true; down ! offered(0)
			:: else
			fi;
			answers ! direct(generation)
		fi
	:: fabric ? value -> atomic { unreleased++; down ! packet(value) }
	:: changes < CHANGES -> atomic { changes++; is_watched = !is_watched; generation++ }
	od
}

inline take(number)
{
	assert(number == expected);
	expected++
}

/* receive_all, direct_channels_fetch */
active proctype receiver()
{
	byte expected = 1, value, to_take, taken_packets;
	bool holds_back;
	mtype kind;

	do
	:: expected > MESSAGES -> break
	:: expected <= MESSAGES ->
		/* A round without news changes nothing: wait for some. */
		is_wanted || (is_mapped && len(ring) > 0) || len(down) > 0;
		if
		:: is_wanted -> is_wanted = false; is_mapped = true
		:: true
		fi;
		holds_back = false;
#ifndef WITHOUT_SNAPSHOT
		to_take = len(down);
#endif
		do
		:: is_mapped && len(ring) > 0 && !holds_back -> ring ? value; take(value)
		:: is_mapped && len(ring) > 0 && !holds_back -> holds_back = true
		:: !is_mapped || len(ring) == 0 || holds_back -> break
		od;
#ifdef WITHOUT_SNAPSHOT
		to_take = len(down);
#endif
		do
		:: to_take == 0 -> break
		:: to_take > 0 ->
#ifndef WITHOUT_WANTED
			if
			:: is_wanted -> break
			:: else
			fi;
#endif
			down ? <kind, value>;
			if
			:: kind == offered -> down ? kind, value; is_wanted = true
			:: kind == packet ->
#ifndef WITHOUT_HOLD_BACK
				if
				:: holds_back -> break
				:: else
				fi;
#endif
				down ? kind, value;
				take(value);
				taken_packets++
			fi;
			to_take--
		od;
		/* channel_release */
		unreleased = unreleased - taken_packets;
		taken_packets = 0
	od
}
