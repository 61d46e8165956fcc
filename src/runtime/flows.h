/* SPDX-License-Identifier: Apache-2.0 */
/* Flows: for each destination of this process, whether softibd relays the packets through its
 * fabric, or the flow is offloaded to the destination's ring. softibd decides
 * (docs/ipc-protocol.md). */
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

/* A program that sends datagrams to many destinations has many flows; a flow that was dropped from
 * the table is asked about again. */
enum { FLOWS_MAX = 8192 };

/* QPNs that differ only in these bits are one flow: softibd gives them to programs in such blocks.
 */
enum { FLOW_QPN_BITS = 10 };

enum flow_state {
	FLOW_UNRESOLVED,
	FLOW_RESOLVING, /* softibd was asked */
	FLOW_HOLDING, /* earlier packets are still under way: ask again at ask_at, and send nothing
			 until then */
	FLOW_RING_WANTED, /* the answer names a ring that is not mapped yet */
	FLOW_DIRECT,
	FLOW_FABRIC,
	FLOW_FABRIC_ALWAYS, /* multicast: no single peer to have a ring with */
};

/* The identity of a flow in one word: DLID, P_Key, QPN block, SL, source port. */
typedef uint64_t flow_key;

struct flow {
	flow_key key;
	uint32_t index;	     /* request_id of its questions */
	uint32_t generation; /* in which the answer holds */
	enum flow_state state;
	uint8_t hold_count;	   /* in a row */
	uint8_t fabric_count;	   /* answers "relay, for now" in a row */
	bool is_connection;	   /* a queue pair of this flow is connected to the destination */
	uint16_t destination_port; /* goes into the records of a direct ring */
	uint32_t mtu;		   /* bytes */
	uint32_t destination_qpn;  /* of the packet that asked */
	struct channel *channel;   /* open, or wanted */
	struct flow_counters *counters;
	time_ns ask_at;	     /* holding: when to ask; relayed: not before */
	struct list waiting; /* struct qp by ready_link */
	struct list holding; /* in flow_table.holding */
};

struct flow_table {
	struct flow **slots; /* open addressing, slot_count a power of two, at most half full */
	uint32_t slot_count;
	struct flow **flows; /* by index; NULL where a flow was dropped */
	uint32_t count;	     /* indexes in use, or used before */
	uint32_t capacity;
	uint32_t live_count;
	uint32_t next_free; /* every index below is in use */
	struct list holding;
	struct flow_counters *counters; /* FLOW_SLOTS of them, shared with softibd */
};

MUST_USE int flow_table_init(struct flow_table *table, struct flow_counters *counters);
void flow_table_release(struct flow_table *table);

static inline flow_key flow_key_make(unsigned adapter_index, uint8_t port_number, uint8_t sl,
				     uint16_t dlid, uint16_t pkey, uint32_t destination_qpn)
{
	uint64_t source = (uint64_t)(adapter_index & 63) << 8 | port_number;
	uint64_t block = destination_qpn >> FLOW_QPN_BITS & 0x3fff;

	return (uint64_t)dlid << 48 | (uint64_t)pkey << 32 | block << 18 |
	       (uint64_t)(sl & 15) << 14 | source;
}
flow_key flow_key_of(unsigned adapter_index, const struct qp_route *route);

/* The flow of that key; NULL: there is none. */
struct flow *flow_table_find(const struct flow_table *table, flow_key key);
/* The same, made if there is none; NULL: out of memory. */
struct flow *flow_table_get(struct flow_table *table, flow_key key, uint32_t destination_qpn);
/* Whether idle flows should be dropped now. */
static inline bool flow_table_is_full(const struct flow_table *table)
{
	return table->live_count >= FLOWS_MAX;
}

/* Drops the flows that no queue pair waits for and no answer is due for. The callers must not keep
 * pointers to them. */
void flow_table_forget_idle(struct flow_table *table);
/* By request_id; NULL: no such flow. */
struct flow *flow_table_at(const struct flow_table *table, uint32_t index);

/* The question about this flow for softibd; the flow is resolving from now on. */
struct resolve_request flow_ask(struct flow *flow, uint32_t generation);

/* Handles softibd's answer. The caller finds or makes the channel of a direct answer, which may not
 * be open yet. */
void flow_answer(struct flow_table *table, struct flow *flow, const struct resolve_answer *answer,
		 struct channel *channel, uint32_t generation, time_ns now);

/* Holding flows whose time has come become unresolved. Calls wake for each of them. */
void flow_table_expire(struct flow_table *table, time_ns now,
		       void (*wake)(void *context, struct flow *flow), void *context);
time_ns flow_table_deadline(const struct flow_table *table);

/* Every flow by that channel becomes unresolved; wake is called for the flows that used or wanted
 * the ring. */
void flow_table_forget_channel(struct flow_table *table, const struct channel *channel,
			       void (*wake)(void *context, struct flow *flow), void *context);
/* The channel is open: the flows that waited for it become direct. */
void flow_table_channel_opened(struct flow_table *table, const struct channel *channel,
			       void (*wake)(void *context, struct flow *flow), void *context);

/* Counts offloaded packets in words of four bytes, as on a link. */
static inline void flow_count(struct flow *flow, uint64_t packets, uint64_t words)
{
	struct flow_counters *counters = flow->counters;

	/* Only this process writes the counters; softibd reads them. */
	__atomic_store_n(&counters->packets, counters->packets + packets, __ATOMIC_RELAXED);
	__atomic_store_n(&counters->words, counters->words + words, __ATOMIC_RELAXED);
}

/* flow_count for the responses of requests that were carried out by RMA: ACKs, READ and atomic
 * responses. */
static inline void flow_count_returned(struct flow *flow, uint64_t packets, uint64_t words)
{
	struct flow_counters *counters = flow->counters;

	__atomic_store_n(&counters->returned_packets, counters->returned_packets + packets,
			 __ATOMIC_RELAXED);
	__atomic_store_n(&counters->returned_words, counters->returned_words + words,
			 __ATOMIC_RELAXED);
}

#endif
