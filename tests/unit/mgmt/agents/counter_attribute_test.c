/* SPDX-License-Identifier: Apache-2.0 */
/* Attributes with counters: which ports, which selects, which opcode (management 6.1). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "agent_fixture.h"
#include "mgmt/agents/counter_attribute.h"
#include "wire/performance.h"

enum { MODIFIER = 1 };

static struct gs_request request;
static uint8_t asked[PERFORMANCE_DATA_BYTES];
static uint8_t shown[PERFORMANCE_DATA_BYTES];

#define VL_COUNTER(vl) DETAIL_COUNTER(opcode.vl_packets[vl])
static const struct shown_counter rows[] = {
	COUNTER_ROWS_16(VL_COUNTER, port_vl_counters_16, vl, 16)};
static const struct counter_attribute attribute = {COUNTER_ATTRIBUTE(port_vl_counters_16, rows),
						   .has_op_code = true};

static int setup(void **state)
{
	int error = fixture_setup(state);

	memset(asked, 0, sizeof(asked));
	asked[1] = 2;
	request = (struct gs_request){.environment = &fixture.environment,
				      .node = &fixture.hub,
				      .header = {.method = MAD_GET},
				      .data = asked};
	return error;
}

static enum mad_status serve(enum mad_method method)
{
	memset(shown, 0, sizeof(shown));
	request.header.method = (uint8_t)method;
	return counter_attribute_serve(&request, &attribute, shown);
}

static void test_ports_exist_from_zero_at_switches_only(void **state)
{
	(void)state;
	assert_true(counter_port_exists(&fixture.hub, 0));
	assert_true(counter_port_exists(&fixture.hub, 4));
	assert_false(counter_port_exists(&fixture.hub, 5));
	assert_false(counter_port_exists(&fixture.adapter, 0));
	assert_true(counter_port_exists(&fixture.adapter, 2));
}

static void test_a_counter_without_details_is_zero(void **state)
{
	(void)state;
	assert_null(counter_in_port(&fixture.hub.ports[2], &rows[3]));
	assert_int_equal(serve(MAD_GET), MAD_STATUS_OK);
	assert_int_equal(shown[1], 2);
	for (unsigned i = 4; i < PORT_VL_COUNTERS_16_BYTES; i++)
		assert_int_equal(shown[i], 0);
	assert_null(fixture.hub.ports[2].details);
	assert_int_equal(fixture.refresh_count, 1);
}

static void test_set_chooses_the_opcode_and_no_select_ends_it(void **state)
{
	(void)state;
	struct port *port = &fixture.hub.ports[2];

	asked[0] = 0x0a;
	asked[3] = 0x08; /* CounterSelect: VL3 */
	asked[4 + 2 * 3 + 1] = 9;
	assert_int_equal(serve(MAD_SET), MAD_STATUS_OK);
	assert_true(port->counts_opcode);
	assert_false(fixture.hub.ports[1].counts_opcode);
	assert_int_equal(port->details->opcode.opcode, 0x0a);
	assert_int_equal(port->details->opcode.vl_packets[3], 9);
	assert_int_equal(fixture.paths_changed_count, 1);
	/* Get tells which opcode is counted, whatever it asks for. */
	asked[0] = 0;
	asked[3] = 0;
	assert_int_equal(serve(MAD_GET), MAD_STATUS_OK);
	assert_int_equal(shown[0], 0x0a);
	assert_int_equal(shown[4 + 2 * 3 + 1], 9);
	assert_int_equal(serve(MAD_SET), MAD_STATUS_OK);
	assert_false(port->counts_opcode);
	assert_int_equal(fixture.paths_changed_count, 2);
	assert_int_equal(shown[4 + 2 * 3 + 1], 0);
}

static void test_all_ports_are_summed_and_written(void **state)
{
	(void)state;
	asked[0] = 0x64;
	asked[1] = PORT_SELECT_ALL;
	asked[3] = 1;
	asked[5] = 30;
	assert_int_equal(serve(MAD_SET), MAD_STATUS_OK);
	assert_int_equal(shown[5], 4 * 30);
	fixture.hub.ports[1].details->opcode.vl_packets[0] = 0xffff;
	assert_int_equal(serve(MAD_GET), MAD_STATUS_OK);
	/* A sum sticks at the width, too. */
	assert_int_equal(shown[4], 0xff);
	assert_int_equal(shown[5], 0xff);
}

static void test_bad_requests_change_nothing(void **state)
{
	(void)state;
	asked[0] = 0x64;
	asked[3] = 1;
	asked[1] = 5;
	assert_int_equal(serve(MAD_SET), MAD_STATUS_BAD_FIELD);
	asked[1] = 2;
	request.header.attribute_modifier = MODIFIER;
	assert_int_equal(serve(MAD_SET), MAD_STATUS_BAD_FIELD);
	assert_int_equal(fixture.paths_changed_count, 0);
	for (unsigned number = 0; number <= 4; number++)
		assert_false(fixture.hub.ports[number].counts_opcode);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_ports_exist_from_zero_at_switches_only, setup,
						fixture_teardown),
		cmocka_unit_test_setup_teardown(test_a_counter_without_details_is_zero, setup,
						fixture_teardown),
		cmocka_unit_test_setup_teardown(test_set_chooses_the_opcode_and_no_select_ends_it,
						setup, fixture_teardown),
		cmocka_unit_test_setup_teardown(test_all_ports_are_summed_and_written, setup,
						fixture_teardown),
		cmocka_unit_test_setup_teardown(test_bad_requests_change_nothing, setup,
						fixture_teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
