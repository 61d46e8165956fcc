/* SPDX-License-Identifier: Apache-2.0 */
/* Counters of lanes, opcodes, congestion and extended speeds through the performance agent, byte by
 * byte (management 6.1). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "agent_fixture.h"
#include "net/link/detail_counters.h"
#include "net/link/fec.h"
#include "wire/performance.h"

static uint8_t data[PERFORMANCE_DATA_BYTES];
static struct detail_counters *details; /* of port 2 of the hub */

static int ask(struct node *node, enum mad_method method, uint16_t attribute_id)
{
	const struct mad_header header = {
		.base_version = 1,
		.management_class = MAD_CLASS_PERFORMANCE,
		.class_version = 1,
		.method = (uint8_t)method,
		.attribute_id = attribute_id,
	};
	struct mad_message request = {.address = {.lid = 4, .qpn = 1}};

	mad_header_encode(&header, request.bytes);
	memcpy(request.bytes + PERFORMANCE_DATA_OFFSET, data, sizeof(data));
	assert_int_equal(
		gsa_receive(&fixture.environment, node, 1, fixture.now, &request, &fixture.answer),
		AGENT_ANSWERED);
	return get_be16(fixture.answer.bytes + 4);
}

static const uint8_t *answer(void)
{
	return fixture.answer.bytes + PERFORMANCE_DATA_OFFSET;
}

static int setup(void **state)
{
	int error = fixture_setup(state);

	memset(data, 0, sizeof(data));
	data[1] = 2;
	details = port_obtain_details(&fixture.hub.ports[2]);
	assert_non_null(details);
	return error;
}

/* An array of 16 counters with this many bytes each in the answer, from byte 4 on. */
static void expect_array(uint16_t attribute_id, uint64_t *kept, unsigned count, unsigned bytes)
{
	for (unsigned i = 0; i < count; i++)
		kept[i] = 100 + i;
	kept[1] = UINT64_C(1) << 40;
	assert_int_equal(ask(&fixture.hub, MAD_GET, attribute_id), 0);
	for (unsigned i = 0; i < count; i++) {
		const uint8_t *at = answer() + 4 + (size_t)i * bytes;
		uint32_t maximum = bytes == 2 ? 0xffff : 0xffffffff;

		assert_int_equal(bytes == 2 ? get_be16(at) : get_be32(at),
				 i == 1 ? maximum : 100 + i);
	}
	for (unsigned i = 4 + count * bytes; i < PERFORMANCE_DATA_BYTES; i++)
		assert_int_equal(answer()[i], 0);
	/* CounterSelect has a bit for each. */
	data[2] = 0x08;
	data[3] = 0x01;
	assert_int_equal(ask(&fixture.hub, MAD_SET, attribute_id), 0);
	assert_int_equal(kept[0], 0);
	assert_int_equal(kept[1], UINT64_C(1) << 40);
	assert_int_equal(kept[11], 0);
	assert_int_equal(kept[12], 112);
	data[2] = data[3] = 0;
}

static void test_counters_of_lanes_and_levels(void **state)
{
	(void)state;
	expect_array(ATTRIBUTE_PORT_VL_XMIT_WAIT_COUNTERS, details->vl_transmit_wait, 16, 2);
	expect_array(ATTRIBUTE_SW_PORT_VL_CONGESTION, details->vl_congestion, 16, 2);
	expect_array(ATTRIBUTE_PORT_SL_RCV_FECN, details->sl_receive_fecn, 16, 4);
	expect_array(ATTRIBUTE_PORT_SL_RCV_BECN, details->sl_receive_becn, 16, 4);
	expect_array(ATTRIBUTE_PORT_VL_XMIT_TIME_CONG, details->vl_transmit_time_congested, 15, 4);
	assert_int_equal(port_count_opcode(&fixture.hub.ports[2], 0), 0);
	expect_array(ATTRIBUTE_PORT_VL_OP_PACKETS, details->opcode.vl_packets, 16, 2);
	expect_array(ATTRIBUTE_PORT_VL_OP_DATA, details->opcode.vl_words, 16, 4);
}

static void test_update_errors_have_two_bits_each(void **state)
{
	(void)state;
	details->vl_update_errors[0] = 2;
	details->vl_update_errors[1] = 9;
	details->vl_update_errors[15] = 1;
	assert_int_equal(ask(&fixture.hub, MAD_GET, ATTRIBUTE_PORT_VL_XMIT_FLOW_CTL_UPDATE_ERRORS),
			 0);
	assert_int_equal(get_be32(answer() + 4), 0xb0000001);
	data[2] = 0x80;
	assert_int_equal(ask(&fixture.hub, MAD_SET, ATTRIBUTE_PORT_VL_XMIT_FLOW_CTL_UPDATE_ERRORS),
			 0);
	assert_int_equal(details->vl_update_errors[15], 0);
	assert_int_equal(details->vl_update_errors[1], 9);
}

static void test_opcode_counters_choose_and_show_their_opcode(void **state)
{
	(void)state;
	data[0] = 0x64;
	data[3] = 0x03;
	assert_int_equal(ask(&fixture.hub, MAD_SET, ATTRIBUTE_PORT_OP_RCV_COUNTERS), 0);
	details->opcode.packets = 0x01020304;
	details->opcode.words = UINT64_C(1) << 33;
	data[0] = data[3] = 0;
	assert_int_equal(ask(&fixture.hub, MAD_GET, ATTRIBUTE_PORT_OP_RCV_COUNTERS), 0);
	assert_int_equal(answer()[0], 0x64);
	assert_int_equal(get_be32(answer() + 4), 0x01020304);
	assert_int_equal(get_be32(answer() + 8), 0xffffffff);
}

static void test_congestion_of_a_port(void **state)
{
	(void)state;
	details->receive_fecn = 5;
	details->receive_becn = 6;
	details->transmit_time_congested = 7;
	assert_int_equal(ask(&fixture.hub, MAD_GET, ATTRIBUTE_PORT_RCV_CON_CTRL), 0);
	assert_int_equal(get_be32(answer() + 4), 5);
	assert_int_equal(get_be32(answer() + 8), 6);
	assert_int_equal(ask(&fixture.hub, MAD_GET, ATTRIBUTE_PORT_XMIT_CON_CTRL), 0);
	assert_int_equal(get_be32(answer() + 4), 7);
	data[3] = 0x02;
	assert_int_equal(ask(&fixture.hub, MAD_SET, ATTRIBUTE_PORT_RCV_CON_CTRL), 0);
	assert_int_equal(details->receive_fecn, 5);
	assert_int_equal(details->receive_becn, 0);
}

static void test_only_switches_have_sw_port_vl_congestion(void **state)
{
	(void)state;
	assert_int_equal(ask(&fixture.adapter, MAD_GET, ATTRIBUTE_SW_PORT_VL_CONGESTION),
			 MAD_STATUS_BAD_METHOD_ATTRIBUTE);
	assert_int_equal(ask(&fixture.router, MAD_SET, ATTRIBUTE_SW_PORT_VL_CONGESTION),
			 MAD_STATUS_BAD_METHOD_ATTRIBUTE);
}

static void test_extended_speeds_follow_the_error_correction(void **state)
{
	(void)state;
	struct port *port = &fixture.hub.ports[2];

	for (unsigned lane = 0; lane < 12; lane++) {
		details->lanes.errors[lane] = 20 + lane;
		details->lanes.correctable[lane] = 40 + lane;
		details->lanes.uncorrectable[lane] = 60 + lane;
	}
	details->lanes.sync_header_errors = 1;
	details->lanes.unknown_blocks = 70000;
	details->lanes.uncorrectable_blocks = 4;
	port->extended.fec_mode_active = FEC_FIRECODE;
	assert_int_equal(ask(&fixture.hub, MAD_GET, ATTRIBUTE_PORT_EXTENDED_SPEEDS_COUNTERS), 0);
	assert_int_equal(get_be16(answer() + 16), 1);
	assert_int_equal(get_be16(answer() + 18), 65535);
	assert_int_equal(get_be16(answer() + 20 + 22), 31);
	assert_int_equal(get_be32(answer() + 44 + 44), 51);
	assert_int_equal(get_be32(answer() + 92 + 44), 71);
	port->extended.fec_mode_active = FEC_REED_SOLOMON;
	assert_int_equal(ask(&fixture.hub, MAD_GET, ATTRIBUTE_PORT_EXTENDED_SPEEDS_COUNTERS), 0);
	assert_int_equal(get_be32(answer() + 44), 40);
	assert_int_equal(get_be32(answer() + 92), 0);
	assert_int_equal(get_be32(answer() + 144), 4);
	/* CounterSelect is at byte 8 here; bit 39 is the blocks that could not be corrected. */
	data[8 + 3] = 0x80;
	assert_int_equal(ask(&fixture.hub, MAD_SET, ATTRIBUTE_PORT_EXTENDED_SPEEDS_COUNTERS), 0);
	assert_int_equal(details->lanes.uncorrectable_blocks, 0);
	assert_int_equal(details->lanes.sync_header_errors, 1);
}

/* Every attribute refuses a port that is not there and an attribute modifier. */
static void test_every_attribute_refuses_a_bad_port(void **state)
{
	static const uint16_t attributes[] = {
		ATTRIBUTE_PORT_OP_RCV_COUNTERS,
		ATTRIBUTE_PORT_FLOW_CTL_COUNTERS,
		ATTRIBUTE_PORT_VL_OP_PACKETS,
		ATTRIBUTE_PORT_VL_OP_DATA,
		ATTRIBUTE_PORT_VL_XMIT_FLOW_CTL_UPDATE_ERRORS,
		ATTRIBUTE_PORT_VL_XMIT_WAIT_COUNTERS,
		ATTRIBUTE_PORT_EXTENDED_SPEEDS_COUNTERS,
		ATTRIBUTE_SW_PORT_VL_CONGESTION,
		ATTRIBUTE_PORT_RCV_CON_CTRL,
		ATTRIBUTE_PORT_SL_RCV_FECN,
		ATTRIBUTE_PORT_SL_RCV_BECN,
		ATTRIBUTE_PORT_XMIT_CON_CTRL,
		ATTRIBUTE_PORT_VL_XMIT_TIME_CONG,
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_COUNT(attributes); i++) {
		data[1] = 5;
		assert_int_equal(ask(&fixture.hub, MAD_GET, attributes[i]), MAD_STATUS_BAD_FIELD);
		assert_int_equal(ask(&fixture.hub, MAD_SET, attributes[i]), MAD_STATUS_BAD_FIELD);
		data[1] = 0;
		assert_int_equal(ask(&fixture.hub, MAD_GET, attributes[i]), MAD_STATUS_OK);
		data[1] = PORT_SELECT_ALL;
		assert_int_equal(ask(&fixture.hub, MAD_GET, attributes[i]), MAD_STATUS_OK);
		assert_int_equal(answer()[1], PORT_SELECT_ALL);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_counters_of_lanes_and_levels, setup,
						fixture_teardown),
		cmocka_unit_test_setup_teardown(test_update_errors_have_two_bits_each, setup,
						fixture_teardown),
		cmocka_unit_test_setup_teardown(test_opcode_counters_choose_and_show_their_opcode,
						setup, fixture_teardown),
		cmocka_unit_test_setup_teardown(test_congestion_of_a_port, setup, fixture_teardown),
		cmocka_unit_test_setup_teardown(test_only_switches_have_sw_port_vl_congestion,
						setup, fixture_teardown),
		cmocka_unit_test_setup_teardown(test_extended_speeds_follow_the_error_correction,
						setup, fixture_teardown),
		cmocka_unit_test_setup_teardown(test_every_attribute_refuses_a_bad_port, setup,
						fixture_teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
