/* SPDX-License-Identifier: Apache-2.0 */
/* Flows: for each destination that this process sends to, whether its packets go through softibd's
 * fabric or straight into the destination's ring, as softibd decides (docs/ipc-protocol.md). */
#ifndef SOFTIB_RUNTIME_FLOWS_H
#define SOFTIB_RUNTIME_FLOWS_H

#include <stdbool.h>
#include <stdint.h>
#include "base/attributes.h"
#include "base/list.h"
#include "base/time.h"
#include "ipc/protocol.h"

struct channel;
struct qp_route;

/* A program that sends datagrams to many has many flows; forgotten ones are asked about again. */
enum { FLOWS_MAX = 8192 };

enum flow_state {
	FLOW_UNRESOLVED,
	FLOW_RESOLVING, /* softibd was asked */
	FLOW_HOLDING,	/* earlier packets are on their way: ask again at ask_at, send nothing until
			   then */
	FLOW_RING_WANTED, /* the answer names a ring that is not mapped yet */
	FLOW_DIRECT,
	FLOW_FABRIC,
	FLOW_FABRIC_ALWAYS, /* multicast: nobody to have a ring with */
};

/* What a flow is about, in one word: DLID, P_Key, QPN block, SL, source port. */
typedef uint64_t flow_key;

struct flow {
	flow_key key;
	uint32_t index;	     /* request_id of its questions */
	uint32_t generation; /* in which it was resolved */
	enum flow_state state;
	uint8_t hold_count;	   /* in a row */
	uint8_t fabric_count;	   /* answers "by the fabric, for now" in a row */
	uint16_t destination_port; /* goes into the records of a direct ring */
	uint32_t mtu;		   /* bytes */
	uint32_t destination_qpn;  /* of the packet that asked */
	struct channel *channel;   /* direct or wanted */
	struct flow_counters *counters;
	time_ns ask_at;	     /* holding: when to ask; fabric: not before */
	struct list waiting; /* struct qp by ready_link */
	struct list holding; /* in flow_table.holding */
};

struct flow_table {
	struct flow **slots; /* open addressing, slot_count a power of two, at most half full */
	uint32_t slot_count;
	struct flow **flows; /* by index; NULL where one was forgotten */
	uint32_t count;	     /* indexes that have been used */
	uint32_t capacity;
	uint32_t live_count;
	uint32_t next_free; /* no index below is free */
	struct list holding;
	struct flow_counters *counters; /* FLOW_SLOTS of them, shared with softibd */
};

MUST_USE int flow_table_init(struct flow_table *table, struct flow_counters *counters);
void flow_table_release(struct flow_table *table);

static inline flow_key flow_key_make(unsigned adapter_index, uint8_t port_number, uint8_t sl,
				     uint16_t dlid, uint16_t pkey, uint32_t destination_qpn)
{
	uint64_t source = (uint64_t)(adapter_index & 63) << 8 | port_number;
	uint64_t block = destination_qpn >> 10 & 0x3fff;

	return (uint64_t)dlid << 48 | (uint64_t)pkey << 32 | block << 18 |
	       (uint64_t)(sl & 15) << 14 | source;
}
flow_key flow_key_of(unsigned adapter_index, const struct qp_route *route);

/* The flow of that key, made if there is none; NULL when memory is out. */
struct flow *flow_table_get(struct flow_table *table, flow_key key, uint32_t destination_qpn);
/* So many that it is time to forget some. */
static inline bool flow_table_is_full(const struct flow_table *table)
{
	return table->live_count >= FLOWS_MAX;
}

/* Forgets those that nobody waits for and no answer is due to. Nobody may keep a pointer to one. */
void flow_table_forget_idle(struct flow_table *table);
/* By request_id; NULL for one that was never asked about. */
struct flow *flow_table_at(const struct flow_table *table, uint32_t index);

/* The question that this flow puts to softibd; it is resolving from now on. */
struct resolve_request flow_ask(struct flow *flow, uint32_t generation);

/* Softibd's answer. The channel of a direct answer is found or made by the caller and may not be
 * open yet. */
void flow_answer(struct flow_table *table, struct flow *flow, const struct resolve_answer *answer,
		 struct channel *channel, uint32_t generation, time_ns now);

/* Holding flows whose time has come go back to unresolved. Calls wake for each of them. */
void flow_table_expire(struct flow_table *table, time_ns now,
		       void (*wake)(void *context, struct flow *flow), void *context);
time_ns flow_table_deadline(const struct flow_table *table);

/* Every flow by that channel is to be asked about again; wake is called for those that had queue
 * pairs waiting. */
void flow_table_forget_channel(struct flow_table *table, const struct channel *channel,
			       void (*wake)(void *context, struct flow *flow), void *context);
/* The channel is open: those that waited for it may go. */
void flow_table_channel_opened(struct flow_table *table, const struct channel *channel,
			       void (*wake)(void *context, struct flow *flow), void *context);

/* Counts packets sent past the fabric: words of four bytes, as they would be on a link. */
static inline void flow_count(struct flow *flow, uint64_t packets, uint64_t words)
{
	struct flow_counters *counters = flow->counters;

	/* Only this process writes them; softibd reads. */
	__atomic_store_n(&counters->packets, counters->packets + packets, __ATOMIC_RELAXED);
	__atomic_store_n(&counters->words, counters->words + words, __ATOMIC_RELAXED);
}

/* The same for what came back without the peer's doing. */
static inline void flow_count_returned(struct flow *flow, uint64_t packets, uint64_t words)
{
	struct flow_counters *counters = flow->counters;

	__atomic_store_n(&counters->returned_packets, counters->returned_packets + packets,
			 __ATOMIC_RELAXED);
	__atomic_store_n(&counters->returned_words, counters->returned_words + words,
			 __ATOMIC_RELAXED);
}

#endif
