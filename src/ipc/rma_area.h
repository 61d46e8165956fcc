/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The memory that two processes share for RMA (docs/architecture.md, "One-sided requests").
 *
 * Each process has a file of exported rkeys, which softibd makes and gives to the process and to
 * its peers on direct rings. The file says what the process's R_Keys stand for and how peers can
 * access its memory, and it has room for shared pages. Each direct ring has two areas, one per
 * direction. The target writes its grants there; the initiator writes its progress and its hazard
 * word.
 *
 * Each side treats the words that the other side writes as untrusted input.
 */
#ifndef SOFTIB_IPC_RMA_AREA_H
#define SOFTIB_IPC_RMA_AREA_H

#include <assert.h>
#include <stddef.h>
#include <stdint.h>
#include "net/memory/published_keys.h"

enum {
	RMA_QPS_MAX = 1 << 14, /* queue pairs per area; memory is allocated as they come */
	RKEY_EXPORT_PAGE_BYTES = 4096,
	RKEY_EXPORT_SHARED_BYTES = 256 << 20, /* shared pages; allocated as they are used */
	RKEY_EXPORT_ZCOPY_SERIALS = 512,
	PINNED_RANGES_MAX = 16, /* per area */
	PINNED_RANGE_BYTES = 64 << 10,
};

/* Written by its owner only. */
struct rkey_export_header {
	uint64_t nonce;		/* also stands at nonce_address in the owner's memory */
	uint64_t nonce_address; /* 0: the owner does not want peers to access its memory */
	uint32_t pid;
	uint32_t shared_is_off; /* the shared part is no longer in use */
	uint32_t is_moving; /* pages are being moved: RMA outside the shared part goes by packets */
	/* By queue pair: changed when zcopy messages (runtime/zcopy/zcopy_send.h) end without
	 * having been received. */
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

/* The grant of a target's queue pair to a queue pair of the initiator. */
struct rma_grant {
	uint32_t serial;     /* odd: the grant holds; changed with every change */
	uint32_t ask_number; /* of the request that this answers */
	uint64_t pd;	     /* of the keys: compared, never followed */
	uint32_t qpn;	     /* of the target */
	uint32_t access;     /* rights of its requests */
	uint32_t adapter_index;
	uint32_t reserved;
};

/* A pinned range of the target (runtime/rma/pinned_range.h): the buffer of the target's io_uring
 * with the same index. */
struct pinned_range {
	uint32_t serial; /* odd: the range holds; changed with every change */
	uint32_t byte_count;
	uint64_t key_id; /* published_key_id: the range holds while the key stands for this id */
	uint64_t begin;	 /* address in the target */
};

struct pinned_ranges {
	uint64_t proof; /* that the target can access the initiator's memory (struct pin_ask) */
	uint32_t ring_number; /* of the target's file, plus 1; 0: none */
	uint32_t answered;    /* ask_number of the last request */
	struct pinned_range ranges[PINNED_RANGES_MAX];
};

/* Bits of the hazard word. */
#define RMA_HAZARD_CUT_OFF   ((uint64_t)1 << 63) /* set by the target: the access has failed */
#define RMA_HAZARD_IS_LOCKED ((uint64_t)1 << 62) /* by the initiator: nobody fences for it */

struct rma_area {
	/* Written by the initiator. The hazard word: odd while a thread of the initiator accesses
	 * the target's memory; only one thread does at a time. The target sets
	 * RMA_HAZARD_CUT_OFF if an access does not end (runtime/rma/hazard_wait.h). */
	_Alignas(64) uint64_t hazard;
	_Alignas(64) uint64_t placed[RMA_QPS_MAX]; /* rma_progress_word() by index */
	_Alignas(64) uint32_t takes_zcopy;	   /* not 0: the initiator takes zcopy messages */
	uint32_t ud_zcopy_serial; /* changed when UD zcopies (runtime/zcopy/ud_zcopy.h) have been
				     copied into the ring instead */
	/* Written by the target. */
	_Alignas(64) struct rma_grant grants[RMA_QPS_MAX];
	_Alignas(64) struct pinned_ranges pinned;
};

/* Where the payload of a RECORD_ZCOPY lies in the sender's shared pages. */
struct zcopy_ticket {
	uint64_t place;
	uint32_t byte_count;
	uint16_t serial_index;
	uint16_t serial; /* the low half of the serial */
};

/* Where the payload of a RECORD_UD_ZCOPY lies. */
struct ud_zcopy_ticket {
	uint32_t place;
	uint32_t serial;
};

static_assert(RKEY_EXPORT_SHARED_BYTES <= UINT32_MAX, "a place is told in 32 bits");

/* Body of RECORD_RMA_GRANT_REQUEST; the headers of a packet follow, as the queue pair sends them.
 */
struct rma_grant_request {
	uint32_t index;
	uint32_t ask_number;
	uint64_t reserved;
};

/* Body of RECORD_PIN_ASKED: the initiator sends short WRITEs there, one after the other. */
struct pin_ask {
	uint32_t key;
	uint32_t ask_number;
	uint64_t address;	/* in the target */
	uint64_t proof_address; /* in the initiator: where the target reads the proof */
};

#endif
