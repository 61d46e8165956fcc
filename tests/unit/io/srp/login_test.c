/* SPDX-License-Identifier: Apache-2.0 */
/* The target's answers to logins. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <string.h>

#include "io/srp/login.h"

static const struct srp_login_terms terms = {.target_extension = 0xaa,
					     .target_guid = 0xbb,
					     .request_limit = 32,
					     .it_iu_bytes_max = 1092,
					     .ti_iu_bytes_max = 300};
static struct srp_login_req req;
static struct srp_login_rsp rsp;
static struct srp_login_rej rej;

static bool judge(const struct srp_login_req *wish, size_t byte_count)
{
	uint8_t bytes[92] = {0};

	srp_login_req_encode(wish, bytes);
	memset(&rej, 0, sizeof(rej));
	return srp_login_judge(&terms, bytes, byte_count, &req, &rsp, &rej);
}

static struct srp_login_req good(void)
{
	return (struct srp_login_req){.opcode = SRP_LOGIN_REQ,
				      .tag = 42,
				      .it_iu_bytes = 260,
				      .required_buffer_formats = SRP_BUFFER_FORMAT_DIRECT,
				      .initiator_guid = 0xcc,
				      .target_extension = 0xaa,
				      .target_guid = 0xbb};
}

static void test_good_login_gets_the_request_limit(void **state)
{
	struct srp_login_req wish = good();

	(void)state;
	/* CM pads private data to 92 bytes. */
	assert_true(judge(&wish, 92));
	assert_true(judge(&wish, SRP_LOGIN_REQ_BYTES));
	assert_int_equal(rsp.opcode, SRP_LOGIN_RSP);
	assert_int_equal(rsp.tag, 42);
	assert_int_equal(rsp.request_limit_delta, 32);
	assert_int_equal(rsp.it_iu_bytes_max, 1092);
	assert_int_equal(rsp.buffer_formats, 6);
	assert_int_equal(req.initiator_guid, 0xcc);
}

static void test_bad_logins_are_rejected_with_their_reasons(void **state)
{
	struct srp_login_req wish = good();

	(void)state;
	assert_false(judge(&wish, SRP_LOGIN_REQ_BYTES - 1));
	assert_int_equal(rej.reason, SRP_REJECT_NO_CHANNEL);
	assert_false(judge(&wish, 0));
	wish.opcode = SRP_CMD;
	assert_false(judge(&wish, 92));
	assert_int_equal(rej.reason, SRP_REJECT_NO_CHANNEL);
	wish = good();
	wish.target_guid++;
	assert_false(judge(&wish, 92));
	assert_int_equal(rej.reason, SRP_REJECT_CANNOT_ASSOCIATE);
	assert_int_equal(rej.tag, 42);
	assert_int_equal(rej.opcode, SRP_LOGIN_REJ);
	wish = good();
	wish.it_iu_bytes = 1093;
	assert_false(judge(&wish, 92));
	assert_int_equal(rej.reason, SRP_REJECT_IU_TOO_LARGE);
	wish.it_iu_bytes = 63;
	assert_false(judge(&wish, 92));
	wish = good();
	wish.required_buffer_formats = 1 << 3;
	assert_false(judge(&wish, 92));
	assert_int_equal(rej.reason, SRP_REJECT_BUFFER_FORMAT);
	wish = good();
	wish.flags = SRP_MULTICHANNEL_INDEPENDENT;
	assert_false(judge(&wish, 92));
	assert_int_equal(rej.reason, SRP_REJECT_MULTICHANNEL);
}

static void test_every_reason_has_a_text(void **state)
{
	(void)state;
	for (uint32_t reason = SRP_REJECT_NO_CHANNEL; reason <= SRP_REJECT_CHANNEL_LIMIT; reason++)
		assert_string_not_equal(srp_login_reject_text(reason), srp_login_reject_text(0));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_good_login_gets_the_request_limit),
		cmocka_unit_test(test_bad_logins_are_rejected_with_their_reasons),
		cmocka_unit_test(test_every_reason_has_a_text),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
