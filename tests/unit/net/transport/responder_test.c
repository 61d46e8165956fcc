/* SPDX-License-Identifier: Apache-2.0 */
/* Dialogues with the responder of a reliable connection: what it accepts, acknowledges and refuses
 * (transport 5.2, 5.4, 5.6).
 * Covers: net/transport/execution.c */
#include "support/rc_pair.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include "wire/mtu.h"

static struct rc_pair pair;

static void test_send_is_delivered_and_acknowledged(void **state)
{
	(void)state;
	rc_pair_connect(&pair, MTU_256);

	uint8_t *received = post_receive(&pair, &pair.b, 1000);
	const uint8_t *sent = post_send(&pair, &pair.a, 600);

	run_until_idle(&pair);
	expect_wire(&pair.a_to_b, "FIRST@0 MIDDLE@1 LAST@2");
	expect_wire(&pair.b_to_a, "ACK@2");
	assert_int_equal(expect_completion(&pair.a, COMPLETION_SUCCESS)->opcode, COMPLETED_SEND);

	const struct completion *completion = expect_received(&pair.b, COMPLETION_SUCCESS);

	assert_int_equal(completion->byte_count, 600);
	assert_int_equal(completion->opcode, COMPLETED_RECEIVE);
	assert_int_equal(completion->flags, 0);
	assert_memory_equal(received, sent, 600);
	assert_int_equal(received[600], 0);
	rc_pair_release(&pair);
}

static void test_send_of_no_bytes_is_an_empty_only(void **state)
{
	(void)state;
	rc_pair_connect(&pair, MTU_256);
	post_receive(&pair, &pair.b, 0);
	post_send(&pair, &pair.a, 0);
	run_until_idle(&pair);
	expect_wire(&pair.a_to_b, "ONLY@0");
	expect_completion(&pair.a, COMPLETION_SUCCESS);
	assert_int_equal(expect_received(&pair.b, COMPLETION_SUCCESS)->byte_count, 0);
	rc_pair_release(&pair);
}

static void test_immediate_and_solicited_come_with_the_last_packet(void **state)
{
	(void)state;
	rc_pair_connect(&pair, MTU_256);
	post_receive(&pair, &pair.b, 512);
	post_send_as(&pair, &pair.a, SEND_SEND_IMMEDIATE, SEND_SOLICITED, 300);
	run_until_idle(&pair);
	expect_wire(&pair.a_to_b, "FIRST@0 LAST_IMMEDIATE@1");

	const struct completion *completion = expect_received(&pair.b, COMPLETION_SUCCESS);

	assert_int_equal(completion->flags, COMPLETION_HAS_IMMEDIATE);
	assert_int_equal(completion->immediate_or_rkey, 0x12345678);
	assert_true(completion->is_solicited);
	rc_pair_release(&pair);
}

static void test_write_lands_in_the_window_and_tells_nobody(void **state)
{
	(void)state;
	rc_pair_connect(&pair, MTU_256);

	const uint8_t *sent = post_write(&pair, &pair.a, &pair.b, 100, 700);

	run_until_idle(&pair);
	expect_wire(&pair.a_to_b, "WRITE_FIRST@0 WRITE_MIDDLE@1 WRITE_LAST@2");
	expect_wire(&pair.b_to_a, "ACK@2");
	assert_memory_equal(pair.b.window.bytes + 100, sent, 700);
	assert_int_equal(pair.b.window.bytes[99], 0);
	assert_int_equal(pair.b.window.bytes[800], 0);
	assert_int_equal(expect_completion(&pair.a, COMPLETION_SUCCESS)->opcode, COMPLETED_WRITE);
	expect_nothing_received(&pair.b);
	rc_pair_release(&pair);
}

static struct send_request write_request(const struct sge *sge, enum send_opcode opcode)
{
	return (struct send_request){
		.opcode = opcode,
		.remote_address = (uintptr_t)pair.b.window.bytes,
		.remote_key = pair.b.window.region->key,
		.immediate_or_rkey = 7,
		.sge_count = 1,
		.sges = sge,
	};
}

static void test_write_with_immediate_takes_a_receive_but_not_its_buffer(void **state)
{
	(void)state;
	rc_pair_connect(&pair, MTU_256);

	uint8_t *received = post_receive(&pair, &pair.b, 64);
	uint8_t *bytes = area_take(&pair.a.outbox, 300);
	struct sge sge = area_sge(&pair.a.outbox, bytes, 300);
	struct send_request request = write_request(&sge, SEND_RDMA_WRITE_IMMEDIATE);

	fill_pattern(bytes, 300, 1);
	assert_int_equal(post(&pair, &pair.a, &request), 0);
	run_until_idle(&pair);
	expect_wire(&pair.a_to_b, "WRITE_FIRST@0 WRITE_LAST_IMMEDIATE@1");

	const struct completion *completion = expect_received(&pair.b, COMPLETION_SUCCESS);

	assert_int_equal(completion->opcode, COMPLETED_RECEIVE_WRITE_IMMEDIATE);
	assert_int_equal(completion->byte_count, 300);
	assert_int_equal(completion->immediate_or_rkey, 7);
	assert_memory_equal(pair.b.window.bytes, bytes, 300);
	assert_int_equal(received[0], 0);
	rc_pair_release(&pair);
}

static void test_lost_middle_packet_is_naked_once_and_resumed_from_there(void **state)
{
	(void)state;
	rc_pair_connect(&pair, MTU_256);

	uint8_t *received = post_receive(&pair, &pair.b, 1200);
	const uint8_t *sent = post_send(&pair, &pair.a, 1200);

	wire_lose(&pair.a_to_b, 1);
	run_until_idle(&pair);
	expect_wire(&pair.a_to_b,
		    "FIRST@0 MIDDLE@1! MIDDLE@2 MIDDLE@3 LAST@4 MIDDLE@1 MIDDLE@2 MIDDLE@3 LAST@4");
	expect_wire(&pair.b_to_a, "NAK_SEQUENCE@1 ACK@4");
	expect_completion(&pair.a, COMPLETION_SUCCESS);
	expect_received(&pair.b, COMPLETION_SUCCESS);
	assert_memory_equal(received, sent, 1200);
	rc_pair_release(&pair);
}

/* One ACK for five messages, and the MSN counts each (transport 3.5, 4.2). */
static void test_acknowledgements_are_coalesced(void **state)
{
	(void)state;
	rc_pair_connect(&pair, MTU_256);
	for (int i = 0; i < 5; i++) {
		post_receive(&pair, &pair.b, 64);
		post_send(&pair, &pair.a, 64);
	}
	run_until_idle(&pair);
	expect_wire(&pair.a_to_b, "ONLY@0 ONLY@1 ONLY@2 ONLY@3 ONLY@4");
	expect_wire(&pair.b_to_a, "ACK@4");
	for (int i = 0; i < 5; i++)
		expect_completion(&pair.a, COMPLETION_SUCCESS);
	assert_int_equal(pair.b.qp.responder.msn, 5);
	rc_pair_release(&pair);
}

static void test_first_packet_in_rtr_establishes_once(void **state)
{
	struct endpoint_options options = endpoint_options_default(QP_RC);

	(void)state;
	rc_pair_init(&pair, &options, &options);
	endpoint_to_init(&pair.a);
	endpoint_to_init(&pair.b);
	endpoint_to_rtr(&pair.a, &pair.b);
	endpoint_to_rtr(&pair.b, &pair.a);
	endpoint_to_rts(&pair.a);
	post_receive(&pair, &pair.b, 64);
	post_receive(&pair, &pair.b, 64);
	post_send(&pair, &pair.a, 10);
	post_send(&pair, &pair.a, 10);
	run_until_idle(&pair);
	expect_event(&pair.b, QP_EVENT_ESTABLISHED);
	expect_no_event(&pair.b);
	expect_received(&pair.b, COMPLETION_SUCCESS);
	expect_received(&pair.b, COMPLETION_SUCCESS);
	rc_pair_release(&pair);
}

/* Both ends after a request that broke the connection. */
static void expect_broken(enum completion_status requester_status)
{
	expect_completion(&pair.a, requester_status);
	assert_int_equal(pair.a.qp.state, QP_ERROR);
	assert_int_equal(pair.b.qp.state, QP_ERROR);
	rc_pair_release(&pair);
}

static void test_message_longer_than_the_receive_is_an_invalid_request(void **state)
{
	(void)state;
	rc_pair_connect(&pair, MTU_256);
	post_receive(&pair, &pair.b, 299);
	post_send(&pair, &pair.a, 300);
	run_until_idle(&pair);
	expect_wire(&pair.b_to_a, "NAK_INVALID@1");
	expect_received(&pair.b, COMPLETION_LOCAL_LENGTH);
	expect_no_event(&pair.b);
	expect_broken(COMPLETION_REMOTE_INVALID_REQUEST);
}

static void test_receive_with_a_dead_key_is_a_remote_operational_error(void **state)
{
	(void)state;
	rc_pair_connect(&pair, MTU_256);
	post_receive(&pair, &pair.b, 300);
	post_receive(&pair, &pair.b, 300);
	assert_int_equal(region_deregister(&pair.b.memory, pair.b.inbox.region), 0);
	post_send(&pair, &pair.a, 300);
	run_until_idle(&pair);
	expect_wire(&pair.b_to_a, "NAK_OPERATIONAL@0");
	expect_received(&pair.b, COMPLETION_LOCAL_PROTECTION);
	expect_received(&pair.b, COMPLETION_FLUSHED);
	expect_broken(COMPLETION_REMOTE_OPERATION);
}

static void test_write_beyond_the_region_is_refused_whole(void **state)
{
	(void)state;
	rc_pair_connect(&pair, MTU_256);
	post_write(&pair, &pair.a, &pair.b, AREA_BYTES - 511, 512);
	run_until_idle(&pair);
	expect_wire(&pair.b_to_a, "NAK_ACCESS@0");
	/* The first packet would have fitted. */
	assert_int_equal(pair.b.window.bytes[AREA_BYTES - 511], 0);
	expect_event(&pair.b, QP_EVENT_ACCESS_ERROR);
	expect_nothing_received(&pair.b);
	expect_broken(COMPLETION_REMOTE_ACCESS);
}

static void test_write_up_to_the_region_s_end_is_fine(void **state)
{
	(void)state;
	rc_pair_connect(&pair, MTU_256);
	post_write(&pair, &pair.a, &pair.b, AREA_BYTES - 512, 512);
	run_until_idle(&pair);
	expect_completion(&pair.a, COMPLETION_SUCCESS);
	rc_pair_release(&pair);
}

static void post_one_sided(enum send_opcode opcode, uint32_t rkey)
{
	uint8_t *bytes = area_take(&pair.a.outbox, 8);
	struct sge sge = area_sge(&pair.a.outbox, bytes, 8);
	struct send_request request = write_request(&sge, opcode);

	request.remote_key = rkey;
	assert_int_equal(post(&pair, &pair.a, &request), 0);
	run_until_idle(&pair);
}

static const struct {
	enum send_opcode opcode;
	uint32_t right;
} one_sided[] = {
	{SEND_RDMA_WRITE, ACCESS_REMOTE_WRITE},
	{SEND_RDMA_READ, ACCESS_REMOTE_READ},
	{SEND_COMPARE_SWAP, ACCESS_REMOTE_ATOMIC},
	{SEND_FETCH_ADD, ACCESS_REMOTE_ATOMIC},
};

static const uint32_t rights[] = {ACCESS_REMOTE_WRITE, ACCESS_REMOTE_READ, ACCESS_REMOTE_ATOMIC};

/* Every operation against a queue pair that lacks each right in turn (transport 5.2). */
static void test_queue_pair_rights_gate_each_operation(void **state)
{
	(void)state;
	for (unsigned i = 0; i < ARRAY_COUNT(one_sided); i++) {
		for (unsigned j = 0; j < ARRAY_COUNT(rights); j++) {
			struct endpoint_options options = endpoint_options_default(QP_RC);

			options.access &= ~rights[j];
			rc_pair_connect_with(&pair, &options);
			post_one_sided(one_sided[i].opcode, pair.b.window.region->key);
			if (rights[j] != one_sided[i].right) {
				expect_completion(&pair.a, COMPLETION_SUCCESS);
				rc_pair_release(&pair);
				continue;
			}
			expect_wire(&pair.b_to_a, "NAK_INVALID@0");
			expect_event(&pair.b, QP_EVENT_REQUEST_ERROR);
			expect_broken(COMPLETION_REMOTE_INVALID_REQUEST);
		}
	}
}

static void test_region_rights_gate_each_operation(void **state)
{
	(void)state;
	for (unsigned i = 0; i < ARRAY_COUNT(one_sided); i++) {
		for (unsigned j = 0; j < ARRAY_COUNT(rights); j++) {
			struct region *region;

			rc_pair_connect(&pair, MTU_256);
			assert_int_equal(region_register(&pair.b.memory, &pair.b.pd,
							 pair.b.window.bytes, 64,
							 (uintptr_t)pair.b.window.bytes,
							 0xf & ~rights[j], &region),
					 0);
			post_one_sided(one_sided[i].opcode, region->key);
			if (rights[j] != one_sided[i].right) {
				expect_completion(&pair.a, COMPLETION_SUCCESS);
				rc_pair_release(&pair);
				continue;
			}
			expect_wire(&pair.b_to_a, "NAK_ACCESS@0");
			expect_event(&pair.b, QP_EVENT_ACCESS_ERROR);
			expect_broken(COMPLETION_REMOTE_ACCESS);
		}
	}
}

static void test_key_of_another_domain_is_refused(void **state)
{
	struct protection_domain other = {0};
	struct region *region;

	(void)state;
	rc_pair_connect(&pair, MTU_256);
	assert_int_equal(region_register(&pair.b.memory, &other, pair.b.window.bytes, 64,
					 (uintptr_t)pair.b.window.bytes, 0xf, &region),
			 0);
	post_one_sided(SEND_RDMA_WRITE, region->key);
	expect_wire(&pair.b_to_a, "NAK_ACCESS@0");
	expect_broken(COMPLETION_REMOTE_ACCESS);
}

static void test_key_with_another_tag_is_refused(void **state)
{
	(void)state;
	rc_pair_connect(&pair, MTU_256);
	post_one_sided(SEND_RDMA_READ, pair.b.window.region->key ^ 1);
	expect_wire(&pair.b_to_a, "NAK_ACCESS@0");
	expect_broken(COMPLETION_REMOTE_ACCESS);
}

static void test_no_bytes_need_no_key(void **state)
{
	struct send_request request = {.opcode = SEND_RDMA_WRITE, .remote_key = 0xdead};

	(void)state;
	rc_pair_connect(&pair, MTU_256);
	assert_int_equal(post(&pair, &pair.a, &request), 0);
	request.opcode = SEND_RDMA_READ;
	assert_int_equal(post(&pair, &pair.a, &request), 0);
	run_until_idle(&pair);
	expect_completion(&pair.a, COMPLETION_SUCCESS);
	expect_completion(&pair.a, COMPLETION_SUCCESS);
	rc_pair_release(&pair);
}

static void test_failed_write_with_immediate_tells_its_receive(void **state)
{
	(void)state;
	rc_pair_connect(&pair, MTU_256);
	post_receive(&pair, &pair.b, 64);
	post_one_sided(SEND_RDMA_WRITE_IMMEDIATE, 0xdead);
	expect_received(&pair.b, COMPLETION_LOCAL_ACCESS);
	expect_no_event(&pair.b);
	expect_broken(COMPLETION_REMOTE_ACCESS);
}

static void test_misaligned_atomic_is_an_invalid_request(void **state)
{
	struct sge sge;

	(void)state;
	rc_pair_connect(&pair, MTU_256);
	sge = area_sge(&pair.a.inbox, area_take(&pair.a.inbox, 8), 8);

	struct send_request request = write_request(&sge, SEND_FETCH_ADD);

	request.remote_address += 4;
	assert_int_equal(post(&pair, &pair.a, &request), 0);
	run_until_idle(&pair);
	expect_wire(&pair.b_to_a, "NAK_INVALID@0");
	expect_broken(COMPLETION_REMOTE_INVALID_REQUEST);
}

static void test_region_gone_in_mid_write_ends_it(void **state)
{
	(void)state;
	rc_pair_connect(&pair, MTU_256);
	post_write(&pair, &pair.a, &pair.b, 0, 700);
	wire_lose(&pair.a_to_b, 1);
	run_until(&pair, pair.now + MICROSECONDS(1));
	assert_int_equal(region_deregister(&pair.b.memory, pair.b.window.region), 0);
	run_until_idle(&pair);
	expect_wire(&pair.b_to_a, "NAK_SEQUENCE@1 NAK_ACCESS@1");
	assert_int_equal(pair.b.window.bytes[256], 0);
	expect_event(&pair.b, QP_EVENT_ACCESS_ERROR);
	expect_broken(COMPLETION_REMOTE_ACCESS);
}

static void test_invalidate_of_a_region_is_refused_in_silence(void **state)
{
	struct endpoint_options options = endpoint_options_default(QP_RC);

	(void)state;
	options.retry_count = 1;
	rc_pair_connect_with(&pair, &options);
	post_receive(&pair, &pair.b, 64);
	post_send_as(&pair, &pair.a, SEND_SEND_INVALIDATE, 0, 10);
	run_until_idle(&pair);
	expect_wire(&pair.a_to_b, "ONLY_INVALIDATE@0 ONLY_INVALIDATE@0");
	expect_wire(&pair.b_to_a, "");
	expect_received(&pair.b, COMPLETION_LOCAL_QP_OPERATION);
	expect_broken(COMPLETION_RETRY_EXCEEDED);
}

static void test_overflowing_cq_breaks_the_queue_pair_without_an_answer(void **state)
{
	struct endpoint_options options = endpoint_options_default(QP_RC);

	(void)state;
	options.retry_count = 0;
	rc_pair_connect_with(&pair, &options);
	pair.b.received.room = 0;
	post_receive(&pair, &pair.b, 64);
	post_send(&pair, &pair.a, 10);
	run_until_idle(&pair);
	expect_wire(&pair.b_to_a, "");
	expect_event(&pair.b, QP_EVENT_FATAL);
	expect_broken(COMPLETION_RETRY_EXCEEDED);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_send_is_delivered_and_acknowledged),
		cmocka_unit_test(test_send_of_no_bytes_is_an_empty_only),
		cmocka_unit_test(test_immediate_and_solicited_come_with_the_last_packet),
		cmocka_unit_test(test_write_lands_in_the_window_and_tells_nobody),
		cmocka_unit_test(test_write_with_immediate_takes_a_receive_but_not_its_buffer),
		cmocka_unit_test(test_lost_middle_packet_is_naked_once_and_resumed_from_there),
		cmocka_unit_test(test_acknowledgements_are_coalesced),
		cmocka_unit_test(test_first_packet_in_rtr_establishes_once),
		cmocka_unit_test(test_message_longer_than_the_receive_is_an_invalid_request),
		cmocka_unit_test(test_receive_with_a_dead_key_is_a_remote_operational_error),
		cmocka_unit_test(test_write_beyond_the_region_is_refused_whole),
		cmocka_unit_test(test_write_up_to_the_region_s_end_is_fine),
		cmocka_unit_test(test_queue_pair_rights_gate_each_operation),
		cmocka_unit_test(test_region_rights_gate_each_operation),
		cmocka_unit_test(test_key_of_another_domain_is_refused),
		cmocka_unit_test(test_key_with_another_tag_is_refused),
		cmocka_unit_test(test_no_bytes_need_no_key),
		cmocka_unit_test(test_failed_write_with_immediate_tells_its_receive),
		cmocka_unit_test(test_misaligned_atomic_is_an_invalid_request),
		cmocka_unit_test(test_region_gone_in_mid_write_ends_it),
		cmocka_unit_test(test_invalidate_of_a_region_is_refused_in_silence),
		cmocka_unit_test(test_overflowing_cq_breaks_the_queue_pair_without_an_answer),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
