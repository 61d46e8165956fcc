/* SPDX-License-Identifier: Apache-2.0 */
/* EE contexts as objects: numbers, limits, states, shared receive queues, and destruction
 * (transport 9.1, 9.2). */
#include "support/rd_rig.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include "net/hca/injected_event.h"

enum { IN = 65536 };

static struct rd_rig rig;
static struct rd_node *a, *b;

static int set_up(void **state)
{
	(void)state;
	rd_rig_init(&rig, 2);
	a = &rig.nodes[0];
	b = &rig.nodes[1];
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	rd_rig_release(&rig);
	return 0;
}

static void test_numbers_are_shared_with_queue_pairs_and_limited(void **state)
{
	struct qp_object *qp = rd_rig_qp(&rig, 0);
	struct qp_object *eec, *other;

	(void)state;
	assert_int_equal(eec_create(a->rdd, NULL, &eec), 0);
	assert_int_not_equal(eec->qp.qpn, qp->qp.qpn);
	a->hca.limits.eec_count_max = 1;
	assert_int_equal(eec_create(a->rdd, NULL, &other), -ENOMEM);
	assert_int_equal(qp_object_destroy(eec), 0);
	assert_int_equal(eec_create(a->rdd, NULL, &eec), 0);
}

/* The whole table of states: from each to each, with exactly the attributes that the transition
 * needs. */
static void test_states_are_those_of_a_connection_without_sqe(void **state)
{
	static const uint32_t needed[] = {
		[QP_INIT] = QP_HAS_PKEY_INDEX | QP_HAS_PORT,
		[QP_RTR] = QP_HAS_ADDRESS | QP_HAS_PATH_MTU | QP_HAS_DESTINATION_QPN |
			   QP_HAS_RQ_PSN | QP_HAS_RESPONDER_RESOURCES,
		[QP_RTS] = QP_HAS_SQ_PSN | QP_HAS_TIMEOUT | QP_HAS_RETRY_COUNT | QP_HAS_RNR_RETRY |
			   QP_HAS_INITIATOR_DEPTH,
		[QP_ERROR] = 0,
	};
	static const enum qp_state path[] = {QP_INIT, QP_RTR, QP_RTS};
	struct qp_attributes attributes = rd_rig_eec_attributes(11, 5);
	struct qp_object *eec;

	(void)state;
	assert_int_equal(eec_create(a->rdd, NULL, &eec), 0);
	for (unsigned i = 0; i < 3; i++) {
		attributes.state = path[i];
		for (unsigned bit = 0; bit < 21; bit++)
			if (needed[path[i]] >> bit & 1)
				assert_int_equal(qp_object_modify(eec, 0, &attributes,
								  QP_HAS_STATE | (needed[path[i]] &
										  ~(1u << bit))),
						 -EINVAL);
		/* Attributes of queue pairs are not attributes of an EE context. */
		assert_int_equal(qp_object_modify(eec, 0, &attributes,
						  QP_HAS_STATE | needed[path[i]] | QP_HAS_QKEY),
				 -EINVAL);
		assert_int_equal(qp_object_modify(eec, 0, &attributes,
						  QP_HAS_STATE | needed[path[i]] | QP_HAS_ACCESS),
				 -EINVAL);
		assert_int_equal(
			qp_object_modify(eec, 0, &attributes, QP_HAS_STATE | needed[path[i]]), 0);
		assert_int_equal(eec->qp.state, path[i]);
	}
	assert_int_equal(rd_rig_set_state(&rig, eec, QP_SQE), -EINVAL);
	assert_int_equal(rd_rig_set_state(&rig, eec, QP_INIT), -EINVAL);
	assert_int_equal(rd_rig_set_state(&rig, eec, QP_SQD), 0);
	assert_int_equal(rd_rig_set_state(&rig, eec, QP_RTS), 0);
	assert_int_equal(rd_rig_set_state(&rig, eec, QP_ERROR), 0);
	assert_int_equal(rd_rig_set_state(&rig, eec, QP_RTS), -EINVAL);
	assert_int_equal(rd_rig_set_state(&rig, eec, QP_RESET), 0);
}

static void test_first_packet_before_rts_is_told(void **state)
{
	struct qp_object *sender = rd_rig_qp(&rig, 0), *receiver = rd_rig_qp(&rig, 1);
	struct qp_object *eecs[2];

	(void)state;
	for (unsigned i = 0; i < 2; i++) {
		assert_int_equal(eec_create(rig.nodes[i].rdd, NULL, &eecs[i]), 0);
		rd_rig_to_init(&rig, eecs[i]);
	}
	rd_rig_to_rtr(&rig, eecs[0], 1, eecs[1]->qp.qpn);
	rd_rig_to_rtr(&rig, eecs[1], 0, eecs[0]->qp.qpn);
	rd_rig_to_rts(&rig, eecs[0]);
	rd_receive(&rig, receiver, IN, 100, 1);
	rd_send(&rig, sender, eecs[0], receiver->qp.qpn, 0, 10, 2);
	rd_run(&rig);
	rd_expect_sent(a, 2, COMPLETION_SUCCESS);
	assert_int_equal(b->event_count, 1);
	assert_int_equal(b->events[0].type, HCA_EVENT_QP_ESTABLISHED);
	assert_ptr_equal(b->events[0].qp, eecs[1]);
}

static void test_shared_receive_queue_serves_messages_and_tells_its_limit(void **state)
{
	struct qp_object *sender = rd_rig_qp(&rig, 0), *receiver, *eecs[2];
	struct srq *srq;
	struct qp_options options = {.type = QP_RD,
				     .pd = b->pd,
				     .send_cq = b->sent,
				     .receive_cq = b->received,
				     .rdd = b->rdd,
				     .capabilities = {4, 0, 1, 0, 0}};
	struct qp_attributes attributes = {.state = QP_INIT, .qkey = RIG_QKEY};

	(void)state;
	assert_int_equal(srq_create(&b->hca, b->pd, 8, 2, 0, NULL, &srq), 0);
	options.srq = srq;
	assert_int_equal(qp_object_create(&b->hca, &options, &receiver), 0);
	assert_int_equal(qp_object_modify(receiver, 0, &attributes,
					  QP_HAS_STATE | QP_HAS_QKEY | QP_HAS_ACCESS),
			 0);
	attributes.state = QP_RTR;
	assert_int_equal(
		qp_object_modify(receiver, 0, &attributes, QP_HAS_STATE | QP_HAS_MIN_RNR_TIMER), 0);
	rd_rig_connect(&rig, 0, 1, eecs);
	for (unsigned i = 0; i < 2; i++) {
		const struct sge sge = {(uintptr_t)b->bytes + IN, 1024, b->region->key};
		const struct receive_request request = {.wr_id = i, .sge_count = 1, .sges = &sge};

		assert_int_equal(srq_post(srq, &request), 0);
	}
	assert_int_equal(srq_set_limit(srq, 2), 0);
	rd_send(&rig, sender, eecs[0], receiver->qp.qpn, 0, 600, 5);
	rd_run(&rig);
	rd_expect_received(b, 0, COMPLETION_SUCCESS);
	assert_int_equal(b->event_count, 1);
	assert_int_equal(b->events[0].type, HCA_EVENT_SRQ_LIMIT);
	assert_int_equal(qp_object_destroy(receiver), 0);
	assert_int_equal(srq_destroy(srq), 0);
}

static void test_destroyed_context_tells_the_senders_and_aborts_what_comes_in(void **state)
{
	struct qp_object *sender = rd_rig_qp(&rig, 0), *receiver = rd_rig_qp(&rig, 1), *eecs[2];

	(void)state;
	rd_rig_connect(&rig, 0, 1, eecs);
	rd_receive(&rig, receiver, IN, 1024, 1);
	wire_lose(rig.wires[0][1], 2);
	rd_send(&rig, sender, eecs[0], receiver->qp.qpn, 0, 600, 5);
	rd_run_until(&rig, rig.now + MICROSECONDS(1));
	assert_int_equal(qp_object_destroy(eecs[1]), 0);
	rd_expect_received(b, 1, COMPLETION_REMOTE_ABORTED);
	assert_int_equal(qp_object_destroy(eecs[0]), 0);
	rd_expect_sent(a, 5, COMPLETION_INVALID_EEC_STATE);
	assert_int_equal(sender->qp.state, QP_SQE);
	assert_int_equal(receiver->qp.state, QP_RTS);
	rd_run(&rig);
}

static void test_failed_adapter_ends_messages_and_contexts(void **state)
{
	struct qp_object *sender = rd_rig_qp(&rig, 0), *receiver = rd_rig_qp(&rig, 1), *eecs[2];

	(void)state;
	rd_rig_connect(&rig, 0, 1, eecs);
	rd_send(&rig, sender, eecs[0], receiver->qp.qpn, 0, 600, 5);
	hca_fail(&a->hca, rig.now);
	assert_int_equal(rd_take(a->sent).wr_id, 5);
	assert_int_equal(eecs[0]->qp.state, QP_ERROR);
	assert_int_equal(sender->qp.state, QP_ERROR);
}

static void test_injected_events_are_those_that_a_context_has(void **state)
{
	static const enum hca_event_type all[] = {HCA_EVENT_QP_REQUEST_ERROR,
						  HCA_EVENT_QP_ACCESS_ERROR,
						  HCA_EVENT_LAST_REQUEST_REACHED,
						  HCA_EVENT_QP_ESTABLISHED,
						  HCA_EVENT_SQ_DRAINED,
						  HCA_EVENT_PATH_MIGRATED,
						  HCA_EVENT_QP_FATAL};
	struct qp_object *eec;

	(void)state;
	assert_int_equal(eec_create(a->rdd, NULL, &eec), 0);
	rd_rig_to_init(&rig, eec);
	for (unsigned i = 0; i < 7; i++) {
		a->event_count = 0;
		hca_inject_event(&a->hca, rig.now, all[i]);
		assert_int_equal(a->event_count, i < 3 ? 0 : 1);
	}
	assert_int_equal(eec->qp.state, QP_ERROR);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_numbers_are_shared_with_queue_pairs_and_limited),
		TEST(test_states_are_those_of_a_connection_without_sqe),
		TEST(test_first_packet_before_rts_is_told),
		TEST(test_shared_receive_queue_serves_messages_and_tells_its_limit),
		TEST(test_destroyed_context_tells_the_senders_and_aborts_what_comes_in),
		TEST(test_injected_events_are_those_that_a_context_has),
		TEST(test_failed_adapter_ends_messages_and_contexts),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
