/* SPDX-License-Identifier: Apache-2.0 */
/* Peers that ask for RMA on this process's memory: which get a grant, and which do not. */
#include "runtime/rma/rma_target.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include "base/random.h"
#include "ipc/rma_area.h"
#include "net/transport/addressing.h"
#include "net/transport/rma/rma_bypass.h"
#include "unit/runtime/runtime_pair.h"
#include "wire/mtu.h"
#include "wire/packet.h"

static const struct rma_grant *grant(uint32_t index)
{
	return &pair_channel()->rma_in->grants[index];
}

static bool is_granted(uint32_t index)
{
	return grant(index)->serial % 2;
}

enum { BODY_BYTES = 512 };

struct question {
	uint8_t body[BODY_BYTES];
	struct ring_record record;
};

/* The question that the queue pair of the first end would ask. */
static void make_question(uint32_t index, uint32_t psn_change, struct question *ret_question)
{
	const struct qp *qp = &pair.ends[0].qp->qp;
	const struct rma_grant_request ask = {.index = index, .ask_number = 40 + index};
	struct packet packet;

	packet_address(qp, &qp->attributes.address, qp->attributes.destination_qpn, &packet);
	packet.bth.opcode = TRANSPORT_RC | OPCODE_WRITE_ONLY;
	packet.bth.psn = psn_add(qp->requester.next_psn, psn_change);
	packet.reth = (struct reth){0};
	packet.packet_count = 1;
	packet_set_payload(&packet, NULL, 0);
	memcpy(ret_question->body, &ask, sizeof(ask));
	ret_question->record = (struct ring_record){
		.kind = RECORD_RMA_GRANT_REQUEST,
		.port = 1 << 8 | 1,
		.packet_count = 1,
		.body = ret_question->body,
		.byte_count = (uint32_t)(sizeof(ask) +
					 packet_encode(&packet, ret_question->body + sizeof(ask))),
	};
}

static void ask(const struct question *question)
{
	runtime_lock(pair_runtime());
	rma_target_requested(pair_runtime(), pair_channel(), &question->record);
	runtime_unlock(pair_runtime());
}

static int start(void **state)
{
	if (pair_start_connected(state) != 0)
		return -1;
	pair_set_verdict(RESOLVED_DIRECT);
	pair_send_and_check(10, 1);
	return 0;
}

static void test_a_connected_queue_pair_is_granted(void **state)
{
	const struct qp *target = &pair.ends[1].qp->qp;
	struct question question;

	(void)state;
	make_question(3, 0, &question);
	ask(&question);
	assert_true(is_granted(3));
	assert_int_equal(grant(3)->ask_number, 43);
	assert_int_equal(grant(3)->qpn, target->qpn);
	assert_int_equal(grant(3)->adapter_index, 1);
	assert_ptr_equal((void *)(uintptr_t)grant(3)->pd, target->pd);
	assert_int_equal(grant(3)->access, target->attributes.access);
	assert_non_null(target->responder.placed);
	/* The same queue pair under another number: the old grant ends. */
	make_question(4, 0, &question);
	ask(&question);
	assert_false(is_granted(3));
	assert_true(is_granted(4));
}

static void test_only_what_its_packets_would_pass_is_granted(void **state)
{
	struct question question;

	(void)state;
	/* A PSN that the queue pair does not expect. */
	make_question(5, 1, &question);
	ask(&question);
	assert_false(is_granted(5));
	/* Another destination. */
	make_question(5, 0, &question);
	question.body[sizeof(struct rma_grant_request) + LRH_BYTES + 7] ^= 0x55;
	ask(&question);
	assert_false(is_granted(5));
	/* Another partition. */
	make_question(5, 0, &question);
	question.body[sizeof(struct rma_grant_request) + LRH_BYTES + 3] ^= 0x55;
	ask(&question);
	assert_false(is_granted(5));
	/* From another port. */
	make_question(5, 0, &question);
	question.body[sizeof(struct rma_grant_request) + 7] ^= 0x55;
	ask(&question);
	assert_false(is_granted(5));
	/* A slot that does not exist. */
	make_question(RMA_QPS_MAX, 0, &question);
	ask(&question);
	/* An adapter that does not exist. */
	make_question(5, 0, &question);
	question.record.port = 0xff01;
	ask(&question);
	assert_false(is_granted(5));
}

/* A stranger names the queue pair, but its packets would not pass. */
static void test_what_would_not_pass_takes_nothing_from_others(void **state)
{
	struct question question;

	(void)state;
	make_question(5, 0, &question);
	ask(&question);
	assert_true(is_granted(5));
	make_question(7, 0, &question);
	question.body[sizeof(struct rma_grant_request) + LRH_BYTES] =
		TRANSPORT_UC | OPCODE_WRITE_ONLY;
	ask(&question);
	assert_false(is_granted(7));
	assert_true(is_granted(5));
}

static void test_a_modify_takes_it_back(void **state)
{
	const struct qp_attributes attributes = {.min_rnr_timer = 3};
	struct question question;

	(void)state;
	make_question(6, 0, &question);
	ask(&question);
	assert_true(is_granted(6));
	adapter_lock(pair.ends[1].adapter);
	assert_int_equal(qp_object_modify(pair.ends[1].qp, adapter_now(pair.ends[1].adapter),
					  &attributes, QP_HAS_MIN_RNR_TIMER),
			 0);
	adapter_unlock(pair.ends[1].adapter);
	assert_false(is_granted(6));
	assert_null(pair.ends[1].qp->qp.responder.placed);
}

/* Untrusted input. */
static void test_nonsense_is_survived(void **state)
{
	struct random random = random_seeded(5);
	struct question question;

	(void)state;
	for (unsigned i = 0; i < 20000; i++) {
		make_question((uint32_t)random_below(&random, RMA_QPS_MAX), 0, &question);
		question.record.byte_count = (uint32_t)random_below(&random, BODY_BYTES + 1);
		for (unsigned j = 0; j < 3; j++)
			question.body[random_below(&random, 60)] = (uint8_t)random_next(&random);
		ask(&question);
	}
	/* And the connection still works. */
	for (uint32_t i = 0; i < 20; i++)
		pair_send_and_check(100 * i, i);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_connected_queue_pair_is_granted),
		cmocka_unit_test(test_only_what_its_packets_would_pass_is_granted),
		cmocka_unit_test(test_what_would_not_pass_takes_nothing_from_others),
		cmocka_unit_test(test_a_modify_takes_it_back),
		cmocka_unit_test(test_nonsense_is_survived),
	};

	return cmocka_run_group_tests(tests, start, pair_end_all);
}
