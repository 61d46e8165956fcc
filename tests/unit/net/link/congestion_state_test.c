/* SPDX-License-Identifier: Apache-2.0 */
/* Congestion control: which packets are marked, how an index rises and falls, and the delay
 * (transport 8.13). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>

#include "net/link/congestion_state.h"
#include "net/link/detail_counters.h"
#include "net/link/port_queues.h"

enum { SL = 5 };

static void port_with(struct port *port, struct congestion_marking marking)
{
	*port = (struct port){.kind = PORT_OF_SWITCH};
	assert_int_equal(port_queues_create(port), 0);
	assert_int_equal(port_set_marking(port, &marking), 0);
	port->queues->vls[0].fccl = 2000;
}

static void port_end(struct port *port)
{
	port_release_congestion(port);
	port_release_details(port);
	port_queues_destroy(port);
}

static void test_threshold_says_how_much_may_wait(void **state)
{
	(void)state;
	for (uint8_t threshold = 0; threshold <= 15; threshold++) {
		struct port port;
		unsigned first = 0;

		port_with(&port, (struct congestion_marking){.threshold = threshold});
		for (unsigned blocks = 0; blocks <= 4096 && !first; blocks++) {
			port.queues->vls[0].block_count = blocks;
			if (port_marks_congestion(&port, 0, 1, 0))
				first = blocks;
		}
		assert_int_equal(first, threshold ? 128 * (16 - threshold) : 0);
		port_end(&port);
	}
}

static void test_one_of_rate_and_one_is_marked(void **state)
{
	struct port port;
	unsigned marked = 0;

	(void)state;
	port_with(&port, (struct congestion_marking){
				 .threshold = 15, .marking_rate = 3, .packet_blocks_min = 2});
	port.queues->vls[0].block_count = 1000;
	for (unsigned i = 0; i < 100; i++) {
		marked += port_marks_congestion(&port, 0, 2, 0);
		/* Too short to be eligible. */
		assert_false(port_marks_congestion(&port, 0, 1, 0));
	}
	assert_int_equal(marked, 25);
	port_end(&port);
}

/* A lane is congested from the first packet that finds it so to the first that does not. */
static void test_time_in_congestion_is_counted(void **state)
{
	struct port port;

	(void)state;
	port_with(&port, (struct congestion_marking){.threshold = 15, .marking_rate = 100});
	assert_false(port_marks_congestion(&port, 0, 1, MICROSECONDS(1)));
	assert_null(port.details);
	port.queues->vls[0].block_count = 1000;
	assert_false(port_marks_congestion(&port, 0, 1, MICROSECONDS(5)));
	assert_false(port_marks_congestion(&port, 0, 1, MICROSECONDS(9)));
	port.queues->vls[0].block_count = 1;
	assert_false(port_marks_congestion(&port, 0, 1, MICROSECONDS(12)));
	assert_int_equal(port.details->vl_transmit_time_congested[0], 7);
	assert_int_equal(port.details->transmit_time_congested, 7);
	/* A queue that was emptied otherwise is noticed by the review. */
	port.queues->vls[0].block_count = 1000;
	assert_false(port_marks_congestion(&port, 0, 1, MICROSECONDS(20)));
	port.queues->vls[0].block_count = 0;
	port_review_congestion(&port, MICROSECONDS(23));
	port_settle_details(&port, MICROSECONDS(40));
	assert_int_equal(port.details->transmit_time_congested, 10);
	port_end(&port);
}

static void test_victims_are_marked_only_if_asked_for(void **state)
{
	struct port port;

	(void)state;
	port_with(&port, (struct congestion_marking){.threshold = 15});
	port.queues->vls[0].block_count = 1000;
	port.queues->vls[0].fccl = 0; /* no credits: the congestion is elsewhere */
	assert_false(port_marks_congestion(&port, 0, 1, 0));
	port.congestion->marking.marks_victims = true;
	assert_true(port_marks_congestion(&port, 0, 1, 0));
	port_end(&port);
}

static void test_index_rises_to_its_limit_and_is_forgotten_step_by_step(void **state)
{
	const struct congestion_reaction reaction = {
		.ccti_limit = 8, .by_sl[SL] = {.increase = 3, .index_min = 1, .timer = 10}};
	struct ccti ccti = {0};

	(void)state;
	(void)!ccti_raise(&reaction, SL, &ccti, 1000);
	assert_int_equal(ccti.index, 3);
	(void)!ccti_raise(&reaction, SL, &ccti, 1000);
	(void)!ccti_raise(&reaction, SL, &ccti, 1000);
	assert_int_equal(ccti.index, 8);
	(void)ccti_delay(&reaction, SL, &ccti, 100, 1000 + 10239);
	assert_int_equal(ccti.index, 8);
	(void)ccti_delay(&reaction, SL, &ccti, 100, 1000 + 10240);
	assert_int_equal(ccti.index, 7);
	(void)ccti_delay(&reaction, SL, &ccti, 100, 1000 + 3 * 10240);
	assert_int_equal(ccti.index, 5);
	(void)ccti_delay(&reaction, SL, &ccti, 100, SECONDS(10));
	assert_int_equal(ccti.index, 1);
}

static void test_table_gives_shift_and_multiplier(void **state)
{
	struct congestion_reaction reaction = {.ccti_limit = 200, .by_sl[SL].increase = 1};
	struct ccti ccti = {0};

	(void)state;
	reaction.table[1] = 5;
	reaction.table[2] = 1 << 14 | 3;
	reaction.table[127] = 3 << 14 | 16383;
	assert_int_equal(ccti_delay(&reaction, SL, &ccti, 100, 0), 0);
	(void)!ccti_raise(&reaction, SL, &ccti, 0);
	assert_int_equal(ccti_delay(&reaction, SL, &ccti, 100, 0), 500);
	(void)!ccti_raise(&reaction, SL, &ccti, 0);
	assert_int_equal(ccti_delay(&reaction, SL, &ccti, 100, 0), 150);
	for (unsigned i = 0; i < 300; i++)
		(void)!ccti_raise(&reaction, SL, &ccti, 0);
	assert_int_equal(ccti.index, 127);
	assert_int_equal(ccti_delay(&reaction, SL, &ccti, 80, 0), 163830);
}

/* An index that stays above the trigger is no new event; one that falls below it and rises again
 * is. */
static void test_reaching_the_trigger_is_told_once(void **state)
{
	const struct congestion_reaction reaction = {
		.ccti_limit = 20, .by_sl[SL] = {.increase = 2, .trigger = 4, .timer = 1}};
	struct ccti ccti = {0};

	(void)state;
	assert_false(ccti_raise(&reaction, SL, &ccti, 0));
	assert_true(ccti_raise(&reaction, SL, &ccti, 0));
	assert_false(ccti_raise(&reaction, SL, &ccti, 0));
	assert_false(ccti_raise(&reaction, SL, &ccti, 1024 * 100));
	assert_true(ccti_raise(&reaction, SL, &ccti, 1024 * 100));
}

/* Another SL has its own setting, here none. */
static void test_each_sl_has_its_own_setting(void **state)
{
	struct port port;
	struct congestion_reaction reaction = {.ccti_limit = 20, .by_sl[SL].increase = 2};
	struct ccti ccti = {0};

	(void)state;
	assert_false(ccti_raise(&reaction, SL + 1, &ccti, 0));
	assert_int_equal(ccti.index, 0);
	port_with(&port, (struct congestion_marking){0});
	assert_false(port_controls_congestion(&port));
	assert_int_equal(port_set_reaction(&port, &reaction), 0);
	assert_true(port_controls_congestion(&port));
	port_end(&port);
}

static void test_log_keeps_the_newest_event_of_each_flow(void **state)
{
	struct port port;

	(void)state;
	port_with(&port, (struct congestion_marking){.threshold = 1});
	for (unsigned i = 0; i < 100; i++) {
		struct congestion_event event = {
			.slid = (uint16_t)(i % 20), .sl = (uint8_t)(i % 3), .time_stamp = i};

		port_log_congestion(&port, &event);
		port_log_congestion(&port, &event);
	}

	const struct congestion_log *log = port.congestion->log;

	assert_int_equal(log->event_count, 200);
	assert_int_equal(log->sls, 7);
	assert_int_equal(log->kept, CONGESTION_EVENTS_MAX);
	for (unsigned i = 0; i < log->kept; i++)
		assert_int_equal(log->events[i].time_stamp, 99 - i);
	port_end(&port);
}

static void test_what_is_owed_is_paid_once(void **state)
{
	struct congestion congestion = {0};

	(void)state;
	assert_false(congestion_take_becn(&congestion, 7, 1));
	congestion_queue_becn(&congestion, 7, 1);
	congestion_queue_becn(&congestion, 7, 1);
	congestion_queue_becn(&congestion, 9, 1);
	assert_true(congestion_take_becn(&congestion, 7, 1));
	assert_false(congestion_take_becn(&congestion, 7, 1));
	assert_true(congestion_take_becn(&congestion, 9, 1));
	for (uint16_t lid = 1; lid <= 100; lid++)
		congestion_queue_becn(&congestion, lid, 1);
	assert_false(congestion_take_becn(&congestion, 100 - CONGESTION_BECNS_MAX, 1));
	assert_true(congestion_take_becn(&congestion, 101 - CONGESTION_BECNS_MAX, 1));
	assert_true(congestion_take_becn(&congestion, 100, 1));
}

/* Two connections to one port get their BECNs separately. */
static void test_becns_are_of_queue_pairs(void **state)
{
	struct congestion congestion = {0};

	(void)state;
	congestion_queue_becn(&congestion, 7, 1);
	congestion_queue_becn(&congestion, 7, 2);
	assert_false(congestion_take_becn(&congestion, 7, 3));
	assert_true(congestion_take_becn(&congestion, 7, 2));
	assert_false(congestion_take_becn(&congestion, 7, 2));
	assert_true(congestion_take_becn(&congestion, 7, 1));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_threshold_says_how_much_may_wait),
		cmocka_unit_test(test_one_of_rate_and_one_is_marked),
		cmocka_unit_test(test_time_in_congestion_is_counted),
		cmocka_unit_test(test_victims_are_marked_only_if_asked_for),
		cmocka_unit_test(test_index_rises_to_its_limit_and_is_forgotten_step_by_step),
		cmocka_unit_test(test_table_gives_shift_and_multiplier),
		cmocka_unit_test(test_reaching_the_trigger_is_told_once),
		cmocka_unit_test(test_each_sl_has_its_own_setting),
		cmocka_unit_test(test_log_keeps_the_newest_event_of_each_flow),
		cmocka_unit_test(test_what_is_owed_is_paid_once),
		cmocka_unit_test(test_becns_are_of_queue_pairs),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
