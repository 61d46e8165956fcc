/* SPDX-License-Identifier: Apache-2.0 */
/* Shared receive queues: limits, resizing, users (transport 5.7). */
#include <errno.h>
#include "adapter_pair.h"

static struct adapter_pair pair;

static void post(struct srq *srq, uint64_t wr_id)
{
	const struct sge sge = {.address = wr_id, .byte_count = 8, .lkey = 1};

	assert_int_equal(srq_post(srq, &(struct receive_request){wr_id, 1, &sge}), 0);
}

static void test_resize_keeps_posted_requests(void **state)
{
	struct hca *hca = &pair.adapters[0].hca;
	struct protection_domain *pd;
	struct srq *srq;

	(void)state;
	adapter_pair_init(&pair);
	assert_int_equal(hca_pd_alloc(hca, &pd), 0);
	assert_int_equal(srq_create(hca, pd, 4, 1, 0, NULL, &srq), 0);
	for (uint64_t i = 0; i < 3; i++)
		post(srq, i);
	srq->queue.head++; /* one request is taken */
	post(srq, 3);
	assert_int_equal(srq_resize(srq, 2), -EINVAL);
	assert_int_equal(srq_resize(srq, 100), 0);
	assert_int_equal(receive_queue_count(&srq->queue), 3);
	for (uint64_t i = 1; i < 4; i++) {
		const struct receive_slot *slot = receive_queue_first(&srq->queue);

		assert_non_null(slot);
		assert_int_equal(slot->wr_id, i);
		assert_int_equal(slot->sges[0].address, i);
		srq->queue.head++;
	}
	for (uint64_t i = 0; i < 100; i++)
		post(srq, i);
	assert_int_equal(hca_pd_dealloc(hca, pd), -EBUSY);
	assert_int_equal(srq_destroy(srq), 0);
	assert_int_equal(hca_pd_dealloc(hca, pd), 0);
	adapter_pair_release(&pair);
}

static void test_sizes_and_limits_outside_are_refused(void **state)
{
	struct hca *hca = &pair.adapters[0].hca;
	struct protection_domain *pd;
	struct srq *srq;

	(void)state;
	adapter_pair_init(&pair);
	assert_int_equal(hca_pd_alloc(hca, &pd), 0);
	assert_int_equal(srq_create(hca, pd, 0, 1, 0, NULL, &srq), -EINVAL);
	assert_int_equal(srq_create(hca, pd, hca->limits.srq_requests_max + 1, 1, 0, NULL, &srq),
			 -EINVAL);
	assert_int_equal(srq_create(hca, pd, 1, hca->limits.srq_sges_max + 1, 0, NULL, &srq),
			 -EINVAL);
	assert_int_equal(srq_create(hca, pd, 4, 1, 0, NULL, &srq), 0);
	assert_int_equal(srq_set_limit(srq, 5), -EINVAL);
	assert_int_equal(srq_post(srq, &(struct receive_request){.wr_id = 1}), 0);
	assert_int_equal(srq_set_limit(srq, 1), 0);
	assert_int_equal(srq_resize(srq, 0), -EINVAL);
	assert_int_equal(srq_destroy(srq), 0);
	assert_int_equal(hca_pd_dealloc(hca, pd), 0);
	adapter_pair_release(&pair);
}

static void test_a_limit_above_what_is_posted_is_reached_at_once(void **state)
{
	const struct recorded_adapter *adapter = &pair.adapters[0];
	struct hca *hca = &pair.adapters[0].hca;
	struct protection_domain *pd;
	struct srq *srq;

	(void)state;
	adapter_pair_init(&pair);
	assert_int_equal(hca_pd_alloc(hca, &pd), 0);
	assert_int_equal(srq_create(hca, pd, 4, 1, 0, NULL, &srq), 0);
	assert_int_equal(srq_post(srq, &(struct receive_request){.wr_id = 1}), 0);
	assert_int_equal(srq_set_limit(srq, 1), 0);
	assert_int_equal(adapter->event_count, 0);
	assert_int_equal(srq->limit, 1);
	assert_int_equal(srq_set_limit(srq, 2), 0);
	assert_int_equal(adapter->event_count, 1);
	assert_int_equal(adapter->events[0].type, HCA_EVENT_SRQ_LIMIT);
	assert_ptr_equal(adapter->events[0].srq, srq);
	assert_int_equal(srq->limit, 0);
	assert_int_equal(srq_destroy(srq), 0);
	assert_int_equal(hca_pd_dealloc(hca, pd), 0);
	adapter_pair_release(&pair);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_resize_keeps_posted_requests),
		cmocka_unit_test(test_sizes_and_limits_outside_are_refused),
		cmocka_unit_test(test_a_limit_above_what_is_posted_is_reached_at_once),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
