/* SPDX-License-Identifier: Apache-2.0 */
/* Work completions (vol 1, chapter 11). Numbers are the verbs' own. */
#ifndef SOFTIB_NET_TRANSPORT_COMPLETION_H
#define SOFTIB_NET_TRANSPORT_COMPLETION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include "base/attributes.h"

/* What each status reports (transport 4.7). */
enum completion_status {
	COMPLETION_SUCCESS = 0,
	COMPLETION_LOCAL_LENGTH = 1,
	COMPLETION_LOCAL_QP_OPERATION = 2,
	COMPLETION_LOCAL_EEC_OPERATION = 3,
	COMPLETION_LOCAL_PROTECTION = 4,
	COMPLETION_FLUSHED = 5,
	COMPLETION_WINDOW_BIND = 6,
	COMPLETION_BAD_RESPONSE = 7,
	COMPLETION_LOCAL_ACCESS = 8,
	COMPLETION_REMOTE_INVALID_REQUEST = 9,
	COMPLETION_REMOTE_ACCESS = 10,
	COMPLETION_REMOTE_OPERATION = 11,
	COMPLETION_RETRY_EXCEEDED = 12,
	COMPLETION_RNR_RETRY_EXCEEDED = 13,
	COMPLETION_LOCAL_RDD_VIOLATION = 14,
	COMPLETION_REMOTE_INVALID_RD_REQUEST = 15,
	COMPLETION_REMOTE_ABORTED = 16,
	COMPLETION_INVALID_EECN = 17,
	COMPLETION_INVALID_EEC_STATE = 18,
	COMPLETION_FATAL = 19,
	COMPLETION_RESPONSE_TIMEOUT = 20,
	COMPLETION_GENERAL = 21,
	COMPLETION_TAG_MATCHING = 22,
	COMPLETION_RENDEZVOUS_INCOMPLETE = 23,
};

enum completion_opcode {
	COMPLETED_SEND = 0,
	COMPLETED_WRITE = 1,
	COMPLETED_READ = 2,
	COMPLETED_COMPARE_SWAP = 3,
	COMPLETED_FETCH_ADD = 4,
	COMPLETED_BIND = 5,
	COMPLETED_LOCAL_INVALIDATE = 6,
	COMPLETED_FLUSH = 8,
	COMPLETED_ATOMIC_WRITE = 9,
	COMPLETED_RECEIVE = 128,
	COMPLETED_RECEIVE_WRITE_IMMEDIATE = 129,
	COMPLETED_TAG_ADD = 130,
	COMPLETED_TAG_DELETE = 131,
	COMPLETED_TAG_SYNC = 132,
	COMPLETED_TAG_RECEIVE = 133,
	COMPLETED_TAG_NONE = 134,
};

enum completion_flag {
	COMPLETION_HAS_GRH = 1 << 0,
	COMPLETION_HAS_IMMEDIATE = 1 << 1,
	COMPLETION_HAS_INVALIDATED = 1 << 3,
	COMPLETION_NEEDS_TAG_SYNC = 1 << 4,
	COMPLETION_TAG_MATCHED = 1 << 5,
	COMPLETION_TAG_DATA_VALID = 1 << 6,
};

/* The fields up to is_solicited have the layout of the verbs' work completion, so that a poll
 * copies them whole. */
struct completion {
	uint64_t wr_id;
	uint32_t status; /* enum completion_status */
	uint32_t opcode; /* enum completion_opcode */
	uint32_t vendor_error;
	uint32_t byte_count;
	uint32_t immediate_or_rkey; /* immediate as it stood in memory; an invalidated key in host
				       order */
	uint32_t qpn;
	uint32_t source_qpn;
	uint32_t flags; /* enum completion_flag */
	uint16_t pkey_index;
	uint16_t slid;
	uint8_t sl;
	uint8_t path_bits;
	bool is_solicited;
	uint8_t padding;       /* 0: completions are copied and compared whole */
	uint64_t timestamp_ns; /* the time handed in with the packet that completed it */
	uint64_t tag;
	union {
		/* What the sender wrote beside the tag, as it stood in memory. */
		uint32_t tag_context;
		uint32_t eecn; /* RD: the local EE context by which the message came */
	};
	uint32_t more_padding;
};

static inline void completion_put_word(struct completion *completion, size_t offset, uint64_t word)
{
	__asm__("" : "+r"(word));
	memcpy((uint8_t *)completion + offset, &word, sizeof(word));
}

/* Writes a completion in words, since a poll will soon read it in words
 * (api/libibverbs/data/poll.c). A word that was stored in parts can't be loaded until all parts
 * have left the store buffer. */
static IN_LINE void completion_write(struct completion *place, struct completion value)
{
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
	completion_put_word(place, offsetof(struct completion, wr_id), value.wr_id);
	completion_put_word(place, offsetof(struct completion, status),
			    value.status | (uint64_t)value.opcode << 32);
	completion_put_word(place, offsetof(struct completion, vendor_error),
			    value.vendor_error | (uint64_t)value.byte_count << 32);
	completion_put_word(place, offsetof(struct completion, immediate_or_rkey),
			    value.immediate_or_rkey | (uint64_t)value.qpn << 32);
	completion_put_word(place, offsetof(struct completion, source_qpn),
			    value.source_qpn | (uint64_t)value.flags << 32);
	completion_put_word(place, offsetof(struct completion, pkey_index),
			    value.pkey_index | (uint64_t)value.slid << 16 |
				    (uint64_t)value.sl << 32 | (uint64_t)value.path_bits << 40 |
				    (uint64_t)value.is_solicited << 48);
	place->timestamp_ns = value.timestamp_ns;
	place->tag = value.tag;
	completion_put_word(place, offsetof(struct completion, tag_context), value.tag_context);
#else
	*place = value;
#endif
}

/* Copies in words: a vector load of two fields that were just stored would wait until both have
 * left the store buffer. */
static IN_LINE void completion_copy_words(void *place, const void *from, size_t byte_count)
{
	for (size_t at = 0; at < byte_count; at += sizeof(uint64_t)) {
		uint64_t word;

		memcpy(&word, (const uint8_t *)from + at, sizeof(word));
		__asm__("" : "+r"(word));
		memcpy((uint8_t *)place + at, &word, sizeof(word));
	}
}

/* Copies a completion that was written long ago, with its own wr_id and time. */
static IN_LINE void completion_write_from(struct completion *place, const struct completion *like,
					  uint64_t wr_id, uint64_t timestamp_ns)
{
	enum {
		FIRST = offsetof(struct completion, status),
		BEHIND = offsetof(struct completion, timestamp_ns),
	};

	place->wr_id = wr_id;
	completion_copy_words((uint8_t *)place + FIRST, (const uint8_t *)like + FIRST,
			      BEHIND - FIRST);
	place->timestamp_ns = timestamp_ns;
	place->tag = 0;
	completion_put_word(place, offsetof(struct completion, tag_context), 0);
}

#endif
