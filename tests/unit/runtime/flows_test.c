/* SPDX-License-Identifier: Apache-2.0 */
/* Flows: the table, and the effect of each answer of softibd. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include "runtime/channel.h"
#include "runtime/flows.h"
#include "net/transport/qp.h"
#include "wire/mtu.h"

enum { GENERATION = 5 };

static struct flow_counters counters[FLOW_SLOTS];
static struct flow_table table;
static struct channel channel;
static unsigned wakes;

static const struct qp_route route = {
	.port_number = 2, .sl = 3, .dlid = 7, .pkey = 0xffff, .destination_qpn = 0x1234};

static int setup(void **state)
{
	(void)state;
	wakes = 0;
	channel_init(&channel, 9);
	return flow_table_init(&table, counters);
}

static int teardown(void **state)
{
	(void)state;
	flow_table_release(&table);
	return 0;
}

static void count_wake(void *context, struct flow *flow)
{
	(void)context;
	(void)flow;
	wakes++;
}

static struct flow *asked_flow(void)
{
	struct flow *flow = flow_table_get(&table, flow_key_of(1, &route), route.destination_qpn);

	flow_ask(flow, GENERATION);
	return flow;
}

static struct resolve_answer answer_of(const struct flow *flow, enum resolve_verdict verdict)
{
	return (struct resolve_answer){
		.request_id = flow->index,
		.generation = GENERATION,
		.verdict = verdict,
		.ring_id = 9,
		.flow_slot = 17,
		.mtu_code = MTU_2048,
		.destination_port = 0x0301,
	};
}

static void test_question_says_all_that_the_flow_is_about(void **state)
{
	struct flow *flow = flow_table_get(&table, flow_key_of(1, &route), route.destination_qpn);
	struct resolve_request request = flow_ask(flow, GENERATION);

	(void)state;
	assert_int_equal(flow->state, FLOW_RESOLVING);
	assert_int_equal(request.request_id, flow->index);
	assert_int_equal(request.generation, GENERATION);
	assert_int_equal(request.destination_qpn, 0x1234);
	assert_int_equal(request.dlid, 7);
	assert_int_equal(request.pkey, 0xffff);
	assert_int_equal(request.source_port, 0x0102);
	assert_int_equal(request.sl, 3);
}

static void test_every_part_of_the_key_makes_another_flow(void **state)
{
	struct qp_route routes[6];
	struct flow *flow = flow_table_get(&table, flow_key_of(1, &route), route.destination_qpn);

	(void)state;
	for (unsigned i = 0; i < ARRAY_COUNT(routes); i++)
		routes[i] = route;
	routes[0].port_number = 1;
	routes[1].sl = 4;
	routes[2].dlid = 8;
	routes[3].pkey = 0x7fff;
	routes[4].destination_qpn += QPN_BLOCK;
	for (unsigned i = 0; i < 5; i++)
		assert_ptr_not_equal(flow_table_get(&table, flow_key_of(1, &routes[i]),
						    routes[i].destination_qpn),
				     flow);
	assert_ptr_not_equal(flow_table_get(&table, flow_key_of(2, &route), route.destination_qpn),
			     flow);
	/* The same block is the same process. */
	routes[5].destination_qpn = 0x1235;
	assert_ptr_equal(flow_table_get(&table, flow_key_of(1, &routes[5]), 0x1235), flow);
}

static void test_table_grows_and_finds_all(void **state)
{
	enum { COUNT = 5000 };
	struct qp_route other = route;

	(void)state;
	for (unsigned i = 0; i < COUNT; i++) {
		other.dlid = (uint16_t)(1 + i);
		assert_int_equal(flow_table_get(&table, flow_key_of(0, &other), 0x1234)->index, i);
	}
	for (unsigned i = 0; i < COUNT; i++) {
		other.dlid = (uint16_t)(1 + i);
		assert_int_equal(flow_table_get(&table, flow_key_of(0, &other), 0x1234)->index, i);
		assert_int_equal(flow_table_at(&table, i)->index, i);
	}
	assert_null(flow_table_at(&table, COUNT));
	assert_null(flow_table_at(&table, UINT32_MAX));
}

static void test_multicast_never_asks(void **state)
{
	struct qp_route multicast = route;

	(void)state;
	multicast.dlid = 0xc001;
	multicast.destination_qpn = 0xffffff;
	assert_int_equal(flow_table_get(&table, flow_key_of(0, &multicast), 0xffffff)->state,
			 FLOW_FABRIC_ALWAYS);
}

static void test_fabric_answer_holds_until_the_generation_changes(void **state)
{
	struct flow *flow = asked_flow();
	struct resolve_answer answer = answer_of(flow, RESOLVED_FABRIC);

	(void)state;
	flow_answer(&table, flow, &answer, NULL, GENERATION, 1000);
	assert_int_equal(flow->state, FLOW_FABRIC);
	assert_int_equal(flow->generation, GENERATION);
	assert_true(flow->ask_at == TIME_NEVER);
}

static void test_direct_answer_waits_for_its_ring(void **state)
{
	struct flow *flow = asked_flow();
	struct resolve_answer answer = answer_of(flow, RESOLVED_DIRECT);

	(void)state;
	flow_answer(&table, flow, &answer, &channel, GENERATION, 1000);
	assert_int_equal(flow->state, FLOW_RING_WANTED);
	channel.state = CHANNEL_OPEN;
	flow_table_channel_opened(&table, &channel, count_wake, NULL);
	assert_int_equal(flow->state, FLOW_DIRECT);
	assert_int_equal(wakes, 1);
	assert_int_equal(flow->mtu, 2048);
	assert_int_equal(flow->destination_port, 0x0301);
	flow_count(flow, 3, 70);
	assert_int_equal(counters[17].packets, 3);
	assert_int_equal(counters[17].words, 70);

	flow_table_forget_channel(&table, &channel, count_wake, NULL);
	assert_int_equal(flow->state, FLOW_UNRESOLVED);
	assert_null(flow->channel);
	assert_int_equal(wakes, 2);
}

static void test_answer_of_an_old_generation_is_asked_for_again(void **state)
{
	struct flow *flow = asked_flow();
	struct resolve_answer answer = answer_of(flow, RESOLVED_DIRECT);

	(void)state;
	channel.state = CHANNEL_OPEN;
	flow_answer(&table, flow, &answer, &channel, GENERATION + 1, 1000);
	assert_int_equal(flow->state, FLOW_HOLDING);
}

static void test_nonsense_in_an_answer_never_makes_a_flow_direct(void **state)
{
	(void)state;
	channel.state = CHANNEL_OPEN;
	for (unsigned i = 0; i < 4; i++) {
		struct flow *flow = asked_flow();
		struct resolve_answer answer = answer_of(flow, RESOLVED_DIRECT);

		if (i == 0)
			answer.flow_slot = FLOW_SLOTS;
		if (i == 1)
			answer.mtu_code = 0;
		if (i == 2)
			answer.mtu_code = 6;
		flow_answer(&table, flow, &answer, i == 3 ? NULL : &channel, GENERATION, 1000);
		assert_int_not_equal(flow->state, FLOW_DIRECT);
		list_remove(&flow->holding);
	}
}

/* Packets of this process are still on their way: wait a little for them, then send through the
 * fabric and ask again much later. */
static void test_retry_holds_a_few_times_then_goes_by_the_fabric(void **state)
{
	struct flow *flow = asked_flow();
	struct resolve_answer answer = answer_of(flow, RESOLVED_FABRIC_RETRY);
	time_ns now = 1000, held_ns = 0;
	unsigned holds = 0;

	(void)state;
	for (;; holds++) {
		flow_answer(&table, flow, &answer, NULL, GENERATION, now);
		if (flow->state != FLOW_HOLDING)
			break;
		assert_true(flow_table_deadline(&table) == flow->ask_at);
		assert_true(flow->ask_at > now);
		flow_table_expire(&table, flow->ask_at - 1, count_wake, NULL);
		assert_int_equal(flow->state, FLOW_HOLDING);
		held_ns += flow->ask_at - now;
		now = flow->ask_at;
		flow_table_expire(&table, now, count_wake, NULL);
		assert_int_equal(flow->state, FLOW_UNRESOLVED);
		flow_ask(flow, GENERATION);
	}
	assert_int_equal(flow->state, FLOW_FABRIC);
	assert_true(flow_table_deadline(&table) == TIME_NEVER);
	assert_int_equal(wakes, holds);
	assert_in_range(holds, 2, 10);
	assert_true(held_ns < MILLISECONDS(10));
	assert_true(flow->ask_at > now && flow->ask_at != TIME_NEVER);
}

static void test_answer_nobody_asked_for_changes_nothing(void **state)
{
	struct flow *flow = flow_table_get(&table, flow_key_of(1, &route), route.destination_qpn);
	struct resolve_answer answer = answer_of(flow, RESOLVED_DIRECT);

	(void)state;
	channel.state = CHANNEL_OPEN;
	flow_answer(&table, flow, &answer, &channel, GENERATION, 1000);
	assert_int_equal(flow->state, FLOW_UNRESOLVED);
}

#define flow_test(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

/* Flows that have waiting packets or an open question stay; the others make room, and their indexes
 * are used again. */
static void test_idle_flows_are_forgotten_and_others_stay(void **state)
{
	enum { COUNT = 500 };
	struct qp_route other = route;
	struct list waiter;

	(void)state;
	list_init(&waiter);

	struct flow *asked = asked_flow();
	uint32_t asked_index = asked->index;

	for (uint16_t i = 0; i < COUNT; i++) {
		other.dlid = (uint16_t)(0x100 + i);
		flow_table_get(&table, flow_key_of(0, &other), 0x1234);
	}
	other.dlid = 0x100 + 7;

	struct flow *waited = flow_table_get(&table, flow_key_of(0, &other), 0x1234);

	list_append(&waited->waiting, &waiter);
	flow_table_forget_idle(&table);
	assert_int_equal(table.live_count, 2);
	assert_ptr_equal(flow_table_at(&table, asked_index), asked);
	assert_ptr_equal(flow_table_get(&table, flow_key_of(1, &route), route.destination_qpn),
			 asked);
	assert_ptr_equal(flow_table_get(&table, flow_key_of(0, &other), 0x1234), waited);
	for (uint16_t i = 0; i < 2 * COUNT; i++) {
		other.dlid = (uint16_t)(0x1000 + i);

		struct flow *flow = flow_table_get(&table, flow_key_of(0, &other), 0x1234);

		assert_ptr_equal(flow_table_at(&table, flow->index), flow);
	}
	assert_int_equal(table.live_count, 2 * COUNT + 2);
	assert_int_equal(table.count, 2 * COUNT + 2);
	list_remove(&waiter);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		flow_test(test_question_says_all_that_the_flow_is_about),
		flow_test(test_every_part_of_the_key_makes_another_flow),
		flow_test(test_table_grows_and_finds_all),
		flow_test(test_multicast_never_asks),
		flow_test(test_fabric_answer_holds_until_the_generation_changes),
		flow_test(test_direct_answer_waits_for_its_ring),
		flow_test(test_answer_of_an_old_generation_is_asked_for_again),
		flow_test(test_nonsense_in_an_answer_never_makes_a_flow_direct),
		flow_test(test_retry_holds_a_few_times_then_goes_by_the_fabric),
		flow_test(test_answer_nobody_asked_for_changes_nothing),
		flow_test(test_idle_flows_are_forgotten_and_others_stay),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
