/* SPDX-License-Identifier: Apache-2.0 */
/* The reaction of a responder to each fault, for each service: the table of fault classes, row by
 * row (vol 1, chapter 9; transport 5.5). Each case is one bad packet, made by hand. Covers:
 * net/transport/qp_error.c */
#include <limits.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <cmocka.h>
#include "net/transport/addressing.h"
#include "support/rc_pair.h"
#include "wire/mtu.h"

enum service { RC, UC, UD, SERVICE_COUNT };

enum fault {
	PSN_AHEAD,
	BAD_SEQUENCE,
	CUT_SEND, /* a SEND in progress, and then another request */
	NOT_ENABLED,
	NO_RESOURCES,
	MISALIGNED_ATOMIC,
	NO_RECEIVE,
	DEAD_RECEIVE, /* its L_Key */
	SMALL_RECEIVE,
	WRONG_LENGTH, /* of a request that finds no receive */
	DEAD_KEY,
	DEAD_KEY_IMMEDIATE,
	REFUSED_INVALIDATE,
	FULL_CQ,
};

/* The state afterwards. */
struct outcome {
	enum fault fault;
	enum service service;
	bool is_shared;
	const char *answer;
	enum qp_state state;
	enum qp_event event;	/* 0: none */
	unsigned receives_left; /* posted and not taken; in Error the queue pair's own requests are
				   flushed */
	bool is_reported;	/* by a receive completion ... */
	enum completion_status status; /* ... of this status */
};

#define KEPT 1, false, COMPLETION_SUCCESS /* the receive is still there */

static const struct outcome outcomes[] = {
	{PSN_AHEAD, RC, false, "NAK_SEQUENCE@0", QP_RTS, 0, KEPT},
	{PSN_AHEAD, RC, true, "NAK_SEQUENCE@0", QP_RTS, 0, KEPT},
	/* UC: a new message may begin anywhere. */
	{PSN_AHEAD, UC, false, "", QP_RTS, 0, 0, true, COMPLETION_SUCCESS},
	{PSN_AHEAD, UC, true, "", QP_RTS, 0, 0, true, COMPLETION_SUCCESS},
	/* UD: the PSN does not count. */
	{PSN_AHEAD, UD, false, "", QP_RTS, 0, 0, true, COMPLETION_SUCCESS},

	{BAD_SEQUENCE, RC, false, "NAK_INVALID@0", QP_ERROR, QP_EVENT_REQUEST_ERROR, 0, true,
	 COMPLETION_FLUSHED},
	{BAD_SEQUENCE, RC, true, "NAK_INVALID@0", QP_ERROR, QP_EVENT_REQUEST_ERROR, KEPT},
	{BAD_SEQUENCE, UC, false, "", QP_RTS, 0, KEPT},
	{BAD_SEQUENCE, UC, true, "", QP_RTS, 0, KEPT},

	{CUT_SEND, RC, false, "NAK_INVALID@1", QP_ERROR, 0, 0, true, COMPLETION_LOCAL_QP_OPERATION},
	{CUT_SEND, RC, true, "NAK_INVALID@1", QP_ERROR, 0, 0, true, COMPLETION_LOCAL_QP_OPERATION},
	/* Its receive request is used again, or is gone with the message. */
	{CUT_SEND, UC, false, "", QP_RTS, 0, KEPT},
	{CUT_SEND, UC, true, "", QP_RTS, 0, 0, true, COMPLETION_REMOTE_ABORTED},

	{NOT_ENABLED, RC, false, "NAK_INVALID@0", QP_ERROR, QP_EVENT_REQUEST_ERROR, 0, true,
	 COMPLETION_FLUSHED},
	{NOT_ENABLED, RC, true, "NAK_INVALID@0", QP_ERROR, QP_EVENT_REQUEST_ERROR, KEPT},
	{NOT_ENABLED, UC, false, "", QP_RTS, 0, KEPT},
	{NOT_ENABLED, UC, true, "", QP_RTS, 0, KEPT},

	{NO_RESOURCES, RC, false, "NAK_INVALID@0", QP_ERROR, QP_EVENT_REQUEST_ERROR, 0, true,
	 COMPLETION_FLUSHED},
	{MISALIGNED_ATOMIC, RC, false, "NAK_INVALID@0", QP_ERROR, QP_EVENT_REQUEST_ERROR, 0, true,
	 COMPLETION_FLUSHED},

	{NO_RECEIVE, RC, false, "RNR@0", QP_RTS, 0, 0, false},
	{NO_RECEIVE, RC, true, "RNR@0", QP_RTS, 0, 0, false},
	{NO_RECEIVE, UC, false, "", QP_RTS, 0, 0, false},
	{NO_RECEIVE, UC, true, "", QP_RTS, 0, 0, false},
	{NO_RECEIVE, UD, false, "", QP_RTS, 0, 0, false},
	{NO_RECEIVE, UD, true, "", QP_RTS, 0, 0, false},

	{DEAD_RECEIVE, RC, false, "NAK_OPERATIONAL@0", QP_ERROR, 0, 0, true,
	 COMPLETION_LOCAL_PROTECTION},
	{DEAD_RECEIVE, RC, true, "NAK_OPERATIONAL@0", QP_ERROR, 0, 0, true,
	 COMPLETION_LOCAL_PROTECTION},
	{DEAD_RECEIVE, UC, false, "", QP_ERROR, 0, 0, true, COMPLETION_LOCAL_PROTECTION},
	{DEAD_RECEIVE, UC, true, "", QP_ERROR, 0, 0, true, COMPLETION_LOCAL_PROTECTION},
	{DEAD_RECEIVE, UD, false, "", QP_ERROR, 0, 0, true, COMPLETION_LOCAL_PROTECTION},
	{DEAD_RECEIVE, UD, true, "", QP_ERROR, 0, 0, true, COMPLETION_LOCAL_PROTECTION},

	{SMALL_RECEIVE, RC, false, "NAK_INVALID@0", QP_ERROR, 0, 0, true, COMPLETION_LOCAL_LENGTH},
	{SMALL_RECEIVE, RC, true, "NAK_INVALID@0", QP_ERROR, 0, 0, true, COMPLETION_LOCAL_LENGTH},
	{SMALL_RECEIVE, UC, false, "", QP_RTS, 0, KEPT},
	{SMALL_RECEIVE, UC, true, "", QP_RTS, 0, 0, true, COMPLETION_REMOTE_ABORTED},
	{SMALL_RECEIVE, UD, false, "", QP_RTS, 0, KEPT},
	{SMALL_RECEIVE, UD, true, "", QP_RTS, 0, 0, true, COMPLETION_REMOTE_ABORTED},

	{WRONG_LENGTH, RC, false, "NAK_INVALID@0", QP_ERROR, QP_EVENT_REQUEST_ERROR, 0, true,
	 COMPLETION_FLUSHED},
	{WRONG_LENGTH, UC, false, "", QP_RTS, 0, KEPT},
	{WRONG_LENGTH, UC, true, "", QP_RTS, 0, KEPT},

	{DEAD_KEY, RC, false, "NAK_ACCESS@0", QP_ERROR, QP_EVENT_ACCESS_ERROR, 0, true,
	 COMPLETION_FLUSHED},
	{DEAD_KEY, RC, true, "NAK_ACCESS@0", QP_ERROR, QP_EVENT_ACCESS_ERROR, KEPT},
	{DEAD_KEY, UC, false, "", QP_RTS, 0, KEPT},
	{DEAD_KEY, UC, true, "", QP_RTS, 0, KEPT},
	{DEAD_KEY_IMMEDIATE, RC, false, "NAK_ACCESS@0", QP_ERROR, 0, 0, true,
	 COMPLETION_LOCAL_ACCESS},
	{DEAD_KEY_IMMEDIATE, RC, true, "NAK_ACCESS@0", QP_ERROR, 0, 0, true,
	 COMPLETION_LOCAL_ACCESS},
	{DEAD_KEY_IMMEDIATE, UC, false, "", QP_RTS, 0, KEPT},
	{DEAD_KEY_IMMEDIATE, UC, true, "", QP_RTS, 0, 0, true, COMPLETION_REMOTE_ABORTED},

	/* Nothing is answered: the requester runs into its timeout. */
	{REFUSED_INVALIDATE, RC, false, "", QP_ERROR, 0, 0, true, COMPLETION_LOCAL_QP_OPERATION},
	{REFUSED_INVALIDATE, RC, true, "", QP_ERROR, 0, 0, true, COMPLETION_LOCAL_QP_OPERATION},

	{FULL_CQ, RC, false, "", QP_ERROR, QP_EVENT_FATAL, 0, false},
	{FULL_CQ, RC, true, "", QP_ERROR, QP_EVENT_FATAL, 0, false},
	{FULL_CQ, UC, false, "", QP_ERROR, QP_EVENT_FATAL, 0, false},
	{FULL_CQ, UD, false, "", QP_ERROR, QP_EVENT_FATAL, 0, false},
};

static struct rc_pair pair;
static struct receive_queue shared;

static const enum qp_type types[SERVICE_COUNT] = {QP_RC, QP_UC, QP_UD};

enum { PAYLOAD_BYTES = 100, GRH_ROOM = 40 };

static void stage(const struct outcome *outcome)
{
	struct endpoint_options a = endpoint_options_default(types[outcome->service]), b;

	if (outcome->fault == NOT_ENABLED)
		a.access = ACCESS_LOCAL_WRITE;
	if (outcome->fault == NO_RESOURCES)
		a.responder_resources = 0;
	b = a;
	if (outcome->is_shared) {
		assert_int_equal(receive_queue_init(&shared, &pair.b.pd, 8, 4), 0);
		b.shared_queue = &shared;
	}
	rc_pair_init(&pair, &a, &b);
	rc_pair_bring_up(&pair);
}

static void supply_receive(const struct outcome *outcome)
{
	uint32_t byte_count = outcome->fault == SMALL_RECEIVE ? PAYLOAD_BYTES - 1 : 1000;
	struct sge sge;
	struct receive_request request = {.wr_id = 7, .sge_count = 1, .sges = &sge};

	if (outcome->fault == NO_RECEIVE)
		return;
	if (outcome->service == UD && outcome->fault == SMALL_RECEIVE)
		byte_count += GRH_ROOM;
	sge = area_sge(&pair.b.inbox, area_take(&pair.b.inbox, byte_count), byte_count);
	if (outcome->fault == DEAD_RECEIVE)
		sge.lkey ^= 1;
	if (outcome->is_shared)
		assert_int_equal(receive_queue_post(&shared, &request), 0);
	else
		assert_int_equal(qp_post_receive(&pair.b.qp, pair.now, &request), 0);
}

static uint8_t opcode_of(const struct outcome *outcome)
{
	switch (outcome->fault) {
	case BAD_SEQUENCE:
		return OPCODE_SEND_MIDDLE;
	case NO_RESOURCES:
		return OPCODE_READ_REQUEST;
	case MISALIGNED_ATOMIC:
		return OPCODE_FETCH_ADD;
	case REFUSED_INVALIDATE:
		return OPCODE_SEND_ONLY_INVALIDATE;
	case DEAD_KEY_IMMEDIATE:
		return OPCODE_WRITE_ONLY_IMMEDIATE;
	case NOT_ENABLED:
	case WRONG_LENGTH:
	case CUT_SEND:
	case DEAD_KEY:
		return OPCODE_WRITE_ONLY;
	case PSN_AHEAD:
	case NO_RECEIVE:
	case DEAD_RECEIVE:
	case SMALL_RECEIVE:
	case FULL_CQ:
		break;
	}
	return OPCODE_SEND_ONLY;
}

static uint32_t payload_of(const struct outcome *outcome)
{
	if (outcome->fault == NO_RESOURCES || outcome->fault == MISALIGNED_ATOMIC)
		return 0;
	return outcome->fault == BAD_SEQUENCE ? 256 : PAYLOAD_BYTES;
}

static struct packet bad_packet(const struct outcome *outcome)
{
	static uint8_t bytes[256];
	static struct span span = {bytes, sizeof(bytes)};
	const struct address_vector to_b = {.dlid = 2, .port_number = 1};
	uint64_t address = (uintptr_t)pair.b.window.bytes;
	uint32_t rkey = pair.b.window.region->key;
	struct packet packet = {0};

	packet_address(&pair.a.qp, &to_b, pair.b.qp.qpn, &packet);
	packet.bth.opcode = opcode_of(outcome) | qp_transport(&pair.a.qp);
	packet.bth.ack_request = outcome->service == RC;
	packet.bth.psn = psn_from(outcome->fault == PSN_AHEAD ? 5 : 0);
	packet.packet_count = 1;
	packet.payload.spans = &span;
	packet.payload.span_count = 1;
	packet.payload.byte_count = payload_of(outcome);
	packet.deth = (struct deth){.qkey = 0x11111111, .source_qpn = pair.a.qp.qpn};
	if (outcome->fault == DEAD_KEY || outcome->fault == DEAD_KEY_IMMEDIATE)
		rkey ^= 1;
	if (outcome->fault == MISALIGNED_ATOMIC)
		packet.atomic_eth = (struct atomic_eth){.address = address + 4, .rkey = rkey};
	else
		packet.reth =
			(struct reth){.address = address, .rkey = rkey, .bytes = PAYLOAD_BYTES};
	if (outcome->fault == WRONG_LENGTH)
		packet.reth.bytes--;
	packet.invalidate_rkey = rkey;
	return packet;
}

static void begin_send(const struct packet *bad)
{
	struct packet first = *bad;

	first.bth.opcode = OPCODE_SEND_FIRST | qp_transport(&pair.a.qp);
	first.bth.ack_request = false;
	first.payload.byte_count = 256;
	qp_receive(&pair.b.qp, pair.now, &first);
}

static unsigned receives_left(const struct outcome *outcome)
{
	const struct receive_queue *queue = outcome->is_shared ? &shared : &pair.b.qp.own_receives;

	return queue->tail - queue->head;
}

static void check(const struct outcome *outcome)
{
	stage(outcome);
	supply_receive(outcome);

	struct packet packet = bad_packet(outcome);

	if (outcome->fault == FULL_CQ)
		pair.b.received.room = 0;
	if (outcome->fault == CUT_SEND) {
		begin_send(&packet);
		packet.bth.psn = psn_from(1);
		/* The packet would be good by itself, and UC would accept it as such. */
		packet.reth.rkey ^= 1;
	}
	qp_receive(&pair.b.qp, pair.now, &packet);
	run_until_idle(&pair);

	expect_wire(&pair.b_to_a, outcome->answer);
	assert_int_equal(pair.b.qp.state, outcome->state);
	if (outcome->event)
		expect_event(&pair.b, outcome->event);
	if (outcome->is_shared && outcome->state == QP_ERROR)
		expect_event(&pair.b, QP_EVENT_LAST_REQUEST_REACHED);
	expect_no_event(&pair.b);
	if (outcome->is_reported)
		assert_int_equal(expect_received(&pair.b, outcome->status)->wr_id, 7);
	expect_nothing_received(&pair.b);
	assert_int_equal(receives_left(outcome), outcome->receives_left);
	/* Nothing of the refused request was written. */
	for (unsigned i = 0; i < PAYLOAD_BYTES; i++)
		assert_int_equal(pair.b.window.bytes[i], 0);
	rc_pair_release(&pair);
	if (outcome->is_shared)
		receive_queue_release(&shared);
}

static void test_every_fault_has_the_outcome_of_its_class(void **state)
{
	(void)state;
	for (unsigned i = 0; i < ARRAY_COUNT(outcomes); i++) {
		print_message("row %u\n", i);
		check(&outcomes[i]);
	}
}

/* Class A and C: requests after the NAK are dropped in silence, and so is the repeated request
 * (transport 4.8). */
static void test_after_a_nak_nothing_is_answered(void **state)
{
	const struct outcome outcome = {.fault = DEAD_KEY, .service = RC};

	(void)state;
	stage(&outcome);

	struct packet packet = bad_packet(&outcome);

	qp_receive(&pair.b.qp, pair.now, &packet);
	qp_receive(&pair.b.qp, pair.now, &packet);
	run_until_idle(&pair);
	expect_wire(&pair.b_to_a, "NAK_ACCESS@0");
	qp_receive(&pair.b.qp, pair.now, &packet);
	packet.bth.psn = psn_from(1);
	qp_receive(&pair.b.qp, pair.now, &packet);
	run_until_idle(&pair);
	expect_wire(&pair.b_to_a, "");
	rc_pair_release(&pair);
}

/* Class B: the request that found no receive is executed when there is one (transport 5.2). */
static void test_an_rnr_nak_leaves_everything_as_it_was(void **state)
{
	const struct outcome outcome = {.fault = NO_RECEIVE, .service = RC};

	(void)state;
	stage(&outcome);

	struct packet packet = bad_packet(&outcome);

	qp_receive(&pair.b.qp, pair.now, &packet);
	run_until_idle(&pair);
	expect_wire(&pair.b_to_a, "RNR@0");
	post_receive(&pair, &pair.b, 1000);
	qp_receive(&pair.b.qp, pair.now, &packet);
	run_until_idle(&pair);
	expect_wire(&pair.b_to_a, "ACK@0");
	expect_received(&pair.b, COMPLETION_SUCCESS);
	assert_int_equal(pair.b.qp.responder.msn, 1);
	rc_pair_release(&pair);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_every_fault_has_the_outcome_of_its_class),
		cmocka_unit_test(test_after_a_nak_nothing_is_answered),
		cmocka_unit_test(test_an_rnr_nak_leaves_everything_as_it_was),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
