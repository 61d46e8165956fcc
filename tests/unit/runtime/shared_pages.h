/* SPDX-License-Identifier: Apache-2.0 */
/* The second end's buffer as if it were a shared MR: bytes written by RMA show in the shared pages
 * and nowhere else, so that a test sees which way a request took. */
#ifndef SOFTIB_TESTS_SHARED_PAGES_H
#define SOFTIB_TESTS_SHARED_PAGES_H

#include "unit/runtime/runtime_pair.h"

enum { PLACE = 40960 };

static inline uint64_t page_begin(void)
{
	return ((uintptr_t)pair.ends[1].buffer + 4095) & ~UINT64_C(4095);
}

/* 0: not shared. */
static inline void share(uint64_t place_plus_1)
{
	runtime_lock(pair_runtime());
	assert_true(published_keys_put(pair_runtime()->rkey_export.keys, 1, pair.ends[1].region,
				       place_plus_1));
	__atomic_store_n(&pair_runtime()->rkey_export.header->shared_is_off, 0, __ATOMIC_SEQ_CST);
	runtime_unlock(pair_runtime());
}

static inline uint8_t *shared(void)
{
	return pair.softibd.rkey_export + rkey_export_layout().shared_offset + PLACE;
}

/* What a WRITE of the first end leaves behind. */
struct books {
	uint32_t psn, messages;
	uint64_t packets, words, returned_packets, returned_words;
};

static inline struct books books(void)
{
	const struct flow_counters *counters =
		(const void *)(pair.softibd.process + process_layout().flows_offset);
	const struct rma *rma = pair.ends[0].qp->qp.owner_rma;

	return (struct books){
		.psn = pair.ends[0].qp->qp.requester.next_psn.value,
		.messages = rma->message_count,
		.packets = counters[2].packets,
		.words = counters[2].words,
		.returned_packets = counters[2].returned_packets,
		.returned_words = counters[2].returned_words,
	};
}

#endif
