/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which method of copying long messages is faster here: through the caches or past them
 * (runtime/rma/stream_copy.h).
 *
 * The system has no answer to that. The cache size that it reports is not this process's share, and
 * a copy that stays in the last-level cache is half as fast again as one past it on one processor,
 * and slower on another. So both methods are timed. A method's result is its best lap; a lap has as
 * many bytes as a message. A trial goes on while its laps get faster, because the caches are still
 * full of data from the other method. The first lap does not count. The method that lost is tried
 * again, at longer intervals each time it loses.
 */
#ifndef SOFTIB_RUNTIME_RMA_COPY_METHOD_H
#define SOFTIB_RUNTIME_RMA_COPY_METHOD_H

#include <stdbool.h>
#include <stdint.h>
#include "base/time.h"

enum copy_way { COPY_CACHED, COPY_PAST_CACHE, COPY_WAYS };

/* For messages of about one length. All zero: nothing is known yet. */
struct copy_method {
	uint8_t way; /* enum copy_way: in use now */
	bool is_trial;
	uint32_t laps;	    /* of this method so far */
	uint32_t idle_laps; /* the latest laps that were not faster */
	uint32_t laps_kept; /* laps that the last winner was given; 0: no trial has ended yet */
	uint64_t lap_bytes;
	time_ns lap_ns;
	uint64_t best[COPY_WAYS]; /* ns per GiB; 0: not known */
};

/* A part of a message was copied with the current method and took took_ns. */
void copy_method_note(struct copy_method *trials, uint64_t message_bytes, uint64_t byte_count,
		      time_ns took_ns);

#endif
