/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Going to sleep on a ring: no record and no ACK word waits for a consumer that sleeps.
 *
 * The producer writes a record, or a word of the word ring beside it, and then looks at consumer_sleeping. The consumer sets consumer_sleeping,
 * passes a fence, and then looks at both rings. Stores of the producer pass a store buffer, as on x86-64. With process fences the consumer's fence
 * covers the producer, which has none of its own (is_fenced); without them each has one. The down and up rings of softibd, whose four accesses are
 * sequentially consistent, are the case without process fences.
 *
 * Claim: everything is taken; a lost wake-up leaves the consumer asleep for ever, which spin reports as an invalid end state.
 */

#define NEWS	3 /* records and words */
#define RECORD	0
#define WORD	1

bool is_fenced;
bool consumer_sleeping;
byte written[2], taken[2]; /* records and words in memory, and those that the consumer has taken */
bool has_rung;		   /* the pipe holds one byte or many: all are read at once */

chan buffer = [NEWS] of { byte };

active proctype store_buffer()
{
	byte ring;

end:	do
	:: atomic { buffer ? ring; written[ring]++; ring = 0 }
	od
}

/* ring_commit_stamped or word_ring_put, then ring_announce (ring_publish for a plain ring) and doorbell_ring */
active proctype producer()
{
	byte count;
	bool was_sleeping;

	do
	:: count < NEWS ->
		if
		:: buffer ! RECORD
		:: buffer ! WORD
		fi;
		count++;
#ifndef WITHOUT_PRODUCER_FENCE
		if
		:: is_fenced
		:: else -> empty(buffer)
		fi;
#endif
		if
		:: !consumer_sleeping
		:: consumer_sleeping ->
			/* __atomic_exchange_n is a fence, too. */
			atomic { empty(buffer) -> was_sleeping = consumer_sleeping; consumer_sleeping = false }
			if
			:: was_sleeping -> has_rung = true
			:: else
			fi
		fi
	:: else -> break
	od
}

inline has_more(answer)
{
#ifdef WITHOUT_WORDS
	answer = written[RECORD] > taken[RECORD]
#else
	answer = written[RECORD] > taken[RECORD];
	answer = answer || written[WORD] > taken[WORD]
#endif
}

/* The progress thread: work, arm (begin_sleep, channel_sleep_end), wait_for_doorbell. A program that polls in between takes records, too, but
 * leaves consumer_sleeping as it is. */
active proctype consumer()
{
	bool found;

	atomic {
		if
		:: is_fenced = true
		:: is_fenced = false
		fi
	}
	do
	:: taken[RECORD] + taken[WORD] == NEWS -> break
	:: atomic { written[WORD] > taken[WORD] -> taken[WORD]++ }
	:: atomic { written[RECORD] > taken[RECORD] -> taken[RECORD]++ }
	:: else ->
		consumer_sleeping = true;
#ifndef WITHOUT_FENCE
		if
		:: is_fenced -> empty(buffer) /* process_fence */
		:: else
		fi;
#endif
#ifdef WITHOUT_RECHECK
		found = false;
#else
		has_more(found);
#endif
		if
		:: found -> consumer_sleeping = false /* ring_wake */
		:: else -> /* wait_for_doorbell; or nothing is left to be woken for */
			atomic { has_rung || taken[RECORD] + taken[WORD] == NEWS -> has_rung = false }
		fi
	od
}

/* A program of the consumer's process that polls now and then (short_receive_take). The lock is left out: each step is one lock hold. */
active proctype program()
{
	byte polls;

	do
	:: polls < 1 ->
		atomic {
			if
			:: written[WORD] > taken[WORD] -> taken[WORD]++
			:: written[RECORD] > taken[RECORD] -> taken[RECORD]++
			:: else
			fi
		}
		polls++
	:: break
	od
}
