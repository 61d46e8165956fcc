/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The ring of a program that ended, killed or not.
 *
 * What it had written before counts as sent: its last record, and the ACK word by which our request completes. softibd marks the ring as closed after
 * the program's last thread is gone. We leave the ring when it is closed and, looked at after that, has nothing unread.
 *
 * Claim: all that the program wrote is taken.
 */

byte records_written, words_written;
bool is_closed;
bool has_rung;
bool has_ended;

/* A program at any place of which it may be killed. */
active proctype program()
{
	do
	:: records_written < 2 -> records_written++
	:: words_written < 2 -> words_written++
	:: true -> break
	od;
	has_ended = true
}

/* direct_rings_close, mark_closed */
active proctype softibd()
{
	has_ended;
	is_closed = true;
	has_rung = true
}

/* runtime_progress: receive_all (ack_words_take, receive_some), direct_channels_reap; arm and wait_for_doorbell are in doorbell.pml */
active proctype survivor()
{
	byte records, words;
	bool may_leave;

	do
	:: true ->
		words_written > words || records_written > records || has_rung;
		words = words_written;
		records = records_written;
#ifdef CLOSED_LAST
		may_leave = records == records_written && words == words_written;
		may_leave = may_leave && is_closed;
#else
		may_leave = is_closed;
		may_leave = may_leave && records == records_written;
#ifndef WITHOUT_WORDS
		may_leave = may_leave && words == words_written;
#endif
#endif
		if
		:: may_leave -> break
		:: else
		fi
	od;
	has_ended;
	assert(records == records_written && words == words_written)
}
