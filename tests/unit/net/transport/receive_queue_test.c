/* SPDX-License-Identifier: Apache-2.0 */
/* The receive queue: order, fullness, wrap-around. */
#include "net/transport/receive_queue.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

static void test_requests_come_out_in_order_across_the_wrap(void **state)
{
	struct receive_queue queue;
	struct sge sges[2] = {{1, 2, 3}, {4, 5, 6}};
	struct receive_request request = {.sge_count = 2, .sges = sges};

	(void)state;
	assert_int_equal(receive_queue_init(&queue, NULL, 3, 2), 0);
	queue.head = queue.tail = UINT32_MAX - 1;
	assert_null(receive_queue_first(&queue));
	for (request.wr_id = 0; request.wr_id < 3; request.wr_id++)
		assert_int_equal(receive_queue_post(&queue, &request), 0);
	assert_int_equal(receive_queue_post(&queue, &request), -ENOMEM);
	for (uint64_t i = 0; i < 3; i++, queue.head++) {
		assert_int_equal(receive_queue_count(&queue), 3 - i);
		assert_int_equal(receive_queue_first(&queue)->wr_id, i);
		assert_memory_equal(receive_queue_first(&queue)->sges, sges, sizeof(sges));
	}
	assert_null(receive_queue_first(&queue));
	receive_queue_release(&queue);
}

static void test_too_many_sges_are_refused(void **state)
{
	struct receive_queue queue;
	struct sge sges[2] = {{0}};
	struct receive_request request = {.sge_count = 2, .sges = sges};

	(void)state;
	assert_int_equal(receive_queue_init(&queue, NULL, 3, 1), 0);
	assert_int_equal(receive_queue_post(&queue, &request), -EINVAL);
	request.sge_count = 0;
	request.sges = NULL;
	assert_int_equal(receive_queue_post(&queue, &request), 0);
	receive_queue_release(&queue);
}

static void test_queue_of_none_takes_none(void **state)
{
	struct receive_queue queue;
	struct receive_request request = {0};

	(void)state;
	assert_int_equal(receive_queue_init(&queue, NULL, 0, 0), 0);
	assert_int_equal(receive_queue_post(&queue, &request), -ENOMEM);
	receive_queue_release(&queue);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_requests_come_out_in_order_across_the_wrap),
		cmocka_unit_test(test_too_many_sges_are_refused),
		cmocka_unit_test(test_queue_of_none_takes_none),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
