/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A reliable connection whose packets go two ways at once: by a ring that is revoked and through softibd, or by a path and its alternate.
 *
 * Where no rule keeps the order between two ways (path migration; a ring whose records are dropped because its grant has ended), PSNs do. Packets
 * may be lost on either way, be sent again, and overtake those on the other way. The ways do not keep a packet while 2^23 others are sent, so no PSN
 * comes again here.
 *
 * Claims: each message is taken once and in order; a message that the sender counts as done has been taken; and all end.
 */

#define MESSAGES 4
#define WINDOW	 2
#define LOSSES	 2

chan ways[2] = [4] of { byte };
byte acknowledged;
byte taken;

/* transmit_qp, qp_transmit, qp_migrate; retry_expire */
active proctype requester()
{
	byte next, done, way, resends;

	do
	:: done == MESSAGES -> break
	:: acknowledged > done ->
		done = acknowledged;
		assert(taken >= done);
		if
		:: next < done -> next = done
		:: else
		fi
	:: next < MESSAGES && next < done + WINDOW && len(ways[way]) < 4 -> ways[way] ! next; next++
	:: way == 0 -> way = 1
	:: resends < 2 && next > done -> resends++; next = done /* a NAK, or too long without an ACK */
	:: timeout -> next = done
	od
}

/* check_psn */
active proctype responder()
{
	byte psn, losses;
	bool is_lost;

	do
	:: taken == MESSAGES && empty(ways[0]) && empty(ways[1]) -> break
	:: (len(ways[0]) || len(ways[1])) ->
		if
		:: ways[0] ? psn
		:: ways[1] ? psn
		fi;
		is_lost = false;
		if
		:: losses < LOSSES -> losses++; is_lost = true
		:: true
		fi;
		if
		:: is_lost
#ifdef WITHOUT_PSN_CHECK
		:: !is_lost ->
#else
		:: !is_lost && psn != taken
		:: !is_lost && psn == taken ->
#endif
			assert(psn == taken);
			taken++
		fi;
#ifdef ACK_OF_THE_PACKET
		acknowledged = psn + 1
#else
		acknowledged = taken
#endif
	od
}
