/* SPDX-License-Identifier: Apache-2.0 */
/* EE contexts: one message at a time, turns, RNR, RESYNC, and the scope of each error (transport
 * 9.3).
 * Covers: net/transport/rd/rd_service.c */
#include "support/rd_rig.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include "net/transport/rd/ee_context.h"
#include "net/transport/rd/rd_queue.h"

enum { MTU = 256, OUT = 0, IN = 65536 };

static struct rd_rig rig;
static struct rd_node *a, *b;
static struct qp_object *sender, *other_sender, *receiver, *other_receiver;
static struct qp_object *eecs[2];
static struct qp_wire *there, *back;

static int set_up(void **state)
{
	(void)state;
	rd_rig_init(&rig, 2);
	a = &rig.nodes[0];
	b = &rig.nodes[1];
	sender = rd_rig_qp(&rig, 0);
	other_sender = rd_rig_qp(&rig, 0);
	receiver = rd_rig_qp(&rig, 1);
	other_receiver = rd_rig_qp(&rig, 1);
	rd_rig_connect(&rig, 0, 1, eecs);
	there = rig.wires[0][1];
	back = rig.wires[1][0];
	for (unsigned i = 0; i < 65536; i++)
		a->bytes[i] = (uint8_t)(i * 7 + (i >> 8));
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	rd_rig_release(&rig);
	return 0;
}

static uint32_t number(const struct qp_object *object)
{
	return object->qp.qpn;
}

/* Everything works after the events before. */
static void expect_context_still_works(void)
{
	rd_receive(&rig, other_receiver, IN + 32768, 1024, 100);
	rd_send(&rig, other_sender, eecs[0], number(other_receiver), OUT, 700, 101);
	rd_run(&rig);
	rd_expect_sent(a, 101, COMPLETION_SUCCESS);
	rd_expect_received(b, 100, COMPLETION_SUCCESS);
	assert_memory_equal(b->bytes + IN + 32768, a->bytes, 700);
	assert_int_equal(eecs[0]->qp.state, QP_RTS);
	assert_int_equal(eecs[1]->qp.state, QP_RTS);
}

static void test_message_arrives_and_names_its_sender(void **state)
{
	(void)state;
	rd_receive(&rig, receiver, IN, 1024, 1);
	rd_send(&rig, sender, eecs[0], number(receiver), OUT, 600, 2);
	rd_run(&rig);

	struct completion completion = rd_take(b->received);

	assert_int_equal(completion.status, COMPLETION_SUCCESS);
	assert_int_equal(completion.wr_id, 1);
	assert_int_equal(completion.byte_count, 600);
	assert_int_equal(completion.qpn, number(receiver));
	assert_int_equal(completion.source_qpn, number(sender));
	assert_int_equal(completion.eecn, number(eecs[1]));
	assert_int_equal(completion.slid, a->hca.ports[0].lid);
	assert_memory_equal(b->bytes + IN, a->bytes + OUT, 600);
	rd_expect_sent(a, 2, COMPLETION_SUCCESS);
	expect_wire(there, "FIRST@0 MIDDLE@1 LAST@2");
	expect_wire(back, "ACK@2");
}

static void test_one_message_at_a_time_and_queue_pairs_take_turns(void **state)
{
	(void)state;
	for (unsigned i = 0; i < 6; i++)
		rd_receive(&rig, receiver, IN + i * 1024, 1024, i);
	for (unsigned i = 0; i < 3; i++)
		rd_send(&rig, sender, eecs[0], number(receiver), OUT, 300, 10 + i);
	for (unsigned i = 0; i < 3; i++)
		rd_send(&rig, other_sender, eecs[0], number(receiver), OUT, 300, 20 + i);
	rd_run(&rig);

	static const uint64_t turns[] = {10, 20, 11, 21, 12, 22};

	for (unsigned i = 0; i < 6; i++) {
		rd_expect_sent(a, turns[i], COMPLETION_SUCCESS);
		assert_int_equal(rd_take(b->received).source_qpn,
				 turns[i] < 20 ? number(sender) : number(other_sender));
	}
	/* No packet of a message before the ACK of the one before it. */
	expect_wire(there, "FIRST@0 LAST@1 FIRST@2 LAST@3 FIRST@4 LAST@5 FIRST@6 LAST@7 FIRST@8 "
			   "LAST@9 FIRST@10 LAST@11");
	expect_wire(back, "ACK@1 ACK@3 ACK@5 ACK@7 ACK@9 ACK@11");
}

static void test_lost_packet_resumes_from_nak(void **state)
{
	(void)state;
	rd_receive(&rig, receiver, IN, 1024, 1);
	wire_lose(there, 1);
	rd_send(&rig, sender, eecs[0], number(receiver), OUT, 600, 2);
	rd_run(&rig);
	rd_expect_sent(a, 2, COMPLETION_SUCCESS);
	rd_expect_received(b, 1, COMPLETION_SUCCESS);
	expect_wire(there, "FIRST@0 MIDDLE@1! LAST@2 MIDDLE@1 LAST@2");
	expect_wire(back, "NAK_SEQUENCE@1 ACK@2");
}

static void test_lost_ack_is_repeated_and_the_message_taken_once(void **state)
{
	(void)state;
	rd_receive(&rig, receiver, IN, 1024, 1);
	rd_receive(&rig, receiver, IN, 1024, 2);
	wire_lose(back, 0);
	rd_send(&rig, sender, eecs[0], number(receiver), OUT, 100, 3);
	rd_run(&rig);
	rd_expect_sent(a, 3, COMPLETION_SUCCESS);
	rd_expect_received(b, 1, COMPLETION_SUCCESS);
	rd_expect_none(b->received);
	expect_wire(there, "ONLY@0 ONLY@0");
	expect_wire(back, "ACK@0! ACK@0");
}

static void test_rnr_suspends_the_message_and_others_go_on(void **state)
{
	(void)state;
	rd_receive(&rig, other_receiver, IN + 4096, 1024, 5);
	rd_send(&rig, sender, eecs[0], number(receiver), OUT, 100, 1);
	rd_send(&rig, other_sender, eecs[0], number(other_receiver), OUT, 100, 2);
	rd_run_until(&rig, rig.now + MICROSECONDS(8));
	/* After the RNR NAK the context continued with the other queue pair. */
	rd_expect_sent(a, 2, COMPLETION_SUCCESS);
	rd_expect_received(b, 5, COMPLETION_SUCCESS);
	expect_wire(there, "ONLY@0 RESYNC@1 ONLY@2");
	expect_wire(back, "RNR@0 ACK@1 ACK@2");
	rd_expect_none(a->sent);

	rd_receive(&rig, receiver, IN, 1024, 6);
	rd_run(&rig);
	rd_expect_sent(a, 1, COMPLETION_SUCCESS);
	rd_expect_received(b, 6, COMPLETION_SUCCESS);
	/* The message begins again, with new PSNs. */
	expect_wire(there, "ONLY@3");
}

static void test_late_copy_of_a_suspended_message_is_not_taken(void **state)
{
	(void)state;
	rd_send(&rig, sender, eecs[0], number(receiver), OUT, 100, 1);
	/* The RNR NAK is lost, and a receive request is posted: the duplicate gets the same answer.
	 * By then the first answer may be on its way, and the message may be given up. */
	wire_lose(back, 0);
	rd_run_until(&rig, rig.now + MICROSECONDS(8));
	rd_receive(&rig, receiver, IN, 1024, 6);
	rd_receive(&rig, receiver, IN, 1024, 7);
	rd_run(&rig);
	rd_expect_sent(a, 1, COMPLETION_SUCCESS);
	rd_expect_received(b, 6, COMPLETION_SUCCESS);
	rd_expect_none(b->received);
	expect_wire(there, "ONLY@0 ONLY@0 RESYNC@1 ONLY@2");
	expect_wire(back, "RNR@0! RNR@0 ACK@1 ACK@2");
}

static void test_rnr_retries_are_counted_per_message(void **state)
{
	(void)state;
	eecs[0]->qp.attributes.rnr_retry = 2;
	rd_send(&rig, sender, eecs[0], number(receiver), OUT, 100, 1);
	rd_send(&rig, sender, eecs[0], number(receiver), OUT, 100, 2);
	rd_run(&rig);
	rd_expect_sent(a, 1, COMPLETION_RNR_RETRY_EXCEEDED);
	rd_expect_sent(a, 2, COMPLETION_FLUSHED);
	expect_wire(there, "ONLY@0 RESYNC@1 ONLY@2 RESYNC@3 ONLY@4 RESYNC@5");
	assert_int_equal(sender->qp.state, QP_SQE);
	expect_context_still_works();
}

static void test_write_with_immediate_that_finds_no_receive_starts_again(void **state)
{
	struct sge sge;
	struct send_request request = rd_request(a, eecs[0], number(receiver), OUT, 600, &sge);

	(void)state;
	request.opcode = SEND_RDMA_WRITE_IMMEDIATE;
	request.immediate_or_rkey = 77;
	request.remote_address = (uintptr_t)b->bytes + IN;
	request.remote_key = b->region->key;
	request.wr_id = 3;
	assert_int_equal(rd_post(&rig, sender, &request), 0);
	rd_run_until(&rig, rig.now + MICROSECONDS(6));
	expect_wire(there, "WRITE_FIRST@0 WRITE_MIDDLE@1 WRITE_LAST_IMMEDIATE@2 RESYNC@3");
	rd_receive(&rig, receiver, IN + 8192, 16, 4);
	rd_run(&rig);
	rd_expect_sent(a, 3, COMPLETION_SUCCESS);

	struct completion completion = rd_take(b->received);

	assert_int_equal(completion.opcode, COMPLETED_RECEIVE_WRITE_IMMEDIATE);
	assert_int_equal(completion.immediate_or_rkey, 77);
	assert_int_equal(completion.byte_count, 600);
	expect_wire(there, "WRITE_FIRST@4 WRITE_MIDDLE@5 WRITE_LAST_IMMEDIATE@6");
	assert_memory_equal(b->bytes + IN, a->bytes + OUT, 600);
}

static void post_memory(enum send_opcode opcode, uint32_t byte_count, uint64_t wr_id,
			uint32_t remote_key)
{
	struct sge sge;
	struct send_request request =
		rd_request(a, eecs[0], number(receiver), OUT, byte_count, &sge);

	request.opcode = opcode;
	request.remote_address = (uintptr_t)b->bytes + IN;
	request.remote_key = remote_key;
	request.compare_or_add = 5;
	request.flush_byte_count = 8;
	request.flush_placement = FLUSH_GLOBAL;
	if (opcode == SEND_FLUSH)
		request.sge_count = 0;
	request.wr_id = wr_id;
	assert_int_equal(rd_post(&rig, sender, &request), 0);
}

static void test_reads_atomics_and_placements_work_by_a_context(void **state)
{
	uint64_t word = 40;

	(void)state;
	memcpy(b->bytes + IN, &word, sizeof(word));
	post_memory(SEND_FETCH_ADD, 8, 1, b->region->key);
	rd_run(&rig);
	rd_expect_sent(a, 1, COMPLETION_SUCCESS);
	assert_memory_equal(a->bytes + OUT, &word, 8);
	word += 5;
	assert_memory_equal(b->bytes + IN, &word, 8);

	post_memory(SEND_RDMA_READ, 1000, 2, b->region->key);
	rd_run(&rig);
	rd_expect_sent(a, 2, COMPLETION_SUCCESS);
	assert_memory_equal(a->bytes + OUT, b->bytes + IN, 1000);

	post_memory(SEND_FLUSH, 0, 3, b->region->key);
	post_memory(SEND_ATOMIC_WRITE, 8, 4, b->region->key);
	post_memory(SEND_RDMA_WRITE, 0, 5, 0);
	rd_run(&rig);
	for (uint64_t id = 3; id <= 5; id++)
		rd_expect_sent(a, id, COMPLETION_SUCCESS);
	expect_wire(there, "FETCH_ADD@0 READ_REQUEST@1 FLUSH@5 ATOMIC_WRITE@6 WRITE_ONLY@7");
	rd_expect_none(b->received);
}

static void test_read_without_depth_is_a_fault_of_the_context(void **state)
{
	(void)state;
	eecs[0]->qp.attributes.initiator_depth = 0;
	post_memory(SEND_RDMA_READ, 8, 1, b->region->key);
	rd_run(&rig);
	rd_expect_sent(a, 1, COMPLETION_LOCAL_EEC_OPERATION);
	assert_int_equal(sender->qp.state, QP_SQE);
	expect_wire(there, "");
	expect_context_still_works();
}

static void test_lost_atomic_answer_is_repeated_and_not_executed_again(void **state)
{
	uint64_t word = 45;

	(void)state;
	b->bytes[IN] = 40;
	wire_lose(back, 0);
	post_memory(SEND_FETCH_ADD, 8, 1, b->region->key);
	rd_run(&rig);
	rd_expect_sent(a, 1, COMPLETION_SUCCESS);
	assert_memory_equal(b->bytes + IN, &word, 8);
	assert_int_equal(a->bytes[OUT], 40);
}

static void test_remote_access_error_hurts_the_request_and_not_the_context(void **state)
{
	(void)state;
	post_memory(SEND_RDMA_WRITE, 600, 1, b->region->key ^ 0x100);
	post_memory(SEND_RDMA_WRITE, 600, 2, b->region->key);
	rd_run(&rig);
	rd_expect_sent(a, 1, COMPLETION_REMOTE_ACCESS);
	rd_expect_sent(a, 2, COMPLETION_FLUSHED);
	assert_int_equal(sender->qp.state, QP_SQE);
	assert_int_equal(receiver->qp.state, QP_RTS);
	expect_wire(there, "WRITE_FIRST@0 WRITE_MIDDLE@1 WRITE_LAST@2 RESYNC@3");
	expect_wire(back, "NAK_ACCESS@0 ACK@3");
	assert_int_equal(rd_rig_set_state(&rig, sender, QP_RTS), 0);
	post_memory(SEND_RDMA_WRITE, 600, 3, b->region->key);
	rd_run(&rig);
	rd_expect_sent(a, 3, COMPLETION_SUCCESS);
	expect_context_still_works();
}

static void test_local_protection_error_of_the_sender_costs_no_psn(void **state)
{
	struct sge sge;
	struct send_request request = rd_request(a, eecs[0], number(receiver), OUT, 100, &sge);

	(void)state;
	sge.lkey ^= 0x100;
	assert_int_equal(rd_post(&rig, sender, &request), 0);
	rd_run(&rig);
	rd_expect_sent(a, 0, COMPLETION_LOCAL_PROTECTION);
	expect_wire(there, "");
	assert_int_equal(sender->qp.state, QP_SQE);
	expect_context_still_works();
}

static void test_too_long_message_fails_both_requests_only(void **state)
{
	(void)state;
	rd_receive(&rig, receiver, IN, 300, 1);
	rd_receive(&rig, receiver, IN, 300, 2);
	rd_send(&rig, sender, eecs[0], number(receiver), OUT, 600, 3);
	wire_lose(back, 0); /* the NAK: the repeated packet takes no second receive request */
	rd_run(&rig);
	rd_expect_sent(a, 3, COMPLETION_REMOTE_INVALID_REQUEST);
	rd_expect_received(b, 1, COMPLETION_LOCAL_LENGTH);
	rd_expect_none(b->received);
	assert_int_equal(receiver->qp.state, QP_RTS);
	rd_send(&rig, other_sender, eecs[0], number(receiver), OUT, 300, 4);
	rd_run(&rig);
	rd_expect_sent(a, 4, COMPLETION_SUCCESS);
	rd_expect_received(b, 2, COMPLETION_SUCCESS);
	expect_context_still_works();
}

static void test_retries_exhausted_break_the_context_and_tell_all_who_wait(void **state)
{
	(void)state;
	there->is_cut = true;
	rd_send(&rig, sender, eecs[0], number(receiver), OUT, 100, 1);
	rd_send(&rig, other_sender, eecs[0], number(receiver), OUT, 100, 2);
	rd_run(&rig);
	rd_expect_sent(a, 2, COMPLETION_INVALID_EEC_STATE);
	rd_expect_sent(a, 1, COMPLETION_RETRY_EXCEEDED);
	assert_int_equal(eecs[0]->qp.state, QP_ERROR);
	assert_int_equal(sender->qp.state, QP_SQE);
	assert_int_equal(other_sender->qp.state, QP_SQE);
	assert_int_equal(rd_rig_set_state(&rig, sender, QP_RTS), 0);
	rd_send(&rig, sender, eecs[0], number(receiver), OUT, 100, 3);
	rd_expect_sent(a, 3, COMPLETION_INVALID_EEC_STATE);
}

static void test_resync_that_nobody_answers_raises_the_event(void **state)
{
	(void)state;
	rd_send(&rig, sender, eecs[0], number(receiver), OUT, 100, 1);
	rd_run_until(&rig, rig.now + MICROSECONDS(1));
	there->is_cut = true;
	rd_run_until(&rig, rig.now + SECONDS(10));
	assert_int_equal(a->event_count, 1);
	assert_int_equal(a->events[0].type, HCA_EVENT_QP_FATAL);
	assert_ptr_equal(a->events[0].qp, eecs[0]);
	assert_int_equal(eecs[0]->qp.state, QP_ERROR);
	rd_expect_sent(a, 1, COMPLETION_INVALID_EEC_STATE);
}

static void test_destroyed_source_makes_the_context_resync(void **state)
{
	(void)state;
	rd_receive(&rig, receiver, IN, 65536, 1);
	rd_send(&rig, sender, eecs[0], number(receiver), OUT, 600, 2);
	wire_lose(there, 2);
	rd_run_until(&rig, rig.now + MICROSECONDS(1));
	assert_int_equal(qp_object_destroy(sender), 0);
	rd_run(&rig);
	rd_expect_received(b, 1, COMPLETION_REMOTE_ABORTED);
	expect_wire(there, "FIRST@0 MIDDLE@1 LAST@2! RESYNC@3");
	assert_int_equal(receiver->qp.state, QP_RTS);
	expect_context_still_works();
}

static void test_source_in_error_flushes_and_leaves_the_line(void **state)
{
	(void)state;
	rd_receive(&rig, receiver, IN, 1024, 1);
	rd_send(&rig, sender, eecs[0], number(receiver), OUT, 100, 2);
	rd_send(&rig, other_sender, eecs[0], number(receiver), OUT, 100, 3);
	assert_int_equal(rd_rig_set_state(&rig, other_sender, QP_ERROR), 0);
	rd_expect_sent(a, 3, COMPLETION_FLUSHED);
	rd_run(&rig);
	rd_expect_sent(a, 2, COMPLETION_SUCCESS);
	rd_expect_none(a->sent);
}

static void test_drained_context_finishes_what_it_began(void **state)
{
	struct qp_attributes attributes = {.state = QP_SQD, .drained_notify = true};

	(void)state;
	rd_receive(&rig, receiver, IN, 1024, 1);
	rd_receive(&rig, receiver, IN, 1024, 2);
	rd_send(&rig, sender, eecs[0], number(receiver), OUT, 600, 3);
	rd_send(&rig, other_sender, eecs[0], number(receiver), OUT, 600, 4);
	rd_run_until(&rig, rig.now + 1);
	assert_int_equal(qp_object_modify(eecs[0], rig.now, &attributes,
					  QP_HAS_STATE | QP_HAS_DRAINED_NOTIFY),
			 0);
	rd_run(&rig);
	rd_expect_sent(a, 3, COMPLETION_SUCCESS);
	rd_expect_none(a->sent);
	assert_int_equal(a->event_count, 1);
	assert_int_equal(a->events[0].type, HCA_EVENT_SQ_DRAINED);
	assert_int_equal(rd_rig_set_state(&rig, eecs[0], QP_RTS), 0);
	rd_run(&rig);
	rd_expect_sent(a, 4, COMPLETION_SUCCESS);
}

static void test_reset_context_tells_its_users_and_can_be_connected_again(void **state)
{
	(void)state;
	rd_receive(&rig, receiver, IN, 1024, 9);
	there->is_cut = true;
	rd_send(&rig, sender, eecs[0], number(receiver), OUT, 100, 1);
	rd_run_until(&rig, rig.now + MICROSECONDS(1));
	assert_int_equal(rd_rig_set_state(&rig, eecs[0], QP_RESET), 0);
	rd_expect_sent(a, 1, COMPLETION_INVALID_EEC_STATE);
	there->is_cut = false;
	rd_rig_to_init(&rig, eecs[0]);
	rd_rig_to_rtr(&rig, eecs[0], 1, number(eecs[1]));
	rd_rig_to_rts(&rig, eecs[0]);
	assert_int_equal(rd_rig_set_state(&rig, sender, QP_RTS), 0);
	rd_send(&rig, sender, eecs[0], number(receiver), OUT, 100, 2);
	rd_run(&rig);
	rd_expect_sent(a, 2, COMPLETION_SUCCESS);
	rd_expect_received(b, 9, COMPLETION_SUCCESS);
}

static void load_alternate_path(unsigned end, unsigned to)
{
	struct qp_attributes attributes = {
		.path_migration = PATH_REARM,
		.alternate_address = {.dlid = rig.nodes[to].hca.ports[0].lid,
				      .port_number = 1,
				      .sl = 1},
		.alternate_timeout = RIG_ACK_TIMEOUT,
	};

	assert_int_equal(qp_object_modify(eecs[end], rig.now, &attributes,
					  QP_HAS_ALTERNATE_PATH | QP_HAS_PATH_MIGRATION),
			 0);
}

static void test_context_migrates_to_its_alternate_path_with_its_message(void **state)
{
	(void)state;
	load_alternate_path(0, 1);
	load_alternate_path(1, 0);
	/* A message and its answer arm both ends. */
	expect_context_still_works();
	assert_int_equal(eecs[0]->qp.attributes.path_migration, PATH_ARMED);
	assert_int_equal(eecs[1]->qp.attributes.path_migration, PATH_ARMED);
	for (unsigned i = 0; i < 8; i++)
		wire_lose(there, i);
	rd_receive(&rig, receiver, IN, 1024, 1);
	rd_send(&rig, sender, eecs[0], number(receiver), OUT, 100, 2);
	rd_run(&rig);
	rd_expect_sent(a, 2, COMPLETION_SUCCESS);
	assert_int_equal(rd_take(b->received).sl, 1);
	assert_int_equal(a->event_count, 1);
	assert_int_equal(a->events[0].type, HCA_EVENT_PATH_MIGRATED);
	assert_ptr_equal(a->events[0].qp, eecs[0]);
	assert_int_equal(b->events[0].type, HCA_EVENT_PATH_MIGRATED);
	assert_int_equal(sender->qp.state, QP_RTS);
}

static void test_full_completion_queue_breaks_its_queue_pair_and_not_the_context(void **state)
{
	struct qp_object *narrow;
	struct cq *cq;
	const struct qp_options options = {
		.type = QP_RD, .pd = b->pd, .rdd = b->rdd, .capabilities = {4, 4, 1, 1, 0}};
	struct qp_options narrow_options = options;
	struct qp_attributes attributes = {.state = QP_INIT, .qkey = RIG_QKEY};

	(void)state;
	assert_int_equal(cq_create(&b->hca, 1, NULL, &cq), 0);
	narrow_options.send_cq = narrow_options.receive_cq = cq;
	assert_int_equal(qp_object_create(&b->hca, &narrow_options, &narrow), 0);
	assert_int_equal(qp_object_modify(narrow, rig.now, &attributes,
					  QP_HAS_STATE | QP_HAS_QKEY | QP_HAS_ACCESS),
			 0);
	attributes.state = QP_RTR;
	assert_int_equal(
		qp_object_modify(narrow, rig.now, &attributes, QP_HAS_STATE | QP_HAS_MIN_RNR_TIMER),
		0);
	for (unsigned i = 0; i < 4; i++)
		rd_receive(&rig, narrow, IN, 1024, i);
	for (unsigned i = 0; i < 4; i++)
		rd_send(&rig, sender, eecs[0], number(narrow), OUT, 10, i);
	rd_run(&rig);
	assert_int_equal(narrow->qp.state, QP_ERROR);
	while (cq_first(a->sent))
		cq_advance(a->sent);
	expect_context_still_works();
	assert_int_equal(qp_object_destroy(narrow), 0);
	assert_int_equal(cq_destroy(cq), 0);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_message_arrives_and_names_its_sender),
		TEST(test_one_message_at_a_time_and_queue_pairs_take_turns),
		TEST(test_lost_packet_resumes_from_nak),
		TEST(test_lost_ack_is_repeated_and_the_message_taken_once),
		TEST(test_rnr_suspends_the_message_and_others_go_on),
		TEST(test_late_copy_of_a_suspended_message_is_not_taken),
		TEST(test_rnr_retries_are_counted_per_message),
		TEST(test_write_with_immediate_that_finds_no_receive_starts_again),
		TEST(test_reads_atomics_and_placements_work_by_a_context),
		TEST(test_read_without_depth_is_a_fault_of_the_context),
		TEST(test_lost_atomic_answer_is_repeated_and_not_executed_again),
		TEST(test_remote_access_error_hurts_the_request_and_not_the_context),
		TEST(test_local_protection_error_of_the_sender_costs_no_psn),
		TEST(test_too_long_message_fails_both_requests_only),
		TEST(test_retries_exhausted_break_the_context_and_tell_all_who_wait),
		TEST(test_resync_that_nobody_answers_raises_the_event),
		TEST(test_destroyed_source_makes_the_context_resync),
		TEST(test_source_in_error_flushes_and_leaves_the_line),
		TEST(test_drained_context_finishes_what_it_began),
		TEST(test_reset_context_tells_its_users_and_can_be_connected_again),
		TEST(test_context_migrates_to_its_alternate_path_with_its_message),
		TEST(test_full_completion_queue_breaks_its_queue_pair_and_not_the_context),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
