/* SPDX-License-Identifier: Apache-2.0 */
/* RD queue pairs: which requests may be posted, which context carries them, and their states
 * (transport 9.1). */
#include "support/rd_rig.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include "net/memory/window.h"

enum { IN = 65536 };

static struct rd_rig rig;
static struct rd_node *a, *b;
static struct qp_object *sender, *receiver, *eecs[2];
static struct qp_wire *there;

static int set_up(void **state)
{
	(void)state;
	rd_rig_init(&rig, 3);
	a = &rig.nodes[0];
	b = &rig.nodes[1];
	sender = rd_rig_qp(&rig, 0);
	receiver = rd_rig_qp(&rig, 1);
	rd_rig_connect(&rig, 0, 1, eecs);
	there = rig.wires[0][1];
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	rd_rig_release(&rig);
	return 0;
}

static void expect_fault(const struct send_request *request, enum completion_status status)
{
	assert_int_equal(rd_post(&rig, sender, request), 0);
	rd_run(&rig);
	rd_expect_sent(a, request->wr_id, status);
	assert_int_equal(sender->qp.state, QP_SQE);
	assert_int_equal(rd_rig_set_state(&rig, sender, QP_RTS), 0);
	expect_wire(there, "");
}

static void test_request_must_name_a_context_of_its_domain_that_can_send(void **state)
{
	struct rdd *own = a->rdd;
	struct rdd *other_rdd;
	struct qp_object *other;
	struct sge sge;
	struct send_request request = rd_request(a, eecs[0], receiver->qp.qpn, 0, 10, &sge);

	(void)state;
	request.wr_id = 1;
	request.eecn = 0x777777;
	expect_fault(&request, COMPLETION_INVALID_EECN);
	request.eecn = sender->qp.qpn;
	expect_fault(&request, COMPLETION_INVALID_EECN);
	assert_int_equal(eec_create(own, NULL, &other), 0);
	request.eecn = other->qp.qpn;
	expect_fault(&request, COMPLETION_INVALID_EEC_STATE);
	rd_rig_to_init(&rig, other);
	expect_fault(&request, COMPLETION_INVALID_EEC_STATE);
	rd_rig_to_rtr(&rig, other, 1, eecs[1]->qp.qpn);
	expect_fault(&request, COMPLETION_INVALID_EEC_STATE);

	assert_int_equal(rdd_alloc(&a->hca, &other_rdd), 0);
	assert_int_equal(eec_create(other_rdd, NULL, &other), 0);
	request.eecn = other->qp.qpn;
	expect_fault(&request, COMPLETION_LOCAL_RDD_VIOLATION);
	assert_int_equal(qp_object_destroy(other), 0);
	assert_int_equal(rdd_dealloc(other_rdd), 0);
}

static void test_only_requests_of_the_service_can_be_posted(void **state)
{
	enum {
		ALLOWED = 1 << SEND_RDMA_WRITE | 1 << SEND_RDMA_WRITE_IMMEDIATE | 1 << SEND_SEND |
			  1 << SEND_SEND_IMMEDIATE | 1 << SEND_RDMA_READ | 1 << SEND_COMPARE_SWAP |
			  1 << SEND_FETCH_ADD | 1 << SEND_BIND_WINDOW | 1 << SEND_FLUSH |
			  1 << SEND_ATOMIC_WRITE
	};
	struct sge sge;
	struct send_request request = rd_request(a, eecs[0], receiver->qp.qpn, 0, 8, &sge);

	(void)state;
	for (unsigned opcode = 0; opcode < 40; opcode++) {
		bool is_allowed = opcode < 32 && ALLOWED >> opcode & 1;

		request.opcode = (enum send_opcode)opcode;
		if (is_allowed)
			continue;
		assert_int_equal(rd_post(&rig, sender, &request), -EINVAL);
	}
	request.opcode = SEND_SEND;
	request.remote_qpn = 1 << 24;
	assert_int_equal(rd_post(&rig, sender, &request), -EINVAL);
	request.remote_qpn = receiver->qp.qpn;
	request.eecn = 1 << 24;
	assert_int_equal(rd_post(&rig, sender, &request), -EINVAL);
	/* Nothing is posted to a context itself. */
	request.eecn = eecs[0]->qp.qpn;
	assert_int_equal(rd_post(&rig, eecs[0], &request), -EINVAL);
}

static void test_one_queue_pair_reaches_many_nodes(void **state)
{
	struct qp_object *third = rd_rig_qp(&rig, 2);
	struct qp_object *more[2];

	(void)state;
	rd_rig_connect(&rig, 0, 2, more);
	rd_receive(&rig, receiver, IN, 1024, 1);
	rd_receive(&rig, third, IN, 1024, 2);
	memset(a->bytes, 5, 2000);
	rd_send(&rig, sender, eecs[0], receiver->qp.qpn, 0, 1000, 3);
	rd_send(&rig, sender, more[0], third->qp.qpn, 1000, 1000, 4);
	rd_run(&rig);
	rd_expect_sent(a, 3, COMPLETION_SUCCESS);
	rd_expect_sent(a, 4, COMPLETION_SUCCESS);
	rd_expect_received(b, 1, COMPLETION_SUCCESS);
	rd_expect_received(&rig.nodes[2], 2, COMPLETION_SUCCESS);
	assert_memory_equal(rig.nodes[2].bytes + IN, a->bytes + 1000, 1000);
}

static void test_messages_of_a_queue_pair_keep_their_order_over_contexts(void **state)
{
	struct qp_object *more[2];

	(void)state;
	rd_rig_connect(&rig, 0, 1, more);
	/* The first context is slow: the second waits all the same. */
	there->latency = MICROSECONDS(100);
	for (unsigned i = 0; i < 4; i++)
		rd_receive(&rig, receiver, IN + i * 1024, 1024, i);
	for (unsigned i = 0; i < 4; i++)
		rd_send(&rig, sender, i % 2 ? more[0] : eecs[0], receiver->qp.qpn, 0, 10, i);
	rd_run(&rig);
	for (unsigned i = 0; i < 4; i++) {
		struct completion completion = rd_take(b->received);

		assert_int_equal(completion.wr_id, i);
		assert_int_equal(completion.eecn, i % 2 ? more[1]->qp.qpn : eecs[1]->qp.qpn);
		rd_expect_sent(a, i, COMPLETION_SUCCESS);
	}
}

static void test_states_need_and_allow_their_attributes(void **state)
{
	const struct qp_options options = {.type = QP_RD,
					   .pd = a->pd,
					   .send_cq = a->sent,
					   .receive_cq = a->received,
					   .rdd = a->rdd};
	struct qp_attributes attributes = {.state = QP_INIT, .port_number = 1};
	struct qp_object *qp;

	(void)state;
	assert_int_equal(qp_object_create(&a->hca, &options, &qp), 0);
	assert_int_equal(qp_object_modify(qp, 0, &attributes, QP_HAS_STATE | QP_HAS_QKEY), -EINVAL);
	assert_int_equal(qp_object_modify(qp, 0, &attributes,
					  QP_HAS_STATE | QP_HAS_QKEY | QP_HAS_ACCESS | QP_HAS_PORT),
			 -EINVAL);
	assert_int_equal(
		qp_object_modify(qp, 0, &attributes, QP_HAS_STATE | QP_HAS_QKEY | QP_HAS_ACCESS),
		0);
	attributes.state = QP_RTR;
	assert_int_equal(qp_object_modify(qp, 0, &attributes, QP_HAS_STATE), -EINVAL);
	assert_int_equal(qp_object_modify(qp, 0, &attributes, QP_HAS_STATE | QP_HAS_MIN_RNR_TIMER),
			 0);
	attributes.state = QP_RTS;
	assert_int_equal(qp_object_modify(qp, 0, &attributes, QP_HAS_STATE | QP_HAS_SQ_PSN),
			 -EINVAL);
	assert_int_equal(qp_object_modify(qp, 0, &attributes, QP_HAS_STATE), 0);
	/* RD needs an RD domain, and no other type has one. */
	struct qp_options without = options;

	without.rdd = NULL;
	assert_int_equal(qp_object_create(&a->hca, &without, &qp), -EINVAL);
	without = options;
	without.type = QP_RC;
	assert_int_equal(qp_object_create(&a->hca, &without, &qp), -EINVAL);
}

static void test_draining_finishes_the_suspended_message_and_begins_no_other(void **state)
{
	struct qp_attributes attributes = {.state = QP_SQD, .drained_notify = true};

	(void)state;
	rd_send(&rig, sender, eecs[0], receiver->qp.qpn, 0, 10, 1);
	rd_send(&rig, sender, eecs[0], receiver->qp.qpn, 0, 10, 2);
	rd_run_until(&rig, rig.now + MICROSECONDS(5));
	assert_int_equal(qp_object_modify(sender, rig.now, &attributes,
					  QP_HAS_STATE | QP_HAS_DRAINED_NOTIFY),
			 0);
	rd_receive(&rig, receiver, IN, 100, 1);
	rd_receive(&rig, receiver, IN, 100, 2);
	rd_run(&rig);
	rd_expect_sent(a, 1, COMPLETION_SUCCESS);
	rd_expect_none(a->sent);
	assert_int_equal(a->event_count, 1);
	assert_int_equal(a->events[0].type, HCA_EVENT_SQ_DRAINED);
	assert_ptr_equal(a->events[0].qp, sender);
	assert_int_equal(rd_rig_set_state(&rig, sender, QP_RTS), 0);
	rd_run(&rig);
	rd_expect_sent(a, 2, COMPLETION_SUCCESS);
}

static void test_reset_forgets_what_was_posted_and_the_context_resyncs(void **state)
{
	(void)state;
	there->latency = MICROSECONDS(10);
	rd_receive(&rig, receiver, IN, 100, 1);
	rd_send(&rig, sender, eecs[0], receiver->qp.qpn, 0, 10, 1);
	rd_send(&rig, sender, eecs[0], receiver->qp.qpn, 0, 10, 2);
	rd_run_until(&rig, rig.now + 1);
	assert_int_equal(rd_rig_set_state(&rig, sender, QP_RESET), 0);
	rd_run(&rig);
	rd_expect_none(a->sent);
	/* The message had left: the receiver got it once. */
	rd_expect_received(b, 1, COMPLETION_SUCCESS);
	expect_wire(there, "ONLY@0 RESYNC@1");
}

static void test_bound_window_serves_the_queue_pair_that_bound_it(void **state)
{
	struct sge sge;
	struct send_request request = rd_request(b, eecs[1], 0, 0, 0, &sge);
	struct window *window;

	(void)state;
	assert_int_equal(window_create(&b->hca.memory, b->pd, WINDOW_TYPE_2, &window), 0);
	request.opcode = SEND_BIND_WINDOW;
	request.sge_count = 0;
	request.remote_key = window->grant.key;
	request.remote_address = (uintptr_t)b->bytes + IN;
	request.bind_byte_count = 4096;
	request.bind_region_key = b->region->key;
	request.bind_access = ACCESS_REMOTE_WRITE;
	assert_int_equal(rd_post(&rig, receiver, &request), 0);
	rd_expect_sent(b, 0, COMPLETION_SUCCESS);

	struct send_request write = rd_request(a, eecs[0], receiver->qp.qpn, 0, 100, &sge);

	memset(a->bytes, 9, 100);
	write.opcode = SEND_RDMA_WRITE;
	write.remote_address = (uintptr_t)b->bytes + IN;
	write.remote_key = request.remote_key;
	assert_int_equal(rd_post(&rig, sender, &write), 0);
	rd_run(&rig);
	rd_expect_sent(a, 0, COMPLETION_SUCCESS);
	assert_memory_equal(b->bytes + IN, a->bytes, 100);
	/* Through another queue pair of the same domain the window's key gives no access. */
	write.remote_qpn = rd_rig_qp(&rig, 1)->qp.qpn;
	assert_int_equal(rd_post(&rig, sender, &write), 0);
	rd_run(&rig);
	rd_expect_sent(a, 0, COMPLETION_REMOTE_ACCESS);
	window_destroy(&b->hca.memory, window);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_request_must_name_a_context_of_its_domain_that_can_send),
		TEST(test_only_requests_of_the_service_can_be_posted),
		TEST(test_one_queue_pair_reaches_many_nodes),
		TEST(test_messages_of_a_queue_pair_keep_their_order_over_contexts),
		TEST(test_states_need_and_allow_their_attributes),
		TEST(test_draining_finishes_the_suspended_message_and_begins_no_other),
		TEST(test_reset_forgets_what_was_posted_and_the_context_resyncs),
		TEST(test_bound_window_serves_the_queue_pair_that_bound_it),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
