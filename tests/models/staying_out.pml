/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The progress thread stays out while the program polls, and comes back when the program goes to sleep.
 *
 * While it stays out, no ring has consumer_sleeping set, so no peer rings. A program that is about to sleep calls the thread. The thread leaves the
 * program alone after a trial in which the program polled, or because the program has excused it. Between the trial and the lock, the program may have
 * gone to sleep: then it has called a thread that was still listening, and the thread must not stay out.
 *
 * The looks by which the thread finds out about programs that sleep without a call are left out, so that a call is not lost and found later. Each
 * atomic block is one hold of the lock; what happens between flag and ring is in doorbell.pml.
 *
 * Claim: each record is taken, else the program sleeps for ever: an invalid end state.
 */

#define RECORDS 2

bool is_staying_out; /* progress.mode */
bool is_excused, is_called;
byte calls;
byte polls;
bool consumer_sleeping, has_rung;
byte written, taken;

/* adapter_poll, progress_thread_watch_polls; adapter_expect_silence (runtime_call_progress_thread), event_queue_wait */
active proctype program()
{
	byte before;

	do
	:: taken == RECORDS -> break
	:: taken < RECORDS ->
		do
		:: polls < 4 ->
			atomic {
				polls++;
				taken = written;
				if
				:: !is_staying_out -> /* it has polled for long */
					is_staying_out = true;
					is_excused = true;
					consumer_sleeping = false;
					has_rung = true
				:: true
				fi
			}
		:: break
		od;
		atomic {
			before = taken;
			calls++;
			if
			:: is_staying_out && !is_called -> is_called = true; has_rung = true
			:: else
			fi
		}
		taken != before || taken == RECORDS
	od
}

active proctype peer()
{
	do
	:: written == RECORDS -> break
	:: written < RECORDS ->
		atomic {
			written++;
			if
			:: consumer_sleeping -> consumer_sleeping = false; has_rung = true
			:: else
			fi
		}
	od
}

/* progress_thread.c: work_and_sleep, should_stay_out (program_polls), leave_it_alone, stay_out */
active proctype progress_thread()
{
	byte polls_before, calls_before;
	bool stays_out, was_called;

	do
	:: true ->
		atomic {
			if
			:: is_excused
			:: !is_excused ->
				taken = written;
				consumer_sleeping = true;
				is_staying_out = false
			fi
		}
		if
		:: is_excused -> stays_out = true
		:: else ->
end_listening:		atomic { has_rung -> has_rung = false }
			calls_before = calls;
			polls_before = polls;
			/* The trial takes as long as it takes. */
			stays_out = is_excused || polls != polls_before
		fi;
		if
		:: stays_out ->
			atomic {
				if
#ifndef WITHOUT_COUNT
				:: !is_staying_out && calls != calls_before -> stays_out = false
				:: is_staying_out || calls == calls_before ->
#else
				:: true ->
#endif
					is_staying_out = true;
					is_excused = false;
					consumer_sleeping = false
				fi
			}
		:: else
		fi;
		if
		:: stays_out ->
			do
			:: true ->
end_staying_out:		atomic { is_called || has_rung -> has_rung = false }
				atomic { was_called = is_called; is_called = false }
#ifdef WITHOUT_CALL
				was_called = false;
#endif
				if
				:: was_called -> break
				:: else
				fi
			od
		:: else
		fi
	od
}
