/* SPDX-License-Identifier: Apache-2.0 */
/* Samples begin and end at the requested times and show the counts in between (management 6.1). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "agent_fixture.h"
#include "net/link/detail_counters.h"
#include "wire/performance.h"

static struct port_samples_control control;

static int ask_node(struct node *node, enum mad_method method, uint16_t attribute)
{
	const struct mad_header header = {
		.base_version = 1,
		.management_class = MAD_CLASS_PERFORMANCE,
		.class_version = 1,
		.method = (uint8_t)method,
		.attribute_id = attribute,
	};
	struct mad_message request = {.address = {.lid = 4, .qpn = 1}};

	mad_header_encode(&header, request.bytes);
	port_samples_control_encode(&control, request.bytes + 64);
	assert_int_equal(
		gsa_receive(&fixture.environment, node, 0, fixture.now, &request, &fixture.answer),
		AGENT_ANSWERED);
	return get_be16(fixture.answer.bytes + 4);
}

static int ask(enum mad_method method, uint16_t attribute)
{
	return ask_node(&fixture.hub, method, attribute);
}

static struct port_samples_result result(void)
{
	struct port_samples_result shown;

	assert_int_equal(ask(MAD_GET, ATTRIBUTE_PORT_SAMPLES_RESULT), 0);
	port_samples_result_decode(fixture.answer.bytes + 64, &shown);
	return shown;
}

static uint8_t shown_status(void)
{
	struct port_samples_control shown;

	port_samples_control_decode(fixture.answer.bytes + 64, &shown);
	return shown.sample_status;
}

static int setup(void **state)
{
	control = (struct port_samples_control){
		.port_select = 2,
		.sample_start = 1000,
		.sample_interval = 5000,
		.tag = 77,
		.counter_select0 = SAMPLE_XMIT_DATA,
		.counter_select1 = SAMPLE_RCV_PACKETS,
		.counter_select14 = SAMPLE_XMIT_WAIT,
	};
	return fixture_setup(state);
}

static void run_to(time_ns now)
{
	fixture.now = now;
	agent_run(&fixture.environment, now);
}

static void test_sample_counts_between_its_begin_and_end(void **state)
{
	(void)state;
	struct link_counters *counters = &fixture.hub.ports[2].counters;

	counters->transmit_words = 100;
	assert_int_equal(ask(MAD_SET, ATTRIBUTE_PORT_SAMPLES_CONTROL), 0);
	assert_int_equal(shown_status(), SAMPLE_STARTING);
	assert_int_equal(agent_deadline(&fixture.memory), MICROSECONDS(1000));
	counters->transmit_words = 150;
	run_to(MICROSECONDS(1000));
	assert_int_equal(agent_deadline(&fixture.memory), MICROSECONDS(6000));
	assert_int_equal(result().sample_status, SAMPLE_RUNNING);
	counters->transmit_words = 1150;
	counters->receive_packets = 7;
	counters->transmit_wait = 3;
	run_to(MICROSECONDS(6000));
	assert_int_equal(agent_deadline(&fixture.memory), TIME_NEVER);
	counters->transmit_words = 99999;

	struct port_samples_result shown = result();

	assert_int_equal(shown.sample_status, SAMPLE_DONE);
	assert_int_equal(shown.tag, 77);
	assert_int_equal(shown.counter0, 1000);
	assert_int_equal(shown.counter1, 7);
	assert_int_equal(shown.counter2, 0);
	assert_int_equal(shown.counter14, 3);
	assert_int_equal(ask(MAD_GET, ATTRIBUTE_PORT_SAMPLES_RESULT_EXTENDED), 0);
	assert_int_equal(fixture.answer.bytes[64 + 4] >> 6, SAMPLES_EXTENDED_WIDTH_64);
	assert_int_equal(get_be64(fixture.answer.bytes + 64 + 8), 1000);
}

static void test_set_while_sampling_changes_nothing(void **state)
{
	(void)state;
	assert_int_equal(ask(MAD_SET, ATTRIBUTE_PORT_SAMPLES_CONTROL), 0);
	control.tag = 78;
	control.port_select = 1;
	assert_int_equal(ask(MAD_SET, ATTRIBUTE_PORT_SAMPLES_CONTROL), 0);
	assert_int_equal(shown_status(), SAMPLE_STARTING);
	assert_int_equal(result().tag, 77);
	run_to(MICROSECONDS(6000));
	assert_int_equal(ask(MAD_SET, ATTRIBUTE_PORT_SAMPLES_CONTROL), 0);
	assert_int_equal(result().tag, 78);
}

static void test_control_says_what_can_be_sampled(void **state)
{
	(void)state;
	struct port_samples_control shown;

	assert_int_equal(ask(MAD_GET, ATTRIBUTE_PORT_SAMPLES_CONTROL), 0);
	port_samples_control_decode(fixture.answer.bytes + 64, &shown);
	assert_int_equal(shown.port_select, 2);
	assert_int_equal(shown.counter_width, 4);
	assert_int_equal(shown.sample_status, SAMPLE_DONE);
	assert_int_equal(shown.counter_select0, 0);
	/* Every option but PortXmitQueue (bit 1); the congestion of VLs at switches only (bit 48).
	 */
	assert_int_equal(shown.option_mask, 0x01ff00001ffffffc);
}

/* Counters of one VL have its number in bits 11:8. */
static void test_counters_of_lanes_can_be_sampled(void **state)
{
	(void)state;
	struct port *port = &fixture.hub.ports[2];
	struct detail_counters *details = port_obtain_details(port);

	control.counter_select0 = SAMPLE_VL_XMIT_DATA | 3 << SAMPLE_VL_SHIFT;
	control.counter_select1 = SAMPLE_VL_RCV_PACKETS | 15 << SAMPLE_VL_SHIFT;
	control.counter_select2 = SAMPLE_VL_XMIT_WAIT | 1 << SAMPLE_VL_SHIFT;
	control.counter_select3 = SAMPLE_DLID_MAPPING_ERRORS;
	control.counter_select4 = SAMPLE_SW_PORT_VL_CONGESTION;
	assert_int_equal(ask(MAD_SET, ATTRIBUTE_PORT_SAMPLES_CONTROL), 0);
	run_to(MICROSECONDS(1000));
	port->counters.transmit_levels[3].vl_words += 11;
	port->counters.transmit_levels[2].vl_words += 99;
	port->counters.receive_levels[15].vl_packets += 12;
	details->vl_transmit_wait[1] += 13;
	port->counters.drops[DROP_NO_ROUTE] += 14;
	details->vl_congestion[0] += 15;
	run_to(MICROSECONDS(6000));
	assert_int_equal(result().counter0, 11);
	assert_int_equal(result().counter1, 12);
	assert_int_equal(result().counter2, 13);
	assert_int_equal(result().counter3, 14);
	assert_int_equal(result().counter4, 15);
}

/* The port counts the opcode of a sample while the sample lasts. */
static void test_sample_of_an_opcode_counts_it_and_stops(void **state)
{
	(void)state;
	struct port *port = &fixture.hub.ports[2];

	control.op_code = 0x64;
	control.counter_select0 = SAMPLE_OP_RCV_PACKETS;
	assert_int_equal(ask(MAD_SET, ATTRIBUTE_PORT_SAMPLES_CONTROL), 0);
	assert_true(port->counts_opcode);
	assert_int_equal(port->details->opcode.opcode, 0x64);
	run_to(MICROSECONDS(1000));
	port->details->opcode.packets += 6;
	run_to(MICROSECONDS(6000));
	assert_int_equal(result().counter0, 6);
	assert_false(port->counts_opcode);
	assert_int_equal(fixture.paths_changed_count, 2);
}

/* A manager that samples every node of a large fabric must not wait for all of them each time. */
static void test_samples_of_many_nodes_end_each_in_its_time(void **state)
{
	enum { NODES = 300 };
	static struct node nodes[NODES];

	(void)state;
	for (unsigned i = 0; i < NODES; i++) {
		assert_int_equal(node_init(&nodes[i], NODE_SWITCH, 2, 1000 + i, "many"), 0);
		control.sample_start = 1 + NODES - i;
		control.sample_interval = 1;
		control.tag = (uint16_t)i;
		assert_int_equal(ask_node(&nodes[i], MAD_SET, ATTRIBUTE_PORT_SAMPLES_CONTROL), 0);
	}
	assert_int_equal(agent_deadline(&fixture.memory), MICROSECONDS(2));
	run_to(MICROSECONDS(100));
	for (unsigned i = 0; i < NODES; i++) {
		struct port_samples_result shown;

		assert_int_equal(ask_node(&nodes[i], MAD_GET, ATTRIBUTE_PORT_SAMPLES_RESULT), 0);
		port_samples_result_decode(fixture.answer.bytes + 64, &shown);
		assert_int_equal(shown.tag, i);
		assert_int_equal(shown.sample_status, NODES - i + 2 <= 100   ? SAMPLE_DONE
						      : NODES - i + 1 <= 100 ? SAMPLE_RUNNING
									     : SAMPLE_STARTING);
		agent_memory_forget(&fixture.memory, &nodes[i]);
		node_release(&nodes[i]);
	}
	assert_int_equal(agent_deadline(&fixture.memory), TIME_NEVER);
}

static void test_unknown_ports_and_counters_are_refused(void **state)
{
	(void)state;
	static const uint16_t unknown[] = {SAMPLE_XMIT_WAIT + 1, 0x4000, 0x4017, 0x4031, 0x8001,
					   /* These are not counted by VL. */
					   SAMPLE_XMIT_DATA | 1 << SAMPLE_VL_SHIFT,
					   SAMPLE_LOOPING_ERRORS | 1 << SAMPLE_VL_SHIFT};

	for (size_t i = 0; i < ARRAY_COUNT(unknown); i++) {
		control.counter_select3 = unknown[i];
		assert_int_equal(ask(MAD_SET, ATTRIBUTE_PORT_SAMPLES_CONTROL),
				 MAD_STATUS_BAD_FIELD);
	}
	control.counter_select3 = 0;
	control.port_select = 5;
	assert_int_equal(ask(MAD_SET, ATTRIBUTE_PORT_SAMPLES_CONTROL), MAD_STATUS_BAD_FIELD);
	assert_int_equal(ask(MAD_GET, ATTRIBUTE_PORT_SAMPLES_CONTROL), MAD_STATUS_BAD_FIELD);
	assert_int_equal(ask(MAD_SET, ATTRIBUTE_PORT_SAMPLES_RESULT),
			 MAD_STATUS_BAD_METHOD_ATTRIBUTE);
	assert_int_equal(agent_deadline(&fixture.memory), TIME_NEVER);
}

static void test_forgotten_node_samples_nothing(void **state)
{
	(void)state;
	assert_int_equal(ask(MAD_SET, ATTRIBUTE_PORT_SAMPLES_CONTROL), 0);
	agent_memory_forget(&fixture.memory, &fixture.hub);
	run_to(SECONDS(1));
	assert_int_equal(agent_deadline(&fixture.memory), TIME_NEVER);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define TEST(function) cmocka_unit_test_setup_teardown(function, setup, fixture_teardown)
		TEST(test_sample_counts_between_its_begin_and_end),
		TEST(test_set_while_sampling_changes_nothing),
		TEST(test_control_says_what_can_be_sampled),
		TEST(test_counters_of_lanes_can_be_sampled),
		TEST(test_sample_of_an_opcode_counts_it_and_stops),
		TEST(test_samples_of_many_nodes_end_each_in_its_time),
		TEST(test_unknown_ports_and_counters_are_refused),
		TEST(test_forgotten_node_samples_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
