/* SPDX-License-Identifier: Apache-2.0 */
/* FLUSH and ATOMIC WRITE from one end to the other (vol 1, annex A19). */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include "support/rc_pair.h"
#include "wire/mtu.h"

static struct rc_pair pair;
static struct region *region; /* the peer's window again, with the rights that FLUSH needs */

static void connect_for_flush(uint32_t qp_access, uint32_t region_access)
{
	struct endpoint_options options = endpoint_options_default(QP_RC);

	options.access |= qp_access;
	rc_pair_connect_with(&pair, &options);
	assert_int_equal(region_register(&pair.b.memory, &pair.b.pd, pair.b.window.bytes,
					 AREA_BYTES, (uintptr_t)pair.b.window.bytes, region_access,
					 &region),
			 0);
}

static struct send_request flush_request(uint8_t placement, uint8_t selectivity)
{
	return (struct send_request){
		.wr_id = 1,
		.opcode = SEND_FLUSH,
		.remote_address = (uintptr_t)pair.b.window.bytes,
		.remote_key = region->key,
		.flush_byte_count = 4096,
		.flush_placement = placement,
		.flush_selectivity = selectivity,
	};
}

static int post_atomic_write(uint32_t offset, uint64_t value, uint32_t byte_count)
{
	uint8_t *bytes = area_take(&pair.a.outbox, sizeof(value));
	struct sge sge = area_sge(&pair.a.outbox, bytes, byte_count);
	struct send_request request = {
		.wr_id = 1,
		.opcode = SEND_ATOMIC_WRITE,
		.remote_address = (uintptr_t)pair.b.window.bytes + offset,
		.remote_key = pair.b.window.region->key,
		.sge_count = 1,
		.sges = &sge,
	};

	memcpy(bytes, &value, sizeof(value));
	return post(&pair, &pair.a, &request);
}

static uint64_t word_at(uint32_t offset)
{
	uint64_t value;

	memcpy(&value, pair.b.window.bytes + offset, sizeof(value));
	return value;
}

static void test_flush_is_answered_by_an_empty_read_response(void **state)
{
	struct send_request request;

	(void)state;
	connect_for_flush(ACCESS_FLUSH_GLOBAL, ACCESS_FLUSH_GLOBAL);
	request = flush_request(FLUSH_GLOBAL, FLUSH_RANGE);
	post_write(&pair, &pair.a, &pair.b, 0, 10);
	assert_int_equal(post(&pair, &pair.a, &request), 0);
	post_write(&pair, &pair.a, &pair.b, 0, 10);
	run_until_idle(&pair);
	expect_wire(&pair.a_to_b, "WRITE_ONLY@0 FLUSH@1 WRITE_ONLY@2");
	expect_completion(&pair.a, COMPLETION_SUCCESS);
	assert_int_equal(expect_completion(&pair.a, COMPLETION_SUCCESS)->opcode, COMPLETED_FLUSH);
	expect_completion(&pair.a, COMPLETION_SUCCESS);
	assert_int_equal(pair.b.qp.responder.msn, 3);
	rc_pair_release(&pair);
}

static void test_flush_of_a_whole_region_ignores_its_range(void **state)
{
	struct send_request request;

	(void)state;
	connect_for_flush(ACCESS_FLUSH_PERSISTENT, ACCESS_FLUSH_PERSISTENT);
	request = flush_request(FLUSH_PERSISTENT, FLUSH_REGION);
	request.remote_address = 1;
	assert_int_equal(post(&pair, &pair.a, &request), 0);
	run_until_idle(&pair);
	expect_completion(&pair.a, COMPLETION_SUCCESS);
	rc_pair_release(&pair);
}

static void expect_flush_fails(uint32_t qp_access, uint32_t region_access, uint8_t placement,
			       uint8_t selectivity, enum completion_status status,
			       enum qp_event event)
{
	struct send_request request;

	connect_for_flush(qp_access, region_access);
	request = flush_request(placement, selectivity);
	assert_int_equal(post(&pair, &pair.a, &request), 0);
	run_until_idle(&pair);
	expect_completion(&pair.a, status);
	expect_event(&pair.b, event);
	assert_int_equal(pair.b.qp.state, QP_ERROR);
	rc_pair_release(&pair);
}

static void test_flush_needs_the_rights_of_queue_pair_and_region(void **state)
{
	const uint32_t global = ACCESS_FLUSH_GLOBAL, both = global | ACCESS_FLUSH_PERSISTENT;
	const enum completion_status invalid = COMPLETION_REMOTE_INVALID_REQUEST;
	const enum completion_status access = COMPLETION_REMOTE_ACCESS;
	const enum qp_event request_error = QP_EVENT_REQUEST_ERROR;
	const enum qp_event access_error = QP_EVENT_ACCESS_ERROR;

	(void)state;
	expect_flush_fails(0, both, FLUSH_GLOBAL, FLUSH_RANGE, invalid, request_error);
	expect_flush_fails(global, both, FLUSH_PERSISTENT, FLUSH_RANGE, invalid, request_error);
	expect_flush_fails(both, global, FLUSH_PERSISTENT, FLUSH_RANGE, access, access_error);
	expect_flush_fails(both, 0, FLUSH_GLOBAL, FLUSH_REGION, access, access_error);
	/* No placement type, a reserved one, a reserved selectivity. */
	expect_flush_fails(both, both, 0, FLUSH_RANGE, invalid, request_error);
	expect_flush_fails(both, both, 4, FLUSH_RANGE, invalid, request_error);
	expect_flush_fails(both, both, FLUSH_GLOBAL, 2, invalid, request_error);
}

static void test_atomic_write_stores_eight_bytes(void **state)
{
	(void)state;
	connect_for_flush(0, 0);
	assert_int_equal(post_atomic_write(8, 0x1122334455667788, 8), 0);
	run_until_idle(&pair);
	expect_wire(&pair.a_to_b, "ATOMIC_WRITE@0");
	expect_wire(&pair.b_to_a, "READ_RESPONSE_ONLY@0");
	assert_int_equal(expect_completion(&pair.a, COMPLETION_SUCCESS)->opcode,
			 COMPLETED_ATOMIC_WRITE);
	assert_true(word_at(8) == 0x1122334455667788);
	assert_true(word_at(0) == 0 && word_at(16) == 0);
	rc_pair_release(&pair);
}

static void test_repeated_atomic_write_is_answered_but_not_executed(void **state)
{
	(void)state;
	connect_for_flush(0, 0);
	assert_int_equal(post_atomic_write(0, 7, 8), 0);
	wire_lose(&pair.b_to_a, 0);
	run_until(&pair, pair.now + MICROSECONDS(100));
	assert_true(word_at(0) == 7);
	/* Somebody else writes before the request arrives again. */
	memset(pair.b.window.bytes, 9, 8);
	run_until_idle(&pair);
	expect_wire(&pair.a_to_b, "ATOMIC_WRITE@0 ATOMIC_WRITE@0");
	expect_completion(&pair.a, COMPLETION_SUCCESS);
	assert_true(word_at(0) == 0x0909090909090909);
	rc_pair_release(&pair);
}

static void test_atomic_write_of_another_length_is_not_sent(void **state)
{
	(void)state;
	connect_for_flush(0, 0);
	assert_int_equal(post_atomic_write(0, 7, 4), 0);
	run_until_idle(&pair);
	expect_wire(&pair.a_to_b, "");
	expect_completion(&pair.a, COMPLETION_LOCAL_LENGTH);
	rc_pair_release(&pair);
}

static void test_atomic_write_to_an_odd_address_is_an_invalid_request(void **state)
{
	(void)state;
	connect_for_flush(0, 0);
	assert_int_equal(post_atomic_write(4, 7, 8), 0);
	run_until_idle(&pair);
	expect_completion(&pair.a, COMPLETION_REMOTE_INVALID_REQUEST);
	assert_true(word_at(0) == 0);
	rc_pair_release(&pair);
}

static void test_atomic_write_needs_the_right_to_write(void **state)
{
	struct endpoint_options options = endpoint_options_default(QP_RC);

	(void)state;
	options.access = ACCESS_REMOTE_READ;
	rc_pair_connect_with(&pair, &options);
	assert_int_equal(post_atomic_write(0, 7, 8), 0);
	run_until_idle(&pair);
	expect_completion(&pair.a, COMPLETION_REMOTE_INVALID_REQUEST);
	assert_true(word_at(0) == 0);
	rc_pair_release(&pair);
}

static void test_no_more_are_outstanding_than_the_depth_allows(void **state)
{
	struct endpoint_options options = endpoint_options_default(QP_RC);

	(void)state;
	options.initiator_depth = options.responder_resources = 1;
	rc_pair_connect_with(&pair, &options);
	for (uint64_t i = 1; i <= 3; i++)
		assert_int_equal(post_atomic_write(0, i, 8), 0);
	rc_pair_transmit(&pair);
	expect_wire(&pair.a_to_b, "ATOMIC_WRITE@0");
	run_until_idle(&pair);
	expect_wire(&pair.a_to_b, "ATOMIC_WRITE@1 ATOMIC_WRITE@2");
	assert_true(word_at(0) == 3);
	rc_pair_release(&pair);
}

static void test_an_acknowledge_does_not_complete_it(void **state)
{
	(void)state;
	connect_for_flush(0, 0);
	assert_int_equal(post_atomic_write(0, 5, 8), 0);
	post_write(&pair, &pair.a, &pair.b, 64, 10);
	/* The answer is lost, the ACK that follows is not: the requester asks for the answer again.
	 */
	wire_lose(&pair.b_to_a, 0);
	run_until_idle(&pair);
	expect_wire(&pair.a_to_b, "ATOMIC_WRITE@0 WRITE_ONLY@1 ATOMIC_WRITE@0 WRITE_ONLY@1");
	expect_completion(&pair.a, COMPLETION_SUCCESS);
	expect_completion(&pair.a, COMPLETION_SUCCESS);
	rc_pair_release(&pair);
}

static void test_unreliable_services_refuse_them(void **state)
{
	struct endpoint_options options = endpoint_options_default(QP_UC);

	(void)state;
	rc_pair_connect_with(&pair, &options);
	assert_int_equal(post_atomic_write(0, 5, 8), -EINVAL);
	rc_pair_release(&pair);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_flush_is_answered_by_an_empty_read_response),
		cmocka_unit_test(test_flush_of_a_whole_region_ignores_its_range),
		cmocka_unit_test(test_flush_needs_the_rights_of_queue_pair_and_region),
		cmocka_unit_test(test_atomic_write_stores_eight_bytes),
		cmocka_unit_test(test_repeated_atomic_write_is_answered_but_not_executed),
		cmocka_unit_test(test_atomic_write_of_another_length_is_not_sent),
		cmocka_unit_test(test_atomic_write_to_an_odd_address_is_an_invalid_request),
		cmocka_unit_test(test_atomic_write_needs_the_right_to_write),
		cmocka_unit_test(test_no_more_are_outstanding_than_the_depth_allows),
		cmocka_unit_test(test_an_acknowledge_does_not_complete_it),
		cmocka_unit_test(test_unreliable_services_refuse_them),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
