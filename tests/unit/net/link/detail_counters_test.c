/* SPDX-License-Identifier: Apache-2.0 */
/* Counters of lanes, congestion, opcodes and extended speeds, event by event (management 6.1). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>
#include "net/link/detail_counters.h"
#include "net/link/fec.h"
#include "net/link/frame.h"

static struct port port;

static int setup(void **state)
{
	(void)state;
	port = (struct port){.kind = PORT_OF_SWITCH};
	port.info.link_width_active = 2;
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	port_release_details(&port);
	assert_null(port.details);
	return 0;
}

static void test_lanes_wait_each_for_itself(void **state)
{
	(void)state;
	port_note_waiting_lanes(&port, 0x5, MICROSECONDS(10));
	port_note_waiting_lanes(&port, 0x6, MICROSECONDS(14));
	port_note_waiting_lanes(&port, 0, MICROSECONDS(15));
	port_note_waiting_lanes(&port, 0, MICROSECONDS(99));
	assert_int_equal(port.details->vl_transmit_wait[0], 4);
	assert_int_equal(port.details->vl_transmit_wait[1], 1);
	assert_int_equal(port.details->vl_transmit_wait[2], 5);
	assert_int_equal(port.details->vl_transmit_wait[3], 0);
}

/* A lane that is stuck for ever is seen, not only one that goes on. */
static void test_waits_that_last_are_counted_up_to_now(void **state)
{
	(void)state;
	port_note_waiting_lanes(&port, 0x2, MICROSECONDS(1));
	port_settle_details(&port, MICROSECONDS(8));
	assert_int_equal(port.details->vl_transmit_wait[1], 7);
	port_settle_details(&port, MICROSECONDS(9));
	port_note_waiting_lanes(&port, 0, MICROSECONDS(11));
	assert_int_equal(port.details->vl_transmit_wait[1], 10);
}

/* The port is congested while any of its lanes is. */
static void test_time_of_congestion_by_lane_and_of_the_port(void **state)
{
	(void)state;
	port_note_congested_lane(&port, 3, false, 0);
	assert_null(port.details);
	port_note_congested_lane(&port, 0, true, MICROSECONDS(10));
	port_note_congested_lane(&port, 0, true, MICROSECONDS(11));
	port_note_congested_lane(&port, 3, true, MICROSECONDS(15));
	port_note_congested_lane(&port, 0, false, MICROSECONDS(20));
	port_settle_details(&port, MICROSECONDS(22));
	port_note_congested_lane(&port, 3, false, MICROSECONDS(25));
	assert_int_equal(port.details->vl_transmit_time_congested[0], 10);
	assert_int_equal(port.details->vl_transmit_time_congested[3], 10);
	assert_int_equal(port.details->transmit_time_congested, 15);
	port_settle_details(&port, MICROSECONDS(50));
	assert_int_equal(port.details->transmit_time_congested, 15);
}

static void test_watchdog_counts_on_every_data_lane(void **state)
{
	(void)state;
	port_count_update_errors(&port, 4);
	assert_int_equal(port.details->vl_update_errors[0], 1);
	assert_int_equal(port.details->vl_update_errors[3], 1);
	assert_int_equal(port.details->vl_update_errors[4], 0);
	assert_int_equal(port.details->vl_update_errors[15], 0);
}

static void test_only_switches_count_congestion_discards(void **state)
{
	(void)state;
	port.kind = PORT_OF_ADAPTER;
	port_count_congestion(&port, 1);
	assert_null(port.details);
	port.kind = PORT_OF_SWITCH;
	port_count_congestion(&port, 1);
	assert_int_equal(port.details->vl_congestion[1], 1);
}

static void test_marks_by_service_level(void **state)
{
	(void)state;
	port_count_marks(&port, 4, true, false);
	port_count_marks(&port, 4, true, true);
	port_count_marks(&port, 9, false, true);
	assert_int_equal(port.details->receive_fecn, 2);
	assert_int_equal(port.details->receive_becn, 2);
	assert_int_equal(port.details->sl_receive_fecn[4], 2);
	assert_int_equal(port.details->sl_receive_becn[4], 1);
	assert_int_equal(port.details->sl_receive_becn[9], 1);
}

/* LRH (LNH 2: local, 3: global), then the opcode of the BTH. */
static void see(uint8_t lnh, uint8_t opcode, uint8_t vl, uint32_t byte_count)
{
	static struct frame frame;

	memset(&frame, 0, sizeof(frame));
	frame.bytes[1] = lnh;
	frame.bytes[lnh == 3 ? 48 : 8] = opcode;
	frame.vl = vl;
	frame.byte_count = byte_count;
	port_see_opcode(&port, &frame);
}

static void test_only_the_chosen_opcode_counts(void **state)
{
	(void)state;
	assert_int_equal(port_count_opcode(&port, 0x64), 0);
	assert_true(port.counts_opcode);
	see(2, 0x64, 0, 284);
	see(3, 0x64, 3, 324);
	see(2, 0x04, 0, 284);
	see(0, 0x64, 0, 284); /* raw: no opcode */
	assert_int_equal(port.details->opcode.packets, 2);
	assert_int_equal(port.details->opcode.words, 72 + 82);
	assert_int_equal(port.details->opcode.vl_packets[0], 1);
	assert_int_equal(port.details->opcode.vl_words[3], 82);
	/* The same one again goes on; another begins with zero. */
	assert_int_equal(port_count_opcode(&port, 0x64), 0);
	assert_int_equal(port.details->opcode.packets, 2);
	assert_int_equal(port_count_opcode(&port, 0x04), 0);
	assert_int_equal(port.details->opcode.packets, 0);
	port_stop_opcode(&port);
	assert_false(port.counts_opcode);
}

static void test_broken_bytes_count_on_the_lane_that_carried_them(void **state)
{
	(void)state;
	/* Up to QDR a broken byte is a symbol error and nothing else. */
	port_count_broken_byte(&port, 6);
	assert_null(port.details);
	port.info.link_speed_ext_active = 2;
	port_count_broken_byte(&port, 6);
	assert_int_equal(port.details->lanes.errors[2], 1);
	port.extended.fec_mode_active = FEC_FIRECODE;
	port_count_broken_byte(&port, 7);
	assert_int_equal(port.details->lanes.errors[3], 0);
	assert_int_equal(port.details->lanes.uncorrectable[3], 1);
	port.extended.fec_mode_active = FEC_REED_SOLOMON;
	port_count_broken_byte(&port, 1000);
	assert_int_equal(port.details->lanes.uncorrectable_blocks, 2);
	/* A width that is no width must not divide by zero. */
	port.info.link_width_active = 0;
	port_count_broken_byte(&port, 5);
	assert_int_equal(port.details->lanes.uncorrectable_blocks, 3);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_lanes_wait_each_for_itself, setup, teardown),
		cmocka_unit_test_setup_teardown(test_waits_that_last_are_counted_up_to_now, setup,
						teardown),
		cmocka_unit_test_setup_teardown(test_time_of_congestion_by_lane_and_of_the_port,
						setup, teardown),
		cmocka_unit_test_setup_teardown(test_watchdog_counts_on_every_data_lane, setup,
						teardown),
		cmocka_unit_test_setup_teardown(test_only_switches_count_congestion_discards, setup,
						teardown),
		cmocka_unit_test_setup_teardown(test_marks_by_service_level, setup, teardown),
		cmocka_unit_test_setup_teardown(test_only_the_chosen_opcode_counts, setup,
						teardown),
		cmocka_unit_test_setup_teardown(
			test_broken_bytes_count_on_the_lane_that_carried_them, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
