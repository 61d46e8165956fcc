/* SPDX-License-Identifier: Apache-2.0 */
/* Base and extended transport headers against literal bytes (transport 1.4, 1.5, 3.1). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <string.h>
#include "vectors/hex.h"
#include "wire/transport_headers.h"

static void expect_bytes(const uint8_t *bytes, const char *hex)
{
	uint8_t expected[64];
	size_t byte_count = hex_bytes(hex, sizeof(expected), expected);

	assert_memory_equal(bytes, expected, byte_count);
}

static void test_bth_sample_encodes(void **state)
{
	(void)state;
	struct bth bth = {
		.opcode = 0x0a,
		.pad_bytes = 2,
		.pkey = 0x2487,
		.destination_qpn = 0x87b1b3,
		.psn = psn_from(0x0dec2a),
	};
	uint8_t bytes[BTH_BYTES];

	bth_encode(&bth, bytes);
	expect_bytes(bytes, "0a 20 2487 00 87b1b3 00 0dec2a");
}

static void test_each_bth_flag_has_its_bit(void **state)
{
	(void)state;
	const struct {
		struct bth bth;
		const char *hex;
	} rows[] = {
		{{.solicited = true}, "00 80 0000 00000000 00000000"},
		{{.migrated = true}, "00 40 0000 00000000 00000000"},
		{{.pad_bytes = 3}, "00 30 0000 00000000 00000000"},
		{{.version = 0xf}, "00 0f 0000 00000000 00000000"},
		{{.fecn = true}, "00 00 0000 80000000 00000000"},
		{{.becn = true}, "00 00 0000 40000000 00000000"},
		{{.ack_request = true}, "00 00 0000 00000000 80000000"},
	};

	for (size_t i = 0; i < ARRAY_COUNT(rows); i++) {
		uint8_t bytes[BTH_BYTES];
		struct bth again;

		bth_encode(&rows[i].bth, bytes);
		expect_bytes(bytes, rows[i].hex);
		assert_true(bth_decode(bytes, sizeof(bytes), &again));
		assert_int_equal(again.solicited, rows[i].bth.solicited);
		assert_int_equal(again.migrated, rows[i].bth.migrated);
		assert_int_equal(again.pad_bytes, rows[i].bth.pad_bytes);
		assert_int_equal(again.version, rows[i].bth.version);
		assert_int_equal(again.fecn, rows[i].bth.fecn);
		assert_int_equal(again.becn, rows[i].bth.becn);
		assert_int_equal(again.ack_request, rows[i].bth.ack_request);
	}
}

static void test_bth_ignores_reserved_bits(void **state)
{
	(void)state;
	uint8_t bytes[BTH_BYTES];
	struct bth bth;

	assert_int_equal(hex_bytes("11 40 ffff 3f000109 7fa788c0", sizeof(bytes), bytes),
			 BTH_BYTES);
	assert_true(bth_decode(bytes, sizeof(bytes), &bth));
	assert_int_equal(bth.opcode, 0x11);
	assert_int_equal(bth.pkey, 0xffff);
	assert_int_equal(bth.destination_qpn, 0x109);
	assert_false(bth.fecn);
	assert_false(bth.becn);
	assert_false(bth.ack_request);
	assert_int_equal(bth.psn.value, 0xa788c0);
	for (size_t byte_count = 0; byte_count < BTH_BYTES; byte_count++)
		assert_false(bth_decode(bytes, byte_count, &bth));
}

static void test_reth_and_atomic_eth_round_trip(void **state)
{
	(void)state;
	struct reth reth = {.address = 0x01710a1c015d4002, .rkey = 0x38f27a05, .bytes = 14};
	struct atomic_eth atomic = {.address = 0x0102030405060708,
				    .rkey = 0x090a0b0c,
				    .swap_or_add = 0x1112131415161718,
				    .compare = 0x2122232425262728};
	uint8_t bytes[ATOMIC_ETH_BYTES];
	struct reth reth_again;
	struct atomic_eth atomic_again;

	reth_encode(&reth, bytes);
	expect_bytes(bytes, "01710a1c015d4002 38f27a05 0000000e");
	reth_decode(bytes, &reth_again);
	assert_int_equal(reth_again.address, reth.address);
	assert_int_equal(reth_again.rkey, reth.rkey);
	assert_int_equal(reth_again.bytes, reth.bytes);

	atomic_eth_encode(&atomic, bytes);
	expect_bytes(bytes, "0102030405060708 090a0b0c 1112131415161718 2122232425262728");
	atomic_eth_decode(bytes, &atomic_again);
	assert_int_equal(atomic_again.address, atomic.address);
	assert_int_equal(atomic_again.rkey, atomic.rkey);
	assert_int_equal(atomic_again.swap_or_add, atomic.swap_or_add);
	assert_int_equal(atomic_again.compare, atomic.compare);
}

static void test_small_headers_round_trip(void **state)
{
	(void)state;
	struct deth deth = {.qkey = 0x80010000, .source_qpn = 0xff000001};
	struct aeth aeth = {.syndrome = 0x63, .msn = 0xff123456};
	struct feth feth = {.selectivity = 1, .placement = 2};
	uint8_t bytes[8];

	deth_encode(&deth, bytes);
	expect_bytes(bytes, "80010000 00000001");
	bytes[4] = 0xee; /* reserved */
	deth_decode(bytes, &deth);
	assert_int_equal(deth.qkey, 0x80010000);
	assert_int_equal(deth.source_qpn, 1);

	aeth_encode(&aeth, bytes);
	expect_bytes(bytes, "63 123456");
	aeth_decode(bytes, &aeth);
	assert_int_equal(aeth.syndrome, 0x63);
	assert_int_equal(aeth.msn, 0x123456);

	feth_encode(&feth, bytes);
	expect_bytes(bytes, "00000012");
	feth_decode(bytes, &feth);
	assert_int_equal(feth.selectivity, 1);
	assert_int_equal(feth.placement, 2);
}

static void test_syndromes_split_into_kind_and_value(void **state)
{
	(void)state;
	assert_int_equal(aeth_syndrome(AETH_NAK, NAK_REMOTE_ACCESS), 0x62);
	assert_int_equal(aeth_syndrome(AETH_RNR_NAK, 12), 0x2c);
	assert_int_equal(aeth_syndrome(AETH_ACK, AETH_CREDITS_UNLIMITED), 0x1f);
	for (unsigned syndrome = 0; syndrome < 128; syndrome++)
		assert_int_equal(
			aeth_syndrome(aeth_kind((uint8_t)syndrome), aeth_value((uint8_t)syndrome)),
			syndrome);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_bth_sample_encodes),
		cmocka_unit_test(test_each_bth_flag_has_its_bit),
		cmocka_unit_test(test_bth_ignores_reserved_bits),
		cmocka_unit_test(test_reth_and_atomic_eth_round_trip),
		cmocka_unit_test(test_small_headers_round_trip),
		cmocka_unit_test(test_syndromes_split_into_kind_and_value),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
