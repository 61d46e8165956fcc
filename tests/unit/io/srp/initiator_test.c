/* SPDX-License-Identifier: Apache-2.0 */
/* The initiator's request limit and tags, and what a target may send. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <string.h>

#include "base/bytes.h"
#include "io/srp/initiator.h"

#define DEADLINE SECONDS(30)

static struct srp_initiator initiator;
static struct srp_arrival arrival;

static bool log_in(uint32_t request_limit)
{
	const struct srp_login_rsp rsp = {.opcode = SRP_LOGIN_RSP,
					  .request_limit_delta = request_limit,
					  .it_iu_bytes_max = 100,
					  .ti_iu_bytes_max = 300};
	uint8_t bytes[SRP_LOGIN_RSP_BYTES];
	uint32_t reason;

	srp_login_rsp_encode(&rsp, bytes);
	return srp_initiator_logged_in(&initiator, bytes, sizeof(bytes), &reason);
}

static uint64_t send(uint32_t *ret_slot)
{
	const struct srp_request request = {.lun = 3, .cdb = {0x12}, .direction = SRP_NO_DATA};
	uint8_t unit[SRP_CMD_BYTES_MAX];

	assert_true(srp_initiator_may_send(&initiator));
	assert_int_equal(srp_initiator_command(&initiator, &request, DEADLINE, unit, ret_slot),
			 SRP_CMD_BYTES);
	return get_be64(unit + 8);
}

static void respond(uint64_t tag, uint32_t delta)
{
	const struct srp_response response = {.rsp = {.tag = tag, .request_limit_delta = delta}};
	uint8_t bytes[SRP_RSP_BYTES_MAX];
	size_t byte_count = srp_response_encode(&response, bytes);

	srp_initiator_receive(&initiator, bytes, byte_count, &arrival);
}

static void test_login_names_both_ports(void **state)
{
	const struct srp_names names = {1, 2, 3, 4};
	uint8_t bytes[SRP_LOGIN_REQ_BYTES];

	(void)state;
	srp_initiator_login(&names, bytes);
	assert_int_equal(bytes[0], SRP_LOGIN_REQ);
	for (unsigned i = 0; i < 4; i++)
		assert_int_equal(get_be64(bytes + 32 + 8 * i), i + 1);
	assert_int_equal(get_be32(bytes + 16), 64);
}

static void test_rejections_and_garbage_are_no_channel(void **state)
{
	const struct srp_login_rej rej = {.opcode = SRP_LOGIN_REJ, .reason = 0x10003};
	uint8_t bytes[SRP_LOGIN_RSP_BYTES];
	uint32_t reason;

	(void)state;
	srp_login_rej_encode(&rej, bytes);
	assert_false(srp_initiator_logged_in(&initiator, bytes, 32, &reason));
	assert_int_equal(reason, 0x10003);
	assert_false(srp_initiator_logged_in(&initiator, bytes, 31, &reason));
	assert_int_equal(reason, 0);
	assert_false(srp_initiator_logged_in(&initiator, NULL, 0, &reason));
	/* A limit that leaves nothing for commands, and one that no target has. */
	assert_false(log_in(1));
	assert_false(log_in(0xffffffff));
	assert_true(log_in(2));
}

static void test_command_with_data_has_a_direct_descriptor(void **state)
{
	const struct srp_request request = {
		.lun = 3, .cdb = {0x28}, .direction = SRP_DATA_OUT, .data = {0x1000, 7, 512}};
	uint8_t unit[SRP_CMD_BYTES_MAX];
	struct srp_data_buffer out, in;
	struct srp_cmd cmd;
	uint32_t slot;

	(void)state;
	assert_true(log_in(32));

	size_t byte_count = srp_initiator_command(&initiator, &request, DEADLINE, unit, &slot);

	assert_int_equal(byte_count, 64);
	srp_cmd_decode(unit, &cmd);
	assert_int_equal(unit[32], 0x28);
	assert_int_equal(srp_data_buffers_decode(&cmd, unit, byte_count, &out, &in),
			 SRP_BUFFERS_GOOD);
	assert_int_equal(out.byte_count, 512);
	assert_int_equal(out.segments[0].rkey, 7);
	assert_int_equal(in.byte_count, 0);
}

static void test_request_limit_is_kept(void **state)
{
	uint32_t slot, other;

	(void)state;
	assert_true(log_in(3));

	uint64_t first = send(&slot), second = send(&other);

	assert_true(first != second && slot != other);
	assert_false(srp_initiator_may_send(&initiator));
	respond(first, 1);
	assert_int_equal(arrival.kind, SRP_ARRIVAL_RESPONSE);
	assert_int_equal(arrival.slot, slot);
	assert_true(srp_initiator_may_send(&initiator));
	/* The limit is a signed number. */
	respond(second, (uint32_t)-1);
	assert_int_equal(arrival.kind, SRP_ARRIVAL_RESPONSE);
	assert_false(srp_initiator_may_send(&initiator));
}

static void test_a_tag_is_answered_once(void **state)
{
	uint32_t slot;

	(void)state;
	assert_true(log_in(32));

	uint64_t tag = send(&slot);

	respond(tag + 256, 0);
	assert_int_equal(arrival.kind, SRP_ARRIVAL_BAD);
	respond(0, 0);
	assert_int_equal(arrival.kind, SRP_ARRIVAL_BAD);
	respond(0xff, 0);
	assert_int_equal(arrival.kind, SRP_ARRIVAL_BAD);
	respond(tag, 1);
	assert_int_equal(arrival.kind, SRP_ARRIVAL_RESPONSE);
	respond(tag, 1);
	assert_int_equal(arrival.kind, SRP_ARRIVAL_BAD);
	/* The same slot has another tag the next time. */
	assert_true(send(&slot) != tag);
}

static void test_no_more_requests_than_slots(void **state)
{
	uint32_t slot;

	(void)state;
	assert_true(log_in(1000));
	for (unsigned i = 0; i < SRP_INITIATOR_REQUESTS_MAX; i++)
		send(&slot);
	assert_false(srp_initiator_may_send(&initiator));
}

/* The answer to the ABORT TASK in unit. */
static void answer_abort(const uint8_t *unit, uint8_t response_code, uint32_t delta)
{
	const struct srp_response response = {
		.rsp = {.tag = get_be64(unit + 8), .request_limit_delta = delta},
		.has_response_code = true,
		.response_code = response_code};
	uint8_t bytes[SRP_RSP_BYTES_MAX];
	size_t byte_count = srp_response_encode(&response, bytes);

	srp_initiator_receive(&initiator, bytes, byte_count, &arrival);
}

static void test_overdue_command_is_aborted(void **state)
{
	uint8_t unit[SRP_TSK_MGMT_BYTES];
	struct srp_tsk_mgmt abort;
	uint32_t slot;

	(void)state;
	assert_true(log_in(2));
	assert_true(srp_initiator_deadline(&initiator) == TIME_NEVER);

	uint64_t tag = send(&slot);

	assert_true(srp_initiator_deadline(&initiator) == DEADLINE);
	assert_int_equal(srp_initiator_expire(&initiator, DEADLINE - 1, 5, unit), SRP_EXPIRY_NONE);
	assert_int_equal(srp_initiator_expire(&initiator, DEADLINE, 5, unit), SRP_EXPIRY_ABORT);
	srp_tsk_mgmt_decode(unit, &abort);
	assert_int_equal(abort.opcode, SRP_TSK_MGMT);
	assert_int_equal(abort.function, SRP_ABORT_TASK);
	assert_int_equal(abort.lun, 3);
	assert_true(abort.task_tag == tag && abort.tag && abort.tag != tag);
	/* The next deadline is that of the abort. */
	assert_true(srp_initiator_deadline(&initiator) == DEADLINE + 5);
	assert_int_equal(srp_initiator_expire(&initiator, DEADLINE + 4, 5, unit), SRP_EXPIRY_NONE);
	answer_abort(unit, SRP_RESPONSE_DONE, 2);
	assert_int_equal(arrival.kind, SRP_ARRIVAL_ABORTED);
	assert_int_equal(arrival.slot, slot);
	assert_int_equal(initiator.request_limit, 2);
	assert_true(srp_initiator_deadline(&initiator) == TIME_NEVER);
	/* Neither tag is known any more. */
	answer_abort(unit, SRP_RESPONSE_DONE, 0);
	assert_int_equal(arrival.kind, SRP_ARRIVAL_BAD);
	respond(tag, 0);
	assert_int_equal(arrival.kind, SRP_ARRIVAL_BAD);
}

static void test_response_may_overtake_the_abort(void **state)
{
	uint8_t unit[SRP_TSK_MGMT_BYTES];
	uint32_t slot, next;

	(void)state;
	assert_true(log_in(3));

	uint64_t tag = send(&slot);

	assert_int_equal(srp_initiator_expire(&initiator, DEADLINE, 5, unit), SRP_EXPIRY_ABORT);
	respond(tag, 1);
	assert_int_equal(arrival.kind, SRP_ARRIVAL_RESPONSE);
	/* The slot has another command when the abort is answered: that one goes on. */
	send(&next);
	assert_int_equal(next, slot);
	answer_abort(unit, SRP_RESPONSE_DONE, 1);
	assert_int_equal(arrival.kind, SRP_ARRIVAL_NOTHING);
	assert_true(srp_initiator_deadline(&initiator) == DEADLINE);
}

static void test_abort_without_success_is_the_end(void **state)
{
	uint8_t unit[SRP_TSK_MGMT_BYTES];
	uint32_t slot;

	(void)state;
	assert_true(log_in(3));
	send(&slot);
	assert_int_equal(srp_initiator_expire(&initiator, DEADLINE, 5, unit), SRP_EXPIRY_ABORT);
	answer_abort(unit, SRP_RESPONSE_FAILED, 1);
	assert_int_equal(arrival.kind, SRP_ARRIVAL_BAD);
	/* No answer in time. */
	assert_true(log_in(3));
	send(&slot);
	assert_int_equal(srp_initiator_expire(&initiator, DEADLINE, 5, unit), SRP_EXPIRY_ABORT);
	assert_int_equal(srp_initiator_expire(&initiator, DEADLINE + 5, 5, unit), SRP_EXPIRY_LOST);
	/* A target that took the last request back leaves none for an abort. */
	assert_true(log_in(2));

	uint64_t tag = send(&slot);

	respond(tag, 0);
	initiator.request_limit = 2;
	send(&slot);
	initiator.request_limit = 0;
	assert_int_equal(srp_initiator_expire(&initiator, DEADLINE, 5, unit), SRP_EXPIRY_LOST);
}

static void test_target_requests_are_answered(void **state)
{
	uint8_t bytes[SRP_AER_REQ_BYTES] = {0};

	(void)state;
	assert_true(log_in(2));
	srp_short_encode(&(struct srp_short){.opcode = SRP_CRED_REQ, .value = 5, .tag = 77}, bytes);
	srp_initiator_receive(&initiator, bytes, SRP_SHORT_BYTES, &arrival);
	assert_int_equal(arrival.kind, SRP_ARRIVAL_REPLY);
	assert_int_equal(arrival.reply[0], SRP_CRED_RSP);
	assert_int_equal(get_be64(arrival.reply + 8), 77);
	assert_int_equal(initiator.request_limit, 7);
	srp_aer_req_encode(&(struct srp_aer_req){.opcode = SRP_AER_REQ, .tag = 78}, bytes);
	srp_initiator_receive(&initiator, bytes, sizeof(bytes), &arrival);
	assert_int_equal(arrival.reply[0], SRP_AER_RSP);
	srp_initiator_receive(&initiator, bytes, sizeof(bytes) - 1, &arrival);
	assert_int_equal(arrival.kind, SRP_ARRIVAL_BAD);
	srp_short_encode(&(struct srp_short){.opcode = SRP_T_LOGOUT}, bytes);
	srp_initiator_receive(&initiator, bytes, SRP_SHORT_BYTES, &arrival);
	assert_int_equal(arrival.kind, SRP_ARRIVAL_LOGOUT);
	bytes[0] = SRP_CMD;
	srp_initiator_receive(&initiator, bytes, sizeof(bytes), &arrival);
	assert_int_equal(arrival.kind, SRP_ARRIVAL_BAD);
	srp_initiator_receive(&initiator, bytes, 0, &arrival);
	assert_int_equal(arrival.kind, SRP_ARRIVAL_BAD);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_login_names_both_ports),
		cmocka_unit_test(test_rejections_and_garbage_are_no_channel),
		cmocka_unit_test(test_command_with_data_has_a_direct_descriptor),
		cmocka_unit_test(test_request_limit_is_kept),
		cmocka_unit_test(test_a_tag_is_answered_once),
		cmocka_unit_test(test_no_more_requests_than_slots),
		cmocka_unit_test(test_overdue_command_is_aborted),
		cmocka_unit_test(test_response_may_overtake_the_abort),
		cmocka_unit_test(test_abort_without_success_is_the_end),
		cmocka_unit_test(test_target_requests_are_answered),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
