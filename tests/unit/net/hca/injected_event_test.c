/* SPDX-License-Identifier: Apache-2.0 */
/* Injected events: each is delivered once to the object it can be about, and leaves the object in
 * the state that the error would. */
#include "net/hca/injected_event.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include <string.h>

enum { EVENTS_MAX = 32, QPS = 3 };

static struct hca hca;
static struct hca_event events[EVENTS_MAX];
static unsigned event_count;
static struct protection_domain *pd;
static struct cq *cqs[2];
static struct srq *srq;
static struct qp_object *qps[QPS];

static void note_event(void *context, const struct hca_event *event)
{
	(void)context;
	assert_true(event_count < EVENTS_MAX);
	events[event_count++] = *event;
}

static void note_completion(void *context, struct cq *cq)
{
	(void)context;
	(void)cq;
}

/* Two queue pairs share a receive queue; all three share one completion queue for sends. */
static void begin(void)
{
	const struct hca_owner owner = {.event = note_event, .cq_notify = note_completion};

	event_count = 0;
	assert_int_equal(hca_init(&hca, &hca_limits_default, &owner, 1, 2), 0);
	assert_int_equal(hca_add_qpns(&hca, 1024, 1024), 0);
	hca_port_update(
		&hca,
		&(struct port_view){.number = 1, .state = 4, .pkey_count = 1, .pkeys = {0xffff}},
		false);
	event_count = 0;
	assert_int_equal(hca_pd_alloc(&hca, &pd), 0);
	assert_int_equal(cq_create(&hca, 16, NULL, &cqs[0]), 0);
	assert_int_equal(cq_create(&hca, 16, NULL, &cqs[1]), 0);
	assert_int_equal(srq_create(&hca, pd, 4, 1, 0, NULL, &srq), 0);
	for (unsigned index = 0; index < QPS; index++) {
		const struct qp_options options = {
			.type = QP_RC,
			.pd = pd,
			.send_cq = cqs[0],
			.receive_cq = cqs[1],
			.srq = index < 2 ? srq : NULL,
			.capabilities = {4, 4, 1, 1, 0},
		};

		assert_int_equal(qp_object_create(&hca, &options, &qps[index]), 0);
	}
}

static void to_init(struct qp_object *object)
{
	const struct qp_attributes attributes = {.state = QP_INIT, .port_number = 1};

	assert_int_equal(
		qp_object_modify(object, 0, &attributes,
				 QP_HAS_STATE | QP_HAS_PORT | QP_HAS_PKEY_INDEX | QP_HAS_ACCESS),
		0);
}

static void end(void)
{
	for (unsigned index = 0; index < QPS; index++)
		assert_int_equal(qp_object_destroy(qps[index]), 0);
	assert_int_equal(srq_destroy(srq), 0);
	assert_int_equal(cq_destroy(cqs[0]), 0);
	assert_int_equal(cq_destroy(cqs[1]), 0);
	assert_int_equal(hca_pd_dealloc(&hca, pd), 0);
	hca_release(&hca);
}

static unsigned count_of(enum hca_event_type type)
{
	unsigned count = 0;

	for (unsigned index = 0; index < event_count; index++)
		count += events[index].type == type;
	return count;
}

static void test_a_port_event_comes_from_every_port(void **state)
{
	(void)state;
	begin();
	hca_inject_event(&hca, 0, HCA_EVENT_PORT_ERROR);
	assert_int_equal(event_count, 2);
	assert_int_equal(events[0].port_number, 1);
	assert_int_equal(events[1].port_number, 2);
	assert_int_equal(count_of(HCA_EVENT_PORT_ERROR), 2);
	end();
}

static void test_a_queue_pair_event_comes_from_every_queue_pair(void **state)
{
	(void)state;
	begin();
	hca_inject_event(&hca, 0, HCA_EVENT_QP_ESTABLISHED);
	assert_int_equal(event_count, QPS);
	for (unsigned index = 0; index < QPS; index++)
		assert_non_null(events[index].qp);
	end();
}

static void test_queues_that_are_shared_are_told_of_once(void **state)
{
	(void)state;
	begin();
	hca_inject_event(&hca, 0, HCA_EVENT_CQ_ERROR);
	assert_int_equal(event_count, 2);
	assert_true(events[0].cq != events[1].cq);
	assert_true(cqs[0]->ring.has_overflowed && cqs[1]->ring.has_overflowed);
	event_count = 0;
	hca_inject_event(&hca, 0, HCA_EVENT_SRQ_ERROR);
	assert_int_equal(event_count, 1);
	assert_ptr_equal(events[0].srq, srq);
	end();
}

static void test_a_fatal_event_of_the_device_ends_it(void **state)
{
	(void)state;
	begin();
	hca_inject_event(&hca, 0, HCA_EVENT_DEVICE_FATAL);
	assert_int_equal(count_of(HCA_EVENT_DEVICE_FATAL), 1);
	assert_true(hca.is_fatal);
	end();
}

static void test_a_queue_pair_with_a_fatal_event_is_in_error(void **state)
{
	(void)state;
	begin();
	to_init(qps[2]);
	hca_inject_event(&hca, 0, HCA_EVENT_QP_FATAL);
	assert_int_equal(qps[2]->qp.state, QP_ERROR);
	to_init(qps[1]);
	hca_break_qp(&hca, 0, qps[1]->qp.qpn);
	assert_int_equal(qps[1]->qp.state, QP_ERROR);
	end();
}

static void test_a_queue_pair_in_reset_does_not_break(void **state)
{
	(void)state;
	begin();
	hca_inject_event(&hca, 0, HCA_EVENT_QP_FATAL);
	assert_int_equal(count_of(HCA_EVENT_QP_FATAL), QPS);
	assert_int_equal(qps[0]->qp.state, QP_RESET);
	hca_break_qp(&hca, 0, qps[0]->qp.qpn);
	assert_int_equal(qps[0]->qp.state, QP_RESET);
	hca_break_qp(&hca, 0, 5); /* no such object */
	end();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_port_event_comes_from_every_port),
		cmocka_unit_test(test_a_queue_pair_event_comes_from_every_queue_pair),
		cmocka_unit_test(test_queues_that_are_shared_are_told_of_once),
		cmocka_unit_test(test_a_fatal_event_of_the_device_ends_it),
		cmocka_unit_test(test_a_queue_pair_with_a_fatal_event_is_in_error),
		cmocka_unit_test(test_a_queue_pair_in_reset_does_not_break),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
