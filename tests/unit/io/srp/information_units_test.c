/* SPDX-License-Identifier: Apache-2.0 */
/* SRP's information units: literal bytes as T10 SRP r16a has them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <string.h>

#include "base/bytes.h"
#include "io/srp/information_units.h"
#include "vectors/attribute_checks.h"

static const struct attribute_layout *const layouts[] = {
	&srp_login_req_layout, &srp_login_rsp_layout, &srp_login_rej_layout, &srp_cmd_layout,
	&srp_rsp_layout,       &srp_tsk_mgmt_layout,  &srp_short_layout,     &srp_aer_req_layout,
};

static void test_fields_keep_apart_and_come_back(void **state)
{
	(void)state;
	for (unsigned i = 0; i < sizeof(layouts) / sizeof(layouts[0]); i++) {
		expect_fields_apart(layouts[i]);
		expect_round_trips(layouts[i], 0x5e + i);
	}
}

static void test_login_request_lies_where_the_standard_puts_it(void **state)
{
	const struct srp_login_req req = {.opcode = SRP_LOGIN_REQ,
					  .tag = 0x0102030405060708,
					  .it_iu_bytes = 0x00000444,
					  .required_buffer_formats = 6,
					  .flags = 1,
					  .initiator_extension = 0x1111,
					  .initiator_guid = 0x2222,
					  .target_extension = 0x3333,
					  .target_guid = 0x4444};
	uint8_t bytes[SRP_LOGIN_REQ_BYTES];

	(void)state;
	srp_login_req_encode(&req, bytes);
	assert_int_equal(bytes[0], 0x00);
	assert_int_equal(get_be64(bytes + 8), 0x0102030405060708);
	assert_int_equal(get_be32(bytes + 16), 0x444);
	assert_int_equal(get_be16(bytes + 24), 6);
	assert_int_equal(bytes[26], 1);
	assert_int_equal(get_be64(bytes + 32), 0x1111);
	assert_int_equal(get_be64(bytes + 40), 0x2222);
	assert_int_equal(get_be64(bytes + 48), 0x3333);
	assert_int_equal(get_be64(bytes + 56), 0x4444);
}

static void test_command_lies_where_the_standard_puts_it(void **state)
{
	const uint8_t bytes[SRP_CMD_BYTES] = {0x02, 0x03, 0, 0, 0, 0x12, 5, 6, 0, 1,	2,
					      3,    4,	  5, 6, 7, 0,	 0, 0, 0, 0x40, 0x07,
					      0,    0,	  0, 0, 0, 0,	 0, 2, 0, 8,	0x28};
	struct srp_cmd cmd;

	(void)state;
	srp_cmd_decode(bytes, &cmd);
	assert_int_equal(cmd.opcode, SRP_CMD);
	assert_int_equal(cmd.solicited, 3);
	assert_int_equal(cmd.out_format, 1);
	assert_int_equal(cmd.in_format, 2);
	assert_int_equal(cmd.out_descriptor_count, 5);
	assert_int_equal(cmd.in_descriptor_count, 6);
	assert_int_equal(cmd.tag, 0x0001020304050607);
	assert_int_equal(cmd.lun, 0x4007000000000000);
	assert_int_equal(cmd.task_attribute, 2);
	assert_int_equal(cmd.additional_cdb_words, 2);
}

static void test_response_and_task_management_lie_where_the_standard_puts_them(void **state)
{
	const struct srp_rsp rsp = {.opcode = SRP_RSP,
				    .request_limit_delta = 0x01020304,
				    .tag = 9,
				    .flags = 0x22,
				    .status = 2,
				    .out_residual = 3,
				    .in_residual = 4,
				    .sense_bytes = 18,
				    .response_bytes = 5};
	const struct srp_tsk_mgmt task = {
		.opcode = SRP_TSK_MGMT, .tag = 1, .lun = 2, .function = 8, .task_tag = 3};
	const struct srp_login_rej rej = {.opcode = SRP_LOGIN_REJ, .reason = 0x10005, .tag = 7};
	const struct srp_login_rsp login = {
		.opcode = SRP_LOGIN_RSP, .it_iu_bytes_max = 1, .ti_iu_bytes_max = 2, .flags = 1};
	uint8_t bytes[SRP_LOGIN_REQ_BYTES];

	(void)state;
	srp_rsp_encode(&rsp, bytes);
	assert_int_equal(bytes[0], 0xc1);
	assert_int_equal(get_be32(bytes + 4), 0x01020304);
	assert_int_equal(bytes[18], 0x22);
	assert_int_equal(bytes[19], 2);
	assert_int_equal(get_be32(bytes + 20), 3);
	assert_int_equal(get_be32(bytes + 24), 4);
	assert_int_equal(get_be32(bytes + 28), 18);
	assert_int_equal(get_be32(bytes + 32), 5);
	srp_tsk_mgmt_encode(&task, bytes);
	assert_int_equal(bytes[30], 8);
	assert_int_equal(get_be64(bytes + 32), 3);
	srp_login_rej_encode(&rej, bytes);
	assert_int_equal(get_be32(bytes + 4), 0x10005);
	srp_login_rsp_encode(&login, bytes);
	assert_int_equal(get_be32(bytes + 16), 1);
	assert_int_equal(get_be32(bytes + 20), 2);
	assert_int_equal(bytes[26], 1);
}

static void test_every_opcode_has_its_length_and_no_other_has_one(void **state)
{
	unsigned known = 0;

	(void)state;
	for (unsigned opcode = 0; opcode < 256; opcode++)
		known += srp_iu_bytes_min((uint8_t)opcode) != 0;
	assert_int_equal(known, 12);
	assert_int_equal(srp_iu_bytes_min(SRP_LOGIN_REQ), 64);
	assert_int_equal(srp_iu_bytes_min(SRP_LOGIN_RSP), 52);
	assert_int_equal(srp_iu_bytes_min(SRP_LOGIN_REJ), 32);
	assert_int_equal(srp_iu_bytes_min(SRP_CMD), 48);
	assert_int_equal(srp_iu_bytes_min(SRP_TSK_MGMT), 48);
	assert_int_equal(srp_iu_bytes_min(SRP_RSP), 36);
	assert_int_equal(srp_iu_bytes_min(SRP_AER_REQ), 36);
	assert_int_equal(srp_iu_bytes_min(SRP_CRED_REQ), 16);
	assert_int_equal(srp_iu_bytes_min(0x04), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_fields_keep_apart_and_come_back),
		cmocka_unit_test(test_login_request_lies_where_the_standard_puts_it),
		cmocka_unit_test(test_command_lies_where_the_standard_puts_it),
		cmocka_unit_test(
			test_response_and_task_management_lie_where_the_standard_puts_them),
		cmocka_unit_test(test_every_opcode_has_its_length_and_no_other_has_one),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
