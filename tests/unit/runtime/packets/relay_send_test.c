/* SPDX-License-Identifier: Apache-2.0 */
/* Plain requests relayed by a fake softibd: which of them take the fast way, which do not, and that
 * the bytes and their order are the same. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdlib.h>
#include "runtime/packets/relay_send.h"
#include "net/transport/fast/fast_send.h"
#include "runtime/fast/send_form.h"
#include "unit/runtime/runtime_pair.h"

static void warm_up(void)
{
	pair_set_verdict(RESOLVED_FABRIC);
	for (unsigned i = 0; i < 4; i++)
		pair_send_and_check(8, i);
}

/* Whether relay sends are possible at a moment depends on the progress thread. */
static void test_plain_requests_go_straight_into_the_ring_of_softibd(void **state)
{
	time_ns start = runtime_now();
	uint32_t packets_before;
	unsigned relay_count = 0;

	(void)state;
	warm_up();
	packets_before = pair_fabric_packets();
	for (uint32_t i = 0; relay_count < 100; i++) {
		uint32_t byte_count = i % 1024;

		pair_post_receive(&pair.ends[1], i, 2048);
		relay_count += pair_post_as_verbs(byte_count, 0, 100 + i);
		pair_take_both(byte_count, 100 + i);
		assert_false(pair_is_overdue(start));
	}
	assert_true(pair_fabric_packets() - packets_before >= 100);
	assert_true(adapter_sends_through_softibd(pair.ends[0].adapter));
}

static void test_messages_of_any_size_keep_their_order(void **state)
{
	(void)state;
	warm_up();
	for (uint32_t i = 0; i < 100; i++) {
		uint32_t byte_count = i % 3 ? i : 5000 + i;

		pair_post_receive(&pair.ends[1], i, 8192);
		(void)pair_post_as_verbs(byte_count, 0, 300 + i);
		pair_take_both(byte_count, 300 + i);
	}
}

static void test_a_fast_path_that_is_off_changes_nothing_else(void **state)
{
	(void)state;
	warm_up();
	pair_runtime()->may_go_fast = false;
	for (uint32_t i = 0; i < 20; i++) {
		pair_post_receive(&pair.ends[1], i, 64);
		assert_false(pair_post_as_verbs(8, 0, i));
		pair_take_both(8, i);
	}
	pair_runtime()->may_go_fast = true;
}

static bool may_relay(const struct flow *flow)
{
	struct pair_end *end = &pair.ends[0];
	struct fast_packet packet = {.byte_count = 28, .packet_count = 1};
	const struct send_request request = {.opcode = SEND_SEND};
	const uint32_t tail = end->qp->qp.requester.queue.tail;
	const bool is_posted = relay_send_post(end->adapter, &end->qp->qp, flow, &request, &packet,
					       adapter_now(end->adapter));

	assert_int_equal(end->qp->qp.requester.queue.tail, tail + is_posted);
	return is_posted;
}

/* A sender that has a ring to the peer uses the ring. */
static void test_a_connection_that_may_have_a_ring_does_not_use_it(void **state)
{
	struct pair_end *end = &pair.ends[0];

	(void)state;
	warm_up();
	pair_set_verdict(RESOLVED_DIRECT);
	for (unsigned i = 0; i < 4; i++)
		pair_send_and_check(8, i);
	adapter_lock(end->adapter);
	assert_false(may_relay(end->qp->qp.owner_route));
	assert_false(may_relay(NULL));
	adapter_unlock(end->adapter);
}

/* An answer of softibd holds for one generation and for a limited time. The form may be off, and
 * packets that wait for room in the up ring go first. */
static void test_requests_that_may_not_be_relayed_now_are_left(void **state)
{
	struct pair_end *end = &pair.ends[0];
	struct list other;

	(void)state;
	warm_up();
	adapter_lock(end->adapter);

	struct flow *flow = end->qp->qp.owner_route;
	const struct flow before = *flow;

	assert_true(flow->state == FLOW_FABRIC || flow->state == FLOW_FABRIC_ALWAYS);
	flow->state = FLOW_FABRIC;
	flow->generation--;
	assert_false(may_relay(flow));
	flow->generation++;
	flow->ask_at = 0;
	assert_false(may_relay(flow));
	*flow = before;
	pair_runtime()->forms &= ~(1u << FORM_RELAYED);
	assert_false(may_relay(flow));
	pair_runtime()->forms = SEND_FORMS_ALL;
	list_init(&other);
	list_append(&pair_runtime()->softibd.waiting, &other);
	assert_false(may_relay(flow));
	list_remove(&other);
	adapter_unlock(end->adapter);
	pair_send_and_check(8, 5);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_plain_requests_go_straight_into_the_ring_of_softibd),
		cmocka_unit_test(test_messages_of_any_size_keep_their_order),
		cmocka_unit_test(test_a_fast_path_that_is_off_changes_nothing_else),
		cmocka_unit_test(test_a_connection_that_may_have_a_ring_does_not_use_it),
		cmocka_unit_test(test_requests_that_may_not_be_relayed_now_are_left),
	};

	return cmocka_run_group_tests(tests, pair_start_connected, pair_end_all);
}
