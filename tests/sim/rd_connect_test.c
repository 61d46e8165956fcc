/* SPDX-License-Identifier: Apache-2.0 */
/* EE contexts that are connected by communication management: REQ and REP carry all that two
 * adapters need to exchange reliable datagrams (vol 1, chapter 12; management 7.1). */
#include "support/cm_pair.h"
#include "support/rd_rig.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <cmocka.h>
#include "wire/pkey.h"

enum { MTU_CODE_512 = 2, IN = 65536, CM_TIMEOUT = 15 };

static struct rd_rig rig;
static struct cm_pair pair;
static struct qp_object *qps[2], *eecs[2];
static const struct cm_private_data nothing;

static int set_up(void **state)
{
	(void)state;
	rd_rig_init(&rig, 2);
	cm_pair_init(&pair);
	for (unsigned i = 0; i < 2; i++) {
		qps[i] = rd_rig_qp(&rig, i);
		assert_int_equal(eec_create(rig.nodes[i].rdd, NULL, &eecs[i]), 0);
		rd_rig_to_init(&rig, eecs[i]);
	}
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	cm_pair_release(&pair);
	rd_rig_release(&rig);
	return 0;
}

static struct cm_call call_of(unsigned psn)
{
	return (struct cm_call){
		.address = {.lid = pair.b.lid, .pkey = PKEY_DEFAULT_FULL},
		.packet_life_time = 10,
		.request = {.req = {.service_id = CM_SERVICE,
				    .transport = CM_TRANSPORT_RD,
				    .local_qpn = qps[0]->qp.qpn,
				    .local_qkey = RIG_QKEY,
				    .local_eecn = eecs[0]->qp.qpn,
				    .responder_resources = 2,
				    .initiator_depth = 1,
				    .starting_psn = psn,
				    .retry_count = 5,
				    .rnr_retry_count = 6,
				    .path_mtu = MTU_CODE_512,
				    .pkey = PKEY_DEFAULT_FULL,
				    .remote_response_timeout = CM_TIMEOUT,
				    .local_response_timeout = CM_TIMEOUT,
				    .max_cm_retries = 3},
			    .primary = {.local_lid = rig.nodes[0].hca.ports[0].lid,
					.remote_lid = rig.nodes[1].hca.ports[0].lid,
					.local_gid_guid = pair.a.ca_guid,
					.remote_gid_guid = pair.b.ca_guid,
					.subnet_local = 1,
					.ack_timeout = 8}},
	};
}

/* What the other end sent of itself. */
struct peer {
	uint16_t lid;
	uint32_t eecn, psn;
	uint8_t depth, resources; /* ours */
};

static void connect_context(struct qp_object *eec, const struct cm_request *request,
			    const struct peer *peer, uint32_t own_psn)
{
	struct qp_attributes attributes = {
		.state = QP_RTR,
		.address = {.dlid = peer->lid, .port_number = 1, .sl = request->primary.sl},
		.path_mtu_code = request->req.path_mtu,
		.destination_qpn = peer->eecn,
		.rq_psn = psn_from(peer->psn),
		.sq_psn = psn_from(own_psn),
		.responder_resources = peer->resources,
		.initiator_depth = peer->depth,
		.timeout = request->primary.ack_timeout,
		.retry_count = request->req.retry_count,
		.rnr_retry = request->req.rnr_retry_count,
	};

	assert_int_equal(qp_object_modify(eec, rig.now, &attributes,
					  QP_HAS_STATE | QP_HAS_ADDRESS | QP_HAS_PATH_MTU |
						  QP_HAS_DESTINATION_QPN | QP_HAS_RQ_PSN |
						  QP_HAS_RESPONDER_RESOURCES),
			 0);
	attributes.state = QP_RTS;
	assert_int_equal(qp_object_modify(eec, rig.now, &attributes,
					  QP_HAS_STATE | QP_HAS_SQ_PSN | QP_HAS_TIMEOUT |
						  QP_HAS_RETRY_COUNT | QP_HAS_RNR_RETRY |
						  QP_HAS_INITIATOR_DEPTH),
			 0);
}

static void test_contexts_connected_by_messages_carry_datagrams(void **state)
{
	const struct cm_call call = call_of(0x123456);
	const struct cm_rep rep = {
		.local_qpn = qps[1]->qp.qpn,
		.local_qkey = RIG_QKEY,
		.local_eecn = eecs[1]->qp.qpn,
		.starting_psn = 0xabcdef,
		.responder_resources = 1,
		.initiator_depth = 2,
	};
	struct cm_listener *listener;
	struct cm_connection *caller, *answerer;

	(void)state;
	assert_int_equal(cm_listen(pair.b.cm, pair.now, CM_SERVICE, UINT64_MAX, NULL, &listener),
			 0);
	assert_int_equal(cm_connect(pair.a.cm, pair.now, &call, &pair.a, &caller), 0);
	cm_pair_exchange(&pair);
	answerer = cm_side_expect(&pair.b, CM_EVENT_REQUEST)->connection;
	cm_connection_set_context(answerer, &pair.b);

	const struct cm_request *request = &call.request;
	const struct peer first = {request->primary.local_lid, request->req.local_eecn,
				   request->req.starting_psn, request->req.responder_resources,
				   request->req.initiator_depth};

	connect_context(eecs[1], request, &first, rep.starting_psn);
	assert_int_equal(cm_accept(answerer, pair.now, &rep, 0, nothing), 0);
	cm_pair_exchange(&pair);
	cm_side_expect(&pair.a, CM_EVENT_REPLY);

	const struct peer second = {request->primary.remote_lid, rep.local_eecn, rep.starting_psn,
				    rep.responder_resources, rep.initiator_depth};

	connect_context(eecs[0], request, &second, request->req.starting_psn);
	assert_int_equal(cm_establish(caller, pair.now, nothing), 0);
	cm_pair_exchange(&pair);
	cm_side_expect(&pair.b, CM_EVENT_ESTABLISHED);

	/* Both ways, to the queue pairs that REQ and REP named. */
	memset(rig.nodes[0].bytes, 7, 3000);
	memset(rig.nodes[1].bytes, 8, 3000);
	rd_receive(&rig, qps[1], IN, 4096, 1);
	rd_receive(&rig, qps[0], IN, 4096, 2);
	rd_send(&rig, qps[0], eecs[0], rep.local_qpn, 0, 3000, 3);
	rd_send(&rig, qps[1], eecs[1], request->req.local_qpn, 0, 3000, 4);
	rd_run(&rig);
	rd_expect_received(&rig.nodes[1], 1, COMPLETION_SUCCESS);
	rd_expect_received(&rig.nodes[0], 2, COMPLETION_SUCCESS);
	rd_expect_sent(&rig.nodes[0], 3, COMPLETION_SUCCESS);
	rd_expect_sent(&rig.nodes[1], 4, COMPLETION_SUCCESS);
	assert_memory_equal(rig.nodes[1].bytes + IN, rig.nodes[0].bytes, 3000);
	assert_memory_equal(rig.nodes[0].bytes + IN, rig.nodes[1].bytes, 3000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_contexts_connected_by_messages_carry_datagrams,
						set_up, tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
