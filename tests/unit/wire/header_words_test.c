/* SPDX-License-Identifier: Apache-2.0 */
/* Header words are the bytes of the encoders, for every field and for random fields (transport 1.2,
 * 1.4). */
#include "wire/header_words.h"

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>
#include "base/bytes.h"
#include "base/random.h"

enum { ROUNDS = 20000 };

static struct lrh random_lrh(struct random *random)
{
	return (struct lrh){
		.vl = (uint8_t)random_below(random, 16),
		.version = (uint8_t)random_below(random, 16),
		.sl = (uint8_t)random_below(random, 16),
		.lnh = (uint8_t)random_below(random, 4),
		.dlid = (uint16_t)random_next(random),
		.slid = (uint16_t)random_next(random),
		.words = (uint16_t)random_below(random, 1 << 11),
	};
}

static struct bth random_bth(struct random *random)
{
	const uint64_t bits = random_next(random);

	return (struct bth){
		.opcode = (uint8_t)random_next(random),
		.pad_bytes = (uint8_t)random_below(random, 4),
		.version = (uint8_t)random_below(random, 16),
		.solicited = bits & 1,
		.migrated = bits & 2,
		.fecn = bits & 4,
		.becn = bits & 8,
		.ack_request = bits & 16,
		.pkey = (uint16_t)random_next(random),
		.destination_qpn = (uint32_t)random_below(random, 1 << 24),
		.psn = psn_from((uint32_t)random_next(random)),
	};
}

static uint64_t encoded_lrh(struct lrh lrh)
{
	uint8_t bytes[LRH_BYTES];

	lrh_encode(&lrh, bytes);
	return get_be64(bytes);
}

static uint64_t encoded_bth(struct bth bth)
{
	uint8_t bytes[BTH_BYTES];

	bth_encode(&bth, bytes);
	return get_be64(bytes);
}

static void test_lrh_word_is_what_the_encoder_writes(void **state)
{
	struct random random = random_seeded(1);

	(void)state;
	for (unsigned i = 0; i < ROUNDS; i++) {
		const struct lrh lrh = random_lrh(&random);
		const uint64_t word = lrh_word(lrh);

		assert_true(word == encoded_lrh(lrh));
		assert_int_equal(lrh_word_sl(word), lrh.sl);
		assert_int_equal(lrh_word_dlid(word), lrh.dlid);
		assert_int_equal(lrh_word_slid(word), lrh.slid);
		assert_int_equal(lrh_word_bytes(word), lrh.words * 4);
	}
}

static void test_bth_word_is_what_the_encoder_writes(void **state)
{
	struct random random = random_seeded(2);

	(void)state;
	for (unsigned i = 0; i < ROUNDS; i++) {
		const struct bth bth = random_bth(&random);
		const uint64_t word = bth_word(bth);
		uint8_t bytes[BTH_BYTES];

		bth_encode(&bth, bytes);
		assert_true(word == get_be64(bytes));
		assert_int_equal(bth_word_pkey(word), bth.pkey);
		assert_int_equal(bth_word_pad_bytes(word), bth.pad_bytes);

		const uint32_t psn_word = get_be32(bytes + BTH_PSN_OFFSET);

		assert_int_equal(bth_psn_word(bth.ack_request, bth.psn), psn_word);
		assert_int_equal(bth_psn_word_asks(psn_word), bth.ack_request);
		assert_int_equal(psn_from(psn_word).value, bth.psn.value);
	}
}

/* Fields that are wider in the struct than in the header do not touch their neighbours. */
static void test_fields_beyond_their_bits_do_not_spill(void **state)
{
	const struct lrh lrh = {.version = 0xff, .sl = 0xff, .lnh = 0xff, .words = 0xffff};
	const struct bth bth = {.pad_bytes = 0xff, .version = 0xff, .destination_qpn = 0xffffffff};

	(void)state;
	assert_true(lrh_word(lrh) ==
		    (LRH_WORD_VERSION | LRH_WORD_SL | LRH_WORD_LNH | LRH_WORD_LENGTH));
	assert_true(lrh_word(lrh) == encoded_lrh(lrh));
	assert_true(bth_word(bth) == (BTH_WORD_PAD | BTH_WORD_VERSION | BTH_WORD_QPN));
	assert_true(bth_word(bth) == encoded_bth(bth));
}

/* Each mask has the bits of its field, and no others. */
static void test_each_mask_has_the_bits_of_its_field(void **state)
{
	const struct {
		uint64_t mask, word;
	} rows[] = {
		{LRH_WORD_VERSION, encoded_lrh((struct lrh){.version = 0xf})},
		{LRH_WORD_SL, encoded_lrh((struct lrh){.sl = 0xf})},
		{LRH_WORD_LNH, encoded_lrh((struct lrh){.lnh = 3})},
		{LRH_WORD_DLID, encoded_lrh((struct lrh){.dlid = 0xffff})},
		{LRH_WORD_LENGTH, encoded_lrh((struct lrh){.words = 0x7ff})},
		{LRH_WORD_SLID, encoded_lrh((struct lrh){.slid = 0xffff})},
		{BTH_WORD_OPCODE, encoded_bth((struct bth){.opcode = 0xff})},
		{BTH_WORD_IMMEDIATE, encoded_bth((struct bth){.opcode = 1})},
		{BTH_WORD_SOLICITED, encoded_bth((struct bth){.solicited = true})},
		{BTH_WORD_PAD, encoded_bth((struct bth){.pad_bytes = 3})},
		{BTH_WORD_VERSION, encoded_bth((struct bth){.version = 0xf})},
		{BTH_WORD_PKEY, encoded_bth((struct bth){.pkey = 0xffff})},
		{BTH_WORD_QPN, encoded_bth((struct bth){.destination_qpn = 0xffffff})},
	};

	(void)state;
	for (unsigned i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		assert_true(rows[i].mask == rows[i].word);
}

/* A template has neither length nor pad count; each message adds its own. */
static void test_length_and_pad_count_are_added_to_a_word_without_them(void **state)
{
	struct random random = random_seeded(3);

	(void)state;
	for (uint32_t payload_bytes = 0; payload_bytes <= 4096; payload_bytes++) {
		const uint32_t pad_bytes = (4 - payload_bytes % 4) % 4;
		const uint32_t packet_bytes =
			LRH_BYTES + BTH_BYTES + payload_bytes + pad_bytes + 4 /* ICRC */;
		struct lrh lrh = random_lrh(&random);
		struct bth bth = random_bth(&random);

		lrh.words = 0;
		bth.pad_bytes = 0;

		const uint64_t words[] = {lrh_word(lrh) | lrh_word_length(packet_bytes),
					  bth_word(bth) | bth_word_pad(payload_bytes)};

		lrh.words = (uint16_t)(packet_bytes / 4);
		bth.pad_bytes = (uint8_t)pad_bytes;
		assert_true(words[0] == encoded_lrh(lrh));
		assert_true(words[1] == encoded_bth(bth));
		assert_int_equal(lrh_word_bytes(words[0]), packet_bytes);
		assert_int_equal(bth_word_pad_bytes(words[1]), pad_bytes);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_lrh_word_is_what_the_encoder_writes),
		cmocka_unit_test(test_bth_word_is_what_the_encoder_writes),
		cmocka_unit_test(test_fields_beyond_their_bits_do_not_spill),
		cmocka_unit_test(test_each_mask_has_the_bits_of_its_field),
		cmocka_unit_test(test_length_and_pad_count_are_added_to_a_word_without_them),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
