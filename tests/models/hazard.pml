/* SPDX-License-Identifier: Apache-2.0 */
/*
 * RMA by stores into shared pages, and the deregistration of such a region.
 *
 * The initiator makes its hazard word odd, checks grant and key, stores, looks whether the access stands, and makes the word even. The owner
 * revokes the key, has all processors pass a fence, and waits while the word is odd. If the access does not end in time, the owner cuts the peer
 * off: it ends the grants, sets a bit in the hazard word, and moves all shared pages away.
 *
 * Stores of the initiator pass a store buffer, as on x86-64. Two requests share one access (rma_short_run), each in a region of its own; a third
 * request has an access for itself. The owner deregisters region 0.
 *
 * Claims: no byte gets into a region after its deregistration has returned; and a WRITE that the initiator counts as done is in the program's
 * pages, also if they have moved.
 */

#define CUT_OFF	64 /* RMA_HAZARD_CUT_OFF */
#define LOCKED	32 /* RMA_HAZARD_IS_LOCKED */
#define HAZARD	3  /* address; 0 to 2: the bytes of the requests */

bool is_fenced;	       /* process fences of the owner cover the initiator */
byte hazard;	       /* the counter, and the two bits */
bool is_revoked[2];    /* published keys of the regions */
bool is_granted = true;
bool shared_is_off;
bool page[3], moved_page[3];
bool has_moved, has_returned;
bool is_done[3];       /* the initiator has counted the WRITE */

/* The initiator's store buffer. */
chan buffer = [4] of { byte, byte };
byte hazards_buffered, last_hazard;

#define region_of(request) (request == 1 -> 1 : 0)

active proctype store_buffer()
{
	byte address, value;

end:	do
	:: atomic {
		buffer ? address, value;
		if
		:: address == HAZARD -> hazard = value; hazards_buffered--
		:: else ->
			assert(!(has_returned && !has_moved && region_of(address) == 0));
			page[address] = true
		fi;
		address = 0; value = 0
	   }
	od
}

inline load_hazard(into)
{
	into = (hazards_buffered -> last_hazard : hazard)
}

inline store_hazard(value)
{
	atomic { last_hazard = value; hazards_buffered++; buffer ! HAZARD, last_hazard }
}

/* hazard_begin, hazard_begin_without_fence */
inline hazard_begin()
{
	load_hazard(word);
	if
	:: is_fenced -> store_hazard(word | 1)
	:: else -> atomic { empty(buffer) -> hazard = word | 1 | LOCKED }
	fi
}

/* hazard_stands_clearly, hazard_stands_after_look */
inline hazard_stands()
{
	stands = true;
#ifndef WITHOUT_LOOK
	load_hazard(word);
	if
	:: !(word & (CUT_OFF | LOCKED))
	:: else ->
		atomic {
			empty(buffer);
			word = hazard;
#ifdef CLEARS_LOCK
			/* As it was once: the next request of this access had no fence of its own. */
			hazard = hazard & ~LOCKED;
#endif
			stands = !(word & CUT_OFF)
		}
	fi
#endif
}

inline hazard_end()
{
	load_hazard(word);
	store_hazard(word + 1)
}

/* find_target, move: one request within the access */
inline request(number)
{
#ifndef WITHOUT_RECHECK
	may = !is_revoked[region_of(number)];
	may = may && !shared_is_off;
#endif
	if
	:: may ->
		buffer ! number, 1;
		hazard_stands();
		if
		:: stands -> is_done[number] = true
		:: else -> may = false
		fi
	:: else
	fi
}

/* rma_short_run, rma_short_post, take_step */
active proctype initiator()
{
	byte word;
	bool may, stands;

	may = !is_revoked[0] && is_granted;
	hazard_begin();
#ifndef WITHOUT_RECHECK
	may = is_granted;
#endif
	if
	:: may -> request(0)
	:: else
	fi;
	if
	:: may -> request(1)
	:: else
	fi;
	hazard_end();

	hazard_begin();
	may = is_granted;
	if
	:: may -> request(2)
	:: else
	fi;
	hazard_end()
}

/* meet_peers: a process fence empties the store buffers of all processors; an own fence only its own, which this model's owner has not. */
inline meet_peers()
{
#ifdef WITHOUT_FENCE
	skip
#else
	if
	:: is_fenced -> empty(buffer)
	:: else
	fi
#endif
}

/* key_revoked, hazard_wait, cut_off, move_all_back */
active proctype owner()
{
	byte seen, i;
	bool is_cut_off;

	atomic {
		if
		:: is_fenced = true
		:: is_fenced = false
		fi
	}
	is_revoked[0] = true;
	meet_peers();
	seen = hazard;
#ifndef WITHOUT_WAIT
	if
	:: seen % 2 == 0
	:: seen % 2 && hazard != seen
	:: seen % 2 -> /* the deadline is over */
		is_granted = false;
		atomic {
			if
			:: hazard == seen -> hazard = hazard | CUT_OFF; is_cut_off = true
			:: else
			fi
		}
	fi;
#endif
	if
	:: is_cut_off ->
		meet_peers();
		shared_is_off = true;
		meet_peers();
		/* shared_mr_end */
		do
		:: i < 3 -> moved_page[i] = page[i]; i++
		:: else -> break
		od;
		has_moved = true
	:: else
	fi;
	has_returned = true
}

/* When all is over and the store buffer is empty. */
active proctype judge()
{
	byte i;

	atomic {
		timeout;
		do
		:: i < 3 ->
			assert(!is_done[i] || (has_moved -> moved_page[i] : page[i]));
			i++
		:: else -> break
		od
	}
}
