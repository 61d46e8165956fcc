/* SPDX-License-Identifier: Apache-2.0 */
/* The responder of an EE context: the queue pair that a request is for, refusals, and RESYNC
 * (transport 9.3). */
#include "support/rd_rig.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include "net/transport/rd/ee_context.h"

enum { IN = 65536 };

static struct rd_rig rig;
static struct rd_node *a, *b;
static struct qp_object *sender, *receiver, *eecs[2];
static struct qp_wire *there, *back;

static int set_up(void **state)
{
	(void)state;
	rd_rig_init(&rig, 2);
	a = &rig.nodes[0];
	b = &rig.nodes[1];
	sender = rd_rig_qp(&rig, 0);
	receiver = rd_rig_qp(&rig, 1);
	rd_rig_connect(&rig, 0, 1, eecs);
	there = rig.wires[0][1];
	back = rig.wires[1][0];
	rd_receive(&rig, receiver, IN, 1024, 1);
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	rd_rig_release(&rig);
	return 0;
}

/* The context is as good as new, and the receive request is still there. */
static void expect_only_the_request_was_hurt(enum completion_status status)
{
	rd_run(&rig);
	rd_expect_sent(a, 2, status);
	expect_wire(there, "ONLY@0 RESYNC@1");
	expect_wire(back, "NAK_RD@0 ACK@1");
	assert_int_equal(sender->qp.state, QP_SQE);
	assert_int_equal(rd_rig_set_state(&rig, sender, QP_RTS), 0);
	rd_expect_none(b->received);
	rd_send(&rig, sender, eecs[0], receiver->qp.qpn, 0, 100, 3);
	rd_run(&rig);
	rd_expect_sent(a, 3, COMPLETION_SUCCESS);
	rd_expect_received(b, 1, COMPLETION_SUCCESS);
	assert_int_equal(b->event_count, 0);
}

static void test_other_qkey_is_an_invalid_rd_request(void **state)
{
	struct sge sge;
	struct send_request request = rd_request(a, eecs[0], receiver->qp.qpn, 0, 100, &sge);

	(void)state;
	request.wr_id = 2;
	request.remote_qkey = RIG_QKEY + 1;
	assert_int_equal(rd_post(&rig, sender, &request), 0);
	expect_only_the_request_was_hurt(COMPLETION_REMOTE_INVALID_RD_REQUEST);
	assert_int_equal(b->hca.ports[0].qkey_violations, 1);
}

static void test_controlled_qkey_stands_for_the_senders_own(void **state)
{
	struct sge sge;
	struct send_request request = rd_request(a, eecs[0], receiver->qp.qpn, 0, 100, &sge);

	(void)state;
	request.remote_qkey = 0x80000000;
	assert_int_equal(rd_post(&rig, sender, &request), 0);
	rd_run(&rig);
	rd_expect_received(b, 1, COMPLETION_SUCCESS);
}

static void test_unknown_queue_pair_is_an_invalid_rd_request(void **state)
{
	(void)state;
	rd_send(&rig, sender, eecs[0], 0x777777, 0, 100, 2);
	expect_only_the_request_was_hurt(COMPLETION_REMOTE_INVALID_RD_REQUEST);
}

static void test_context_is_no_destination(void **state)
{
	(void)state;
	rd_send(&rig, sender, eecs[0], eecs[1]->qp.qpn, 0, 100, 2);
	expect_only_the_request_was_hurt(COMPLETION_REMOTE_INVALID_RD_REQUEST);
}

static void test_queue_pair_of_another_service_is_an_invalid_rd_request(void **state)
{
	const struct qp_options options = {
		.type = QP_UD, .pd = b->pd, .send_cq = b->sent, .receive_cq = b->received};
	struct qp_object *other;

	(void)state;
	assert_int_equal(qp_object_create(&b->hca, &options, &other), 0);
	rd_send(&rig, sender, eecs[0], other->qp.qpn, 0, 100, 2);
	expect_only_the_request_was_hurt(COMPLETION_REMOTE_INVALID_RD_REQUEST);
}

static void test_queue_pair_of_another_domain_is_an_invalid_rd_request(void **state)
{
	struct rdd *own = b->rdd;
	struct rdd *other_rdd;
	struct qp_object *other;

	(void)state;
	assert_int_equal(rdd_alloc(&b->hca, &other_rdd), 0);
	b->rdd = other_rdd;
	other = rd_rig_qp(&rig, 1);
	b->rdd = own;
	rd_receive(&rig, other, IN, 1024, 9);
	rd_send(&rig, sender, eecs[0], other->qp.qpn, 0, 100, 2);
	expect_only_the_request_was_hurt(COMPLETION_REMOTE_INVALID_RD_REQUEST);
	assert_int_equal(rdd_dealloc(other_rdd), -EBUSY);
	assert_int_equal(qp_object_destroy(other), 0);
	assert_int_equal(rdd_dealloc(other_rdd), 0);
}

static void test_queue_pair_that_takes_no_requests_is_an_invalid_rd_request(void **state)
{
	struct qp_object *other = rd_rig_qp(&rig, 1);

	(void)state;
	assert_int_equal(rd_rig_set_state(&rig, other, QP_ERROR), 0);
	rd_send(&rig, sender, eecs[0], other->qp.qpn, 0, 100, 2);
	expect_only_the_request_was_hurt(COMPLETION_REMOTE_INVALID_RD_REQUEST);
}

static void test_destination_that_stops_in_mid_message_flushes_and_refuses_the_rest(void **state)
{
	(void)state;
	rd_send(&rig, sender, eecs[0], receiver->qp.qpn, 0, 600, 2);
	wire_lose(there, 2);
	rd_run_until(&rig, rig.now + MICROSECONDS(1));
	assert_int_equal(rd_rig_set_state(&rig, receiver, QP_ERROR), 0);
	rd_expect_received(b, 1, COMPLETION_FLUSHED);
	rd_run(&rig);
	rd_expect_sent(a, 2, COMPLETION_REMOTE_INVALID_RD_REQUEST);
	assert_int_equal(eecs[0]->qp.state, QP_RTS);
	assert_int_equal(eecs[1]->qp.state, QP_RTS);
}

static void test_receive_with_a_bad_key_breaks_its_queue_pair_only(void **state)
{
	const struct sge sge = {(uintptr_t)b->bytes, 1024, b->region->key ^ 0x100};
	const struct receive_request request = {.wr_id = 7, .sge_count = 1, .sges = &sge};
	struct qp_object *other = rd_rig_qp(&rig, 1);

	(void)state;
	assert_int_equal(qp_object_post_receive(other, rig.now, &request), 0);
	rd_send(&rig, sender, eecs[0], other->qp.qpn, 0, 100, 2);
	rd_run(&rig);
	rd_expect_sent(a, 2, COMPLETION_REMOTE_OPERATION);
	rd_expect_received(b, 7, COMPLETION_LOCAL_PROTECTION);
	assert_int_equal(other->qp.state, QP_ERROR);
	assert_int_equal(eecs[1]->qp.state, QP_RTS);
	assert_int_equal(receiver->qp.state, QP_RTS);
}

static void test_right_not_granted_is_an_invalid_request(void **state)
{
	struct sge sge;
	struct send_request request = rd_request(a, eecs[0], receiver->qp.qpn, 0, 8, &sge);
	const struct qp_attributes attributes = {.access = ACCESS_REMOTE_WRITE};

	(void)state;
	assert_int_equal(qp_object_modify(receiver, rig.now, &attributes, QP_HAS_ACCESS), 0);
	request.opcode = SEND_RDMA_READ;
	request.remote_address = (uintptr_t)b->bytes;
	request.remote_key = b->region->key;
	request.wr_id = 2;
	assert_int_equal(rd_post(&rig, sender, &request), 0);
	rd_run(&rig);
	rd_expect_sent(a, 2, COMPLETION_REMOTE_INVALID_REQUEST);
	assert_int_equal(receiver->qp.state, QP_RTS);
	assert_int_equal(eecs[0]->qp.state, QP_RTS);
}

static void test_read_whose_region_goes_away_fails_alone(void **state)
{
	uint8_t *bytes = calloc(1, 65536);
	struct region *region;
	struct sge sge;
	struct send_request request = rd_request(a, eecs[0], receiver->qp.qpn, 0, 2000, &sge);

	(void)state;
	assert_int_equal(region_register(&b->hca.memory, b->pd, bytes, 65536, (uintptr_t)bytes,
					 ACCESS_REMOTE_READ, &region),
			 0);
	request.opcode = SEND_RDMA_READ;
	request.remote_address = (uintptr_t)bytes;
	request.remote_key = region->key;
	request.wr_id = 2;
	assert_int_equal(rd_post(&rig, sender, &request), 0);
	wire_lose(back, 3);
	rd_run_until(&rig, rig.now + MICROSECONDS(2));
	assert_int_equal(region_deregister(&b->hca.memory, region), 0);
	free(bytes);
	rd_run_until(&rig, rig.now + MICROSECONDS(2));
	assert_int_equal(eecs[1]->qp.state, QP_RTS);
	assert_int_equal(receiver->qp.state, QP_RTS);
	rd_run(&rig);
}

/* Packets that our requester would never send. */
static struct packet made_packet(uint8_t opcode, uint32_t psn)
{
	return (struct packet){
		.lrh = {.lnh = LNH_LOCAL, .dlid = b->hca.ports[0].lid, .slid = a->hca.ports[0].lid},
		.bth = {.opcode = TRANSPORT_RD | opcode,
			.pkey = 0xffff,
			.migrated = true,
			.ack_request = true,
			.destination_qpn = receiver->qp.qpn,
			.psn = psn_from(RIG_PSN + psn)},
		.rdeth_eecn = eecs[1]->qp.qpn,
		.deth = {.qkey = RIG_QKEY, .source_qpn = sender->qp.qpn},
		.packet_count = 1,
	};
}

static void take_packet(const struct packet *packet)
{
	hca_receive(&b->hca, rig.now, 1, packet);
	rd_run(&rig);
}

static void test_resync_moves_forward_and_is_answered_again_when_repeated(void **state)
{
	struct packet packet = made_packet(OPCODE_RESYNC, 1000);

	(void)state;
	take_packet(&packet);
	expect_wire(back, "ACK@1000");
	take_packet(&packet);
	expect_wire(back, "ACK@1000");
	assert_int_equal(eecs[1]->qp.responder.msn, 0);
	packet = made_packet(OPCODE_SEND_ONLY, 1001);
	take_packet(&packet);
	expect_wire(back, "ACK@1001");
	rd_expect_received(b, 1, COMPLETION_SUCCESS);
	assert_int_equal(eecs[1]->qp.responder.msn, 1);
}

static void test_resync_needs_no_queue_pair(void **state)
{
	struct packet packet = made_packet(OPCODE_RESYNC, 3);

	(void)state;
	packet.bth.destination_qpn = 0x777777;
	take_packet(&packet);
	expect_wire(back, "ACK@3");
}

static void test_packets_for_another_context_are_dropped(void **state)
{
	struct packet packet = made_packet(OPCODE_SEND_ONLY, 0);

	(void)state;
	packet.rdeth_eecn = 0x777777;
	take_packet(&packet);
	/* A queue pair is no context, and a context no queue pair. */
	packet.rdeth_eecn = receiver->qp.qpn;
	take_packet(&packet);
	packet = made_packet(OPCODE_SEND_ONLY, 0);
	packet.bth.opcode = TRANSPORT_RC | OPCODE_SEND_ONLY;
	packet.bth.destination_qpn = eecs[1]->qp.qpn;
	take_packet(&packet);
	packet = made_packet(OPCODE_SEND_ONLY, 0);
	packet.lrh.slid = 99;
	take_packet(&packet);
	packet = made_packet(OPCODE_SEND_ONLY, 0);
	packet.bth.pkey = 0x1234;
	take_packet(&packet);
	expect_wire(back, "");
	rd_expect_none(b->received);
}

static void test_answers_for_another_queue_pair_are_dropped(void **state)
{
	struct packet packet = made_packet(OPCODE_ACKNOWLEDGE, 0);

	(void)state;
	there->is_cut = true;
	rd_send(&rig, sender, eecs[0], receiver->qp.qpn, 0, 100, 2);
	rd_run_until(&rig, rig.now + 1);
	packet.lrh.slid = b->hca.ports[0].lid;
	packet.rdeth_eecn = eecs[0]->qp.qpn;
	packet.bth.destination_qpn = sender->qp.qpn + 1;
	packet.aeth.syndrome = aeth_syndrome(AETH_ACK, AETH_CREDITS_UNLIMITED);
	hca_receive(&a->hca, rig.now, 1, &packet);
	rd_expect_none(a->sent);
	packet.bth.destination_qpn = sender->qp.qpn;
	hca_receive(&a->hca, rig.now, 1, &packet);
	rd_expect_sent(a, 2, COMPLETION_SUCCESS);
}

static void test_message_that_changes_its_destination_is_refused(void **state)
{
	struct qp_object *other = rd_rig_qp(&rig, 1);
	uint8_t payload[256] = {0};
	struct packet packet = made_packet(OPCODE_SEND_FIRST, 0);

	(void)state;
	packet_set_payload(&packet, payload, sizeof(payload));
	take_packet(&packet);
	packet.bth.opcode = TRANSPORT_RD | OPCODE_SEND_MIDDLE;
	packet.bth.psn = psn_from(RIG_PSN + 1);
	packet.bth.destination_qpn = other->qp.qpn;
	take_packet(&packet);
	expect_wire(back, "ACK@0 NAK_INVALID@1");
	rd_expect_received(b, 1, COMPLETION_REMOTE_ABORTED);
}

/* The sender sends the message again with other PSNs: the receiver gets it twice. */
static void test_copy_of_a_message_that_was_told_to_wait_is_not_taken(void **state)
{
	struct qp_object *other = rd_rig_qp(&rig, 1);
	struct packet packet = made_packet(OPCODE_SEND_ONLY, 0);

	(void)state;
	packet.bth.destination_qpn = other->qp.qpn;
	take_packet(&packet);
	rd_receive(&rig, other, IN, 1024, 5);
	rd_receive(&rig, other, IN, 1024, 6);
	take_packet(&packet);
	expect_wire(back, "RNR@0 RNR@0");
	packet.bth.opcode = TRANSPORT_RD | OPCODE_RESYNC;
	packet.bth.psn = psn_from(RIG_PSN + 1);
	take_packet(&packet);
	packet.bth.opcode = TRANSPORT_RD | OPCODE_SEND_ONLY;
	packet.bth.psn = psn_from(RIG_PSN + 2);
	take_packet(&packet);
	rd_expect_received(b, 5, COMPLETION_SUCCESS);
	rd_expect_none(b->received);
}

static void test_messages_by_two_contexts_do_not_share_a_receive_request(void **state)
{
	struct qp_object *more[2];
	uint8_t payload[256];
	struct packet packet = made_packet(OPCODE_SEND_FIRST, 0);

	(void)state;
	rd_rig_connect(&rig, 0, 1, more);
	rd_receive(&rig, receiver, IN + 4096, 1024, 2);
	memset(payload, 1, sizeof(payload));
	packet_set_payload(&packet, payload, sizeof(payload));
	take_packet(&packet);

	struct packet second = made_packet(OPCODE_SEND_ONLY, 0);
	uint8_t other_payload[100];

	memset(other_payload, 2, sizeof(other_payload));
	second.rdeth_eecn = more[1]->qp.qpn;
	packet_set_payload(&second, other_payload, sizeof(other_payload));
	take_packet(&second);
	rd_expect_received(b, 2, COMPLETION_SUCCESS);
	assert_memory_equal(b->bytes + IN + 4096, other_payload, 100);

	packet.bth.opcode = TRANSPORT_RD | OPCODE_SEND_LAST;
	packet.bth.psn = psn_from(RIG_PSN + 1);
	packet_set_payload(&packet, payload, 100);
	take_packet(&packet);
	rd_expect_received(b, 1, COMPLETION_SUCCESS);
	assert_memory_equal(b->bytes + IN + 256, payload, 100);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_other_qkey_is_an_invalid_rd_request),
		TEST(test_controlled_qkey_stands_for_the_senders_own),
		TEST(test_unknown_queue_pair_is_an_invalid_rd_request),
		TEST(test_context_is_no_destination),
		TEST(test_queue_pair_of_another_service_is_an_invalid_rd_request),
		TEST(test_queue_pair_of_another_domain_is_an_invalid_rd_request),
		TEST(test_queue_pair_that_takes_no_requests_is_an_invalid_rd_request),
		TEST(test_destination_that_stops_in_mid_message_flushes_and_refuses_the_rest),
		TEST(test_receive_with_a_bad_key_breaks_its_queue_pair_only),
		TEST(test_right_not_granted_is_an_invalid_request),
		TEST(test_read_whose_region_goes_away_fails_alone),
		TEST(test_resync_moves_forward_and_is_answered_again_when_repeated),
		TEST(test_resync_needs_no_queue_pair),
		TEST(test_packets_for_another_context_are_dropped),
		TEST(test_answers_for_another_queue_pair_are_dropped),
		TEST(test_message_that_changes_its_destination_is_refused),
		TEST(test_copy_of_a_message_that_was_told_to_wait_is_not_taken),
		TEST(test_messages_by_two_contexts_do_not_share_a_receive_request),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
