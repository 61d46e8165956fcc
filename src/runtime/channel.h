/* SPDX-License-Identifier: Apache-2.0 */
/* A channel: a pair of rings with softibd (up and down) or with another process (a direct ring each
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
#include "net/transport/packet_source.h"
#include "runtime/zcopy/ud_zcopy_state.h"
#include "runtime/fast/pingpong_hint.h"
#include "runtime/packets/rnr_hold.h"
#include "runtime/fast/burst.h"

/* A consumer that takes nothing for this long holds up its queue. Packets to it are discarded, as
 * at the head-of-queue limit of a switch, so that the senders' retry counters run (vol 1, chapter
 * 18). */
#define CHANNEL_STALL_NS MILLISECONDS(200)

/* Records that are unread for so long count as lost, though their reader lives. On a machine with
 * many programs per processor, the kernel let softibd wait for 0.8 s after it was woken. */
#define CHANNEL_UNREAD_NS SECONDS(2)

struct grant_table;
struct pin_table;
struct rma_area;
struct rma_peer;

/* The peer's accesses to this process's memory (runtime/rma/hazard_wait.h). */
struct hazard_watch {
	uint64_t seen;	 /* the hazard word when the last wait began */
	bool is_cut_off; /* for the life of the channel: the peer gets no grant */
	bool may_copy;	 /* just cut off: it may be in a system call that copies */
};

enum channel_state {
	CHANNEL_WANTED, /* named by softibd, not mapped yet */
	CHANNEL_OPEN,
	CHANNEL_DEAD, /* the peer wrote malformed records: never used again */
};

struct channel {
	enum channel_state state;
	uint32_t id; /* of a direct ring */
	struct ring_producer out;
	struct ring_consumer in;
	struct packet_source source; /* what may come by `in` (runtime/packets/ring_grants.h) */
	uint64_t grants_read; /* position in the down ring up to which grants were looked for */
	struct word_producer words_out; /* of a direct channel, as words_in */
	struct word_consumer words_in;
	unsigned rounds_with_records; /* for runtime/fast/short_receive.c */
	struct pingpong pingpong;
	struct burst_in burst_in; /* of a direct channel */
	/* The queue pair that took the last single packet; it is there while its adapter's epoch is
	 * this one (net/transport/fast/templates.h). NULL: none. */
	struct qp *receiver;
	const uint64_t *receiver_epoch_at;
	uint64_t receiver_epoch;
	struct rnr_hold rnr_hold; /* of the next record in the ring */
	unsigned release_in; /* not 0: idle rounds until we show the peer how far we have read */
	struct ud_zcopies zcopies; /* our UD zcopies to the peer */
	int doorbell;		   /* the peer's, to wake the consumer of `out` */
	void *memory;		   /* NULL unless the channel owns the mapping */
	size_t memory_bytes;
	struct list waiting;	 /* struct qp by ready_link that wait for room */
	struct list unpublished; /* in the runtime's list while records are unpublished */
	time_ns full_since;	 /* TIME_NEVER while no queue pair waits */
	uint64_t full_head;	 /* the consumer's position at that time */
	bool is_stalled;	 /* discard packets that do not fit */
	/* RMA by a direct ring (ipc/rma_area.h). */
	struct rma_area *rma_out; /* our RMA at the peer */
	struct rma_area *rma_in;  /* the peer's RMA here */
	struct rma_peer *peer;	  /* NULL: no RMA is possible there */
	struct hazard_watch hazard;
	bool is_exposed;	    /* the peer may map our shared pages */
	bool has_exposure;	    /* the peer's can be fetched */
	struct grant_table *grants; /* NULL: the peer has not asked yet */
	struct pin_table *pins;	    /* runtime/rma/pinned_range.h; NULL: none */
	bool peer_takes_zcopy;	    /* runtime/zcopy/zcopy_send.h */
	uint64_t taken_head; /* the consumer's position when it was last found to have moved */
	time_ns taken_at;
};

void channel_init(struct channel *channel, uint32_t id);
void channel_open(struct channel *channel, void *out_memory, size_t out_bytes, void *in_memory,
		  size_t in_bytes, int doorbell);
/* Opens the word rings beside the rings of a direct channel. */
void channel_open_words(struct channel *channel, void *out_memory, void *in_memory);
/* Unmaps and closes; no queue pair may wait on the channel. */
void channel_close(struct channel *channel);

static inline bool channel_is_corrupt(const struct channel *channel)
{
	return channel->out.is_corrupt || channel->in.is_corrupt;
}

static inline bool channel_has_words(const struct channel *channel)
{
	return channel->words_in.shared && !word_ring_is_empty(&channel->words_in);
}

/* Whether the peer has sent something that was not read yet. */
static inline bool channel_has_more(const struct channel *channel)
{
	return !ring_is_empty(&channel->in) || channel_has_words(channel);
}

/* Whether the unread records wait for the program to post a receive. The progress thread checks
 * them every RNR_HOLD_LOOK_NS; nobody has to ring. */
static inline bool channel_holds_back(const struct channel *channel)
{
	return channel->rnr_hold.is_waiting;
}

/* Shows the written records to the peer, and wakes the peer if it sleeps. */
void channel_publish(struct channel *channel);
/* The progress thread has marked every ring as sleeping: returns whether there is something to do
 * after all. */
MUST_USE bool channel_sleep_end(struct channel *channel);
/* Gives room back to the peer, and wakes the peer if it waits for room. */
void channel_release(struct channel *channel);

/* Asks the peer to ring when there is more room; true: byte_count bytes are free already. */
MUST_USE bool channel_wait_for_room(struct channel *channel, uint32_t byte_count);
/* The ring had no room at that time: starts or continues measuring for how long. */
void channel_is_full(struct channel *channel, time_ns now);
/* Whether the waiting queue pairs should try again: byte_count bytes are free, or the consumer has
 * stalled. */
bool channel_should_retry(struct channel *channel, time_ns now, uint64_t byte_count);
/* Whether the record that ends at position is unread, and its consumer still takes records. */
bool channel_is_underway(struct channel *channel, uint64_t position, time_ns now);
/* When channel_should_retry may become true without an act of the peer. */
time_ns channel_deadline(const struct channel *channel);

#endif
