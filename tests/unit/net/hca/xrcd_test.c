/* SPDX-License-Identifier: Apache-2.0 */
/* XRC domains: which processes share one, what keeps one open, and which queues its targets can use
 * (transport 5.7). */
#include <errno.h>
#include "adapter_pair.h"

static const struct xrcd_file file = {.device = 1, .inode = 2};
static const struct xrcd_file other_file = {.device = 1, .inode = 3};

static struct adapter_pair pair;

/* The receiving side on adapter 1: a domain, a target in it and a queue that completes to cq. */
static struct hca *hca;
static struct protection_domain *pd;
static struct cq *cq;
static struct xrcd *xrcd;
static struct srq *srq;
static struct qp_object *target;
static struct region *region;
static uint8_t inbox[64];

/* The sending side on adapter 0. */
static struct protection_domain *sender_pd;
static struct cq *sender_cq;
static struct qp_object *initiator;

static struct qp_object *make_target(struct xrcd *domain)
{
	const struct qp_options options = {.type = QP_XRC_TGT, .xrcd = domain};
	struct qp_object *object;

	assert_int_equal(qp_object_create(domain->hca, &options, &object), 0);
	return object;
}

static struct qp_object *make_initiator(struct hca *sender)
{
	const struct qp_options options = {
		.type = QP_XRC_INI,
		.pd = sender_pd,
		.send_cq = sender_cq,
		.signal_all = true,
		.capabilities = {16, 16, 2, 2, 64},
	};
	struct qp_object *object;

	assert_int_equal(qp_object_create(sender, &options, &object), 0);
	assert_int_equal(object->qp.capabilities.receive_requests_max, 0);
	return object;
}

static void connect(struct qp_object *object, uint16_t dlid, uint32_t destination_qpn)
{
	const uint32_t half_rtr = QP_HAS_RESPONDER_RESOURCES | QP_HAS_MIN_RNR_TIMER;
	const uint32_t half_rts = QP_HAS_RETRY_COUNT | QP_HAS_RNR_RETRY | QP_HAS_INITIATOR_DEPTH;
	bool is_target = object->qp.type == QP_XRC_TGT;
	struct qp_attributes attributes = {
		.state = QP_INIT,
		.access = ACCESS_REMOTE_WRITE,
		.port_number = 1,
		.address = {.dlid = dlid, .port_number = 1},
		.path_mtu_code = MTU_CODE_1024,
		.destination_qpn = destination_qpn,
		.timeout = 8,
		.retry_count = 3,
		.rnr_retry = 1,
		.responder_resources = 1,
	};

	assert_int_equal(
		qp_object_modify(object, pair.now, &attributes,
				 QP_HAS_STATE | QP_HAS_ACCESS | QP_HAS_PKEY_INDEX | QP_HAS_PORT),
		0);
	attributes.state = QP_RTR;
	assert_int_equal(qp_object_modify(object, pair.now, &attributes,
					  QP_HAS_STATE | QP_HAS_ADDRESS | QP_HAS_PATH_MTU |
						  QP_HAS_DESTINATION_QPN | QP_HAS_RQ_PSN |
						  (is_target ? half_rtr : 0)),
			 0);
	attributes.state = QP_RTS;
	assert_int_equal(qp_object_modify(object, pair.now, &attributes,
					  QP_HAS_STATE | QP_HAS_SQ_PSN | QP_HAS_TIMEOUT |
						  (is_target ? 0 : half_rts)),
			 0);
}

static void begin(void)
{
	struct hca *sender = &pair.adapters[0].hca;

	adapter_pair_init(&pair);
	hca = &pair.adapters[1].hca;
	assert_int_equal(hca_pd_alloc(hca, &pd), 0);
	assert_int_equal(cq_create(hca, 64, NULL, &cq), 0);
	assert_int_equal(xrcd_open(hca, NULL, XRCD_CREATE, &xrcd), 0);
	assert_int_equal(srq_create(hca, pd, 8, 1, 0, NULL, &srq), 0);
	assert_int_equal(srq_join(srq, xrcd, cq), 0);
	assert_int_equal(region_register(&hca->memory, pd, inbox, sizeof(inbox), 0,
					 ACCESS_LOCAL_WRITE, &region),
			 0);
	target = make_target(xrcd);
	assert_int_equal(hca_pd_alloc(sender, &sender_pd), 0);
	assert_int_equal(cq_create(sender, 64, NULL, &sender_cq), 0);
	initiator = make_initiator(sender);
	connect(initiator, FIRST_LID + 1, target->qp.qpn);
	connect(target, FIRST_LID, initiator->qp.qpn);
}

static void end(void)
{
	struct hca *sender = &pair.adapters[0].hca;

	if (srq)
		assert_int_equal(srq_destroy(srq), 0);
	assert_int_equal(qp_object_destroy(target), 0);
	assert_int_equal(xrcd_close(xrcd), 0);
	assert_int_equal(region_deregister(&hca->memory, region), 0);
	assert_int_equal(cq_destroy(cq), 0);
	assert_int_equal(hca_pd_dealloc(hca, pd), 0);
	assert_int_equal(qp_object_destroy(initiator), 0);
	assert_int_equal(cq_destroy(sender_cq), 0);
	assert_int_equal(hca_pd_dealloc(sender, sender_pd), 0);
	adapter_pair_release(&pair);
}

static void post_receive(uint64_t wr_id)
{
	const struct sge sge = {.address = 0, .byte_count = sizeof(inbox), .lkey = region->key};

	assert_int_equal(srq_post(srq, &(struct receive_request){wr_id, 1, &sge}), 0);
}

static void send_to(uint32_t srqn)
{
	uint8_t byte = 42;
	const struct sge sge = {.address = (uintptr_t)&byte, .byte_count = 1};
	const struct send_request request = {
		.opcode = SEND_SEND,
		.flags = SEND_INLINE,
		.remote_srqn = srqn,
		.sge_count = 1,
		.sges = &sge,
	};

	assert_int_equal(qp_object_post_send(initiator, pair.now, &request), 0);
	run_until_idle(&pair);
}

static enum completion_status sender_status(void)
{
	const struct completion *completion = cq_first(sender_cq);

	assert_non_null(completion);
	cq_advance(sender_cq);
	return completion->status;
}

static void test_one_file_is_one_domain(void **state)
{
	struct xrcd *first, *again, *other, *private;

	(void)state;
	adapter_pair_init(&pair);
	hca = &pair.adapters[0].hca;
	assert_int_equal(xrcd_open(hca, &file, XRCD_EXISTING, &first), -EAGAIN);
	assert_int_equal(xrcd_open(hca, &file, XRCD_CREATE_EXCLUSIVE, &first), 0);
	assert_int_equal(xrcd_open(hca, &file, XRCD_CREATE_EXCLUSIVE, &again), -EINVAL);
	assert_int_equal(xrcd_open(hca, &file, XRCD_EXISTING, &again), 0);
	assert_ptr_equal(first, again);
	assert_int_equal(xrcd_open(hca, &other_file, XRCD_CREATE, &other), 0);
	assert_ptr_not_equal(first, other);
	assert_int_equal(xrcd_open(hca, NULL, XRCD_EXISTING, &private), 0);
	assert_int_equal(hca->xrcd_count, 3);
	assert_int_equal(xrcd_close(private), 0);
	assert_int_equal(xrcd_close(other), 0);
	assert_int_equal(xrcd_close(first), 0);
	/* The domain is still open once. */
	assert_int_equal(xrcd_open(hca, &file, XRCD_EXISTING, &first), 0);
	assert_int_equal(xrcd_close(first), 0);
	assert_int_equal(xrcd_close(again), 0);
	assert_int_equal(xrcd_open(hca, &file, XRCD_EXISTING, &first), -EAGAIN);
	adapter_pair_release(&pair);
}

static void test_what_is_in_a_domain_keeps_it(void **state)
{
	(void)state;
	begin();
	assert_int_equal(xrcd_close(xrcd), -EBUSY);
	assert_int_equal(cq_destroy(cq), -EBUSY);
	assert_ptr_equal(xrcd_target(xrcd, target->qp.qpn), target);
	assert_null(xrcd_target(xrcd, target->qp.qpn + 1));
	end();
}

static void test_receives_complete_to_the_cq_of_the_queue(void **state)
{
	(void)state;
	begin();
	post_receive(7);
	send_to(srq->srqn);
	assert_int_equal(sender_status(), COMPLETION_SUCCESS);

	const struct completion *received = cq_first(cq);

	assert_non_null(received);
	assert_int_equal(received->wr_id, 7);
	assert_int_equal(received->qpn, target->qp.qpn);
	assert_int_equal(received->byte_count, 1);
	assert_int_equal(inbox[0], 42);
	/* The completion belongs to the consumer that posted the receive request, not to the
	 * target. */
	assert_int_equal(qp_object_modify(target, pair.now,
					  &(struct qp_attributes){.state = QP_RESET}, QP_HAS_STATE),
			 0);
	assert_non_null(cq_first(cq));
	end();
}

static void test_a_queue_s_limit_counts_what_targets_take(void **state)
{
	const struct recorded_adapter *adapter = &pair.adapters[1];

	(void)state;
	begin();
	post_receive(1);
	post_receive(2);
	assert_int_equal(srq_set_limit(srq, 2), 0);
	send_to(srq->srqn);
	assert_int_equal(adapter->event_count, 1);
	assert_int_equal(adapter->events[0].type, HCA_EVENT_SRQ_LIMIT);
	assert_ptr_equal(adapter->events[0].srq, srq);
	end();
}

static void test_queues_of_another_domain_are_out_of_reach(void **state)
{
	struct xrcd *elsewhere;
	struct srq *foreign;

	(void)state;
	begin();
	assert_int_equal(xrcd_open(hca, NULL, XRCD_CREATE, &elsewhere), 0);
	assert_int_equal(srq_create(hca, pd, 8, 1, 0, NULL, &foreign), 0);
	assert_int_equal(srq_join(foreign, elsewhere, cq), 0);
	assert_int_not_equal(foreign->srqn, srq->srqn);
	send_to(foreign->srqn);
	assert_int_equal(sender_status(), COMPLETION_REMOTE_INVALID_REQUEST);
	assert_null(cq_first(cq));
	assert_int_equal(srq_destroy(foreign), 0);
	assert_int_equal(xrcd_close(elsewhere), 0);
	end();
}

static void test_a_destroyed_queue_is_out_of_reach(void **state)
{
	(void)state;
	begin();

	uint32_t srqn = srq->srqn;

	post_receive(1);
	send_to(srqn);
	assert_int_equal(sender_status(), COMPLETION_SUCCESS);
	assert_int_equal(srq_destroy(srq), 0);
	srq = NULL;
	send_to(srqn);
	assert_int_equal(sender_status(), COMPLETION_REMOTE_INVALID_REQUEST);
	end();
}

static void test_numbers_are_not_used_again_at_once(void **state)
{
	struct srq *next;

	(void)state;
	begin();

	uint32_t srqn = srq->srqn;

	assert_int_equal(srq_destroy(srq), 0);
	assert_int_equal(srq_create(hca, pd, 8, 1, 0, NULL, &next), 0);
	assert_int_equal(srq_join(next, xrcd, cq), 0);
	assert_int_not_equal(next->srqn, srqn);
	srq = next;
	end();
}

static void test_each_type_needs_its_own_options(void **state)
{
	struct qp_object *object;

	(void)state;
	begin();

	const struct qp_options refused[] = {
		{.type = QP_XRC_TGT},
		{.type = QP_XRC_TGT, .xrcd = xrcd, .pd = pd},
		{.type = QP_XRC_TGT, .xrcd = xrcd, .receive_cq = cq},
		{.type = QP_XRC_INI, .pd = pd},
		{.type = QP_XRC_INI, .send_cq = cq},
		{.type = QP_XRC_INI, .pd = pd, .send_cq = cq, .receive_cq = cq},
		{.type = QP_XRC_INI, .pd = pd, .send_cq = cq, .xrcd = xrcd},
		{.type = QP_RC, .pd = pd, .send_cq = cq, .receive_cq = cq, .xrcd = xrcd},
		{.type = QP_RC, .pd = pd, .send_cq = cq, .receive_cq = cq, .srq = srq},
	};

	for (unsigned i = 0; i < ARRAY_COUNT(refused); i++)
		assert_int_equal(qp_object_create(hca, &refused[i], &object), -EINVAL);
	end();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_one_file_is_one_domain),
		cmocka_unit_test(test_what_is_in_a_domain_keeps_it),
		cmocka_unit_test(test_receives_complete_to_the_cq_of_the_queue),
		cmocka_unit_test(test_a_queue_s_limit_counts_what_targets_take),
		cmocka_unit_test(test_queues_of_another_domain_are_out_of_reach),
		cmocka_unit_test(test_a_destroyed_queue_is_out_of_reach),
		cmocka_unit_test(test_numbers_are_not_used_again_at_once),
		cmocka_unit_test(test_each_type_needs_its_own_options),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
