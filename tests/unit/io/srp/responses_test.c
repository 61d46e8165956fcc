/* SPDX-License-Identifier: Apache-2.0 */
/* SRP_RSP with response data and sense data, and with lengths that lie. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <string.h>

#include "base/bytes.h"
#include "io/srp/responses.h"

static void test_plain_response_has_only_the_fixed_bytes(void **state)
{
	const struct srp_response response = {.rsp = {.tag = 5, .request_limit_delta = 1}};
	uint8_t bytes[SRP_RSP_BYTES_MAX];
	struct srp_response back;

	(void)state;
	assert_int_equal(srp_response_encode(&response, bytes), SRP_RSP_BYTES);
	assert_int_equal(bytes[0], SRP_RSP);
	assert_true(srp_response_decode(bytes, SRP_RSP_BYTES, &back));
	assert_int_equal(back.rsp.tag, 5);
	assert_false(back.has_response_code);
	assert_int_equal(back.sense_byte_count, 0);
	for (size_t length = 0; length < SRP_RSP_BYTES; length++)
		assert_false(srp_response_decode(bytes, length, &back));
	bytes[0] = SRP_LOGIN_RSP;
	assert_false(srp_response_decode(bytes, SRP_RSP_BYTES, &back));
}

static void test_response_code_comes_before_sense(void **state)
{
	struct srp_response response = {.has_response_code = true,
					.response_code = SRP_RESPONSE_FAILED,
					.sense_byte_count = 3,
					.sense = {0x70, 1, 2}};
	uint8_t bytes[SRP_RSP_BYTES_MAX];
	struct srp_response back;

	(void)state;
	assert_int_equal(srp_response_encode(&response, bytes), SRP_RSP_BYTES + 7);
	assert_int_equal(bytes[18], SRP_RSP_HAS_RESPONSE | SRP_RSP_HAS_SENSE);
	assert_int_equal(get_be32(bytes + SRP_RSP_BYTES), SRP_RESPONSE_FAILED);
	assert_int_equal(bytes[SRP_RSP_BYTES + 4], 0x70);
	assert_true(srp_response_decode(bytes, SRP_RSP_BYTES + 7, &back));
	assert_true(back.has_response_code);
	assert_int_equal(back.response_code, SRP_RESPONSE_FAILED);
	assert_memory_equal(back.sense, response.sense, 3);
	for (size_t length = 0; length < SRP_RSP_BYTES + 7; length++)
		assert_false(srp_response_decode(bytes, length, &back));
}

static void test_lengths_that_lie_are_refused(void **state)
{
	uint8_t bytes[SRP_RSP_BYTES + 300] = {SRP_RSP};
	struct srp_response back;

	(void)state;
	bytes[18] = SRP_RSP_HAS_RESPONSE | SRP_RSP_HAS_SENSE;
	put_be32(bytes + 28, 0xffffffff);
	put_be32(bytes + 32, 8);
	assert_false(srp_response_decode(bytes, sizeof(bytes), &back));
	put_be32(bytes + 28, 8);
	put_be32(bytes + 32, 0xffffffff);
	assert_false(srp_response_decode(bytes, sizeof(bytes), &back));
	put_be32(bytes + 32, 3);
	assert_false(srp_response_decode(bytes, sizeof(bytes), &back));
	/* More sense data than anybody needs are cut. */
	put_be32(bytes + 28, 296);
	put_be32(bytes + 32, 4);
	assert_true(srp_response_decode(bytes, sizeof(bytes), &back));
	assert_int_equal(back.sense_byte_count, SRP_SENSE_BYTES_MAX);
	/* Without the flags the lengths mean nothing. */
	bytes[18] = 0;
	put_be32(bytes + 28, 0xffffffff);
	assert_true(srp_response_decode(bytes, sizeof(bytes), &back));
	assert_int_equal(back.sense_byte_count, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_plain_response_has_only_the_fixed_bytes),
		cmocka_unit_test(test_response_code_comes_before_sense),
		cmocka_unit_test(test_lengths_that_lie_are_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
