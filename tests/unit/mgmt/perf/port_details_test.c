/* SPDX-License-Identifier: Apache-2.0 */
/* Attributes of one port that are read on demand (management 6.1). */
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
#include "mgmt/perf/port_details.h"
#include "perf_fixture.h"

static struct port_details details;

static json_t *written(const struct port_details *which)
{
	char *text = NULL;
	size_t byte_count;
	FILE *file = open_memstream(&text, &byte_count);
	json_t *object;

	port_details_write(which, file);
	fclose(file);
	object = json_loadb(text, byte_count, 0, NULL);
	free(text);
	assert_non_null(object);
	return object;
}

static unsigned index_of(uint16_t attribute_id)
{
	for (unsigned i = 0; i < PORT_DETAILS_COUNT; i++)
		if (port_details_attribute(i) == attribute_id)
			return i;
	fail_msg("attribute 0x%x is not read", attribute_id);
	return 0;
}

static void test_answers_are_decoded_by_their_layouts(void **state)
{
	uint8_t data[PERFORMANCE_DATA_BYTES] = {[1] = 4};
	json_t *object, *attributes;

	(void)state;
	port_details_begin(&details, "h1:4");
	put_be16(data + 4 + 2 * 3, 77);
	port_details_take(&details, index_of(ATTRIBUTE_PORT_VL_XMIT_WAIT_COUNTERS), 4, 0, data);
	put_be32(data + 4 + 4 * 15, 1234567);
	port_details_take(&details, index_of(ATTRIBUTE_PORT_RCV_DATA_SL), 4, 0, data);
	put_be16(data + 12, 9);
	port_details_take(&details, index_of(ATTRIBUTE_PORT_RCV_ERROR_DETAILS), 4, 0, data);
	object = written(&details);
	attributes = json_object_get(object, "attributes");
	assert_int_equal(json_object_size(attributes), 3);
	assert_int_equal(json_integer_value(json_object_get(
				 json_object_get(attributes, "vl_xmit_wait"), "vl3")),
			 77);
	assert_int_equal(json_object_size(json_object_get(attributes, "vl_xmit_wait")), 16);
	assert_int_equal(json_integer_value(json_object_get(
				 json_object_get(attributes, "rcv_data_sl"), "sl15")),
			 1234567);
	assert_int_equal(
		json_integer_value(json_object_get(json_object_get(attributes, "rcv_error_details"),
						   "vl_mapping_errors")),
		9);
	json_decref(object);
}

static void test_refusals_and_answers_for_other_ports_are_left_out(void **state)
{
	uint8_t data[PERFORMANCE_DATA_BYTES] = {[1] = 4};
	json_t *object;

	(void)state;
	port_details_begin(&details, "h1:4");
	port_details_take(&details, 0, 4, MAD_STATUS_BAD_METHOD_ATTRIBUTE, data);
	port_details_take(&details, 1, 5, 0, data);
	object = written(&details);
	assert_int_equal(json_object_size(json_object_get(object, "attributes")), 0);
	json_decref(object);
	assert_int_equal(details.answers[0].state, PORT_DETAIL_REFUSED);
	assert_int_equal(details.answers[1].state, PORT_DETAIL_REFUSED);
}

static void test_every_attribute_is_another_one(void **state)
{
	(void)state;
	for (unsigned i = 0; i < PORT_DETAILS_COUNT; i++)
		assert_int_equal(index_of(port_details_attribute(i)), i);
}

static void test_a_sweep_reads_the_details_once(void **state)
{
	static struct perf_fixture fixture;

	(void)state;
	perf_fixture_start(&fixture, NULL);
	perf_manager_ask_details(&fixture.manager, "node 110:1");
	perf_fixture_run(&fixture);
	assert_true(fixture.manager.details.is_found);
	assert_false(fixture.manager.details.is_wanted);
	/* These agents have none. */
	for (unsigned i = 0; i < PORT_DETAILS_COUNT; i++)
		assert_int_equal(fixture.manager.details.answers[i].state, PORT_DETAIL_REFUSED);
	perf_fixture_sweep(&fixture);
	assert_int_equal(fixture.manager.last.mad_count, PERF_FIXTURE_PORTS_ALL);
	perf_manager_ask_details(&fixture.manager, "nobody:1");
	perf_fixture_run(&fixture);
	assert_false(fixture.manager.details.is_found);
	assert_string_equal(fixture.manager.details.port, "nobody:1");
	perf_fixture_stop(&fixture);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_answers_are_decoded_by_their_layouts),
		cmocka_unit_test(test_refusals_and_answers_for_other_ports_are_left_out),
		cmocka_unit_test(test_every_attribute_is_another_one),
		cmocka_unit_test(test_a_sweep_reads_the_details_once),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
