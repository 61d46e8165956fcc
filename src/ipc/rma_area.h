/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What two processes share so that one can act on the other's memory (docs/architecture.md,
 * "One-sided requests").
 *
 * Each process has an exposure: memory that softibd makes and gives to it and to those that it has
 * a direct ring with. It says what the process's keys stand for, how its memory is reached, and has
 * room for pages that it shares. Each direct ring has two areas, one per direction: the target
 * grants queue pairs, the initiator says in them how far it has come and that it is at work right
 * now.
 *
 * Whoever reads what the other writes takes it for a stranger's word.
 */
#ifndef SOFTIB_IPC_RMA_AREA_H
#define SOFTIB_IPC_RMA_AREA_H

#include <assert.h>
#include <stddef.h>
#include <stdint.h>
#include "net/memory/published_keys.h"

enum {
	RMA_QPS_MAX = 1 << 14, /* queue pairs per area; memory is taken as they come */
	RKEY_EXPORT_PAGE_BYTES = 4096,
	RKEY_EXPORT_SHARED_BYTES = 256
				   << 20, /* of pages; taken from the machine as they are used */
	RKEY_EXPORT_ZCOPY_SERIALS = 512,
	PINNED_RANGES_MAX = 16, /* per area */
	PINNED_RANGE_BYTES = 64 << 10,
};

/* Written by its owner only. */
struct rkey_export_header {
	uint64_t nonce;		/* at nonce_address in the owner's memory too */
	uint64_t nonce_address; /* 0: the owner does not want its memory to be reached */
	uint32_t pid;
	uint32_t shared_is_off; /* nothing is in the shared part any more */
	uint32_t is_moving;	/* pages are: what is not in the shared part goes by packets */
	/* By queue pair: changed when messages that were sent to be pulled
	 * (runtime/zcopy/zcopy_send.h) end without having been received. */
	uint32_t zcopy_serials[RKEY_EXPORT_ZCOPY_SERIALS];
};

static_assert(sizeof(struct rkey_export_header) <= RKEY_EXPORT_PAGE_BYTES, "it has a page");

struct rkey_export_layout {
	size_t keys_offset;
	size_t shared_offset;
	size_t total_bytes;
};

static inline struct rkey_export_layout rkey_export_layout(void)
{
	const size_t keys_bytes = PUBLISHED_KEYS * sizeof(struct published_key);

	return (struct rkey_export_layout){
		.keys_offset = RKEY_EXPORT_PAGE_BYTES,
		.shared_offset = RKEY_EXPORT_PAGE_BYTES + keys_bytes,
		.total_bytes = RKEY_EXPORT_PAGE_BYTES + keys_bytes + RKEY_EXPORT_SHARED_BYTES,
	};
}

/* What a queue pair of the target grants one of the initiator. */
struct rma_grant {
	uint32_t serial;     /* odd: it holds; changed with every change */
	uint32_t ask_number; /* which question this answers */
	uint64_t pd;	     /* where the keys must be: compared, never followed */
	uint32_t qpn;	     /* of the target */
	uint32_t access;     /* what its requests may do */
	uint32_t adapter_index;
	uint32_t reserved;
};

/* Pages of the target that its ring has pinned (runtime/rma/pinned_range.h): a buffer of the ring
 * that has the index of the window. */
struct pinned_range {
	uint32_t serial; /* odd: it holds; changed with every change */
	uint32_t byte_count;
	uint64_t key_id; /* published_key_id: holds as long as that is what the key stands for */
	uint64_t begin;	 /* its address in the target */
};

struct pinned_ranges {
	uint64_t proof; /* that the target can reach the initiator's memory (struct pin_ask) */
	uint32_t ring_number; /* of the target's file, plus 1; 0: it has none */
	uint32_t answered;    /* the ask_number of the last question */
	struct pinned_range windows[PINNED_RANGES_MAX];
};

struct rma_area {
	/* The initiator's. Odd while it may be at the target's memory; one thread at a time is. */
	_Alignas(64) uint64_t hazard;
	_Alignas(64) uint64_t placed[RMA_QPS_MAX]; /* rma_progress_word() by index */
	_Alignas(64) uint32_t takes_zcopy; /* not 0: it takes messages whose payload is pulled */
	uint32_t ud_zcopy_serial;	   /* changed when datagrams that were lent
					  (runtime/zcopy/ud_zcopy.h) are	  in the ring instead */
	/* The target's. */
	_Alignas(64) struct rma_grant grants[RMA_QPS_MAX];
	_Alignas(64) struct pinned_ranges pinned;
};

/* Where the payload of a RECORD_ZCOPY is: in the shared part of the sender's exposure. */
struct zcopy_ticket {
	uint64_t place;
	uint32_t byte_count;
	uint16_t serial_index;
	uint16_t serial; /* the low half of it */
};

/* The same of a RECORD_UD_ZCOPY. */
struct ud_zcopy_ticket {
	uint32_t place;
	uint32_t serial;
};

static_assert(RKEY_EXPORT_SHARED_BYTES <= UINT32_MAX, "a place is told in 32 bits");

/* Body of RECORD_RMA_GRANT_REQUEST, before the headers of a packet as the queue pair sends them. */
struct rma_grant_request {
	uint32_t index;
	uint32_t ask_number;
	uint64_t reserved;
};

/* Body of RECORD_PIN_ASKED: short WRITEs go there, one after the other. */
struct pin_ask {
	uint32_t key;
	uint32_t ask_number;
	uint64_t address;	/* in the target */
	uint64_t proof_address; /* in the initiator: where the proof is to be found */
};

#endif
