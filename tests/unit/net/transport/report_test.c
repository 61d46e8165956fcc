/* SPDX-License-Identifier: Apache-2.0 */
/* Completion of requests on a queue pair with a shared receive queue, and with a full completion
 * queue (transport 4.6, 5.6, 5.7). */
#include "net/transport/report.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <cmocka.h>
#include "support/rc_pair.h"
#include "wire/mtu.h"

static struct rc_pair pair;
static struct receive_queue shared;
static struct protection_domain shared_pd;

static void connect_shared(void)
{
	struct endpoint_options a = endpoint_options_default(QP_RC), b = a;

	assert_int_equal(receive_queue_init(&shared, &shared_pd, 8, 2), 0);
	b.shared_queue = &shared;
	rc_pair_init(&pair, &a, &b);
	rc_pair_bring_up(&pair);
}

static void release_shared(void)
{
	rc_pair_release(&pair);
	receive_queue_release(&shared);
}

/* A region of the shared queue's own domain: the queue pair's is another. */
static uint8_t *post_shared(uint64_t wr_id, uint32_t byte_count)
{
	struct region *region;
	uint8_t *bytes = area_take(&pair.b.inbox, byte_count);

	assert_int_equal(region_register(&pair.b.memory, &shared_pd, bytes, byte_count,
					 (uintptr_t)bytes, ACCESS_LOCAL_WRITE, &region),
			 0);

	struct sge sge = {(uintptr_t)bytes, byte_count, region->key};
	struct receive_request request = {.wr_id = wr_id, .sge_count = 1, .sges = &sge};

	assert_int_equal(receive_queue_post(&shared, &request), 0);
	return bytes;
}

static void test_shared_requests_are_taken_when_a_message_starts(void **state)
{
	(void)state;
	connect_shared();

	uint8_t *received = post_shared(1, 600);

	post_shared(2, 600);

	const uint8_t *sent = post_send(&pair, &pair.a, 600);

	wire_lose(&pair.a_to_b, 1);
	run_until(&pair, pair.now + MICROSECONDS(1));
	assert_int_equal(pair.b.shared_taken, 1);
	/* Another queue pair takes and posts meanwhile; the copy is not affected. */
	shared.head++;
	for (int i = 0; i < 8; i++)
		post_shared(100, 64);
	run_until_idle(&pair);
	assert_int_equal(expect_received(&pair.b, COMPLETION_SUCCESS)->wr_id, 1);
	assert_memory_equal(received, sent, 600);
	release_shared();
}

static void test_posting_to_the_queue_pair_itself_is_refused(void **state)
{
	struct receive_request request = {0};

	(void)state;
	connect_shared();
	assert_int_not_equal(qp_post_receive(&pair.b.qp, 0, &request), 0);
	release_shared();
}

static void test_error_flushes_the_request_it_holds_and_no_other(void **state)
{
	(void)state;
	connect_shared();
	post_shared(1, 600);
	post_shared(2, 600);
	post_send(&pair, &pair.a, 600);
	wire_lose(&pair.a_to_b, 1);
	run_until(&pair, pair.now + MICROSECONDS(1));
	assert_int_equal(endpoint_set_state(&pair.b, pair.now, QP_ERROR), 0);
	assert_int_equal(expect_received(&pair.b, COMPLETION_FLUSHED)->wr_id, 1);
	expect_nothing_received(&pair.b);
	assert_int_equal(receive_queue_count(&shared), 1);
	expect_event(&pair.b, QP_EVENT_LAST_REQUEST_REACHED);
	expect_no_event(&pair.b);
	/* One event is enough. */
	assert_int_equal(endpoint_set_state(&pair.b, pair.now, QP_ERROR), 0);
	expect_no_event(&pair.b);
	release_shared();
}

static void test_full_send_cq_breaks_the_queue_pair(void **state)
{
	(void)state;
	rc_pair_connect(&pair, MTU_256);
	pair.a.sent.room = 1;
	for (int i = 0; i < 4; i++) {
		post_receive(&pair, &pair.b, 8);
		post_send(&pair, &pair.a, 8);
	}
	run_until_idle(&pair);
	expect_completion(&pair.a, COMPLETION_SUCCESS);
	expect_no_completion(&pair.a);
	assert_int_equal(pair.a.qp.state, QP_ERROR);
	expect_event(&pair.a, QP_EVENT_FATAL);
	expect_no_event(&pair.a);
	rc_pair_release(&pair);
}

static void test_errors_are_reported_even_when_unsignaled(void **state)
{
	struct endpoint_options options = endpoint_options_default(QP_RC);
	struct send_request request = {.wr_id = 3, .opcode = SEND_SEND};

	(void)state;
	options.signal_all = false;
	rc_pair_connect_with(&pair, &options);
	assert_int_equal(post(&pair, &pair.a, &request), 0);
	assert_int_equal(endpoint_set_state(&pair.a, pair.now, QP_ERROR), 0);
	assert_int_equal(expect_completion(&pair.a, COMPLETION_FLUSHED)->wr_id, 3);
	rc_pair_release(&pair);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_shared_requests_are_taken_when_a_message_starts),
		cmocka_unit_test(test_posting_to_the_queue_pair_itself_is_refused),
		cmocka_unit_test(test_error_flushes_the_request_it_holds_and_no_other),
		cmocka_unit_test(test_full_send_cq_breaks_the_queue_pair),
		cmocka_unit_test(test_errors_are_reported_even_when_unsignaled),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
