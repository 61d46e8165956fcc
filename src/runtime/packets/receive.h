/* SPDX-License-Identifier: Apache-2.0 */
/* Receives records from softibd's ring and from the direct rings, in the order that keeps packets
 * in order (docs/ipc-protocol.md). */
#ifndef SOFTIB_RUNTIME_PACKETS_RECEIVE_H
#define SOFTIB_RUNTIME_PACKETS_RECEIVE_H

#include <stdbool.h>
#include "base/attributes.h"
#include "base/time.h"
#include "runtime/channel.h"

/* Room goes back to the producer in pieces, so that it can continue while we copy. Not for every
 * record: the producer reads our cache line to see whether we sleep. A piece is an eighth of a
 * direct ring, so that the room kept back never makes the producer wait. */
enum { RECEIVE_RELEASE_BYTES = 1 << 16 };

struct process_runtime;
struct ring_record;

/* Receives all records of a direct ring, without holding any back; and one record of it. */
bool receive_direct(struct process_runtime *runtime, struct channel *channel, time_ns now);
void receive_direct_record(struct process_runtime *runtime, struct channel *channel, time_ns now,
			   const struct ring_record *record);
/* Whether the record that was read last should wait for a receive request. If so, it is back in the
 * ring, with all records behind it. */
MUST_USE bool receive_is_held_back(const struct process_runtime *runtime, struct channel *channel,
				   time_ns now, const struct ring_record *record);
/* Gives room back to the producer now and then. */
static inline void receive_release_some(struct channel *channel)
{
	if (unlikely(channel->in.head - channel->in.released >= RECEIVE_RELEASE_BYTES))
		channel_release(channel);
}

/* Whether any ring has unread records. */
bool receive_has_more(const struct process_runtime *runtime);
/* Reads the records that have arrived by now. Returns whether there were any. */
bool receive_all(struct process_runtime *runtime, time_ns now);

#endif
