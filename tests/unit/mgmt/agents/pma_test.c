/* SPDX-License-Identifier: Apache-2.0 */
/* Port counters through the performance agent: widths, sums, selective writes (management 6.1). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "agent_fixture.h"
#include "wire/performance.h"

enum { OTHER_ATTRIBUTE = 0x0020 };

static uint8_t data[PERFORMANCE_DATA_BYTES];

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
	assert_int_equal(gsa_receive(&fixture.environment, node, 1, 0, &request, &fixture.answer),
			 AGENT_ANSWERED);
	assert_int_equal(fixture.answer.bytes[3],
			 method == MAD_SET ? MAD_GET_RESPONSE : (method | MAD_RESPONSE));
	assert_int_equal(fixture.answer.address.qpn, 1);
	return get_be16(fixture.answer.bytes + 4);
}

static const uint8_t *answer(void)
{
	return fixture.answer.bytes + PERFORMANCE_DATA_OFFSET;
}

static int setup(void **state)
{
	memset(data, 0, sizeof(data));
	data[1] = 2; /* PortSelect */
	return fixture_setup(state);
}

static void test_class_port_info_says_what_is_counted(void **state)
{
	(void)state;
	assert_int_equal(ask(&fixture.hub, MAD_GET, ATTRIBUTE_CLASS_PORT_INFO), 0);
	assert_int_equal(answer()[0], 1);
	/* AllPortSelect, ExtendedWidth, XmitWait, RSFEC, QP1Dropped. */
	assert_int_equal(get_be16(answer() + 2), 0xd300);
	assert_int_equal(ask(&fixture.hub, MAD_SET, ATTRIBUTE_CLASS_PORT_INFO),
			 MAD_STATUS_BAD_METHOD_ATTRIBUTE);
}

static void test_narrow_counters_stick_and_wide_ones_do_not(void **state)
{
	(void)state;
	struct link_counters *counters = &fixture.hub.ports[2].counters;

	counters->symbol_errors = 70000;
	counters->link_downed = 300;
	counters->local_link_integrity_errors = 20;
	counters->transmit_words = 0x123456789a;
	counters->receive_packets = 5;
	counters->vl15_dropped = 9;
	counters->transmit_wait = 6;
	counters->multicast_receive_packets = 11;
	assert_int_equal(ask(&fixture.hub, MAD_GET, ATTRIBUTE_PORT_COUNTERS), 0);
	assert_int_equal(answer()[1], 2);
	assert_int_equal(get_be16(answer() + 4), 0xffff);
	assert_int_equal(answer()[7], 255);
	assert_int_equal(answer()[19], 0xf0);
	assert_int_equal(get_be16(answer() + 22), 9);
	assert_int_equal(get_be32(answer() + 24), 0xffffffff);
	assert_int_equal(get_be32(answer() + 36), 5);
	assert_int_equal(get_be32(answer() + 40), 6);
	assert_int_equal(fixture.refresh_count, 1);

	assert_int_equal(ask(&fixture.hub, MAD_GET, ATTRIBUTE_PORT_COUNTERS_EXTENDED), 0);
	assert_int_equal(get_be64(answer() + 8), 0x123456789a);
	assert_int_equal(get_be64(answer() + 64), 11);
	assert_int_equal(get_be64(answer() + 72), 70000);
	assert_int_equal(get_be64(answer() + 168), 6);
}

static void test_set_writes_only_what_is_selected(void **state)
{
	(void)state;
	struct link_counters *counters = &fixture.hub.ports[2].counters;

	counters->symbol_errors = 7;
	counters->link_downed = 8;
	counters->transmit_packets = 9;
	counters->transmit_wait = 10;
	counters->qp1_dropped = 11;
	put_be16(data + 2, 1 << 2 | 1 << 14); /* LinkDowned, PortXmitPkts */
	data[18] = 1;			      /* PortXmitWait */
	put_be32(data + 32, 1000);
	assert_int_equal(ask(&fixture.hub, MAD_SET, ATTRIBUTE_PORT_COUNTERS), 0);
	assert_int_equal(counters->symbol_errors, 7);
	assert_int_equal(counters->link_downed, 0);
	assert_int_equal(counters->transmit_packets, 1000);
	assert_int_equal(counters->transmit_wait, 0);
	assert_int_equal(counters->qp1_dropped, 11);
	/* The response shows the value after the Set. */
	assert_int_equal(get_be16(answer() + 4), 7);
	assert_int_equal(get_be32(answer() + 32), 1000);

	memset(data, 0, sizeof(data));
	data[1] = 2;
	put_be16(data + 2, 1 << 2);  /* XmitPkts */
	put_be32(data + 4, 1 << 13); /* QP1Dropped */
	assert_int_equal(ask(&fixture.hub, MAD_SET, ATTRIBUTE_PORT_COUNTERS_EXTENDED), 0);
	assert_int_equal(counters->transmit_packets, 0);
	assert_int_equal(counters->qp1_dropped, 0);
	assert_int_equal(counters->symbol_errors, 7);
}

static void test_all_ports_are_summed_and_reset_together(void **state)
{
	(void)state;
	data[1] = 0xff;
	for (unsigned port = 1; port <= 4; port++)
		fixture.hub.ports[port].counters.receive_packets = 20000 * port;
	assert_int_equal(ask(&fixture.hub, MAD_GET, ATTRIBUTE_PORT_COUNTERS), 0);
	assert_int_equal(get_be32(answer() + 36), 200000);
	put_be16(data + 2, 0xffff);
	assert_int_equal(ask(&fixture.hub, MAD_SET, ATTRIBUTE_PORT_COUNTERS), 0);
	for (unsigned port = 1; port <= 4; port++)
		assert_int_equal(fixture.hub.ports[port].counters.receive_packets, 0);
}

static void test_port_select_must_name_a_port(void **state)
{
	(void)state;
	data[1] = 5;
	assert_int_equal(ask(&fixture.hub, MAD_GET, ATTRIBUTE_PORT_COUNTERS), MAD_STATUS_BAD_FIELD);
	assert_int_equal(ask(&fixture.hub, MAD_GET, ATTRIBUTE_PORT_COUNTERS_EXTENDED),
			 MAD_STATUS_BAD_FIELD);
	data[1] = 0;
	assert_int_equal(ask(&fixture.hub, MAD_GET, ATTRIBUTE_PORT_COUNTERS), 0);
	assert_int_equal(ask(&fixture.adapter, MAD_GET, ATTRIBUTE_PORT_COUNTERS),
			 MAD_STATUS_BAD_FIELD);
}

static void test_details_tell_why_packets_were_dropped(void **state)
{
	(void)state;
	struct link_counters *counters = &fixture.hub.ports[2].counters;

	counters->receive_physical_errors = 1;
	counters->receive_malformed_packets = 2;
	counters->drops[DROP_OVERRUN] = 4;
	counters->transmit_lifetime_discards = 9;
	counters->drops[DROP_NO_ROUTE] = 3;
	counters->drops[DROP_LOOPING] = 70000;
	counters->drops[DROP_MTU] = 5;
	counters->drops[DROP_HEAD_OF_QUEUE] = 6;
	assert_int_equal(ask(&fixture.hub, MAD_GET, ATTRIBUTE_PORT_RCV_ERROR_DETAILS), 0);
	assert_int_equal(get_be16(answer() + 4), 1);
	assert_int_equal(get_be16(answer() + 6), 2);
	assert_int_equal(get_be16(answer() + 8), 4);
	assert_int_equal(get_be16(answer() + 10), 3);
	assert_int_equal(get_be16(answer() + 14), 0xffff);
	assert_int_equal(ask(&fixture.hub, MAD_GET, ATTRIBUTE_PORT_XMIT_DISCARD_DETAILS), 0);
	assert_int_equal(get_be16(answer() + 6), 5);
	assert_int_equal(get_be16(answer() + 8), 9);
	assert_int_equal(get_be16(answer() + 10), 6);
	put_be16(data + 2, 1 << 1);
	assert_int_equal(ask(&fixture.hub, MAD_SET, ATTRIBUTE_PORT_XMIT_DISCARD_DETAILS), 0);
	assert_int_equal(counters->drops[DROP_MTU], 0);
	assert_int_equal(counters->drops[DROP_HEAD_OF_QUEUE], 6);
}

static void test_data_are_counted_by_service_level(void **state)
{
	(void)state;
	struct link_counters *counters = &fixture.hub.ports[2].counters;

	for (unsigned sl = 0; sl < 16; sl++) {
		counters->transmit_levels[sl].sl_words = 100 + sl;
		counters->receive_levels[sl].sl_words = 0x100000000 + sl;
	}
	assert_int_equal(ask(&fixture.hub, MAD_GET, ATTRIBUTE_PORT_XMIT_DATA_SL), 0);
	for (unsigned sl = 0; sl < 16; sl++)
		assert_int_equal(get_be32(answer() + 4 + 4 * sl), 100 + sl);
	assert_int_equal(ask(&fixture.hub, MAD_GET, ATTRIBUTE_PORT_RCV_DATA_SL), 0);
	assert_int_equal(get_be32(answer() + 4 + 4 * 9), 0xffffffff);
	put_be16(data + 2, 1 << 9);
	assert_int_equal(ask(&fixture.hub, MAD_SET, ATTRIBUTE_PORT_RCV_DATA_SL), 0);
	assert_int_equal(counters->receive_levels[9].sl_words, 0);
	assert_int_equal(counters->receive_levels[10].sl_words, 0x100000000 + 10);
}

static void test_flow_control_packets_are_counted(void **state)
{
	(void)state;
	struct link_counters *counters = &fixture.hub.ports[2].counters;

	counters->transmit_flow_packets = 0x01020304;
	counters->receive_flow_packets = UINT64_C(1) << 32;
	assert_int_equal(ask(&fixture.hub, MAD_GET, ATTRIBUTE_PORT_FLOW_CTL_COUNTERS), 0);
	assert_int_equal(get_be32(answer() + 4), 0x01020304);
	assert_int_equal(get_be32(answer() + 8), 0xffffffff);
	put_be16(data + 2, 1 << 1);
	assert_int_equal(ask(&fixture.hub, MAD_SET, ATTRIBUTE_PORT_FLOW_CTL_COUNTERS), 0);
	assert_int_equal(counters->transmit_flow_packets, 0x01020304);
	assert_int_equal(counters->receive_flow_packets, 0);
}

static void test_other_attributes_methods_and_versions_are_refused(void **state)
{
	(void)state;
	struct mad_message request = {.bytes = {1, MAD_CLASS_PERFORMANCE, 9, MAD_GET}};

	assert_int_equal(ask(&fixture.hub, MAD_GET, OTHER_ATTRIBUTE),
			 MAD_STATUS_BAD_METHOD_ATTRIBUTE);
	assert_int_equal(ask(&fixture.hub, MAD_GET_TABLE, ATTRIBUTE_PORT_COUNTERS),
			 MAD_STATUS_BAD_METHOD);
	assert_int_equal(
		gsa_receive(&fixture.environment, &fixture.hub, 1, 0, &request, &fixture.answer),
		AGENT_ANSWERED);
	assert_int_equal(get_be16(fixture.answer.bytes + 4), MAD_STATUS_BAD_VERSION);
	request.bytes[3] = MAD_GET_RESPONSE;
	assert_int_equal(
		gsa_receive(&fixture.environment, &fixture.hub, 1, 0, &request, &fixture.answer),
		AGENT_FOR_SM);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define TEST(function) cmocka_unit_test_setup_teardown(function, setup, fixture_teardown)
		TEST(test_class_port_info_says_what_is_counted),
		TEST(test_narrow_counters_stick_and_wide_ones_do_not),
		TEST(test_set_writes_only_what_is_selected),
		TEST(test_all_ports_are_summed_and_reset_together),
		TEST(test_port_select_must_name_a_port),
		TEST(test_details_tell_why_packets_were_dropped),
		TEST(test_data_are_counted_by_service_level),
		TEST(test_flow_control_packets_are_counted),
		TEST(test_other_attributes_methods_and_versions_are_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
