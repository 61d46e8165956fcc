/* SPDX-License-Identifier: Apache-2.0 */
/* A queue pair's posted send requests, from posting to the return of their slots (vol 1, chapter
 * 10). */
#ifndef SOFTIB_NET_TRANSPORT_SEND_QUEUE_H
#define SOFTIB_NET_TRANSPORT_SEND_QUEUE_H

#include <stdbool.h>
#include <stdint.h>
#include "base/attributes.h"
#include "net/transport/address.h"
#include "net/transport/work_request.h"
#include "wire/psn.h"

struct span;

struct send_slot {
	uint64_t wr_id;
	uint64_t remote_address;
	union {
		struct {
			uint64_t compare_or_add;
			uint64_t swap;
		};
		struct {
			/* A copy, since the consumer may destroy the address handle right after
			 * posting. */
			struct address_vector address;
			const void *address_origin; /* the handle: compared, never dereferenced */
			uint32_t remote_qpn;
			uint32_t remote_qkey;
		};
		struct {
			uint64_t bind_byte_count;
			uint32_t bind_region_key;
			uint32_t bind_access;
		};
		struct {
			uint32_t flush_byte_count;
			uint8_t flush_placement;
			uint8_t flush_selectivity;
		};
		struct {
			uint64_t rd_operands[2]; /* one of the other operations */
			uint32_t rd_qpn;
			uint32_t rd_qkey;
		};
	};
	uint32_t remote_key;
	union {
		uint32_t remote_srqn; /* XRC */
		uint32_t eecn;	      /* RD */
	};
	uint32_t immediate_or_rkey;
	uint32_t byte_count;
	struct psn first_psn;  /* assigned when the request starts */
	uint32_t packet_count; /* PSNs it uses */
	uint8_t opcode;	       /* enum send_opcode */
	uint8_t flags;	       /* enum send_flag */
	uint8_t fault;	       /* enum completion_status that ends it instead of being sent */
	uint8_t sge_count;
	/* sges, then as many spans; or inline bytes. */
	uint8_t data[] __attribute__((aligned(16)));
};

/*
 * Positions are free-running and in this order: head (oldest slot the consumer has not got back),
 * done (oldest request not completed), started (oldest that has no PSN yet), tail. An unsignaled
 * request is done before its slot is free.
 */
struct send_queue {
	uint8_t *slots;
	uint32_t slot_bytes;
	uint32_t slot_count; /* a power of two, >= requests_max */
	uint32_t requests_max;
	uint32_t head;
	uint32_t done;
	uint32_t started;
	uint32_t tail;
	uint16_t sges_max;
	uint16_t inline_bytes_max;
	bool is_external; /* the slots are in memory that the owner provided */
};

enum {
	SEND_SGES_MAX = 255,
	SEND_INLINE_BYTES_MAX = 4096,
};

/* The longest message. A quarter of the PSN space at the smallest MTU, so that READs and retries
 * stay unambiguous. */
#define MESSAGE_BYTES_MAX (1u << 30)

/* How many inline bytes fit into a slot with that many SGEs without making it larger. */
uint32_t send_queue_inline_room(uint32_t sges_max);

MUST_USE int send_queue_init(struct send_queue *queue, uint32_t requests_max, uint32_t sges_max,
			     uint32_t inline_bytes_max);
void send_queue_release(struct send_queue *queue);
/* The bytes that the slots need, and using memory of the owner for them. The queue is empty. */
size_t send_queue_bytes(const struct send_queue *queue);
void send_queue_use_memory(struct send_queue *queue, void *memory);
/* Drops all requests. */
void send_queue_clear(struct send_queue *queue);

/* Copies the request, and inline bytes, into the next slot; the addressing says which part of the
 * union it has. -EINVAL: SGE count or inline size; -ENOMEM: full. */
enum send_addressing { SEND_CONNECTED, SEND_DATAGRAM, SEND_BY_EEC };
MUST_USE int send_queue_post(struct send_queue *queue, const struct send_request *request,
			     enum send_addressing addressing);

static inline bool send_queue_is_full(const struct send_queue *queue)
{
	return queue->tail - queue->head >= queue->requests_max;
}

static inline struct send_slot *send_queue_slot(const struct send_queue *queue, uint32_t position)
{
	return (struct send_slot *)(queue->slots + (size_t)(position & (queue->slot_count - 1)) *
							   queue->slot_bytes);
}

static inline struct sge *send_slot_sges(struct send_slot *slot)
{
	return (struct sge *)slot->data;
}

/* Room for as many spans as the slot has SGEs. */
static inline struct span *send_slot_spans(struct send_slot *slot)
{
	return (struct span *)(slot->data + slot->sge_count * sizeof(struct sge));
}

static inline bool send_slot_is_atomic(const struct send_slot *slot)
{
	return slot->opcode == SEND_COMPARE_SWAP || slot->opcode == SEND_FETCH_ADD;
}

static inline bool send_slot_is_read_or_atomic(const struct send_slot *slot)
{
	return slot->opcode == SEND_RDMA_READ || send_slot_is_atomic(slot);
}

/* FLUSH or ATOMIC WRITE: answered with an empty READ response (vol 1, annex A19). */
static inline bool send_slot_is_placement(const struct send_slot *slot)
{
	return slot->opcode == SEND_FLUSH || slot->opcode == SEND_ATOMIC_WRITE;
}

/* Whether the request needs a response of its own: an ACK does not complete it, and it uses one of
 * the peer's responder resources until then (transport 4.5). */
static inline bool send_slot_is_answered(const struct send_slot *slot)
{
	return send_slot_is_read_or_atomic(slot) || send_slot_is_placement(slot);
}

/* Executed by the adapter itself: no packet, no PSN. */
static inline bool send_slot_is_local(const struct send_slot *slot)
{
	return slot->opcode == SEND_BIND_WINDOW || slot->opcode == SEND_LOCAL_INVALIDATE;
}

#endif
