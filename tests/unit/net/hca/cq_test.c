/* SPDX-License-Identifier: Apache-2.0 */
/* Completion queues: order, arming, overflow, resizing (transport 7.6). */
#include <errno.h>
#include "adapter_pair.h"

static struct adapter_pair pair;

static struct cq *make_cq(uint32_t cqe_count)
{
	struct cq *cq;

	adapter_pair_init(&pair);
	assert_int_equal(cq_create(&pair.adapters[0].hca, cqe_count, NULL, &cq), 0);
	return cq;
}

static void end(struct cq *cq)
{
	assert_int_equal(cq_destroy(cq), 0);
	adapter_pair_release(&pair);
}

static void push(struct cq *cq, uint64_t wr_id)
{
	assert_true(
		cq_push(cq, &(struct completion){.wr_id = wr_id, .qpn = (uint32_t)(wr_id % 2)}));
}

static uint64_t pop(struct cq *cq)
{
	const struct completion *first = cq_first(cq);

	assert_non_null(first);

	uint64_t wr_id = first->wr_id;

	cq_advance(cq);
	return wr_id;
}

static void test_completions_come_out_in_order(void **state)
{
	struct cq *cq = make_cq(3);

	(void)state;
	assert_true(cq->ring.capacity >= 3);
	assert_null(cq_first(cq));
	for (uint64_t round = 0; round < 10; round++) {
		push(cq, round * 2);
		push(cq, round * 2 + 1);
		assert_int_equal(pop(cq), round * 2);
		assert_int_equal(pop(cq), round * 2 + 1);
	}
	assert_null(cq_first(cq));
	end(cq);
}

static void test_sizes_outside_the_limits_are_refused(void **state)
{
	struct cq *cq = make_cq(1);
	struct cq *other;

	(void)state;
	assert_int_equal(cq_create(cq->hca, 0, NULL, &other), -EINVAL);
	assert_int_equal(cq_create(cq->hca, cq->hca->limits.cqes_max + 1, NULL, &other), -EINVAL);
	assert_int_equal(cq_resize(cq, cq->hca->limits.cqes_max + 1), -EINVAL);
	end(cq);
}

static void test_overflow_raises_one_event_and_loses_the_completion(void **state)
{
	struct cq *cq = make_cq(2);
	struct recorded_adapter *adapter = &pair.adapters[0];

	(void)state;
	push(cq, 1);
	push(cq, 2);
	assert_false(cq_push(cq, &(struct completion){.wr_id = 3}));
	assert_int_equal(adapter->event_count, 1);
	assert_int_equal(adapter->events[0].type, HCA_EVENT_CQ_ERROR);
	assert_ptr_equal(adapter->events[0].cq, cq);
	assert_int_equal(pop(cq), 1);
	/* The CQ stays unusable, and raises one event. */
	assert_false(cq_push(cq, &(struct completion){.wr_id = 4}));
	assert_int_equal(adapter->event_count, 1);
	assert_int_equal(pop(cq), 2);
	assert_null(cq_first(cq));
	end(cq);
}

static void test_resize_keeps_unread_completions(void **state)
{
	struct cq *cq = make_cq(4);

	(void)state;
	push(cq, 0);
	push(cq, 1);
	assert_int_equal(pop(cq), 0);
	push(cq, 2);
	push(cq, 3);
	push(cq, 4);
	assert_int_equal(cq_resize(cq, 3), -EINVAL);
	assert_int_equal(cq_resize(cq, 100), 0);
	assert_true(cq->ring.capacity >= 100);
	for (uint64_t wr_id = 1; wr_id <= 4; wr_id++)
		assert_int_equal(pop(cq), wr_id);
	assert_null(cq_first(cq));
	end(cq);
}

static void test_arming_is_one_shot_and_can_only_be_raised(void **state)
{
	struct cq *cq = make_cq(64);
	struct recorded_adapter *adapter = &pair.adapters[0];
	const struct completion plain = {0};
	const struct completion solicited = {.is_solicited = true};
	const struct completion failed = {.status = COMPLETION_FLUSHED};

	(void)state;
	assert_true(cq_push(cq, &plain));
	assert_int_equal(adapter->notify_count, 0);

	cq_arm(cq, CQ_ARMED_NEXT);
	assert_int_equal(adapter->notify_count,
			 0); /* completions that were there before raise no event */
	assert_true(cq_push(cq, &plain));
	assert_true(cq_push(cq, &plain));
	assert_int_equal(adapter->notify_count, 1);
	assert_ptr_equal(adapter->notified_cq, cq);

	cq_arm(cq, CQ_ARMED_SOLICITED);
	assert_true(cq_push(cq, &plain));
	assert_int_equal(adapter->notify_count, 1);
	assert_true(cq_push(cq, &solicited));
	assert_int_equal(adapter->notify_count, 2);

	cq_arm(cq, CQ_ARMED_SOLICITED);
	assert_true(cq_push(cq, &failed));
	assert_int_equal(adapter->notify_count, 3);

	cq_arm(cq, CQ_ARMED_NEXT);
	cq_arm(cq, CQ_ARMED_SOLICITED);
	assert_true(cq_push(cq, &plain));
	assert_int_equal(adapter->notify_count, 4);
	end(cq);
}

static void test_what_is_present_is_announced_if_asked(void **state)
{
	struct cq *cq = make_cq(64);
	struct recorded_adapter *adapter = &pair.adapters[0];
	const struct completion plain = {0};
	const struct completion solicited = {.is_solicited = true};

	(void)state;
	cq_announce_present(cq);
	assert_true(cq_push(cq, &plain));
	cq_announce_present(cq);
	assert_int_equal(adapter->notify_count, 0); /* not armed */

	cq_arm(cq, CQ_ARMED_SOLICITED);
	cq_announce_present(cq);
	assert_int_equal(adapter->notify_count, 0);
	cq_arm(cq, CQ_ARMED_NEXT);
	cq_announce_present(cq);
	assert_int_equal(adapter->notify_count, 1);
	cq_announce_present(cq); /* the event has disarmed the CQ */
	assert_int_equal(adapter->notify_count, 1);

	assert_true(cq_push(cq, &solicited));
	assert_true(cq_push(cq, &solicited));
	cq_arm(cq, CQ_ARMED_SOLICITED);
	cq_announce_present(cq);
	assert_int_equal(adapter->notify_count, 2);
	end(cq);
}

/* The program takes the event, arms, and polls afterwards. */
static void test_arming_announces_what_came_since_the_last_event(void **state)
{
	struct cq *cq = make_cq(4);
	struct recorded_adapter *adapter = &pair.adapters[0];
	const struct completion plain = {0};

	(void)state;
	assert_true(cq_push(cq, &plain));
	cq_arm(cq, CQ_ARMED_NEXT);
	cq_announce_new(cq);
	assert_int_equal(adapter->notify_count, 1);
	cq_arm(cq, CQ_ARMED_NEXT);
	cq_announce_new(cq);
	assert_int_equal(adapter->notify_count, 1);
	assert_true(cq_push(cq, &plain));
	assert_int_equal(adapter->notify_count, 2);
	/* This completion comes while the CQ is not armed. */
	assert_true(cq_push(cq, &plain));
	cq_arm(cq, CQ_ARMED_NEXT);
	cq_announce_new(cq);
	assert_int_equal(adapter->notify_count, 3);
	/* The positions of polled completions mean nothing. */
	for (unsigned i = 0; i < 20; i++) {
		while (cq_first(cq))
			cq_advance(cq);
		cq_arm(cq, CQ_ARMED_NEXT);
		cq_announce_new(cq);
		assert_int_equal(adapter->notify_count, 3 + i);
		assert_true(cq_push(cq, &plain));
	}
	/* A program that waits although it has not polled gets the event again. */
	cq_arm(cq, CQ_ARMED_NEXT);
	cq_announce_present(cq);
	assert_int_equal(adapter->notify_count, 24);
	end(cq);
}

static void test_forgetting_a_qp_leaves_the_others_in_order(void **state)
{
	struct cq *cq = make_cq(8);

	(void)state;
	for (uint64_t wr_id = 0; wr_id < 6; wr_id++)
		push(cq, wr_id);
	cq_forget(cq, 0);
	assert_int_equal(pop(cq), 1);
	assert_int_equal(pop(cq), 3);
	assert_int_equal(pop(cq), 5);
	assert_null(cq_first(cq));
	end(cq);
}

static void push_at(struct cq *cq, time_ns now)
{
	assert_true(cq_push(cq, &(struct completion){.timestamp_ns = now}));
}

static void test_moderated_events_wait_for_a_count_or_a_time(void **state)
{
	struct cq *cq = make_cq(16);
	struct hca *hca = &pair.adapters[0].hca;

	(void)state;
	cq_moderate(cq, 3, MICROSECONDS(10));
	cq_arm(cq, CQ_ARMED_NEXT);
	for (unsigned i = 0; i < 3; i++) {
		assert_int_equal(pair.adapters[0].notify_count, 0);
		push_at(cq, 1000);
	}
	assert_int_equal(pair.adapters[0].notify_count, 1);
	assert_int_equal(hca_deadline(hca), TIME_NEVER);

	/* The time counts from the first completion. */
	cq_arm(cq, CQ_ARMED_NEXT);
	push_at(cq, 2000);
	push_at(cq, 5000);
	assert_int_equal(hca_deadline(hca), 12000);
	hca_expire(hca, 11999);
	assert_int_equal(pair.adapters[0].notify_count, 1);
	hca_expire(hca, 12000);
	assert_int_equal(pair.adapters[0].notify_count, 2);
	assert_int_equal(hca_deadline(hca), TIME_NEVER);

	/* A CQ that is destroyed takes its timer along. */
	cq_arm(cq, CQ_ARMED_NEXT);
	push_at(cq, 20000);
	end(cq);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_completions_come_out_in_order),
		cmocka_unit_test(test_sizes_outside_the_limits_are_refused),
		cmocka_unit_test(test_overflow_raises_one_event_and_loses_the_completion),
		cmocka_unit_test(test_resize_keeps_unread_completions),
		cmocka_unit_test(test_arming_is_one_shot_and_can_only_be_raised),
		cmocka_unit_test(test_what_is_present_is_announced_if_asked),
		cmocka_unit_test(test_arming_announces_what_came_since_the_last_event),
		cmocka_unit_test(test_forgetting_a_qp_leaves_the_others_in_order),
		cmocka_unit_test(test_moderated_events_wait_for_a_count_or_a_time),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
