/* SPDX-License-Identifier: Apache-2.0 */
/* RMA requests, which send no packets: their effect on both halves of a connection. */
#include "net/transport/rma/rma_bypass.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include "support/rc_pair.h"
#include "wire/mtu.h"

static struct rc_pair pair;
static uint64_t word;
static struct rma_progress placed;
static unsigned ended;

static void end_rma(struct qp *qp)
{
	ended++;
	if (qp->responder.placed)
		(void)rma_bypass_catch_up(qp);
	qp->responder.placed = NULL;
	qp->owner_rma = NULL;
}

static void connect_pair(enum qp_type type)
{
	struct endpoint_options options = endpoint_options_default(type);

	options.mtu_code = MTU_256;
	rc_pair_connect_with(&pair, &options);
	pair.a.environment.end_rma = end_rma;
	pair.b.environment.end_rma = end_rma;
	word = rma_progress_word(pair.b.qp.responder.expected_psn.value, 0, 1);
	placed = (struct rma_progress){&word, word};
	pair.b.qp.responder.placed = &placed;
	ended = 0;
}

/* Does what runtime/rma/rma.c does, without the bytes. */
static void carry_out(unsigned *message_count)
{
	struct bypass bypass;

	assert_true(rma_bypass_next(&pair.a.qp, &bypass));
	rma_bypass_done(&pair.a.qp, pair.now);
	word = rma_progress_word(pair.a.qp.requester.next_psn.value, ++*message_count, 1);
}

/* b_to_a: the MSN that the next ACK carries. */
static void test_packets_after_rma_requests_are_in_order(void **state)
{
	unsigned message_count = 0;

	(void)state;
	connect_pair(QP_RC);
	post_write(&pair, &pair.a, &pair.b, 0, 600);
	carry_out(&message_count);
	expect_completion(&pair.a, COMPLETION_SUCCESS);
	post_read(&pair, &pair.a, &pair.b, 0, 300);
	carry_out(&message_count);
	expect_completion(&pair.a, COMPLETION_SUCCESS);
	/* Three PSNs of the WRITE, two of the READ. */
	assert_int_equal(pair.a.qp.requester.next_psn.value, 5);
	post_receive(&pair, &pair.b, 64);
	post_send(&pair, &pair.a, 10);
	run_until_idle(&pair);
	expect_wire(&pair.a_to_b, "ONLY@5");
	expect_wire(&pair.b_to_a, "ACK@5");
	expect_completion(&pair.a, COMPLETION_SUCCESS);
	expect_received(&pair.b, COMPLETION_SUCCESS);
	assert_int_equal(pair.b.qp.responder.msn, 3);
	rc_pair_release(&pair);
}

static void test_a_lost_packet_between_is_still_missed(void **state)
{
	unsigned message_count = 0;

	(void)state;
	connect_pair(QP_RC);
	post_write(&pair, &pair.a, &pair.b, 0, 8);
	carry_out(&message_count);
	post_receive(&pair, &pair.b, 64);
	post_receive(&pair, &pair.b, 64);
	post_send(&pair, &pair.a, 10);
	post_send(&pair, &pair.a, 10);
	wire_lose(&pair.a_to_b, 0);
	run_until_idle(&pair);
	expect_wire(&pair.a_to_b, "ONLY@1! ONLY@2 ONLY@1 ONLY@2");
	expect_received(&pair.b, COMPLETION_SUCCESS);
	expect_received(&pair.b, COMPLETION_SUCCESS);
	expect_nothing_received(&pair.b);
	rc_pair_release(&pair);
}

static void test_nothing_goes_past_what_is_not_acknowledged(void **state)
{
	struct bypass bypass;
	unsigned message_count = 0;

	(void)state;
	connect_pair(QP_RC);
	post_receive(&pair, &pair.b, 64);
	post_send(&pair, &pair.a, 10);
	rc_pair_transmit(&pair);
	post_write(&pair, &pair.a, &pair.b, 0, 8);
	assert_false(rma_bypass_next(&pair.a.qp, &bypass));
	/* A request that is held back does not become packets either, until it may go. */
	pair.a.qp.requester.hold = HOLD_UNTIL_ACKNOWLEDGED;
	run_until_idle(&pair);
	expect_wire(&pair.a_to_b, "ONLY@0 WRITE_ONLY@1");
	pair.a.qp.requester.hold = HOLD_NONE;
	post_write(&pair, &pair.a, &pair.b, 0, 8);
	carry_out(&message_count);
	rc_pair_release(&pair);
}

static void test_requests_that_are_held_are_resent_all_the_same(void **state)
{
	(void)state;
	connect_pair(QP_RC);
	post_receive(&pair, &pair.b, 64);
	post_receive(&pair, &pair.b, 64);
	post_send(&pair, &pair.a, 10);
	post_send(&pair, &pair.a, 10);
	wire_lose(&pair.a_to_b, 0);
	wire_lose(&pair.a_to_b, 1);
	rc_pair_transmit(&pair);
	pair.a.qp.requester.hold = HOLD_UNTIL_ACKNOWLEDGED;
	run_until_idle(&pair);
	expect_received(&pair.b, COMPLETION_SUCCESS);
	expect_received(&pair.b, COMPLETION_SUCCESS);
	rc_pair_release(&pair);
}

/* Errors of a request are found and reported by the packet path. */
static void test_only_sound_one_sided_requests_go(void **state)
{
	struct bypass bypass;

	(void)state;
	connect_pair(QP_RC);
	assert_false(rma_bypass_next(&pair.a.qp, &bypass)); /* no request */
	post_write(&pair, &pair.a, &pair.b, 0, 0);
	assert_false(rma_bypass_next(&pair.a.qp, &bypass)); /* no bytes */
	run_until_idle(&pair);
	expect_completion(&pair.a, COMPLETION_SUCCESS);

	struct sge sge = {.address = 1, .byte_count = 8, .lkey = 0x12345};
	struct send_request request = {
		.opcode = SEND_RDMA_WRITE, .flags = SEND_SIGNALED, .sge_count = 1, .sges = &sge};

	assert_int_equal(post(&pair, &pair.a, &request), 0);
	assert_false(rma_bypass_next(&pair.a.qp, &bypass)); /* a bad L_Key */
	run_until_idle(&pair);
	expect_completion(&pair.a, COMPLETION_LOCAL_PROTECTION);
	rc_pair_release(&pair);
}

/* The simple form and the general form describe the same request. A request that was found in
 * either form leaves the same state. */
static void test_simple_requests_are_those_of_the_general_form(void **state)
{
	static const uint32_t sizes[] = {1, 8, 256, 257, 600};
	struct simple_request simple;
	struct bypass bypass;
	struct psn ends[2];
	uint32_t psn_counts[2];

	(void)state;
	for (unsigned is_read = 0; is_read < 2; is_read++)
		for (unsigned i = 0; i < ARRAY_COUNT(sizes); i++) {
			for (unsigned way = 0; way < 2; way++) {
				connect_pair(QP_RC);
				if (is_read)
					post_read(&pair, &pair.a, &pair.b, 16, sizes[i]);
				else
					post_write(&pair, &pair.a, &pair.b, 16, sizes[i]);
				assert_true(rma_bypass_simple(&pair.a.qp, 600, &simple));
				assert_true(rma_bypass_next(&pair.a.qp, &bypass));
				assert_int_equal(simple.is_read, is_read);
				assert_int_equal(simple.byte_count, bypass.byte_count);
				assert_int_equal(simple.remote_key, bypass.remote_key);
				assert_int_equal(simple.remote_address, bypass.remote_address);
				assert_ptr_equal(simple.bytes, bypass.payload.spans[0].bytes);
				/* Found last: in the simple form, or in the general one. */
				if (!way)
					assert_true(rma_bypass_simple(&pair.a.qp, 600, &simple));
				psn_counts[way] = rma_bypass_done(&pair.a.qp, pair.now);
				assert_int_equal(psn_counts[way], bypass.psn_count);
				expect_completion(&pair.a, COMPLETION_SUCCESS);
				assert_int_equal(pair.a.qp.requester.reads_outstanding, 0);
				ends[way] = pair.a.qp.requester.next_psn;
				rc_pair_release(&pair);
			}
			assert_int_equal(ends[0].value, ends[1].value);
		}
}

static void test_what_is_not_simple_is_left_alone(void **state)
{
	struct simple_request simple;

	(void)state;
	connect_pair(QP_RC);
	assert_false(rma_bypass_simple(&pair.a.qp, 600, &simple)); /* no request */
	post_write(&pair, &pair.a, &pair.b, 0, 601);
	assert_false(rma_bypass_simple(&pair.a.qp, 600, &simple)); /* too long */
	assert_true(rma_bypass_simple(&pair.a.qp, 601, &simple));
	pair.a.qp.requester.hold = HOLD_ALL;
	assert_false(rma_bypass_simple(&pair.a.qp, 601, &simple)); /* held back */
	rc_pair_release(&pair);

	/* A READ that the queue pair must not send. */
	connect_pair(QP_RC);
	post_read(&pair, &pair.a, &pair.b, 0, 8);
	assert_true(rma_bypass_simple(&pair.a.qp, 600, &simple));
	pair.a.qp.attributes.initiator_depth = 0;
	assert_false(rma_bypass_simple(&pair.a.qp, 600, &simple));
	rc_pair_release(&pair);

	/* A bad L_Key, and two SGEs. */
	struct sge sges[2] = {{.address = 1, .byte_count = 8, .lkey = 0x12345},
			      {.address = 1, .byte_count = 8, .lkey = 0x12345}};
	struct send_request request = {.opcode = SEND_RDMA_WRITE, .sges = sges};

	for (request.sge_count = 1; request.sge_count <= 2; request.sge_count++) {
		connect_pair(QP_RC);
		assert_int_equal(post(&pair, &pair.a, &request), 0);
		assert_false(rma_bypass_simple(&pair.a.qp, 600, &simple));
		rc_pair_release(&pair);
	}
}

/* A request of one SGE, signaled or not, that is not posted yet. */
static struct send_request unposted(enum send_opcode opcode, uint32_t byte_count, uint32_t flags,
				    struct sge *ret_sge)
{
	struct area *area = opcode == SEND_RDMA_READ ? &pair.a.inbox : &pair.a.outbox;

	*ret_sge = area_sge(area, area_take(area, byte_count), byte_count);
	return (struct send_request){
		.wr_id = 77,
		.opcode = opcode,
		.flags = flags,
		.remote_address = (uintptr_t)pair.b.window.bytes + 16,
		.remote_key = pair.b.window.region->key,
		.sge_count = 1,
		.sges = ret_sge,
	};
}

static void carry_out_queued(const struct send_request *request)
{
	struct simple_request simple;

	assert_int_equal(post(&pair, &pair.a, request), 0);
	assert_true(rma_bypass_simple(&pair.a.qp, 600, &simple));
	(void)rma_bypass_done(&pair.a.qp, pair.now);
}

/* Whether the owner may carry out the request instead of posting it. */
static bool may_post(const struct send_request *request, struct simple_request *ret_simple)
{
	const bool is_read = request->opcode == SEND_RDMA_READ;
	struct template_region region = {0};

	if (request->sge_count != 1 || !rma_bypass_is_fit(&pair.a.qp) ||
	    !rma_bypass_is_next(&pair.a.qp))
		return false;
	*ret_simple = (struct simple_request){
		.bytes = rma_bypass_bytes(&pair.a.qp, is_read, request->flags, request->sges, 600,
					  &region),
		.remote_address = request->remote_address,
		.byte_count = request->sges[0].byte_count,
		.remote_key = request->remote_key,
		.is_read = is_read,
		.flags = request->flags,
		.wr_id = request->wr_id,
	};
	return ret_simple->bytes;
}

static void carry_out_unposted(const struct send_request *request)
{
	struct simple_request simple;

	assert_true(may_post(request, &simple));
	assert_ptr_equal(simple.bytes, (void *)(uintptr_t)request->sges[0].address);
	assert_int_equal(simple.byte_count, request->sges[0].byte_count);
	assert_int_equal(simple.remote_address, request->remote_address);
	assert_int_equal(simple.remote_key, request->remote_key);
	assert_int_equal(simple.is_read, request->opcode == SEND_RDMA_READ);
	(void)rma_bypass_posted(&pair.a.qp, pair.now, &simple);
}

/* The state that the request leaves, in either form. */
static void expect_same_requesters(const struct requester *one, const struct requester *other)
{
	assert_int_equal(one->queue.head, other->queue.head);
	assert_int_equal(one->queue.done, other->queue.done);
	assert_int_equal(one->queue.started, other->queue.started);
	assert_int_equal(one->queue.tail, other->queue.tail);
	assert_int_equal(one->cursor, other->cursor);
	assert_int_equal(one->next_psn.value, other->next_psn.value);
	assert_int_equal(one->oldest_psn.value, other->oldest_psn.value);
	assert_int_equal(one->messages_started.value, other->messages_started.value);
	assert_int_equal(one->reads_outstanding, other->reads_outstanding);
	assert_int_equal(one->retry_deadline, other->retry_deadline);
}

static void test_without_a_slot_the_same_is_left_behind(void **state)
{
	static const uint32_t sizes[] = {1, 8, 256, 257, 600};
	static const uint32_t flags[] = {0, SEND_SIGNALED, SEND_FENCE,
					 SEND_SIGNALED | SEND_SOLICITED};
	struct requester ends[2];
	struct completion completions[2];
	struct sge sge;

	(void)state;
	for (unsigned i = 0; i < 2 * ARRAY_COUNT(sizes) * ARRAY_COUNT(flags); i++) {
		enum send_opcode opcode = i % 2 ? SEND_RDMA_READ : SEND_RDMA_WRITE;
		uint32_t byte_count = sizes[i / 2 % ARRAY_COUNT(sizes)];
		uint32_t flag = flags[i / 2 / ARRAY_COUNT(sizes)];

		for (unsigned way = 0; way < 2; way++) {
			connect_pair(QP_RC);
			pair.a.qp.signal_all = false;

			struct send_request request = unposted(opcode, byte_count, flag, &sge);

			(way ? carry_out_unposted : carry_out_queued)(&request);
			ends[way] = pair.a.qp.requester;
			if (flag & SEND_SIGNALED)
				completions[way] = *expect_completion(&pair.a, COMPLETION_SUCCESS);
			expect_no_completion(&pair.a);
			rc_pair_release(&pair);
		}
		expect_same_requesters(&ends[0], &ends[1]);
		if (flag & SEND_SIGNALED) {
			assert_int_equal(completions[0].wr_id, completions[1].wr_id);
			assert_int_equal(completions[0].opcode, completions[1].opcode);
			assert_int_equal(completions[0].byte_count, completions[1].byte_count);
			assert_int_equal(completions[0].qpn, completions[1].qpn);
		}
	}
}

/* Both forms use the same slots: unsignaled requests fill the queue until a signaled one completes,
 * and later requests go to the slots behind. */
static void test_requests_with_and_without_slots_share_the_queue(void **state)
{
	struct endpoint_options options = endpoint_options_default(QP_RC);
	struct simple_request simple;
	struct sge sge;

	(void)state;
	options.send_requests_max = 5;
	options.signal_all = false;
	rc_pair_connect_with(&pair, &options);

	struct send_request request = unposted(SEND_RDMA_WRITE, 8, 0, &sge);

	for (unsigned i = 0; i < 4; i++)
		(i % 2 ? carry_out_unposted : carry_out_queued)(&request);
	expect_no_completion(&pair.a);
	request.flags = SEND_SIGNALED;
	carry_out_unposted(&request);
	assert_int_equal(expect_completion(&pair.a, COMPLETION_SUCCESS)->wr_id, 77);
	request.flags = 0;
	for (unsigned i = 0; i < 5; i++)
		(i % 2 ? carry_out_queued : carry_out_unposted)(&request);
	assert_false(may_post(&request, &simple));
	assert_int_equal(post(&pair, &pair.a, &request), -ENOMEM);
	rc_pair_release(&pair);
}

static void test_a_packet_after_requests_without_slots_is_in_order(void **state)
{
	struct sge sge;

	(void)state;
	connect_pair(QP_RC);

	struct send_request request = unposted(SEND_RDMA_WRITE, 600, 0, &sge);

	assert_true(pair.a.qp.signal_all);
	carry_out_unposted(&request);
	word = rma_progress_word(pair.a.qp.requester.next_psn.value, 1, 1);
	expect_completion(&pair.a, COMPLETION_SUCCESS);
	post_receive(&pair, &pair.b, 64);
	post_send(&pair, &pair.a, 10);
	wire_lose(&pair.a_to_b, 0);
	run_until_idle(&pair);
	expect_wire(&pair.a_to_b, "ONLY@3! ONLY@3");
	expect_completion(&pair.a, COMPLETION_SUCCESS);
	expect_received(&pair.b, COMPLETION_SUCCESS);
	assert_int_equal(pair.b.qp.responder.msn, 2);
	rc_pair_release(&pair);
}

/* The CQ is full: the queue pair goes to Error, and only requests that are posted later are
 * flushed. */
static void test_a_completion_without_room_ends_the_queue_pair(void **state)
{
	struct sge sge;

	(void)state;
	connect_pair(QP_RC);
	pair.a.sent.room = 0;

	struct send_request request = unposted(SEND_RDMA_WRITE, 8, SEND_SIGNALED, &sge);

	carry_out_unposted(&request);
	assert_true(pair.a.qp.has_failed_to_report);
	qp_settle(&pair.a.qp, pair.now);
	assert_int_equal(pair.a.qp.state, QP_ERROR);
	expect_no_completion(&pair.a);
	rc_pair_release(&pair);
}

/* Each request has one fault, which the packet path finds and reports. */
enum obstacle {
	NO_OBSTACLE,
	IN_ERROR,
	IS_DRAINED,
	IS_HELD,
	WAITS_FOR_RNR,
	IS_PACED,
	COUNTS_CREDITS,
	HAS_QUEUED,
	HAS_SENT,
	IS_EMPTY,
	IS_TOO_LONG,
	HAS_TWO_PLACES,
	HAS_BAD_KEY,
	IS_OUT_OF_BOUNDS,
	IS_TOO_LONG_INLINE,
	OBSTACLE_COUNT,
};

static void put_in_the_way(enum obstacle obstacle, struct send_request *request, struct sge *sge)
{
	struct qp *qp = &pair.a.qp;

	switch (obstacle) {
	case NO_OBSTACLE:
	case OBSTACLE_COUNT:
		break;
	case IN_ERROR:
		assert_int_equal(endpoint_set_state(&pair.a, pair.now, QP_ERROR), 0);
		break;
	case IS_DRAINED:
		assert_int_equal(endpoint_set_state(&pair.a, pair.now, QP_SQD), 0);
		break;
	case IS_HELD:
		qp->requester.hold = HOLD_UNTIL_ACKNOWLEDGED;
		break;
	case WAITS_FOR_RNR:
		qp->requester.rnr_deadline = pair.now + 1;
		break;
	case IS_PACED:
		qp->attributes.rate_limit = 1000;
		break;
	case COUNTS_CREDITS:
		qp->requester.credits = CREDITS_COUNTED;
		break;
	case HAS_QUEUED:
		post_write(&pair, &pair.a, &pair.b, 0, 8);
		break;
	case HAS_SENT:
		post_read(&pair, &pair.a, &pair.b, 0, 8);
		rc_pair_transmit(&pair);
		break;
	case IS_EMPTY:
		sge->byte_count = 0;
		break;
	case IS_TOO_LONG:
		sge->byte_count = 601;
		break;
	case HAS_TWO_PLACES:
		request->sge_count = 2;
		break;
	case HAS_BAD_KEY:
		sge->lkey ^= 1;
		break;
	case IS_OUT_OF_BOUNDS:
		sge->address = (uintptr_t)pair.a.outbox.bytes + AREA_BYTES - 4;
		break;
	case IS_TOO_LONG_INLINE:
		request->flags |= SEND_INLINE;
		sge->byte_count = qp->requester.queue.inline_bytes_max + 1u;
		break;
	}
}

static void test_whatever_is_unusual_is_to_be_posted(void **state)
{
	struct simple_request simple;
	struct sge sge[2];

	(void)state;
	for (unsigned obstacle = NO_OBSTACLE; obstacle < OBSTACLE_COUNT; obstacle++) {
		connect_pair(QP_RC);

		struct send_request request =
			unposted(SEND_RDMA_WRITE, 8, SEND_SIGNALED | SEND_FENCE, sge);

		sge[1] = sge[0];
		put_in_the_way(obstacle, &request, sge);

		const struct requester before = pair.a.qp.requester;

		assert_int_equal(may_post(&request, &simple), obstacle == NO_OBSTACLE);
		expect_same_requesters(&before, &pair.a.qp.requester);
		pair.a.qp.requester.hold = HOLD_NONE;
		rc_pair_release(&pair);
	}
}

static void test_only_reads_that_may_be_asked_go_without_a_slot(void **state)
{
	struct simple_request simple;
	struct sge sge;

	(void)state;
	connect_pair(QP_RC);

	struct send_request request = unposted(SEND_RDMA_READ, 8, SEND_SIGNALED, &sge);

	assert_true(may_post(&request, &simple));
	request.flags |= SEND_INLINE;
	assert_false(may_post(&request, &simple));
	request.flags = 0;
	pair.a.qp.attributes.initiator_depth = 0;
	assert_false(may_post(&request, &simple));
	rc_pair_release(&pair);

	connect_pair(QP_UC);
	request = unposted(SEND_RDMA_READ, 8, 0, &sge);
	assert_false(may_post(&request, &simple));
	request = unposted(SEND_RDMA_WRITE, 8, 0, &sge);
	assert_true(may_post(&request, &simple));
	rc_pair_release(&pair);
}

static void test_a_stranger_s_word_is_checked(void **state)
{
	(void)state;
	connect_pair(QP_RC);
	/* Another tag: the word is about another queue pair. */
	word = rma_progress_word(100, 1, 2);
	assert_false(rma_bypass_catch_up(&pair.b.qp));
	assert_int_equal(pair.b.qp.responder.expected_psn.value, 0);
	/* So many messages that the count seems to go backwards. */
	word = rma_progress_word(0xfffff0, 1, 1);
	assert_true(rma_bypass_catch_up(&pair.b.qp));
	assert_int_equal(pair.b.qp.responder.expected_psn.value, 0xfffff0);
	/* In the middle of a message. */
	pair.b.qp.responder.inbound = INBOUND_SEND;
	word = rma_progress_word(5, 2, 1);
	assert_false(rma_bypass_catch_up(&pair.b.qp));
	pair.b.qp.responder.inbound = INBOUND_IDLE;
	assert_true(rma_bypass_catch_up(&pair.b.qp));
	assert_int_equal(pair.b.qp.responder.expected_psn.value, 5);
	/* Once. */
	assert_false(rma_bypass_catch_up(&pair.b.qp));
	rc_pair_release(&pair);
}

static void test_placing_ends_with_every_change_of_the_responder(void **state)
{
	const struct qp_attributes to_error = {.state = QP_ERROR};
	const struct qp_attributes access = {.access = ACCESS_REMOTE_READ};
	const struct qp_ports ports = {.views = pair.b.ports, .count = 1};

	(void)state;
	connect_pair(QP_RC);
	word = rma_progress_word(3, 1, 1);
	assert_int_equal(qp_modify(&pair.b.qp, pair.now, &ports, &access, QP_HAS_ACCESS), 0);
	assert_int_equal(ended, 1);
	/* Requests carried out before count. */
	assert_int_equal(pair.b.qp.responder.expected_psn.value, 3);
	pair.b.qp.responder.placed = &placed;
	assert_int_equal(qp_modify(&pair.b.qp, pair.now, &ports, &to_error, QP_HAS_STATE), 0);
	assert_int_equal(ended, 2);
	rc_pair_release(&pair);
}

static void test_unreliable_messages_after_rma_requests_are_whole(void **state)
{
	unsigned message_count = 0;

	(void)state;
	connect_pair(QP_UC);
	post_write(&pair, &pair.a, &pair.b, 0, 700);
	carry_out(&message_count);
	expect_completion(&pair.a, COMPLETION_SUCCESS);
	post_receive(&pair, &pair.b, 600);
	post_send(&pair, &pair.a, 600);
	run_until_idle(&pair);
	expect_received(&pair.b, COMPLETION_SUCCESS);
	assert_int_equal(pair.b.qp.responder.expected_psn.value, 6);
	rc_pair_release(&pair);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_packets_after_rma_requests_are_in_order),
		cmocka_unit_test(test_a_lost_packet_between_is_still_missed),
		cmocka_unit_test(test_nothing_goes_past_what_is_not_acknowledged),
		cmocka_unit_test(test_requests_that_are_held_are_resent_all_the_same),
		cmocka_unit_test(test_only_sound_one_sided_requests_go),
		cmocka_unit_test(test_simple_requests_are_those_of_the_general_form),
		cmocka_unit_test(test_what_is_not_simple_is_left_alone),
		cmocka_unit_test(test_without_a_slot_the_same_is_left_behind),
		cmocka_unit_test(test_requests_with_and_without_slots_share_the_queue),
		cmocka_unit_test(test_a_packet_after_requests_without_slots_is_in_order),
		cmocka_unit_test(test_a_completion_without_room_ends_the_queue_pair),
		cmocka_unit_test(test_whatever_is_unusual_is_to_be_posted),
		cmocka_unit_test(test_only_reads_that_may_be_asked_go_without_a_slot),
		cmocka_unit_test(test_a_stranger_s_word_is_checked),
		cmocka_unit_test(test_placing_ends_with_every_change_of_the_responder),
		cmocka_unit_test(test_unreliable_messages_after_rma_requests_are_whole),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
