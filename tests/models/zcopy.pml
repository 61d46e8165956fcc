/* SPDX-License-Identifier: Apache-2.0 */
/*
 * SENDs of a reliable connection by reference and as packets, with the same PSNs.
 *
 * A record by reference says where the payload lies in the sender's shared pages, and the serial of its queue pair. The receiver copies, and takes the
 * message only if the serial is still the same. A message may be sent again, in either form. When it is acknowledged, or the sender gives up, the
 * memory is the program's, which writes something else there; before the latter the sender changes the serial. The serial is changed by a locked
 * instruction, and loads of the receiver stay in order (x86-64, and an acquire fence for others), so no store buffer is needed here.
 *
 * Claim: each message is taken once, in order, and with the bytes that were posted.
 */

#define MESSAGES 2
#define GARBAGE	 9

mtype = { by_reference, packets };

/* kind, PSN, serial or the copied payload */
chan ring = [5] of { mtype, byte, byte };
byte page[2];	    /* two words, which can be torn */
byte serial;
byte acknowledged;  /* messages */
bool has_ended;	    /* the sender sends nothing more */
byte taken;

inline program_writes(value)
{
	page[0] = value;
	page[1] = value
}

/* zcopy_post, zcopy_send_queued, transmit_into; zcopy_revoke */
active proctype sender()
{
	byte message, sends;

	do
	:: message == MESSAGES -> break
	:: message < MESSAGES ->
		program_writes(message + 1);
		sends = 0;
		do
		:: sends < 2 -> ring ! by_reference(message, serial); sends++
		:: sends < 2 -> ring ! packets(message, message + 1); sends++
		:: acknowledged > message -> message++; break
		:: sends && message < MESSAGES ->
			/* The queue pair fails: no ACK has been seen. */
#ifdef REVOKE_LATE
			program_writes(GARBAGE);
			serial++;
#else
#ifndef WITHOUT_REVOKE
			serial++;
#endif
			program_writes(GARBAGE);
#endif
			message = MESSAGES;
			break
		od
	od;
	has_ended = true
}

/* zcopy_receive, fetch, hca_receive_zcopy; zcopy_receive_packets */
active proctype receiver()
{
	byte psn, value, copy[2];
	bool is_valid;
	mtype kind;

	do
	:: has_ended && empty(ring) -> break
	:: ring ? kind, psn, value ->
		if
#ifdef WITHOUT_PSN_CHECK
		:: psn >= 0 ->
#else
		:: psn == taken ->
#endif
			if
			:: kind == packets -> copy[0] = value; copy[1] = value; is_valid = true
			:: kind == by_reference ->
#ifdef CHECK_FIRST
				is_valid = serial == value;
				copy[0] = page[0];
				copy[1] = page[1]
#else
				copy[0] = page[0];
				copy[1] = page[1];
#ifdef WITHOUT_CHECK
				is_valid = true
#else
				is_valid = serial == value
#endif
#endif
			fi;
			if
			:: is_valid ->
				assert(psn == taken);
				assert(copy[0] == psn + 1 && copy[1] == psn + 1);
				taken++
			:: !is_valid /* a gap, for which the sender is asked */
			fi
		:: psn != taken
		fi;
		acknowledged = taken;
		copy[0] = 0;
		copy[1] = 0
	od
}
