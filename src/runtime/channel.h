/* SPDX-License-Identifier: Apache-2.0 */
/* A pair of rings with somebody else: softibd (up and down), or another process (a direct ring each
 * way). */
#ifndef SOFTIB_RUNTIME_CHANNEL_H
#define SOFTIB_RUNTIME_CHANNEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/attributes.h"
#include "base/list.h"
#include "base/ring.h"
#include "base/time.h"
#include "base/word_ring.h"
#include "runtime/zcopy/ud_zcopy_state.h"
#include "runtime/fast/pingpong_hint.h"
#include "runtime/packets/rnr_hold.h"
#include "runtime/fast/burst.h"

/* A consumer that takes nothing for so long holds the head of the queue; packets to it are thrown
 * away like at a switch's head-of-queue limit, so that the senders' retry counters run (vol 1,
 * chapter 18). */
#define CHANNEL_STALL_NS MILLISECONDS(200)

struct grant_table;
struct pin_table;
struct rma_area;
struct rma_peer;

enum channel_state {
	CHANNEL_WANTED, /* named by softibd, not mapped yet */
	CHANNEL_OPEN,
	CHANNEL_DEAD, /* its peer wrote nonsense: never touched again */
};

struct channel {
	enum channel_state state;
	uint32_t id; /* of a direct ring */
	struct ring_producer out;
	struct ring_consumer in;
	struct word_producer words_out; /* of a direct channel, like words_in */
	struct word_consumer words_in;
	unsigned rounds_with_records; /* for runtime/fast/short_send.h */
	struct pingpong pingpong;
	struct burst_in burst_in; /* of a direct channel */
	struct rx_expected rx_expected;
	struct rnr_hold rnr_hold; /* with what lies next in the ring */
	unsigned release_in; /* not 0: idle rounds until the other end is shown how far we read */
	struct ud_zcopies zcopies; /* of ours, to the other end */
	int doorbell;		   /* the consumer's at the other end */
	void *memory;		   /* NULL unless the channel owns the mapping */
	size_t memory_bytes;
	struct list waiting;	 /* struct qp by ready_link: wants room */
	struct list unpublished; /* in the owner's list while records are not published */
	time_ns full_since;	 /* TIME_NEVER while nobody waits */
	uint64_t full_head;	 /* where the consumer stood then */
	bool is_stalled;	 /* throw away what does not fit */
	/* Of a direct ring (ipc/rma_area.h): what goes past the packets. */
	struct rma_area *rma_out;   /* what we do at the other end */
	struct rma_area *rma_in;    /* what the other end does here */
	struct rma_peer *peer;	    /* NULL: nothing can be done there */
	struct grant_table *grants; /* NULL: nobody has asked yet */
	struct pin_table *pins;	    /* runtime/rma/pinned_range.h; NULL: none */
	bool peer_takes_zcopy;	    /* runtime/zcopy/zcopy_send.h */
	uint64_t taken_head; /* where the consumer stood when it was last seen to have moved */
	time_ns taken_at;
};

void channel_init(struct channel *channel, uint32_t id);
void channel_open(struct channel *channel, void *out_memory, size_t out_bytes, void *in_memory,
		  size_t in_bytes, int doorbell);
/* The words beside the rings of a direct channel. */
void channel_open_words(struct channel *channel, void *out_memory, void *in_memory);
/* Unmaps and closes; nobody may wait on it. */
void channel_close(struct channel *channel);

static inline bool channel_is_corrupt(const struct channel *channel)
{
	return channel->out.is_corrupt || channel->in.is_corrupt;
}

static inline bool channel_has_words(const struct channel *channel)
{
	return channel->words_in.shared && !word_ring_is_empty(&channel->words_in);
}

/* Whether the other end has sent something that was not read. */
static inline bool channel_has_more(const struct channel *channel)
{
	return !ring_is_empty(&channel->in) || channel_has_words(channel);
}

/* Whether what was not read waits for the program. The helper looks after it every
 * RNR_HOLD_LOOK_NS; nobody need ring. */
static inline bool channel_holds_back(const struct channel *channel)
{
	return channel->rnr_hold.is_waiting;
}

/* Shows what was written to the other end, and wakes it if it sleeps. */
void channel_publish(struct channel *channel);
/* The helper has said on every channel that it sleeps: whether there is something to do after all.
 */
MUST_USE bool channel_sleep_end(struct channel *channel);
/* Gives room back to the other end, and wakes it if it waits for some. */
void channel_release(struct channel *channel);

/* Asks the other end to ring when there is more room; returns true if byte_count are free already.
 */
MUST_USE bool channel_wait_for_room(struct channel *channel, uint32_t byte_count);
/* There was no room at that time: starts or goes on measuring how long. */
void channel_is_full(struct channel *channel, time_ns now);
/* Whether those who wait should try again: there is room for byte_count, or the consumer has
 * stalled. */
bool channel_should_retry(struct channel *channel, time_ns now, uint64_t byte_count);
/* Whether the record that ends at position is still unread by a consumer that does take records. */
bool channel_is_underway(struct channel *channel, uint64_t position, time_ns now);
/* When channel_should_retry may turn true without the other end's doing. */
time_ns channel_deadline(const struct channel *channel);

#endif
