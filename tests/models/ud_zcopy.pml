/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Datagrams by reference, which the sender may take back.
 *
 * The record has a ticket with the serial of the ring's direction, and room for the payload. The request completes when the reader has passed the
 * record; then the program writes other bytes, and the record's place is used again. A sender that must not wait copies the payloads into their rooms,
 * then changes the serial, and completes. The reader looks at the serial before and after its copy, and takes the payload from the room if it is
 * another. Stores of the sender stay in order (a system call fills the room, a locked instruction changes the serial), and so do loads of the reader.
 *
 * Claim: each datagram has the bytes that were posted.
 */

#define DATAGRAMS 2
#define GARBAGE	  9

chan ring = [DATAGRAMS] of { byte }; /* serials of the tickets */
byte page[4], room[4]; /* two words each */
byte serial, released;

inline program_writes(number, value)
{
	page[2 * number] = value;
	page[2 * number + 1] = value
}

inline fill_room(number)
{
#ifndef WITHOUT_FILL
	room[2 * number] = page[2 * number];
	room[2 * number + 1] = page[2 * number + 1]
#else
	skip
#endif
}

/* ud_zcopy_post, ud_zcopies_watch (return_read), take_back_channel */
active proctype sender()
{
	byte number, head;

	do
	:: number < DATAGRAMS -> program_writes(number, number + 1); ring ! serial; number++
	:: number == DATAGRAMS -> break
	od;
	do
	:: head == DATAGRAMS -> break
	:: head < released ->
		program_writes(head, GARBAGE);
		room[2 * head] = GARBAGE; /* another record */
		head++
	:: head < DATAGRAMS ->
		number = head;
#ifdef SERIAL_FIRST
		serial++;
#endif
		do
		:: number < DATAGRAMS ->
			if
			:: number >= released -> fill_room(number)
			:: else
			fi;
			number++
		:: number == DATAGRAMS -> break
		od;
#ifndef SERIAL_FIRST
		serial++;
#endif
		do
		:: head < DATAGRAMS -> program_writes(head, GARBAGE); head++
		:: head == DATAGRAMS -> break
		od
	od
}

/* ud_zcopy_receive, fetch, channel_release */
active proctype receiver()
{
	byte taken, ticket, copy[2];
	bool is_in_place;

	do
	:: taken == DATAGRAMS -> break
	:: taken < DATAGRAMS ->
		ring ? ticket;
#ifdef RELEASE_FIRST
		released++;
#endif
		is_in_place = serial == ticket;
		if
		:: is_in_place ->
			copy[0] = page[2 * taken];
			copy[1] = page[2 * taken + 1];
#ifndef WITHOUT_SECOND_LOOK
			is_in_place = serial == ticket
#endif
		:: else
		fi;
		if
		:: !is_in_place ->
			copy[0] = room[2 * taken];
			copy[1] = room[2 * taken + 1]
		:: else
		fi;
		assert(copy[0] == taken + 1 && copy[1] == taken + 1);
		taken++;
#ifndef RELEASE_FIRST
		released++
#endif
	od
}
