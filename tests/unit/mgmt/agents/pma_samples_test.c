/* SPDX-License-Identifier: Apache-2.0 */
/* Samples begin and end at the requested times and show the counts in between (management 6.1). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "agent_fixture.h"
#include "wire/performance.h"

static struct port_samples_control control;

static int ask(enum mad_method method, uint16_t attribute)
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
	assert_int_equal(gsa_receive(&fixture.environment, &fixture.hub, 0, fixture.now, &request,
				     &fixture.answer),
			 AGENT_ANSWERED);
	return get_be16(fixture.answer.bytes + 4);
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
}

static void test_unknown_ports_and_counters_are_refused(void **state)
{
	(void)state;
	control.counter_select3 = SAMPLE_XMIT_WAIT + 1;
	assert_int_equal(ask(MAD_SET, ATTRIBUTE_PORT_SAMPLES_CONTROL), MAD_STATUS_BAD_FIELD);
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
		TEST(test_unknown_ports_and_counters_are_refused),
		TEST(test_forgotten_node_samples_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
