/* SPDX-License-Identifier: Apache-2.0 */
/* Two adapters that exchange messages: completions, shared queues, events, drops, failure. */
#include <errno.h>
#include "adapter_pair.h"

enum { MESSAGE_BYTES = 3000, SRQ_LIMIT = 2 };

struct side {
	struct hca *hca;
	struct protection_domain *pd;
	struct cq *cq;
	struct srq *srq;
	struct qp_object *qp;
	struct region *region;
	uint8_t bytes[MESSAGE_BYTES];
};

static struct adapter_pair pair;
static struct side sides[2];

static void begin(uint32_t cqe_count)
{
	adapter_pair_init(&pair);
	for (unsigned i = 0; i < 2; i++) {
		struct side *side = &sides[i];

		side->hca = &pair.adapters[i].hca;
		assert_int_equal(hca_pd_alloc(side->hca, &side->pd), 0);
		assert_int_equal(cq_create(side->hca, cqe_count, NULL, &side->cq), 0);
		assert_int_equal(srq_create(side->hca, side->pd, 8, 1, 0, NULL, &side->srq), 0);
		assert_int_equal(region_register(&side->hca->memory, side->pd, side->bytes,
						 MESSAGE_BYTES, (uintptr_t)side->bytes,
						 ACCESS_LOCAL_WRITE | ACCESS_REMOTE_WRITE,
						 &side->region),
				 0);
		side->qp = make_qp(side->hca, QP_RC, side->pd, side->cq, i == 1 ? side->srq : NULL);
	}
	connect_rc(&pair, sides[0].qp, FIRST_LID + 1, sides[1].qp->qp.qpn);
	connect_rc(&pair, sides[1].qp, FIRST_LID, sides[0].qp->qp.qpn);
}

static void end(void)
{
	for (unsigned i = 0; i < 2; i++) {
		struct side *side = &sides[i];

		assert_int_equal(qp_object_destroy(side->qp), 0);
		assert_int_equal(region_deregister(&side->hca->memory, side->region), 0);
		assert_int_equal(srq_destroy(side->srq), 0);
		assert_int_equal(cq_destroy(side->cq), 0);
		assert_int_equal(hca_pd_dealloc(side->hca, side->pd), 0);
	}
	adapter_pair_release(&pair);
}

static struct sge whole(const struct side *side)
{
	return (struct sge){(uintptr_t)side->bytes, MESSAGE_BYTES, side->region->key};
}

static void post_receive(uint64_t wr_id)
{
	const struct sge sge = whole(&sides[1]);

	assert_int_equal(srq_post(sides[1].srq, &(struct receive_request){wr_id, 1, &sge}), 0);
}

static void post_send(uint64_t wr_id)
{
	const struct sge sge = whole(&sides[0]);
	const struct send_request request = {
		.wr_id = wr_id, .opcode = SEND_SEND, .sge_count = 1, .sges = &sge};

	assert_int_equal(qp_object_post_send(sides[0].qp, pair.now, &request), 0);
}

static void expect_completion(struct cq *cq, uint64_t wr_id, enum completion_status status)
{
	const struct completion *completion = cq_first(cq);

	assert_non_null(completion);
	assert_int_equal(completion->wr_id, wr_id);
	assert_int_equal(completion->status, status);
	cq_advance(cq);
}

static void test_a_message_arrives_and_both_sides_complete(void **state)
{
	(void)state;
	begin(16);
	memset(sides[0].bytes, 0x5a, MESSAGE_BYTES);
	post_receive(2);
	post_send(1);
	run_until_idle(&pair);
	expect_completion(sides[0].cq, 1, COMPLETION_SUCCESS);
	expect_completion(sides[1].cq, 2, COMPLETION_SUCCESS);
	assert_memory_equal(sides[1].bytes, sides[0].bytes, MESSAGE_BYTES);
	assert_null(hca_ready_first(sides[0].hca));
	assert_null(hca_ready_first(sides[1].hca));
	end();
}

static void test_srq_limit_is_reached_once(void **state)
{
	struct recorded_adapter *adapter = &pair.adapters[1];

	(void)state;
	begin(16);
	for (uint64_t i = 0; i < 4; i++)
		post_receive(i);
	assert_int_equal(srq_set_limit(sides[1].srq, SRQ_LIMIT), 0);
	for (uint64_t sent = 1; sent <= 4; sent++) {
		post_send(sent);
		run_until_idle(&pair);
		/* The event comes when fewer than the limit are left. */
		assert_int_equal(adapter->event_count, 4 - sent < SRQ_LIMIT ? 1 : 0);
	}
	assert_int_equal(adapter->events[0].type, HCA_EVENT_SRQ_LIMIT);
	assert_ptr_equal(adapter->events[0].srq, sides[1].srq);
	assert_int_equal(sides[1].srq->limit, 0);
	end();
}

static void test_a_receiver_without_requests_ends_in_rnr(void **state)
{
	(void)state;
	begin(16);
	post_send(1);
	run_until_idle(&pair);
	expect_completion(sides[0].cq, 1, COMPLETION_RNR_RETRY_EXCEEDED);
	assert_int_equal(sides[0].qp->qp.state, QP_ERROR);
	end();
}

static void test_a_peer_that_is_gone_ends_in_retry_exceeded(void **state)
{
	(void)state;
	begin(16);
	assert_int_equal(qp_object_destroy(sides[1].qp), 0);
	post_send(1);
	run_until_idle(&pair);
	expect_completion(sides[0].cq, 1, COMPLETION_RETRY_EXCEEDED);
	assert_true(sides[1].hca->drops[HCA_DROP_NO_SUCH_QP] >= 1);
	sides[1].qp = make_qp(sides[1].hca, QP_RC, sides[1].pd, sides[1].cq, NULL);
	end();
}

static void test_packets_for_nobody_are_counted(void **state)
{
	struct packet packet = {.packet_count = 1};

	(void)state;
	begin(16);
	packet.bth.destination_qpn = 0xffffff;
	hca_receive(sides[0].hca, pair.now, 1, &packet);
	assert_int_equal(sides[0].hca->drops[HCA_DROP_MULTICAST_NOT_ATTACHED], 1);
	packet.bth.destination_qpn = sides[0].qp->qp.qpn;
	hca_receive(sides[0].hca, pair.now, 2, &packet);
	hca_receive(sides[0].hca, pair.now, 0, &packet);
	assert_int_equal(sides[0].hca->drops[HCA_DROP_NO_SUCH_PORT], 2);
	end();
}

static void test_cq_overflow_takes_the_qp_to_error(void **state)
{
	struct recorded_adapter *adapter = &pair.adapters[0];

	(void)state;
	begin(2);
	for (uint64_t i = 0; i < 4; i++)
		post_receive(i);
	for (uint64_t i = 0; i < 3; i++) {
		post_send(i);
		/* Only the sender's CQ is to overflow. */
		run_until_idle(&pair);
		while (cq_first(sides[1].cq))
			cq_advance(sides[1].cq);
	}
	assert_int_equal(sides[0].qp->qp.state, QP_ERROR);
	assert_true(sides[0].cq->ring.has_overflowed);
	assert_true(adapter->event_count >= 1);
	assert_int_equal(adapter->events[0].type, HCA_EVENT_CQ_ERROR);
	end();
}

static void test_failure_of_the_fabric_flushes_and_is_told_once(void **state)
{
	struct recorded_adapter *adapter = &pair.adapters[0];

	(void)state;
	begin(16);
	post_send(1);
	hca_fail(sides[0].hca, pair.now);
	hca_fail(sides[0].hca, pair.now);
	assert_int_equal(sides[0].qp->qp.state, QP_ERROR);
	expect_completion(sides[0].cq, 1, COMPLETION_FLUSHED);
	assert_int_equal(adapter->event_count, 1);
	assert_int_equal(adapter->events[0].type, HCA_EVENT_DEVICE_FATAL);
	end();
}

/* Requests that are posted there would never complete. */
static void test_a_failed_adapter_lets_no_queue_pair_start_again(void **state)
{
	struct qp_attributes attributes = {.state = QP_RESET, .port_number = 1};

	(void)state;
	begin(16);
	hca_fail(sides[0].hca, pair.now);
	assert_int_equal(qp_object_modify(sides[0].qp, pair.now, &attributes, QP_HAS_STATE), 0);
	attributes.state = QP_INIT;
	assert_int_equal(
		qp_object_modify(sides[0].qp, pair.now, &attributes,
				 QP_HAS_STATE | QP_HAS_PORT | QP_HAS_PKEY_INDEX | QP_HAS_ACCESS),
		-EIO);
	assert_int_equal(sides[0].qp->qp.state, QP_RESET);
	end();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_message_arrives_and_both_sides_complete),
		cmocka_unit_test(test_srq_limit_is_reached_once),
		cmocka_unit_test(test_a_receiver_without_requests_ends_in_rnr),
		cmocka_unit_test(test_a_peer_that_is_gone_ends_in_retry_exceeded),
		cmocka_unit_test(test_packets_for_nobody_are_counted),
		cmocka_unit_test(test_cq_overflow_takes_the_qp_to_error),
		cmocka_unit_test(test_failure_of_the_fabric_flushes_and_is_told_once),
		cmocka_unit_test(test_a_failed_adapter_lets_no_queue_pair_start_again),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
