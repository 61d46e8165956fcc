/* SPDX-License-Identifier: Apache-2.0 */
/* Binding and invalidating memory windows in the middle of other traffic: order, access, and
 * refusals (transport 4.5, 7.3). */
#include "net/transport/local_operation.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include "net/memory/window.h"
#include "support/rc_pair.h"
#include "wire/mtu.h"

static struct rc_pair pair;
static struct region *target; /* of b, on the memory of its window; windows may be bound to it */
static struct window *window; /* of b */

static void connect_with(enum qp_type type, enum window_type window_type)
{
	struct endpoint_options options = endpoint_options_default(type);

	options.mtu_code = MTU_256;
	rc_pair_connect_with(&pair, &options);
	assert_int_equal(region_register(&pair.b.memory, &pair.b.pd, pair.b.window.bytes, 4096,
					 (uintptr_t)pair.b.window.bytes,
					 ACCESS_LOCAL_WRITE | ACCESS_WINDOW_BIND, &target),
			 0);
	assert_int_equal(window_create(&pair.b.memory, &pair.b.pd, window_type, &window), 0);
}

static struct send_request bind_request(uint32_t key, uint32_t byte_count)
{
	return (struct send_request){
		.opcode = SEND_BIND_WINDOW,
		.flags = SEND_SIGNALED,
		.remote_key = key,
		.remote_address = (uintptr_t)pair.b.window.bytes,
		.bind_byte_count = byte_count,
		.bind_region_key = target->key,
		.bind_access = ACCESS_REMOTE_READ | ACCESS_REMOTE_WRITE,
	};
}

/* b binds a window to the first bytes of its target; returns the key. */
static uint32_t bind_window(uint32_t byte_count)
{
	uint32_t key = window->grant.key ^ 0x5a;
	const struct send_request request = bind_request(key, byte_count);

	assert_int_equal(post(&pair, &pair.b, &request), 0);
	run_until_idle(&pair);
	assert_int_equal(expect_completion(&pair.b, COMPLETION_SUCCESS)->opcode, COMPLETED_BIND);
	return key;
}

static void write_with(uint32_t key, uint32_t byte_count)
{
	const struct sge sge =
		area_sge(&pair.a.outbox, area_take(&pair.a.outbox, byte_count), byte_count);
	const struct send_request request = {
		.opcode = SEND_RDMA_WRITE,
		.flags = SEND_SIGNALED,
		.remote_key = key,
		.remote_address = (uintptr_t)pair.b.window.bytes,
		.sge_count = 1,
		.sges = &sge,
	};

	memset((void *)(uintptr_t)sge.address, 0x77, byte_count);
	assert_int_equal(post(&pair, &pair.a, &request), 0);
	run_until_idle(&pair);
}

static int invalidate_key(struct endpoint *endpoint, enum send_opcode opcode, uint32_t key)
{
	const struct send_request request = {
		.opcode = opcode,
		.flags = SEND_SIGNALED,
		.immediate_or_rkey = key,
	};
	int error = post(&pair, endpoint, &request);

	run_until_idle(&pair);
	return error;
}

static void test_bound_window_takes_writes_within_its_bounds(void **state)
{
	(void)state;
	connect_with(QP_RC, WINDOW_TYPE_2);

	uint32_t key = bind_window(100);

	write_with(key, 100);
	expect_completion(&pair.a, COMPLETION_SUCCESS);
	assert_int_equal(pair.b.window.bytes[99], 0x77);
	assert_int_equal(pair.b.window.bytes[100], 0);
	write_with(key, 101);
	expect_completion(&pair.a, COMPLETION_REMOTE_ACCESS);
	expect_event(&pair.b, QP_EVENT_ACCESS_ERROR);
	rc_pair_release(&pair);
}

static void test_bind_sends_nothing_and_completes_in_order(void **state)
{
	(void)state;
	connect_with(QP_RC, WINDOW_TYPE_2);
	post_receive(&pair, &pair.a, 64);
	post_receive(&pair, &pair.a, 64);
	post_send(&pair, &pair.b, 8);

	const struct send_request request = bind_request(window->grant.key, 100);

	assert_int_equal(post(&pair, &pair.b, &request), 0);
	post_send(&pair, &pair.b, 8);
	run_until_idle(&pair);
	expect_wire(&pair.b_to_a, "ONLY@0 ONLY@1");

	static const enum completion_opcode order[] = {COMPLETED_SEND, COMPLETED_BIND,
						       COMPLETED_SEND};

	for (unsigned i = 0; i < 3; i++)
		assert_int_equal(expect_completion(&pair.b, COMPLETION_SUCCESS)->opcode, order[i]);
	rc_pair_release(&pair);
}

/* The SEND before the bind is lost and resent; binding a type 2 window twice would fail. */
static void test_bind_is_not_done_again_when_packets_are_resent(void **state)
{
	(void)state;
	connect_with(QP_RC, WINDOW_TYPE_2);
	for (unsigned i = 0; i < 2; i++)
		post_receive(&pair, &pair.a, 64);
	wire_lose(&pair.b_to_a, 0);
	wire_lose(&pair.b_to_a, 2);
	post_send(&pair, &pair.b, 8);

	const struct send_request request = bind_request(window->grant.key, 100);

	assert_int_equal(post(&pair, &pair.b, &request), 0);
	post_send(&pair, &pair.b, 8);
	run_until_idle(&pair);
	expect_wire(&pair.b_to_a, "ONLY@0! ONLY@0 ONLY@1! ONLY@1");
	for (unsigned i = 0; i < 3; i++)
		expect_completion(&pair.b, COMPLETION_SUCCESS);
	assert_int_equal(target->window_count, 1);
	rc_pair_release(&pair);
}

static void test_bind_waits_for_reads_before_it(void **state)
{
	(void)state;
	connect_with(QP_RC, WINDOW_TYPE_2);
	post_read(&pair, &pair.b, &pair.a, 0, 600);

	const struct send_request request = bind_request(window->grant.key, 100);

	assert_int_equal(post(&pair, &pair.b, &request), 0);
	rc_pair_transmit(&pair);
	assert_int_equal(target->window_count, 0);
	run_until_idle(&pair);
	assert_int_equal(expect_completion(&pair.b, COMPLETION_SUCCESS)->opcode, COMPLETED_READ);
	assert_int_equal(expect_completion(&pair.b, COMPLETION_SUCCESS)->opcode, COMPLETED_BIND);
	rc_pair_release(&pair);
}

static void test_refused_bind_is_a_window_bind_error(void **state)
{
	(void)state;
	connect_with(QP_RC, WINDOW_TYPE_2);
	bind_window(100);

	const struct send_request again = bind_request(window->grant.key ^ 1, 100);

	assert_int_equal(post(&pair, &pair.b, &again), 0);
	post_send(&pair, &pair.b, 8);
	run_until_idle(&pair);
	expect_completion(&pair.b, COMPLETION_WINDOW_BIND);
	expect_completion(&pair.b, COMPLETION_FLUSHED);
	assert_int_equal(pair.b.qp.state, QP_ERROR);
	rc_pair_release(&pair);
}

static void test_refused_bind_on_uc_stops_the_send_queue_only(void **state)
{
	(void)state;
	connect_with(QP_UC, WINDOW_TYPE_2);

	const struct send_request empty = bind_request(window->grant.key, 0);

	assert_int_equal(post(&pair, &pair.b, &empty), 0);
	run_until_idle(&pair);
	expect_completion(&pair.b, COMPLETION_WINDOW_BIND);
	assert_int_equal(pair.b.qp.state, QP_SQE);
	rc_pair_release(&pair);
}

static void test_uc_writes_through_a_window(void **state)
{
	(void)state;
	connect_with(QP_UC, WINDOW_TYPE_1);
	write_with(bind_window(600), 600);
	expect_completion(&pair.a, COMPLETION_SUCCESS);
	assert_int_equal(pair.b.window.bytes[599], 0x77);
	rc_pair_release(&pair);
}

static void test_datagram_queue_pair_binds_nothing(void **state)
{
	(void)state;
	connect_with(QP_UD, WINDOW_TYPE_1);

	struct send_request request = bind_request(window->grant.key, 100);

	request.address = &pair.b.qp.attributes.address;
	request.address_pd = &pair.b.pd;
	assert_int_not_equal(post(&pair, &pair.b, &request), 0);
	assert_int_not_equal(invalidate_key(&pair.b, SEND_LOCAL_INVALIDATE, window->grant.key), 0);
	rc_pair_release(&pair);
}

static void test_local_invalidate_ends_access(void **state)
{
	(void)state;
	connect_with(QP_RC, WINDOW_TYPE_2);

	uint32_t key = bind_window(100);

	assert_int_equal(invalidate_key(&pair.b, SEND_LOCAL_INVALIDATE, key), 0);
	assert_int_equal(expect_completion(&pair.b, COMPLETION_SUCCESS)->opcode,
			 COMPLETED_LOCAL_INVALIDATE);
	write_with(key, 10);
	expect_completion(&pair.a, COMPLETION_REMOTE_ACCESS);
	assert_int_equal(pair.b.window.bytes[0], 0);
	rc_pair_release(&pair);
}

static void test_local_invalidate_of_anything_else_is_an_operation_error(void **state)
{
	(void)state;
	for (unsigned i = 0; i < 3; i++) {
		connect_with(QP_RC, i == 0 ? WINDOW_TYPE_1 : WINDOW_TYPE_2);

		/* A bound type 1 window, a free one, a region. */
		uint32_t key = i == 0 ? bind_window(100) : i == 1 ? window->grant.key : target->key;

		assert_int_equal(invalidate_key(&pair.b, SEND_LOCAL_INVALIDATE, key), 0);
		expect_completion(&pair.b, COMPLETION_LOCAL_QP_OPERATION);
		assert_int_equal(pair.b.qp.state, QP_ERROR);
		rc_pair_release(&pair);
	}
}

static void test_send_with_invalidate_frees_the_receiver_s_window(void **state)
{
	(void)state;
	connect_with(QP_RC, WINDOW_TYPE_2);

	uint32_t key = bind_window(100);

	post_receive(&pair, &pair.b, 64);
	assert_int_equal(invalidate_key(&pair.a, SEND_SEND_INVALIDATE, key), 0);
	expect_wire(&pair.a_to_b, "ONLY_INVALIDATE@0");
	expect_wire(&pair.b_to_a, "ACK@0");
	expect_completion(&pair.a, COMPLETION_SUCCESS);

	const struct completion *completion = expect_received(&pair.b, COMPLETION_SUCCESS);

	assert_int_equal(completion->flags, COMPLETION_HAS_INVALIDATED);
	assert_int_equal(completion->immediate_or_rkey, key);
	assert_int_equal(window->grant.kind, KEY_WINDOW_FREE);
	rc_pair_release(&pair);
}

/* The acknowledge is lost: the window is free already when the SEND arrives again. */
static void test_duplicate_of_send_with_invalidate_is_acknowledged(void **state)
{
	(void)state;
	connect_with(QP_RC, WINDOW_TYPE_2);

	uint32_t key = bind_window(100);

	post_receive(&pair, &pair.b, 64);
	wire_lose(&pair.b_to_a, 0);
	assert_int_equal(invalidate_key(&pair.a, SEND_SEND_INVALIDATE, key), 0);
	expect_completion(&pair.a, COMPLETION_SUCCESS);
	expect_received(&pair.b, COMPLETION_SUCCESS);
	expect_nothing_received(&pair.b);
	rc_pair_release(&pair);
}

/* Fault class J: no answer, the request in error, the queue pair too. */
static void test_invalidate_of_a_type_1_window_is_refused_in_silence(void **state)
{
	(void)state;
	connect_with(QP_RC, WINDOW_TYPE_1);

	uint32_t key = bind_window(100);

	post_receive(&pair, &pair.b, 64);
	assert_int_equal(invalidate_key(&pair.a, SEND_SEND_INVALIDATE, key), 0);
	expect_wire(&pair.b_to_a, "");
	expect_received(&pair.b, COMPLETION_LOCAL_QP_OPERATION);
	expect_completion(&pair.a, COMPLETION_RETRY_EXCEEDED);
	assert_int_equal(pair.b.qp.state, QP_ERROR);
	assert_int_equal(window->grant.kind, KEY_WINDOW_OF_DOMAIN);
	rc_pair_release(&pair);
}

static void test_window_of_another_queue_pair_can_be_neither_used_nor_invalidated(void **state)
{
	(void)state;
	connect_with(QP_RC, WINDOW_TYPE_2);

	uint32_t key = bind_window(100);

	window->grant.qpn ^= 1;
	write_with(key, 10);
	expect_completion(&pair.a, COMPLETION_REMOTE_ACCESS);
	rc_pair_release(&pair);

	connect_with(QP_RC, WINDOW_TYPE_2);
	key = bind_window(100);
	window->grant.qpn ^= 1;
	assert_int_equal(invalidate_key(&pair.b, SEND_LOCAL_INVALIDATE, key), 0);
	expect_completion(&pair.b, COMPLETION_LOCAL_QP_OPERATION);
	rc_pair_release(&pair);
}

static void test_read_is_refused_when_its_window_goes_in_the_middle(void **state)
{
	(void)state;
	connect_with(QP_RC, WINDOW_TYPE_2);

	uint32_t key = bind_window(4096);
	const struct sge sge = area_sge(&pair.a.inbox, area_take(&pair.a.inbox, 4096), 4096);
	const struct send_request request = {
		.opcode = SEND_RDMA_READ,
		.flags = SEND_SIGNALED,
		.remote_key = key,
		.remote_address = (uintptr_t)pair.b.window.bytes,
		.sge_count = 1,
		.sges = &sge,
	};

	pair.batch = 2;
	assert_int_equal(post(&pair, &pair.a, &request), 0);
	rc_pair_transmit(&pair);
	run_until(&pair, pair.now + 1);
	assert_true(window_invalidate(&pair.b.memory, &pair.b.pd, pair.b.qp.qpn, key));
	run_until_idle(&pair);
	expect_completion(&pair.a, COMPLETION_REMOTE_ACCESS);
	rc_pair_release(&pair);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_bound_window_takes_writes_within_its_bounds),
		cmocka_unit_test(test_bind_sends_nothing_and_completes_in_order),
		cmocka_unit_test(test_bind_is_not_done_again_when_packets_are_resent),
		cmocka_unit_test(test_bind_waits_for_reads_before_it),
		cmocka_unit_test(test_refused_bind_is_a_window_bind_error),
		cmocka_unit_test(test_refused_bind_on_uc_stops_the_send_queue_only),
		cmocka_unit_test(test_uc_writes_through_a_window),
		cmocka_unit_test(test_datagram_queue_pair_binds_nothing),
		cmocka_unit_test(test_local_invalidate_ends_access),
		cmocka_unit_test(test_local_invalidate_of_anything_else_is_an_operation_error),
		cmocka_unit_test(test_send_with_invalidate_frees_the_receiver_s_window),
		cmocka_unit_test(test_duplicate_of_send_with_invalidate_is_acknowledged),
		cmocka_unit_test(test_invalidate_of_a_type_1_window_is_refused_in_silence),
		cmocka_unit_test(
			test_window_of_another_queue_pair_can_be_neither_used_nor_invalidated),
		cmocka_unit_test(test_read_is_refused_when_its_window_goes_in_the_middle),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
