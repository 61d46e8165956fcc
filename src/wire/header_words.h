/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The LRH and the first eight bytes of the BTH as numbers, for code that writes and compares whole
 * headers. lrh_word and bth_word are the bytes of lrh_encode and bth_encode, read with get_be64
 * (tests/unit/wire/header_words_test.c). The last four bytes of the BTH, with AckReq and PSN, are
 * the word of bth_psn_word.
 */
#ifndef SOFTIB_WIRE_HEADER_WORDS_H
#define SOFTIB_WIRE_HEADER_WORDS_H

#include "wire/lrh.h"
#include "wire/transport_headers.h"

/* Fields of the LRH (transport 1.2). */
#define LRH_WORD_VERSION (UINT64_C(0xf) << 56)
#define LRH_WORD_SL	 (UINT64_C(0xf) << 52)
#define LRH_WORD_LNH	 (UINT64_C(3) << 48)
#define LRH_WORD_DLID	 (UINT64_C(0xffff) << 32)
#define LRH_WORD_LENGTH	 (UINT64_C(0x7ff) << 16)
#define LRH_WORD_SLID	 UINT64_C(0xffff)

/* Fields of the BTH (transport 1.4). The lowest bit of a SEND's opcode says whether it carries
 * immediate data. */
#define BTH_WORD_OPCODE	   (UINT64_C(0xff) << 56)
#define BTH_WORD_IMMEDIATE (UINT64_C(1) << 56)
#define BTH_WORD_SOLICITED (UINT64_C(1) << 55)
#define BTH_WORD_PAD	   (UINT64_C(3) << 52)
#define BTH_WORD_VERSION   (UINT64_C(0xf) << 48)
#define BTH_WORD_PKEY	   (UINT64_C(0xffff) << 32)
#define BTH_WORD_QPN	   UINT64_C(0xffffff)

static inline uint64_t lrh_word(struct lrh lrh)
{
	return (uint64_t)lrh.vl << 60 | (uint64_t)(lrh.version & 0xf) << 56 |
	       (uint64_t)(lrh.sl & 0xf) << 52 | (uint64_t)(lrh.lnh & 3) << 48 |
	       (uint64_t)lrh.dlid << 32 | (uint64_t)(lrh.words & 0x7ff) << 16 | lrh.slid;
}

static inline uint8_t lrh_word_sl(uint64_t word)
{
	return (uint8_t)(word >> 52 & 0xf);
}

static inline uint16_t lrh_word_dlid(uint64_t word)
{
	return (uint16_t)(word >> 32);
}

static inline uint16_t lrh_word_slid(uint64_t word)
{
	return (uint16_t)word;
}

/* PktLen in bytes: LRH to ICRC. */
static inline uint32_t lrh_word_bytes(uint64_t word)
{
	return (uint32_t)(word >> 16 & 0x7ff) * 4;
}

/* The field PktLen of a packet of so many bytes. */
static inline uint64_t lrh_word_length(uint32_t byte_count)
{
	return (uint64_t)(byte_count / 4 & 0x7ff) << 16;
}

static inline uint64_t bth_word(struct bth bth)
{
	return (uint64_t)bth.opcode << 56 | (uint64_t)bth.solicited << 55 |
	       (uint64_t)bth.migrated << 54 | (uint64_t)(bth.pad_bytes & 3) << 52 |
	       (uint64_t)(bth.version & 0xf) << 48 | (uint64_t)bth.pkey << 32 |
	       (uint64_t)bth.fecn << 31 | (uint64_t)bth.becn << 30 |
	       (bth.destination_qpn & 0xffffff);
}

static inline uint16_t bth_word_pkey(uint64_t word)
{
	return (uint16_t)(word >> 32);
}

static inline uint32_t bth_word_pad_bytes(uint64_t word)
{
	return (uint32_t)(word >> 52 & 3);
}

static inline uint64_t bth_word_pad(uint32_t payload_bytes)
{
	return (uint64_t)(-payload_bytes & 3) << 52;
}

static inline uint32_t bth_psn_word(bool ack_request, struct psn psn)
{
	return (uint32_t)ack_request << 31 | psn.value;
}

static inline bool bth_psn_word_asks(uint32_t word)
{
	return word >> 31;
}

#endif
