/* SPDX-License-Identifier: Apache-2.0 */
/* Every asynchronous event of an adapter, each in a test of its name: its cause, its object, and
 * that it comes once (vol 1, chapter 11; transport 5.8). IBV_EVENT_WQ_FATAL belongs to receive work
 * queues, which only Ethernet ports have. */
#include "adapter_pair.h"
#include "net/hca/injected_event.h"

static struct adapter_pair pair;
static struct protection_domain *pds[2];
static struct cq *cqs[2];
static struct srq *srq;
static struct qp_object *a, *b;
static struct region *regions[2];
static uint8_t memory[2][256];

enum { A_LID = FIRST_LID, B_LID = FIRST_LID + 1 };

static void begin(uint32_t cqes_of_b, bool is_shared)
{
	static const uint32_t access =
		ACCESS_LOCAL_WRITE | ACCESS_REMOTE_READ | ACCESS_REMOTE_WRITE;
	const uint32_t cqe_counts[] = {64, cqes_of_b};

	adapter_pair_init(&pair);
	srq = NULL;
	for (unsigned i = 0; i < 2; i++) {
		struct hca *hca = &pair.adapters[i].hca;

		assert_int_equal(hca_pd_alloc(hca, &pds[i]), 0);
		assert_int_equal(cq_create(hca, cqe_counts[i], NULL, &cqs[i]), 0);
		assert_int_equal(region_register(&hca->memory, pds[i], memory[i], sizeof(memory[i]),
						 (uintptr_t)memory[i], access, &regions[i]),
				 0);
	}
	if (is_shared)
		assert_int_equal(srq_create(&pair.adapters[1].hca, pds[1], 8, 1, 0, NULL, &srq), 0);
	a = make_qp(&pair.adapters[0].hca, QP_RC, pds[0], cqs[0], NULL);
	b = make_qp(&pair.adapters[1].hca, QP_RC, pds[1], cqs[1], srq);
}

static void connect(void)
{
	connect_rc(&pair, a, B_LID, b->qp.qpn);
	connect_rc(&pair, b, A_LID, a->qp.qpn);
}

static void end(void)
{
	assert_int_equal(qp_object_destroy(a), 0);
	assert_int_equal(qp_object_destroy(b), 0);
	if (srq)
		assert_int_equal(srq_destroy(srq), 0);
	for (unsigned i = 0; i < 2; i++) {
		struct hca *hca = &pair.adapters[i].hca;

		assert_int_equal(region_deregister(&hca->memory, regions[i]), 0);
		assert_int_equal(cq_destroy(cqs[i]), 0);
		assert_int_equal(hca_pd_dealloc(hca, pds[i]), 0);
	}
	adapter_pair_release(&pair);
}

static void send_to_b(enum send_opcode opcode, uint32_t rkey, unsigned count)
{
	const struct sge sge = {(uintptr_t)memory[0], 8, regions[0]->key};
	const struct send_request request = {
		.opcode = opcode,
		.sge_count = 1,
		.sges = &sge,
		.remote_key = rkey,
		.remote_address = (uintptr_t)memory[1],
	};

	for (unsigned i = 0; i < count; i++)
		assert_int_equal(qp_object_post_send(a, pair.now, &request), 0);
	run_until_idle(&pair);
}

static void receive_at_b(unsigned count)
{
	const struct sge sge = {(uintptr_t)memory[1], 64, regions[1]->key};
	const struct receive_request request = {.sge_count = 1, .sges = &sge};

	for (unsigned i = 0; i < count; i++)
		assert_int_equal(srq ? srq_post(srq, &request)
				     : qp_object_post_receive(b, pair.now, &request),
				 0);
}

/* The only event of that kind on an adapter. */
static const struct hca_event *the_event(unsigned adapter, enum hca_event_type type)
{
	const struct recorded_adapter *recorded = &pair.adapters[adapter];
	const struct hca_event *found = NULL;

	for (unsigned i = 0; i < recorded->event_count; i++)
		if (recorded->events[i].type == type) {
			assert_null(found);
			found = &recorded->events[i];
		}
	assert_non_null(found);
	return found;
}

/* More completions than fit: the queue is lost, and so is the queue pair that could not report. */
static void test_cq_err(void **state)
{
	(void)state;
	begin(1, false);
	connect();
	receive_at_b(4);
	send_to_b(SEND_SEND, 0, 3);
	assert_ptr_equal(the_event(1, HCA_EVENT_CQ_ERROR)->cq, cqs[1]);
	end();
}

static void test_qp_fatal(void **state)
{
	(void)state;
	begin(1, false);
	connect();
	receive_at_b(4);
	send_to_b(SEND_SEND, 0, 3);
	assert_ptr_equal(the_event(1, HCA_EVENT_QP_FATAL)->qp, b);
	assert_int_equal(b->qp.state, QP_ERROR);
	end();
}

/* An operation that the queue pair does not allow. */
static void test_qp_req_err(void **state)
{
	struct qp_attributes attributes = {.access = 0};

	(void)state;
	begin(64, false);
	connect();
	assert_int_equal(qp_object_modify(b, pair.now, &attributes, QP_HAS_ACCESS), 0);
	send_to_b(SEND_RDMA_WRITE, regions[1]->key, 1);
	assert_ptr_equal(the_event(1, HCA_EVENT_QP_REQUEST_ERROR)->qp, b);
	assert_int_equal(cq_first(cqs[0])->status, COMPLETION_REMOTE_INVALID_REQUEST);
	assert_int_equal(pair.adapters[0].event_count, 0);
	end();
}

/* An operation that the key does not allow. */
static void test_qp_access_err(void **state)
{
	(void)state;
	begin(64, false);
	connect();
	send_to_b(SEND_RDMA_WRITE, regions[1]->key ^ 1, 1);
	assert_ptr_equal(the_event(1, HCA_EVENT_QP_ACCESS_ERROR)->qp, b);
	assert_int_equal(cq_first(cqs[0])->status, COMPLETION_REMOTE_ACCESS);
	assert_int_equal(pair.adapters[0].event_count, 0);
	end();
}

/* A packet for a queue pair that waits in RTR. */
static void test_comm_est(void **state)
{
	struct qp_attributes attributes = {
		.state = QP_INIT,
		.port_number = 1,
		.address = {.dlid = A_LID, .port_number = 1},
		.path_mtu_code = MTU_CODE_1024,
	};

	(void)state;
	begin(64, false);
	connect_rc(&pair, a, B_LID, b->qp.qpn);
	attributes.destination_qpn = a->qp.qpn;
	assert_int_equal(
		qp_object_modify(b, pair.now, &attributes,
				 QP_HAS_STATE | QP_HAS_ACCESS | QP_HAS_PKEY_INDEX | QP_HAS_PORT),
		0);
	attributes.state = QP_RTR;
	assert_int_equal(qp_object_modify(b, pair.now, &attributes,
					  QP_HAS_STATE | QP_HAS_ADDRESS | QP_HAS_PATH_MTU |
						  QP_HAS_DESTINATION_QPN | QP_HAS_RQ_PSN |
						  QP_HAS_RESPONDER_RESOURCES |
						  QP_HAS_MIN_RNR_TIMER),
			 0);
	receive_at_b(2);
	send_to_b(SEND_SEND, 0, 2);
	assert_ptr_equal(the_event(1, HCA_EVENT_QP_ESTABLISHED)->qp, b);
	end();
}

static void drain(bool is_asked_for)
{
	const struct qp_attributes attributes = {.state = QP_SQD, .drained_notify = is_asked_for};

	receive_at_b(1);
	send_to_b(SEND_SEND, 0, 1);
	assert_int_equal(
		qp_object_modify(a, pair.now, &attributes, QP_HAS_STATE | QP_HAS_DRAINED_NOTIFY),
		0);
}

static void test_sq_drained(void **state)
{
	(void)state;
	begin(64, false);
	connect();
	drain(true);
	assert_ptr_equal(the_event(0, HCA_EVENT_SQ_DRAINED)->qp, a);
	end();
	/* No program has asked for the event. */
	begin(64, false);
	connect();
	drain(false);
	assert_int_equal(pair.adapters[0].event_count, 0);
	end();
}

static void load_alternate(struct qp_object *object, uint16_t dlid)
{
	const struct qp_attributes attributes = {
		.path_migration = PATH_REARM,
		.alternate_address = {.dlid = dlid, .port_number = 1},
	};

	assert_int_equal(qp_object_modify(object, pair.now, &attributes,
					  QP_HAS_ALTERNATE_PATH | QP_HAS_PATH_MIGRATION),
			 0);
}

/* Both have an alternate path and are armed, and one migrates. */
static void begin_armed(uint16_t alternate_of_b)
{
	begin(64, false);
	connect();
	load_alternate(a, B_LID);
	load_alternate(b, alternate_of_b);
	receive_at_b(3);
	send_to_b(SEND_SEND, 0, 1);
	assert_int_equal(b->qp.attributes.path_migration, PATH_ARMED);

	const struct qp_attributes attributes = {.path_migration = PATH_MIGRATED};

	assert_int_equal(qp_object_modify(a, pair.now, &attributes, QP_HAS_PATH_MIGRATION), 0);
	send_to_b(SEND_SEND, 0, 1);
}

static void test_path_mig(void **state)
{
	(void)state;
	begin_armed(A_LID);
	assert_ptr_equal(the_event(0, HCA_EVENT_PATH_MIGRATED)->qp, a);
	assert_ptr_equal(the_event(1, HCA_EVENT_PATH_MIGRATED)->qp, b);
	end();
}

/* The peer's path is not the one that was agreed on. */
static void test_path_mig_err(void **state)
{
	(void)state;
	begin_armed(A_LID + 7);
	assert_ptr_equal(the_event(1, HCA_EVENT_PATH_MIGRATION_ERROR)->qp, b);
	end();
}

static void test_device_fatal(void **state)
{
	(void)state;
	begin(64, false);
	connect();
	hca_fail(&pair.adapters[0].hca, pair.now);
	hca_fail(&pair.adapters[0].hca, pair.now);
	the_event(0, HCA_EVENT_DEVICE_FATAL);
	assert_int_equal(a->qp.state, QP_ERROR);
	end();
}

/* Changes a port and checks the event. */
static void change_port(const struct port_view *view, bool reregister, enum hca_event_type type)
{
	adapter_pair_init(&pair);
	hca_port_update(&pair.adapters[0].hca, view, reregister);
	assert_int_equal(the_event(0, type)->port_number, 1);
	assert_int_equal(pair.adapters[0].event_count, 1);
	assert_int_equal(pair.adapters[1].event_count, 0);
	adapter_pair_release(&pair);
}

static void test_port_active(void **state)
{
	struct port_view view = active_port(1, A_LID);

	(void)state;
	adapter_pair_init(&pair);
	view.state = PORT_DOWN;
	hca_port_update(&pair.adapters[0].hca, &view, false);
	view.state = PORT_ACTIVE;
	hca_port_update(&pair.adapters[0].hca, &view, false);
	assert_int_equal(the_event(0, HCA_EVENT_PORT_ACTIVE)->port_number, 1);
	adapter_pair_release(&pair);
}

static void test_port_err(void **state)
{
	struct port_view view = active_port(1, A_LID);

	(void)state;
	view.state = PORT_DOWN;
	change_port(&view, false, HCA_EVENT_PORT_ERROR);
}

static void test_lid_change(void **state)
{
	struct port_view view = active_port(1, A_LID);

	(void)state;
	view.lid = 77;
	change_port(&view, false, HCA_EVENT_LID_CHANGE);
}

static void test_pkey_change(void **state)
{
	struct port_view view = active_port(1, A_LID);

	(void)state;
	view.pkeys[1] = 0x8001;
	change_port(&view, false, HCA_EVENT_PKEY_CHANGE);
}

static void test_sm_change(void **state)
{
	struct port_view view = active_port(1, A_LID);

	(void)state;
	view.sm_lid = 9;
	change_port(&view, false, HCA_EVENT_SM_CHANGE);
}

static void test_gid_change(void **state)
{
	struct port_view view = active_port(1, A_LID);

	(void)state;
	view.gids[1] = gid_from(GID_PREFIX_LINK_LOCAL, 0x77);
	change_port(&view, false, HCA_EVENT_GID_CHANGE);
}

static void test_client_reregister(void **state)
{
	const struct port_view view = active_port(1, A_LID);

	(void)state;
	change_port(&view, true, HCA_EVENT_CLIENT_REREGISTER);
}

/* Nothing here breaks a shared receive queue by itself; a test of a program may want to see one
 * broken. */
static void test_srq_err(void **state)
{
	(void)state;
	begin(64, true);
	connect();
	hca_inject_event(&pair.adapters[1].hca, pair.now, HCA_EVENT_SRQ_ERROR);
	assert_ptr_equal(the_event(1, HCA_EVENT_SRQ_ERROR)->srq, srq);
	end();
}

/* Below the limit, not at it; and once. */
static void test_srq_limit_reached(void **state)
{
	(void)state;
	begin(64, true);
	connect();
	receive_at_b(4);
	assert_int_equal(srq_set_limit(srq, 3), 0);
	send_to_b(SEND_SEND, 0, 1);
	assert_int_equal(pair.adapters[1].event_count, 0);
	send_to_b(SEND_SEND, 0, 2);
	assert_ptr_equal(the_event(1, HCA_EVENT_SRQ_LIMIT)->srq, srq);
	assert_int_equal(srq->limit, 0);
	end();
}

static void test_qp_last_wqe_reached(void **state)
{
	const struct qp_attributes attributes = {.state = QP_ERROR};

	(void)state;
	begin(64, true);
	connect();
	receive_at_b(2);
	assert_int_equal(qp_object_modify(b, pair.now, &attributes, QP_HAS_STATE), 0);
	assert_ptr_equal(the_event(1, HCA_EVENT_LAST_REQUEST_REACHED)->qp, b);
	/* A queue pair does not flush the requests that it has not taken. */
	assert_null(cq_first(cqs[1]));
	end();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_cq_err),
		cmocka_unit_test(test_qp_fatal),
		cmocka_unit_test(test_qp_req_err),
		cmocka_unit_test(test_qp_access_err),
		cmocka_unit_test(test_comm_est),
		cmocka_unit_test(test_sq_drained),
		cmocka_unit_test(test_path_mig),
		cmocka_unit_test(test_path_mig_err),
		cmocka_unit_test(test_device_fatal),
		cmocka_unit_test(test_port_active),
		cmocka_unit_test(test_port_err),
		cmocka_unit_test(test_lid_change),
		cmocka_unit_test(test_pkey_change),
		cmocka_unit_test(test_sm_change),
		cmocka_unit_test(test_gid_change),
		cmocka_unit_test(test_client_reregister),
		cmocka_unit_test(test_srq_err),
		cmocka_unit_test(test_srq_limit_reached),
		cmocka_unit_test(test_qp_last_wqe_reached),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
