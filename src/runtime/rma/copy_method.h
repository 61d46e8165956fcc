/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which way of copying long messages is the faster one here: through the caches or past them
 * (runtime/rma/stream_copy.h).
 *
 * Nothing that can be asked for says: what the system tells of the last cache is the share of
 * nobody in particular, and on one processor a copy that stays in it is half as fast again as one
 * past it, on another slower. So it is tried. A way is judged by its best lap, that is as many
 * bytes as a message has, and a trial goes on as long as its laps get faster: the caches are full
 * of what the other way left there, and some hold on to it. The first lap does not count. The way
 * that lost is tried again, the more seldom the more often it has.
 */
#ifndef SOFTIB_RUNTIME_RMA_COPY_METHOD_H
#define SOFTIB_RUNTIME_RMA_COPY_METHOD_H

#include <stdbool.h>
#include <stdint.h>
#include "base/time.h"

enum copy_way { COPY_CACHED, COPY_PAST_CACHE, COPY_WAYS };

/* Messages of about one length. All zero: nothing is known yet. */
struct copy_method {
	uint8_t way; /* enum copy_way: for now */
	bool is_trial;
	uint32_t laps;	    /* of this way, so far */
	uint32_t idle_laps; /* the last of them, that were not faster */
	uint32_t laps_kept; /* how many the winner got the last time; 0: none has won yet */
	uint64_t lap_bytes;
	time_ns lap_ns;
	uint64_t best[COPY_WAYS]; /* ns for a GiB; 0: not known */
};

/* A part of such a message was copied that way, and took so long. */
void copy_method_note(struct copy_method *trials, uint64_t message_bytes, uint64_t byte_count,
		      time_ns took_ns);

#endif
