/* SPDX-License-Identifier: Apache-2.0 */
/* A sample of one port, from the first request to the figures (management 6.1). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include <jansson.h>
#include "base/bytes.h"
#include "mgmt/perf/port_sampling.h"
#include "perf_fixture.h"

enum { TAG = 0x1234, PORT = 3 };

static struct port_sampling sampling;
static struct port_sampling_request request;
static uint8_t data[PERFORMANCE_DATA_BYTES];

static int set_up(void **state)
{
	(void)state;
	memset(data, 0, sizeof(data));
	port_sampling_begin(&sampling, MILLISECONDS(100), TAG);
	return 0;
}

static void ask(enum mad_method method, uint16_t attribute_id)
{
	assert_false(port_sampling_is_over(&sampling));
	port_sampling_ask(&sampling, PORT, &request);
	assert_int_equal(request.method, method);
	assert_int_equal(request.attribute_id, attribute_id);
}

/* PortSamplesControl of an agent whose tick is a microsecond. */
static void control(uint16_t tag, uint8_t sample_status)
{
	memset(data, 0, sizeof(data));
	data[2] = 249;
	data[11] = sample_status;
	put_be16(data + 36, tag);
}

static void result(uint16_t tag, uint8_t sample_status)
{
	memset(data, 0, sizeof(data));
	put_be16(data, tag);
	data[3] = sample_status;
}

static void start(void)
{
	ask(MAD_GET, 0x10);
	control(0, SAMPLE_DONE);
	port_sampling_take(&sampling, 0, 0, data);
	ask(MAD_SET, 0x10);
	control(TAG, SAMPLE_RUNNING);
	port_sampling_take(&sampling, 1000, 0, data);
}

static json_t *written(void)
{
	char *text = NULL;
	size_t byte_count;
	FILE *file = open_memstream(&text, &byte_count);
	json_t *object;

	port_sampling_write(&sampling, file);
	fclose(file);
	object = json_loadb(text, byte_count, 0, NULL);
	free(text);
	assert_non_null(object);
	return object;
}

static void expect_state(enum port_sampling_state state, const char *name)
{
	json_t *object = written();

	assert_int_equal(sampling.state, state);
	assert_true(port_sampling_is_over(&sampling));
	assert_string_equal(json_string_value(json_object_get(object, "state")), name);
	json_decref(object);
}

static void test_a_sample_is_set_waited_for_and_read(void **state)
{
	json_t *object;

	(void)state;
	start();
	/* PortSelect, SampleStart 0, SampleInterval 100,000 ticks, Tag, CounterSelect 1 to 5. */
	static const uint8_t rest[] = {0, 0, 0, 0, 0, 0x01, 0x86, 0xa0, 0x12, 0x34,
				       0, 1, 0, 2, 0, 3,    0,	  4,	0,    5};

	assert_int_equal(request.data[1], PORT);
	assert_memory_equal(request.data + 28, rest, sizeof(rest));
	assert_int_equal(sampling.due_at, 1000 + MILLISECONDS(100));
	ask(MAD_GET, 0x1e);
	result(TAG, SAMPLE_RUNNING);
	port_sampling_take(&sampling, sampling.due_at, 0, data);
	ask(MAD_GET, 0x1e);
	result(TAG, SAMPLE_DONE);
	put_be64(data + 8, 250);
	put_be64(data + 16, UINT64_C(0x100000000));
	put_be64(data + 24, 3);
	put_be64(data + 32, 4);
	put_be64(data + 40, 25000);
	port_sampling_take(&sampling, sampling.due_at, 0, data);
	expect_state(PORT_SAMPLING_DONE, "done");
	object = written();
	assert_int_equal(json_integer_value(json_object_get(object, "length_us")), 100000);
	assert_int_equal(json_integer_value(json_object_get(object, "xmit_bytes")), 1000);
	assert_int_equal(json_integer_value(json_object_get(object, "xmit_bytes_per_second")),
			 10000);
	assert_int_equal(json_integer_value(json_object_get(object, "rcv_bytes")),
			 INT64_C(0x400000000));
	assert_int_equal(json_integer_value(json_object_get(object, "xmit_packets")), 3);
	assert_int_equal(json_integer_value(json_object_get(object, "rcv_packets")), 4);
	assert_int_equal(json_integer_value(json_object_get(object, "wait_percent")), 25);
	json_decref(object);
}

static void test_an_agent_without_64_bits_is_asked_for_32(void **state)
{
	(void)state;
	start();
	port_sampling_take(&sampling, sampling.due_at, MAD_STATUS_BAD_METHOD_ATTRIBUTE, data);
	ask(MAD_GET, 0x11);
	result(TAG, SAMPLE_DONE);
	put_be32(data + 4, 7);
	put_be32(data + 20, 9);
	port_sampling_take(&sampling, sampling.due_at, 0, data);
	expect_state(PORT_SAMPLING_DONE, "done");
	assert_int_equal(sampling.counts[0], 7);
	assert_int_equal(sampling.counts[4], 9);
}

static void test_an_agent_without_samples(void **state)
{
	(void)state;
	port_sampling_take(&sampling, 0, MAD_STATUS_BAD_METHOD_ATTRIBUTE, data);
	expect_state(PORT_SAMPLING_REFUSED, "refused");
	port_sampling_begin(&sampling, MILLISECONDS(100), TAG);
	port_sampling_fail(&sampling);
	expect_state(PORT_SAMPLING_SILENT, "silent");
}

/* Somebody else's sample runs, before ours or in its place; both end (no endless asking). */
static void test_a_sample_of_somebody_else(void **state)
{
	(void)state;
	for (unsigned i = 0; !port_sampling_is_over(&sampling); i++) {
		assert_in_range(i, 0, 100);
		ask(MAD_GET, 0x10);
		control(0x4321, SAMPLE_RUNNING);
		port_sampling_take(&sampling, sampling.due_at, 0, data);
	}
	expect_state(PORT_SAMPLING_BUSY, "busy");
	port_sampling_begin(&sampling, MILLISECONDS(100), TAG);
	start();
	result(0x4321, SAMPLE_DONE);
	port_sampling_take(&sampling, sampling.due_at, 0, data);
	expect_state(PORT_SAMPLING_BUSY, "busy");
	port_sampling_begin(&sampling, MILLISECONDS(100), TAG);
	for (unsigned i = 0; !port_sampling_is_over(&sampling); i++) {
		assert_in_range(i, 0, 100);
		port_sampling_take(&sampling, sampling.due_at, MAD_STATUS_BUSY, data);
	}
	expect_state(PORT_SAMPLING_BUSY, "busy");
}

/* The fixture's agents take no samples, so the sweep ends with a refusal. */
static void test_a_sweep_takes_the_sample_once(void **state)
{
	static struct perf_fixture fixture;

	(void)state;
	perf_fixture_start(&fixture, NULL);
	perf_manager_ask_sample(&fixture.manager, "node 110:1", MILLISECONDS(5));
	perf_fixture_run(&fixture);
	assert_true(port_sampling_is_over(&fixture.manager.details.sampling));
	assert_int_not_equal(fixture.manager.details.sampling.state, PORT_SAMPLING_UNASKED);
	perf_fixture_sweep(&fixture);
	assert_int_equal(fixture.manager.last.mad_count, PERF_FIXTURE_PORTS_ALL);
	perf_manager_ask_details(&fixture.manager, "node 110:1");
	perf_fixture_run(&fixture);
	assert_int_equal(fixture.manager.details.sampling.state, PORT_SAMPLING_UNASKED);
	perf_manager_ask_sample(&fixture.manager, "nobody:1", MILLISECONDS(5));
	perf_fixture_run(&fixture);
	assert_false(fixture.manager.details.is_found);
	perf_fixture_stop(&fixture);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define TEST(function) cmocka_unit_test_setup(function, set_up)
		TEST(test_a_sample_is_set_waited_for_and_read),
		TEST(test_an_agent_without_64_bits_is_asked_for_32),
		TEST(test_an_agent_without_samples),
		TEST(test_a_sample_of_somebody_else),
		TEST(test_a_sweep_takes_the_sample_once),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
