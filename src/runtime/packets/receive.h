/* SPDX-License-Identifier: Apache-2.0 */
/* Records in: from softibd's ring and from the direct ones, in the order that keeps packets in
 * order (docs/ipc-protocol.md). */
#ifndef SOFTIB_RUNTIME_PACKETS_RECEIVE_H
#define SOFTIB_RUNTIME_PACKETS_RECEIVE_H

#include <stdbool.h>
#include "base/attributes.h"
#include "base/time.h"
#include "runtime/channel.h"

/* Room goes back to the producer in pieces, so that it can go on while we copy; not for every
 * record, since the producer reads our cache line to see whether we sleep. A piece is an eighth of
 * a direct ring: what is kept back never makes the producer wait. */
enum { RECEIVE_RELEASE_BYTES = 1 << 16 };

struct process_runtime;
struct ring_record;

/* All that lies in a direct ring, whoever has to wait for what; and one record of it. */
bool receive_direct(struct process_runtime *runtime, struct channel *channel, time_ns now);
void receive_direct_record(struct process_runtime *runtime, struct channel *channel, time_ns now,
			   const struct ring_record *record);
/* Whether the record that was read last had better wait for a receive request. If so it is back in
 * the ring, and so is all that comes behind it. */
MUST_USE bool receive_is_held_back(const struct process_runtime *runtime, struct channel *channel,
				   time_ns now, const struct ring_record *record);
/* Gives room back to the producer now and then. */
static inline void receive_release_some(struct channel *channel)
{
	if (unlikely(channel->in.head - channel->in.released >= RECEIVE_RELEASE_BYTES))
		channel_release(channel);
}

/* Whether something lies in the rings. */
bool receive_has_more(const struct process_runtime *runtime);
/* Reads what has arrived by now. Returns whether there was anything. */
bool receive_all(struct process_runtime *runtime, time_ns now);

#endif
